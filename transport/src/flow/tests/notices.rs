//! ECN, delays and hops, notices, several paths, and controllers that are replaced.

use cc_algos::controller::{Cause, Controller, Limit, PacketTag};
use cc_algos::ids::PathId;
use cc_algos::signal::{Ecn, IntHop, PathChange, Signal};
use cc_algos::units::{Rate, Span};

use super::channel::{Channel, Fate, HOPS, MTU, PATH, Probe, ms, plain};
use crate::flow::{AckError, EchoConfig, EcnMode, Gate, ReceiverConfig, SenderConfig};
use crate::wire::{AckFrame, PacketNumberRange};

const ONE_WAY: Span = Span::from_millis(50);

fn with_marks(echo: EchoConfig) -> ReceiverConfig {
    ReceiverConfig { echo, ..ReceiverConfig::default() }
}

#[test]
fn marks_are_counted_with_and_without_a_map() {
    for echo in [EchoConfig::default(), EchoConfig::ALL] {
        let probe = Probe::with_window(100);
        let mut channel = Channel::with_receiver(plain(), &probe, ONE_WAY, with_marks(echo), 5);
        for packet in 0..10 {
            channel.send(0, if [2, 3, 7].contains(&packet) { Fate::Marked } else { Fate::Arrives });
        }
        channel.run_until(ms(200));
        let marked: u64 = probe.told().iter().map(|told| told.marked_packets).sum();
        assert_eq!(marked, 3, "{echo:?}");
        assert_eq!(channel.sender.stats(PATH).totals.marked.bytes, 3 * u64::from(MTU));
    }
}

/// On several routes many packets are overtaken. Their marks show in counts of acknowledgements with an old largest number.
#[test]
fn marks_of_overtaken_packets_are_counted_without_a_map() {
    for ecn in [EcnMode::Trust, EcnMode::Validate] {
        let probe = Probe::with_window(100);
        let mut channel = Channel::new(SenderConfig { ecn, ..plain() }, &probe, ONE_WAY);
        for entropy in 0..6 {
            channel.send(entropy, Fate::Dropped);
        }
        let mut acknowledge = |first, ce| {
            let mut frame = AckFrame { largest: 5, ..AckFrame::default() };
            frame.ranges.push(PacketNumberRange { first, last: 5 });
            frame.ecn = Some(cc_algos::EcnCounts { ect0: 0, ect1: 0, ce });
            channel.sender.on_ack(ms(100), &frame, &mut channel.work).unwrap();
        };
        acknowledge(5, 1);
        acknowledge(4, 2);
        // Two acknowledgements that swap their places: the newer tells of both marks, as far as packets are new.
        acknowledge(2, 4);
        acknowledge(3, 3);
        acknowledge(0, 6);
        let marked: Vec<_> = probe.told().iter().map(|told| (told.acked.len(), told.marked_packets)).collect();
        assert_eq!(marked, [(1, 1), (1, 1), (2, 2), (2, 2)], "{ecn:?}");
    }
}

#[test]
fn the_fabric_delay_leaves_out_what_the_receiver_says_it_held_back() {
    let probe = Probe::with_window(100);
    // The second packet of each pair is acknowledged at once, a single one after 20 ms.
    let mut channel = Channel::with_ack_every(plain(), &probe, ONE_WAY, 2);
    channel.burst(3, &[]);
    channel.run_until(ms(200));
    let samples: Vec<_> = probe.told().iter().map(|told| (told.rtt, told.fabric_delay)).collect();
    let rtt = Some(Span::from_millis(100));
    assert_eq!(samples, [(rtt, rtt), (Some(Span::from_millis(120)), rtt)]);
}

#[test]
fn a_packet_held_for_longer_than_it_was_away_has_no_fabric_delay() {
    let probe = Probe::with_window(100);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(2, &[]);
    for (largest, held) in [(0, 100), (1, 101)] {
        let mut frame = AckFrame { largest, ack_delay: Span::from_millis(held), ..AckFrame::default() };
        frame.ranges.push(PacketNumberRange::single(largest));
        channel.sender.on_ack(ms(100), &frame, &mut channel.work).unwrap();
    }
    let delays: Vec<_> = probe.told().iter().map(|told| told.fabric_delay).collect();
    assert_eq!(delays, [Some(Span::ZERO), None]);
}

#[test]
fn telemetry_comes_with_the_largest_packet_and_never_out_of_order() {
    let probe = Probe::with_window(100);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(4, &[]);
    let hop = |port| IntHop { port, at: ms(1), tx_bytes: 9_000, queue_bytes: 160, rate: Rate::from_gbps(10) };
    // Packet 2, then an acknowledgement from before, then one that repeats packet 2 and adds packet 0, then packet 3.
    for (largest, first) in [(2, 2), (1, 1), (2, 0), (3, 3)] {
        let mut frame = AckFrame { largest, ..AckFrame::default() };
        frame.ranges.push(PacketNumberRange { first, last: largest });
        frame.int.push(&hop(largest as u32));
        channel.sender.on_ack(ms(100), &frame, &mut channel.work).unwrap();
    }
    let told: Vec<_> = probe.told().into_iter().map(|told| (told.acked, told.int)).collect();
    assert_eq!(told, [(vec![2], vec![hop(2)]), (vec![1], vec![]), (vec![0], vec![]), (vec![3], vec![hop(3)])]);
}

#[test]
fn the_hop_count_is_told_where_the_receiver_echoes_it() {
    for (echo, expected) in [(EchoConfig::default(), None), (EchoConfig::ALL, Some(HOPS))] {
        let probe = Probe::with_window(100);
        let mut channel = Channel::with_receiver(plain(), &probe, ONE_WAY, with_marks(echo), 1);
        channel.burst(3, &[]);
        channel.run_until(ms(200));
        assert!(probe.told().iter().all(|told| told.hops == expected), "{echo:?}: {:?}", probe.told());
        assert_eq!(probe.told().len(), 3);
    }
}

#[test]
fn a_map_tells_which_packets_were_marked() {
    let probe = Probe::with_window(100);
    let mut channel = Channel::with_receiver(plain(), &probe, ONE_WAY, with_marks(EchoConfig::ALL), 100);
    for packet in 0..4 {
        channel.send(0, if packet == 1 { Fate::Marked } else { Fate::Arrives });
    }
    channel.run_until(ms(200));
    let arrived: Vec<_> = channel.arrived_as.iter().map(|&(number, ecn)| (number, ecn)).collect();
    let expected = [(0, Ecn::Ect0), (1, Ecn::Ce), (2, Ecn::Ect0), (3, Ecn::Ect0)];
    assert_eq!(arrived, expected.map(|(number, ecn)| (number, Some(ecn))));
}

#[test]
fn a_path_that_bleaches_ecn_is_found_out_and_used_without() {
    let probe = Probe::with_window(100);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.bleaches = true;
    assert_eq!(channel.sender.ecn(PATH), Ecn::Ect0);
    channel.burst(3, &[]);
    channel.run_until(ms(200));
    assert_eq!(channel.sender.ecn(PATH), Ecn::NotEct);
    let failed = Signal::PathChange { path: PATH, change: PathChange::EcnUnusable };
    assert_eq!(probe.signals(), [failed], "told once");
    assert_eq!(channel.sender.stats(PATH).totals.acked.packets, 3);
}

#[test]
fn a_path_that_drops_all_that_is_marked_is_used_without() {
    let probe = Probe::with_window(100);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    // Ten packets test the path and get lost; the eleventh is not marked any more and arrives.
    channel.burst(10, &(0..10).collect::<Vec<_>>());
    assert_eq!(channel.sender.ecn(PATH), Ecn::NotEct);
    channel.burst(1, &[]);
    channel.run_until(ms(1_000));
    assert_eq!(channel.lost(), (0..10).collect::<Vec<_>>());
    let failed = Signal::PathChange { path: PATH, change: PathChange::EcnUnusable };
    assert_eq!(probe.signals(), [failed]);
}

#[test]
fn one_acknowledgement_with_losses_marks_and_late_packets_is_one_batch() {
    let probe = Probe::with_window(100);
    let mut config = plain();
    config.ecn = EcnMode::Trust;
    let mut channel = Channel::new(config, &probe, ONE_WAY);
    channel.burst(20, &[]);
    let frame = |ranges: &[(u64, u64)], ce| {
        let mut frame = AckFrame { largest: ranges[0].1, ..AckFrame::default() };
        frame.ranges.extend(ranges.iter().map(|&(first, last)| PacketNumberRange { first, last }));
        frame.ecn = Some(cc_algos::EcnCounts { ect0: 10, ect1: 0, ce });
        frame
    };
    channel.sender.on_ack(ms(100), &frame(&[(5, 5)], 0), &mut channel.work).unwrap();
    channel.sender.on_ack(ms(101), &frame(&[(12, 14), (2, 5)], 2), &mut channel.work).unwrap();
    let told = probe.told();
    assert_eq!((told.len(), &told[0].lost), (2, &vec![0, 1, 2]));
    let batch = &told[1];
    assert_eq!((batch.cause, batch.now), (Cause::Ack, ms(101)));
    assert_eq!((&batch.acked, &batch.spurious), (&vec![3, 4, 12, 13, 14], &vec![2]));
    assert_eq!((&batch.lost, batch.marked_packets), (&vec![6, 7, 8, 9, 10, 11], 2));
    // Sixteen packets were in flight after the first batch (20 less 1 acknowledged, 3 lost); 5 and 6 leave with this one.
    let packets = |count: u64| count * u64::from(MTU);
    assert_eq!((batch.prior_in_flight, batch.in_flight), (packets(16), packets(5)));
}

#[test]
fn the_controllers_timer_is_among_those_of_the_sender() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    assert_eq!(channel.sender.next_timeout(), None);
    probe.set_timer(ms(7));
    assert_eq!(channel.sender.next_timeout(), Some(ms(7)));
    channel.sender.on_timeout(ms(6), &mut channel.work);
    assert_eq!(probe.timers_run(), [], "early");
    channel.run_until(ms(20));
    assert_eq!(probe.timers_run(), [ms(7)]);
}

#[test]
fn shrinking_counts_of_a_trusted_network_are_an_error() {
    let probe = Probe::with_window(100);
    let mut config = plain();
    config.ecn = EcnMode::Trust;
    let mut channel = Channel::new(config, &probe, ONE_WAY);
    channel.burst(4, &[]);
    let frame = |last, ce| {
        let mut frame = AckFrame { largest: last, ..AckFrame::default() };
        frame.ranges.push(PacketNumberRange { first: 0, last });
        frame.ecn = Some(cc_algos::EcnCounts { ect0: 0, ect1: 0, ce });
        frame
    };
    channel.sender.on_ack(ms(100), &frame(1, 2), &mut channel.work).unwrap();
    let refused = channel.sender.on_ack(ms(101), &frame(3, 1), &mut channel.work);
    assert_eq!(refused, Err(AckError::EcnBackwards));
    // An older acknowledgement that was overtaken has smaller counts by right.
    channel.sender.on_ack(ms(102), &frame(0, 1), &mut channel.work).unwrap();
}

#[test]
fn a_smaller_mtu_reaches_controller_and_pacer() {
    let probe = Probe::with_window(100);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.sender.on_notice(ms(0), PATH, Signal::MtuChange { mtu: 600 });
    assert_eq!(probe.signals(), [Signal::MtuChange { mtu: 600 }]);
    channel.burst(1, &[]);
    channel.run_until(ms(100));
    assert_eq!(probe.told()[0].mtu, 600);
}

#[test]
fn a_replaced_controller_starts_from_the_handover_and_gets_no_foreign_tags() {
    let old = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &old, ONE_WAY);
    channel.fill(10);
    let window = channel.sender.controller(PATH).handover().window.unwrap();
    let new = Probe::with_window_bytes(window / 2);
    let former = channel.sender.replace_controller(ms(10), PATH, Box::new(new.clone()));
    assert_eq!(former.window(), 10 * u64::from(MTU));
    // Ten packets are in flight and five allowed: five have to be settled before one may leave.
    let gate = channel.sender.gate(ms(10), PATH, u64::from(MTU));
    assert_eq!(gate, Gate::Blocked { limit: Limit::Window, until: None });
    channel.run_until(ms(100));
    assert!(old.told().is_empty());
    let told = new.told();
    assert_eq!(told.len(), 10);
    assert!(told.iter().all(|told| told.tags == [PacketTag::NONE]));
    assert_eq!(channel.fill(10), 5);
}

#[test]
fn gaps_are_forgotten_by_the_receiver_once_they_are_settled() {
    let probe = Probe::with_window(100);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(6, &[1]);
    channel.run_until(ms(100));
    assert_eq!(channel.sender.ack_floor(channel.now, PATH), None, "packet 1 may still be late");
    channel.run_until(ms(5_000));
    channel.burst(3, &[7]);
    channel.run_until(ms(5_200));
    // Everything up to 5 is settled for long; 7 is awaited.
    let floor = channel.sender.ack_floor(channel.now, PATH);
    assert_eq!(floor, Some(7));
    assert_eq!(channel.sender.ack_floor(channel.now, PATH), None, "once per round trip");
    channel.receiver.on_ack_floor(floor.unwrap());
    let mut frame = AckFrame::default();
    channel.receiver.write_ack(channel.now, &mut frame);
    assert_eq!(frame.ranges.to_vec(), [PacketNumberRange { first: 8, last: 8 }]);
}

#[test]
fn each_path_has_its_own_numbers_and_sees_its_siblings() {
    let (first, second) = (Probe::with_window(10), Probe::with_window(20));
    let mut channel = Channel::new(plain(), &first, ONE_WAY);
    let other = channel.sender.add_path(Box::new(second.clone()), ms(0));
    assert_eq!(other, PathId(1));
    channel.burst(2, &[]);
    let packet =
        crate::flow::Outgoing { path: other, entropy: cc_algos::Entropy(0), bytes: MTU, content: 77_u64, block: None };
    assert_eq!(channel.sender.on_sent(ms(0), packet), 0);
    channel.run_until(ms(100));
    let siblings = first.siblings();
    assert_eq!(siblings.iter().map(|sibling| (sibling.path, sibling.window)).collect::<Vec<_>>(), [(other, 24_000)]);
    let mut frame = AckFrame { path: other, largest: 0, ..AckFrame::default() };
    frame.ranges.push(PacketNumberRange::single(0));
    channel.sender.on_ack(ms(130), &frame, &mut channel.work).unwrap();
    assert_eq!(channel.work.events, [crate::flow::Event::Acked(77)]);
    let snapshot = second.siblings()[0];
    assert_eq!((snapshot.path, snapshot.smoothed_rtt), (PATH, Some(Span::from_millis(100))));
    assert_eq!(snapshot.bytes_since_loss, 2 * u64::from(MTU));
}

#[test]
fn the_sender_knows_when_a_packet_left_until_it_is_settled() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(2, &[1]);
    channel.run_until(ms(30));
    channel.burst(1, &[]);
    let sent_at = |channel: &Channel, number| channel.sender.sent_at(PATH, number);
    assert_eq!([0, 1, 2].map(|number| sent_at(&channel, number)), [Some(ms(0)), Some(ms(0)), Some(ms(30))]);
    assert_eq!(sent_at(&channel, 3), None, "never sent");
    channel.run_until(ms(110));
    assert_eq!([0, 1].map(|number| sent_at(&channel, number)), [None, Some(ms(0))]);
    assert_eq!(sent_at(&channel, u64::MAX), None);
}

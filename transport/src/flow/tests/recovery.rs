//! What the sender makes of missing and late acknowledgements.

use cc_algos::controller::{Cause, PacketTag};
use cc_algos::units::{Span, Timestamp};

use super::channel::{Channel, Fate, MTU, PATH, Probe, ms, plain};
use crate::flow::{AckError, Event, Gate, LossPolicy, Rto, SenderConfig, Skip};
use crate::wire::{AckFrame, PacketNumberRange};

const ONE_WAY: Span = Span::from_millis(50);

fn with_loss(loss: LossPolicy) -> SenderConfig {
    let mut config = plain();
    config.loss = loss;
    config
}

/// Acknowledges packets `first..=last`.
fn ack(first: u64, last: u64) -> AckFrame {
    let mut frame = AckFrame { largest: last, ..AckFrame::default() };
    frame.ranges.push(PacketNumberRange { first, last });
    frame
}

#[test]
fn packets_are_acknowledged_after_a_round_trip_and_measure_it() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(2, &[]);
    channel.run_until(ms(100));
    assert_eq!(channel.events, [Event::Acked(0), Event::Acked(1)]);
    let samples: Vec<_> = probe.told().iter().map(|told| told.rtt).collect();
    assert_eq!(samples, [Some(Span::from_millis(100)); 2]);
    let stats = channel.sender.stats(PATH);
    assert_eq!((stats.in_flight_bytes, stats.smoothed_rtt), (0, Some(Span::from_millis(100))));
}

#[test]
fn the_third_later_acknowledgement_declares_a_packet_lost_in_the_same_batch() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(6, &[1]);
    channel.run_until(ms(100));
    let told = probe.told();
    let batches: Vec<_> = told.iter().map(|told| (told.acked.clone(), told.lost.clone())).collect();
    let expected = [(vec![0], vec![]), (vec![2], vec![]), (vec![3], vec![]), (vec![4], vec![1]), (vec![5], vec![])];
    assert_eq!(batches, expected);
    // Before the batch of packet 4: 1, 4 and 5 were in flight; after it only 5 is. The tags that the controller gave are
    // packet number and bytes in flight at the send.
    assert_eq!((told[3].cause, told[3].prior_in_flight, told[3].in_flight), (Cause::Ack, 3 * 1_200, 1_200));
    assert_eq!(told[3].tags, [PacketTag([4, 5 * 1_200]), PacketTag([1, 2 * 1_200])]);
}

#[test]
fn an_overtaken_packet_is_lost_nine_eighths_of_an_rtt_after_it_was_sent() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(3, &[1]);
    channel.run_until(ms(100));
    assert_eq!(channel.lost(), [], "one later packet is not three");
    // 9/8 of 100 ms.
    assert_eq!(channel.sender.next_timeout(), Some(Timestamp::from_nanos(112_500_000)));
    channel.run_until(ms(120));
    let last = probe.told().pop().unwrap();
    assert_eq!((last.cause, last.lost), (Cause::LossTimer, vec![1]));
    assert_eq!(last.now, Timestamp::from_nanos(112_500_000));
}

#[test]
fn the_probe_timeout_doubles_and_opens_the_gate_for_two_packets() {
    let probe = Probe::with_window(1);
    let config = SenderConfig { initial_rtt: Span::from_millis(100), ..SenderConfig::default() };
    let mut channel = Channel::new(config, &probe, ONE_WAY);
    channel.burst(1, &[0]);
    let mut timeouts = Vec::new();
    while timeouts.len() < 4 {
        let at = channel.sender.next_timeout().unwrap();
        channel.run_until(at);
        timeouts.push(at);
    }
    // 100 + 4 x 50 + 25 ms = 325 ms, then twice, four and eight times that after the only packet.
    assert_eq!(timeouts, [ms(325), ms(650), ms(1_300), ms(2_600)]);
    let causes: Vec<_> = probe.told().iter().map(|told| told.cause).collect();
    assert_eq!(causes, [1, 2, 3, 4].map(|consecutive| Cause::Timeout { consecutive }));
    assert_eq!(channel.lost(), [], "a probe timeout says nothing about packets");
    assert_eq!(channel.sender.probes(PATH), 2);
    assert_eq!(channel.sender.oldest_in_flight(PATH), Some(0), "what a probe had best carry again");
    assert_eq!(channel.fill(10), 2);
    assert!(matches!(channel.sender.gate(channel.now, PATH, u64::from(MTU)), Gate::Blocked { .. }));
}

#[test]
fn an_acknowledgement_ends_the_back_off() {
    let probe = Probe::with_window(1);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(1, &[0]);
    channel.run_until(channel.sender.next_timeout().unwrap());
    channel.burst(1, &[]);
    assert_eq!((channel.sender.stats(PATH).pto_count, channel.sender.probes(PATH)), (1, 1));
    channel.run_until(channel.now + Span::from_millis(100));
    assert_eq!(channel.sender.stats(PATH).pto_count, 0);
    assert_eq!(channel.sender.probes(PATH), 0, "the second probe is not owed any more");
}

#[test]
fn rack_probes_a_silent_tail_after_two_rtts_with_one_packet() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(with_loss(LossPolicy::RACK), &probe, ONE_WAY);
    channel.burst(1, &[]);
    channel.run_until(ms(100));
    channel.burst(3, &[1, 2, 3]);
    assert_eq!(channel.sender.next_timeout(), Some(ms(300)));
    channel.run_until(ms(300));
    assert_eq!(channel.sender.probes(PATH), 1);
    channel.burst(1, &[]);
    channel.run_until(ms(430));
    assert_eq!(channel.lost(), [1, 2, 3]);
    assert_eq!(probe.told().iter().filter(|told| !told.lost.is_empty()).count(), 1, "in one batch");
}

#[test]
fn a_per_packet_timer_loses_each_packet_at_its_own_time_and_never_probes() {
    let probe = Probe::with_window(10);
    let config = with_loss(LossPolicy::PerPacketRto { rto: Rto::Fixed(Span::from_millis(250)) });
    let mut channel = Channel::new(config, &probe, ONE_WAY);
    for at in [0, 10, 20, 30] {
        channel.run_until(ms(at));
        channel.burst(1, &[0, 1]);
    }
    channel.run_until(ms(1_000));
    let losses: Vec<_> = probe
        .told()
        .into_iter()
        .filter(|told| !told.lost.is_empty())
        .map(|told| (told.now, told.cause, told.lost))
        .collect();
    let timeout = |consecutive| Cause::Timeout { consecutive };
    assert_eq!(losses, [(ms(250), timeout(1), vec![0]), (ms(260), timeout(2), vec![1])]);
    assert_eq!(channel.sender.next_timeout(), None);
}

#[test]
fn an_estimated_per_packet_timer_backs_off() {
    let probe = Probe::with_window(10);
    let rto = Rto::Estimated { min: Span::from_millis(10) };
    let mut config = with_loss(LossPolicy::PerPacketRto { rto });
    config.initial_rtt = Span::from_millis(100);
    let mut channel = Channel::new(config, &probe, ONE_WAY);
    let mut fired = Vec::new();
    for _ in 0..3 {
        channel.burst(1, &[0, 1, 2]);
        let at = channel.sender.next_timeout().unwrap();
        fired.push(at.saturating_since(channel.now));
        channel.run_until(at);
    }
    // 100 + 4 x 50 ms, doubled twice.
    assert_eq!(fired, [300, 600, 1_200].map(Span::from_millis));
}

/// The exchange of RFC 9002, section 7.6.3, with a probe timeout of 2 s: packets 2 to 8 are lost over 7 s.
#[test]
fn persistent_congestion_follows_the_example_of_rfc_9002() {
    let probe = Probe::with_window(100);
    let mut config = plain();
    // RTT 200 ms gives 200 + 4 x 100 ms; 1 400 ms more make the 2 s of the example.
    config.max_ack_delay = Span::from_millis(1_400);
    let mut channel = Channel::new(config, &probe, Span::from_millis(100));
    // The example takes an earlier RTT sample for granted.
    channel.burst(1, &[]);
    channel.run_until(ms(1_000));
    let start = channel.now;
    let at = |millis| start + Span::from_millis(millis);
    channel.burst(1, &[]);
    let lost: Vec<u64> = (2..=8).collect();
    for millis in [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 8_000] {
        channel.run_until(at(millis));
        channel.burst(1, &lost);
    }
    channel.run_until(at(12_000));
    channel.burst(1, &[]);
    channel.run_until(at(12_200));
    let last = probe.told().pop().unwrap();
    assert_eq!((last.acked, last.lost, last.now), (vec![9], lost, at(12_200)));
    assert_eq!(last.persistent, Some(Span::from_secs(7)));
    assert_eq!(channel.sender.stats(PATH).totals.persistent_congestions, 1);
    // The path may be another one now: its smallest RTT is measured anew (section 5.2).
    channel.delay = Span::from_millis(400);
    channel.burst(1, &[]);
    channel.run_until(at(13_200));
    assert_eq!(channel.sender.stats(PATH).min_rtt, Some(Span::from_millis(800)));
}

#[test]
fn a_late_acknowledgement_of_a_lost_packet_is_spurious_and_says_so() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.send(0, Fate::Late(Span::from_millis(30)));
    channel.burst(4, &[]);
    channel.run_until(ms(500));
    assert_eq!(channel.lost(), [0]);
    let last = probe.told().pop().unwrap();
    assert_eq!((last.cause, last.spurious, last.acked), (Cause::Spurious, vec![0], vec![]));
    assert_eq!(channel.events.last(), Some(&Event::LateAcked(0)));
    let totals = channel.sender.stats(PATH).totals;
    assert_eq!((totals.sent.packets, totals.acked.packets), (5, 5));
    assert_eq!((totals.lost.packets, totals.spurious.packets), (1, 1));
}

#[test]
fn a_lost_packet_is_not_waited_for_for_ever() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(5, &[0]);
    channel.run_until(ms(200));
    assert_eq!(channel.lost(), [0]);
    channel.run_until(ms(10_000));
    channel.burst(1, &[]);
    channel.run_until(ms(10_200));
    channel.events.clear();
    channel.sender.on_ack(channel.now, &ack(0, 5), &mut channel.work).unwrap();
    assert_eq!(channel.work.events, [], "long after three probe timeouts");
}

#[test]
fn rack_widens_its_window_with_spurious_losses_until_reordering_costs_nothing() {
    let probe = Probe::with_window(100);
    let mut channel = Channel::new(with_loss(LossPolicy::RACK), &probe, ONE_WAY);
    let mut lost_in_round = Vec::new();
    for round in 1..=8 {
        channel.send(0, Fate::Late(Span::from_millis(45)));
        channel.burst(5, &[]);
        channel.run_until(ms(400 * round));
        lost_in_round.push(channel.lost().len());
        channel.events.clear();
    }
    // The threshold of three loses the first one; the windows of 50 ms and more forgive the 45 ms that follow.
    assert_eq!(lost_in_round, [1, 0, 0, 0, 0, 0, 0, 0]);
}

/// A queue that fills to eight times the base RTT while nothing is lost: timers must follow it.
#[test]
fn a_growing_queue_is_not_taken_for_loss() {
    for loss in [LossPolicy::RFC_9002, LossPolicy::RACK] {
        let probe = Probe::with_window(10_000);
        let mut channel = Channel::new(with_loss(loss), &probe, Span::from_micros(12_500));
        for packet in 0..2_000 {
            // A packet a millisecond; from 25 ms the RTT grows to 200 ms over the first second and stays there.
            let queued = Span::from_micros(175 * packet.min(1_000));
            channel.send(0, Fate::Late(queued));
            channel.run_until(ms(packet + 1));
        }
        channel.run_until(ms(4_000));
        let totals = channel.sender.stats(PATH).totals;
        assert_eq!((totals.lost.packets, totals.acked.packets), (0, 2_000), "{loss:?}");
    }
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_is_refused_and_changes_nothing() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(3, &[]);
    let before = channel.sender.stats(PATH);
    let refused = channel.sender.on_ack(ms(10), &ack(0, 3), &mut channel.work);
    assert_eq!(refused, Err(AckError::NeverSent { largest: 3, next: 3 }));
    let mut other_path = ack(0, 0);
    other_path.path = cc_algos::PathId(1);
    let refused = channel.sender.on_ack(ms(10), &other_path, &mut channel.work);
    assert_eq!(refused, Err(AckError::UnknownPath(cc_algos::PathId(1))));
    assert_eq!(channel.sender.stats(PATH), before);
    assert!(probe.told().is_empty());
}

#[test]
fn ranges_that_are_not_descending_are_refused() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(10, &[]);
    let frames: [&[(u64, u64)]; 5] = [&[], &[(5, 8)], &[(8, 9), (8, 8)], &[(4, 9), (6, 7)], &[(9, 9), (5, 3)]];
    for ranges in frames {
        let mut frame = AckFrame { largest: 9, ..AckFrame::default() };
        frame.ranges.extend(ranges.iter().map(|&(first, last)| PacketNumberRange { first, last }));
        let refused = channel.sender.on_ack(ms(10), &frame, &mut channel.work);
        assert_eq!(refused, Err(AckError::Malformed { largest: 9 }), "{ranges:?}");
    }
}

#[test]
fn skipped_numbers_catch_a_peer_that_acknowledges_blindly() {
    let probe = Probe::with_window(1_000);
    let mut config = plain();
    config.skip = Some(Skip { mean_distance: 10, seed: 4 });
    let mut channel = Channel::new(config, &probe, ONE_WAY);
    let numbers: Vec<u64> = (0..100).map(|_| channel.send(0, Fate::Arrives)).collect();
    let skipped: Vec<u64> = (0..numbers[99]).filter(|number| !numbers.contains(number)).collect();
    assert!((7..=14).contains(&skipped.len()), "one in five to fifteen: {skipped:?}");
    let optimistic = channel.sender.on_ack(ms(1), &ack(0, numbers[99]), &mut channel.work);
    assert!(matches!(optimistic, Err(AckError::Skipped(number)) if skipped.contains(&number)), "{optimistic:?}");
    channel.run_until(ms(200));
    let totals = channel.sender.stats(PATH).totals;
    assert_eq!((totals.acked.packets, totals.lost.packets), (100, 0), "an honest peer is not disturbed");
}

#[test]
fn an_old_acknowledgement_that_arrives_late_brings_only_what_is_new_in_it() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(5, &[]);
    channel.sender.on_ack(ms(100), &ack(3, 4), &mut channel.work).unwrap();
    channel.sender.on_ack(ms(101), &ack(0, 2), &mut channel.work).unwrap();
    let told = probe.told();
    // Packet 0 was lost by the threshold of three, packet 1 by that of packet 4.
    assert_eq!((&told[0].lost, &told[1].spurious, &told[1].acked), (&vec![0, 1], &vec![0, 1], &vec![2]));
    // Its own largest number is new, which is all that RFC 9002, appendix A.7, asks of a sample.
    assert_eq!((told[1].cause, told[1].rtt), (Cause::Ack, Some(Span::from_millis(101))));
    channel.sender.on_ack(ms(102), &ack(0, 4), &mut channel.work).unwrap();
    assert_eq!(probe.told().len(), 2, "nothing new, nothing told");
}

#[test]
fn packets_without_a_claim_to_an_acknowledgement_are_numbered_but_never_missed() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(1, &[]);
    assert_eq!(channel.sender.on_sent_untracked(PATH), 1);
    channel.burst(5, &[]);
    assert_eq!(channel.sender.stats(PATH).in_flight_packets, 6);
    channel.run_until(ms(1_000));
    let totals = channel.sender.stats(PATH).totals;
    assert_eq!((totals.acked.packets, totals.lost.packets), (6, 0));
    channel.sender.on_ack(channel.now, &ack(0, 6), &mut channel.work).unwrap();
    assert_eq!(channel.work.events, []);
}

#[test]
fn a_dead_path_loses_all_that_is_in_flight_at_once() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(5, &[]);
    channel.sender.on_ack(ms(100), &ack(1, 2), &mut channel.work).unwrap();
    let all = [PacketNumberRange { first: 0, last: u64::MAX }];
    channel.sender.on_missing(ms(110), PATH, Cause::PathDead, &all, &mut channel.work);
    assert_eq!(channel.work.events, [Event::Lost(0), Event::Lost(3), Event::Lost(4)]);
    let last = probe.told().pop().unwrap();
    assert_eq!((last.cause, last.in_flight), (Cause::PathDead, 0));
    assert_eq!(channel.sender.next_timeout(), None);
}

#[test]
fn packets_that_the_receiver_misses_are_lost_if_they_are_in_flight() {
    let probe = Probe::with_window(10);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    channel.burst(6, &[]);
    channel.sender.on_ack(ms(100), &ack(3, 3), &mut channel.work).unwrap();
    let missing = [PacketNumberRange { first: 2, last: 4 }, PacketNumberRange { first: 77, last: 99 }];
    channel.sender.on_missing(ms(101), PATH, Cause::BlockNack, &missing, &mut channel.work);
    let told = probe.told();
    // Packet 0 was lost by the threshold of three; 3 was acknowledged; nothing is known of 77.
    assert_eq!((&told[0].lost, &told[1].lost), (&vec![0], &vec![2, 4]));
    channel.sender.on_missing(ms(102), PATH, Cause::BlockNack, &missing, &mut channel.work);
    assert_eq!(probe.told().len(), 2, "nothing is lost twice");
}

#[test]
fn extreme_round_trips_work() {
    for (one_way, initial) in
        [(Span::ZERO, Span::ZERO), (Span::from_nanos(1), Span::ZERO), (Span::from_secs(5), Span::from_secs(10))]
    {
        let probe = Probe::with_window(10);
        let config = SenderConfig { initial_rtt: initial, ..SenderConfig::default() };
        let mut channel = Channel::new(config, &probe, one_way);
        for _ in 0..50 {
            channel.fill(10);
            channel.run_until(channel.now + Span::from_secs(1));
        }
        channel.run_until(channel.now + Span::from_secs(20));
        let stats = channel.sender.stats(PATH);
        assert_eq!(stats.smoothed_rtt, Some(one_way + one_way));
        assert_eq!(stats.totals.acked, stats.totals.sent, "RTT {:?}", one_way + one_way);
        assert!(stats.totals.sent.packets >= 40);
    }
}

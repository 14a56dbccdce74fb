//! Reordering between routes, which is no loss, and loss on one of them, which is.

use cc_algos::units::Span;

use super::channel::{Channel, Fate, PATH, Probe, ms, plain};
use crate::flow::{LossPolicy, SenderConfig};

const ONE_WAY: Span = Span::from_millis(50);

/// Routes whose delays differ: entropy `e` of `routes` takes `e` x `step` longer.
fn spray(channel: &mut Channel, packets: u64, routes: u64, step: Span, dropped: &[u64]) {
    for _ in 0..packets {
        let number = channel.sender.next_packet_number(PATH);
        let route = number % routes;
        let fate = if dropped.contains(&number) { Fate::Dropped } else { Fate::Late(step.saturating_mul(route)) };
        channel.send(route as u32, fate);
    }
}

#[test]
fn reordering_between_routes_loses_nothing() {
    for loss in [LossPolicy::RFC_9002, LossPolicy::RACK] {
        let mut config = plain();
        config.loss = loss;
        let probe = Probe::with_window(10_000);
        let mut channel = Channel::new(config, &probe, ONE_WAY);
        for round in 0..20 {
            // Sixteen routes from 100 to 130 ms: each packet of a slow one is overtaken by dozens.
            spray(&mut channel, 160, 16, Span::from_millis(2), &[]);
            channel.run_until(ms(400 * (round + 1)));
        }
        assert_eq!(channel.lost(), [], "{loss:?}");
    }
}

/// One packet in sixteen takes half as long again, far beyond 9/8 of the RTT, and no other follows it on its route soon.
#[test]
fn a_route_that_is_much_slower_than_the_others_is_waited_for() {
    for loss in [LossPolicy::RFC_9002, LossPolicy::RACK] {
        let probe = Probe::with_window(10_000);
        let mut channel = Channel::new(SenderConfig { loss, ..plain() }, &probe, ONE_WAY);
        for round in 0..50 {
            for packet in 0..16 {
                let fate = if packet == 3 { Fate::Late(ONE_WAY) } else { Fate::Arrives };
                channel.send(packet, fate);
            }
            channel.run_until(ms(200 * (round + 1)));
        }
        // Nothing tells of the slow route before its first packet arrives.
        assert_eq!(channel.lost(), [3], "{loss:?}");
        assert_eq!(channel.sender.stats(PATH).totals.spurious.packets, 1);
    }
}

#[test]
fn the_same_reordering_on_one_route_is_taken_for_loss() {
    let probe = Probe::with_window(10_000);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    for number in 0..160 {
        channel.send(0, Fate::Late(Span::from_millis(2 * (number % 16))));
    }
    channel.run_until(ms(400));
    assert!(channel.lost().len() > 100);
}

#[test]
fn three_later_packets_of_the_same_route_declare_a_loss() {
    let probe = Probe::with_window(10_000);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    spray(&mut channel, 32, 4, Span::ZERO, &[5, 6]);
    channel.run_until(ms(100));
    assert_eq!(channel.lost(), [5, 6]);
    // Packet 5 shares its route with 9, 13 and 17; packet 6 with 10, 14 and 18.
    let told = probe.told();
    let found: Vec<_> =
        told.iter().filter(|told| !told.lost.is_empty()).map(|told| (told.acked[0], told.lost.clone())).collect();
    assert_eq!(found, [(17, vec![5]), (18, vec![6])]);
}

#[test]
fn the_last_packet_of_a_route_is_found_missing_by_time() {
    let probe = Probe::with_window(10_000);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    spray(&mut channel, 64, 64, Span::ZERO, &[10]);
    channel.run_until(ms(100));
    assert_eq!(channel.lost(), [], "no later packet took the route of packet 10");
    channel.run_until(ms(2_000));
    assert_eq!(channel.lost(), [10]);
    assert_eq!(channel.sender.stats(PATH).totals.probe_timeouts, 0);
}

#[test]
fn thousands_of_entropies_that_come_and_go_are_reclaimed() {
    let probe = Probe::with_window(10_000);
    let mut channel = Channel::new(plain(), &probe, ONE_WAY);
    for round in 0..100 {
        for entropy in 0..100 {
            channel.send(1_000 * round + entropy, if entropy == 50 { Fate::Dropped } else { Fate::Arrives });
        }
        channel.run_until(ms(1_000 * u64::from(round + 1)));
    }
    let totals = channel.sender.stats(PATH).totals;
    assert_eq!((totals.acked.packets, totals.lost.packets), (9_900, 100));
}

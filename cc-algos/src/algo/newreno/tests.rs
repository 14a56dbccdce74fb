use super::*;
use crate::controller::Limit;
use crate::testing::{Batch, Driver, Fate, MTU, at, setup};

fn newreno(params: NewRenoParams) -> Driver<NewReno> {
    Driver::new(NewReno::new(params, &setup()).unwrap())
}

/// A flow past slow start with a window of exactly `packets`.
fn avoiding(packets: u64, params: NewRenoParams) -> Driver<NewReno> {
    let mut resumed = setup();
    resumed.handover =
        Some(Handover { window: Some(packets * MTU), ssthresh: Some(packets * MTU), ..Handover::default() });
    Driver::new(NewReno::new(params, &resumed).unwrap())
}

#[test]
fn the_initial_window_is_ten_packets_capped_at_14720_bytes_or_two_packets() {
    // RFC 9002, section 7.2: min(10 mtu, max(14 720, 2 mtu)).
    for (mtu, window) in [(1_200, 12_000), (1_472, 14_720), (1_500, 14_720), (4_096, 14_720), (9_000, 18_000)] {
        let setup = Setup::new(Timestamp::ZERO, mtu, 1);
        assert_eq!(NewReno::new(NewRenoParams::default(), &setup).unwrap().window(), window, "mtu {mtu}");
    }
}

#[test]
fn slow_start_doubles_each_round_trip() {
    let mut flow = newreno(NewRenoParams::default());
    let windows: Vec<_> = (0..5)
        .map(|_| {
            flow.rounds(1);
            flow.packets()
        })
        .collect();
    assert_eq!(windows, [20, 40, 80, 160, 320]);
    assert_eq!(flow.controller.state().phase, "slow_start");
}

#[test]
fn congestion_avoidance_adds_one_packet_a_round_trip_for_any_stretch_of_acks() {
    for stretch in [1, 2, 7, 100] {
        let mut flow = avoiding(10, NewRenoParams::default());
        flow.stretch = stretch;
        flow.rounds(20);
        assert_eq!(flow.packets(), 30, "stretch {stretch}");
    }
}

#[test]
fn one_ack_of_ten_packets_grows_like_ten_acks_of_one() {
    // Through slow start, over the threshold at 15 packets, into congestion avoidance.
    let resumed = |stretch| {
        let mut setup = setup();
        setup.handover = Some(Handover { window: Some(10_000), ssthresh: Some(15_000), ..Handover::default() });
        let mut flow = Driver::new(NewReno::new(NewRenoParams::default(), &setup).unwrap());
        flow.stretch = stretch;
        flow.send(100);
        flow.now = at(100);
        flow.report(&[Fate::Acked; 100]);
        flow.controller.window()
    };
    // 5 packets reach the threshold; 95 are left for windows of 15 + 16 + 17 + 18 + 19 = 85.
    assert_eq!(resumed(1), 20_000);
    assert_eq!(resumed(10), 20_000);
    assert_eq!(resumed(100), 20_000);
}

#[test]
fn remainders_of_odd_packets_are_carried_not_dropped() {
    // 300 acknowledgements of 100 bytes are 30 000 bytes: 10 + 11 packets' worth of windows, and 9 000 bytes of credit.
    let mut flow = avoiding(10, NewRenoParams::default());
    for number in 0..300 {
        let batch = Batch { acked: vec![crate::PacketRecord::new(number, 100, at(1))], ..Batch::default() };
        flow.feed(&batch);
    }
    assert_eq!(flow.controller.window(), 12_000);
}

#[test]
fn a_round_trip_with_losses_halves_once() {
    let mut flow = avoiding(40, NewRenoParams::default());
    flow.round(|place| if place % 4 == 0 { Fate::Lost } else { Fate::Acked });
    assert_eq!((flow.packets(), flow.controller.state().ssthresh), (20, Some(20_000)));
    assert_eq!(flow.controller.state().phase, "recovery");
    flow.rounds(1);
    assert_eq!((flow.packets(), flow.controller.state().phase), (21, "congestion_avoidance"));
}

#[test]
fn nothing_grows_on_packets_sent_before_the_reduction() {
    let mut flow = avoiding(40, NewRenoParams::default());
    flow.fill();
    flow.now = at(100);
    flow.report(&[Fate::Lost]);
    flow.report(&[Fate::Acked; 39]);
    assert_eq!(flow.controller.window(), 20_000);
}

#[test]
fn a_batch_that_straddles_the_recovery_counts_only_packets_sent_after_it() {
    let mut flow = avoiding(40, NewRenoParams::default());
    flow.fill();
    flow.now = at(50);
    flow.report(&[Fate::Lost]);
    flow.report(&[Fate::Acked; 24]);
    flow.now = at(60);
    flow.send(5);
    flow.now = at(160);
    flow.stretch = 20;
    flow.report(&[Fate::Acked; 20]);
    assert_eq!(flow.controller.window(), 20_000, "5 of the 20 packets count, a quarter of the window");
    flow.send(15);
    flow.now = at(260);
    flow.report(&[Fate::Acked; 15]);
    assert_eq!(flow.controller.window(), 21_000, "with 15 more a window is full");
}

#[test]
fn the_second_reduction_answers_only_for_packets_sent_after_the_first_began() {
    // The recovery begins at 100 ms, with a window of 40, by the loss of packet 0. Packets 1 and 2 left before that, the
    // latter in the same instant; 3 left in that instant but after the reduction; 4 left a millisecond later.
    for (packet, window) in [(1, 20), (2, 20), (3, 10), (4, 10)] {
        for fate in [Fate::Lost, Fate::Marked] {
            let mut flow = avoiding(40, NewRenoParams::default());
            flow.send(1);
            flow.now = at(50);
            flow.send(1);
            flow.now = at(100);
            flow.send(1);
            flow.report(&[Fate::Lost]);
            assert_eq!(flow.packets(), 20);
            flow.send(1);
            flow.now = at(101);
            flow.send(1);
            flow.now = at(150);
            flow.take(packet - 1);
            flow.report(&[fate]);
            assert_eq!(flow.packets(), window, "{fate:?} of packet {packet}");
        }
    }
}

#[test]
fn a_mark_counts_like_a_loss_and_a_loss_in_the_same_batch_adds_nothing() {
    let mut flow = avoiding(40, NewRenoParams::default());
    flow.stretch = 40;
    flow.round(|place| match place {
        3 => Fate::Lost,
        9 => Fate::Marked,
        _ => Fate::Acked,
    });
    assert_eq!(flow.packets(), 20);
    flow.rounds(1);
    flow.round(|place| if place == 9 { Fate::Marked } else { Fate::Acked });
    assert_eq!(flow.controller.window(), 10_500, "half of 21 packets");
}

#[test]
fn a_mark_on_a_packet_that_the_recovery_covers_is_old_news_beside_newer_packets() {
    let mut flow = avoiding(40, NewRenoParams::default());
    flow.send(2);
    flow.now = at(100);
    flow.report(&[Fate::Lost]);
    flow.now = at(101);
    flow.send(1);
    flow.now = at(201);
    flow.stretch = 2;
    flow.report(&[Fate::Marked, Fate::Acked]);
    assert_eq!(flow.packets(), 20);
}

#[test]
fn persistent_congestion_leaves_the_minimum_window_and_one_reduction_of_the_threshold() {
    let mut flow = avoiding(40, NewRenoParams::default());
    flow.fill();
    flow.now = at(1_000);
    let lost = flow.take(20);
    flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_millis(900)), ..Batch::default() });
    assert_eq!((flow.packets(), flow.controller.state().ssthresh), (2, Some(20_000)));
    // The rest of that flight is declared lost later: the same congestion.
    let lost = flow.take(20);
    flow.now = at(1_010);
    flow.feed(&Batch { lost, ..Batch::default() });
    assert_eq!(flow.controller.state().ssthresh, Some(20_000));
    flow.rounds(2);
    assert_eq!((flow.packets(), flow.controller.state().phase), (8, "slow_start"));
}

#[test]
fn losses_never_take_the_window_below_its_minimum() {
    let mut flow = newreno(NewRenoParams::default());
    for _ in 0..20 {
        flow.lose_one();
    }
    assert_eq!(flow.packets(), 2);
}

#[test]
fn losses_that_coding_restored_are_congestion() {
    let mut flow = avoiding(40, NewRenoParams::default());
    flow.fill();
    flow.now = at(100);
    let recovered = flow.take(2);
    flow.feed(&Batch { recovered, ..Batch::default() });
    assert_eq!(flow.packets(), 20);
}

#[test]
fn a_window_that_is_not_used_does_not_grow_until_the_first_round_that_fills_it() {
    for limit in [Limit::Application, Limit::Receiver] {
        let mut flow = newreno(NewRenoParams::default());
        flow.limit = limit;
        for _ in 0..100 {
            flow.send(3);
            flow.now += flow.rtt;
            flow.report(&[Fate::Acked; 3]);
        }
        assert_eq!(flow.packets(), 10, "{limit:?}");
        flow.limit = Limit::Window;
        flow.rounds(1);
        assert_eq!(flow.packets(), 20, "{limit:?}");
    }
}

#[test]
fn pacing_is_no_reason_not_to_grow() {
    let mut flow = newreno(NewRenoParams::default());
    flow.limit = Limit::Pacing;
    flow.rounds(1);
    assert_eq!(flow.packets(), 20);
}

/// Loses packets 0 and 1 of a window of 40, then has them acknowledged after all.
fn spurious_episode(flow: &mut Driver<NewReno>) -> Vec<crate::PacketRecord> {
    flow.fill();
    flow.now = at(100);
    let lost = flow.take(2);
    flow.feed(&Batch { lost: lost.clone(), ..Batch::default() });
    assert_eq!(flow.packets(), 20);
    flow.now = at(120);
    lost
}

#[test]
fn a_reduction_is_undone_when_all_its_losses_prove_spurious_and_the_parameter_says_so() {
    for (undo, packets) in [(true, 40), (false, 20)] {
        let mut flow = avoiding(40, NewRenoParams { undo, ..NewRenoParams::default() });
        let lost = spurious_episode(&mut flow);
        flow.feed(&Batch { spurious: lost[..1].to_vec(), ..Batch::default() });
        assert_eq!(flow.packets(), 20, "one of two is still missing");
        flow.feed(&Batch { spurious: lost[1..].to_vec(), ..Batch::default() });
        assert_eq!(flow.packets(), packets, "undo {undo}");
        assert_eq!(flow.controller.state().ssthresh, Some(packets * MTU));
    }
}

#[test]
fn a_mark_or_a_later_loss_confirms_the_reduction() {
    let undo = NewRenoParams { undo: true, ..NewRenoParams::default() };
    for fate in [Fate::Marked, Fate::Lost] {
        let mut flow = avoiding(40, undo.clone());
        let spurious = spurious_episode(&mut flow);
        flow.report(&[fate]);
        flow.feed(&Batch { spurious, ..Batch::default() });
        assert_eq!(flow.packets(), 20, "{fate:?}");
    }
}

#[test]
fn packets_of_an_earlier_episode_do_not_undo_a_later_one() {
    let mut flow = avoiding(40, NewRenoParams { undo: true, ..NewRenoParams::default() });
    let spurious = spurious_episode(&mut flow);
    flow.now = at(130);
    flow.take(38);
    flow.send(2);
    flow.now = at(230);
    flow.report(&[Fate::Lost, Fate::Acked]);
    assert_eq!(flow.packets(), 10);
    flow.feed(&Batch { spurious, ..Batch::default() });
    assert_eq!(flow.packets(), 10);
}

#[test]
fn a_packet_of_an_earlier_episode_sent_in_the_same_instant_undoes_no_later_one() {
    let mut flow = avoiding(40, NewRenoParams { undo: true, ..NewRenoParams::default() });
    flow.fill();
    flow.now = at(100);
    flow.send(1);
    let first = [flow.in_flight.pop_front(), flow.in_flight.pop_back()].into_iter().flatten().collect::<Vec<_>>();
    flow.feed(&Batch { lost: first.clone(), ..Batch::default() });
    assert_eq!(flow.packets(), 20);
    flow.send(1);
    let second = flow.in_flight.pop_back().into_iter().collect();
    flow.now = at(200);
    flow.feed(&Batch { lost: second, ..Batch::default() });
    assert_eq!(flow.packets(), 10);
    flow.feed(&Batch { spurious: first[1..].to_vec(), ..Batch::default() });
    assert_eq!(flow.packets(), 10);
}

#[test]
fn idleness_keeps_the_window_unless_the_parameter_says_otherwise() {
    for (idle_restart, packets) in [(false, 40), (true, 10)] {
        let mut flow = avoiding(40, NewRenoParams { idle_restart, ..NewRenoParams::default() });
        flow.limit = Limit::Application;
        flow.rounds(1);
        flow.idle(Span::from_millis(50));
        assert_eq!(flow.packets(), 40, "shorter than a timeout");
        flow.idle(Span::from_secs(5));
        assert_eq!(flow.packets(), packets, "idle_restart {idle_restart}");
    }
}

#[test]
fn a_new_packet_size_moves_the_minimum_and_an_untouched_window() {
    let mut fresh = newreno(NewRenoParams::default());
    fresh.signal(&Signal::MtuChange { mtu: 1_400 });
    assert_eq!(fresh.controller.window(), 14_000);
    let mut small = avoiding(2, NewRenoParams::default());
    small.signal(&Signal::MtuChange { mtu: 1_400 });
    assert_eq!(small.controller.window(), 2_800);
}

#[test]
fn a_migrated_path_starts_anew() {
    let mut flow = avoiding(40, NewRenoParams::default());
    flow.lose_one();
    flow.signal(&Signal::PathChange { path: crate::PathId(0), change: PathChange::Migrated });
    assert_eq!((flow.packets(), flow.controller.state().ssthresh), (10, None));
    flow.signal(&Signal::PathChange { path: crate::PathId(0), change: PathChange::EcnUnusable });
    assert_eq!(flow.packets(), 10);
}

#[test]
fn a_handover_resumes_window_and_threshold() {
    let mut flow = avoiding(40, NewRenoParams::default());
    flow.lose_one();
    flow.rounds(3);
    let mut next = setup();
    next.handover = Some(flow.controller.handover());
    let resumed = NewReno::new(NewRenoParams::default(), &next).unwrap();
    assert_eq!((resumed.window(), resumed.state().ssthresh), (23_000, Some(20_000)));
    // A rate-based law hands over bandwidth and RTT: 8 Mb/s x 50 ms = 50 kB.
    next.handover = Some(Handover {
        bandwidth: Some(crate::Rate::from_mbps(8)),
        min_rtt: Some(Span::from_millis(50)),
        ..Handover::default()
    });
    assert_eq!(NewReno::new(NewRenoParams::default(), &next).unwrap().window(), 50_000);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let cases = [
        (NewRenoParams { beta: 1.0, ..NewRenoParams::default() }, "beta"),
        (NewRenoParams { beta: f64::NAN, ..NewRenoParams::default() }, "beta"),
        (NewRenoParams { initial_window: 0, ..NewRenoParams::default() }, "initial_window"),
        (NewRenoParams { min_window: 0, ..NewRenoParams::default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(NewReno::new(params, &setup()).unwrap_err().name, name);
    }
}

#[test]
fn the_saw_tooth_of_periodic_loss_is_renos() {
    // A loss each time the window reaches 32 packets: 16 packets, a recovery that does not grow, then one a round.
    let mut flow = avoiding(32, NewRenoParams::default());
    let mut windows = Vec::new();
    for _ in 0..37 {
        windows.push(flow.packets());
        if flow.packets() == 32 { flow.lose_one() } else { flow.rounds(1) }
    }
    let tooth: Vec<u64> = [32].into_iter().chain(16..32).collect();
    assert_eq!(windows, [&tooth[..], &tooth[..], &tooth[..3]].concat());
}

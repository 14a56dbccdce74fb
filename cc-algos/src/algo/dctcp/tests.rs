use super::*;
use crate::controller::Limit;
use crate::signal::Ecn;
use crate::testing::{Batch, Driver, Fate, MTU, at, setup};

/// A flow past slow start with a window of exactly `packets`.
fn avoiding(packets: u64, params: DctcpParams) -> Driver<Dctcp> {
    let mut resumed = setup();
    resumed.handover =
        Some(Handover { window: Some(packets * MTU), ssthresh: Some(packets * MTU), ..Handover::default() });
    Driver::new(Dctcp::new(params, &resumed).unwrap())
}

fn with_alpha(alpha: f64) -> DctcpParams {
    DctcpParams { alpha, ..DctcpParams::default() }
}

fn assert_close(value: f64, expected: f64, share: f64) {
    assert!((value - expected).abs() <= share * expected.abs(), "{value} is not within {share} of {expected}");
}

#[test]
fn alpha_moves_by_a_sixteenth_towards_the_share_of_each_window() {
    // From 0, all marked: 1 - (15/16)^n. From 1, none marked: (15/16)^n. From 1, half marked: 1/2 + 1/2 (15/16)^n.
    for windows in [1, 2, 16, 50] {
        let kept = (15.0_f64 / 16.0).powi(windows);
        let run = |alpha, marked| {
            let mut flow = avoiding(100, with_alpha(alpha));
            flow.limit = Limit::Application;
            // A window ends with the first packet of the next (RFC 8257, section 3.3), which it includes.
            for _ in 0..=windows {
                flow.send(10);
                flow.now += flow.rtt;
                let fate = |place| if place < marked { Fate::Marked } else { Fate::Acked };
                flow.report(&(0..10).map(fate).collect::<Vec<_>>());
            }
            flow.controller.alpha
        };
        assert_close(run(0.0, 10), 1.0 - kept, 1e-9);
        assert_close(run(1.0, 0), kept, 1e-9);
        // The first window has eleven packets, of which six are marked.
        assert_close(run(1.0, 5), 0.5 + 0.5 * kept, 0.01);
    }
}

#[test]
fn a_mark_takes_half_of_alpha_once_a_round_trip() {
    for (alpha, packets) in [(1.0, 50), (0.5, 75), (0.1, 95), (0.0, 100)] {
        let mut flow = avoiding(100, with_alpha(alpha));
        flow.fill();
        flow.now += flow.rtt;
        flow.stretch = 10;
        flow.report(&[Fate::Marked; 100]);
        assert_eq!(flow.packets(), packets, "alpha {alpha}");
    }
}

#[test]
fn the_first_mark_ends_slow_start() {
    let mut flow = Driver::new(Dctcp::new(DctcpParams::default(), &setup()).unwrap());
    flow.rounds(2);
    assert_eq!((flow.packets(), flow.controller.state().phase), (40, "slow_start"));
    flow.fill();
    flow.now += flow.rtt;
    flow.report(&[Fate::Marked]);
    // Two windows have ended, the second with the mark, its twentieth packet: (15/16)^2 + 1/16 x 1/20 = 0.88203. And
    // 40 (1 - 0.88203 / 2) = 22.359.
    assert_eq!(flow.controller.window(), 22_359);
    assert_eq!(flow.controller.state().ssthresh, Some(22_359));
}

#[test]
fn a_loss_halves_whatever_alpha_and_not_again_for_marks_of_the_same_window() {
    let mut flow = avoiding(100, with_alpha(0.1));
    flow.round(|place| match place {
        0 => Fate::Lost,
        1..50 => Fate::Marked,
        _ => Fate::Acked,
    });
    assert_eq!(flow.packets(), 50);
    let mut both = avoiding(100, with_alpha(0.1));
    both.stretch = 100;
    both.round(|place| if place < 2 { Fate::Lost } else { Fate::Marked });
    assert_eq!(both.packets(), 50, "loss and marks in one batch count as a loss");
}

#[test]
fn unmarked_windows_grow_by_one_packet() {
    let mut flow = avoiding(100, with_alpha(0.0));
    flow.rounds(10);
    assert_eq!(flow.packets(), 110);
}

#[test]
fn alpha_and_oscillation_in_steady_state_are_those_of_the_published_analysis() {
    // Alizadeh et al., SIGCOMM'10, section 3.3: one round trip of each saw tooth is marked, and a tooth takes
    // D = W alpha / 2 rounds to regain what was taken away, so alpha = 1 / (D + 1). Here the round after a reduction does
    // not grow: alpha (W alpha / 2 + 2) = 1, which for W = 101 gives alpha = 0.1224 and D = 6.18 packets.
    let mut flow = avoiding(100, DctcpParams::default());
    flow.stretch = 10;
    let (mut low, mut alphas) = (u64::MAX, Vec::new());
    for round in 0..3_000 {
        let marked = flow.packets() > 100;
        flow.round(|_| if marked { Fate::Marked } else { Fate::Acked });
        if round > 2_000 {
            low = low.min(flow.controller.window());
            alphas.push(flow.controller.alpha);
        }
    }
    assert_close(alphas.iter().sum::<f64>() / alphas.len() as f64, 0.1224, 0.1);
    assert_close(101.0 - low as f64 / 1_000.0, 6.18, 0.2);
}

#[test]
fn persistent_congestion_collapses_to_the_minimum() {
    let mut flow = avoiding(100, DctcpParams::default());
    flow.fill();
    flow.now += flow.rtt;
    let lost = flow.take(100);
    flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
    assert_eq!((flow.packets(), flow.controller.state().ssthresh), (2, Some(50_000)));
}

#[test]
fn more_marked_than_acknowledged_counts_as_all_marked() {
    let mut flow = avoiding(10, with_alpha(1.0));
    let acked = [crate::PacketRecord::new(0, 1_000, at(1))];
    let mut feedback = Feedback::new(at(100), crate::Cause::Ack);
    feedback.acked = &acked;
    feedback.newly_acked.add(1_000);
    feedback.newly_marked = crate::Tally { bytes: u64::MAX, packets: u64::MAX };
    let flight = flow.flight();
    flow.controller.on_feedback(&feedback, &flight);
    assert!((flow.controller.alpha - 1.0).abs() < f64::EPSILON);
    assert_eq!(flow.packets(), 5);
}

#[test]
fn it_asks_for_marks_and_not_for_drops() {
    assert_eq!(Dctcp::new(DctcpParams::default(), &setup()).unwrap().ecn(), Ecn::Ect0);
}

#[test]
fn a_new_path_starts_with_the_initial_alpha() {
    let mut flow = avoiding(100, DctcpParams::default());
    flow.rounds(50);
    assert!(flow.controller.alpha < 0.1);
    flow.signal(&Signal::PathChange { path: crate::PathId(0), change: PathChange::Migrated });
    assert_eq!((flow.packets(), flow.controller.state().ssthresh), (10, None));
    assert!((flow.controller.alpha - 1.0).abs() < f64::EPSILON);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let cases = [
        (DctcpParams { g: 0.0, ..DctcpParams::default() }, "g"),
        (DctcpParams { g: 1.1, ..DctcpParams::default() }, "g"),
        (DctcpParams { alpha: f64::NAN, ..DctcpParams::default() }, "alpha"),
        (DctcpParams { beta: 1.0, ..DctcpParams::default() }, "beta"),
        (DctcpParams { initial_window: 0, ..DctcpParams::default() }, "initial_window"),
        (DctcpParams { min_window: 0, ..DctcpParams::default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(Dctcp::new(params, &setup()).unwrap_err().name, name);
    }
}

use super::*;
use crate::controller::{Limit, Oracle};
use crate::testing::{Batch, Driver, Fate, MTU, setup};
use crate::units::{Rate, Span};

/// A flow past its start with a window of exactly `packets`.
fn avoiding(packets: u64) -> Driver<MpRdma> {
    let mut resumed = setup();
    resumed.handover = Some(Handover::of_window(packets * MTU));
    Driver::new(MpRdma::new(MpRdmaParams::default(), &resumed).unwrap())
}

#[test]
fn a_mark_takes_half_a_packet_and_an_unmarked_packet_adds_its_share() {
    let mut flow = avoiding(100);
    flow.send(4);
    flow.now += flow.rtt;
    flow.report(&[Fate::Marked, Fate::Marked]);
    assert_eq!(flow.controller.window(), 99_000);
    // 1000 x 1000 / 99 000 = 10.1 B, and then 1000 x 1000 / 99 010.1.
    flow.report(&[Fate::Acked, Fate::Acked]);
    assert_eq!(flow.controller.window(), 99_020);
}

#[test]
fn every_mark_counts_and_not_one_a_round_trip() {
    let mut flow = avoiding(100);
    flow.limit = Limit::Application;
    flow.send(100);
    flow.now += flow.rtt;
    flow.report(&[Fate::Marked; 100]);
    assert_eq!(flow.packets(), 50);
}

#[test]
fn a_share_p_of_marks_holds_the_window_at_twice_one_minus_p_over_p() {
    // (1 - p) / W = p / 2. With every n-th packet marked, p = 1 / n and W = 2 (n - 1).
    for every in [5_u64, 10, 50] {
        for start in [every, 8 * every] {
            let mut flow = avoiding(start);
            let (mut count, mut sum, mut rounds) = (0_u64, 0.0, 0.0);
            for round in 0..4_000 {
                flow.fill();
                flow.now += flow.rtt;
                let packets = flow.in_flight.len() as u64;
                let fates: Vec<_> = (count..count + packets)
                    .map(|packet| if packet % every == 0 { Fate::Marked } else { Fate::Acked })
                    .collect();
                count += packets;
                flow.report(&fates);
                if round >= 2_000 {
                    sum += flow.controller.window() as f64 / MTU as f64;
                    rounds += 1.0;
                }
            }
            let (mean, expected) = (sum / rounds, 2.0 * (every - 1) as f64);
            assert!((mean / expected - 1.0).abs() < 0.05, "1 in {every} from {start}: {mean} for {expected}");
        }
    }
}

#[test]
fn how_acknowledgements_are_batched_hardly_matters() {
    let window = |stretch| {
        let mut flow = avoiding(40);
        flow.stretch = stretch;
        for _ in 0..50 {
            flow.send(64);
            flow.now += flow.rtt;
            flow.report(&[&[Fate::Marked][..], &[Fate::Acked; 15]].concat().repeat(4));
        }
        flow.controller.window() as f64
    };
    let off = window(8) / window(1) - 1.0;
    assert!(off.abs() < 0.03, "{off}");
}

#[test]
fn the_window_doubles_until_the_first_mark_or_the_product_of_the_local_link() {
    let mut flow = Driver::new(MpRdma::new(MpRdmaParams::default(), &setup()).unwrap());
    flow.rounds(3);
    assert_eq!((flow.packets(), flow.controller.state().phase), (80, "slow_start"));
    flow.round(|place| if place == 0 { Fate::Marked } else { Fate::Acked });
    assert_eq!((flow.packets(), flow.controller.state().phase), (80, "congestion_avoidance"));

    let mut local = setup();
    // 10 Mb/s x 100 ms = 125 packets.
    local.local_line_rate = Some(Rate::from_mbps(10));
    let mut flow = Driver::new(MpRdma::new(MpRdmaParams::default(), &local).unwrap());
    flow.rounds(5);
    assert!((125..128).contains(&flow.packets()), "{}", flow.packets());
}

#[test]
fn an_oracle_gives_a_first_window_of_one_product() {
    let mut told = setup();
    told.oracle = Some(Oracle { base_rtt: Span::from_millis(100), bottleneck: Rate::from_mbps(8) });
    let flow = Driver::new(MpRdma::new(MpRdmaParams::default(), &told).unwrap());
    assert_eq!((flow.packets(), flow.controller.state().phase), (100, "congestion_avoidance"));
}

#[test]
fn a_loss_counts_as_a_mark_and_persistent_congestion_leaves_a_packet() {
    let mut flow = avoiding(100);
    flow.limit = Limit::Application;
    flow.fill();
    flow.now += flow.rtt;
    flow.report(&[Fate::Lost; 2]);
    assert_eq!(flow.controller.window(), 99_000);
    let lost = flow.take(98);
    flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
    assert_eq!(flow.packets(), 1);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let cases = [
        (MpRdmaParams { increase: 0.0, ..MpRdmaParams::default() }, "increase"),
        (MpRdmaParams { decrease: f64::NAN, ..MpRdmaParams::default() }, "decrease"),
        (MpRdmaParams { initial_window: 0, ..MpRdmaParams::default() }, "initial_window"),
        (MpRdmaParams { min_window: 0, ..MpRdmaParams::default() }, "min_window"),
    ];
    for (params, name) in cases {
        assert_eq!(MpRdma::new(params, &setup()).unwrap_err().name, name);
    }
}

/// Window in whole packets after each of 40 round trips: marks of a tenth in rounds 4 to 7, a loss in round 20.
#[test]
fn the_window_over_marks_and_a_loss_is_as_recorded() {
    let mut flow = Driver::new(MpRdma::new(MpRdmaParams::default(), &setup()).unwrap());
    let windows = (0..40).map(|round| {
        match round {
            4..8 => flow.round(|place| if place % 10 == 0 { Fate::Marked } else { Fate::Acked }),
            20 => flow.lose_one(),
            _ => flow.rounds(1),
        }
        flow.packets().to_string()
    });
    insta::assert_snapshot!(windows.collect::<Vec<_>>().join(" "), @"20 40 80 160 152 145 139 133 134 135 136 137 138 139 140 141 142 143 144 145 145 146 147 148 149 150 151 152 153 154 155 156 157 158 159 160 161 162 163 164");
}

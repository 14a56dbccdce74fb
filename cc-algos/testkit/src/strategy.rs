//! Histories at random, which shrink to short ones.
//!
//! Sizes are such that a script costs about a hundred microseconds: a few dozen packets a move, at most twelve moves. Most
//! networks hold some packets a round trip, so that losses, marks and recovery interleave; the rest are extremes.
//!
//! Half of the scripts are moves drawn one by one. What needs three or four particular moves in a row would be rare among
//! them, so that the other half has a shape (`shapes`).

mod shapes;

use cc_algos::units::{Rate, Span};
use proptest::prelude::*;

use crate::script::{Csig, Honesty, Move, Network, PathMove, Script};

/// Most moves of a script.
pub const MOST_MOVES: usize = 12;

/// Ten years.
const DECADE: Span = Span::from_secs(315_360_000);

/// Any script.
pub fn script() -> impl Strategy<Value = Script> {
    prop_oneof![scattered(), shapes::script()]
}

/// Moves that have nothing to do with each other.
fn scattered() -> impl Strategy<Value = Script> {
    (network(), prop::collection::vec(any_move(), 1..=MOST_MOVES))
        .prop_map(|(network, moves)| Script { network, moves })
}

/// Any network.
pub fn network() -> impl Strategy<Value = Network> {
    let shape = prop_oneof![30 => usual_shape(), 10 => extreme_shape(), 1 => timeless_shape()];
    on(shape)
}

/// A network of any kind around a rate, a round trip and a size of packets.
fn on(shape: impl Strategy<Value = (Rate, Span, u64)>) -> impl Strategy<Value = Network> {
    let acks = prop_oneof![3 => Just((1, 0_u32)), 2 => (2_u32..=4, 1_u32..=100), 1 => (5_u32..=32, 1_u32..=200)];
    let marks = prop::option::weighted(0.4, 0_u32..=16);
    let clock = prop_oneof![3 => Just(Span::ZERO), 1 => Just(DECADE)];
    let resume = prop::option::weighted(0.2, 1_u32..=300);
    // Round trips.
    let timer = prop::option::weighted(0.1, 8_u64..=40);
    (shape, 1_u32..=64, marks, acks, any::<bool>(), clock, resume, timer).prop_map(
        |((rate, rtt, mtu), buffer, mark_above, (ack_every, delay), echo, clock, resume, timer)| Network {
            rate,
            rtt,
            mtu,
            buffer,
            mark_above,
            ack_every,
            // Per cent of the round trip.
            ack_delay: rtt.mul_div(u64::from(delay), 100),
            echo,
            clock,
            resume,
            retransmit_after: timer.map(|times| rtt.saturating_mul(times).max(Span::from_micros(1))),
        },
    )
}

/// A round trip of any length, and a rate that brings some packets through in it.
fn usual_shape() -> impl Strategy<Value = (Rate, Span, u64)> {
    (span(), mtu(), 2_u32..=64).prop_map(|(rtt, mtu, packets)| {
        let rate = Rate::from_bytes_in(mtu.saturating_mul(u64::from(packets)), rtt).unwrap_or(Rate::MAX);
        (rate.clamp(Rate::from_kbps(1), Rate::from_gbps(800)), rtt, mtu)
    })
}

/// Rates and round trips that have nothing to do with each other.
fn extreme_shape() -> impl Strategy<Value = (Rate, Span, u64)> {
    let rate = (3.0_f64..=11.9).prop_map(|exponent| Rate::from_bps(10_f64.powf(exponent) as u64));
    let mtu = prop_oneof![4 => mtu(), 1 => 1_u64..=600, 1 => prop::sample::select(vec![1 << 20, 1 << 28, 1 << 30])];
    (rate, span(), mtu)
}

/// A fast link in the eyes of a coarse clock: nothing takes any time.
fn timeless_shape() -> impl Strategy<Value = (Rate, Span, u64)> {
    mtu().prop_map(|mtu| (Rate::from_gbps(1_000_000), Span::ZERO, mtu))
}

/// From a microsecond to ten seconds, in steps of one digit.
fn span() -> impl Strategy<Value = Span> {
    let unit = prop::sample::select(vec![1_000_000, 100_000, 10_000_000, 10_000, 1_000, 100_000_000, 1_000_000_000]);
    (unit, 1_u64..=9).prop_map(|(nanos, digit)| Span::from_nanos(nanos * digit))
}

fn mtu() -> impl Strategy<Value = u64> {
    prop_oneof![12 => prop::sample::select(vec![1_200, 1_500, 1_000, 4_160, 9_000, 600]), 1 => 40_u64..=64]
}

/// Any move.
pub fn any_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        14 => (1_u32..=8).prop_map(|rtts| Move::Run { rtts }),
        10 => (1_u32..=60).prop_map(|packets| Move::RunPackets { packets }),
        4 => (1_u32..=60).prop_map(|packets| Move::Send { packets }),
        12 => damage(),
        10 => pauses(),
        8 => changes(),
        6 => signals(),
    ]
}

/// What befalls single packets.
fn damage() -> impl Strategy<Value = Move> {
    prop_oneof![
        6 => few().prop_map(Move::Lose),
        3 => few().prop_map(Move::Mark),
        2 => few().prop_map(Move::Late),
        1 => (1_u32..=6).prop_map(Move::Overtake),
        1 => few().prop_map(Move::Duplicate),
        1 => few().prop_map(Move::Trim),
        1 => few().prop_map(Move::LoseAcks),
    ]
}

/// Mostly one, at times some.
fn few() -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(1_u32), 2 => 2_u32..=5, 1 => 6_u32..=30]
}

/// Phases in which the window is not in use.
fn pauses() -> impl Strategy<Value = Move> {
    prop_oneof![
        12 => (1_u32..=5, 1_u32..=10).prop_map(|(packets, rtts)| Move::Trickle { packets, rtts }),
        4 => (1_u32..=5, 1_u32..=10).prop_map(|(packets, rtts)| Move::Grant { packets, rtts }),
        8 => (1_u32..=10).prop_map(|rtts| Move::Idle { rtts }),
        4 => (11_u32..=100_000).prop_map(|rtts| Move::Idle { rtts }),
        8 => (1_u32..=6).prop_map(|times| Move::Timeout { times }),
        1 => (7_u32..=100).prop_map(|times| Move::Timeout { times }),
    ]
}

/// Changes of network and path.
fn changes() -> impl Strategy<Value = Move> {
    prop_oneof![
        2 => (0_u32..=30).prop_map(|tens| Move::Delay { percent: 10 * tens }),
        2 => prop::sample::select(vec![1_000, 500, 250, 100, 2_000, 4_000]).prop_map(|permille| Move::Rate { permille }),
        2 => mtu().prop_map(Move::Mtu),
        3 => prop::sample::select(vec![PathMove::Migrate, PathMove::Dead, PathMove::EcnUnusable]).prop_map(Move::Path),
    ]
}

/// What the network says apart from losses and marks.
fn signals() -> impl Strategy<Value = Move> {
    let honesty = || prop::sample::select(vec![Honesty::Honest, Honesty::Forged, Honesty::Absent]);
    let csig = prop::sample::select(vec![
        Csig::Ratio,
        Csig::Bandwidth,
        Csig::HopDelay,
        Csig::QueueDepth,
        Csig::Changing,
        Csig::Forged,
        Csig::Absent,
    ]);
    let amount = prop::sample::select(vec![1, 100, 100_000, u64::MAX]);
    prop_oneof![
        2 => csig.prop_map(Move::Csig),
        2 => honesty().prop_map(Move::Int),
        1 => honesty().prop_map(Move::Fabric),
        1 => amount.clone().prop_map(Move::ForgeMarks),
        1 => Just(Move::Bleach),
        1 => amount.prop_map(|queue_bytes| Move::NearSource { queue_bytes }),
        1 => Just(Move::CongestionNotification),
    ]
}

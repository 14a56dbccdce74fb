//! Shapes of history: moves that tell a story together, with others before and after them.
//!
//! | shape | what happens |
//! |---|---|
//! | pause | congestion avoidance, then silence or hardly any data for long, then data again |
//! | marks, then losses | rounds with marks, ECN perhaps found unusable, then losses |
//! | reroute | another path, longer or shorter |
//! | longer route | the same path takes several times as long |
//! | outage | timeouts in a row, up to a hundred, perhaps on a path that has become longer |
//! | sparse losses | little is sent, and nothing of it arrives for some round trips |
//! | thin acknowledgements | dozens of packets an acknowledgement, some of which are lost |
//! | other sizes | the largest packet grows or shrinks around losses |
//! | no time | a round trip that the clock cannot tell from none, and losses at the end of bursts |
//! | wide window | thousands of packets taken over, and congestion |
//! | late and marked | bursts of which all but the last packet come late and marked, over and over |
//! | steps | the link's rate falls and rises |
//! | refrain | two to four moves, over and over |

use cc_algos::units::{Rate, Span};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{any_move, few, mtu, network, on, timeless_shape, usual_shape};
use crate::script::{Move, Network, PathMove, Script};

type Moves = Vec<Move>;

/// A script with a shape.
pub(super) fn script() -> impl Strategy<Value = Script> {
    prop_oneof![
        4 => framed(network(), pause()),
        3 => framed(network(), marks_then_losses()),
        4 => framed(network(), reroute()),
        2 => framed(network(), longer_route()),
        3 => framed(network(), outage()),
        3 => framed(network(), sparse_losses()),
        2 => framed(thin_acks(), vec(busy(), 2..=4)),
        2 => framed(network(), other_sizes()),
        1 => framed(on(timeless_shape()), tail_losses()),
        2 => framed(wide(), outbursts()),
        1 => framed(on(usual_shape()), late_and_marked()),
        2 => framed(network(), steps()),
        4 => framed(network(), refrain()),
    ]
}

/// A story with up to two moves before and after it.
fn framed(
    network: impl Strategy<Value = Network>,
    story: impl Strategy<Value = Moves>,
) -> impl Strategy<Value = Script> {
    let others = || vec(any_move(), 0..=2);
    (network, others(), story, others())
        .prop_map(|(network, before, story, after)| Script { network, moves: [before, story, after].concat() })
}

fn run(rtts: impl Strategy<Value = u32>) -> impl Strategy<Value = Move> {
    rtts.prop_map(|rtts| Move::Run { rtts })
}

/// The window in use, for some round trips or some packets.
fn busy() -> impl Strategy<Value = Move> {
    prop_oneof![run(2_u32..=8), (10_u32..=60).prop_map(|packets| Move::RunPackets { packets })]
}

/// What ends slow start.
fn congestion() -> impl Strategy<Value = Move> {
    prop_oneof![3 => few().prop_map(Move::Lose), 1 => few().prop_map(Move::Mark)]
}

fn pause() -> impl Strategy<Value = Moves> {
    let silence = (10_u32..=10_000).prop_map(|rtts| Move::Idle { rtts });
    let hardly_any = (1_u32..=3, 8_u32..=24).prop_map(|(packets, rtts)| Move::Trickle { packets, rtts });
    let little_room = (1_u32..=3, 8_u32..=24).prop_map(|(packets, rtts)| Move::Grant { packets, rtts });
    let pause = prop_oneof![4 => silence, 2 => hardly_any, 1 => little_room];
    (congestion(), run(3_u32..=12), pause, busy())
        .prop_map(|(congestion, before, pause, after)| vec![congestion, before, pause, after])
}

fn marks_then_losses() -> impl Strategy<Value = Moves> {
    let marks = vec((few().prop_map(Move::Mark), busy()), 1..=2);
    let unusable = prop_oneof![
        3 => Just(None),
        1 => Just(Some(Move::Path(PathMove::EcnUnusable))),
        1 => Just(Some(Move::Bleach)),
        1 => Just(Some(Move::ForgeMarks(u64::MAX))),
    ];
    let losses = vec((few().prop_map(Move::Lose), busy()), 1..=2);
    (marks, unusable, losses).prop_map(|(marks, unusable, losses)| {
        let pairs = |pairs: Vec<(Move, Move)>| pairs.into_iter().flat_map(|(first, second)| [first, second]);
        pairs(marks).chain(unusable).chain(pairs(losses)).collect()
    })
}

fn reroute() -> impl Strategy<Value = Moves> {
    let delay = |most: u32| (0..=most).prop_map(|tens| Move::Delay { percent: 10 * tens });
    let settled = prop_oneof![Just(Move::Idle { rtts: 3 }), Just(Move::Send { packets: 1 })];
    let path = prop_oneof![3 => Just(PathMove::Migrate), 1 => Just(PathMove::Dead)].prop_map(Move::Path);
    (delay(15), busy(), settled, path, delay(40), busy())
        .prop_map(|(first, before, settled, path, second, after)| vec![first, before, settled, second, path, after])
}

fn longer_route() -> impl Strategy<Value = Moves> {
    let longer = (10_u32..=40).prop_map(|tens| Move::Delay { percent: 10 * tens });
    (busy(), run(4_u32..=8), longer, run(4_u32..=8))
        .prop_map(|(first, second, longer, after)| vec![first, second, longer, after])
}

fn outage() -> impl Strategy<Value = Moves> {
    let times = prop_oneof![6 => 2_u32..=5, 3 => 6_u32..=12, 1 => 13_u32..=100];
    let longer = prop::option::of((20_u32..=90).prop_map(|tens| Move::Delay { percent: 10 * tens }));
    (congestion(), busy(), longer, times, busy()).prop_map(|(congestion, before, longer, times, after)| {
        [congestion, before].into_iter().chain(longer).chain([Move::Timeout { times }, after]).collect()
    })
}

fn sparse_losses() -> impl Strategy<Value = Moves> {
    (busy(), 4_u32..=30, 2_u32..=4, busy()).prop_map(|(before, lost, packets, after)| {
        let rtts = lost / packets + 1;
        vec![before, Move::Lose(lost), Move::Trickle { packets, rtts }, after]
    })
}

/// A network with few acknowledgements.
fn thin_acks() -> impl Strategy<Value = Network> {
    (on(usual_shape()), 6_u32..=48, 20_u64..=200).prop_map(|(network, ack_every, percent)| {
        let ack_delay = network.rtt.mul_div(percent, 100);
        Network { ack_every, ack_delay, ..network }
    })
}

fn other_sizes() -> impl Strategy<Value = Moves> {
    (mtu(), busy(), congestion(), mtu(), busy(), prop::option::of(1_u32..=3)).prop_map(
        |(first, before, congestion, second, after, times)| {
            let timeout = times.map(|times| Move::Timeout { times });
            [Move::Mtu(first), before, congestion, Move::Mtu(second), after].into_iter().chain(timeout).collect()
        },
    )
}

/// Bursts whose last packets are lost.
fn tail_losses() -> impl Strategy<Value = Moves> {
    let burst = || (1_u32..=8).prop_map(|packets| Move::Send { packets });
    (burst(), (1_u32..=4).prop_map(Move::Lose), burst(), burst())
        .prop_map(|(first, loss, second, third)| vec![first, loss, second, third])
}

/// A flow that takes over a window of hundreds or thousands of packets, and a network that holds them.
fn wide() -> impl Strategy<Value = Network> {
    (on(usual_shape()), 200_u32..=4_000).prop_map(|(network, packets)| {
        let bytes = network.mtu.saturating_mul(u64::from(packets));
        let rate = Rate::from_bytes_in(bytes, network.rtt.max(Span::from_nanos(1))).unwrap_or(Rate::MAX);
        Network { rate: rate.min(Rate::from_gbps(800)), buffer: packets, resume: Some(packets), ..network }
    })
}

/// Congestion now and then.
fn outbursts() -> impl Strategy<Value = Moves> {
    let some = || (20_u32..=200).prop_map(|packets| Move::RunPackets { packets });
    (some(), congestion(), some(), congestion(), some())
        .prop_map(|(first, one, second, other, third)| vec![first, one, second, other, third])
}

fn late_and_marked() -> impl Strategy<Value = Moves> {
    (3_u32..=30, 2_usize..=4).prop_map(|(packets, times)| {
        [Move::Mark(packets), Move::Late(packets - 1), Move::Send { packets }].repeat(times)
    })
}

fn steps() -> impl Strategy<Value = Moves> {
    let rate = || prop::sample::select(vec![20, 100, 250, 1_000, 4_000]).prop_map(|permille| Move::Rate { permille });
    (busy(), rate(), busy(), rate(), busy())
        .prop_map(|(first, one, second, other, third)| vec![first, one, second, other, third])
}

fn refrain() -> impl Strategy<Value = Moves> {
    (vec(any_move(), 2..=4), 2_usize..=3).prop_map(|(moves, times)| moves.repeat(times))
}

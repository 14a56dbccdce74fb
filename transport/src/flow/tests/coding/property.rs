//! Coded flows over links that lose, reorder and double packets at random.

use cc_algos::units::Span;
use proptest::prelude::*;

use super::super::channel::{MTU, PATH, Probe, plain};
use super::link::Link;
use crate::flow::code::{Coding, MAX_BLOCKS, Parity};
use crate::flow::{LossPolicy, Rto, SenderConfig};

fn coding() -> impl Strategy<Value = Coding> {
    let parity = prop_oneof![
        (0_u8..5).prop_map(Parity::Fixed),
        (0_u8..3, 0_u8..4).prop_map(|(min, more)| Parity::Adaptive { min, max: min + more }),
    ];
    (1_u8..20, parity, 1_u64..400)
        .prop_map(|(data, parity, millis)| Coding::new(data, parity, Span::from_millis(millis)).unwrap())
}

fn config() -> impl Strategy<Value = SenderConfig> {
    let loss = prop_oneof![
        Just(LossPolicy::RFC_9002),
        Just(LossPolicy::RACK),
        Just(LossPolicy::PerPacketRto { rto: Rto::Fixed(Span::from_millis(250)) }),
    ];
    loss.prop_map(|loss| SenderConfig { loss, ..plain() })
}

/// What becomes of packets, again and again: how many copies arrive, and how late.
fn fates() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let fate = prop_oneof![
        6 => Just(vec![0_u8]),
        2 => Just(vec![]),
        1 => any::<u8>().prop_map(|late| vec![late]),
        1 => any::<(u8, u8)>().prop_map(|(first, second)| vec![first, second]),
    ];
    proptest::collection::vec(fate, 1..64)
}

/// Packets after which the link is good, so that every flow comes to its end.
const TROUBLE: u64 = 600;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn every_piece_of_data_comes_out_once_and_both_sides_agree(
        (coding, config) in (coding(), config()),
        data in 1_usize..200,
        window in 1_u64..60,
        fates in fates(),
        answers in proptest::collection::vec(proptest::bool::weighted(0.2), 1..32),
    ) {
        let probe = Probe::with_window(window);
        let fate = move |number: u64| match fates[number as usize % fates.len()].as_slice() {
            _ if number >= TROUBLE => vec![Span::ZERO],
            copies => copies.iter().map(|late| Span::from_millis(u64::from(*late))).collect(),
        };
        let mut link = Link::with_config(&config, coding, &probe, data, Box::new(fate));
        let mut heard = 0;
        link.answers_lost = Box::new(move || {
            heard += 1;
            heard < TROUBLE as usize && answers[heard % answers.len()]
        });
        link.run_out();
        prop_assert!(link.is_done());
        prop_assert!(link.delivered.iter().all(|times| *times == 1), "{:?}", link.delivered);

        let blocks = link.sender.blocks().unwrap();
        prop_assert_eq!(blocks.complete().next(), link.blocks.complete().next());
        prop_assert_eq!((blocks.pending(), link.blocks.kept().0), (0, 0));
        prop_assert_eq!(blocks.totals().begun, blocks.totals().complete);
        prop_assert_eq!(link.blocks.totals().complete, blocks.totals().complete);

        let (sent, totals) = (link.sent.len() as u64, link.sender.stats(PATH).totals);
        let in_flight = link.sender.stats(PATH).in_flight_packets;
        prop_assert!(totals.sent.packets >= sent);
        let settled = totals.acked.packets + totals.lost.packets + totals.recovered.packets - totals.spurious.packets;
        prop_assert_eq!(settled + in_flight, totals.sent.packets);
        prop_assert_eq!(totals.sent.bytes, totals.sent.packets * u64::from(MTU));
        // Each loss is told, once, as one or the other.
        let told = probe.told();
        let count = |part: fn(&super::super::channel::Told) -> usize| told.iter().map(part).sum::<usize>() as u64;
        prop_assert_eq!(count(|told| told.lost.len()), totals.lost.packets);
        prop_assert_eq!(count(|told| told.recovered.len()), totals.recovered.packets);
    }

    #[test]
    fn a_receiver_keeps_a_bounded_memory_and_never_completes_without_enough(
        shards in proptest::collection::vec((0_u64..6_000, 0_u8..12, 1_u8..6, 0_u8..4, 0_u64..1_000), 1..2_000),
    ) {
        use crate::flow::code::{BlockReceiver, ShardArrival};
        let coding = Coding::new(4, Parity::Fixed(2), Span::from_micros(640)).unwrap();
        let mut receiver = BlockReceiver::new(coding);
        let mut now = cc_algos::Timestamp::ZERO;
        let mut seen = std::collections::BTreeMap::<u64, u32>::new();
        for (block, index, k, m, later) in shards {
            now += Span::from_micros(later);
            // Many blocks get a single shard, some get enough.
            let block = if block % 3 == 0 { block } else { block % 50 };
            let shard = crate::wire::Shard { block: cc_algos::ids::BlockId(block), index, k, m, shard_len: 100 };
            match receiver.on_shard(now, &shard) {
                ShardArrival::New => *seen.entry(block).or_default() += 1,
                ShardArrival::Completes { missing } => {
                    prop_assert_eq!(seen.remove(&block).unwrap_or_default() + 1, u32::from(k));
                    prop_assert!(missing.iter().all(|index| index < k));
                }
                _ => {}
            }
            while let Some(nack) = receiver.poll_nack(now) {
                prop_assert!(!nack.missing.is_empty() && !receiver.complete().contains(nack.block));
            }
            let (blocks, timers) = receiver.kept();
            prop_assert!(blocks <= MAX_BLOCKS && timers <= 2 * MAX_BLOCKS);
        }
    }
}

//! What holds for every discipline.

use cc_algos::{Ecn, Span};
use proptest::prelude::*;

use super::*;
use crate::rng;

fn any_discipline() -> impl Strategy<Value = DisciplineSpec> {
    let capacity = prop_oneof![
        (1_u64..200_000).prop_map(Capacity::Bytes),
        (1_u64..100).prop_map(Capacity::Packets),
        Just(Capacity::Unlimited),
    ];
    let quick =
        CodelParameters { target: Span::from_micros(50), interval: Span::from_millis(1), ..CodelParameters::default() };
    (capacity, 0..8).prop_map(move |(capacity, kind)| match kind {
        0 => DisciplineSpec::DropTail { capacity },
        1 => DisciplineSpec::Codel(CodelSpec { parameters: quick, capacity }),
        2 => DisciplineSpec::FqCodel(FqCodelSpec { capacity, queues: 4, codel: quick, ..FqCodelSpec::default() }),
        3 => DisciplineSpec::Pie(PieSpec { capacity, target: Span::from_micros(50), ..PieSpec::default() }),
        4 => DisciplineSpec::Trimming(TrimmingSpec {
            control_capacity: Capacity::Packets(20),
            victim: Victim::ArrivingOrNewest,
            marking: MarkingSpec::Threshold { bytes: 10_000 },
            mark_at: MarkAt::Dequeue,
            ..TrimmingSpec::new(capacity)
        }),
        5 => DisciplineSpec::Trimming(TrimmingSpec {
            scheduler: ControlScheduler::RoundRobin { control_per_data: 2 },
            marking: MarkingSpec::Threshold { bytes: 10_000 },
            ..TrimmingSpec::new(capacity)
        }),
        6 => DisciplineSpec::DualPi2(DualPi2Spec { capacity, target: Span::from_micros(50), ..DualPi2Spec::default() }),
        _ => {
            let scheduler = Scheduler::TimeShiftedFifo { shift: Span::from_micros(200) };
            DisciplineSpec::DualPi2(DualPi2Spec { capacity, scheduler, ..DualPi2Spec::default() })
        }
    })
}

/// What is left of a packet that is cut.
const HEADER: u32 = 40;

#[derive(Clone, Copy, Debug)]
enum Step {
    Offer { bytes: u32, flow: u32, ecn: u8 },
    Take,
}

fn any_steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let offer = (1_u32..9_000, 0_u32..6, 0_u8..4).prop_map(|(bytes, flow, ecn)| Step::Offer { bytes, flow, ecn });
    let gap = prop_oneof![9 => 0_u64..200_000_000, 1 => 0_u64..1_000_000_000_000_000_000];
    prop::collection::vec((gap, prop_oneof![3 => offer, 2 => Just(Step::Take)]), 0..300)
}

/// Runs the steps, then empties the queue; returns what was offered, sent and dropped, in order.
fn run(spec: &DisciplineSpec, seed: u64, steps: &[(u64, Step)]) -> [Vec<Queued>; 3] {
    let mut queue = spec.build(rng::stream(seed, "queue", 0)).unwrap();
    let [mut offered, mut sent, mut dropped] = [Vec::new(), Vec::new(), Vec::new()];
    let mut now = SimTime::ZERO;
    for (gap, step) in steps {
        now = now.plus_picos(*gap);
        match *step {
            Step::Offer { bytes, flow, ecn } => {
                let handle = offered.len() as u32;
                let ecn = Ecn::from_bits(ecn);
                let packet = Queued { handle, bytes, header_bytes: bytes.min(HEADER), flow, ecn, arrived: now };
                offered.push(packet);
                queue.enqueue(now, packet, &mut dropped);
            }
            Step::Take => sent.extend(queue.dequeue(now, &mut dropped)),
        }
        let total = |packets: &[Queued]| packets.iter().map(|packet| u64::from(packet.bytes)).sum::<u64>();
        let whole = total(&offered) - total(&sent) - total(&dropped);
        match queue.counts().trimmed {
            None => assert_eq!(queue.bytes(), whole),
            Some(_) => assert!(queue.bytes() <= whole),
        }
        assert_eq!(queue.packets(), (offered.len() - sent.len() - dropped.len()) as u64);
    }
    while let Some(packet) = queue.dequeue(now, &mut dropped) {
        sent.push(packet);
    }
    assert_eq!((queue.bytes(), queue.packets()), (0, 0));
    let counts = queue.counts();
    assert_eq!(counts.overflowed + counts.dropped_early, dropped.len() as u64);
    let cut = sent.iter().filter(|packet| packet.bytes != offered[packet.handle as usize].bytes);
    assert_eq!(counts.trimmed.unwrap_or(0), cut.count() as u64);
    let fresh = sent.iter().filter(|packet| packet.ecn != offered[packet.handle as usize].ecn);
    assert_eq!(counts.marked, fresh.count() as u64);
    [offered, sent, dropped]
}

proptest! {
    #[test]
    fn what_goes_in_comes_out_once_marked_at_most(spec in any_discipline(), steps in any_steps(), seed: u64) {
        let [offered, sent, dropped] = run(&spec, seed, &steps);
        let mut out = [sent.clone(), dropped].concat();
        out.sort_by_key(|packet| packet.handle);
        prop_assert_eq!(out.len(), offered.len());
        for (before, after) in offered.iter().zip(&out) {
            let mark = before.ecn != after.ecn;
            prop_assert!(!mark || before.ecn.is_capable() && after.ecn == Ecn::Ce, "{before:?} became {after:?}");
            prop_assert!(after.bytes == before.bytes || after.bytes == HEADER && after.is_control(), "{after:?}");
            prop_assert_eq!(Queued { ecn: before.ecn, bytes: before.bytes, ..*after }, *before);
        }
        // Packets of one flow and class leave in the order in which they came, but for those that were cut, which go first.
        let trims = matches!(spec, DisciplineSpec::Trimming(_));
        for flow in (0..6).filter(|_| !trims) {
            for low_latency in [false, true] {
                let handles: Vec<_> = sent
                    .iter()
                    .map(|packet| offered[packet.handle as usize])
                    .filter(|packet| packet.flow == flow && matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce) == low_latency)
                    .map(|packet| packet.handle)
                    .collect();
                prop_assert!(handles.is_sorted());
            }
        }
        if matches!(spec, DisciplineSpec::DropTail { .. } | DisciplineSpec::Codel(_) | DisciplineSpec::Pie(_)) {
            prop_assert!(sent.is_sorted_by_key(|packet| packet.handle));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_verdicts(spec in any_discipline(), steps in any_steps(), seed: u64) {
        prop_assert_eq!(run(&spec, seed, &steps), run(&spec, seed, &steps));
    }
}

//! Properties that hold whatever the network does.

use cc_algos::signal::EcnCounts;
use cc_algos::units::Span;
use proptest::prelude::*;

use super::channel::{Channel, Fate, MTU, PATH, Probe, plain};
use crate::flow::{EcnMode, Event, LossPolicy, Pacing, Rto, SenderConfig, Skip};
use crate::wire::{AckFrame, MarkBitmap, PacketNumberRange};

/// One step of a random exchange.
#[derive(Clone, Copy, Debug)]
enum Step {
    Send { entropy: u32, fate: Fate },
    Wait { micros: u64 },
    DropAcks,
    RepeatAck,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Arrives),
        2 => (0u64..60_000).prop_map(|micros| Fate::Late(Span::from_micros(micros))),
        1 => Just(Fate::Marked),
        2 => Just(Fate::Dropped),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u32..4, fate()).prop_map(|(entropy, fate)| Step::Send { entropy, fate }),
        3 => (0u64..40_000).prop_map(|micros| Step::Wait { micros }),
        1 => Just(Step::DropAcks),
        1 => Just(Step::RepeatAck),
    ]
}

fn policy() -> impl Strategy<Value = LossPolicy> {
    prop_oneof![
        Just(LossPolicy::RFC_9002),
        Just(LossPolicy::RACK),
        Just(LossPolicy::PerPacketRto { rto: Rto::Fixed(Span::from_millis(70)) }),
    ]
}

fn config(loss: LossPolicy, skip: bool) -> SenderConfig {
    let mut config = plain();
    config.loss = loss;
    config.pacing = Pacing::On;
    config.initial_rtt = Span::from_millis(20);
    config.skip = skip.then_some(Skip { mean_distance: 7, seed: 3 });
    config
}

/// Ranges that may be right, swapped, overlapping, or far out.
fn forged_ranges() -> impl Strategy<Value = Vec<PacketNumberRange>> {
    let number = prop_oneof![8 => 0u64..120, 1 => any::<u64>(), 1 => Just(u64::MAX)];
    let range = (number, 0u64..20).prop_map(|(last, len)| PacketNumberRange { first: last.saturating_sub(len), last });
    prop::collection::vec(range, 0..5).prop_map(|mut ranges| {
        if ranges.len() != 3 {
            ranges.sort_by_key(|range| core::cmp::Reverse(range.last));
        }
        ranges
    })
}

/// What was acknowledged, lost and late, checked on the way: each packet ends once, and is late only after it was lost.
#[derive(Default)]
struct Fates {
    acked: Vec<u64>,
    lost: Vec<u64>,
    late: Vec<u64>,
}

impl Fates {
    fn take(&mut self, events: &mut Vec<Event<u64>>) -> Result<(), TestCaseError> {
        for event in events.drain(..) {
            let (list, number) = match event {
                Event::Acked(number) => {
                    prop_assert!(!self.lost.contains(&number), "{} was lost before", number);
                    (&mut self.acked, number)
                }
                Event::Lost(number) => {
                    prop_assert!(!self.acked.contains(&number), "{} was acknowledged before", number);
                    (&mut self.lost, number)
                }
                Event::LateAcked(number) => {
                    prop_assert!(self.lost.contains(&number), "{} was never lost", number);
                    (&mut self.late, number)
                }
                Event::Restored(number) => return Err(TestCaseError::fail(format!("{number}: there are no blocks"))),
            };
            prop_assert!(!list.contains(&number), "{} ended twice", number);
            list.push(number);
        }
        Ok(())
    }
}

fn check_totals(channel: &Channel, fates: &Fates) -> Result<(), TestCaseError> {
    let stats = channel.sender.stats(PATH);
    let totals = stats.totals;
    let ended = (fates.acked.len() + fates.lost.len()) as u64;
    prop_assert_eq!(stats.in_flight_packets, totals.sent.packets - ended);
    prop_assert_eq!(stats.in_flight_bytes, stats.in_flight_packets * u64::from(MTU));
    prop_assert_eq!(
        totals.acked.bytes + totals.lost.bytes + stats.in_flight_bytes,
        totals.sent.bytes + totals.spurious.bytes
    );
    prop_assert!(totals.spurious.packets <= totals.lost.packets);
    Ok(())
}

fn play(channel: &mut Channel, steps: &[Step]) -> Result<Fates, TestCaseError> {
    let mut fates = Fates::default();
    for step in steps {
        match *step {
            Step::Send { entropy, fate } => {
                channel.send(entropy, fate);
            }
            Step::Wait { micros } => channel.run_until(channel.now + Span::from_micros(micros)),
            Step::DropAcks => channel.drop_acks(),
            Step::RepeatAck => channel.repeat_ack(),
        }
        fates.take(&mut channel.events)?;
        check_totals(channel, &fates)?;
    }
    // Until everything has ended, probes go out and arrive.
    for _ in 0..200 {
        if channel.sender.stats(PATH).in_flight_packets == 0 {
            break;
        }
        let next = channel.next_event().expect("with packets in flight something is to happen");
        channel.run_until(next);
        for _ in 0..channel.sender.probes(PATH) {
            channel.send(0, Fate::Arrives);
        }
        fates.take(&mut channel.events)?;
        check_totals(channel, &fates)?;
    }
    Ok(fates)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn every_packet_ends_once_and_bytes_are_conserved(
        steps in prop::collection::vec(step(), 1..150),
        loss in policy(),
        skip in any::<bool>(),
    ) {
        let probe = Probe::with_window(1_000);
        let mut channel = Channel::new(config(loss, skip), &probe, Span::from_millis(10));
        let fates = play(&mut channel, &steps)?;
        prop_assert_eq!(channel.sender.stats(PATH).in_flight_packets, 0, "everything ends");
        prop_assert_eq!(fates.acked.len() + fates.lost.len(), channel.departures.len());
        for told in probe.told() {
            prop_assert!(told.acked.is_sorted() && told.lost.is_sorted() && told.spurious.is_sorted());
            let lost_bytes = told.lost.len() as u64 * u64::from(MTU);
            prop_assert!(lost_bytes <= told.prior_in_flight, "nothing gets lost that was not in flight");
        }
    }

    /// Whatever a peer writes into its acknowledgements, the sender neither panics nor miscounts.
    #[test]
    fn forged_acknowledgements_do_no_harm(
        frames in prop::collection::vec((forged_ranges(), any::<(u64, u64, u64, u64)>(), 0u64..64), 1..60),
        trust in any::<bool>(),
        loss in policy(),
    ) {
        let probe = Probe::with_window(1_000);
        let mut config = config(loss, true);
        config.ecn = if trust { EcnMode::Trust } else { EcnMode::Validate };
        let mut channel = Channel::new(config, &probe, Span::from_millis(10));
        let mut fates = Fates::default();
        for (ranges, (delay, ect0, ect1, ce), bits) in frames {
            channel.burst(2, &[]);
            channel.now += Span::from_millis(1);
            let mut frame = AckFrame { largest: ranges.first().map_or(delay, |range| range.last), ..AckFrame::default() };
            frame.ranges.extend(ranges);
            frame.ack_delay = Span::from_nanos(delay);
            frame.ecn = Some(EcnCounts { ect0, ect1, ce });
            frame.marks = MarkBitmap::new(64, bits).filter(|_| bits % 2 == 0);
            // Refused or not: the books must balance.
            let _ = channel.sender.on_ack(channel.now, &frame, &mut channel.work);
            channel.events.append(&mut channel.work.events);
            channel.sender.on_timeout(channel.now, &mut channel.work);
            channel.events.append(&mut channel.work.events);
            fates.take(&mut channel.events)?;
            check_totals(&channel, &fates)?;
        }
        for told in probe.told() {
            prop_assert!(told.marked_packets <= (told.acked.len() + told.spurious.len()) as u64);
        }
    }

    #[test]
    fn the_same_exchange_gives_the_same_feedback(steps in prop::collection::vec(step(), 1..80), loss in policy()) {
        let (first, second) = (Probe::with_window(1_000), Probe::with_window(1_000));
        for probe in [&first, &second] {
            play(&mut Channel::new(config(loss, true), probe, Span::from_millis(10)), &steps)?;
        }
        prop_assert_eq!(first.told(), second.told());
    }

    #[test]
    fn without_loss_or_reordering_nothing_is_ever_declared_lost(
        waits in prop::collection::vec(0u64..30_000, 1..100),
        loss in prop_oneof![Just(LossPolicy::RFC_9002), Just(LossPolicy::RACK)],
    ) {
        let probe = Probe::with_window(1_000);
        let mut channel = Channel::new(config(loss, false), &probe, Span::from_millis(10));
        for micros in waits {
            channel.burst(2, &[]);
            channel.run_until(channel.now + Span::from_micros(micros));
        }
        channel.run_until(channel.now + Span::from_secs(1));
        let totals = channel.sender.stats(PATH).totals;
        prop_assert_eq!((totals.lost.packets, totals.acked), (0, totals.sent));
    }
}

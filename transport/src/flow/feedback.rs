//! One path of a sender: what comes back to it. Everything that one cause reveals becomes one batch.

use cc_algos::controller::{Cause, DeliverySample, Feedback, PacketRecord, PathSnapshot, RttSample, Tally};
use cc_algos::signal::{Ecn, EcnCounts, IntHop, PathChange, Signal};
use cc_algos::units::{Span, Timestamp};

use super::code::{CompleteBlocks, Fate, ShardReport};
use super::config::SenderConfig;
use super::ecn::EcnOutcome;
use super::ledger::{Entry, Was};
use super::loss::{Acked, View};
use super::path::Path;
use super::stats::accumulate;
use super::workspace::{Event, Workspace};
use super::{AckError, Content};
use crate::wire::{AckFrame, PacketNumberRange};

/// What stands outside a path while it works on a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub(super) now: Timestamp,
    pub(super) config: &'a SenderConfig,
    pub(super) siblings: &'a [PathSnapshot],
    /// Telemetry of the largest packet ever acknowledged, if it is newly acknowledged.
    pub(super) int: &'a [IntHop],
    /// Blocks whose losses need no repair.
    pub(super) complete: Option<&'a CompleteBlocks>,
}

/// A batch in the making. Its packets stand in the workspace, behind those of the paths before.
#[derive(Debug, Default)]
struct Batch {
    prior_in_flight: u64,
    acked_from: usize,
    lost_from: usize,
    recovered_from: usize,
    spurious_from: usize,
    newly_acked: Tally,
    newly_marked: Tally,
    newly_lost: Tally,
    recovered: Tally,
    late: Tally,
    /// Newly acknowledged packets by the codepoint they were sent with.
    acked_as: EcnCounts,
    /// Newly acknowledged packets that a map of marks covers.
    covered_by_map: u64,
    newest_acked: Option<u64>,
    /// When the largest acknowledged packet was sent, if it is newly acknowledged.
    largest_sent_at: Option<Timestamp>,
    ecn_failed: bool,
    rtt: Option<RttSample>,
    fabric_delay: Option<Span>,
    hops: Option<u8>,
    delivery: Option<DeliverySample>,
    persistent: Option<Span>,
    ecn: Option<EcnCounts>,
}

impl Batch {
    fn new<C>(prior_in_flight: u64, work: &Workspace<C>) -> Self {
        Self {
            prior_in_flight,
            acked_from: work.acked.len(),
            lost_from: work.lost.len(),
            recovered_from: work.recovered.len(),
            spurious_from: work.spurious.len(),
            ..Self::default()
        }
    }

    /// Packets that arrived, whatever they were held for.
    const fn arrived_packets(&self) -> u64 {
        self.newly_acked.packets + self.late.packets
    }

    /// Takes in a packet that was just given up.
    fn take_lost<C: Content>(
        &mut self,
        record: PacketRecord,
        entry: &Entry<C>,
        complete: Option<&CompleteBlocks>,
        work: &mut Workspace<C>,
    ) {
        let bytes = u64::from(entry.bytes);
        match entry.block {
            None => work.events.push(Event::Lost(entry.content)),
            Some(block) => {
                work.shards.push(ShardReport { block, index: entry.shard, fate: Fate::Lost });
                if complete.is_some_and(|complete| complete.contains(block)) {
                    self.recovered.add(bytes);
                    work.recovered.push(record);
                    return;
                }
            }
        }
        self.newly_lost.add(bytes);
        work.lost.push(record);
    }

    /// Whether packets were given up.
    const fn tells_of_losses(&self) -> bool {
        !self.newly_lost.is_zero() || !self.recovered.is_zero()
    }

    const fn is_empty(&self) -> bool {
        self.newly_acked.is_zero() && self.late.is_zero() && !self.tells_of_losses()
    }
}

impl<C: Content> Path<C> {
    pub(super) fn on_ack(
        &mut self,
        context: Context<'_>,
        ack: &AckFrame,
        work: &mut Workspace<C>,
    ) -> Result<(), AckError> {
        self.find_fresh(ack, work)?;
        self.note_gap(ack);
        if work.fresh.is_empty() {
            return Ok(());
        }
        let Context { now, .. } = context;
        self.ledger.begin(now, now + self.late_window());
        let mut batch = Batch::new(self.ledger.in_flight_bytes(), work);
        self.settle(now, ack, &mut batch, work);
        self.take_samples(now, ack, &mut batch);
        self.take_marks(ack, &mut batch);
        self.largest_acked = self.largest_acked.max(Some(ack.largest));
        self.learn_from(&batch);
        self.detect_losses(&context, &mut batch, work);
        if batch.is_empty() {
            return Ok(());
        }
        let nothing_else = batch.newly_acked.is_zero() && !batch.tells_of_losses();
        let cause = if nothing_else { Cause::Spurious } else { Cause::Ack };
        // What was overtaken by other telemetry would take clocks and counters back.
        let is_newest = batch.largest_sent_at.is_some() && self.largest_acked == Some(ack.largest);
        let int = if is_newest { ack.int.hops() } else { &[] };
        let context = Context { int, ..context };
        self.conclude(context, cause, &mut batch, work);
        Ok(())
    }

    /// Checks an acknowledgement and puts what is new in it into the workspace. Changes nothing else.
    fn find_fresh(&self, ack: &AckFrame, work: &mut Workspace<C>) -> Result<(), AckError> {
        let largest = ack.largest;
        let next = self.ledger.next_number();
        if largest >= next {
            return Err(AckError::NeverSent { largest, next });
        }
        let first_ends_there = ack.ranges.first().is_some_and(|range| range.last == largest);
        let descending = ack.ranges.windows(2).all(|pair| pair[1].last < pair[0].first);
        let ordered = ack.ranges.iter().all(|range| range.first <= range.last);
        if !(first_ends_there && descending && ordered) {
            return Err(AckError::Malformed { largest });
        }
        let is_newest = self.largest_acked.is_none_or(|before| largest > before);
        if is_newest && ack.ecn.is_some_and(|counts| self.ecn.goes_backwards(counts)) {
            return Err(AckError::EcnBackwards);
        }
        self.ledger.fresh_in(ack.ranges.iter().map(|range| range.first..range.last + 1), &mut work.fresh);
        match work.fresh.iter().find_map(|range| self.ledger.skipped_in(range)) {
            Some(number) => Err(AckError::Skipped(number)),
            None => Ok(()),
        }
    }

    /// The newest acknowledgement tells which gaps the receiver still keeps.
    fn note_gap(&mut self, ack: &AckFrame) {
        if self.largest_acked <= Some(ack.largest) {
            let lowest = ack.ranges.last().filter(|_| ack.ranges.len() > 1);
            self.floor.gap = lowest.map(|range| range.last + 1);
        }
    }

    /// Takes the newly acknowledged packets out of flight.
    fn settle(&mut self, now: Timestamp, ack: &AckFrame, batch: &mut Batch, work: &mut Workspace<C>) {
        let Self { ledger, delivery, ecn, id, slowest_route, .. } = self;
        let Workspace { events, acked, spurious, fresh, shards, .. } = work;
        let sprayed = ledger.is_sprayed();
        let marks = ack.marks.filter(|_| ecn.listens());
        for range in fresh.iter().rev() {
            ledger.acknowledge(range.clone(), |number, entry, was| {
                let mut record = entry.record(number, *id);
                if let Some(marked) = marks.and_then(|marks| marks.is_marked(ack.largest - number)) {
                    batch.covered_by_map += 1;
                    record.arrived_as = Some(if marked { Ecn::Ce } else { entry.codepoint });
                    if marked {
                        batch.newly_marked.add(u64::from(entry.bytes));
                    }
                }
                if number == ack.largest {
                    record.received_at = ack.received_at;
                    batch.largest_sent_at = Some(entry.sent_at);
                }
                if sprayed {
                    slowest_route.on_acked(now.saturating_since(entry.sent_at));
                }
                delivery.on_acked(&record);
                batch.acked_as.count(entry.codepoint);
                batch.newest_acked = batch.newest_acked.max(Some(number));
                if let Some(block) = entry.block {
                    shards.push(ShardReport { block, index: entry.shard, fate: Fate::Arrived });
                }
                match was {
                    Was::InFlight => {
                        batch.newly_acked.add(u64::from(entry.bytes));
                        events.push(Event::Acked(entry.content));
                        acked.push(record);
                    }
                    Was::Lost => {
                        batch.late.add(u64::from(entry.bytes));
                        events.push(Event::LateAcked(entry.content));
                        spurious.push(record);
                    }
                }
            });
        }
    }

    fn take_samples(&mut self, now: Timestamp, ack: &AckFrame, batch: &mut Batch) {
        if let Some(sent_at) = batch.largest_sent_at {
            let latest = now.saturating_since(sent_at);
            self.rtt.on_sample(latest, ack.ack_delay);
            self.measured_since.get_or_insert(now);
            batch.rtt = Some(RttSample { latest, ack_delay: ack.ack_delay, sent_at });
            // A packet cannot have been held for longer than it was away.
            batch.fabric_delay = (ack.ack_delay <= latest).then(|| latest - ack.ack_delay);
            batch.hops = ack.hops;
        }
        batch.delivery = self.delivery.sample(now, self.rtt.min());
    }

    /// Validates the ECN counts. Where no map tells which packets were marked, the growth of the CE count does, as far as it
    /// is credible: no more packets than arrived, each of mean size.
    fn take_marks(&mut self, ack: &AckFrame, batch: &mut Batch) {
        let is_late = self.largest_acked.is_some_and(|before| ack.largest <= before);
        let outcome = if is_late { self.ecn.on_late_ack(ack.ecn) } else { self.ecn.on_ack(ack.ecn, &batch.acked_as) };
        match outcome {
            EcnOutcome::Nothing => {}
            EcnOutcome::Failed => {
                batch.ecn_failed = true;
                batch.newly_marked = Tally::ZERO;
            }
            EcnOutcome::Growth(growth) => {
                batch.ecn = Some(growth);
                let arrived = batch.arrived_packets();
                let packets = growth.ce.min(arrived);
                if batch.covered_by_map < arrived && packets > batch.newly_marked.packets {
                    let arrived_bytes = batch.newly_acked.bytes + batch.late.bytes;
                    batch.newly_marked = Tally { bytes: arrived_bytes * packets / arrived, packets };
                }
            }
        }
    }

    /// What the batch's acknowledgements mean for timers, limits and thresholds.
    fn learn_from(&mut self, batch: &Batch) {
        let reordered = self.ledger.take_reordered();
        let Some(newest) = batch.newest_acked else { return };
        self.probes.expired = 0;
        self.probes.owed = 0;
        self.limit = self.limits.since(newest);
        let spurious = !batch.late.is_zero();
        let next = self.ledger.next_number();
        self.detector.on_acked(&Acked { newest, next, reordered, spurious });
        self.end_round(newest);
    }

    fn detect_losses(&mut self, context: &Context<'_>, batch: &mut Batch, work: &mut Workspace<C>) {
        let Context { now, complete, .. } = *context;
        let Self { ledger, delivery, ecn, detector, rtt, id, largest_acked, slowest_route, .. } = self;
        let view = View { now, rtt, largest_acked: *largest_acked, slowest_route: slowest_route.0 };
        detector.detect(&view, ledger, |number, entry| {
            delivery.on_lost(u64::from(entry.bytes));
            batch.ecn_failed |= ecn.on_lost(entry.codepoint) == EcnOutcome::Failed;
            batch.take_lost(entry.record(number, *id), entry, complete, work);
        });
    }

    /// Somebody else found out that packets are lost: the receiver, a switch, or whoever watches over paths.
    pub(super) fn on_missing(
        &mut self,
        context: Context<'_>,
        cause: Cause,
        missing: &[PacketNumberRange],
        work: &mut Workspace<C>,
    ) {
        let Context { now, complete, .. } = context;
        self.ledger.begin(now, now + self.late_window());
        let mut batch = Batch::new(self.ledger.in_flight_bytes(), work);
        let Self { ledger, delivery, ecn, id, .. } = self;
        for range in missing {
            for number in ledger.unsettled(range.first..range.last.saturating_add(1)) {
                ledger.lose(number, |number, entry| {
                    delivery.on_lost(u64::from(entry.bytes));
                    batch.ecn_failed |= ecn.on_lost(entry.codepoint) == EcnOutcome::Failed;
                    batch.take_lost(entry.record(number, *id), entry, complete, work);
                });
            }
        }
        if !batch.is_empty() {
            // The packet that the loss timer waits for may be gone.
            self.detect_losses(&context, &mut batch, work);
            self.conclude(context, cause, &mut batch, work);
        }
    }

    /// Losses in order, and what they add up to.
    fn weigh_losses(&mut self, config: &SenderConfig, batch: &mut Batch, work: &mut Workspace<C>) {
        let (lost, recovered) = (&mut work.lost[batch.lost_from..], &mut work.recovered[batch.recovered_from..]);
        for packets in [&mut *lost, recovered] {
            if !packets.is_sorted_by_key(|packet| packet.packet_number) {
                // Lanes are looked at one after the other.
                packets.sort_unstable_by_key(|packet| packet.packet_number);
            }
        }
        let delivered = self.delivery.delivered();
        self.spacing.between = delivered.saturating_sub(self.spacing.last_at);
        self.spacing.last_at = delivered;
        let Some(measured_since) = self.measured_since else { return };
        let duration = self.rtt.pto().saturating_mul(u64::from(config.persistent_congestion_threshold));
        let acked = |range| self.ledger.any_acked(range);
        batch.persistent = self.persistent.on_lost(lost, measured_since, duration, acked);
        if batch.persistent.is_some() {
            self.rtt.on_persistent_congestion();
            self.totals.persistent_congestions += 1;
        }
    }

    /// Hands the batch to the controller, with the sender as it is after it.
    fn conclude(&mut self, context: Context<'_>, cause: Cause, batch: &mut Batch, work: &mut Workspace<C>) {
        let Context { now, config, siblings, int, .. } = context;
        if batch.tells_of_losses() {
            work.lost_by = Some(cause);
            self.weigh_losses(config, batch, work);
        }
        self.count(batch);
        if batch.prior_in_flight > 0 && self.ledger.in_flight_packets() == 0 {
            self.idle_since = Some(now);
        }
        let mut feedback = Feedback::new(now, cause);
        feedback.path = self.id;
        feedback.acked = &work.acked[batch.acked_from..];
        feedback.lost = &work.lost[batch.lost_from..];
        feedback.spurious = &work.spurious[batch.spurious_from..];
        feedback.newly_acked = batch.newly_acked;
        feedback.newly_marked = batch.newly_marked;
        feedback.newly_lost = batch.newly_lost;
        feedback.recovered = batch.recovered;
        feedback.recovered_packets = &work.recovered[batch.recovered_from..];
        feedback.prior_in_flight = batch.prior_in_flight;
        feedback.rtt = batch.rtt;
        feedback.fabric_delay = batch.fabric_delay;
        feedback.hops = batch.hops;
        feedback.delivery = batch.delivery;
        feedback.persistent_congestion = batch.persistent;
        feedback.ecn = batch.ecn;
        feedback.int = int;
        let flight = self.flight(siblings);
        self.controller.on_feedback(&feedback, &flight);
        if batch.tells_of_losses() || !batch.newly_marked.is_zero() {
            self.on_congestion();
        }
        if batch.ecn_failed {
            let failed = Signal::PathChange { path: self.id, change: PathChange::EcnUnusable };
            self.signal(now, &failed, config.pacing, siblings);
        } else {
            self.refresh_pacer(now, config.pacing);
        }
    }

    fn count(&mut self, batch: &Batch) {
        accumulate(&mut self.totals.acked, batch.newly_acked);
        accumulate(&mut self.totals.acked, batch.late);
        accumulate(&mut self.totals.lost, batch.newly_lost);
        accumulate(&mut self.totals.recovered, batch.recovered);
        accumulate(&mut self.totals.spurious, batch.late);
        accumulate(&mut self.totals.marked, batch.newly_marked);
    }

    /// When [`Path::on_timeout`] has something to do.
    pub(super) fn next_timeout(&self) -> Option<Timestamp> {
        earliest(self.recovery_at(), self.controller.next_timer())
    }

    /// The loss timer where it runs, else the probe timeout (RFC 9002, appendix A.8).
    fn recovery_at(&self) -> Option<Timestamp> {
        self.detector.deadline(&self.ledger, &self.rtt).or_else(|| self.probe_at())
    }

    pub(super) fn on_timeout(&mut self, context: Context<'_>, work: &mut Workspace<C>) {
        let Context { now, config, siblings, .. } = context;
        let is_due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        if is_due(self.detector.deadline(&self.ledger, &self.rtt)) {
            self.on_loss_timer(context, work);
        } else if is_due(self.recovery_at()) {
            self.on_probe_timeout(context, work);
        }
        if is_due(self.controller.next_timer()) {
            let flight = self.flight(siblings);
            self.controller.on_timer(now, &flight);
            self.refresh_pacer(now, config.pacing);
        }
    }

    fn on_loss_timer(&mut self, context: Context<'_>, work: &mut Workspace<C>) {
        let now = context.now;
        self.ledger.begin(now, now + self.late_window());
        let mut batch = Batch::new(self.ledger.in_flight_bytes(), work);
        self.detect_losses(&context, &mut batch, work);
        let cause = match self.detector.on_deadline() {
            Some(consecutive) => Cause::Timeout { consecutive },
            None => Cause::LossTimer,
        };
        self.conclude(context, cause, &mut batch, work);
    }

    fn on_probe_timeout(&mut self, context: Context<'_>, work: &mut Workspace<C>) {
        self.probes.expired = self.probes.expired.saturating_add(1);
        self.probes.owed = self.detector.probes();
        self.totals.probe_timeouts += 1;
        work.probed.push(self.id);
        let mut batch = Batch::new(self.ledger.in_flight_bytes(), work);
        self.conclude(context, Cause::Timeout { consecutive: self.probes.expired }, &mut batch, work);
    }
}

/// The earlier of two points in time that may not exist.
pub(super) fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

//! What each move of a script does to the network.

use cc_algos::controller::Cause;
use cc_algos::signal::{NearSource, PathChange, Signal};
use cc_algos::units::{Rate, Span};
use transport::wire::PacketNumberRange;

use super::exchange::{Demand, Until};
use super::{Notice, PATH, World};
use crate::script::{Move, PathMove};

/// Timers that double with each timeout would soon be beyond what clocks can tell.
const LONGEST_OUTAGE: Span = Span::from_secs(30 * 86_400);

impl World {
    /// Makes moves one after the other, until one of the invariants does not hold.
    pub fn play(&mut self, moves: &[Move]) {
        for step in moves {
            if self.is_over() {
                return;
            }
            self.make(*step);
        }
    }

    fn make(&mut self, step: Move) {
        match step {
            Move::Run { rtts } => {
                self.run_rounds(Demand::Endless, rtts);
            }
            Move::RunPackets { packets } => {
                self.demand = Demand::Endless;
                self.run(Until::Sent(self.sender.next_packet_number(PATH) + u64::from(packets)));
            }
            Move::Send { packets } => {
                self.demand = Demand::Packets(u64::from(packets));
                self.run(Until::Settled);
            }
            Move::Trickle { packets, rtts } => self.dribble(Demand::Packets(u64::from(packets)), rtts),
            Move::Grant { packets, rtts } => self.dribble(Demand::Granted(u64::from(packets)), rtts),
            Move::Idle { rtts } => {
                self.run_rounds(Demand::Nothing, rtts);
            }
            Move::Timeout { times } => {
                self.demand = Demand::Endless;
                self.fates.blackout = true;
                self.run(Until::Timeouts { times, end: self.now + LONGEST_OUTAGE });
                self.fates.blackout = false;
            }
            Move::Path(path) => self.change_path(path),
            _ => self.arrange(step),
        }
    }

    /// Moves that take no time.
    fn arrange(&mut self, step: Move) {
        match step {
            Move::Lose(packets) => self.fates.lose += packets,
            Move::Mark(packets) => self.fates.mark += packets,
            Move::Late(packets) => self.fates.late += packets,
            Move::Overtake(packets) => self.fates.overtaken_by = packets,
            Move::Duplicate(packets) => self.fates.duplicate += packets,
            Move::Trim(packets) => self.fates.trim += packets,
            Move::LoseAcks(acks) => self.fates.lose_acks += acks,
            Move::ForgeMarks(packets) => self.fates.forge_marks = self.fates.forge_marks.saturating_add(packets),
            Move::Bleach => self.fates.bleach = !self.fates.bleach,
            Move::Delay { percent } => self.extra_delay = self.network.rtt.mul_div(u64::from(percent), 100),
            Move::Rate { permille } => {
                let rate = self.network.rate.mul_div(u64::from(permille.max(1)), 1_000);
                self.link.set_rate(rate.max(Rate::from_bps(1)));
            }
            Move::Mtu(mtu) => {
                self.mtu = mtu.clamp(1, u64::from(u32::MAX));
                self.notify(Signal::MtuChange { mtu: self.mtu });
            }
            Move::Csig(csig) => self.tap.lock().decor.csig = csig,
            Move::Int(honesty) => self.tap.lock().decor.int = honesty,
            Move::Fabric(honesty) => self.tap.lock().decor.fabric = honesty,
            Move::NearSource { queue_bytes } => self.warn_from_nearby(queue_bytes),
            Move::CongestionNotification => self.notify(Signal::CongestionNotification),
            Move::Run { .. }
            | Move::RunPackets { .. }
            | Move::Send { .. }
            | Move::Trickle { .. }
            | Move::Grant { .. }
            | Move::Idle { .. }
            | Move::Timeout { .. }
            | Move::Path(_) => {}
        }
        self.note_round();
    }

    fn notify(&mut self, signal: Signal) {
        self.sender.on_notice(self.now, PATH, signal);
    }

    /// A switch near the source says what it has queued.
    fn warn_from_nearby(&mut self, queue_bytes: u64) {
        let former_queue_bytes = core::mem::replace(&mut self.nearby_queue_bytes, queue_bytes);
        let newest = self.sender.next_packet_number(PATH).saturating_sub(1);
        self.notify(Signal::NearSource(NearSource {
            queue_bytes,
            former_queue_bytes,
            set_point_bytes: self.mtu.saturating_mul(u64::from(self.network.buffer) / 2),
            port_rate: self.link.rate(),
            triggered_by_sent_at: self.sender.sent_at(PATH, newest),
        }));
    }

    pub(super) fn run_rounds(&mut self, demand: Demand, rtts: u32) -> bool {
        self.demand = demand;
        let time = self.round().saturating_mul(u64::from(rtts));
        self.run(Until::Time(self.now + time))
    }

    /// So much each round trip.
    fn dribble(&mut self, each: Demand, rtts: u32) {
        for _ in 0..rtts {
            self.run_rounds(each, 1);
            if self.is_over() {
                return;
            }
        }
    }

    /// Nothing is sent for so long.
    pub fn rest(&mut self, time: Span) {
        self.demand = Demand::Nothing;
        self.run(Until::Time(self.now + time));
    }

    /// The application has data without end for so many round trips. False if so much happened that they are not over.
    pub fn run_rtts(&mut self, rtts: u32) -> bool {
        self.run_rounds(Demand::Endless, rtts)
    }

    fn change_path(&mut self, path: PathMove) {
        let changed = |change| Signal::PathChange { path: PATH, change };
        match path {
            PathMove::Migrate => {
                if self.sender.stats(PATH).in_flight_packets == 0 {
                    self.shortest_round = self.round();
                }
                self.notify(changed(PathChange::Migrated));
            }
            PathMove::EcnUnusable => self.notify(changed(PathChange::EcnUnusable)),
            PathMove::Dead => {
                self.data.clear();
                self.acks.clear();
                let next = self.sender.next_packet_number(PATH);
                let all = [PacketNumberRange { first: 0, last: next.saturating_sub(1) }];
                self.sender.on_missing(self.now, PATH, Cause::PathDead, &all, &mut self.work);
                self.run_rounds(Demand::Nothing, 1);
                self.notify(changed(PathChange::Revived));
            }
        }
    }

    /// A notice reaches the sender after `delay`.
    pub fn notify_after(&mut self, delay: Span, signal: Signal) {
        self.post(self.now + delay, Notice::Signal(signal));
    }
}

//! Wrong in recoveries, timeouts, silences and packet sizes.

use cc_algos::controller::PacketTag;
use cc_algos::{Cause, Controller, Feedback, Flight, PacketRecord, Sent, Setup, Signal, Timestamp};

use super::{Core, Stranger, rest_from_core, wide_area};

pub(super) fn all() -> Vec<Stranger> {
    vec![
        Stranger {
            name: "reno-epoch-by-largest-acked",
            bug: "ends a recovery at the largest packet acknowledged when it began, not the next to be sent: losses of one \
                  window that are found in two batches reduce twice",
            build: |setup| {
                Box::new(EpochByLargestAcked { core: Core::new(setup), largest_acked: None, recovery: None })
            },
            declaration: wide_area,
        },
        Stranger {
            name: "reno-undo-per-packet",
            bug: "undoes one halving for every spurious packet: reordering of ten packets multiplies the window by 1024",
            build: |setup| Box::new(UndoPerPacket { core: Core::new(setup) }),
            declaration: wide_area,
        },
        Stranger {
            name: "reno-timeout-shift",
            bug: "shifts the window right by the number of consecutive timeouts, which overflows from the 64th on",
            build: |setup| Box::new(TimeoutShift { core: Core::new(setup) }),
            declaration: wide_area,
        },
        Stranger {
            name: "reno-old-mtu-floor",
            bug: "reckons its floor once from the first MTU: after the MTU grew the window falls below two packets",
            build: |setup| Box::new(OldMtuFloor::new(setup)),
            declaration: wide_area,
        },
        Stranger {
            name: "reno-restart-raises",
            bug: "sets the window to the initial one after a silence even where it was smaller: waiting heals congestion",
            build: |setup| Box::new(RestartRaises { core: Core::new(setup) }),
            declaration: wide_area,
        },
        Stranger {
            name: "reno-idle-shifts-recovery",
            bug: "moves the start of the recovery on whenever the flight was empty: after one loss a flow that sends its \
                  window in bursts neither grows nor reduces again",
            build: |setup| {
                Box::new(IdleShiftsRecovery { core: Core::new(setup), recovery: None, last_sent: setup.now })
            },
            declaration: wide_area,
        },
        Stranger {
            name: "reno-persistent-needs-new-loss",
            bug: "looks for persistent congestion only where a loss opens a new recovery: the usual case, losses sent \
                  before it, collapses nothing",
            build: |setup| Box::new(PersistentNeedsNewLoss { core: Core::new(setup) }),
            declaration: wide_area,
        },
    ]
}

/// Wrong: the end of a recovery is a packet that has left the network already.
#[derive(Clone, Debug)]
struct EpochByLargestAcked {
    core: Core,
    largest_acked: Option<u64>,
    recovery: Option<u64>,
}

impl Controller for EpochByLargestAcked {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.largest_acked = self.largest_acked.max(feedback.acked.last().map(|newest| newest.packet_number));
        let is_new = |packet: &&PacketRecord| self.recovery.is_none_or(|end| packet.packet_number > end);
        let marked = feedback.acked.last().filter(|_| !feedback.newly_marked.is_zero());
        let candidates = [feedback.lost.last(), feedback.recovered_packets.last(), marked];
        let grows = feedback.acked.iter().filter(is_new).map(|packet| u64::from(packet.bytes)).sum();
        if candidates.iter().flatten().any(is_new) {
            self.core.reduce(0.5);
            self.recovery = self.largest_acked;
        } else if flight.limit.allows_growth() {
            self.core.window.grow(grows);
        }
        self.core.collapse_if_persistent(feedback, flight);
    }
    rest_from_core!(signals);
}

/// Wrong: a recovery that lost ten packets halved once, but is undone ten times.
#[derive(Clone, Debug)]
struct UndoPerPacket {
    core: Core,
}

impl Controller for UndoPerPacket {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.core.is_congested(feedback, flight) {
            self.core.reduce(0.5);
        }
        for _ in feedback.spurious {
            let before = self.core.window.bytes().saturating_mul(2);
            self.core.window.restore(before, Some(before));
            self.core.recovery.forget();
        }
        self.core.collapse_if_persistent(feedback, flight);
        self.core.grow(feedback, flight);
    }
    rest_from_core!(signals);
}

/// Wrong: a shift by 64 or more is none.
#[derive(Clone, Debug)]
struct TimeoutShift {
    core: Core,
}

impl Controller for TimeoutShift {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.core.is_congested(feedback, flight) {
            match feedback.cause {
                Cause::Timeout { consecutive } => {
                    let target = self.core.window.bytes() >> consecutive;
                    self.core.window.reduce_to(target, self.core.window.min());
                }
                _ => self.core.reduce(0.5),
            }
        }
        self.core.collapse_if_persistent(feedback, flight);
        self.core.grow(feedback, flight);
    }
    rest_from_core!(signals);
}

/// Wrong: two packets of the first MTU are not two packets for ever.
#[derive(Clone, Debug)]
struct OldMtuFloor {
    core: Core,
    floor: u64,
}

impl OldMtuFloor {
    fn new(setup: &Setup) -> Self {
        let core = Core::new(setup);
        Self { floor: core.window.min(), core }
    }

    /// The law's window where the shared one, whose floor follows the MTU, does not decide.
    fn lower_to(&mut self, target: u64) {
        self.core.window.set(target.max(self.floor));
        self.core.window.leave_slow_start();
    }
}

impl Controller for OldMtuFloor {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.core.is_congested(feedback, flight) {
            self.lower_to(self.core.window.bytes() / 2);
        }
        if feedback.persistent_congestion.is_some() {
            self.core.recovery.on_collapse(feedback, flight);
            self.core.window.set(self.floor);
        }
        self.core.grow(feedback, flight);
    }
    rest_from_core!(signals);
}

/// Wrong: the restart window is an upper bound, not a gift.
#[derive(Clone, Debug)]
struct RestartRaises {
    core: Core,
}

impl Controller for RestartRaises {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.core.is_congested(feedback, flight) {
            self.core.reduce(0.5);
        }
        self.core.collapse_if_persistent(feedback, flight);
        self.core.grow(feedback, flight);
    }
    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, flight: &Flight<'_>) {
        match signal {
            Signal::Restart { idle } => {
                let timeout = flight.smoothed_rtt.map(|smoothed| smoothed + flight.rtt_variation.saturating_mul(4));
                if timeout.is_some_and(|timeout| *idle > timeout) {
                    self.core.window.set(self.core.window.initial());
                }
            }
            _ => self.core.on_signal(signal),
        }
    }
    rest_from_core!();
}

/// Wrong: an empty flight between two bursts is taken for a silence, and the recovery's start runs ahead of every packet.
#[derive(Clone, Debug)]
struct IdleShiftsRecovery {
    core: Core,
    recovery: Option<Timestamp>,
    last_sent: Timestamp,
}

impl Controller for IdleShiftsRecovery {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        let was_empty = flight.bytes <= u64::from(sent.bytes);
        if let Some(start) = self.recovery.as_mut().filter(|_| was_empty) {
            *start += sent.now.saturating_since(self.last_sent);
        }
        self.last_sent = sent.now;
        PacketTag::NONE
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let is_new = |packet: &&PacketRecord| self.recovery.is_none_or(|start| packet.sent_at > start);
        let marked = feedback.acked.last().filter(|_| !feedback.newly_marked.is_zero());
        let candidates = [feedback.lost.last(), feedback.recovered_packets.last(), marked];
        let grows = feedback.acked.iter().filter(is_new).map(|packet| u64::from(packet.bytes)).sum();
        if candidates.iter().flatten().any(is_new) {
            self.core.reduce(0.5);
            self.recovery = Some(feedback.now);
        } else if flight.limit.allows_growth() {
            self.core.window.grow(grows);
        }
        self.core.collapse_if_persistent(feedback, flight);
    }
    rest_from_core!(signals);
}

/// Wrong: a collapse waits for a loss that no recovery covers.
#[derive(Clone, Debug)]
struct PersistentNeedsNewLoss {
    core: Core,
}

impl Controller for PersistentNeedsNewLoss {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.core.is_congested(feedback, flight) {
            self.core.reduce(0.5);
            self.core.collapse_if_persistent(feedback, flight);
        }
        self.core.grow(feedback, flight);
    }
    rest_from_core!(signals);
}

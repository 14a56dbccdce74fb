//! A Reno that is right, with a place for each mistake.

use cc_algos::controller::{Controller, ControllerState, Feedback, Flight, Handover, PacketTag, Sent, Setup};
use cc_algos::signal::{Ecn, PathChange, Signal};
use cc_algos::units::{Rate, Span, Timestamp};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// Nothing.
    None,
    /// Every lost packet halves the window.
    HalvesPerPacket,
    /// Every batch with losses halves the window, recovery or not.
    ForgetsRecovery,
    /// A packet more for each acknowledgement, however many packets it covers.
    GrowsPerAck,
    /// Losses are ignored while the window is below the threshold.
    IgnoresLossInSlowStart,
    /// More lost than in flight makes the difference negative, which wraps.
    Underflows,
    /// After a timeout the window stays at its minimum.
    StuckAfterTimeout,
    /// The minimum stays that of the packets at the beginning.
    ForgetsMtu,
    /// Grows whatever the limit.
    GrowsUnused,
    /// Takes what is in flight for the window when the application limits.
    ShrinksUnused,
    /// Sets its timer into the past.
    TimerInThePast,
    /// Divides by the RTT.
    NotANumber,
    /// Keeps its rate in 32 bits.
    Truncates,
    /// Takes bytes for bits twice.
    BitsForBytes,
    /// Remembers every packet.
    Hoards,
    /// Copies begin anew.
    ForgetfulCopy,
    /// Hands over packets as if they were bytes.
    HandsOverPackets,
    /// Asks for marks and ignores them.
    IgnoresMarks,
    /// Grows by more if a batch brings marks.
    LikesMarks,
    /// Grows by the time since the last acknowledgement.
    GrowsWhileIdle,
    /// Depends on what others of its kind did.
    SharesState,
    /// The state shows the window of the step before.
    StaleState,
    /// A window without any bound.
    Boundless,
    /// The smallest delay ever seen is the target, for good.
    StaleBase,
    /// Goes on with what another path has taught.
    KeepsPath,
    /// Takes back the last reduction for any loss that proves spurious, whichever reduction answered for it.
    UndoesAnything,
    /// Answers a loss with a hundredth of the window.
    HardlyAnswers,
}

/// All mistakes, for the tests.
pub(crate) const MISTAKES: &[Mistake] = &[
    Mistake::HalvesPerPacket,
    Mistake::ForgetsRecovery,
    Mistake::GrowsPerAck,
    Mistake::IgnoresLossInSlowStart,
    Mistake::Underflows,
    Mistake::StuckAfterTimeout,
    Mistake::ForgetsMtu,
    Mistake::GrowsUnused,
    Mistake::ShrinksUnused,
    Mistake::TimerInThePast,
    Mistake::NotANumber,
    Mistake::Truncates,
    Mistake::BitsForBytes,
    Mistake::Hoards,
    Mistake::ForgetfulCopy,
    Mistake::HandsOverPackets,
    Mistake::IgnoresMarks,
    Mistake::LikesMarks,
    Mistake::GrowsWhileIdle,
    Mistake::SharesState,
    Mistake::StaleState,
    Mistake::Boundless,
    Mistake::StaleBase,
    Mistake::KeepsPath,
    Mistake::UndoesAnything,
    Mistake::HardlyAnswers,
];

static CALLS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Reno with a mistake.
#[derive(Clone, Debug)]
pub(crate) struct WrongReno {
    mistake: Mistake,
    setup: Setup,
    mtu: u64,
    window: u64,
    ssthresh: u64,
    credit: u64,
    recovery_until: u64,
    stuck: bool,
    rate: Option<Rate>,
    base: Option<Span>,
    variation: f64,
    last_ack: Option<Timestamp>,
    timer: Option<Timestamp>,
    hoard: Vec<u64>,
    shown: u64,
    former: u64,
}

impl WrongReno {
    pub(crate) fn new(mistake: Mistake, setup: &Setup) -> Self {
        let resumed = setup.handover.and_then(|handover| handover.window);
        let window = resumed.unwrap_or(10 * setup.mtu).max(2 * setup.mtu);
        Self {
            mistake,
            setup: setup.clone(),
            mtu: setup.mtu,
            window,
            ssthresh: u64::MAX,
            credit: 0,
            recovery_until: 0,
            stuck: false,
            rate: None,
            base: None,
            variation: 1.0,
            last_ack: None,
            timer: None,
            hoard: Vec::new(),
            shown: window,
            former: window,
        }
    }

    fn is(&self, mistake: Mistake) -> bool {
        self.mistake == mistake
    }

    const fn min(&self) -> u64 {
        2 * self.mtu
    }

    fn halve(&mut self, flight: &Flight<'_>) {
        self.former = self.window;
        let kept = if self.is(Mistake::HardlyAnswers) { self.window - self.window / 100 } else { self.window / 2 };
        self.window = kept.max(self.min()).min(self.window.max(self.min()));
        self.ssthresh = self.window;
        self.credit = 0;
        self.recovery_until = flight.next_packet_number;
    }

    fn lose(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let newest = feedback.lost.last().map_or(0, |packet| packet.packet_number);
        if self.is(Mistake::IgnoresLossInSlowStart) && self.window < self.ssthresh {
            return;
        }
        if self.is(Mistake::HalvesPerPacket) {
            feedback.lost.iter().for_each(|_| self.halve(flight));
        } else if newest >= self.recovery_until || self.is(Mistake::ForgetsRecovery) {
            self.halve(flight);
        }
        if self.is(Mistake::Underflows) {
            self.window = self.window.min(flight.bytes - feedback.newly_lost.bytes + self.min()).max(self.min());
        }
    }

    fn mark(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.is(Mistake::IgnoresMarks) {
            return;
        }
        if self.is(Mistake::LikesMarks) {
            self.window += 2 * feedback.newly_marked.bytes;
            return;
        }
        let marked = feedback.acked.iter().rfind(|packet| packet.arrived_as == Some(Ecn::Ce)).or(feedback.acked.last());
        if marked.is_some_and(|packet| packet.packet_number >= self.recovery_until) {
            self.halve(flight);
        }
    }

    fn grow(&mut self, feedback: &Feedback<'_>) {
        let fresh = feedback.acked.iter().filter(|packet| packet.packet_number >= self.recovery_until);
        let acked: u64 = fresh.map(|packet| u64::from(packet.bytes)).sum();
        let acked = if self.is(Mistake::GrowsPerAck) { acked.min(self.mtu) } else { acked };
        if self.window < self.ssthresh {
            self.window = self.window.saturating_add(acked);
            return;
        }
        self.credit += acked;
        while self.credit >= self.window {
            self.credit -= self.window;
            self.window += self.mtu;
        }
    }

    fn follow_delay(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let Some(sample) = feedback.rtt else { return };
        let base = self.base.map_or(sample.latest, |base| base.min(sample.latest));
        self.base = Some(base);
        let newest = feedback.acked.last().map_or(0, |packet| packet.packet_number);
        if sample.latest > base.mul_f64(1.5) && newest >= self.recovery_until {
            self.halve(flight);
        }
    }
}

impl Controller for WrongReno {
    fn on_sent(&mut self, sent: &Sent, _flight: &Flight<'_>) -> PacketTag {
        if self.is(Mistake::Hoards) {
            self.hoard.push(sent.packet_number);
        }
        PacketTag::NONE
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.shown = self.window;
        if !feedback.newly_lost.is_zero() {
            self.lose(feedback, flight);
        }
        if !feedback.newly_marked.is_zero() {
            self.mark(feedback, flight);
        }
        if feedback.persistent_congestion.is_some() {
            self.window = self.min();
            self.stuck = self.is(Mistake::StuckAfterTimeout);
        }
        let in_use = flight.limit.allows_growth();
        if !self.stuck && (in_use || self.is(Mistake::GrowsUnused)) {
            self.grow(feedback);
        }
        match self.mistake {
            Mistake::ShrinksUnused if !in_use => self.window = self.window.min(flight.bytes).max(self.min()),
            Mistake::TimerInThePast => self.timer = flight.smoothed_rtt.map(|rtt| feedback.now.saturating_sub(rtt)),
            Mistake::NotANumber => {
                let latest = flight.latest_rtt.unwrap_or(Span::ZERO).as_nanos() as f64;
                self.variation = flight.rtt_variation.as_nanos() as f64 / latest;
            }
            Mistake::Truncates | Mistake::BitsForBytes => {
                let rate = flight.smoothed_rtt.and_then(|rtt| Rate::from_bytes_in(2 * self.window, rtt));
                self.rate = rate.map(|rate| match self.mistake {
                    Mistake::Truncates => Rate::from_bps(u64::from(rate.as_bps() as u32)),
                    _ => Rate::from_bps(rate.as_bps().saturating_mul(8)),
                });
            }
            Mistake::GrowsWhileIdle => {
                let since = self.last_ack.map_or(Span::ZERO, |at| feedback.now.saturating_since(at));
                let rtts = since.as_nanos() / flight.smoothed_rtt.unwrap_or(since).as_nanos().max(1);
                self.window += if in_use { rtts.saturating_mul(self.mtu) } else { 0 };
                self.last_ack = Some(feedback.now);
            }
            Mistake::SharesState => {
                let calls = CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                self.window = self.window.max(self.min()) + calls % 7;
            }
            Mistake::UndoesAnything if !feedback.spurious.is_empty() => self.window = self.window.max(self.former),
            Mistake::Boundless => self.window = u64::MAX,
            Mistake::StaleBase => self.follow_delay(feedback, flight),
            _ => {}
        }
        if !self.is(Mistake::StaleState) {
            self.shown = self.window;
        }
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        match signal {
            Signal::MtuChange { mtu } if !self.is(Mistake::ForgetsMtu) => {
                self.mtu = *mtu;
                self.window = self.window.max(self.min());
            }
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. }
                if !self.is(Mistake::KeepsPath) =>
            {
                let mut fresh = self.setup.clone();
                (fresh.mtu, fresh.handover) = (self.mtu, None);
                let hoard = core::mem::take(&mut self.hoard);
                *self = Self { hoard, setup: self.setup.clone(), ..Self::new(self.mistake, &fresh) };
            }
            _ => {}
        }
        self.shown = self.window;
    }

    fn on_timer(&mut self, _now: Timestamp, _flight: &Flight<'_>) {
        self.timer = None;
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.timer
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(
            self.shown,
            if self.window < self.ssthresh { "slow_start" } else { "congestion_avoidance" },
        )
        .with_pacing_rate(self.rate)
        .with_gauge("variation", self.variation)
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        if self.is(Mistake::ForgetfulCopy) {
            return Box::new(Self::new(self.mistake, &self.setup));
        }
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        Handover::of_window(if self.is(Mistake::HandsOverPackets) { self.window / self.mtu } else { self.window })
    }
}

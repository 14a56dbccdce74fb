//! The rate of a reaction point: what DCQCN takes over from QCN (IEEE 802.1Qau), and what Annulus' near-source loop is.
//!
//! ```text
//! a reduction     target = current; current *= 1 - cut; both counters start anew
//! each counter    ends a stage after `byte_reset` bytes sent, or after `time_reset`; at its end
//!                 fast recovery    while both are within the first `threshold` stages
//!                 hyper increase   once both are past them, by n more:   target += n hyper_increase
//!                 increase         else:                                 target += increase
//!                                  and in all three                      current = (target + current) / 2
//! ```
//!
//! The counters stand still once nothing is left to gain, and nothing grows that is not used.
//!
//! Where the round trip is known, no stage of the timer is shorter, for no answer of the network can come in less; and the
//! target gains at most an eighth in a stage, or a packet a round trip if that is more (ours: on paths of datacentres neither
//! binds, while 40 Mb/s each 55 us would be any slow or long path's whole rate before the first answer).

use super::InvalidParam;
use crate::units::{Rate, Span, Timestamp};

/// Constants of a reaction point.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Stages {
    /// Stages of fast recovery; at least one.
    pub threshold: u32,
    /// Bytes sent in a stage of the byte counter; at least one.
    pub byte_reset: u64,
    /// Length of a stage of the timer; not zero.
    pub time_reset: Span,
    /// What the target gains at the end of a stage after fast recovery.
    pub increase: Rate,
    /// What it gains, times the stages past fast recovery, once both counters are past it.
    pub hyper_increase: Rate,
    /// Rate never to go below; not zero.
    pub min_rate: Rate,
}

impl Stages {
    pub(super) fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(self.threshold > 0, "threshold", "at least one stage")?;
        InvalidParam::unless(self.byte_reset > 0, "byte_counter", "at least one byte")?;
        InvalidParam::unless(!self.time_reset.is_zero(), "timer", "a time above zero")?;
        InvalidParam::unless(self.min_rate > Rate::ZERO, "min_rate", "more than 0 bit/s")
    }
}

/// The most that a target gains in a stage, if that is more than a packet a round trip: this part of itself.
const MOST_GAIN: u64 = 8;

/// A current and a target rate, with the counters that lead from one to the other.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    stages: Stages,
    current: Rate,
    target: Rate,
    /// Never above this.
    ceiling: Rate,
    /// Zero as long as it is not known.
    round_trip: Span,
    packet_a_round: Rate,
    /// Stages that each counter has ended since the last reduction.
    time_stage: u32,
    byte_stage: u32,
    /// Bytes sent in the running stage.
    sent: u64,
    /// When the timer's running stage ends; `None` while there is nothing to gain.
    stage_ends: Option<Timestamp>,
}

impl ReactionPoint {
    /// A rate that nothing has reduced yet.
    pub const fn new(stages: Stages, rate: Rate) -> Self {
        Self {
            stages,
            current: rate,
            target: rate,
            ceiling: rate,
            round_trip: Span::ZERO,
            packet_a_round: Rate::MAX,
            time_stage: 0,
            byte_stage: 0,
            sent: 0,
            stage_ends: None,
        }
    }

    /// The rate to send at.
    pub const fn current(&self) -> Rate {
        self.current
    }

    /// The rate that it recovers towards.
    pub const fn target(&self) -> Rate {
        self.target
    }

    /// What neither goes above.
    pub const fn ceiling(&self) -> Rate {
        self.ceiling
    }

    /// When [`ReactionPoint::on_timer`] has something to do.
    pub fn next_timer(&self) -> Option<Timestamp> {
        // At the end of time nothing is left to wait for.
        self.stage_ends.filter(|at| at.as_nanos() < u64::MAX)
    }

    /// Whether nothing is left to gain.
    pub fn is_recovered(&self) -> bool {
        self.current >= self.ceiling
    }

    /// The ceiling is another one from `now` on.
    pub fn set_ceiling(&mut self, now: Timestamp, ceiling: Rate) {
        self.ceiling = ceiling;
        self.target = self.target.min(ceiling);
        self.current = self.current.min(ceiling);
        self.run(now);
    }

    /// Nothing was reduced yet: the rate recovers towards the ceiling.
    pub const fn aim_at_the_ceiling(&mut self) {
        self.target = self.ceiling;
    }

    /// Less than the current rate was used: `rate` is what a reduction starts from.
    pub fn lower_to(&mut self, rate: Rate) {
        self.current = self.current.min(rate);
    }

    /// The rate never to go below is another one from now on; it does not raise the current one.
    pub const fn set_min_rate(&mut self, rate: Rate) {
        self.stages.min_rate = rate;
    }

    /// A round trip takes `rtt`, in which packets of `mtu` bytes travel: bounds of what a stage may be and do.
    pub fn set_round_trip(&mut self, rtt: Span, mtu: u64) {
        self.round_trip = rtt;
        self.packet_a_round = Rate::from_bytes_in(mtu, rtt).unwrap_or(Rate::MAX);
    }

    /// Congestion: `cut` of the current rate is given up.
    pub fn reduce(&mut self, now: Timestamp, cut: f64) {
        let floor = self.stages.min_rate.min(self.current);
        self.target = self.current;
        self.current = self.current.mul_f64(1.0 - cut).max(floor);
        (self.time_stage, self.byte_stage, self.sent) = (0, 0, 0);
        self.stage_ends = None;
        self.run(now);
    }

    /// Everything was lost for long: the smallest rate, to recover from without fast recovery.
    pub fn collapse(&mut self, now: Timestamp) {
        self.reduce(now, 1.0);
        self.target = self.current;
    }

    /// `bytes` were sent; the rate `may_grow` if it is in use.
    pub fn on_sent(&mut self, now: Timestamp, bytes: u64, may_grow: bool) {
        if self.is_recovered() {
            return;
        }
        self.run(now);
        self.sent = self.sent.saturating_add(bytes);
        if self.sent >= self.stages.byte_reset {
            self.sent = 0;
            self.byte_stage = self.byte_stage.saturating_add(1);
            self.end_stage(may_grow);
        }
    }

    /// The time of [`ReactionPoint::next_timer`] has come; the rate `may_grow` if it is in use.
    pub fn on_timer(&mut self, now: Timestamp, may_grow: bool) {
        if self.stage_ends.is_some_and(|ends| now >= ends) {
            self.stage_ends = None;
            self.time_stage = self.time_stage.saturating_add(1);
            self.end_stage(may_grow);
            // Where nothing is sent, the timer rests until something is.
            if may_grow {
                self.run(now);
            }
        }
    }

    /// The timer runs as long as there is something to gain.
    fn run(&mut self, now: Timestamp) {
        if self.is_recovered() {
            self.stage_ends = None;
        } else if self.stage_ends.is_none() {
            self.stage_ends = Some(now + self.stages.time_reset.max(self.round_trip));
        }
    }

    fn end_stage(&mut self, may_grow: bool) {
        if !may_grow {
            return;
        }
        let (first, last) = (self.time_stage.min(self.byte_stage), self.time_stage.max(self.byte_stage));
        let Stages { threshold, increase, hyper_increase, .. } = self.stages;
        if last > threshold {
            let gain = match first.checked_sub(threshold) {
                Some(past @ 1..) => hyper_increase.as_bps().saturating_mul(u64::from(past)),
                _ => increase.as_bps(),
            };
            let most = self.packet_a_round.as_bps().max(self.target.as_bps() / MOST_GAIN);
            let gain = gain.min(most);
            self.target = Rate::from_bps(self.target.as_bps().saturating_add(gain)).min(self.ceiling);
        }
        // Rounded up, or the last bit per second would never be reached.
        let sum = u128::from(self.target.as_bps()) + u128::from(self.current.as_bps());
        self.current = Rate::from_bps(sum.div_ceil(2) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GBPS: u64 = 1_000_000_000;

    fn constants() -> Stages {
        Stages {
            threshold: 5,
            byte_reset: 10_000_000,
            time_reset: Span::from_micros(55),
            increase: Rate::from_mbps(40),
            hyper_increase: Rate::from_mbps(200),
            min_rate: Rate::from_mbps(1),
        }
    }

    /// Ten gigabits per second, just halved.
    fn halved() -> ReactionPoint {
        let mut point = ReactionPoint::new(constants(), Rate::from_gbps(10));
        point.reduce(Timestamp::ZERO, 0.5);
        point
    }

    fn end_timer_stage(point: &mut ReactionPoint) {
        let at = point.next_timer().unwrap();
        point.on_timer(at, true);
    }

    #[test]
    fn five_stages_of_fast_recovery_each_halve_the_distance_to_the_target() {
        let mut point = halved();
        assert_eq!((point.current(), point.target()), (Rate::from_gbps(5), Rate::from_gbps(10)));
        for missing in [2_500, 1_250, 625, 313, 157] {
            end_timer_stage(&mut point);
            assert!(Rate::from_gbps(10).as_bps() - point.current().as_bps() <= missing * GBPS / 1_000, "{point:?}");
            assert_eq!(point.target(), Rate::from_gbps(10));
        }
        assert_eq!(point.current(), Rate::from_bps(10 * GBPS - 5 * GBPS / 32));
    }

    #[test]
    fn the_target_then_gains_the_increase_and_once_both_counters_are_past_recovery_the_hyper_increase() {
        let mut point = ReactionPoint::new(constants(), Rate::from_gbps(100));
        point.set_ceiling(Timestamp::ZERO, Rate::from_gbps(100));
        point.reduce(Timestamp::ZERO, 0.5);
        point.reduce(Timestamp::ZERO, 0.5);
        assert_eq!(point.target(), Rate::from_gbps(50));
        (0..5).for_each(|_| end_timer_stage(&mut point));
        assert_eq!(point.target(), Rate::from_gbps(50));
        (0..3).for_each(|_| end_timer_stage(&mut point));
        assert_eq!(point.target(), Rate::from_mbps(50_120), "three increases of 40 Mb/s");
        // The byte counter's first five stages end while the timer is past recovery: additive increase each.
        (0..5).for_each(|_| point.on_sent(Timestamp::ZERO, 10_000_000, true));
        assert_eq!(point.target(), Rate::from_mbps(50_320));
        // Its sixth: both are past, by one.
        point.on_sent(Timestamp::ZERO, 10_000_000, true);
        assert_eq!(point.target(), Rate::from_mbps(50_520));
        // Its seventh: the timer stands at eight, the byte counter at seven, two past.
        point.on_sent(Timestamp::ZERO, 10_000_000, true);
        assert_eq!(point.target(), Rate::from_mbps(50_920));
    }

    #[test]
    fn over_a_known_round_trip_no_stage_is_shorter_and_no_gain_beyond_an_eighth_or_a_packet() {
        let mut point = ReactionPoint::new(constants(), Rate::from_mbps(800));
        point.set_round_trip(Span::from_millis(10), 1_000);
        (0..10).for_each(|_| point.reduce(Timestamp::ZERO, 0.5));
        for _ in 0..5 {
            let at = point.next_timer().unwrap();
            end_timer_stage(&mut point);
            assert_eq!(point.next_timer(), Some(at + Span::from_millis(10)));
        }
        // 800 Mb/s halved nine times. A packet a round trip is 800 kb/s, more than an eighth until the target has eightfold that.
        assert_eq!(point.target(), Rate::from_bps(800_000_000 / 512));
        end_timer_stage(&mut point);
        assert_eq!(point.target(), Rate::from_bps(800_000_000 / 512 + 800_000));
        (0..40).for_each(|_| end_timer_stage(&mut point));
        let before = point.target().as_bps();
        end_timer_stage(&mut point);
        assert_eq!(point.target().as_bps(), before + (before / 8).min(40_000_000));
    }

    #[test]
    fn a_reduction_starts_both_counters_anew() {
        let mut point = halved();
        (0..4).for_each(|_| end_timer_stage(&mut point));
        point.on_sent(Timestamp::ZERO, 9_999_999, true);
        let before = point.current();
        let now = point.next_timer().unwrap();
        point.reduce(now, 0.25);
        assert_eq!((point.target(), point.current()), (before, before.mul_f64(0.75)));
        assert_eq!(point.next_timer(), Some(now + Span::from_micros(55)));
        point.on_sent(Timestamp::ZERO, 9_999_999, true);
        assert_eq!(point.current(), before.mul_f64(0.75), "no stage has ended");
    }

    #[test]
    fn what_is_not_used_does_not_grow_and_what_is_whole_needs_no_timer() {
        let mut point = halved();
        let at = point.next_timer().unwrap();
        point.on_timer(at, false);
        assert_eq!((point.current(), point.next_timer()), (Rate::from_gbps(5), None));
        point.on_sent(at, 1_000, false);
        assert_eq!(point.next_timer(), Some(at + Span::from_micros(55)), "it is in use again");
        for _ in 0..200 {
            if let Some(at) = point.next_timer() {
                point.on_timer(at, true);
            }
        }
        assert_eq!((point.current(), point.next_timer()), (Rate::from_gbps(10), None));
    }

    #[test]
    fn no_number_of_reductions_leads_below_the_smallest_rate() {
        let mut point = halved();
        for cut in [0.5, 1.0, f64::NAN, 7.0, f64::INFINITY] {
            (0..40).for_each(|_| point.reduce(Timestamp::ZERO, cut));
            assert_eq!(point.current(), Rate::from_mbps(1), "{cut}");
        }
        let mut slow = ReactionPoint::new(constants(), Rate::from_kbps(10));
        slow.reduce(Timestamp::ZERO, 0.5);
        assert_eq!(slow.current(), Rate::from_kbps(10), "and none raises it");
    }
}

//! Phantom queues: a counter beside a port's queue that drains a little more slowly than the link, so that congestion shows
//! before packets wait (HULL, Alizadeh et al., NSDI'12, section 3.1; Uno, SC'25).
//!
//! ```text
//! fed        with the size of each packet that is offered, dropped or not, or that leaves for the link
//! drained    at `drain` bit/s while it holds anything; worked out when somebody asks, to the bit
//! bounded    by `size`: what goes beyond is forgotten
//! congested  by a threshold or a ramp of its own
//! ```
//!
//! What the port does then is its [`PhantomRole`]. A phantom queue has no events and never drops; what it holds
//! between two questions is a matter of arithmetic.
//!
//! | parameter | origin |
//! |---|---|
//! | drain | HULL: 95 % of the link's rate; the artifact of Uno: 1/1.05 and 1/1.10 of it |
//! | size | the artifact of Uno: a bandwidth-delay product between datacentres, at every port |
//! | marking | HULL: a threshold of 1 to 15 kB; the artifact of Uno: a ramp from 2 % to 60 % of the size, or from 20 % to 80 % |
//! | feed | HULL: what leaves; the artifact of Uno: what comes |
//!
//! Differences from the artifact of Uno (`spcl/Uno_SC25`, `compositequeue.cpp`):
//!
//! | what | artifact | here |
//! |---|---|---|
//! | drain | 4 160 B at a time, by a timer from the first packet on, at one rate for all ports | continuous, without a timer, at a rate of its own |
//! | fed with | data | every packet, as the link is |
//! | asked | at dequeue | when the port marks: a drop-tail port at enqueue unless told otherwise |
//! | either | the queue counts only once the phantom queue exceeds its minimum, at 20 % to 80 % of its size | each by its own marking |
//! | both | never by the queue alone; above the upper threshold the queue is needed as well | both must say so |

use super::{Marker, MarkingSpec, Verdict};
use crate::error::{SpecError, ensure};
use crate::rng::Random;
use crate::time::SimTime;
use cc_algos::{Ecn, Rate};

/// Picoseconds at one bit per second that a byte takes.
const PICO_BITS_PER_BYTE: u64 = 8_000_000_000_000;

/// A phantom queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhantomSpec {
    /// How fast it drains.
    pub drain: Rate,
    /// How much it holds at most, bytes.
    pub size: u64,
    /// From which backlog of its own on it counts as congested.
    pub marking: MarkingSpec,
    /// What fills it.
    pub feed: PhantomFeed,
    /// What its port makes of it.
    pub role: PhantomRole,
}

/// What fills a phantom queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PhantomFeed {
    /// What is offered to the port, whether there is room for it or not.
    #[default]
    Arrivals,
    /// What leaves for the link: the phantom queue stands in series, and sees nothing above the link's rate.
    Departures,
}

/// What a port makes of its phantom queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PhantomRole {
    /// It alone decides about marks.
    #[default]
    Alone,
    /// A packet is marked if either the queue or the phantom queue says so.
    Either,
    /// A packet is marked if both say so.
    Both,
    /// It is watched and marks nothing.
    Observed,
}

impl PhantomSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If it never drains, holds nothing, or its marking makes no sense.
    pub fn validate(&self) -> Result<(), SpecError> {
        ensure(self.drain > Rate::ZERO, "phantom drain rate", self.drain, "more than zero")?;
        ensure(self.size > 0, "phantom size", self.size, "at least one byte")?;
        self.marking.validate()
    }
}

/// A phantom queue at work.
#[derive(Clone, Debug)]
pub struct Phantom {
    drain_bps: u64,
    size: u64,
    marker: Marker,
    feed: PhantomFeed,
    role: PhantomRole,
    bytes: u64,
    /// What has been drained of the next byte, in bits times 10^12.
    drained: u64,
    /// Up to when it has been drained.
    since: SimTime,
    max: u64,
}

impl Phantom {
    /// An empty one with a random stream of its own.
    ///
    /// # Errors
    /// If [`PhantomSpec::validate`] fails.
    pub fn new(spec: PhantomSpec, random: Random) -> Result<Self, SpecError> {
        spec.validate()?;
        Ok(Self {
            drain_bps: spec.drain.as_bps(),
            size: spec.size,
            marker: Marker::new(spec.marking, random)?,
            feed: spec.feed,
            role: spec.role,
            bytes: 0,
            drained: 0,
            since: SimTime::ZERO,
            max: 0,
        })
    }

    /// A packet is offered to the port. Times never go back from one call of any method to the next.
    pub fn on_arrival(&mut self, now: SimTime, bytes: u32) {
        if self.feed == PhantomFeed::Arrivals {
            self.add(now, bytes);
        }
    }

    /// A packet leaves for the link.
    pub fn on_departure(&mut self, now: SimTime, bytes: u32) {
        if self.feed == PhantomFeed::Departures {
            self.add(now, bytes);
        }
    }

    fn add(&mut self, now: SimTime, bytes: u32) {
        self.drain(now);
        self.bytes = self.bytes.saturating_add(u64::from(bytes)).min(self.size);
        self.max = self.max.max(self.bytes);
    }

    fn drain(&mut self, now: SimTime) {
        let picos = now.picos_since(self.since);
        self.since = now;
        if self.bytes == 0 {
            return;
        }
        // In 64 bits where they do, which is for 23 us at 800 Gb/s: the division of 128 would cost more than all else here.
        let (bytes, rest) = match self.drain_bps.checked_mul(picos).and_then(|bits| bits.checked_add(self.drained)) {
            Some(bits) => (bits / PICO_BITS_PER_BYTE, bits % PICO_BITS_PER_BYTE),
            None => {
                let bits = u128::from(self.drain_bps) * u128::from(picos) + u128::from(self.drained);
                let unit = u128::from(PICO_BITS_PER_BYTE);
                (u64::try_from(bits / unit).unwrap_or(u64::MAX), (bits % unit) as u64)
            }
        };
        (self.bytes, self.drained) = if bytes < self.bytes { (self.bytes - bytes, rest) } else { (0, 0) };
    }

    /// What it holds, bytes.
    pub fn backlog(&mut self, now: SimTime) -> u64 {
        self.drain(now);
        self.bytes
    }

    /// The most that it held, bytes.
    pub const fn max_backlog(&self) -> u64 {
        self.max
    }

    /// What becomes of a packet about which the port's own queue has decided `physical`. A phantom queue drops nothing.
    pub fn judge(&mut self, now: SimTime, ecn: Ecn, physical: Verdict) -> Verdict {
        if self.role == PhantomRole::Observed {
            return physical;
        }
        let backlog = self.backlog(now);
        // Whether it is congested is no matter of the packet: those that cannot be marked draw from the same luck.
        let is_congested = self.marker.mark(backlog, Ecn::Ect0) == Verdict::Mark;
        let marks = if is_congested && ecn.is_capable() { Verdict::Mark } else { Verdict::Pass };
        match (self.role, physical) {
            (PhantomRole::Alone, _) | (PhantomRole::Either, Verdict::Pass) => marks,
            // What cannot be marked is the queue's own business.
            (PhantomRole::Both, Verdict::Mark) if !is_congested => Verdict::Pass,
            (PhantomRole::Either | PhantomRole::Both | PhantomRole::Observed, _) => physical,
        }
    }

    /// Whether the port's own queue is asked as well.
    pub(crate) fn asks_queue(&self) -> bool {
        self.role != PhantomRole::Alone
    }
}

#[cfg(test)]
mod tests {
    use cc_algos::Span;
    use proptest::prelude::*;

    use super::*;
    use crate::queue::{Red, RedAverage};
    use crate::{Probability, rng};

    /// 8 Gb/s: a byte a nanosecond.
    fn spec() -> PhantomSpec {
        PhantomSpec {
            drain: Rate::from_gbps(8),
            size: 100_000,
            marking: MarkingSpec::Threshold { bytes: 3_000 },
            feed: PhantomFeed::Arrivals,
            role: PhantomRole::Alone,
        }
    }

    fn phantom(spec: PhantomSpec) -> Phantom {
        Phantom::new(spec, rng::stream(1, "phantom", 0)).unwrap()
    }

    fn at(nanos: u64) -> SimTime {
        SimTime::ZERO + Span::from_nanos(nanos)
    }

    #[test]
    fn it_drains_at_its_rate_and_no_further_than_to_nothing() {
        let mut phantom = phantom(spec());
        phantom.on_arrival(at(0), 1_500);
        phantom.on_arrival(at(500), 1_500);
        assert_eq!(
            [500, 1_500, 2_499, 3_000, 9_000].map(|nanos| phantom.backlog(at(nanos))),
            [2_500, 1_500, 501, 0, 0]
        );
        phantom.on_arrival(at(9_001), 10);
        assert_eq!(phantom.backlog(at(9_001)), 10, "nothing is credited while it is empty");
        assert_eq!(phantom.max_backlog(), 2_500);
    }

    #[test]
    fn what_does_not_fit_is_forgotten() {
        let mut phantom = phantom(PhantomSpec { size: 2_000, ..spec() });
        phantom.on_arrival(at(0), 1_500);
        phantom.on_arrival(at(0), 1_500);
        assert_eq!(phantom.backlog(at(100)), 1_900);
    }

    #[test]
    fn in_series_it_is_fed_by_what_leaves() {
        let mut series = phantom(PhantomSpec { feed: PhantomFeed::Departures, ..spec() });
        series.on_arrival(at(0), 1_500);
        assert_eq!(series.backlog(at(0)), 0);
        series.on_departure(at(10), 1_500);
        assert_eq!(series.backlog(at(10)), 1_500);
    }

    #[test]
    fn its_role_says_what_becomes_of_its_opinion() {
        use Verdict::{Drop, Mark, Pass};
        let cases = [
            // (role, what the queue says, with a congested phantom queue, without)
            (PhantomRole::Alone, Pass, Mark, Pass),
            (PhantomRole::Alone, Mark, Mark, Pass),
            (PhantomRole::Either, Pass, Mark, Pass),
            (PhantomRole::Either, Mark, Mark, Mark),
            (PhantomRole::Either, Drop, Drop, Drop),
            (PhantomRole::Both, Pass, Pass, Pass),
            (PhantomRole::Both, Mark, Mark, Pass),
            (PhantomRole::Both, Drop, Drop, Drop),
            (PhantomRole::Observed, Pass, Pass, Pass),
            (PhantomRole::Observed, Mark, Mark, Mark),
        ];
        for (role, physical, congested, calm) in cases {
            let mut phantom = phantom(PhantomSpec { role, ..spec() });
            assert_eq!(phantom.judge(at(0), Ecn::Ect0, physical), calm, "{role:?}, {physical:?}");
            phantom.on_arrival(at(0), 4_000);
            assert_eq!(phantom.judge(at(0), Ecn::Ect0, physical), congested, "{role:?}, {physical:?}");
        }
        let mut alone = phantom(spec());
        alone.on_arrival(at(0), 4_000);
        assert_eq!(alone.judge(at(0), Ecn::NotEct, Pass), Pass, "what cannot be marked passes");
    }

    #[test]
    fn it_may_mark_by_a_ramp_of_its_own() {
        let max_probability = Probability::new(1.0).unwrap();
        let red =
            Red { min_bytes: 0, max_bytes: 10_000, max_probability, average: RedAverage::Instantaneous, gentle: false };
        let mut phantom = phantom(PhantomSpec { marking: MarkingSpec::Red(red), ..spec() });
        phantom.on_arrival(at(0), 5_000);
        let marked = (0..10_000).filter(|_| phantom.judge(at(0), Ecn::Ect0, Verdict::Pass) == Verdict::Mark).count();
        // Half of them, with a standard deviation of 50; five of these.
        assert!((4_750..=5_250).contains(&marked), "{marked}");
    }

    #[test]
    fn one_that_never_drains_or_holds_nothing_is_refused() {
        let message = |spec: PhantomSpec| spec.validate().unwrap_err().to_string();
        assert_eq!(
            message(PhantomSpec { drain: Rate::ZERO, ..spec() }),
            "phantom drain rate is 0bps, expected more than zero"
        );
        assert_eq!(message(PhantomSpec { size: 0, ..spec() }), "phantom size is 0, expected at least one byte");
    }

    proptest! {
        /// Asking changes nothing, however often and whenever: the drain is exact.
        #[test]
        fn looking_changes_nothing(
            bps in 1_u64..1_600_000_000_000,
            steps in proptest::collection::vec((0_u64..1 << 40, 0_u32..100_000, 0_u32..4), 1..40),
        ) {
            let spec = PhantomSpec { drain: Rate::from_bps(bps), size: u64::MAX, ..spec() };
            let (mut watched, mut left_alone) = (phantom(spec), phantom(spec));
            let mut now = SimTime::ZERO;
            for (picos, bytes, looks) in steps {
                for part in 1..=u64::from(looks) {
                    watched.backlog(now.plus_picos(picos / 5 * part));
                }
                now = now.plus_picos(picos);
                watched.on_arrival(now, bytes);
                left_alone.on_arrival(now, bytes);
                prop_assert_eq!(watched.backlog(now), left_alone.backlog(now));
            }
        }
    }
}

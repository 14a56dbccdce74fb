//! How fast a link serves: at a fixed rate, along a series of rates, or at the opportunities of a recorded trace.
//!
//! Service is first come, first served and work-conserving: a packet starts when it is there and everything before it
//! has finished. Time is exact. In a picosecond a link of `R` bits per second does `R` units of work, of which a bit
//! needs 10¹²; a clock keeps the whole picosecond *and* the units used up within it, so that nothing is rounded away
//! between packets and the long-run rate is the link's to the last bit. Only what leaves here is rounded, up to the
//! picosecond in which the last bit has passed.
//!
//! At equal times departures come before arrivals: an opportunity at the very instant of a packet's arrival has gone.

mod changing;
mod clock;
mod opportunities;
mod segments;

use cc_algos::{Rate, Span};

pub use self::changing::{Change, Changing};
pub use self::opportunities::{Opportunities, Opportunity};
pub use self::segments::{Segment, Segments};

use self::changing::ChangingServer;
use self::clock::{Clock, Fixed, WORK_PER_BYTE};
use self::opportunities::OpportunityServer;
use self::segments::SegmentServer;
use crate::error::SpecError;
use crate::time::SimTime;

/// What comes after the end of a recorded series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum End {
    /// It begins again.
    #[default]
    Repeat,
    /// The last rate holds for ever; recorded opportunities, which have no rate, stop instead.
    Hold,
    /// The link carries nothing any more.
    Stop,
}

/// How fast a link serves over time.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceSpec {
    /// One rate for ever; at rate zero nothing ever passes.
    Fixed(Rate),
    /// A series of rates.
    Segments(Segments),
    /// Recorded delivery opportunities.
    Opportunities(Opportunities),
    /// Changes at given times, layered over another service.
    Changing(Changing),
}

impl ServiceSpec {
    /// A fixed rate.
    ///
    /// # Errors
    /// If the rate is zero.
    pub fn fixed(rate: Rate) -> Result<Self, SpecError> {
        crate::error::ensure(rate > Rate::ZERO, "rate", rate, "more than zero")?;
        Ok(Self::Fixed(rate))
    }

    /// This service with `changes` (time, change) layered over it. Changes given earlier are undone by nothing but
    /// later ones, so layering twice stacks.
    ///
    /// # Errors
    /// If there are no changes or their times go back.
    pub fn with_changes(self, changes: impl IntoIterator<Item = (Span, Change)>) -> Result<Self, SpecError> {
        Changing::new(self, changes).map(Self::Changing)
    }

    /// Work that the link can do from the start until `at`.
    fn work_until(&self, at: u64) -> u128 {
        match self {
            Self::Fixed(rate) => clock::capacity(*rate, at),
            Self::Segments(segments) => segments.work_until(at),
            Self::Opportunities(series) => u128::from(series.bytes_until(at)) * u128::from(WORK_PER_BYTE),
            Self::Changing(changing) => changing.work_until(at),
        }
    }

    /// The rate at a time; for recorded opportunities, the mean over the gap around it.
    pub fn rate_at(&self, at: SimTime) -> Rate {
        match self {
            Self::Fixed(rate) => *rate,
            Self::Segments(segments) => segments.rate_at(at.as_picos()),
            Self::Opportunities(opportunities) => opportunities.rate_at(at.as_picos()),
            Self::Changing(changing) => changing.rate_at(at),
        }
    }

    /// Bytes that the link can carry between two times: the difference of two running totals, each rounded down, so
    /// that adjacent windows add up. From the start on, what [`Server`] delivers is never more.
    pub fn offered(&self, from: SimTime, to: SimTime) -> u64 {
        let total = |at: SimTime| clock::bytes_of(self.work_until(at.as_picos()));
        total(to).saturating_sub(total(from))
    }
}

/// The server of one link: tells when packets have been served. Small for a link of one rate, since there are thousands
/// of them in a fat-tree and each hop touches two.
#[derive(Clone, Debug)]
pub struct Server {
    engine: Engine,
}

#[derive(Clone, Debug)]
enum Engine {
    Fixed(Fixed),
    General(Box<General>),
}

/// A link whose rate changes.
#[derive(Clone, Debug)]
struct General {
    spec: ServiceSpec,
    clock: Clock,
    source: Source,
}

/// What a link's work comes from.
#[derive(Clone, Debug)]
enum Source {
    Rate(Rate),
    Segments(SegmentServer),
    Opportunities(OpportunityServer),
    Changing(Box<ChangingServer>),
}

impl Source {
    fn new(spec: &ServiceSpec) -> Self {
        match spec {
            ServiceSpec::Fixed(rate) => Self::Rate(*rate),
            ServiceSpec::Segments(segments) => Self::Segments(SegmentServer::new(segments)),
            ServiceSpec::Opportunities(series) => Self::Opportunities(OpportunityServer::new(series)),
            ServiceSpec::Changing(changing) => Self::Changing(Box::new(ChangingServer::new(changing))),
        }
    }

    /// Does up to `work` from `clock` until `limit` for a packet that came at `ready`, moves the clock to when that is
    /// done or to `limit`, and returns what is left.
    fn run(&mut self, clock: &mut Clock, ready: u64, work: u64, limit: u64) -> u64 {
        match self {
            Self::Rate(rate) => clock.run(clock::work_per_pico(*rate), limit, work),
            Self::Segments(segments) => segments.run(clock, work, limit),
            Self::Opportunities(series) => series.run(clock, ready, work, limit),
            Self::Changing(changing) => changing.run(clock, ready, work, limit),
        }
    }
}

/// Larger packets are served in pieces, so that the work of a piece fits 64 bits.
const MAX_PIECE: u32 = 1 << 20;

impl Server {
    /// An idle link at the start of time.
    pub fn new(spec: &ServiceSpec) -> Self {
        let engine = match spec {
            ServiceSpec::Fixed(rate) => Engine::Fixed(Fixed::new(*rate)),
            _ => Engine::General(Box::new(General {
                spec: spec.clone(),
                clock: Clock::default(),
                source: Source::new(spec),
            })),
        };
        Self { engine }
    }

    /// When `bytes` have been served that were there at `ready`, after everything served before; `None` if never.
    ///
    /// `ready` is when the packet came to the queue, not when it was taken from it: a packet that waited may use what
    /// the previous one left of an opportunity, one that comes at that instant may not.
    pub fn serve(&mut self, ready: SimTime, bytes: u32) -> Option<SimTime> {
        let ready = ready.as_picos();
        let mut pieces = bytes;
        while pieces > MAX_PIECE {
            self.serve_piece(ready, MAX_PIECE)?;
            pieces -= MAX_PIECE;
        }
        self.serve_piece(ready, pieces).map(SimTime::from_picos)
    }

    fn serve_piece(&mut self, ready: u64, bytes: u32) -> Option<u64> {
        match &mut self.engine {
            Engine::Fixed(fixed) => fixed.serve(ready, bytes),
            Engine::General(general) => {
                let General { clock, source, .. } = &mut **general;
                clock.start(ready);
                let left = source.run(clock, ready, u64::from(bytes) * WORK_PER_BYTE, u64::MAX);
                (left == 0 && clock.at < u64::MAX).then(|| clock.finish())
            }
        }
    }

    /// Bytes that the link could have carried between two times; see [`ServiceSpec::offered`].
    pub fn offered(&self, from: SimTime, to: SimTime) -> u64 {
        match &self.engine {
            Engine::Fixed(fixed) => ServiceSpec::Fixed(fixed.rate()).offered(from, to),
            Engine::General(general) => general.spec.offered(from, to),
        }
    }

    /// The rate at a time; see [`ServiceSpec::rate_at`].
    pub fn rate_at(&self, at: SimTime) -> Rate {
        match &self.engine {
            Engine::Fixed(fixed) => fixed.rate(),
            Engine::General(general) => general.spec.rate_at(at),
        }
    }
}

/// Picoseconds of a span, saturating at the end of simulated time.
fn picos(span: Span) -> u64 {
    (SimTime::ZERO + span).as_picos()
}

#[cfg(test)]
mod tests;

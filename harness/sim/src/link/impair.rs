//! What happens to packets on the way: loss, duplication, corruption, jitter (random or by schedule), reordering and
//! thinning of ACKs.
//!
//! Each kind of chance draws from a stream of its own, once for every packet that is judged. So the n-th packet meets
//! the same luck whichever other impairments are on, and runs that share a seed can be compared in pairs.
//!
//! A packet meets them in this order: a middlebox that thins ACKs, loss, corruption, duplication, delay. A link that
//! is to treat its two directions differently has two of these.

mod jitter;
mod loss;
mod schedule;
mod thinning;

use std::sync::Arc;

use cc_algos::Span;

pub use self::jitter::{JitterLaw, JitterSpec};
pub use self::loss::{BlockLoss, GilbertElliott, LossSpec, Outage};
pub use self::schedule::{JitterSchedule, JitterStep};
pub use self::thinning::AckThinning;

use self::jitter::Jitter;
use self::loss::Loss;
use self::thinning::Thinner;
use crate::error::{Probability, SpecError, ensure};
use crate::rng::{self, Random};
use crate::time::SimTime;

/// All impairments of one direction of a link; by default none.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ImpairmentSpec {
    /// Which packets are lost.
    pub loss: LossSpec,
    /// Probability that a packet arrives damaged: it uses the link, and the receiver discards it.
    pub corrupt: Probability,
    /// Probability that a packet arrives twice.
    pub duplicate: Probability,
    /// Random delay that keeps the order.
    pub jitter: Option<JitterSpec>,
    /// Delay along a schedule that keeps the order, on top of the random one.
    pub jitter_schedule: JitterSchedule,
    /// Packets held back so that later ones overtake them.
    pub reorder: Option<Reorder>,
    /// Pure ACKs thinned out by a middlebox.
    pub ack_thinning: Option<AckThinning>,
    /// Times, in order and apart, in which all packets are lost on top of all that: the link is out of order, and nobody says so.
    pub outages: Arc<[Outage]>,
}

/// Packets held back at random: the only source of reordering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability that a packet is held back.
    pub probability: Probability,
    /// For how long beyond everybody's delay.
    pub extra: Span,
}

impl ImpairmentSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If one is outside its range.
    pub fn validate(&self) -> Result<(), SpecError> {
        self.loss.validate()?;
        if let Some(jitter) = &self.jitter {
            jitter.validate()?;
        }
        if let Some(reorder) = &self.reorder {
            ensure(!reorder.extra.is_zero(), "reordering delay", reorder.extra, "more than zero")?;
        }
        if let Some(thinning) = &self.ack_thinning {
            thinning.validate()?;
        }
        if !self.outages.is_empty() {
            LossSpec::Outages(Arc::clone(&self.outages)).validate()?;
        }
        Ok(())
    }

    /// Whether packets pass unharmed and undelayed.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What a packet carries, as far as impairments care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketClass {
    /// Data, what a switch left of it, or a ping.
    Data,
    /// Nothing but acknowledgements.
    PureAck,
    /// A notice to a sender: not counted among the data, and not thinned out.
    Notice,
}

/// What impairments need to know of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketInfo {
    /// Its flow, for what is counted flow by flow.
    pub flow: u32,
    /// What it carries.
    pub class: PacketClass,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It never arrives.
    Lost(LossReason),
    /// It arrives.
    Delivered(Delivery),
}

/// Why a packet never arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossReason {
    /// The link lost it.
    Loss,
    /// A middlebox dropped it as one ACK among many.
    Thinned,
}

/// How a packet arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it leaves the impairments; the propagation delay comes on top.
    pub at: SimTime,
    /// Its place among the others.
    pub order: Order,
    /// Its state.
    pub condition: Condition,
    /// How often it arrives, all at the same time: once or twice.
    pub copies: u32,
}

/// The place of a packet among the others of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Not before any packet judged earlier that is in order too: those arrive first in, first out.
    InOrder,
    /// Later ones may overtake it.
    HeldBack,
}

/// The state in which a packet arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// As it was sent.
    Intact,
    /// Damaged: the receiver discards it.
    Corrupt,
}

/// Judges the packets of one direction of a link, in the order in which they leave its queue.
#[derive(Clone, Debug)]
pub struct Impairments {
    spec: Arc<ImpairmentSpec>,
    loss: Loss,
    outages: Option<Loss>,
    corruption: Random,
    duplication: Random,
    reordering: Random,
    jitter: Option<Jitter>,
    thinner: Option<Thinner>,
    /// Latest time at which a packet in order leaves.
    latest: SimTime,
}

impl Impairments {
    /// Impairments whose chances all come from `random`.
    ///
    /// # Errors
    /// If the specification is invalid.
    pub fn new(spec: ImpairmentSpec, mut random: Random) -> Result<Self, SpecError> {
        spec.validate()?;
        let unused = random.clone();
        // 2^128 draws apart: streams that never meet.
        let mut stream = || {
            let stream = random.clone();
            random.jump();
            stream
        };
        Ok(Self {
            loss: Loss::new(&spec.loss, stream()),
            outages: (!spec.outages.is_empty())
                .then(|| Loss::new(&LossSpec::Outages(Arc::clone(&spec.outages)), unused.clone())),
            corruption: stream(),
            duplication: stream(),
            reordering: stream(),
            jitter: spec.jitter.map(|jitter| Jitter::new(jitter, stream())),
            thinner: spec.ack_thinning.map(Thinner::new),
            spec: Arc::new(spec),
            latest: SimTime::ZERO,
        })
    }

    /// The fate of a packet whose last bit has left the queue at `now`.
    pub fn judge(&mut self, now: SimTime, packet: &PacketInfo) -> Fate {
        // Every stream draws for every packet, whatever becomes of it.
        let thinned = self.thinner.as_mut().is_some_and(|thinner| !thinner.keeps(now, packet));
        let lost = self.loss.judge(now, packet.class);
        let lost = self.outages.as_mut().is_some_and(|outages| outages.judge(now, packet.class)) || lost;
        let corrupt = rng::chance(&mut self.corruption, self.spec.corrupt.get());
        let duplicated = rng::chance(&mut self.duplication, self.spec.duplicate.get());
        let held = self.spec.reorder.filter(|reorder| rng::chance(&mut self.reordering, reorder.probability.get()));
        let delay = self.spec.jitter_schedule.delay_at(now)
            + self.jitter.as_mut().map_or(Span::ZERO, |jitter| jitter.draw(now));
        if thinned {
            return Fate::Lost(LossReason::Thinned);
        }
        if lost {
            return Fate::Lost(LossReason::Loss);
        }
        let in_order = self.latest.max(now + delay);
        let (at, order) = match held {
            Some(reorder) => (in_order + reorder.extra, Order::HeldBack),
            None => {
                self.latest = in_order;
                (in_order, Order::InOrder)
            }
        };
        let condition = if corrupt { Condition::Corrupt } else { Condition::Intact };
        Fate::Delivered(Delivery { at, order, condition, copies: 1 + u32::from(duplicated) })
    }
}

#[cfg(test)]
mod tests;

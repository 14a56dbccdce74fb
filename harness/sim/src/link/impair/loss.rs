//! Which packets a link loses.

use std::sync::Arc;

use cc_algos::Span;

use super::PacketClass;
use crate::error::{Probability, SpecError, ensure};
use crate::rng::{self, Random};
use crate::time::SimTime;

/// Which packets are lost.
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub enum LossSpec {
    /// None.
    #[default]
    None,
    /// Each with the same probability.
    Bernoulli(Probability),
    /// In bursts.
    GilbertElliott(GilbertElliott),
    /// Data packets number `offset`, `offset + every`, ... of the link, counted from zero.
    Periodic {
        /// Distance between losses, in data packets; loss rate 1 / `every`.
        every: u64,
        /// The first data packet lost, below `every`.
        offset: u64,
    },
    /// The data packets with these numbers, counted from zero over the link, in ascending order.
    Packets(Arc<[u64]>),
    /// All packets within these times, in order and apart.
    Outages(Arc<[Outage]>),
}

/// A time in which all packets are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it begins, from the start.
    pub from: Span,
    /// When it is over: a packet at that very time passes.
    pub until: Span,
}

/// Loss in bursts by a Markov chain with a good and a bad state, one step a packet (Gilbert 1960, Elliott 1963).
///
/// A packet is lost with the probability of the present state, and then the state changes with `to_bad` or `to_good`.
/// With p = `to_bad` and r = `to_good`, the link is bad for p / (p + r) of the packets in the long run, 1 / r in a row
/// on average, and loses
///
/// > r / (p + r) × `loss_good` + p / (p + r) × `loss_bad`
///
/// of them. It begins in the good state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Probability per packet of going from good to bad, p.
    pub to_bad: Probability,
    /// Probability per packet of going from bad to good, r.
    pub to_good: Probability,
    /// Loss probability in the good state, 1 − k in Elliott's terms.
    pub loss_good: Probability,
    /// Loss probability in the bad state, 1 − h.
    pub loss_bad: Probability,
}

impl GilbertElliott {
    /// The long-run loss rate.
    pub fn stationary_loss(&self) -> f64 {
        let (p, r) = (self.to_bad.get(), self.to_good.get());
        (r * self.loss_good.get() + p * self.loss_bad.get()) / (p + r)
    }
}

impl LossSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If a period is zero or its offset not below it, a list is empty or out of order, or the states never change.
    pub fn validate(&self) -> Result<(), SpecError> {
        match self {
            Self::None | Self::Bernoulli(_) => Ok(()),
            Self::GilbertElliott(chain) => {
                let rates = chain.to_bad.get() + chain.to_good.get();
                ensure(rates > 0.0, "sum of both transition probabilities", rates, "more than zero")
            }
            Self::Periodic { every, offset } => {
                ensure(*every > 0, "loss period", every, "at least 1 packet")?;
                ensure(offset < every, "loss offset", offset, "less than the period")
            }
            Self::Packets(list) => {
                ascending("lost packets", "packet number", list, |pair| pair[0] < pair[1], "ascending numbers")
            }
            Self::Outages(list) => {
                const LIST: &str = "outages";
                if let Some(index) = list.iter().position(|outage| outage.from >= outage.until) {
                    return Err(SpecError::Entry { list: LIST, index, expected: "an end after its beginning" });
                }
                ascending(LIST, "outage", list, |pair| pair[0].until <= pair[1].from, "times in order, without overlap")
            }
        }
    }
}

fn ascending<T>(
    list: &'static str,
    entry: &'static str,
    entries: &[T],
    in_order: impl Fn(&[T]) -> bool,
    expected: &'static str,
) -> Result<(), SpecError> {
    if entries.is_empty() {
        return Err(SpecError::Empty { list, entry });
    }
    match entries.windows(2).position(|pair| !in_order(pair)) {
        Some(before) => Err(SpecError::Entry { list, index: before + 1, expected }),
        None => Ok(()),
    }
}

/// Loses packets.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    spec: LossSpec,
    random: Random,
    /// Data packets seen.
    data_packets: u64,
    /// Entries of a list that are over.
    done: usize,
    bad: bool,
}

impl Loss {
    pub(super) fn new(spec: &LossSpec, random: Random) -> Self {
        Self { spec: spec.clone(), random, data_packets: 0, done: 0, bad: false }
    }

    /// Whether the packet is lost.
    pub(super) fn judge(&mut self, now: SimTime, class: PacketClass) -> bool {
        let number = self.data_packets;
        let is_data = class == PacketClass::Data;
        self.data_packets += u64::from(is_data);
        match &self.spec {
            LossSpec::None => false,
            LossSpec::Bernoulli(probability) => rng::chance(&mut self.random, probability.get()),
            LossSpec::GilbertElliott(chain) => {
                let (loss, change) = match self.bad {
                    false => (chain.loss_good, chain.to_bad),
                    true => (chain.loss_bad, chain.to_good),
                };
                let lost = rng::chance(&mut self.random, loss.get());
                self.bad ^= rng::chance(&mut self.random, change.get());
                lost
            }
            LossSpec::Periodic { every, offset } => is_data && number % every == *offset,
            LossSpec::Packets(list) => {
                let hit = is_data && list.get(self.done) == Some(&number);
                self.done += usize::from(hit);
                hit
            }
            LossSpec::Outages(list) => {
                while list.get(self.done).is_some_and(|outage| now >= SimTime::ZERO + outage.until) {
                    self.done += 1;
                }
                list.get(self.done).is_some_and(|outage| now >= SimTime::ZERO + outage.from)
            }
        }
    }
}

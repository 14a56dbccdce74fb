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
    /// Some of a block of packets together.
    Blocks(BlockLoss),
}

/// Losses that come together: of each block of packets one, two or more are lost with given probabilities, at places drawn
/// evenly. The Uno artifact (`spcl/Uno_SC25`, commit 68d164e, `-multiple_failures`) has blocks of ten packets and the
/// probabilities 3.0e-4, 7.5e-5 and 1.6e-5.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockLoss {
    /// Packets of a block, at most [`BlockLoss::LONGEST`].
    pub length: u32,
    /// Probability that one packet of it is lost, that two are, and so on.
    pub probabilities: Arc<[Probability]>,
}

impl BlockLoss {
    /// The longest block.
    pub const LONGEST: u32 = 64;

    /// The long-run loss rate.
    pub fn stationary_loss(&self) -> f64 {
        let lost: f64 = (1_u32..).zip(self.probabilities.iter()).map(|(lost, p)| f64::from(lost) * p.get()).sum();
        lost / f64::from(self.length)
    }

    fn validate(&self) -> Result<(), SpecError> {
        let within = (1..=Self::LONGEST).contains(&self.length);
        ensure(within, "packets of a block of losses", self.length, "1 to 64")?;
        let most = self.probabilities.len();
        ensure(most > 0, "probabilities of losses in a block", most, "one at least")?;
        ensure(most <= self.length as usize, "losses of a block", most, "no more than its packets")?;
        let sum: f64 = self.probabilities.iter().map(|probability| probability.get()).sum();
        ensure(sum <= 1.0, "sum of the probabilities of losses in a block", sum, "at most 1")
    }

    /// The packets of the next block that are lost, a bit for each place.
    fn draw(&self, random: &mut Random) -> u64 {
        let mut left = rng::unit(random);
        let lost = self.probabilities.iter().position(|probability| {
            left -= probability.get();
            left < 0.0
        });
        let mut places = 0_u64;
        while places.count_ones() < lost.map_or(0, |index| index as u32 + 1) {
            places |= 1 << rng::below(random, u64::from(self.length));
        }
        places
    }
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
            Self::Blocks(blocks) => blocks.validate(),
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
    /// Places in the running block, from the next one on, that are lost.
    block: u64,
    /// Packets of the running block still to come.
    left: u32,
}

impl Loss {
    pub(super) fn new(spec: &LossSpec, random: Random) -> Self {
        Self { spec: spec.clone(), random, data_packets: 0, done: 0, bad: false, block: 0, left: 0 }
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
            LossSpec::Blocks(blocks) => {
                if self.left == 0 {
                    (self.block, self.left) = (blocks.draw(&mut self.random), blocks.length);
                }
                let lost = self.block & 1 == 1;
                (self.block, self.left) = (self.block >> 1, self.left - 1);
                lost
            }
        }
    }
}

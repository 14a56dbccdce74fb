//! New networks: from chance, by mutation, and from two others.
//!
//! Chance is not blind. Jitter comes in the shapes that are known to mislead estimators of the base RTT and of the rate: a
//! *dip*, in which a packet or two meet less delay than all others, so that the smallest RTT is one that never comes back
//! (non-congestive delay, in the words of "Starvation in End-to-End Congestion Control", SIGCOMM'22), and a *square wave*,
//! which aggregates acknowledgements. Everything else is drawn evenly between the bounds, and rounded so that people can read it.

use cc_algos::{Rate, Span};
use rand_core::Rng;
use sim::rng::{self, Random};

use super::bounds::{Bounds, Dimension};
use super::genome::{Burst, Genome, Jitter, JitterPoint, OwnPath, RatePoint, SecondFlow};
use super::goal::Goal;

/// Makes genomes. All that it makes is within its bounds.
#[derive(Debug)]
pub struct Breeder<'a> {
    bounds: &'a Bounds,
    goal: Goal,
    random: Random,
}

impl<'a> Breeder<'a> {
    /// A breeder whose chances all come from `random`.
    pub fn new(bounds: &'a Bounds, goal: Goal, random: Random) -> Self {
        Self { bounds, goal, random }
    }

    /// A number from 0 to `bound - 1`; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.random.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A network from chance.
    pub fn random(&mut self) -> Genome {
        let rtt = self.rtt();
        let mut genome = Genome {
            rate: self.rate(),
            rtt,
            buffer_milli_bdp: self.buffer(),
            jitter: self.jitter(rtt),
            capacity: Vec::new(),
            cross: Vec::new(),
            second: self.goal.has_two_flows().then(SecondFlow::default),
        };
        if let Some(second) = &mut genome.second {
            second.start = self.start();
            second.path = self.goal.has_own_paths().then(|| self.own_path(rtt));
        }
        if self.bounds.varies(Dimension::Capacity) && self.chance(0.5) {
            genome.capacity = (0..=self.below(4)).map(|_| self.rate_point()).collect();
        }
        if self.bounds.varies(Dimension::CrossTraffic) && self.chance(0.3) {
            genome.cross = (0..=self.below(3)).map(|_| self.burst(genome.rate)).collect();
        }
        self.bounds.repair(&mut genome);
        genome
    }

    /// A network with a few things changed.
    pub fn mutate(&mut self, parent: &Genome) -> Genome {
        let mut genome = parent.clone();
        for _ in 0..=self.below(3) {
            self.mutate_once(&mut genome);
        }
        self.bounds.repair(&mut genome);
        genome
    }

    /// A network with something of both.
    pub fn cross(&mut self, mother: &Genome, father: &Genome) -> Genome {
        let mut child = mother.clone();
        if self.chance(0.5) {
            // Jitter and buffer are relative to these: they go together.
            (child.rate, child.rtt, child.buffer_milli_bdp) = (father.rate, father.rtt, father.buffer_milli_bdp);
        }
        match self.below(3) {
            0 => child.jitter = father.jitter.clone(),
            1 if child.jitter.repeat == father.jitter.repeat => {
                let cut = self.time();
                splice(&mut child.jitter.points, &father.jitter.points, |point| point.at < cut);
            }
            _ => {}
        }
        let cut = self.time();
        match self.below(3) {
            0 => child.capacity.clone_from(&father.capacity),
            1 => splice(&mut child.capacity, &father.capacity, |point| point.at < cut),
            _ => {}
        }
        match self.below(3) {
            0 => child.cross.clone_from(&father.cross),
            1 => splice(&mut child.cross, &father.cross, |burst| burst.at < cut),
            _ => {}
        }
        if self.chance(0.5) {
            child.second.clone_from(&father.second);
        }
        self.bounds.repair(&mut child);
        child
    }

    fn mutate_once(&mut self, genome: &mut Genome) {
        match self.below(10) {
            0 => genome.rate = self.rate(),
            1 => {
                genome.rtt = self.rtt();
            }
            2 => genome.buffer_milli_bdp = self.buffer(),
            3 if self.bounds.varies(Dimension::Capacity) => self.mutate_capacity(genome),
            4 if self.bounds.varies(Dimension::CrossTraffic) => self.mutate_cross(genome),
            5 | 6 if genome.second.is_some() => self.mutate_second(genome),
            _ => {
                let rtt = genome.rtt;
                self.mutate_jitter(&mut genome.jitter, rtt);
            }
        }
    }

    fn mutate_second(&mut self, genome: &mut Genome) {
        let rtt = genome.rtt;
        let Some(second) = &mut genome.second else { return };
        match &mut second.path {
            Some(path) if self.chance(0.7) => self.mutate_jitter(&mut path.jitter, rtt),
            Some(path) if self.chance(0.5) => path.extra_rtt = self.extra_rtt(rtt),
            _ => second.start = self.start(),
        }
    }

    fn mutate_jitter(&mut self, jitter: &mut Jitter, rtt: Span) {
        let which = self.below(jitter.points.len());
        match self.below(7) {
            0 => *jitter = self.jitter(rtt),
            1 => {
                let at = match jitter.repeat {
                    None => self.time(),
                    Some(period) => self.moment(period),
                };
                jitter.points.push(JitterPoint { at, delay: self.delay(rtt) });
            }
            2 if !jitter.points.is_empty() => drop(jitter.points.remove(which)),
            3 => {
                let delay = self.delay(rtt);
                jitter.points.get_mut(which).into_iter().for_each(|point| point.delay = delay);
            }
            4 => {
                let at = self.nearby(jitter.points.get(which).map_or(Span::ZERO, |point| point.at));
                jitter.points.get_mut(which).into_iter().for_each(|point| point.at = at);
            }
            5 => {
                let from = self.time();
                jitter.points.extend(self.dip(from, rtt));
            }
            _ => {
                jitter.repeat = match jitter.repeat {
                    Some(_) if self.chance(0.3) => None,
                    Some(period) => Some(self.nearby(period).max(STEP)),
                    None => Some(self.moment(rtt.saturating_mul(2)).max(STEP)),
                }
            }
        }
    }

    fn mutate_capacity(&mut self, genome: &mut Genome) {
        let which = self.below(genome.capacity.len());
        match (self.below(4), genome.capacity.len()) {
            (0, 1..) => drop(genome.capacity.remove(which)),
            (1, 1..) => genome.capacity[which].at = self.nearby(genome.capacity[which].at),
            (2, 1..) => genome.capacity[which].rate = self.rate(),
            _ => {
                let point = self.rate_point();
                genome.capacity.push(point);
            }
        }
    }

    fn mutate_cross(&mut self, genome: &mut Genome) {
        let which = self.below(genome.cross.len());
        match (self.below(4), genome.cross.len()) {
            (0, 1..) => drop(genome.cross.remove(which)),
            (1, 1..) => genome.cross[which].at = self.nearby(genome.cross[which].at),
            (2, 1..) => genome.cross[which].bytes = self.burst(genome.rate).bytes,
            _ => {
                let burst = self.burst(genome.rate);
                genome.cross.push(burst);
            }
        }
    }

    fn jitter(&mut self, rtt: Span) -> Jitter {
        if !self.bounds.varies(Dimension::Jitter) {
            return Jitter::default();
        }
        match self.below(4) {
            0 => Jitter::default(),
            1 => {
                let from = if self.chance(0.5) { Span::ZERO } else { self.time() };
                Jitter { points: self.dip(from, rtt), repeat: None }
            }
            2 => {
                let period = self.moment(rtt.saturating_mul(2)).max(STEP.saturating_mul(2));
                let held = JitterPoint { at: Span::ZERO, delay: self.delay(rtt) };
                let freed = JitterPoint { at: self.moment(period), delay: Span::ZERO };
                Jitter { points: vec![held, freed], repeat: Some(period) }
            }
            _ => {
                let point = |breeder: &mut Self| JitterPoint { at: breeder.time(), delay: breeder.delay(rtt) };
                Jitter { points: (0..=self.below(6)).map(|_| point(self)).collect(), repeat: None }
            }
        }
    }

    /// Full delay but for a short while from `from` on.
    fn dip(&mut self, from: Span, rtt: Span) -> Vec<JitterPoint> {
        let delay = self.bounds.longest_jitter(rtt);
        let width = self.moment(Span::from_millis(4)).max(STEP);
        let point = |at, delay| JitterPoint { at, delay };
        vec![point(Span::ZERO, delay), point(from, Span::ZERO), point(from + width, delay)]
            .split_off(usize::from(from.is_zero()))
    }

    fn own_path(&mut self, rtt: Span) -> OwnPath {
        OwnPath { extra_rtt: self.extra_rtt(rtt), jitter: self.jitter(rtt) }
    }

    fn extra_rtt(&mut self, rtt: Span) -> Span {
        if self.chance(0.5) { Span::ZERO } else { whole_millis(self.moment(rtt)) }
    }

    fn start(&mut self) -> Span {
        if self.chance(0.5) { Span::ZERO } else { whole_millis(self.moment(self.bounds.latest_start())) }
    }

    fn rate(&mut self) -> Rate {
        let (low, high) = self.bounds.rate;
        let bps = low.as_bps() + self.below((high.as_bps() - low.as_bps() + 1) as usize) as u64;
        Rate::from_bps(bps - bps % 100_000)
    }

    fn rtt(&mut self) -> Span {
        let (low, high) = self.bounds.rtt;
        whole_millis(low + self.moment(high - low))
    }

    fn buffer(&mut self) -> u64 {
        let (low, high) = self.bounds.buffer_milli_bdp;
        let milli = low + self.below((high - low + 1) as usize) as u64;
        milli - milli % 50
    }

    fn rate_point(&mut self) -> RatePoint {
        RatePoint { at: self.time(), rate: self.rate() }
    }

    fn burst(&mut self, rate: Rate) -> Burst {
        let share = 1 + self.below(10) as u64;
        let length = self.moment(Span::from_millis(200));
        let rate = rate.mul_div(share, 10);
        Burst { at: self.time(), bytes: rate.bytes_in(length).next_multiple_of(1_000), rate }
    }

    /// None, all, or something between.
    fn delay(&mut self, rtt: Span) -> Span {
        let longest = self.bounds.longest_jitter(rtt);
        match self.below(4) {
            0 => Span::ZERO,
            1 => longest,
            _ => self.moment(longest),
        }
    }

    /// A time in the run: every other one in its first tenth, where laws make up their minds.
    fn time(&mut self) -> Span {
        let end = if self.chance(0.5) { self.bounds.latest_start() } else { self.bounds.duration };
        self.moment(end)
    }

    /// A time before `end`.
    fn moment(&mut self, end: Span) -> Span {
        let steps = end.as_nanos() / STEP.as_nanos();
        STEP.saturating_mul(self.below(steps as usize) as u64)
    }

    /// A time not far from `at`: half to one and a half of it, or a few milliseconds away.
    fn nearby(&mut self, at: Span) -> Span {
        let reach = at.mul_div(1, 2).max(Span::from_millis(2));
        (at + self.moment(reach.saturating_mul(2))).saturating_sub(reach)
    }

    fn chance(&mut self, probability: f64) -> bool {
        rng::chance(&mut self.random, probability)
    }
}

/// Granularity of all times. Ours: a packet of 1500 B takes 250 us at 48 Mb/s.
const STEP: Span = Span::from_micros(100);

fn whole_millis(span: Span) -> Span {
    Span::from_millis(span.as_millis())
}

/// Replaces what comes from the cut on by what the other has from there on.
fn splice<T: Clone>(own: &mut Vec<T>, other: &[T], before_cut: impl Fn(&T) -> bool) {
    own.retain(&before_cut);
    own.extend(other.iter().filter(|item| !before_cut(item)).cloned());
}

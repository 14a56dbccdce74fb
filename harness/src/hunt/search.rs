//! Islands of networks that evolve.
//!
//! Each island keeps its worst networks (those with the highest scores), breeds as many new ones from them by tournament,
//! crossing and mutation, and now and then sends its best to the next. A generation's chances depend on the seed, its number
//! and the island's alone, and its networks are all tried before any is chosen. So the same seed gives the same search,
//! whatever the number of threads, and one that is taken up again goes on as if it had never stopped.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use sim::rng;

use super::breed::Breeder;
use super::genome::Genome;
use super::goal::Score;
use super::trial::{HuntError, Trial};

/// Islands. Ours, as the other numbers here: they found the networks of `docs/hunt.md`.
const ISLANDS: usize = 4;

/// Networks that an island keeps, and breeds anew in each generation.
const SIZE: usize = 12;

/// Networks that meet in a tournament.
const TOURNAMENT: usize = 3;

/// Generations from one migration to the next.
const MIGRATE_EVERY: u64 = 5;

/// Of a hundred new networks, how many have two parents, and how many none.
const CROSSED: usize = 50;
const FRESH: usize = 15;

/// A network with its score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// The network.
    pub genome: Genome,
    /// How bad it is.
    pub score: Score,
}

/// Everything that a search remembers between generations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchState {
    /// Generations done.
    pub generation: u64,
    /// Networks tried.
    pub evaluations: u64,
    /// The islands, the worst network first.
    pub islands: Vec<Vec<Member>>,
}

impl SearchState {
    /// The network with the highest score so far; of equals the smallest.
    pub fn best(&self) -> Option<&Member> {
        self.islands.iter().filter_map(|island| island.first()).min_by_key(|member| rank(member))
    }
}

/// Worst first; of equals the smallest.
fn rank(member: &Member) -> (Reverse<Score>, usize) {
    (Reverse(member.score), member.genome.size())
}

/// A search under way.
pub struct Search<'a> {
    trial: &'a Trial,
    state: SearchState,
}

impl<'a> Search<'a> {
    /// Networks tried in one generation.
    pub const GENERATION: u64 = (ISLANDS * SIZE) as u64;

    /// A search that begins, or goes on from a state.
    pub fn new(trial: &'a Trial, state: SearchState) -> Self {
        Self { trial, state }
    }

    /// What it remembers.
    pub const fn state(&self) -> &SearchState {
        &self.state
    }

    /// Tries one more generation.
    ///
    /// # Errors
    ///
    /// If interrupted: then the state is that of the generation before.
    pub fn step(&mut self) -> Result<(), HuntError> {
        let broods: Vec<Vec<Genome>> = (0..ISLANDS).map(|island| self.breed(island)).collect();
        let all: Vec<Genome> = broods.into_iter().flatten().collect();
        let mut scores = self.trial.evaluate_all(&all)?.into_iter().map(|evaluation| evaluation.score);
        let tried = all.len() as u64;
        let mut members =
            all.into_iter().map(|genome| Member { score: scores.next().unwrap_or(Score::USELESS), genome });
        self.state.islands.resize_with(ISLANDS, Vec::new);
        for island in &mut self.state.islands {
            island.extend(members.by_ref().take(SIZE));
            select(island);
        }
        self.state.generation += 1;
        self.state.evaluations += tried;
        if self.state.generation.is_multiple_of(MIGRATE_EVERY) {
            self.migrate();
        }
        Ok(())
    }

    fn breed(&self, island: usize) -> Vec<Genome> {
        let number = self.state.generation * ISLANDS as u64 + island as u64;
        let random = rng::stream(self.trial.seed, "hunt", number);
        let mut breeder = Breeder::new(&self.trial.bounds, self.trial.goal, random);
        let parents = self.state.islands.get(island).map_or(&[][..], Vec::as_slice);
        (0..SIZE).map(|_| breed_one(&mut breeder, parents)).collect()
    }

    /// The best of each island also goes to the next one.
    fn migrate(&mut self) {
        let best: Vec<Member> = self.state.islands.iter().filter_map(|island| island.first().cloned()).collect();
        for (island, guest) in self.state.islands.iter_mut().zip(best.into_iter().cycle().skip(ISLANDS - 1)) {
            island.push(guest);
            select(island);
        }
    }
}

fn breed_one(breeder: &mut Breeder<'_>, parents: &[Member]) -> Genome {
    let draw = breeder.below(100);
    if parents.is_empty() || draw < FRESH {
        return breeder.random();
    }
    let mother = tournament(breeder, parents);
    if draw < FRESH + CROSSED {
        let father = tournament(breeder, parents);
        let child = breeder.cross(mother, father);
        return if breeder.below(2) == 0 { child } else { breeder.mutate(&child) };
    }
    breeder.mutate(mother)
}

/// The worst of a few drawn.
fn tournament<'m>(breeder: &mut Breeder<'_>, parents: &'m [Member]) -> &'m Genome {
    // Parents stand in order: the smallest place is the worst network.
    let place = (0..TOURNAMENT).map(|_| breeder.below(parents.len())).min().unwrap_or(0);
    &parents[place].genome
}

/// Keeps the worst, each once. Those that have been there longer win ties.
fn select(island: &mut Vec<Member>) {
    let mut kept: Vec<Member> = Vec::with_capacity(SIZE);
    island.sort_by_key(rank);
    for member in island.drain(..) {
        if kept.len() < SIZE && kept.iter().all(|other| other.genome != member.genome) {
            kept.push(member);
        }
    }
    *island = kept;
}

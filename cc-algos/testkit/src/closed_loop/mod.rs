//! Promises, checked: a controller flies through the simulator on the network of its family, and what it declared in
//! [`Promises`](cc_algos::Promises) is measured.
//!
//! | promise | run | measured |
//! |---|---|---|
//! | `utilisation` | one flow, buffer of one BDP | share of the bottleneck once settled |
//! | `queueing_delay` | one flow, buffer of four BDP | mean backlog once settled, in base RTTs |
//! | `fairness` | four flows, starting ten base RTTs apart | Jain's index of what they delivered once settled |
//! | `rtt_fairness` | two flows, base RTTs 1 : 4 | Jain's index of what they delivered once settled |
//! | `convergence_rtts` | a second flow joins one that has settled | base RTTs until it delivers four fifths of half of the link, over twenty base RTTs |
//! | `*_share_against_cubic` | with one `cubic` flow, drop-tail buffer of one BDP, no marks | its share of what both delivered once settled |
//! | `loss_tolerance` | one flow, independent losses at the promised rate | share of the bottleneck once settled; half of it keeps the promise |
//! | `window_at_losses` | one flow, one independent loss in 1 000 packets | packets delivered a base RTT |
//! | `window_at_rare_losses` | the same, one loss in 10 000, five times the base RTT | the same, a round trip |
//! | `reaction_to_drop_rtts` | the bottleneck falls to a quarter of its rate; buffer of four BDP | base RTTs until the backlog is down to three quarters of its peak |
//! | `reaction_to_rise_rtts` | the bottleneck grows from a quarter to its full rate | base RTTs until four fifths of it are used, over four base RTTs |
//!
//! Figures of the networks stand at [`Habitat`]. Each promise is measured with several seeds, which move starts and break
//! ties, and the worst counts: a promise is a bound, not a mean.

mod habitat;
mod trial;

pub use habitat::{Habitat, Signalling};

use core::fmt;

use cc_algos::registry::RegistryError;
use cc_algos::{Declaration, Promise, Registry};
use sim::spec::Contestant;
use sim::{SimError, SpecError};

use trial::{Run, Trial};

/// Who is held to promises: a way to build controllers, and what they declare.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Builds its controllers.
    pub contestant: Contestant,
    /// What they declare.
    pub declaration: Declaration,
}

impl Contender {
    /// An algorithm of a registry, as `name?key=value`, with its own declaration.
    ///
    /// # Errors
    ///
    /// If the registry does not know it, or it refuses its parameters.
    pub fn registered(registry: &Registry, spec: &str) -> Result<Self, RegistryError> {
        let args = registry.resolve(spec)?;
        let declaration = registry.find(args.algorithm())?.declaration().clone();
        let mtu = Habitat::of(&declaration).mtu;
        Ok(Self { contestant: Contestant::registered(registry, &args, mtu)?, declaration })
    }
}

/// A promise with what was promised and what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// Which.
    pub promise: Promise,
    /// The bound.
    pub promised: f64,
    /// The worst measurement; infinite for what did not happen before the run ended.
    pub measured: f64,
}

impl Finding {
    /// Whether the promise was kept.
    pub fn is_kept(&self) -> bool {
        self.promise.keeps(self.measured, self.promised)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = self.promise.side();
        let verdict = if self.is_kept() { "kept" } else { "BROKEN" };
        write!(
            f,
            "{}: promised {side} {:.3}, measured {:.3}: {verdict}",
            self.promise.name(),
            self.promised,
            self.measured
        )
    }
}

/// Why a promise could not be measured: the habitat or the simulator is at fault, not the controller.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// A part of the network makes no sense.
    #[error("the network of a promise: {0}")]
    Network(#[from] SpecError),
    /// The run failed.
    #[error("the run of a promise: {0}")]
    Run(#[from] SimError),
    /// `cubic`, which promises are measured against, is missing.
    #[error("the rival of a promise: {0}")]
    Rival(#[from] RegistryError),
}

/// Seeds with which each promise is measured by default.
pub const SEEDS: [u64; 2] = [1, 2];

/// Measures every promise that a contender has declared, with these seeds.
///
/// # Errors
///
/// If a run fails, which no controller should be able to bring about.
pub fn check(contender: &Contender, seeds: &[u64]) -> Result<Vec<Finding>, TrialError> {
    let mut findings = Vec::new();
    for promise in Promise::ALL {
        let Some(promised) = promise.threshold(&contender.declaration.promises) else { continue };
        let mut worst: Option<f64> = None;
        for seed in seeds {
            let measured = measure(contender, promise, *seed)?;
            worst = Some(worst.map_or(measured, |worst| promise.worse(promised, worst, measured)));
        }
        findings.extend(worst.map(|measured| Finding { promise, promised, measured }));
    }
    Ok(findings)
}

/// Measures one promise in one run, whether it was declared or not. For [`Promise::LossTolerance`] without a declared rate the
/// losses are 1 %.
///
/// # Errors
///
/// As [`check`].
pub fn measure(contender: &Contender, promise: Promise, seed: u64) -> Result<f64, TrialError> {
    let habitat = Habitat::of(&contender.declaration);
    let measuring = Measuring { contender, habitat: &habitat, seed };
    match promise {
        Promise::Utilisation => measuring.utilisation(0.0),
        Promise::LossTolerance => measuring.utilisation(contender.declaration.promises.loss_tolerance.unwrap_or(0.01)),
        Promise::WindowAtLosses => measuring.window_at(1e-3, 1.0),
        Promise::WindowAtRareLosses => measuring.window_at(1e-4, 5.0),
        Promise::QueueingDelay => measuring.queueing_delay(),
        Promise::Fairness => measuring.fairness(&[1.0; 4]),
        Promise::RttFairness => measuring.fairness(&[1.0, 4.0]),
        Promise::Convergence => measuring.convergence(),
        Promise::LeastShareAgainstCubic | Promise::MostShareAgainstCubic => measuring.share_against_cubic(),
        Promise::ReactionToDrop => measuring.reaction_to_drop(),
        Promise::ReactionToRise => measuring.reaction_to_rise(),
    }
}

/// What the measurements of one contender have in common.
struct Measuring<'a> {
    contender: &'a Contender,
    habitat: &'a Habitat,
    seed: u64,
}

/// Base RTTs between the starts of flows that begin together, so that they are not in step.
const STAGGER_RTTS: f64 = 10.0;
/// Base RTTs over which a newcomer's share is taken.
const SHARE_WINDOW_RTTS: f64 = 20.0;
/// Base RTTs over which the use of new capacity is taken.
const USE_WINDOW_RTTS: f64 = 4.0;
/// Round trips of the flow between which its response to losses is taken: some dozens of losses.
const RESPONSE_FROM_RTTS: f64 = 250.0;
const RESPONSE_TO_RTTS: f64 = 4_250.0;
/// Share of a fair share, or of new capacity, that counts as having it.
const ENOUGH: f64 = 0.8;

impl<'a> Measuring<'a> {
    fn trial(&self, rtts: f64) -> Trial<'a> {
        Trial::new(self.habitat, rtts, self.seed)
    }

    fn settled(&self) -> f64 {
        f64::from(self.habitat.settling_rtts)
    }

    fn end(&self) -> f64 {
        self.settled() + f64::from(self.habitat.measured_rtts)
    }

    /// A start within the first base RTT, by the seed.
    fn start(&self) -> f64 {
        (self.seed % 16) as f64 / 16.0
    }

    fn alone(&self, trial: Trial<'a>) -> Result<Run<'a>, TrialError> {
        trial.flow(&self.contender.contestant, self.start(), 1.0).run()
    }

    fn utilisation(&self, loss: f64) -> Result<f64, TrialError> {
        Ok(self.alone(self.trial(self.end()).losing(loss))?.utilisation(self.settled(), self.end()))
    }

    /// Packets that a flow whose base RTT is `stretch` times the habitat's delivers in a round trip, at this rate of losses.
    fn window_at(&self, loss: f64, stretch: f64) -> Result<f64, TrialError> {
        let (from, to) = (RESPONSE_FROM_RTTS * stretch, RESPONSE_TO_RTTS * stretch);
        let trial = self.trial(to).losing(loss).flow(&self.contender.contestant, self.start(), stretch);
        let bytes = trial.run()?.delivered(0, from, to) as f64;
        Ok(bytes / self.habitat.mtu as f64 / (RESPONSE_TO_RTTS - RESPONSE_FROM_RTTS))
    }

    fn queueing_delay(&self) -> Result<f64, TrialError> {
        Ok(self.alone(self.trial(self.end()).buffer(4.0))?.queueing_delay(self.settled(), self.end()))
    }

    fn fairness(&self, stretches: &[f64]) -> Result<f64, TrialError> {
        let mut trial = self.trial(self.end());
        let mut start = self.start();
        for stretch in stretches {
            trial = trial.flow(&self.contender.contestant, start, *stretch);
            start += STAGGER_RTTS;
        }
        let run = trial.run()?;
        let delivered = (0..stretches.len() as u32).map(|flow| run.delivered(flow, self.settled(), self.end()) as f64);
        Ok(jain(delivered))
    }

    fn convergence(&self) -> Result<f64, TrialError> {
        let joins = self.settled();
        let contestant = &self.contender.contestant;
        let run = self.trial(self.end()).flow(contestant, self.start(), 1.0).flow(contestant, joins, 1.0).run()?;
        Ok(run.first_window(joins, SHARE_WINDOW_RTTS, |from, to| {
            let newcomer = run.delivered(1, from, to) as f64;
            newcomer >= ENOUGH / 2.0 * (newcomer + run.delivered(0, from, to) as f64)
                && run.utilisation(from, to) >= ENOUGH
        }))
    }

    fn share_against_cubic(&self) -> Result<f64, TrialError> {
        // Without marks: the rival is to be what fills the Internet's buffers.
        let habitat = Habitat { queue: Signalling::Drops, ..self.habitat.clone() };
        let cubic = Contender::registered(&Registry::builtin(), "cubic")?.contestant;
        let run = Trial::new(&habitat, self.end(), self.seed)
            .flow(&self.contender.contestant, self.start(), 1.0)
            .flow(&cubic, STAGGER_RTTS, 1.0)
            .run()?;
        let [ours, theirs] = [0, 1].map(|flow| run.delivered(flow, self.settled(), self.end()) as f64);
        Ok(ours / (ours + theirs).max(1.0))
    }

    fn reaction_to_drop(&self) -> Result<f64, TrialError> {
        let drop = self.settled();
        let quarter = self.habitat.rate.mul_div(1, 4);
        let run = self.alone(self.trial(self.end()).buffer(4.0).rate_from(drop, quarter))?;
        Ok(run.drained_after(drop))
    }

    fn reaction_to_rise(&self) -> Result<f64, TrialError> {
        let rise = self.settled();
        let quarter = self.habitat.rate.mul_div(1, 4);
        let trial = self.trial(self.end()).rate_from(0.0, quarter).rate_from(rise, self.habitat.rate);
        let run = self.alone(trial)?;
        Ok(run.first_window(rise, USE_WINDOW_RTTS, |from, to| run.utilisation(from, to) >= ENOUGH))
    }
}

/// Jain's index (Jain, Chiu and Hawe, 1984): 1 if all are equal, 1/n if one has all.
fn jain(shares: impl Iterator<Item = f64>) -> f64 {
    let (n, sum, squares) =
        shares.fold((0.0, 0.0, 0.0), |(n, sum, squares), share| (n + 1.0, sum + share, squares + share * share));
    if squares > 0.0 { sum * sum / (n * squares) } else { 0.0 }
}

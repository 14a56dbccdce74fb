//! What a scenario names but does not hold: its balancer, traces and flow-size distributions, loaded once for all its runs.

use std::path::Path;
use std::sync::Arc;

use cc_algos::registry::nearest;
use cc_algos::{Registry, Span};
use traces::{Generator, ReadOptions, Trace};
use transport::flow::balance::{Balancers, Balancing};

use super::entrant::{Entrant, EntrantError};
use super::error::ScenarioError;
use super::fingerprint::Fingerprint;
use super::htsim_topology::TreePlan;
use super::model::{Datacentres, Link, Scenario, Service, Topology, Tree};
use crate::workload::{Matrix, MatrixSource, Pattern, SizeDistribution, Sizes};

/// A scenario with its traces and distributions, ready to be compiled for any algorithm and seed.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The scenario.
    pub scenario: Scenario,
    /// The scenario's balancer.
    pub(super) balance: Balancing,
    /// Those that algorithms may name.
    balancers: Arc<Balancers>,
    /// The trace of the main link, if it has one.
    pub(super) main_trace: Option<TraceSource>,
    /// The trace of a dumbbell's reverse link, if it has one.
    pub(super) reverse_trace: Option<TraceSource>,
    /// The tree of datacentres.
    pub(super) tree: Option<TreePlan>,
    /// For each workload, the distributions of its pattern.
    pub(super) sizes: Vec<Vec<Arc<SizeDistribution>>>,
    /// For each workload, its matrix, if it has one.
    pub(super) matrices: Vec<Option<Arc<Matrix>>>,
    fingerprint: String,
}

/// Where a link's trace comes from.
#[derive(Clone, Debug)]
pub(crate) enum TraceSource {
    /// A recorded or embedded trace, the same for all seeds.
    Recorded(Arc<Trace>),
    /// Generated: with its own seed, or anew for each run's.
    Generated { generator: Generator, seed: Option<u64> },
}

impl Prepared {
    /// Loads what the scenario names; relative paths start at `base`. Balancers are the built-in ones.
    ///
    /// # Errors
    ///
    /// If a trace, a distribution or a balancer is unknown, unreadable or malformed.
    pub fn new(scenario: Scenario, base: &Path) -> Result<Self, ScenarioError> {
        Self::with_balancers(scenario, base, Arc::new(Balancers::builtin()))
    }

    /// As [`Prepared::new`], with these balancers.
    ///
    /// # Errors
    ///
    /// As [`Prepared::new`].
    pub fn with_balancers(
        mut scenario: Scenario,
        base: &Path,
        balancers: Arc<Balancers>,
    ) -> Result<Self, ScenarioError> {
        let balance = balancers
            .resolve(&scenario.balance)
            .map_err(|error| ScenarioError::new(&scenario.name, error.to_string()).at_key("balance"))?;
        // All spellings of one configuration have one fingerprint.
        scenario.balance = balance.to_string();
        let mut fingerprint = Fingerprint::of_scenario(&scenario);
        let fault = |key: &str, message: String| ScenarioError::new(&scenario.name, message).at_key(key);
        let mut trace = |link: &Link, key: &str| {
            load_trace(link, base, &mut fingerprint).map_err(|message| fault(&format!("{key}.trace"), message))
        };
        let (main_trace, reverse_trace) = match &scenario.topology {
            Topology::Dumbbell(dumbbell) => (
                trace(&dumbbell.bottleneck, "topology.bottleneck")?,
                dumbbell.reverse.as_ref().map_or(Ok(None), |link| trace(link, "topology.reverse"))?,
            ),
            Topology::Star(star) => (trace(&star.link, "topology.link")?, None),
            Topology::FatTree(tree) => (trace(&tree.link, "topology.link")?, None),
            Topology::Datacentres(_) => (None, None),
        };
        let tree = match &scenario.topology {
            Topology::Datacentres(datacentres) => Some(
                load_tree(datacentres, base, &mut fingerprint).map_err(|message| fault("topology.tree", message))?,
            ),
            _ => None,
        };
        let hosts = hosts_of(&scenario.topology, tree.as_ref());
        let mut matrices = Vec::new();
        for (index, workload) in scenario.workloads.iter().enumerate() {
            matrices.push(match &workload.pattern {
                Pattern::Matrix { source: MatrixSource::File(file), .. } => {
                    let text = read_text(file, base, "the connection matrix", &mut fingerprint);
                    let matrix =
                        text.and_then(|text| read_matrix(&text, hosts).map_err(|message| format!("{file}: {message}")));
                    Some(matrix.map_err(|message| fault(&format!("workload[{index}].file"), message))?)
                }
                Pattern::Matrix { source: MatrixSource::Text(text), .. } => Some(
                    read_matrix(text, hosts)
                        .map_err(|message| fault(&format!("workload[{index}].connections"), message))?,
                ),
                _ => None,
            });
        }
        let mut sizes = Vec::new();
        for (index, workload) in scenario.workloads.iter().enumerate() {
            let load = |named: &Sizes| {
                load_sizes(named, base, &mut fingerprint)
                    .map_err(|message| fault(&format!("workload[{index}]"), message))
            };
            sizes.push(workload.pattern.sizes().into_iter().map(load).collect::<Result<Vec<_>, _>>()?);
        }
        let fingerprint = fingerprint.finish();
        Ok(Self { scenario, balance, balancers, main_trace, reverse_trace, tree, sizes, matrices, fingerprint })
    }

    /// Round-trip propagation along the longest path, with what packets take through switches; a dumbbell's `extra_rtt`
    /// apart.
    pub fn rtt(&self) -> Span {
        match (&self.scenario.topology, &self.tree) {
            (Topology::Dumbbell(dumbbell), _) => dumbbell.rtt,
            (Topology::Star(star), _) => star.delay.saturating_mul(4),
            (Topology::FatTree(tree), _) => tree.delay.saturating_mul(12),
            (Topology::Datacentres(datacentres), Some(plan)) => {
                let between = datacentres.between_delay.iter().copied().max().filter(|_| datacentres.count > 1);
                plan.longest_rtt(between)
            }
            (Topology::Datacentres(_), None) => Span::ZERO,
        }
    }

    /// An algorithm that takes part, perhaps with a balancer of its own.
    ///
    /// # Errors
    ///
    /// As [`Entrant::resolve`].
    pub fn resolve(&self, spec: &str, algorithms: &Registry) -> Result<Entrant, EntrantError> {
        Entrant::resolve(spec, algorithms, &self.balancers)
    }

    /// Whether there are several datacentres, between which flows are a class of their own.
    pub(super) fn has_several_datacentres(&self) -> bool {
        matches!(&self.scenario.topology, Topology::Datacentres(datacentres) if datacentres.count > 1)
    }

    /// Hosts in all.
    pub fn hosts(&self) -> u32 {
        hosts_of(&self.scenario.topology, self.tree.as_ref())
    }

    /// A fingerprint of everything that shapes a run but algorithm and seed.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

fn hosts_of(topology: &Topology, tree: Option<&TreePlan>) -> u32 {
    match topology {
        Topology::Dumbbell(dumbbell) => dumbbell.pairs * 2,
        Topology::Star(star) => star.hosts,
        Topology::FatTree(tree) => tree.k * tree.k * tree.k / 4,
        Topology::Datacentres(datacentres) => {
            tree.map_or(0, |plan| datacentres.count.saturating_mul(plan.shape.hosts_in_all()))
        }
    }
}

fn load_tree(datacentres: &Datacentres, base: &Path, fingerprint: &mut Fingerprint) -> Result<TreePlan, String> {
    match (&datacentres.tree, &datacentres.link.service) {
        (Tree::FatTree { k, delay }, Service::Rate(rate)) => Ok(TreePlan::fat_tree(*k, *rate, *delay)),
        (Tree::FatTree { .. }, Service::Trace { .. }) => Err("links of datacentres have a constant rate".to_owned()),
        (Tree::File(file), _) => {
            let text = read_text(file, base, "the topology", fingerprint)?;
            let plan = TreePlan::parse(&text).map_err(|error| format!("{file}: {error}"))?;
            if datacentres.count > 1 && plan.shape.cores == 0 {
                return Err(format!(
                    "{file} has two tiers: several datacentres need cores to join their border switches to"
                ));
            }
            Ok(plan)
        }
    }
}

fn read_matrix(text: &str, hosts: u32) -> Result<Arc<Matrix>, String> {
    let matrix = Matrix::parse(text).and_then(|matrix| matrix.check_hosts(hosts).map(|()| matrix));
    let matrix = matrix.map_err(|error| error.to_string())?;
    match matrix.failures.first() {
        None => Ok(Arc::new(matrix)),
        Some(failure) => {
            let problem = "failures of links are no part of a matrix here: expected none, but tables `[[fault]]`";
            Err(format!("line {}: {problem}", failure.line))
        }
    }
}

fn read_text(file: &str, base: &Path, what: &str, fingerprint: &mut Fingerprint) -> Result<String, String> {
    let path = base.join(file);
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("cannot read {what} {}: {error}", path.display()))?;
    fingerprint.add(text.as_bytes());
    Ok(text)
}

fn load_trace(link: &Link, base: &Path, fingerprint: &mut Fingerprint) -> Result<Option<TraceSource>, String> {
    let Service::Trace { name, .. } = &link.service else {
        return Ok(None);
    };
    let source = TraceSource::open(name, base, &ReadOptions::default())?;
    if let TraceSource::Recorded(trace) = &source {
        fingerprint.add_trace(trace);
    }
    Ok(Some(source))
}

impl TraceSource {
    /// `sample:NAME`, `gen:NAME?key=value`, or a file relative to `base`.
    pub(crate) fn open(name: &str, base: &Path, options: &ReadOptions) -> Result<Self, String> {
        let trace = match (name.strip_prefix("gen:"), name.strip_prefix("sample:")) {
            (Some(generator), _) => return parse_generator(generator),
            (_, Some(sample)) => load_sample(sample)?,
            (None, None) => Trace::load(base.join(name), options).map_err(|error| error.to_string())?,
        };
        Ok(Self::Recorded(Arc::new(trace)))
    }

    /// The trace of a run with this seed.
    pub(crate) fn trace(&self, run_seed: u64) -> Result<Trace, String> {
        match self {
            Self::Recorded(trace) => Ok(Trace::clone(trace)),
            Self::Generated { generator, seed } => {
                generator.generate(seed.unwrap_or(run_seed)).map_err(|error| error.to_string())
            }
        }
    }
}

/// An embedded sample by name.
fn load_sample(name: &str) -> Result<Trace, String> {
    match traces::samples().iter().find(|sample| sample.name == name) {
        Some(sample) => sample.trace().map_err(|error| error.to_string()),
        None => Err(unknown("sample", name, traces::samples().iter().map(|sample| sample.name))),
    }
}

/// `NAME?key=value&...`, where `seed` fixes the seed and the rest are the generator's parameters.
fn parse_generator(text: &str) -> Result<TraceSource, String> {
    let (name, query) = text.split_once('?').unwrap_or((text, ""));
    let mut seed = None;
    let mut rest = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.strip_prefix("seed=") {
            Some(value) => seed = Some(value.parse().map_err(|_| format!("`{pair}`: expected a whole number"))?),
            None => rest.push(pair),
        }
    }
    let plain = if rest.is_empty() { name.to_owned() } else { format!("{name}?{}", rest.join("&")) };
    let generator: Generator = plain.parse().map_err(|error: traces::TraceError| error.to_string())?;
    // Parameters that make no trace should fail now, not in the middle of a sweep.
    generator.generate(seed.unwrap_or(0)).map_err(|error| error.to_string())?;
    Ok(TraceSource::Generated { generator, seed })
}

fn load_sizes(named: &Sizes, base: &Path, fingerprint: &mut Fingerprint) -> Result<Arc<SizeDistribution>, String> {
    Ok(Arc::new(match named {
        Sizes::Fixed(bytes) => SizeDistribution::fixed(*bytes),
        Sizes::Uniform(min, max) => SizeDistribution::uniform(*min, *max),
        Sizes::Published(published) => published.distribution(),
        Sizes::File(path) => {
            let path = base.join(path);
            let text = std::fs::read_to_string(&path)
                .map_err(|error| format!("cannot read the sizes {}: {error}", path.display()))?;
            fingerprint.add(text.as_bytes());
            SizeDistribution::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?
        }
    }))
}

/// What to say of an unknown name.
fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(near) => format!("unknown {what} `{name}`: did you mean `{near}`?"),
        None => format!("unknown {what} `{name}`: expected one of {}", known.collect::<Vec<_>>().join(", ")),
    }
}

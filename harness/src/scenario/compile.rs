//! From a scenario, an algorithm and a seed to an experiment.

use std::collections::BTreeMap;

use cc_algos::{Rate, Registry, Span};
use sim::link::impair::JitterSchedule;
use sim::spec::{self, Contestant, EndpointSpec, Experiment, Knowledge, LinkSpec, PathRto};
use transport::flow::code;
use transport::flow::{LossPolicy, ReceiverConfig, Rto, SenderConfig};

use super::compile_link::Wire;
use super::entrant::{Entrant, EntrantError};
use super::model::{BlockTimeout, Datacentres, Dumbbell, Link, LossDetection, Service, Side, Topology};
use super::resources::Prepared;
use super::value::Amount;
use crate::workload::{Assigned, Hosts, Only, PlanError, Player, Site, plan};

/// Who takes part in a run.
#[derive(Clone, Debug)]
pub struct Cast {
    /// The algorithm under test.
    pub subject: Entrant,
    /// The rival, where the scenario has one.
    pub rival: Option<Entrant>,
}

/// An experiment with the names that its numbers stand for.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What the simulator runs.
    pub experiment: Experiment,
    /// Names of the groups of flows.
    pub groups: BTreeMap<u16, String>,
    /// Groups that are background.
    pub unmeasured: Vec<u16>,
}

/// Why a scenario could not be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// An algorithm or its balancer is unknown, or does not suit the scenario.
    #[error("scenario `{scenario}`: {source}")]
    Algorithm {
        /// Which scenario.
        scenario: String,
        /// Why.
        source: Box<EntrantError>,
    },
    /// The scenario needs a rival.
    #[error("scenario `{scenario}` needs a rival")]
    NoRival {
        /// Which scenario.
        scenario: String,
    },
    /// The flows could not be planned.
    #[error("scenario `{scenario}`: {source}")]
    Plan {
        /// Which scenario.
        scenario: String,
        /// Why.
        source: PlanError,
    },
    /// A link makes no sense.
    #[error("scenario `{scenario}`: {reason}")]
    Link {
        /// Which scenario.
        scenario: String,
        /// Why, and what was expected.
        reason: String,
    },
    /// The simulator refuses what came of it.
    #[error("scenario `{scenario}`: {reason}")]
    Experiment {
        /// Which scenario.
        scenario: String,
        /// Why, and what was expected.
        reason: String,
    },
}

impl Prepared {
    /// The experiment for one cast and seed.
    ///
    /// # Errors
    ///
    /// If an algorithm is unknown or refuses the scenario's flows, or links or flows make no sense. What compiles, the
    /// simulator accepts.
    pub fn compile(&self, registry: &Registry, cast: &Cast, seed: u64) -> Result<Compiled, CompileError> {
        let contestants = self.contestants(registry, cast)?;
        let (topology, site) = self.topology(seed)?;
        let groups = Groups::of(self);
        let assigned = self.assign(&contestants, &groups, cast)?;
        let plan = plan(&assigned, &site)
            .map_err(|source| CompileError::Plan { scenario: self.scenario.name.clone(), source })?;
        let endpoints = self.endpoints()?;
        let experiment = Experiment {
            seed,
            duration: self.scenario.duration,
            topology,
            contestants: contestants.list,
            flows: plan.flows,
            faults: self.scenario.faults.clone(),
            triggers: plan.triggers,
            endpoints,
            sample_every: Some(self.sampling()),
            balance: self.balance.clone(),
            switching: self.scenario.topology.switching(),
            check_wire: false,
        };
        experiment.validate().map_err(|error| CompileError::Experiment {
            scenario: self.scenario.name.clone(),
            reason: error.to_string(),
        })?;
        Ok(Compiled { experiment, unmeasured: groups.unmeasured, groups: groups.names })
    }

    /// Two hundred samples a run, where the scenario does not say.
    fn sampling(&self) -> Span {
        let default = Span::from_nanos((self.scenario.duration.as_nanos() / 200).max(1));
        self.scenario.sample_every.unwrap_or(default)
    }

    fn contestants(&self, registry: &Registry, cast: &Cast) -> Result<Contestants, CompileError> {
        let fault = |source: EntrantError| CompileError::Algorithm {
            scenario: self.scenario.name.clone(),
            source: Box::new(source),
        };
        let knowledge = if self.scenario.oracle { Knowledge::Oracle } else { Knowledge::Estimated };
        let mut contestants = Contestants { list: Vec::new(), named: BTreeMap::new(), rival: None };
        let mut add = |label: String, entrant: &Entrant| {
            let contestant = Contestant::registered(registry, &entrant.args, self.scenario.endpoints.mtu)?;
            let mut contestant = contestant.labelled(label).knowing(knowledge);
            contestant.balance.clone_from(&entrant.balance);
            contestants.list.push(contestant);
            Ok(contestants.list.len() - 1)
        };
        add(cast.subject.to_string(), &cast.subject).map_err(fault)?;
        let rival = cast.rival.as_ref().map(|entrant| add(rival_label(entrant), entrant)).transpose().map_err(fault)?;
        let mut named = BTreeMap::new();
        for workload in &self.scenario.workloads {
            if let Player::Named(name) = &workload.player
                && !named.contains_key(name)
            {
                let entrant = self.resolve(name, registry).map_err(fault)?;
                named.insert(name.clone(), add(rival_label(&entrant), &entrant).map_err(fault)?);
            }
        }
        contestants.named = named;
        contestants.rival = rival;
        Ok(contestants)
    }

    fn assign<'a>(
        &'a self,
        contestants: &Contestants,
        groups: &Groups,
        cast: &Cast,
    ) -> Result<Vec<Assigned<'a>>, CompileError> {
        let resources = self.sizes.iter().zip(&self.matrices);
        let workloads = self.scenario.workloads.iter().zip(resources).zip(&groups.of_workload);
        workloads
            .map(|((workload, (sizes, matrix)), &(group, other_group))| {
                let contestant = match &workload.player {
                    Player::Subject => Some(0),
                    Player::Rival => contestants.rival,
                    Player::Named(name) => contestants.named.get(name).copied(),
                };
                let contestant = contestant.ok_or_else(|| {
                    debug_assert!(cast.rival.is_none(), "only a rival can be missing");
                    CompileError::NoRival { scenario: self.scenario.name.clone() }
                })?;
                Ok(Assigned {
                    pattern: &workload.pattern,
                    sizes: sizes.clone(),
                    matrix: matrix.clone(),
                    contestant,
                    group,
                    other_group,
                })
            })
            .collect()
    }

    fn topology(&self, seed: u64) -> Result<(spec::Topology, Site), CompileError> {
        let main = Wire::new(self, self.scenario.topology.main_link(), self.main_trace.as_ref(), seed, "bottleneck")?;
        let site = |hosts| Site {
            hosts,
            capacity: main.rate,
            duration: self.scenario.duration,
            seed,
            datacentre: match (&self.scenario.topology, &self.tree) {
                (Topology::Datacentres(some), Some(plan)) if some.count > 1 => Some(plan.shape.hosts_in_all()),
                _ => None,
            },
        };
        Ok(match &self.scenario.topology {
            Topology::Dumbbell(dumbbell) => (self.dumbbell(dumbbell, &main, seed)?, site(Hosts::Pairs(dumbbell.pairs))),
            Topology::Star(star) => {
                let up = main.host_spec(star.delay)?;
                let topology = spec::Topology::Star(spec::Star { hosts: star.hosts, up, down: main.spec(star.delay)? });
                (topology, site(Hosts::Any(star.hosts)))
            }
            Topology::FatTree(tree) => {
                let host_up = main.host_spec(tree.delay)?;
                let topology = spec::FatTree { k: tree.k, link: main.spec(tree.delay)?, host_up };
                (spec::Topology::FatTree(topology), site(Hosts::Any(self.hosts())))
            }
            Topology::Datacentres(datacentres) => {
                let topology = self.datacentres(datacentres, seed)?;
                let capacity = match topology.tree.links.edge_down.service {
                    sim::link::ServiceSpec::Fixed(rate) => rate,
                    _ => main.rate,
                };
                let site = Site { capacity, ..site(Hosts::Any(self.hosts())) };
                (spec::Topology::Datacentres(topology), site)
            }
        })
    }

    fn datacentres(&self, datacentres: &Datacentres, seed: u64) -> Result<spec::Datacentres, CompileError> {
        let fault =
            |reason: &str| CompileError::Link { scenario: self.scenario.name.clone(), reason: reason.to_owned() };
        let plan = self.tree.as_ref().ok_or_else(|| fault("the tree was not loaded"))?;
        // A tier's links have its rate, and its buffers where a file says them.
        let wire = |link: &Link, rate: Rate, queue: Option<u64>, delay: Span| {
            let mut link = link.clone();
            link.service = Service::Rate(rate);
            link.buffer = queue.map_or(link.buffer, |bytes| Some(Amount::Bytes(bytes)));
            Wire::new(self, &link, None, seed, "link")?.spec(delay)
        };
        let tier = |tier: usize| plan.tiers.get(tier).or(plan.tiers.last());
        let down = |index: usize| {
            let tier = tier(index).ok_or_else(|| fault("a tree without tiers"))?;
            wire(&datacentres.link, tier.rate, tier.queue_down, plan.down(index))
        };
        let up = |to: usize| {
            let (above, below) = (tier(to), tier(to - 1));
            let (above, below) = above.zip(below).ok_or_else(|| fault("a tree without tiers"))?;
            wire(&datacentres.link, above.rate, below.queue_up, plan.up(to))
        };
        let edge = tier(0).ok_or_else(|| fault("a tree without tiers"))?;
        let mut host = datacentres.link.clone();
        host.service = Service::Rate(edge.rate);
        if !datacentres.hosts_mark {
            (host.marking, host.phantom) = (None, None);
        }
        let host_up = Wire::new(self, &host, None, seed, "link")?.host_spec(plan.up(0))?;
        let links = spec::TreeLinks {
            host_up,
            edge_down: down(0)?,
            edge_up: up(1)?,
            aggregation_down: down(1)?,
            aggregation_up: up(2)?,
            core_down: down(2)?,
        };
        let border = datacentres.border.as_deref().unwrap_or(&datacentres.link);
        let border_rate = match border.service {
            Service::Rate(rate) if datacentres.border.is_some() => rate,
            _ => edge.rate,
        };
        let join = |delay| wire(border, border_rate, None, delay);
        Ok(spec::Datacentres {
            count: datacentres.count,
            tree: spec::Tree { shape: plan.shape, links },
            borders: datacentres.borders,
            core_border_links: datacentres.core_border_links,
            core_up: join(plan.border())?,
            border_down: join(plan.border())?,
            between: datacentres.between_delay.iter().map(|delay| join(*delay)).collect::<Result<_, _>>()?,
            between_links: datacentres.between_links,
        })
    }

    fn dumbbell(&self, dumbbell: &Dumbbell, main: &Wire<'_>, seed: u64) -> Result<spec::Topology, CompileError> {
        let forth = Span::from_nanos(dumbbell.rtt.as_nanos() / 2);
        let back = dumbbell.rtt - forth;
        let reverse = match &dumbbell.reverse {
            None => LinkSpec::fixed(dumbbell.access_rate, back),
            Some(link) => Wire::new(self, link, self.reverse_trace.as_ref(), seed, "reverse")?.spec(back)?,
        };
        let access = LinkSpec::fixed(dumbbell.access_rate, Span::ZERO);
        let delivery = |schedule: &JitterSchedule| {
            let mut link = access.clone();
            link.impairments.jitter_schedule = schedule.clone();
            link
        };
        Ok(spec::Topology::Dumbbell(spec::Dumbbell {
            pairs: dumbbell.pairs,
            delivery: dumbbell.pair_jitter.iter().map(delivery).collect(),
            access,
            extra_delay: dumbbell.extra_rtt.iter().map(|rtt| Span::from_nanos(rtt.as_nanos() / 2)).collect(),
            extra_side: match dumbbell.extra_rtt_side {
                Side::Left => spec::Side::Left,
                Side::Right => spec::Side::Right,
            },
            bottleneck: main.spec(forth)?,
            reverse,
        }))
    }

    fn endpoints(&self) -> Result<EndpointSpec, CompileError> {
        let endpoints = &self.scenario.endpoints;
        let mut sender = SenderConfig::default();
        sender.mtu = endpoints.mtu;
        sender.loss = match endpoints.loss {
            LossDetection::Rfc9002 => LossPolicy::RFC_9002,
            LossDetection::Rack => LossPolicy::RACK,
            LossDetection::PerPacketRto(rto) => LossPolicy::PerPacketRto { rto: Rto::Fixed(rto) },
            LossDetection::PerPacketRtoOfFullQueues => LossPolicy::PerPacketRto { rto: Rto::Fixed(Span::ZERO) },
        };
        let rto = match endpoints.loss {
            LossDetection::PerPacketRtoOfFullQueues => PathRto::FullQueues,
            _ => PathRto::Configured,
        };
        sender.pacing = endpoints.pacing;
        sender.ecn = endpoints.ecn;
        sender.granularity = endpoints.granularity;
        sender.max_ack_delay = endpoints.ack_delay;
        sender.initial_rtt = endpoints.initial_rtt.unwrap_or_else(|| self.handshake_rtt());
        sender.coding = self.coding(sender.initial_rtt)?;
        Ok(EndpointSpec {
            sender,
            receiver: ReceiverConfig::default(),
            ack_every: endpoints.ack_every,
            ack_delay: endpoints.ack_delay,
            rto,
            block_timeout: match self.scenario.coding.map(|coding| coding.timeout) {
                Some(BlockTimeout::FullQueues) => spec::BlockTimeout::FullQueues,
                _ => spec::BlockTimeout::Configured,
            },
        })
    }

    fn coding(&self, rtt: Span) -> Result<Option<code::Coding>, CompileError> {
        let Some(coding) = &self.scenario.coding else { return Ok(None) };
        let timeout = match coding.timeout {
            BlockTimeout::After(timeout) => timeout,
            BlockTimeout::InitialRtt | BlockTimeout::FullQueues => rtt,
        };
        let checked = code::Coding::new(coding.data, coding.parity, timeout);
        checked.map(Some).map_err(|error| CompileError::Experiment {
            scenario: self.scenario.name.clone(),
            reason: format!("coding: {error}"),
        })
    }

    /// What a handshake over empty queues would have measured on the longest path, within the granularity of timers.
    fn handshake_rtt(&self) -> Span {
        let extra = match &self.scenario.topology {
            Topology::Dumbbell(dumbbell) => dumbbell.extra_rtt.iter().copied().max().unwrap_or_default(),
            _ => Span::ZERO,
        };
        (self.rtt() + extra).max(self.scenario.endpoints.granularity)
    }
}

/// How a contestant is called that is not under test, even where it runs the same algorithm.
fn rival_label(entrant: &Entrant) -> String {
    format!("rival {entrant}")
}

struct Contestants {
    /// The subject comes first.
    list: Vec<Contestant>,
    rival: Option<usize>,
    named: BTreeMap<String, usize>,
}

/// Groups by number: one for each name, and one for the requests of each name that has any.
struct Groups {
    names: BTreeMap<u16, String>,
    of_workload: Vec<(u16, u16)>,
    unmeasured: Vec<u16>,
}

impl Groups {
    fn of(prepared: &Prepared) -> Self {
        let mut groups = Self { names: BTreeMap::new(), of_workload: Vec::new(), unmeasured: Vec::new() };
        for workload in &prepared.scenario.workloads {
            let group = groups.number(&workload.group, workload.measured);
            let request = match workload.pattern {
                crate::workload::Pattern::RequestResponse { .. } => {
                    groups.number(&format!("{} requests", workload.group), false)
                }
                crate::workload::Pattern::Matrix { only: Only::All, .. } if prepared.has_several_datacentres() => {
                    groups.number(&format!("{} between datacentres", workload.group), workload.measured)
                }
                _ => group,
            };
            groups.of_workload.push((group, request));
        }
        groups
    }

    fn number(&mut self, name: &str, measured: bool) -> u16 {
        if let Some((&number, _)) = self.names.iter().find(|(_, known)| *known == name) {
            return number;
        }
        // A scenario with more than 65 535 workloads would not be read in reasonable time.
        let number = u16::try_from(self.names.len()).unwrap_or(u16::MAX);
        self.names.insert(number, name.to_owned());
        if !measured {
            self.unmeasured.push(number);
        }
        number
    }
}

#[cfg(test)]
mod tests;

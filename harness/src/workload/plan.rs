//! From workloads to the list of flows of one run.

use std::sync::Arc;

use cc_algos::{Rate, Span, Timestamp};
use rand_core::Rng;
use sim::rng::{self, Random};
use sim::spec::{FlowSpec, Load, Start, TriggerSpec};
use sim::{FlowId, HostId};

use super::arrivals::Poisson;
use super::matrix::Matrix;
use super::pattern::{Arrivals, Only, Pattern, Volume};
use super::sizes::SizeDistribution;

/// Most flows of one run. Ours: a mistyped load should be an error, not an exhausted memory.
pub const MAX_FLOWS: usize = 4_000_000;

/// Where flows may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// Host `i` sends to host `pairs + i`.
    Pairs(u32),
    /// Any host sends to any other.
    Any(u32),
}

/// What a plan needs to know of the run.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Where flows may run.
    pub hosts: Hosts,
    /// Rate that a load is a share of: the bottleneck's, or one host's.
    pub capacity: Rate,
    /// Length of the run.
    pub duration: Span,
    /// Seed of the run.
    pub seed: u64,
    /// Hosts of a datacentre, where there are several.
    pub datacentre: Option<u32>,
}

impl Site {
    /// Whether two hosts stand in different datacentres.
    fn are_apart(&self, one: u32, other: u32) -> bool {
        self.datacentre.is_some_and(|hosts| one / hosts != other / hosts)
    }
}

/// A pattern with all that its flows need.
#[derive(Clone, Debug)]
pub struct Assigned<'a> {
    /// What it does.
    pub pattern: &'a Pattern,
    /// The distributions of [`Pattern::sizes`], in that order.
    pub sizes: Vec<Arc<SizeDistribution>>,
    /// The flows, where it has them one by one.
    pub matrix: Option<Arc<Matrix>>,
    /// Whose controller its flows have.
    pub contestant: usize,
    /// Class of its flows.
    pub group: u16,
    /// Class of its requests, where it has any; of a matrix' flows between datacentres.
    pub other_group: u16,
}

/// The flows of one run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Workload after workload.
    pub flows: Vec<FlowSpec>,
    /// What starts those that wait.
    pub triggers: Vec<TriggerSpec>,
}

/// Why no plan was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The workload starts more flows than a run can hold.
    #[error("more than {MAX_FLOWS} flows would start in one run: expected a lower load or rate, or larger flows")]
    TooManyFlows,
    /// A workload has some flows of a trigger and leaves others to another.
    #[error(
        "line {line} of the matrix: its trigger joins flows within and between datacentres, of which this workload has some: expected \
         `only = \"all\"`"
    )]
    SplitTrigger {
        /// Where the matrix names the first flow that the trigger starts.
        line: usize,
    },
}

/// The flows of one run, workload after workload.
///
/// # Errors
///
/// If there would be more than [`MAX_FLOWS`].
pub fn plan(workloads: &[Assigned<'_>], site: &Site) -> Result<Plan, PlanError> {
    let mut plan = Plan::default();
    for (index, assigned) in workloads.iter().enumerate() {
        let index = index as u64;
        Planner {
            assigned,
            site,
            plan: &mut plan,
            starts: rng::stream(site.seed, "workload-starts", index),
            sizes: rng::stream(site.seed, "workload-sizes", index),
            hosts: rng::stream(site.seed, "workload-hosts", index),
        }
        .run()?;
    }
    Ok(plan)
}

/// Plans one workload. Starts, sizes and hosts have a random stream each.
struct Planner<'a> {
    assigned: &'a Assigned<'a>,
    site: &'a Site,
    plan: &'a mut Plan,
    starts: Random,
    sizes: Random,
    hosts: Random,
}

impl Planner<'_> {
    fn run(mut self) -> Result<(), PlanError> {
        match *self.assigned.pattern {
            Pattern::Bulk { flows, ref volume, start, stagger, hold, jitter } => {
                for number in 0..flows {
                    let from = start + stagger.saturating_mul(u64::from(number)) + self.delay(jitter);
                    let load = self.volume(volume);
                    let stop = hold.map(|hold| Timestamp::ZERO + from + hold);
                    let ends = self.numbered_hosts(number);
                    self.push(ends, Start::At(Timestamp::ZERO + from), load, stop)?;
                }
                Ok(())
            }
            Pattern::Poisson { arrivals, start, stop, .. } => {
                for at in self.arrivals(arrivals, 0, start, stop) {
                    let ends = self.random_hosts();
                    let load = self.size(0);
                    self.push(ends, Start::At(at), load, None)?;
                }
                Ok(())
            }
            Pattern::RequestResponse { arrivals, think, start, stop, .. } => {
                for at in self.arrivals(arrivals, 1, start, stop) {
                    self.exchange(at, think)?;
                }
                Ok(())
            }
            Pattern::Incast { fan_in, epochs, period, start, jitter, .. } => {
                for epoch in 0..epochs {
                    let from = start + period.saturating_mul(u64::from(epoch));
                    for ends in self.incast_hosts(fan_in) {
                        let at = Timestamp::ZERO + from + self.delay(jitter);
                        let load = self.size(0);
                        self.push(ends, Start::At(at), load, None)?;
                    }
                }
                Ok(())
            }
            Pattern::Permutation { ref volume, start, jitter } => {
                for ends in self.permuted_hosts() {
                    let at = Timestamp::ZERO + start + self.delay(jitter);
                    let load = self.volume(volume);
                    self.push(ends, Start::At(at), load, None)?;
                }
                Ok(())
            }
            Pattern::Matrix { only, .. } => match self.assigned.matrix.clone() {
                Some(matrix) => self.matrix(&matrix, only),
                None => Ok(()),
            },
            Pattern::OnOff { flows, burst, period, start, jitter } => {
                for number in 0..flows {
                    let at = Timestamp::ZERO + start + self.delay(jitter);
                    let ends = self.numbered_hosts(number);
                    self.push(ends, Start::At(at), Load::OnOff { burst, period }, None)?;
                }
                Ok(())
            }
        }
    }

    /// The flows of a matrix, but for those that the workload leaves to others, and what starts them.
    fn matrix(&mut self, matrix: &Matrix, only: Only) -> Result<(), PlanError> {
        let mut ids = Vec::with_capacity(matrix.connections.len());
        for connection in &matrix.connections {
            let ends = (HostId(connection.source), HostId(connection.destination));
            let is_apart = self.site.are_apart(connection.source, connection.destination);
            let is_meant = match only {
                Only::All => true,
                Only::Intra => !is_apart,
                Only::Inter => is_apart,
            };
            if !is_meant {
                ids.push(None);
                continue;
            }
            let start = connection.start.map_or(Start::Triggered, |at| Start::At(Timestamp::ZERO + at));
            let id = self.push(ends, start, Load::Bytes(connection.size), None)?;
            if let Some(flow) = self.plan.flows.last_mut().filter(|_| is_apart) {
                flow.group = self.assigned.other_group;
            }
            ids.push(Some(id));
        }
        let id = |index: &usize| ids[*index];
        for trigger in &matrix.triggers {
            let mut known =
                trigger.causes.iter().map(|cause| &cause.0).chain(&trigger.starts).map(|index| id(index).is_some());
            let first = known.next();
            if first.is_some_and(|first| known.any(|other| other != first)) {
                let line = trigger.starts.first().map_or(0, |index| matrix.connections[*index].line);
                return Err(PlanError::SplitTrigger { line });
            }
        }
        self.plan.triggers.extend(matrix.triggers.iter().map(|trigger| TriggerSpec {
            causes: trigger.causes.iter().filter_map(|(index, end)| Some((id(index)?, *end))).collect(),
            kind: trigger.kind,
            flows: trigger.starts.iter().filter_map(id).collect(),
        }));
        Ok(())
    }

    /// A request from right to left, or from any host to another, and its response.
    fn exchange(&mut self, at: Timestamp, think: Span) -> Result<(), PlanError> {
        let (server, client) = self.random_hosts();
        let request = self.size(0);
        let flow = self.push((client, server), Start::At(at), request, None)?;
        if let Some(request) = self.plan.flows.last_mut() {
            request.group = self.assigned.other_group;
        }
        let response = self.size(1);
        self.push((server, client), Start::After { flow, delay: think }, response, None)?;
        Ok(())
    }

    fn push(
        &mut self,
        (source, destination): (HostId, HostId),
        start: Start,
        load: Load,
        stop: Option<Timestamp>,
    ) -> Result<FlowId, PlanError> {
        if self.plan.flows.len() >= MAX_FLOWS {
            return Err(PlanError::TooManyFlows);
        }
        let id = FlowId(u32::try_from(self.plan.flows.len()).map_err(|_| PlanError::TooManyFlows)?);
        let Assigned { contestant, group, .. } = *self.assigned;
        self.plan.flows.push(FlowSpec { source, destination, start, stop, load, contestant, group });
        Ok(id)
    }

    fn arrivals(&mut self, arrivals: Arrivals, sizes: usize, start: Span, stop: Option<Span>) -> Poisson {
        let per_second = match arrivals {
            Arrivals::PerSecond(rate) => rate,
            Arrivals::Load(load) => {
                let links = match self.site.hosts {
                    Hosts::Pairs(_) => 1.0,
                    Hosts::Any(hosts) => f64::from(hosts),
                };
                let mean_bits = self.assigned.sizes[sizes].mean() * 8.0;
                load * links * self.site.capacity.as_bps() as f64 / mean_bits
            }
        };
        let stop = stop.unwrap_or(self.site.duration).min(self.site.duration);
        Poisson::new(self.starts.clone(), per_second, start, stop)
    }

    fn delay(&mut self, jitter: Span) -> Span {
        if jitter.is_zero() { Span::ZERO } else { jitter.mul_f64(rng::unit(&mut self.starts)) }
    }

    fn volume(&mut self, volume: &Volume) -> Load {
        match volume {
            Volume::Unlimited => Load::Unlimited,
            Volume::Sized(_) => self.size(0),
        }
    }

    fn size(&mut self, which: usize) -> Load {
        Load::Bytes(self.assigned.sizes[which].sample(&mut self.sizes))
    }

    /// The pair or hosts of the flow of this number: in turn, each host sending to its successor.
    fn numbered_hosts(&self, number: u32) -> (HostId, HostId) {
        match self.site.hosts {
            Hosts::Pairs(pairs) => pair(number % pairs, pairs),
            Hosts::Any(hosts) => (HostId(number % hosts), HostId((number % hosts + 1) % hosts)),
        }
    }

    fn random_hosts(&mut self) -> (HostId, HostId) {
        match self.site.hosts {
            Hosts::Pairs(pairs) => pair(below(&mut self.hosts, pairs), pairs),
            Hosts::Any(hosts) => {
                let source = below(&mut self.hosts, hosts);
                // A step of 1 to hosts - 1 reaches each other host alike.
                let step = 1 + below(&mut self.hosts, hosts - 1);
                (HostId(source), HostId((source + step) % hosts))
            }
        }
    }

    /// Distinct senders to host 0, drawn anew; more senders than hosts go round again.
    fn incast_hosts(&mut self, fan_in: u32) -> Vec<(HostId, HostId)> {
        match self.site.hosts {
            Hosts::Pairs(pairs) => (0..fan_in).map(|number| pair(number % pairs, pairs)).collect(),
            Hosts::Any(hosts) => {
                let mut senders: Vec<u32> = (1..hosts).collect();
                shuffle(&mut senders, &mut self.hosts);
                senders.iter().cycle().take(fan_in as usize).map(|&sender| (HostId(sender), HostId(0))).collect()
            }
        }
    }

    /// One random cycle through all hosts: nobody sends to itself.
    fn permuted_hosts(&mut self) -> Vec<(HostId, HostId)> {
        match self.site.hosts {
            Hosts::Pairs(pairs) => (0..pairs).map(|number| pair(number, pairs)).collect(),
            Hosts::Any(hosts) => {
                let mut order: Vec<u32> = (0..hosts).collect();
                shuffle(&mut order, &mut self.hosts);
                let successors = order.iter().cycle().skip(1);
                order.iter().zip(successors).map(|(&from, &to)| (HostId(from), HostId(to))).collect()
            }
        }
    }
}

fn pair(number: u32, pairs: u32) -> (HostId, HostId) {
    (HostId(number), HostId(pairs + number))
}

/// A random number below `bound` (Lemire's multiplication; its bias is below 2⁻³²).
fn below(random: &mut Random, bound: u32) -> u32 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u32
}

/// Fisher and Yates.
fn shuffle(items: &mut [u32], random: &mut Random) {
    for last in (1..items.len()).rev() {
        let other = below(random, last as u32 + 1) as usize;
        items.swap(last, other);
    }
}

#[cfg(test)]
mod tests;

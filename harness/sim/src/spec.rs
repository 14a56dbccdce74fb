//! What is simulated: plain data, validated before a run.

mod fault;
mod topology;

use std::fmt;
use std::sync::Arc;

use cc_algos::receiver::{AckEvery, ReceiverPolicy};
use cc_algos::registry::{Args, RegistryError};
use cc_algos::{Controller, Need, Rate, Registry, Setup, Span, Timestamp};
pub use transport::flow::balance::Balancing;
use transport::flow::{LossPolicy, ReceiverConfig, SenderConfig};

use crate::error::SimError;
use crate::ids::{FlowId, HostId};
use crate::link::{ImpairmentSpec, ServiceSpec};
use crate::queue::{Capacity, CongestionPointSpec, DisciplineSpec, MarkAt, MarkingSpec, PhantomSpec, PolicerSpec};
use crate::topology::Wiring;

pub use fault::{FaultLinks, FaultSpec};
pub use topology::{Datacentres, Dumbbell, FatTree, Side, Star, Switching, Topology, Tree, TreeLinks, TreeShape};

/// One simulation run.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Seed of every random stream in the run.
    pub seed: u64,
    /// When the run ends, whatever is still going on. Flows that have not finished are censored.
    pub duration: Span,
    /// Hosts, switches and links.
    pub topology: Topology,
    /// The controllers that take part; flows refer to them by index.
    pub contestants: Vec<Contestant>,
    /// Who sends what to whom, and when.
    pub flows: Vec<FlowSpec>,
    /// Links that fail.
    pub faults: Vec<FaultSpec>,
    /// What starts flows that wait for others: [`Start::Triggered`].
    pub triggers: Vec<TriggerSpec>,
    /// Settings of the transport engine at both ends of every flow.
    pub endpoints: EndpointSpec,
    /// How often to sample time series; `None` keeps none. Changes no other result.
    pub sample_every: Option<Span>,
    /// Which routes packets take where there are several, but for contestants with a balancer of their own.
    pub balance: Balancing,
    /// How switches choose where several ports lead on.
    pub switching: Switching,
    /// Whether every header and frame sent is also encoded, parsed and compared. Costs time; changes no result.
    pub check_wire: bool,
}

/// Builds the controller of one flow.
pub type Build = dyn Fn(&Setup) -> Box<dyn Controller> + Send + Sync;

/// Builds the receiver's half of one flow around the acknowledgement rule of the experiment.
pub type BuildReceiver = dyn Fn(AckEvery) -> Box<dyn ReceiverPolicy> + Send + Sync;

/// A controller that takes part, as a way to build one per flow.
#[derive(Clone)]
#[non_exhaustive]
pub struct Contestant {
    /// Name in results.
    pub label: String,
    /// Builds the controller of one flow.
    pub build: Arc<Build>,
    /// Builds its receiver's half.
    pub build_receiver: Arc<BuildReceiver>,
    /// Signals that its flows ask the network for.
    pub needs: Vec<Need>,
    /// Whether the flow's true base RTT and bottleneck rate are handed to the controller, and the RTT to the balancer.
    pub knowledge: Knowledge,
    /// Which routes its packets take, if not those of the experiment.
    pub balance: Option<Balancing>,
}

impl Contestant {
    /// A contestant with an ordinary receiver that asks for no signals and estimates what it needs to know.
    pub fn new(
        label: impl Into<String>,
        build: impl Fn(&Setup) -> Box<dyn Controller> + Send + Sync + 'static,
    ) -> Self {
        Self {
            label: label.into(),
            build: Arc::new(build),
            build_receiver: Arc::new(|rule| Box::new(rule)),
            needs: Vec::new(),
            knowledge: Knowledge::Estimated,
            balance: None,
        }
    }

    /// An algorithm of a registry, with the receiver's half and the signals that belong to it.
    ///
    /// # Errors
    ///
    /// If the registry does not know it or it refuses these arguments; once it does not, building goes well for every flow.
    pub fn registered(registry: &Registry, args: &Args, mtu: u64) -> Result<Self, RegistryError> {
        // What an algorithm refuses, it should refuse now and not once flows begin.
        registry.build_args(args, &Setup::new(Timestamp::ZERO, mtu, 0))?;
        let needs = registry.find(args.algorithm())?.declaration().needs.clone();
        let registry = Arc::new(registry.clone());
        let parts = (Arc::clone(&registry), args.clone());
        let label = args.to_string();
        let build = move |setup: &Setup| match parts.0.build_args(&parts.1, setup) {
            Ok(controller) => controller,
            Err(error) => panic!("{error}"),
        };
        let args = args.clone();
        let build_receiver = move |rule: AckEvery| match registry.build_receiver(&args, rule) {
            Ok(policy) => policy,
            Err(error) => panic!("{error}"),
        };
        Ok(Self { build_receiver: Arc::new(build_receiver), needs, ..Self::new(label, build) })
    }

    /// With another label.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With the given knowledge of its path.
    #[must_use]
    pub const fn knowing(mut self, knowledge: Knowledge) -> Self {
        self.knowledge = knowledge;
        self
    }

    /// With a balancer of its own.
    #[must_use]
    pub fn balanced_by(mut self, balance: Balancing) -> Self {
        self.balance = Some(balance);
        self
    }

    /// Asking the network for a signal.
    #[must_use]
    pub fn needing(mut self, need: Need) -> Self {
        self.needs.push(need);
        self
    }

    /// Whether its flows ask for a signal.
    pub fn needs(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }
}

impl fmt::Debug for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contestant")
            .field("label", &self.label)
            .field("needs", &self.needs)
            .field("knowledge", &self.knowledge)
            .field("balance", &self.balance)
            .finish_non_exhaustive()
    }
}

/// What a controller is told of its path in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Knowledge {
    /// Nothing: it estimates, as it would outside.
    #[default]
    Estimated,
    /// The configured base RTT and bottleneck rate, as published simulators hand them to their senders.
    Oracle,
}

/// One flow.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Who sends.
    pub source: HostId,
    /// Who receives.
    pub destination: HostId,
    /// When it begins.
    pub start: Start,
    /// When its application stops producing, if before the end of the run.
    pub stop: Option<Timestamp>,
    /// How much it sends.
    pub load: Load,
    /// Index into [`Experiment::contestants`].
    pub contestant: usize,
    /// A class in the results (`rpc`, `bulk`, ...), by the caller's own numbering.
    pub group: u16,
}

/// When a flow begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At a time.
    At(Timestamp),
    /// Some time after another flow's last byte has arrived: a response, the next round of a closed loop.
    After {
        /// The flow waited for.
        flow: FlowId,
        /// Time between its last byte and the start.
        delay: Span,
    },
    /// When a trigger says so.
    Triggered,
}

/// Starts flows when others have come to an end, as the connection matrices of htsim have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerSpec {
    /// What sets it off, each at most once.
    pub causes: Vec<(FlowId, FlowEnd)>,
    /// What it does then.
    pub kind: TriggerKind,
    /// The flows that it starts, in this order. They have [`Start::Triggered`], and each stands in one trigger.
    pub flows: Vec<FlowId>,
}

/// An end of a flow that may set off a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEnd {
    /// The receiver has every byte.
    Received,
    /// The sender knows that.
    Completed,
}

/// When a trigger starts flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerKind {
    /// All of them, once it has been set off so many times: one, or a barrier.
    All {
        /// How many times; at least one.
        after: u32,
    },
    /// The next one, each time it is set off.
    Next,
}

/// How much a flow's application produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// So many bytes, all there at the start.
    Bytes(u64),
    /// More than the run can carry.
    Unlimited,
    /// Bursts: `burst` bytes appear every `period`.
    OnOff {
        /// Bytes of one burst.
        burst: u64,
        /// From the start of one burst to the start of the next.
        period: Span,
    },
}

/// One direction of a link with the queue in front of it.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// How fast it serves.
    pub service: ServiceSpec,
    /// Propagation delay.
    pub propagation: Span,
    /// The queue in front of it.
    pub discipline: DisciplineSpec,
    /// Marking by backlog, for drop-tail queues.
    pub marking: MarkingSpec,
    /// When a drop-tail queue asks its marking and its phantom queue. Others ask the latter when a packet leaves.
    pub mark_at: MarkAt,
    /// Phantom queue beside the queue.
    pub phantom: Option<PhantomSpec>,
    /// Policer before the queue.
    pub policer: Option<PolicerSpec>,
    /// Notices straight to the sources of packets that find congestion, where a switch feeds the link and a flow needs them.
    pub near_source: Option<CongestionPointSpec>,
    /// What happens to packets on the way.
    pub impairments: ImpairmentSpec,
}

impl LinkSpec {
    /// A link of constant rate with an unlimited drop-tail queue that loses nothing.
    pub fn fixed(rate: Rate, propagation: Span) -> Self {
        Self {
            service: ServiceSpec::Fixed(rate),
            propagation,
            discipline: DisciplineSpec::DropTail { capacity: Capacity::Unlimited },
            marking: MarkingSpec::None,
            mark_at: MarkAt::Enqueue,
            phantom: None,
            policer: None,
            near_source: None,
            impairments: ImpairmentSpec::default(),
        }
    }
}

/// Settings of the transport engine at both ends of a flow.
#[derive(Clone, Debug)]
pub struct EndpointSpec {
    /// The sender's engine; `mtu` is the whole IP packet.
    pub sender: SenderConfig,
    /// The receiver's engine.
    pub receiver: ReceiverConfig,
    /// Data packets per acknowledgement.
    pub ack_every: u32,
    /// Longest time an acknowledgement is held back.
    pub ack_delay: Span,
    /// How long the timers of packets run, where the sender has no other way to find losses.
    pub rto: PathRto,
    /// How long a receiver waits for a block of a coded flow.
    pub block_timeout: BlockTimeout,
}

/// How long a receiver waits for a block before it complains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BlockTimeout {
    /// As the sender's configuration says.
    #[default]
    Configured,
    /// The time that full queues of the switches on the flow's way take to drain: no packet of an undisturbed path comes later
    /// after another. If none has a bound, as configured. As UnoRC's artifact has it.
    FullQueues,
}

/// How long the timers of [`LossPolicy::PerPacketRto`] run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PathRto {
    /// As the sender's configuration says.
    #[default]
    Configured,
    /// The flow's base RTT and the time that full queues of the switches on its way take to drain: no packet of an undisturbed
    /// path is later. Queues without a bound count as empty. As htsim's senders of the Uno artifact have it.
    FullQueues,
}

/// Smallest packet that leaves room for headers and some payload.
const MIN_MTU: u64 = 256;
/// Largest IPv4 packet.
const MAX_MTU: u64 = 65_535;

impl Experiment {
    /// Checks that the experiment makes sense.
    ///
    /// # Errors
    ///
    /// Names the first thing that does not, and what was expected.
    pub fn validate(&self) -> Result<(), SimError> {
        let mtu = self.endpoints.sender.mtu;
        check(!self.duration.is_zero(), "duration", || "must be longer than zero".into())?;
        check((MIN_MTU..=MAX_MTU).contains(&mtu), "mtu", || {
            format!("{mtu} B is out of range: expected {MIN_MTU} B to {MAX_MTU} B")
        })?;
        let by_path = self.endpoints.rto == PathRto::FullQueues;
        let has_timers = matches!(self.endpoints.sender.loss, LossPolicy::PerPacketRto { .. });
        check(has_timers || !by_path, "rto", || {
            "full queues decide about timers of packets: expected that way to find losses".into()
        })?;
        check(self.sample_every.is_none_or(|every| !every.is_zero()), "sampling", || {
            "the interval must be longer than zero".into()
        })?;
        check(!self.flows.is_empty(), "flows", || "none starts within the run: expected at least one".into())?;
        let hosts = self.topology.validate()?;
        self.flows.iter().enumerate().try_for_each(|(index, flow)| self.validate_flow(index, flow, hosts))?;
        if !self.faults.is_empty() {
            Wiring::new(&self.topology).with_faults(self)?;
        }
        self.validate_triggers()
    }

    fn validate_triggers(&self) -> Result<(), SimError> {
        let mut triggered = vec![0_u32; self.flows.len()];
        for (index, trigger) in self.triggers.iter().enumerate() {
            let check = |holds: bool, problem: &dyn Fn() -> String| match holds {
                true => Ok(()),
                false => Err(SimError::Invalid { what: format!("trigger {index}"), problem: problem() }),
            };
            let known = trigger.causes.iter().map(|cause| &cause.0).chain(&trigger.flows);
            if let Some(flow) = known.into_iter().find(|flow| flow.0 as usize >= self.flows.len()) {
                check(false, &|| format!("flow {} does not exist: there are {}", flow.0, self.flows.len()))?;
            }
            check(trigger.kind != TriggerKind::All { after: 0 }, &|| {
                "starts after 0 times: expected at least 1".into()
            })?;
            let causes = &trigger.causes;
            let repeated = (1..causes.len()).find(|index| causes[..*index].contains(&causes[*index]));
            check(repeated.is_none(), &|| "the same end of a flow sets it off twice".into())?;
            if let TriggerKind::All { after } = trigger.kind {
                let enough = after as usize <= causes.len();
                check(enough, &|| {
                    format!("waits for {after} ends of {}: expected no more than there are", causes.len())
                })?;
            }
            trigger.flows.iter().for_each(|flow| triggered[flow.0 as usize] += 1);
        }
        for (index, (flow, times)) in self.flows.iter().zip(triggered).enumerate() {
            let waits = flow.start == Start::Triggered;
            check(times == u32::from(waits), &format!("flow {index}"), || {
                format!("stands in {times} triggers: expected {}", u32::from(waits))
            })?;
        }
        Ok(())
    }

    fn validate_flow(&self, index: usize, flow: &FlowSpec, hosts: u32) -> Result<(), SimError> {
        let what = || format!("flow {index}");
        let check = |holds: bool, problem: &dyn Fn() -> String| match holds {
            true => Ok(()),
            false => Err(SimError::Invalid { what: what(), problem: problem() }),
        };
        for host in [flow.source, flow.destination] {
            check(host.0 < hosts, &|| format!("host {} does not exist: there are {hosts}", host.0))?;
        }
        check(flow.source != flow.destination, &|| "source and destination are the same host".into())?;
        check(flow.contestant < self.contestants.len(), &|| {
            format!("contestant {} does not exist: there are {}", flow.contestant, self.contestants.len())
        })?;
        if let Start::After { flow: leader, .. } = flow.start {
            // Only earlier flows, so that no flows can wait for each other in a circle.
            check((leader.0 as usize) < index, &|| format!("waits for flow {}, which is not before it", leader.0))?;
        }
        match flow.load {
            Load::Bytes(bytes) => check((1..1 << 62).contains(&bytes), &|| format!("cannot send {bytes} bytes")),
            Load::Unlimited => Ok(()),
            Load::OnOff { burst, period } => {
                check(burst > 0 && burst < 1 << 40, &|| format!("bursts of {burst} bytes: expected 1 B to 1 TiB"))?;
                check(!period.is_zero(), &|| "the period of the bursts must be longer than zero".into())
            }
        }
    }
}

impl LinkSpec {
    pub(crate) fn validate(&self) -> Result<(), SimError> {
        let invalid = |part: &str, problem: String| SimError::Invalid { what: format!("link {part}"), problem };
        self.discipline.validate().map_err(|error| invalid("queue", error.to_string()))?;
        self.marking.validate().map_err(|error| invalid("marking", error.to_string()))?;
        self.impairments.validate().map_err(|error| invalid("impairments", error.to_string()))?;
        self.phantom
            .map_or(Ok(()), |phantom| phantom.validate())
            .map_err(|error| invalid("phantom queue", error.to_string()))?;
        self.near_source
            .map_or(Ok(()), |point| point.validate())
            .map_err(|error| invalid("near-source notices", error.to_string()))?;
        self.policer
            .as_ref()
            .map_or(Ok(()), |policer| policer.validate())
            .map_err(|error| invalid("policer", error.to_string()))
    }
}

pub(crate) fn check(holds: bool, what: &str, problem: impl FnOnce() -> String) -> Result<(), SimError> {
    if holds { Ok(()) } else { Err(SimError::Invalid { what: what.to_owned(), problem: problem() }) }
}

//! What is known of paths before anything is sent.

use cc_algos::controller::HostView;
use cc_algos::{Rate, Span};
use transport::flow::{LossPolicy, Rto, SenderConfig};

use crate::framing;
use crate::ids::HostId;
use crate::outcome::FlowOutcome;
use crate::spec::{BlockTimeout, Experiment, FlowSpec, PathRto, Topology};
use crate::time::SimTime;
use crate::topology::Wiring;

/// A path over empty queues.
struct Path {
    /// From the first bit of a full packet to the last of its acknowledgement.
    base_rtt: Span,
    /// The part of it that is the full packet's serialisation.
    serialisation: Span,
    bottleneck: Rate,
    /// Time that full queues of the switches on the way there take to drain.
    drain: Span,
}

impl Path {
    fn between(wiring: &Wiring<'_>, source: HostId, destination: HostId, experiment: &Experiment) -> Self {
        let mtu = experiment.endpoints.sender.mtu as u32;
        let crossing = |path: &[usize], bytes| {
            path.iter().fold(0_u64, |sum, port| sum.saturating_add(wiring.ports[*port].crossing(bytes)))
        };
        let (forward, backward) = (wiring.path(source, destination), wiring.path(destination, source));
        let full = crossing(&forward, mtu);
        let picos = full.saturating_add(crossing(&backward, framing::smallest_ack()));
        let bottleneck = forward.iter().map(|port| wiring.ports[*port].mean_rate(experiment.duration)).min();
        let span = |picos| SimTime::from_picos(picos).since(SimTime::ZERO);
        let drain = |port: &usize| {
            let plan = &wiring.ports[*port];
            let held = plan.link.discipline.capacity().bytes(u64::from(mtu))?;
            plan.mean_rate(experiment.duration).time_for(held)
        };
        let drain = forward.iter().skip(1).filter_map(drain).fold(Span::ZERO, |sum, time| sum + time);
        Self {
            drain,
            base_rtt: span(picos),
            serialisation: span(full - crossing(&forward, 0)),
            bottleneck: bottleneck.unwrap_or_default(),
        }
    }
}

/// The sender's settings for a flow.
pub(super) fn sender_config(wiring: &Wiring<'_>, flow: &FlowSpec, experiment: &Experiment) -> SenderConfig {
    let mut config = experiment.endpoints.sender.clone();
    if experiment.endpoints.rto == PathRto::FullQueues {
        let path = Path::between(wiring, flow.source, flow.destination, experiment);
        config.loss = LossPolicy::PerPacketRto { rto: Rto::Fixed(path.base_rtt + path.drain) };
    }
    if let Some(coding) = &mut config.coding
        && experiment.endpoints.block_timeout == BlockTimeout::FullQueues
    {
        let path = Path::between(wiring, flow.source, flow.destination, experiment);
        *coding = coding.with_timeout(path.drain).unwrap_or(*coding);
    }
    config
}

/// The outcome of a flow that has not begun: what is known of its path.
pub(super) fn outcome(wiring: &Wiring<'_>, flow: &FlowSpec, experiment: &Experiment) -> FlowOutcome {
    let Path { base_rtt, serialisation, bottleneck, .. } =
        Path::between(wiring, flow.source, flow.destination, experiment);
    FlowOutcome { base_rtt, serialisation, bottleneck, ..FlowOutcome::default() }
}

/// What hosts know of their neighbourhood: in a datacentre the path to the host farthest away, which is the same for all. Hosts
/// of other topologies know nothing of the kind.
pub(super) fn host_view(wiring: &Wiring<'_>, experiment: &Experiment) -> HostView {
    let hosts = match &experiment.topology {
        Topology::FatTree(tree) => tree.hosts(),
        Topology::Datacentres(datacentres) => datacentres.tree.shape.hosts_in_all(),
        Topology::Dumbbell(_) | Topology::Star(_) => 0,
    };
    let mut view = HostView::default();
    if hosts > 1 {
        let path = Path::between(wiring, HostId(0), HostId(hosts - 1), experiment);
        view.nearby_rtt = Some(path.base_rtt);
        view.nearby_bdp_bytes = Some(path.bottleneck.bytes_in(path.base_rtt));
    }
    view
}

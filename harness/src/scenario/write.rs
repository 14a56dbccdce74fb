//! From a [`Scenario`] to TOML: every key that has a value, in the order of the documentation.

use std::fmt::{Display, Write as _};

use sim::spec::{FaultLinks, FaultSpec, Switching};

use transport::flow::code::Parity;

use super::jitter;
use super::model::{
    BlockTimeout, Change, ChangeTo, CoDel, Coding, Datacentres, Dumbbell, Endpoints, Link, Loss, LossDetection, MarkAt,
    Marking, NearSource, Phantom, Queue, Rivals, Scenario, Service, Topology, TraceOffset, Tree, Trimming,
};
use super::parse::{ECN_MODES, PACING, SIDES, switches_name};
use super::parse_link::{FEEDS, MARK_AT, ROLES, VICTIMS};
use super::parse_workload::ONLY;
use super::value::format_bytes;
use crate::workload::{Arrivals, MatrixSource, Pattern, Player, Volume, Workload};

impl Scenario {
    /// The scenario as TOML; [`Scenario::parse`] reads it back to the same value.
    pub fn to_toml(&self) -> String {
        let mut out = Writer::default();
        write_top(&mut out, self);
        write_topology(&mut out, &self.topology);
        write_endpoints(&mut out, &self.endpoints);
        self.faults.iter().for_each(|fault| write_fault(&mut out, fault));
        for workload in &self.workloads {
            out.header("[workload]");
            write_workload(&mut out, workload);
        }
        out.text
    }
}

#[derive(Default)]
struct Writer {
    text: String,
}

impl Writer {
    fn header(&mut self, name: &str) {
        let _ = write!(self.text, "\n[{name}]\n");
    }

    /// A bare value: a number, a switch, an inline table.
    fn bare(&mut self, key: &str, value: impl Display) {
        let _ = writeln!(self.text, "{key} = {value}");
    }

    /// A value in quotes.
    fn quoted(&mut self, key: &str, value: impl Display) {
        self.bare(key, quote(value));
    }

    fn real(&mut self, key: &str, value: f64) {
        self.bare(key, real(value));
    }
}

fn quote(value: impl Display) -> String {
    toml::Value::String(value.to_string()).to_string()
}

/// A number that TOML reads as a float.
fn real(value: f64) -> String {
    toml::Value::Float(value).to_string()
}

fn list<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", "))
}

fn write_top(out: &mut Writer, scenario: &Scenario) {
    out.quoted("name", &scenario.name);
    out.quoted("description", &scenario.description);
    out.quoted("duration", scenario.duration);
    out.bare("seeds", scenario.seeds);
    out.bare("algorithms", list(&scenario.algorithms, |name| quote(name)));
    if let Some(baseline) = &scenario.baseline {
        out.quoted("baseline", baseline);
    }
    match &scenario.rivals {
        Rivals::None => {}
        Rivals::Each => out.quoted("rivals", "each"),
        Rivals::Named(names) => out.bare("rivals", list(names, |name| quote(name))),
    }
    if let Some(every) = scenario.sample_every {
        out.quoted("sample_every", every);
    }
    out.quoted("balance", &scenario.balance);
    if let Some(how) = &scenario.coding {
        out.bare("coding", coding(how));
    }
    out.bare("oracle", scenario.oracle);
}

fn coding(coding: &Coding) -> String {
    let parity = match coding.parity {
        Parity::Fixed(count) => count.to_string(),
        Parity::Adaptive { min, max } => format!("{{ min = {min}, max = {max} }}"),
    };
    let timeout = match coding.timeout {
        BlockTimeout::InitialRtt => String::new(),
        BlockTimeout::After(timeout) => format!(", timeout = {}", quote(timeout)),
        BlockTimeout::FullQueues => format!(", timeout = {}", quote("full-queues")),
    };
    format!("{{ data = {}, parity = {parity}{timeout} }}", coding.data)
}

fn write_topology(out: &mut Writer, topology: &Topology) {
    out.header("topology");
    out.quoted("kind", topology.kind());
    match topology {
        Topology::Dumbbell(dumbbell) => write_dumbbell(out, dumbbell),
        Topology::Star(star) => {
            out.bare("hosts", star.hosts);
            out.quoted("delay", star.delay);
            write_link(out, "topology.link", &star.link);
        }
        Topology::FatTree(tree) => {
            out.bare("k", tree.k);
            out.quoted("delay", tree.delay);
            write_switches(out, tree.switches);
            write_link(out, "topology.link", &tree.link);
        }
        Topology::Datacentres(datacentres) => write_datacentres(out, datacentres),
    }
}

fn write_switches(out: &mut Writer, switches: Switching) {
    out.quoted("switches", switches_name(switches));
    if let Switching::Flowlet { gap } = switches {
        out.quoted("flowlet_gap", gap);
    }
}

fn write_datacentres(out: &mut Writer, datacentres: &Datacentres) {
    out.bare("count", datacentres.count);
    match &datacentres.tree {
        Tree::FatTree { k, delay } => {
            out.bare("k", k);
            out.quoted("delay", delay);
        }
        Tree::File(file) => out.quoted("tree", file),
    }
    out.bare("borders", datacentres.borders);
    out.bare("core_border_links", datacentres.core_border_links);
    out.bare("between_links", datacentres.between_links);
    out.bare("between_delay", list(&datacentres.between_delay, |delay| quote(delay)));
    out.bare("hosts_mark", datacentres.hosts_mark);
    write_switches(out, datacentres.switches);
    write_link(out, "topology.link", &datacentres.link);
    if let Some(border) = &datacentres.border {
        write_link(out, "topology.border", border);
    }
}

fn write_dumbbell(out: &mut Writer, dumbbell: &Dumbbell) {
    out.bare("pairs", dumbbell.pairs);
    out.quoted("rtt", dumbbell.rtt);
    if !dumbbell.extra_rtt.is_empty() {
        out.bare("extra_rtt", list(&dumbbell.extra_rtt, |rtt| quote(rtt)));
    }
    if let Some((name, _)) = SIDES.iter().find(|(_, side)| *side == dumbbell.extra_rtt_side) {
        out.quoted("extra_rtt_side", name);
    }
    if !dumbbell.pair_jitter.is_empty() {
        out.bare("pair_jitter", list(&dumbbell.pair_jitter, |schedule| jitter::to_toml(schedule, quote)));
    }
    out.quoted("access_rate", dumbbell.access_rate);
    write_link(out, "topology.bottleneck", &dumbbell.bottleneck);
    if let Some(reverse) = &dumbbell.reverse {
        write_link(out, "topology.reverse", reverse);
    }
}

fn write_link(out: &mut Writer, header: &str, link: &Link) {
    out.header(header);
    match &link.service {
        Service::Rate(rate) => out.quoted("rate", rate),
        Service::Trace { name, offset } => {
            out.quoted("trace", name);
            match offset {
                TraceOffset::Random => out.quoted("trace_offset", "random"),
                TraceOffset::At(at) => out.quoted("trace_offset", at),
            }
        }
    }
    match link.buffer {
        None => out.quoted("buffer", "unlimited"),
        Some(amount) => out.quoted("buffer", amount),
    }
    write_queue(out, &link.queue);
    if let Some(at) = link.marking {
        out.bare("marking", marking(at));
    }
    if link.mark_at != MarkAt::Enqueue
        && let Some((name, _)) = MARK_AT.iter().find(|(_, mark_at)| *mark_at == link.mark_at)
    {
        out.quoted("mark_at", name);
    }
    if let Some(queue) = &link.phantom {
        out.bare("phantom", phantom(queue));
    }
    if let Some(policer) = link.policer {
        let (rate, burst) = (quote(policer.rate), quote(format_bytes(policer.burst)));
        out.bare("policer", format!("{{ rate = {rate}, burst = {burst} }}"));
    }
    if let Some(NearSource { set_point, every, weight }) = link.near_source {
        let (set_point, every) = (quote(set_point), quote(format_bytes(every)));
        out.bare("near_source", format!("{{ set_point = {set_point}, every = {every}, weight = {weight} }}"));
    }
    write_impairments(out, link);
    if !link.changes.is_empty() {
        out.bare("changes", list(&link.changes, change));
    }
}

fn marking(marking: Marking) -> String {
    match marking {
        Marking::Step(at) => quote(at),
        Marking::Ramp { min, max, probability } => {
            format!("{{ min = {}, max = {}, probability = {} }}", quote(min), quote(max), real(probability))
        }
    }
}

fn phantom(phantom: &Phantom) -> String {
    let (drain, size) = (real(phantom.drain), quote(phantom.size));
    let mut keys = vec![format!("drain = {drain}, size = {size}, marking = {}", marking(phantom.marking))];
    let feed = FEEDS.iter().find(|(_, feed)| *feed == phantom.feed);
    keys.extend(feed.map(|(name, _)| format!("feed = {}", quote(name))));
    let role = ROLES.iter().find(|(_, role)| *role == phantom.role);
    keys.extend(role.map(|(name, _)| format!("role = {}", quote(name))));
    format!("{{ {} }}", keys.join(", "))
}

fn write_queue(out: &mut Writer, queue: &Queue) {
    let codel = |kind: &str, CoDel { target, interval, ecn }: &CoDel| {
        format!("{{ kind = {}, target = {}, interval = {}, ecn = {ecn} }}", quote(kind), quote(target), quote(interval))
    };
    match queue {
        Queue::DropTail => out.quoted("queue", "droptail"),
        Queue::CoDel(params) => out.bare("queue", codel("codel", params)),
        Queue::FqCoDel(params) => out.bare("queue", codel("fq-codel", params)),
        Queue::Pie(pie) => {
            let (target, update) = (quote(pie.target), quote(pie.update));
            out.bare("queue", format!("{{ kind = \"pie\", target = {target}, update = {update}, ecn = {} }}", pie.ecn));
        }
        Queue::DualPi2(dual) => {
            let (target, from, range) = (quote(dual.target), quote(dual.mark_from), quote(dual.mark_range));
            let marking = format!("mark_from = {from}, mark_range = {range}");
            out.bare("queue", format!("{{ kind = \"dualpi2\", target = {target}, {marking} }}"));
        }
        Queue::Trimming(trimming) => out.bare("queue", write_trimming(trimming)),
    }
}

fn write_trimming(trimming: &Trimming) -> String {
    let mut keys = vec!["kind = \"trimming\"".to_owned()];
    keys.extend(trimming.control_buffer.map(|amount| format!("control_buffer = {}", quote(amount))));
    let count = trimming.control_per_data.map_or_else(|| quote("strict"), |count| count.to_string());
    keys.push(format!("control_per_data = {count}"));
    let victim = VICTIMS.iter().find(|(_, victim)| *victim == trimming.victim);
    keys.extend(victim.map(|(name, _)| format!("victim = {}", quote(name))));
    let mark_at = MARK_AT.iter().find(|(_, mark_at)| *mark_at == trimming.mark_at);
    keys.extend(mark_at.map(|(name, _)| format!("mark_at = {}", quote(name))));
    format!("{{ {} }}", keys.join(", "))
}

fn write_impairments(out: &mut Writer, link: &Link) {
    let impairments = &link.impairments;
    match &impairments.loss {
        Loss::None => {}
        Loss::Bernoulli(probability) => {
            out.bare("loss", format!("{{ kind = \"bernoulli\", probability = {} }}", real(*probability)));
        }
        Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => out.bare(
            "loss",
            format!(
                "{{ kind = \"gilbert-elliott\", to_bad = {}, to_good = {}, loss_good = {}, loss_bad = {} }}",
                real(*to_bad),
                real(*to_good),
                real(*loss_good),
                real(*loss_bad),
            ),
        ),
        Loss::Periodic(every) => out.bare("loss", format!("{{ kind = \"periodic\", every = {every} }}")),
        Loss::Scripted(packets) => {
            let packets = list(packets, u64::to_string);
            out.bare("loss", format!("{{ kind = \"scripted\", packets = {packets} }}"));
        }
        Loss::Blocks { length, probabilities } => {
            let probabilities = list(probabilities, |value| real(*value));
            out.bare("loss", format!("{{ kind = \"blocks\", length = {length}, probabilities = {probabilities} }}"));
        }
    }
    if !impairments.jitter.is_zero() {
        out.quoted("jitter", impairments.jitter);
    }
    if !impairments.jitter_schedule.is_empty() {
        out.bare("jitter_schedule", jitter::to_toml(&impairments.jitter_schedule, quote));
    }
    if let Some(reorder) = impairments.reorder {
        let (probability, delay) = (real(reorder.probability), quote(reorder.delay));
        out.bare("reorder", format!("{{ probability = {probability}, delay = {delay} }}"));
    }
    for (key, probability) in [("duplicate", impairments.duplicate), ("corrupt", impairments.corrupt)] {
        if probability > 0.0 {
            out.real(key, probability);
        }
    }
    if let Some(every) = impairments.ack_thinning {
        out.bare("ack_thinning", every);
    }
}

fn change(change: &Change) -> String {
    let at = quote(change.at);
    match change.to {
        ChangeTo::Rate(rate) => format!("{{ at = {at}, rate = {} }}", quote(rate)),
        ChangeTo::Down => format!("{{ at = {at}, link = \"down\" }}"),
        ChangeTo::Up => format!("{{ at = {at}, link = \"up\" }}"),
    }
}

fn write_endpoints(out: &mut Writer, endpoints: &Endpoints) {
    out.header("endpoints");
    out.quoted("mtu", format_bytes(endpoints.mtu));
    out.bare("ack_every", endpoints.ack_every);
    out.quoted("ack_delay", endpoints.ack_delay);
    match endpoints.loss {
        LossDetection::Rfc9002 => out.quoted("loss_detection", "rfc9002"),
        LossDetection::Rack => out.quoted("loss_detection", "rack"),
        LossDetection::PerPacketRto(rto) => {
            out.quoted("loss_detection", "per-packet-rto");
            out.quoted("rto", rto);
        }
        LossDetection::PerPacketRtoOfFullQueues => {
            out.quoted("loss_detection", "per-packet-rto");
            out.quoted("rto", "full-queues");
        }
    }
    if let Some((name, _)) = PACING.iter().find(|(_, pacing)| *pacing == endpoints.pacing) {
        out.quoted("pacing", name);
    }
    if let Some((name, _)) = ECN_MODES.iter().find(|(_, mode)| *mode == endpoints.ecn) {
        out.quoted("ecn", name);
    }
    out.quoted("granularity", endpoints.granularity);
    if let Some(rtt) = endpoints.initial_rtt {
        out.quoted("initial_rtt", rtt);
    }
}

fn write_fault(out: &mut Writer, fault: &FaultSpec) {
    out.header("[fault]");
    out.quoted("links", &fault.group);
    match &fault.links {
        FaultLinks::All => {}
        FaultLinks::These(links) => out.bare("which", list(links, u32::to_string)),
        FaultLinks::Random(links) => out.bare("random", links),
    }
    out.quoted("from", fault.from);
    if let Some(until) = fault.until {
        out.quoted("until", until);
    }
}

fn write_workload(out: &mut Writer, workload: &Workload) {
    out.quoted("kind", workload.pattern.kind());
    out.quoted("group", &workload.group);
    match &workload.player {
        Player::Subject => {}
        Player::Rival => out.quoted("algorithm", "rival"),
        Player::Named(name) => out.quoted("algorithm", name),
    }
    out.bare("measured", workload.measured);
    match &workload.pattern {
        Pattern::Bulk { flows, volume, start, stagger, hold, jitter } => {
            out.bare("flows", flows);
            write_volume(out, volume);
            out.quoted("start", start);
            out.quoted("stagger", stagger);
            if let Some(hold) = hold {
                out.quoted("hold", hold);
            }
            out.quoted("jitter", jitter);
        }
        Pattern::Poisson { sizes, arrivals, start, stop } => {
            out.quoted("sizes", sizes);
            write_arrivals(out, *arrivals);
            out.quoted("start", start);
            if let Some(stop) = stop {
                out.quoted("stop", stop);
            }
        }
        Pattern::RequestResponse { request, response, arrivals, think, start, stop } => {
            out.quoted("request", request);
            out.quoted("response", response);
            write_arrivals(out, *arrivals);
            out.quoted("think", think);
            out.quoted("start", start);
            if let Some(stop) = stop {
                out.quoted("stop", stop);
            }
        }
        Pattern::Incast { fan_in, sizes, epochs, period, start, jitter } => {
            out.bare("fan_in", fan_in);
            out.quoted("sizes", sizes);
            out.bare("epochs", epochs);
            out.quoted("period", period);
            out.quoted("start", start);
            out.quoted("jitter", jitter);
        }
        Pattern::Permutation { volume, start, jitter } => {
            write_volume(out, volume);
            out.quoted("start", start);
            out.quoted("jitter", jitter);
        }
        Pattern::Matrix { source, only } => {
            match source {
                MatrixSource::File(file) => out.quoted("file", file),
                MatrixSource::Text(text) => out.quoted("connections", text),
            }
            if let Some((name, _)) = ONLY.iter().find(|(_, which)| which == only) {
                out.quoted("only", name);
            }
        }
        Pattern::OnOff { flows, burst, period, start, jitter } => {
            out.bare("flows", flows);
            out.quoted("burst", format_bytes(*burst));
            out.quoted("period", period);
            out.quoted("start", start);
            out.quoted("jitter", jitter);
        }
    }
}

fn write_volume(out: &mut Writer, volume: &Volume) {
    match volume {
        Volume::Unlimited => out.quoted("sizes", "unlimited"),
        Volume::Sized(sizes) => out.quoted("sizes", sizes),
    }
}

fn write_arrivals(out: &mut Writer, arrivals: Arrivals) {
    match arrivals {
        Arrivals::Load(load) => out.real("load", load),
        Arrivals::PerSecond(rate) => out.real("per_second", rate),
    }
}

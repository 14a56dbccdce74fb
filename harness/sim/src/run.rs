//! The run itself: events in order, packets from node to node.

mod ahead;
mod near_source;
mod path;
mod switching;
mod triggers;

use cc_algos::controller::HostView;
use cc_algos::{Need, Oracle, PathId, Setup, Span};
use transport::flow::{Workspace, balance};
use transport::wire::BlockAck;

use self::ahead::Upcoming;
use self::near_source::Watch;
use self::switching::Flowlets;
use self::triggers::Triggers;
use crate::endpoint::{Desk, Poll, ReceivingEnd, Route, SendingEnd};
use crate::error::{SimError, SpecError};
use crate::event::{Action, EventQueue};
use crate::framing;
use crate::ids::FlowId;
use crate::measure::Measures;
use crate::outcome::{CodingOutcome, FlowOutcome, Outcome, Work};
use crate::packet::{Arena, Body, Packet, ShardContent};
use crate::port::{Port, Scene};
use crate::rng;
use crate::source::Chunk;
use crate::spec::{Experiment, FlowEnd, Knowledge, Start};
use crate::time::SimTime;
use crate::topology::{Node, Wiring};

/// Runs an experiment to its end.
///
/// # Errors
///
/// If the experiment is invalid; the other errors of [`SimError`] are defects of this program.
pub fn run(experiment: &Experiment) -> Result<Outcome, SimError> {
    experiment.validate()?;
    let mut simulation = Simulation::new(experiment)?;
    simulation.run()?;
    Ok(simulation.finish())
}

/// How far a flow has come.
enum Stage {
    Waiting,
    Active(Box<(SendingEnd, ReceivingEnd)>),
    Done,
}

struct Simulation<'a> {
    experiment: &'a Experiment,
    wiring: Wiring<'a>,
    now: SimTime,
    events: EventQueue,
    arena: Arena,
    ports: Vec<Port>,
    /// Congestion points by port; empty if there is none.
    watches: Vec<Option<Box<Watch>>>,
    /// Where each port leads.
    ends: Vec<Node>,
    flows: Vec<Stage>,
    /// Flows that begin when another has arrived, by that other.
    followers: Vec<Vec<(u32, Span)>>,
    flowlets: Flowlets,
    triggers: Triggers,
    /// Flows that have not finished and some day may.
    open_flows: usize,
    outcomes: Vec<FlowOutcome>,
    /// What every host knows of its neighbourhood.
    host_view: HostView,
    work: Workspace<Chunk>,
    measures: Measures,
    done: Work,
    /// Scratch of [`Simulation::read_ahead`].
    upcoming: Vec<Upcoming>,
}

impl<'a> Simulation<'a> {
    fn new(experiment: &'a Experiment) -> Result<Self, SimError> {
        let asked = experiment.contestants.iter().any(|contestant| contestant.needs(Need::Int));
        let wiring = Wiring::new(&experiment.topology).with_faults(experiment)?;
        let wiring = if asked { wiring.stamping() } else { wiring };
        let invalid = |error: SpecError| SimError::Invalid { what: "link".into(), problem: error.to_string() };
        let ports = wiring.ports.iter().zip(0..).map(|(plan, id)| Port::new(id, plan, experiment.seed));
        let ports = ports.collect::<Result<_, _>>().map_err(&invalid)?;
        let mut simulation = Self {
            experiment,
            now: SimTime::ZERO,
            events: EventQueue::new(rng::derive(experiment.seed, "ties", 0)),
            arena: Arena::default(),
            watches: near_source::watches(experiment, &wiring).map_err(invalid)?,
            ports,
            ends: wiring.ports.iter().map(|plan| plan.to).collect(),
            flows: experiment.flows.iter().map(|_| Stage::Waiting).collect(),
            followers: vec![Vec::new(); experiment.flows.len()],
            flowlets: Flowlets::default(),
            triggers: Triggers::new(experiment),
            open_flows: experiment.flows.len(),
            outcomes: experiment.flows.iter().map(|flow| path::outcome(&wiring, flow, experiment)).collect(),
            host_view: path::host_view(&wiring, experiment),
            work: Workspace::default(),
            measures: Measures::new(experiment, &wiring),
            done: Work::default(),
            upcoming: Vec::new(),
            wiring,
        };
        simulation.schedule_starts();
        Ok(simulation)
    }

    fn schedule_starts(&mut self) {
        for (flow, spec) in (0..).zip(&self.experiment.flows) {
            match spec.start {
                Start::At(at) => self.events.push(SimTime::from_timestamp(at), Action::Start { flow }),
                Start::After { flow: leader, delay } => self.followers[leader.0 as usize].push((flow, delay)),
                Start::Triggered => {}
            }
        }
        if self.experiment.sample_every.is_some() {
            self.events.push_observer(SimTime::ZERO, Action::Sample);
        }
    }

    fn run(&mut self) -> Result<(), SimError> {
        let end = SimTime::ZERO + self.experiment.duration;
        while self.open_flows > 0 {
            let Some((at, action)) = self.events.pop_open() else {
                if !self.events.open_next_slot() {
                    break;
                }
                self.read_ahead();
                continue;
            };
            if at > end {
                break;
            }
            self.now = at;
            self.done.events += 1;
            self.act(action)?;
        }
        if self.open_flows > 0 {
            self.now = end;
        }
        Ok(())
    }

    #[inline]
    fn act(&mut self, action: Action) -> Result<(), SimError> {
        match action {
            Action::Head { port, .. } => {
                let mut scene = Scene { now: self.now, arena: &mut self.arena, events: &mut self.events };
                match self.ports[port as usize].arrive(&mut scene) {
                    Some(packet) => self.deliver(port, packet),
                    None => Ok(()),
                }
            }
            Action::Service { port } => {
                let mut scene = Scene { now: self.now, arena: &mut self.arena, events: &mut self.events };
                self.ports[port as usize].serve(&mut scene);
                Ok(())
            }
            Action::Stray { port, packet } => self.deliver(port, packet),
            Action::Start { flow } => self.start(flow),
            Action::WakeSender { flow } => self.wake_sender(flow),
            Action::WakeReceiver { flow } => self.wake_receiver(flow),
            Action::Sample => {
                self.sample();
                Ok(())
            }
        }
    }

    /// A packet has crossed the link behind `port`.
    #[inline]
    fn deliver(&mut self, port: u32, packet: u32) -> Result<(), SimError> {
        self.done.packet_hops += 1;
        match self.ends[port as usize] {
            Node::Switch(switch) => {
                let content = self.arena.get_mut(packet);
                content.hops = content.hops.saturating_add(1);
                let next = self.next_port(switch, packet);
                if !self.watches.is_empty() {
                    self.watch(switch, next, packet)?;
                }
                self.offer(next, packet);
                Ok(())
            }
            Node::Host(_) => self.receive(packet),
        }
    }

    #[inline]
    fn offer(&mut self, port: u32, packet: u32) {
        let mut scene = Scene { now: self.now, arena: &mut self.arena, events: &mut self.events };
        self.ports[port as usize].offer(packet, &mut scene);
    }

    fn receive(&mut self, handle: u32) -> Result<(), SimError> {
        let packet = self.arena.take(handle);
        match packet.body {
            Body::Ack { frame } => self.receive_ack(packet.flow, frame, None),
            Body::CodedAck { frame, blocks } => self.receive_ack(packet.flow, frame, Some(blocks)),
            Body::Notice { frame } => self.receive_notice(packet.flow, frame),
            Body::Data { .. } | Body::Ping => {
                let received = self.receive_data(&packet, None);
                self.arena.release_stack(packet.int);
                received
            }
            Body::Shard { content } => {
                let shard = *self.arena.shard(content);
                self.arena.release_shard(content);
                let received = self.receive_data(&packet, Some(&shard));
                self.arena.release_stack(packet.int);
                received
            }
            Body::Header => self.receive_header(&packet),
        }
    }

    fn receive_ack(&mut self, flow: u32, frame: u32, blocks: Option<BlockAck>) -> Result<(), SimError> {
        let Stage::Active(ends) = &mut self.flows[flow as usize] else {
            self.arena.release_ack(frame);
            return Ok(());
        };
        let mut desk = Desk { now: self.now, arena: &mut self.arena, work: &mut self.work };
        if let Some(blocks) = blocks {
            ends.0.on_block_ack(&blocks, &mut desk)?;
        }
        ends.0.on_ack(frame, &mut desk)?;
        self.pump(flow)
    }

    fn receive_notice(&mut self, flow: u32, frame: u32) -> Result<(), SimError> {
        let Stage::Active(ends) = &mut self.flows[flow as usize] else {
            self.arena.release_notice(frame);
            return Ok(());
        };
        let mut desk = Desk { now: self.now, arena: &mut self.arena, work: &mut self.work };
        ends.0.on_notice(frame, &mut desk)?;
        self.pump(flow)
    }

    /// What a switch left of a packet arrived: it does not count as received, and its sender is told at once.
    fn receive_header(&mut self, packet: &Packet) -> Result<(), SimError> {
        let Stage::Active(ends) = &mut self.flows[packet.flow as usize] else { return Ok(()) };
        let mut desk = Desk { now: self.now, arena: &mut self.arena, work: &mut self.work };
        let report = ends.1.report_trimmed(packet.packet_number, &mut desk);
        let port = ends.1.port;
        self.check_wire(report)?;
        self.offer(port, report);
        Ok(())
    }

    fn receive_data(&mut self, packet: &Packet, shard: Option<&ShardContent>) -> Result<(), SimError> {
        self.done.data_packets += 1;
        let Stage::Active(ends) = &mut self.flows[packet.flow as usize] else { return Ok(()) };
        let receiving = &mut ends.1;
        let telemetry = packet.int.map(|handle| self.arena.stack(handle));
        if let Some(stack) = telemetry
            && self.experiment.check_wire
        {
            framing::check_telemetry(packet, stack)?;
        }
        receiving.on_packet(packet, telemetry, self.now);
        if let Some(shard) = shard {
            receiving.on_shard(shard, self.now.to_timestamp());
        }
        self.measures.delay(packet, self.now);
        let complete = receiving.is_complete();
        self.acknowledge(packet.flow)?;
        if complete {
            self.arrived(packet.flow);
        }
        Ok(())
    }

    /// Sends the notices and the acknowledgement that are due, or arranges to be woken when they are.
    fn acknowledge(&mut self, flow: u32) -> Result<(), SimError> {
        self.send_notices(flow)?;
        let Stage::Active(ends) = &mut self.flows[flow as usize] else { return Ok(()) };
        let receiving = &mut ends.1;
        let mut desk = Desk { now: self.now, arena: &mut self.arena, work: &mut self.work };
        let ack = receiving.poll_ack(&mut desk);
        if let Some(at) = receiving.next_timeout().map(SimTime::from_timestamp)
            && at < receiving.wake_at
        {
            receiving.wake_at = at;
            self.events.push(at.max(self.now), Action::WakeReceiver { flow });
        }
        let port = receiving.port;
        let Some(packet) = ack else { return Ok(()) };
        self.check_wire(packet)?;
        self.offer(port, packet);
        Ok(())
    }

    fn send_notices(&mut self, flow: u32) -> Result<(), SimError> {
        while let Stage::Active(ends) = &mut self.flows[flow as usize] {
            let mut desk = Desk { now: self.now, arena: &mut self.arena, work: &mut self.work };
            let Some(packet) = ends.1.poll_notice(&mut desk) else { break };
            let port = ends.1.port;
            self.check_wire(packet)?;
            self.offer(port, packet);
        }
        Ok(())
    }

    /// Every byte of a flow has arrived, perhaps not for the first time.
    fn arrived(&mut self, flow: u32) {
        let outcome = &mut self.outcomes[flow as usize];
        if outcome.received.is_some() {
            return;
        }
        outcome.received = Some(self.now.to_timestamp());
        for (follower, delay) in std::mem::take(&mut self.followers[flow as usize]) {
            self.events.push(self.now + delay, Action::Start { flow: follower });
        }
        self.set_off(flow, FlowEnd::Received);
    }

    /// Starts what waits for this end of a flow.
    fn set_off(&mut self, flow: u32, end: FlowEnd) {
        for follower in self.triggers.on_end(flow, end) {
            self.events.push(self.now, Action::Start { flow: follower });
        }
    }

    fn start(&mut self, flow: u32) -> Result<(), SimError> {
        let experiment = self.experiment;
        let spec = &experiment.flows[flow as usize];
        let now = self.now.to_timestamp();
        let outcome = &mut self.outcomes[flow as usize];
        outcome.started = Some(now);
        let contestant = &experiment.contestants[spec.contestant];
        let seed = rng::derive(experiment.seed, "controller", u64::from(flow));
        let mut setup = Setup::new(now, experiment.endpoints.sender.mtu, seed);
        setup.local_line_rate = Some(self.wiring.ports[spec.source.0 as usize].mean_rate(experiment.duration));
        setup.host_view = self.host_view;
        if contestant.knowledge == Knowledge::Oracle {
            setup.oracle = Some(Oracle { base_rtt: outcome.base_rtt, bottleneck: outcome.bottleneck });
        }
        let mut routes = balance::Setup::new(now, rng::derive(experiment.seed, "entropy", u64::from(flow)));
        routes.base_rtt = setup.oracle.map(|oracle| oracle.base_rtt);
        let balancer = contestant.balance.as_ref().unwrap_or(&experiment.balance).build(&routes);
        let route = Route { now, balancer, telemetry: contestant.needs(Need::Int) };
        let controller = (contestant.build)(&setup);
        let config = path::sender_config(&self.wiring, spec, experiment);
        let sending = SendingEnd::new(flow, spec, config, controller, route);
        let receiving = ReceivingEnd::new(flow, spec, &experiment.endpoints, contestant);
        // What the two agreed on when they shook hands.
        let receiving = receiving.expecting_blocks(sending.sender.config().coding);
        self.flows[flow as usize] = Stage::Active(Box::new((sending, receiving)));
        self.pump(flow)
    }

    fn wake_sender(&mut self, flow: u32) -> Result<(), SimError> {
        let Stage::Active(ends) = &mut self.flows[flow as usize] else { return Ok(()) };
        if ends.0.wake_at > self.now {
            return Ok(());
        }
        ends.0.wake_at = SimTime::MAX;
        let mut desk = Desk { now: self.now, arena: &mut self.arena, work: &mut self.work };
        ends.0.on_wake(&mut desk);
        self.pump(flow)
    }

    fn wake_receiver(&mut self, flow: u32) -> Result<(), SimError> {
        let Stage::Active(ends) = &mut self.flows[flow as usize] else { return Ok(()) };
        if ends.1.wake_at > self.now {
            return Ok(());
        }
        ends.1.wake_at = SimTime::MAX;
        ends.1.receiver.on_timeout(self.now.to_timestamp());
        self.acknowledge(flow)
    }

    /// Sends what may be sent, then arranges the sender's next wake-up or ends the flow.
    fn pump(&mut self, flow: u32) -> Result<(), SimError> {
        let gate_opens = loop {
            let Stage::Active(ends) = &mut self.flows[flow as usize] else { return Ok(()) };
            let mut desk = Desk { now: self.now, arena: &mut self.arena, work: &mut self.work };
            match ends.0.poll(&mut desk) {
                Poll::Packet(packet) => {
                    let port = ends.0.port;
                    self.check_wire(packet)?;
                    self.offer(port, packet);
                }
                Poll::Idle => break None,
                Poll::Blocked(until) => break until,
            }
        };
        let Stage::Active(ends) = &mut self.flows[flow as usize] else { return Ok(()) };
        let now = self.now.to_timestamp();
        if ends.0.source.is_done(now) {
            self.complete(flow);
            return Ok(());
        }
        if let Some(at) = ends.0.next_wake(now, gate_opens).map(SimTime::from_timestamp)
            && at < ends.0.wake_at
        {
            // A time that floors to the current nanosecond must still lie ahead.
            let at = at.max(self.now);
            ends.0.wake_at = at;
            self.events.push(at, Action::WakeSender { flow });
        }
        Ok(())
    }

    fn complete(&mut self, flow: u32) {
        self.arrived(flow);
        let outcome = &mut self.outcomes[flow as usize];
        outcome.completed = Some(self.now.to_timestamp());
        if let Stage::Active(ends) = std::mem::replace(&mut self.flows[flow as usize], Stage::Done) {
            record(outcome, &ends, self.experiment.endpoints.sender.mtu);
        }
        self.open_flows -= 1;
        self.set_off(flow, FlowEnd::Completed);
    }

    fn check_wire(&self, packet: u32) -> Result<(), SimError> {
        if !self.experiment.check_wire {
            return Ok(());
        }
        let packet = self.arena.get(packet);
        // Data is numbered for a receiver that knows what the sender knows to be acknowledged; nobody acknowledges ACKs.
        let largest_acked = match (&self.flows[packet.flow as usize], packet.body) {
            (Stage::Active(ends), Body::Data { .. } | Body::Shard { .. } | Body::Ping) => {
                ends.0.sender.largest_acked(PathId(0))
            }
            _ => None,
        };
        framing::check(packet, largest_acked, &self.arena)
    }

    fn sample(&mut self) {
        let active = (0..).zip(&self.flows).filter_map(|(flow, stage)| match stage {
            Stage::Active(ends) => Some((FlowId(flow), &**ends)),
            Stage::Waiting | Stage::Done => None,
        });
        self.measures.sample(self.now, active, &mut self.ports, &mut self.arena);
        if let Some(interval) = self.experiment.sample_every {
            self.events.push_observer(self.now + interval, Action::Sample);
        }
    }

    fn finish(mut self) -> Outcome {
        let (now, mtu) = (self.now.to_timestamp(), self.experiment.endpoints.sender.mtu);
        for (outcome, stage) in self.outcomes.iter_mut().zip(&self.flows) {
            if let Stage::Active(ends) = stage {
                record(outcome, ends, mtu);
            }
        }
        let (ports, delays, samples) = self.measures.finish(self.now, &mut self.ports, &mut self.arena);
        Outcome { flows: self.outcomes, ports, delays, samples, ended_at: now, work: self.done }
    }
}

/// Copies what the engine counted into a flow's outcome.
fn record(outcome: &mut FlowOutcome, ends: &(SendingEnd, ReceivingEnd), mtu: u64) {
    let (sending, receiving) = ends;
    let stats = sending.sender.stats(PathId(0));
    outcome.size = sending.source.size();
    outcome.wire_size = outcome.size.map(|size| framing::wire_size(size, mtu));
    outcome.delivered = receiving.delivered;
    outcome.packets_sent = sending.count.packets;
    outcome.bytes_sent = sending.count.bytes;
    outcome.retransmitted = sending.count.again;
    outcome.lost = stats.totals.lost.packets + stats.totals.recovered.packets;
    outcome.spurious = stats.totals.spurious.packets;
    outcome.marked = stats.totals.marked.packets;
    outcome.timeouts = stats.totals.probe_timeouts;
    outcome.min_rtt = stats.min_rtt;
    outcome.coding = coding_outcome(sending, receiving);
}

fn coding_outcome(sending: &SendingEnd, receiving: &ReceivingEnd) -> Option<CodingOutcome> {
    let (sent, received) = (sending.sender.blocks()?.totals(), receiving.incoming.as_ref()?.blocks.totals());
    Some(CodingOutcome {
        parity_packets: sending.count.parity.packets,
        parity_bytes: sending.count.parity.bytes,
        blocks: sent.begun,
        decoded: received.decoded,
        repaired: sent.repaired,
        nacks: received.nacks,
        recovered: sending.sender.stats(PathId(0)).totals.recovered.packets,
    })
}

#[cfg(test)]
mod tests;

//! Notices that a switch sends straight to the source of a packet which finds a congested port.

use cc_algos::{Ecn, Need, PathId, Rate};
use transport::wire::{Frame, NearSource};

use super::Simulation;
use crate::error::{SimError, SpecError};
use crate::framing;
use crate::packet::{Body, Packet};
use crate::queue::CongestionPoint;
use crate::rng;
use crate::spec::Experiment;
use crate::topology::{PortPlan, Wiring};

/// The congestion point of a port.
pub(super) struct Watch {
    point: CongestionPoint,
    /// The port's rate: for a trace, its mean.
    rate: Rate,
    set_point_bytes: u64,
    /// Notices sent, which bear numbers of their own.
    sent: u64,
}

/// The congestion points by port; empty if there is none, which is all that a hop then looks at.
pub(super) fn watches(experiment: &Experiment, wiring: &Wiring<'_>) -> Result<Vec<Option<Box<Watch>>>, SpecError> {
    if wiring.ports.iter().all(|plan| plan.link.near_source.is_none()) {
        return Ok(Vec::new());
    }
    let watch = |(id, plan): (u64, &PortPlan<'_>)| {
        let Some(spec) = plan.link.near_source else { return Ok(None) };
        let random = rng::stream(experiment.seed, "near-source", id);
        Ok(Some(Box::new(Watch {
            point: CongestionPoint::new(spec, random)?,
            rate: plan.mean_rate(experiment.duration),
            set_point_bytes: spec.set_point_bytes,
            sent: 0,
        })))
    };
    (0..).zip(&wiring.ports).map(watch).collect()
}

impl Simulation<'_> {
    /// A packet comes to a port of a switch. If it is sampled and finds congestion, its source is told, if it asked for that.
    pub(super) fn watch(&mut self, switch: u32, port: u32, packet: u32) -> Result<(), SimError> {
        let Some(watch) = &mut self.watches[port as usize] else { return Ok(()) };
        let packet = *self.arena.get(packet);
        if !packet.body.has_payload() || !watch.point.is_due(packet.bytes) {
            return Ok(());
        }
        let backlog = self.ports[port as usize].counters(self.now, &mut self.arena).backlog;
        let Some(congestion) = watch.point.sample(backlog) else { return Ok(()) };
        let spec = &self.experiment.flows[packet.flow as usize];
        if !self.experiment.contestants[spec.contestant].needs(Need::NearSource) {
            return Ok(());
        }
        let notice = Frame::NearSource(NearSource {
            path: PathId(0),
            packet_number: packet.packet_number,
            queue_bytes: congestion.queue_bytes,
            former_queue_bytes: congestion.former_queue_bytes,
            set_point_bytes: watch.set_point_bytes,
            port_rate: watch.rate,
        });
        let packet_number = watch.sent;
        watch.sent += 1;
        let bytes = framing::notice_bytes(packet.flow, packet_number, &notice);
        let frame = self.arena.new_notice(notice);
        let handle = self.arena.insert(Packet {
            flow: packet.flow,
            destination: spec.source.0,
            entropy: packet.entropy,
            bytes,
            packet_number,
            sent_at: self.now,
            body: Body::Notice { frame },
            ecn: Ecn::NotEct,
            hops: 0,
            int: None,
        });
        self.check_wire(handle)?;
        let next = self.wiring.router.route(switch, self.arena.get(handle));
        self.offer(next, handle);
        Ok(())
    }
}

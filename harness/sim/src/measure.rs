//! What is measured while a run goes on: delays of packets, time series, and the watched ports.

use cc_algos::{PathId, Span};
use hdrhistogram::Histogram;

use crate::endpoint::{ReceivingEnd, SendingEnd};
use crate::ids::FlowId;
use crate::outcome::{DelayOutcome, FlowSample, PortOutcome, PortSample, Sample};
use crate::packet::{Arena, Packet};
use crate::port::{Counters, Port};
use crate::spec::Experiment;
use crate::time::SimTime;
use crate::topology::Wiring;

/// Flows of a given size that a sample shows at most: plots of more are unreadable.
const MAX_SAMPLED_SHORT: usize = 64;

/// Long-lived flows that a sample shows at most. Fairness is measured among these, so that few experiments should have more.
const MAX_SAMPLED_LONG: usize = 1_024;

/// Significant digits of the delay histograms.
const DIGITS: u8 = 3;

/// One-way delay of a flow's packets over empty queues: a constant and a part proportional to their size.
#[derive(Clone, Copy, Debug)]
struct BaseDelay {
    picos: u64,
    /// Picoseconds per byte, in 256ths.
    slope: u64,
    /// Place of the flow's histograms.
    slot: u32,
}

impl BaseDelay {
    const fn of(&self, bytes: u32) -> u64 {
        self.picos + ((self.slope * bytes as u64) >> 8)
    }
}

/// A watched port, or a group of ports under one name.
struct Watched {
    name: String,
    ports: Vec<u32>,
}

/// Measurements under way.
pub(crate) struct Measures {
    /// By flow.
    base: Vec<BaseDelay>,
    delays: Vec<DelayOutcome>,
    watched: Vec<Watched>,
    samples: Vec<Sample>,
}

impl Measures {
    pub(crate) fn new(experiment: &Experiment, wiring: &Wiring<'_>) -> Self {
        let mtu = experiment.endpoints.sender.mtu as u32;
        let mut delays: Vec<DelayOutcome> = Vec::new();
        let mut base = Vec::new();
        for flow in &experiment.flows {
            let path = wiring.path(flow.source, flow.destination);
            let crossing = |bytes| path.iter().map(|port| wiring.ports[*port].crossing(bytes)).sum::<u64>();
            let picos = crossing(0);
            let key = (flow.contestant, flow.group);
            let slot = delays.iter().position(|delay| (delay.contestant, delay.group) == key).unwrap_or_else(|| {
                delays.push(empty_delays(key.0, key.1));
                delays.len() - 1
            });
            let slope = ((crossing(mtu) - picos) << 8) / u64::from(mtu);
            base.push(BaseDelay { picos, slope, slot: slot as u32 });
        }
        Self { base, delays, watched: watch(wiring), samples: Vec::new() }
    }

    /// Reads a little of what [`Measures::delay`] needs for a flow. The value means nothing.
    #[inline]
    pub(crate) fn touch(&self, flow: u32) -> u64 {
        self.base[flow as usize].picos
    }

    /// A data packet arrived.
    #[inline]
    pub(crate) fn delay(&mut self, packet: &Packet, now: SimTime) {
        let base = &self.base[packet.flow as usize];
        let one_way = now.picos_since(packet.sent_at);
        let queueing = one_way.saturating_sub(base.of(packet.bytes));
        let delays = &mut self.delays[base.slot as usize];
        delays.one_way.saturating_record(one_way / 1_000);
        delays.queueing.saturating_record(queueing / 1_000);
    }

    /// Takes the next point of the time series.
    pub(crate) fn sample<'e>(
        &mut self,
        now: SimTime,
        active: impl Iterator<Item = (FlowId, &'e (SendingEnd, ReceivingEnd))>,
        ports: &mut [Port],
        arena: &mut Arena,
    ) {
        let (mut short, mut long) = (0, 0);
        let shown = active.filter(|(_, (sending, _))| {
            let (count, most) = if sending.source.size().is_some() {
                (&mut short, MAX_SAMPLED_SHORT)
            } else {
                (&mut long, MAX_SAMPLED_LONG)
            };
            *count += 1;
            *count <= most
        });
        let flows = shown.map(|(flow, ends)| sample_flow(flow, ends)).collect();
        let ports = self.watched.iter().map(|watched| sample_ports(watched, now, ports, arena)).collect();
        self.samples.push(Sample { at: now.to_timestamp(), flows, ports });
    }

    /// The results, when the run has ended.
    pub(crate) fn finish(
        self,
        now: SimTime,
        ports: &mut [Port],
        arena: &mut Arena,
    ) -> (Vec<PortOutcome>, Vec<DelayOutcome>, Vec<Sample>) {
        let outcomes = self.watched.into_iter().map(|watched| sum_ports(watched, now, ports, arena)).collect();
        let delays = self.delays.into_iter().filter(|delay| !delay.one_way.is_empty()).collect();
        (outcomes, delays, self.samples)
    }
}

fn empty_delays(contestant: usize, group: u16) -> DelayOutcome {
    // Longer delays count as this one: a fixed range never allocates while packets fly.
    let longest = Span::from_secs(3_600).as_nanos();
    let histogram = || Histogram::new_with_max(longest, DIGITS).expect("an hour fits a histogram of three digits");
    DelayOutcome { contestant, group, one_way: histogram(), queueing: histogram() }
}

fn watch(wiring: &Wiring<'_>) -> Vec<Watched> {
    let mut watched: Vec<_> =
        wiring.watched.iter().map(|name| Watched { name: name.clone(), ports: Vec::new() }).collect();
    for (plan, id) in wiring.ports.iter().zip(0..) {
        if let Some(group) = plan.watched {
            watched[group as usize].ports.push(id);
        }
    }
    watched
}

fn sample_flow(flow: FlowId, ends: &(SendingEnd, ReceivingEnd)) -> FlowSample {
    let (sending, receiving) = ends;
    let stats = sending.sender.stats(PathId(0));
    FlowSample {
        flow,
        window: stats.window,
        pacing_rate: stats.pacing_rate,
        smoothed_rtt: stats.smoothed_rtt,
        in_flight: stats.in_flight_bytes,
        delivered: receiving.delivered,
    }
}

fn sample_ports(watched: &Watched, now: SimTime, ports: &mut [Port], arena: &mut Arena) -> PortSample {
    let mut sample = PortSample { backlog: 0, phantom: None, bytes: 0, offered: 0 };
    for id in &watched.ports {
        let port = &mut ports[*id as usize];
        let counters = port.counters(now, arena);
        sample.backlog += counters.backlog;
        if let Some(phantom) = counters.phantom {
            *sample.phantom.get_or_insert(0) += phantom.backlog;
        }
        sample.bytes += counters.bytes;
        sample.offered += port.offered(now);
    }
    sample
}

fn sum_ports(watched: Watched, now: SimTime, ports: &mut [Port], arena: &mut Arena) -> PortOutcome {
    let mut total = PortOutcome { name: watched.name, ..PortOutcome::default() };
    for id in watched.ports {
        let port = &mut ports[id as usize];
        total.offered += port.offered(now);
        add(&mut total, &port.counters(now, arena));
    }
    total
}

fn add(total: &mut PortOutcome, counters: &Counters) {
    total.bytes += counters.bytes;
    total.packets += counters.packets;
    total.queue_drops += counters.queue_drops;
    total.policer_drops += counters.policer_drops;
    total.wire_losses += counters.wire_losses;
    total.marks += counters.marks;
    total.trims = match (total.trims, counters.trims) {
        (Some(sum), Some(more)) => Some(sum + more),
        (either, other) => either.or(other),
    };
    total.max_phantom = total.max_phantom.max(counters.phantom.map(|phantom| phantom.max_backlog));
    total.max_backlog = total.max_backlog.max(counters.max_backlog);
    total.backlog_byte_nanos += counters.backlog_byte_nanos;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_up_to_an_hour_keep_three_digits() {
        let mut histogram = empty_delays(0, 0).one_way;
        for nanos in [7, 40_000_000, 3_600_000_000_000] {
            histogram.saturating_record(nanos);
            assert!(histogram.max().abs_diff(nanos) * 1_000 <= nanos, "{} for {nanos}", histogram.max());
        }
    }

    #[test]
    fn the_base_delay_is_linear_in_the_size() {
        // 80 ps a byte at 100 Gb/s over two links: 160.
        let base = BaseDelay { picos: 2_000_000, slope: 160 << 8, slot: 0 };
        assert_eq!(base.of(1_500), 2_240_000);
        assert_eq!(base.of(0), 2_000_000);
    }
}

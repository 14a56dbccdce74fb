//! What a run measured: plain data in the order of the experiment.

use cc_algos::{Rate, Span, Timestamp};
use hdrhistogram::Histogram;

use crate::ids::FlowId;

/// Everything one run measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// One entry per flow of the experiment, in its order.
    pub flows: Vec<FlowOutcome>,
    /// The ports worth watching: the dumbbell's bottleneck and reverse, every switch port of a star, one total per tier of
    /// trees, and per direction between datacentres.
    pub ports: Vec<PortOutcome>,
    /// One-way delays per (contestant, group), only for pairs that delivered something.
    pub delays: Vec<DelayOutcome>,
    /// Time series, if sampling was asked for.
    pub samples: Vec<Sample>,
    /// When the run ended: its duration, or earlier if every flow had finished.
    pub ended_at: Timestamp,
    /// Work done.
    pub work: Work,
}

/// How much work a run was; for benchmarks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Events taken from the queue.
    pub events: u64,
    /// Packets, data or ACK, times links crossed.
    pub packet_hops: u64,
    /// Data packets that arrived at their receiver, duplicates included.
    pub data_packets: u64,
}

/// How one flow fared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowOutcome {
    /// When it began, if it did.
    pub started: Option<Timestamp>,
    /// When the receiver had every byte.
    pub received: Option<Timestamp>,
    /// When the sender knew that; flow completion time runs from `started` to here. No handshake is counted.
    pub completed: Option<Timestamp>,
    /// RTT of a full packet and its acknowledgement over empty queues.
    pub base_rtt: Span,
    /// The part of `base_rtt` that is the full packet's serialisation, at all links of constant rate.
    pub serialisation: Span,
    /// Rate of the slowest link on its path: for a trace, its mean.
    pub bottleneck: Rate,
    /// Bytes the application wanted to move, if finite.
    pub size: Option<u64>,
    /// Wire bytes that `size` takes with all headers, retransmissions apart, and without coding.
    pub wire_size: Option<u64>,
    /// Distinct application bytes that arrived.
    pub delivered: u64,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Wire bytes of these.
    pub bytes_sent: u64,
    /// Data packets that carried bytes sent before.
    pub retransmitted: u64,
    /// Packets declared lost, whether or not coding made them good.
    pub lost: u64,
    /// Of these, the ones that arrived after all.
    pub spurious: u64,
    /// Data packets whose arrival with CE was reported.
    pub marked: u64,
    /// Probe or retransmission time-outs.
    pub timeouts: u64,
    /// Smallest RTT measured.
    pub min_rtt: Option<Span>,
    /// What coding did, if the flow is coded.
    pub coding: Option<CodingOutcome>,
}

/// What coding did for a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodingOutcome {
    /// Packets of parity among the packets sent, those sent again included.
    pub parity_packets: u64,
    /// Wire bytes of these.
    pub parity_bytes: u64,
    /// Blocks of which something was sent.
    pub blocks: u64,
    /// Blocks of which the receiver had to decode data.
    pub decoded: u64,
    /// Blocks that lost more than their parity, so that shards were sent again.
    pub repaired: u64,
    /// Complaints of the receiver.
    pub nacks: u64,
    /// Packets declared lost whose block was complete without them.
    pub recovered: u64,
}

impl FlowOutcome {
    /// Flow completion time, if it completed.
    pub fn completion_time(&self) -> Option<Span> {
        Some(self.completed?.saturating_since(self.started?))
    }

    /// The completion time over an empty network: base RTT of the first packet, which is smaller than a full one in flows of
    /// less, plus the time that the other wire bytes take at the bottleneck. With links of constant rate nothing is faster,
    /// but for the last packet's being smaller on the links behind the bottleneck; on a trace, whose mean rate this
    /// reckons with, a flow may be.
    pub fn ideal_completion_time(&self, mtu: u64) -> Option<Span> {
        let wire_size = self.wire_size?;
        let missing = mtu.saturating_sub(wire_size);
        let first = self.base_rtt - self.serialisation.mul_div(missing, mtu.max(1));
        Some(first + self.bottleneck.time_for(wire_size.saturating_sub(mtu))?)
    }
}

/// What happened at one port, or at several taken together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortOutcome {
    /// Its name in results.
    pub name: String,
    /// Bytes it sent.
    pub bytes: u64,
    /// Packets it sent.
    pub packets: u64,
    /// Bytes its link could have carried while the run lasted.
    pub offered: u64,
    /// Packets dropped by the queue (overflow or its discipline).
    pub queue_drops: u64,
    /// Packets dropped by the policer.
    pub policer_drops: u64,
    /// Packets lost, corrupted or thinned out on the wire.
    pub wire_losses: u64,
    /// Packets marked CE.
    pub marks: u64,
    /// Packets cut to their headers; `None` where the queue never does that.
    pub trims: Option<u64>,
    /// Largest backlog, bytes.
    pub max_backlog: u64,
    /// The most that a phantom queue held, bytes; `None` where there is none.
    pub max_phantom: Option<u64>,
    /// Backlog integrated over time, byte-nanoseconds: divided by the run's length it is the mean backlog.
    pub backlog_byte_nanos: u128,
}

/// One-way delays of the data packets of one contestant and group, nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayOutcome {
    /// Index of the contestant.
    pub contestant: usize,
    /// The flows' group.
    pub group: u16,
    /// From sending to arrival.
    pub one_way: Histogram<u64>,
    /// The same less propagation and serialisation: time spent in queues (and, on a trace, waiting for service).
    pub queueing: Histogram<u64>,
}

/// The state of the run at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Timestamp,
    /// Active flows: the first 64 of a given size, and the first 1 024 of others.
    pub flows: Vec<FlowSample>,
    /// Watched ports, in the order of [`Outcome::ports`]; empty for ports that stand for several.
    pub ports: Vec<PortSample>,
}

/// One flow at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSample {
    /// Which flow.
    pub flow: FlowId,
    /// Congestion window, bytes.
    pub window: u64,
    /// Pacing rate in force, if any.
    pub pacing_rate: Option<Rate>,
    /// Smoothed RTT, once measured.
    pub smoothed_rtt: Option<Span>,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Distinct application bytes that have arrived so far.
    pub delivered: u64,
}

/// One port at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSample {
    /// Bytes queued.
    pub backlog: u64,
    /// Bytes in the phantom queue; `None` where there is none.
    pub phantom: Option<u64>,
    /// Bytes sent so far.
    pub bytes: u64,
    /// Bytes the link could have carried so far.
    pub offered: u64,
}

//! What is kept of one run: integers and histograms, so that the same run gives the same bytes.

use serde::{Deserialize, Serialize};

use super::distribution::Distribution;
use super::fairness::Fairness;
use super::series::Series;

/// Which run it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Name of the scenario.
    pub scenario: String,
    /// Canonical spelling of what was put to the test: an algorithm with its parameters, or a mix of several.
    pub algorithm: String,
    /// Seed of the run.
    pub seed: u64,
    /// Fingerprint of everything else that went in; runs are merged and paired only where it is the same.
    pub config_hash: String,
}

/// Everything kept of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// Which run it was.
    pub identity: Identity,
    /// When it ended, nanoseconds.
    pub ended_at_ns: u64,
    /// What became of the flows, per contestant and group, in the order of their first flow.
    pub classes: Vec<ClassRecord>,
    /// The ports watched.
    pub ports: Vec<PortRecord>,
    /// How evenly the flows shared.
    pub fairness: Fairness,
    /// Time series, kept of one seed of a cell for plots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// How much work the run was.
    pub work: WorkRecord,
}

impl RunRecord {
    /// The port that carried the most bytes: the bottleneck of a dumbbell, the port of an incast's receiver.
    pub fn busiest_port(&self) -> Option<&PortRecord> {
        // `max_by_key` would take the last of equals; ports are numbered from the bottleneck.
        self.ports.iter().rev().max_by_key(|port| port.bytes)
    }
}

/// Flows of one contestant and group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassRecord {
    /// Label of the contestant.
    pub contestant: String,
    /// Name of the group (`rpc`, `bulk`, ...).
    pub group: String,
    /// Whether its flows are there for the others' sake, and stand in no table: requests, cross traffic.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Counts and sums over the flows.
    pub totals: Totals,
    /// Flow completion time, nanoseconds, from a flow's start to the sender knowing that every byte arrived.
    /// Flows that did not finish are censored at their age at the end.
    pub fct_ns: Distribution,
    /// The same over the flow's completion time in an empty network, thousandths.
    pub slowdown_milli: Distribution,
    /// One-way delay of data packets, nanoseconds.
    pub one_way_ns: Distribution,
    /// The same less propagation and serialisation, nanoseconds.
    pub queueing_ns: Distribution,
}

/// Counts and sums over the flows of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Flows in the experiment.
    pub flows: u64,
    /// Of these, the ones with so much to send and no more.
    pub finite: u64,
    /// Finite flows that completed.
    pub completed: u64,
    /// Finite flows that began and did not complete.
    pub unfinished: u64,
    /// Flows that never began: what they waited for did not happen, or the run ended before.
    pub not_started: u64,
    /// Distinct application bytes that arrived.
    pub delivered_bytes: u64,
    /// From the first start to the last arrival (or to the stop or the end, of flows that were still going), nanoseconds.
    pub active_ns: u64,
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
    /// What coding did, of coded flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coding: Option<CodingTotals>,
}

/// Sums over coded flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodingTotals {
    /// Wire bytes of parity.
    pub parity_bytes: u64,
    /// Blocks of which something was sent.
    pub blocks: u64,
    /// Blocks of which the receiver had to decode data.
    pub decoded: u64,
    /// Blocks that lost more than their parity, so that packets were sent again.
    pub repaired: u64,
}

impl CodingTotals {
    /// Adds other sums.
    pub(crate) const fn merge(&mut self, other: &Self) {
        self.parity_bytes = self.parity_bytes.saturating_add(other.parity_bytes);
        self.blocks = self.blocks.saturating_add(other.blocks);
        self.decoded = self.decoded.saturating_add(other.decoded);
        self.repaired = self.repaired.saturating_add(other.repaired);
    }
}

impl Totals {
    /// Adds the sums of another run. Times add up too: rates are sums over sums.
    pub(crate) fn merge(&mut self, other: &Self) {
        let sums = [
            (&mut self.flows, other.flows),
            (&mut self.finite, other.finite),
            (&mut self.completed, other.completed),
            (&mut self.unfinished, other.unfinished),
            (&mut self.not_started, other.not_started),
            (&mut self.delivered_bytes, other.delivered_bytes),
            (&mut self.active_ns, other.active_ns),
            (&mut self.packets_sent, other.packets_sent),
            (&mut self.bytes_sent, other.bytes_sent),
            (&mut self.retransmitted, other.retransmitted),
            (&mut self.lost, other.lost),
            (&mut self.spurious, other.spurious),
            (&mut self.marked, other.marked),
            (&mut self.timeouts, other.timeouts),
        ];
        for (sum, value) in sums {
            *sum = sum.saturating_add(value);
        }
        if let Some(coding) = &other.coding {
            self.coding.get_or_insert_default().merge(coding);
        }
    }
}

/// What happened at one port, or at several taken together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortRecord {
    /// Its name.
    pub name: String,
    /// Bytes it sent.
    pub bytes: u64,
    /// Packets it sent.
    pub packets: u64,
    /// Bytes its link could have carried while the run lasted.
    pub offered: u64,
    /// Packets dropped by the queue.
    pub queue_drops: u64,
    /// Packets dropped by the policer.
    pub policer_drops: u64,
    /// Packets lost, corrupted or thinned out on the wire.
    pub wire_losses: u64,
    /// Packets marked CE.
    pub marks: u64,
    /// Packets cut to their headers; absent where the queue never does that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trims: Option<u64>,
    /// Largest backlog, bytes.
    pub max_backlog: u64,
    /// The most that a phantom queue held, bytes; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_phantom: Option<u64>,
    /// Backlog averaged over time, bytes.
    pub mean_backlog: u64,
}

/// How much work a run was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkRecord {
    /// Events taken from the queue.
    pub events: u64,
    /// Packets, data or ACK, times links crossed.
    pub packet_hops: u64,
    /// Data packets that arrived at their receiver, duplicates included.
    pub data_packets: u64,
}

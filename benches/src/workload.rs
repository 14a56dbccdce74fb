//! The runs that are timed.
//!
//! | name | what | per packet |
//! |---|---|---|
//! | `dumbbell` | n flows over one bottleneck, each with a fair share of 100 Mb/s over 1 ms and a buffer of one product | 1 500 B, 6 hops |
//! | `incast` | 127 hosts of a fat-tree (k = 8) send 2 MB each to the remaining one | 4 160 B, up to 12 hops |
//! | `permutation` | 1 024 hosts of a fat-tree (k = 16) send 2 MB each, every host receives from one | 4 160 B, up to 12 hops |
//!
//! Hops count both ways: an ACK answers every packet. The fat-trees are those of csg-htsim's own benchmarks: links of
//! 100 Gb/s and 1 us, packets sprayed over all routes, buffers of 100 packets.

use std::fmt;
use std::str::FromStr;

use cc_algos::registry::RegistryError;
use cc_algos::{Rate, Registry, Span, Timestamp};
use sim::queue::{Capacity, DisciplineSpec, MarkingSpec};
use sim::spec::{
    Balancing, BlockTimeout, Contestant, Dumbbell, EndpointSpec, FatTree, FlowSpec, LinkSpec, Load, PathRto, Side,
    Start, Switching, Topology,
};
use sim::{Experiment, HostId};
use transport::flow::{ReceiverConfig, SenderConfig};

/// Bytes that each flow of csg-htsim's work sends.
const CSG_BYTES: u64 = 2_000_000;
const CSG_MTU: u64 = 4_160;
/// Large enough that a run outlasts the start of its flows.
const END: Span = Span::from_secs(100);

/// A run, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Flows over one bottleneck.
    Dumbbell {
        /// How many.
        flows: u32,
        /// Data packets of each.
        packets: u64,
    },
    /// 127 senders, one receiver.
    Incast,
    /// 1 024 senders and receivers.
    Permutation,
}

/// A name that no run has.
#[derive(Debug, thiserror::Error)]
#[error("no run is called `{0}`: expected `incast`, `permutation` or `dumbbell:FLOWSxPACKETS`")]
pub struct UnknownWorkload(String);

impl FromStr for Workload {
    type Err = UnknownWorkload;

    fn from_str(name: &str) -> Result<Self, UnknownWorkload> {
        let dumbbell = || {
            let (flows, packets) = name.strip_prefix("dumbbell:")?.split_once('x')?;
            Some(Self::Dumbbell { flows: flows.parse().ok()?, packets: packets.parse().ok()? })
        };
        match name {
            "incast" => Ok(Self::Incast),
            "permutation" => Ok(Self::Permutation),
            _ => dumbbell().ok_or_else(|| UnknownWorkload(name.to_owned())),
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dumbbell { flows, packets } => write!(f, "dumbbell:{flows}x{packets}"),
            Self::Incast => f.write_str("incast"),
            Self::Permutation => f.write_str("permutation"),
        }
    }
}

impl Workload {
    /// The run under an algorithm of the registry.
    ///
    /// # Errors
    ///
    /// If the algorithm or a parameter is unknown.
    pub fn experiment(self, algorithm: &str) -> Result<Experiment, RegistryError> {
        let mut sender = SenderConfig::datacentre();
        let mut balance = Balancing::spray();
        let (topology, flows) = match self {
            Self::Dumbbell { flows, packets } => {
                sender.mtu = 1_500;
                balance = Balancing::ecmp();
                // A little less than an MTU's worth each, so that the last packet is not a crumb.
                (dumbbell(flows), (0..flows).map(|host| flow(host, flows + host, packets * 1_400)).collect())
            }
            Self::Incast => (fat_tree(8), (1..128).map(|host| flow(host, 0, CSG_BYTES)).collect()),
            Self::Permutation => {
                // 517 is odd and larger than a pod: every flow crosses the core.
                (fat_tree(16), (0..1_024).map(|host| flow(host, (host + 517) % 1_024, CSG_BYTES)).collect())
            }
        };
        Ok(Experiment {
            seed: 1,
            duration: END,
            topology,
            contestants: vec![contestant(algorithm)?],
            flows,
            endpoints: EndpointSpec {
                sender,
                receiver: ReceiverConfig::default(),
                ack_every: 1,
                ack_delay: Span::from_micros(10),
                rto: PathRto::Configured,
                block_timeout: BlockTimeout::Configured,
            },
            sample_every: None,
            balance,
            switching: Switching::Ecmp,
            faults: Vec::new(),
            triggers: Vec::new(),
            check_wire: false,
        })
    }
}

fn contestant(algorithm: &str) -> Result<Contestant, RegistryError> {
    let registry = Registry::builtin();
    let args = registry.resolve(algorithm)?;
    Ok(Contestant::registered(&registry, &args, CSG_MTU)?.labelled(algorithm))
}

fn flow(source: u32, destination: u32, bytes: u64) -> FlowSpec {
    FlowSpec {
        source: HostId(source),
        destination: HostId(destination),
        start: Start::At(Timestamp::ZERO),
        stop: None,
        load: Load::Bytes(bytes),
        contestant: 0,
        group: 0,
    }
}

fn fat_tree(k: u32) -> Topology {
    let host_up = LinkSpec::fixed(Rate::from_gbps(100), Span::from_micros(1));
    let mut link = host_up.clone();
    link.discipline = DisciplineSpec::DropTail { capacity: Capacity::Bytes(100 * CSG_MTU) };
    link.marking = MarkingSpec::Threshold { bytes: 25 * CSG_MTU };
    Topology::FatTree(FatTree { k, link, host_up })
}

fn dumbbell(flows: u32) -> Topology {
    let rate = Rate::from_mbps(100 * u64::from(flows));
    let reverse = LinkSpec::fixed(rate, Span::from_micros(490));
    let mut bottleneck = reverse.clone();
    // One product of 100 Mb/s and 1 ms a flow: 12 500 B.
    bottleneck.discipline = DisciplineSpec::DropTail { capacity: Capacity::Bytes(12_500 * u64::from(flows)) };
    let access = LinkSpec::fixed(Rate::from_gbps(100), Span::from_micros(5));
    Topology::Dumbbell(Dumbbell {
        pairs: flows,
        access,
        extra_delay: vec![],
        extra_side: Side::Left,
        delivery: vec![],
        bottleneck,
        reverse,
    })
}

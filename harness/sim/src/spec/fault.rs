//! What breaks, and when.

use cc_algos::Span;

/// Links that swallow every packet, data and acknowledgements, for a time. Switches and senders are told nothing: routes stay as they
/// are, as in the first moments after a real link has failed, or with `-fail_one` of the Uno artifact for the whole of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpec {
    /// The direction of links that it is about, by the name that results give to its ports: `bottleneck`, `edge-up`, `core-down`,
    /// `dc0-to-dc1`, ... The other direction has a name of its own.
    pub group: String,
    /// Which of them.
    pub links: FaultLinks,
    /// When it begins.
    pub from: Span,
    /// When it is over; `None` is the end of the run.
    pub until: Option<Span>,
}

/// Which links of a group fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultLinks {
    /// All.
    All,
    /// Those with these numbers, from 0, in the order in which the topology lays them.
    These(Vec<u32>),
    /// So many, drawn by the seed.
    Random(u32),
}

//! What is simulated: plain data, validated before a run.

use cc_algos::{Span, Timestamp};

use crate::ids::{FlowId, HostId};

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

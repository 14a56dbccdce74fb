//! A middlebox that thins out pure ACKs, as cable and satellite links do to save their narrow upstream.

use std::collections::BTreeMap;

use cc_algos::Span;

use super::{PacketClass, PacketInfo};
use crate::error::{SpecError, ensure};
use crate::time::SimTime;

/// Of each flow's pure ACKs every n-th passes, and also any that comes at least `hold` after the one that passed before.
///
/// The others are dropped at once: nothing is kept back to be sent later, so the last ACK of a burst can be lost, and
/// its sender then waits for a further ACK or its own timeout. That is what counting middleboxes do; `hold` only makes
/// sure that a slow stream of ACKs passes whole. Data packets and notices always pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckThinning {
    /// Which of a flow's ACKs passes: every n-th, counted from the last that passed.
    pub every: u32,
    /// Longest silence that thinning makes while ACKs come.
    pub hold: Span,
}

impl AckThinning {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If `every` is zero.
    pub fn validate(&self) -> Result<(), SpecError> {
        ensure(self.every > 0, "ack thinning", self.every, "every first ack or a higher number")
    }
}

/// Thins the ACKs of all flows of a link.
#[derive(Clone, Debug)]
pub(super) struct Thinner {
    spec: AckThinning,
    flows: BTreeMap<u32, Flow>,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    passed_at: SimTime,
    dropped_since: u32,
}

impl Thinner {
    pub(super) fn new(spec: AckThinning) -> Self {
        Self { spec, flows: BTreeMap::new() }
    }

    /// Whether the packet passes. The first ACK of a flow does.
    pub(super) fn keeps(&mut self, now: SimTime, packet: &PacketInfo) -> bool {
        if packet.class != PacketClass::PureAck {
            return true;
        }
        let flow = self.flows.entry(packet.flow).or_insert(Flow { passed_at: now, dropped_since: self.spec.every });
        let due = flow.dropped_since.saturating_add(1) >= self.spec.every;
        if due || now >= flow.passed_at + self.spec.hold {
            *flow = Flow { passed_at: now, dropped_since: 0 };
            return true;
        }
        flow.dropped_since += 1;
        false
    }
}

//! `flowlet`: a new route after each pause of the sender (Sinha et al., HotNets-III 2004; Kandula et al., CCR 37(2), 2007).
//!
//! ```text
//! a packet leaves   now - last > gap: entropy = random
//!                   last = now
//! ```
//!
//! A gap that is longer than the difference of the routes' delays keeps packets in order.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `gap` | time | 500 us | CONGA (Alizadeh et al., SIGCOMM'14, section 3.4) |
//! | `entropies` | entropies | 2^20 | the width of an IPv6 flow label, RFC 6437 |
//!
//! ## Differences from the reference
//!
//! | | reference | here |
//! |---|---|---|
//! | who sees the gap | a switch, among the packets of a flow that reach it | the sender, as they leave. Switches can do it too, see the simulator |
//! | which route next | FLARE: the one that lags behind its share; CONGA: the least congested; LetFlow (Vanini et al., NSDI'17): a random one | a random one, perhaps the same |

use cc_algos::ids::Entropy;
use cc_algos::registry::{Param, Value};
use cc_algos::units::{Span, Timestamp};

use super::draw::{Draw, FLOW_LABELS};
use super::registry::Kind;
use super::{Balancer, PathView, Setup, entropies};

/// Draws a new entropy after each gap in sending.
#[derive(Clone, Debug)]
pub struct Flowlet {
    gap: Span,
    draw: Draw,
    entropy: Entropy,
    last: Timestamp,
}

impl Flowlet {
    /// A flow whose route changes after gaps longer than `gap`.
    pub fn new(setup: &Setup, gap: Span, entropies: u32) -> Self {
        let mut draw = Draw::new(setup.seed, entropies);
        let entropy = draw.entropy();
        Self { gap, draw, entropy, last: setup.now }
    }
}

impl Balancer for Flowlet {
    fn next_entropy(&mut self, path: &PathView) -> Entropy {
        if path.now.saturating_since(self.last) > self.gap {
            self.entropy = self.draw.entropy();
        }
        self.last = path.now;
        self.entropy
    }

    fn clone_box(&self) -> Box<dyn Balancer> {
        Box::new(self.clone())
    }
}

pub(super) fn kind() -> Kind {
    let source = "Kandula et al., CCR 2007; Vanini et al., NSDI'17";
    Kind::new("flowlet", "a new random route after each pause in sending", source, |args, setup| {
        Ok(Box::new(Flowlet::new(setup, args.span("gap"), entropies(args))))
    })
    .with_param(Param::new("gap", Value::Span(Span::from_micros(500)), "pause after which the route changes"))
    .with_param(super::entropies_param(FLOW_LABELS))
}

#[cfg(test)]
mod tests {
    use super::super::testing::view;
    use super::*;

    #[test]
    fn only_a_longer_pause_than_the_gap_changes_the_route() {
        let mut flowlet = Flowlet::new(&Setup::new(Timestamp::ZERO, 1), Span::from_nanos(100), FLOW_LABELS);
        let mut at = |now| flowlet.next_entropy(&view(now));
        let first = at(100);
        assert_eq!(at(150), first);
        assert_eq!(at(250), first, "a pause of the gap itself is none");
        let second = at(351);
        assert_ne!(second, first);
        assert_eq!(at(352), second);
    }
}

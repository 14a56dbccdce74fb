//! `uno`: UnoLB, the balancer of Uno (SC'25, arXiv 2510.15802), as its artifact has it (`spcl/Uno_SC25`, commit 68d164e:
//! `lcp.cpp`, `-strat simple_subflow`; of the paper only the abstract could be had).
//!
//! ```text
//! at the start         entropy[i] = random, answered[i] = rerouted[i] = now    for each subflow i
//! packet n leaves      on subflow n mod subflows
//! packet n arrived     answered[n mod subflows] = now, marked or not
//! loss, timeout        for each subflow i with now - rerouted[i] > base RTT and now - answered[i] > base RTT / 2:
//!                      entropy[i] = random, rerouted[i] = now
//! ```
//!
//! A coded block of as many packets as subflows touches each once, so that a dead route costs it one packet. Marks reroute
//! nothing.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `subflows` | subflows | 10 | the artifact (`-num_subflow`): as many as a block of 8 + 2 has packets |
//! | `entropies` | entropies | 250 | the artifact (`rand() % 250`) |
//!
//! ## Differences from the reference
//!
//! | | reference | here |
//! |---|---|---|
//! | base RTT | configured | the oracle's if there is one, else the smallest RTT sample; before the first, any time is longer |
//! | what reroutes | NACKs of coded blocks, retransmission timeouts | any loss that is found, and probe timeouts (RFC 9002, section 6.2) |
//! | subflow of a packet | its turn, echoed by the receiver | its number modulo `subflows`: the same, but numbers that are left out or bear no data leave out a turn |
//! | several packet-number spaces | none | subflows are shared among them |

use cc_algos::ids::Entropy;
use cc_algos::registry::{Param, Value};
use cc_algos::units::{Span, Timestamp};

use super::draw::Draw;
use super::registry::Kind;
use super::{Balancer, Fate, PathView, Setup, Verdict, entropies};

/// Parameters of [`Uno`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnoParams {
    /// Routes in use at a time; none count as one.
    pub subflows: usize,
    /// How many entropies there are.
    pub entropies: u32,
}

impl Default for UnoParams {
    fn default() -> Self {
        Self { subflows: 10, entropies: 250 }
    }
}

#[derive(Clone, Copy, Debug)]
struct Subflow {
    entropy: Entropy,
    answered: Timestamp,
    rerouted: Timestamp,
}

/// Takes a few routes in turn and replaces those that fall silent.
#[derive(Clone, Debug)]
pub struct Uno {
    subflows: Box<[Subflow]>,
    draw: Draw,
    /// The configured one, where it is told.
    base_rtt: Option<Span>,
}

impl Uno {
    /// A flow with these parameters.
    pub fn new(setup: &Setup, params: UnoParams) -> Self {
        let mut draw = Draw::new(setup.seed, params.entropies);
        let subflow = |_| Subflow { entropy: draw.entropy(), answered: setup.now, rerouted: setup.now };
        Self { subflows: (0..params.subflows.max(1)).map(subflow).collect(), draw, base_rtt: setup.base_rtt }
    }

    fn subflow(&mut self, packet_number: u64) -> &mut Subflow {
        let count = self.subflows.len() as u64;
        &mut self.subflows[(packet_number % count) as usize]
    }

    fn reroute(&mut self, path: &PathView) {
        let base_rtt = self.base_rtt.or(path.min_rtt).unwrap_or(Span::ZERO);
        for subflow in &mut self.subflows {
            let since_reroute = path.now.saturating_since(subflow.rerouted);
            let since_answer = path.now.saturating_since(subflow.answered);
            if since_reroute > base_rtt && since_answer.saturating_mul(2) > base_rtt {
                subflow.entropy = self.draw.entropy();
                subflow.rerouted = path.now;
            }
        }
    }
}

impl Balancer for Uno {
    fn next_entropy(&mut self, path: &PathView) -> Entropy {
        self.subflow(path.next_packet_number).entropy
    }

    fn on_verdict(&mut self, fate: &Fate, path: &PathView) {
        match fate.verdict {
            Verdict::Good | Verdict::Ecn => self.subflow(fate.packet_number).answered = path.now,
            Verdict::Nack | Verdict::Timeout => self.reroute(path),
        }
    }

    fn on_probe_timeout(&mut self, path: &PathView) {
        self.reroute(path);
    }

    fn listens(&self) -> bool {
        true
    }

    fn clone_box(&self) -> Box<dyn Balancer> {
        Box::new(self.clone())
    }
}

pub(super) fn kind() -> Kind {
    let defaults = UnoParams::default();
    let source = "Uno, SC'25: UnoLB";
    Kind::new("uno", "a few routes in turn, of which silent ones are replaced", source, |args, setup| {
        let params = UnoParams { subflows: args.integer("subflows") as usize, entropies: entropies(args) };
        Ok(Box::new(Uno::new(setup, params)))
    })
    .with_param(
        Param::new("subflows", Value::Integer(defaults.subflows as u64), "routes in use at a time")
            .within(1.0, 4_096.0),
    )
    .with_param(super::entropies_param(defaults.entropies))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fate, view};
    use super::*;

    const BASE_RTT: u64 = 1_000;

    /// Four subflows; entropies so many that a draw that changes nothing does not happen.
    fn uno(oracle: Option<u64>) -> Uno {
        let mut setup = Setup::new(Timestamp::ZERO, 11);
        setup.base_rtt = oracle.map(Span::from_nanos);
        Uno::new(&setup, UnoParams { subflows: 4, entropies: 1 << 20 })
    }

    fn routes(uno: &Uno) -> Vec<Entropy> {
        uno.subflows.iter().map(|subflow| subflow.entropy).collect()
    }

    fn tell(uno: &mut Uno, now: u64, packet_number: u64, verdict: Verdict) {
        uno.on_verdict(&Fate { packet_number, ..fate(Entropy(0), verdict) }, &view(now));
    }

    /// Which subflows a loss at `now` reroutes.
    fn rerouted(uno: &mut Uno, now: u64) -> Vec<usize> {
        let before = routes(uno);
        tell(uno, now, 0, Verdict::Nack);
        let after = routes(uno);
        (0..before.len()).filter(|index| before[*index] != after[*index]).collect()
    }

    #[test]
    fn as_many_packets_as_subflows_touch_each_once() {
        let mut uno = uno(Some(BASE_RTT));
        let expected = routes(&uno);
        for first in [0, 4, 400] {
            let mut leave = |number| uno.next_entropy(&PathView { next_packet_number: number, ..view(0) });
            assert_eq!((first..first + 4).map(&mut leave).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_route_is_left_after_more_than_half_a_base_rtt_of_silence() {
        let mut uno = uno(Some(BASE_RTT));
        for (packet, answered) in [(4, 1_500), (5, 1_499), (6, 1_900)] {
            tell(&mut uno, answered, packet, Verdict::Good);
        }
        // At 2 000 ns, half a base RTT ago is 1 500: packet 4 was answered just then, packet 5 a nanosecond before, and of
        // subflow 3 nothing was heard since the start.
        assert_eq!(rerouted(&mut uno, 2_000), [1, 3]);
    }

    #[test]
    fn a_route_is_left_no_sooner_than_a_base_rtt_after_the_last_time() {
        let mut uno = uno(Some(BASE_RTT));
        assert_eq!(rerouted(&mut uno, 1_000), [], "the flow began a base RTT ago, not longer");
        assert_eq!(rerouted(&mut uno, 1_001), [0, 1, 2, 3]);
        assert_eq!(rerouted(&mut uno, 2_001), []);
        assert_eq!(rerouted(&mut uno, 2_002), [0, 1, 2, 3]);
    }

    #[test]
    fn marked_packets_are_answers_and_timeouts_reroute_as_losses_do() {
        let mut uno = uno(Some(BASE_RTT));
        (0..3).for_each(|packet| tell(&mut uno, 1_900, packet, Verdict::Ecn));
        let before = routes(&uno);
        uno.on_probe_timeout(&view(2_000));
        let after = routes(&uno);
        assert_eq!(before[..3], after[..3]);
        assert_ne!(before[3], after[3]);
        tell(&mut uno, 3_001, 0, Verdict::Timeout);
        assert!(routes(&uno).iter().zip(&after).all(|(now, then)| now != then));
    }

    #[test]
    fn without_an_oracle_the_smallest_rtt_counts_and_without_any_all_routes_are_left() {
        let mut estimating = uno(None);
        let before = routes(&estimating);
        let lost = fate(Entropy(0), Verdict::Nack);
        let known = |now| PathView { min_rtt: Some(Span::from_nanos(BASE_RTT)), ..view(now) };
        estimating.on_verdict(&lost, &known(1_000));
        assert_eq!(routes(&estimating), before);
        estimating.on_verdict(&lost, &known(1_001));
        assert_ne!(routes(&estimating), before);
        assert_eq!(rerouted(&mut uno(None), 1), [0, 1, 2, 3]);
    }
}

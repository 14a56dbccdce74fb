//! `plb`: Protective Load Balancing (Qureshi et al., SIGCOMM'22), as Linux has it (`net/ipv4/tcp_plb.c` and
//! `tcp_dctcp.c`, 6.x).
//!
//! ```text
//! round over            share of its packets marked >= threshold: congested = min(congested + 1, rounds), else 0
//!                       (a round is over when a packet is acknowledged that was sent after it began)
//! then, and as a packet leaves with nothing in flight
//!                       congested >= rounds, or nothing in flight and congested >= idle_rounds > 0,
//!                       and no pause: entropy = random, congested = 0
//! timeout               entropy = random, congested = 0, pause until now + random from [pause, 2 pause)
//! ```
//!
//! The pause keeps marks from leading a flow back onto the route that the timeout made it leave.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `threshold` | share of packets | 0.5 | `tcp_plb_cong_thresh` = 128 / 256 |
//! | `rounds` | round trips | 12 | `tcp_plb_rehash_rounds` |
//! | `idle_rounds` | round trips, 0 for never | 3 | `tcp_plb_idle_rehash_rounds` |
//! | `pause` | time | 60 s | `tcp_plb_suspend_rto_sec` |
//! | `entropies` | entropies | 2^20 | the width of an IPv6 flow label, which Linux draws anew |
//!
//! The paper's evaluation asks for fewer rounds; the artifact of Uno (`spcl/Uno_SC25`, `lcp.cpp`) has `threshold` 0.25 and
//! reroutes after two congested rounds.
//!
//! ## Differences from the reference
//!
//! | | reference | here |
//! |---|---|---|
//! | a round is over | when everything sent before it began is acknowledged | when something sent since is: routes keep the order of packets, so that mostly it is the same |
//! | share of marks | in 1/256, rounded down | exact |
//! | timeout | the retransmission timeout | a probe timeout (RFC 9002, section 6.2), or the timeout of a packet that bears the current entropy: packets that had left on another route say nothing of this one |
//! | negative pause after a clock wraps | handled | clocks do not wrap |

use cc_algos::ids::Entropy;
use cc_algos::registry::{Param, Value};
use cc_algos::units::{Span, Timestamp};

use super::draw::{Draw, FLOW_LABELS};
use super::registry::Kind;
use super::{Balancer, Fate, PathView, Setup, Verdict, entropies};

/// Parameters of [`Plb`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlbParams {
    /// Share of a round's packets that makes it congested.
    pub threshold: f64,
    /// Congested rounds after which the route changes.
    pub rounds: u64,
    /// Congested rounds after which it changes while nothing is in flight; `None` for never.
    pub idle_rounds: Option<u64>,
    /// Shortest time after a timeout during which marks change nothing; the longest is twice that.
    pub pause: Span,
    /// How many entropies there are.
    pub entropies: u32,
}

impl Default for PlbParams {
    fn default() -> Self {
        Self { threshold: 0.5, rounds: 12, idle_rounds: Some(3), pause: Span::from_secs(60), entropies: FLOW_LABELS }
    }
}

/// What arrived since a round began.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// The first packet sent after it began: its acknowledgement ends the round.
    ended_by: u64,
    arrived: u64,
    marked: u64,
}

/// Leaves a route that stays congested for several round trips, or falls silent.
#[derive(Clone, Debug)]
pub struct Plb {
    params: PlbParams,
    draw: Draw,
    entropy: Entropy,
    round: Round,
    congested: u64,
    paused_until: Option<Timestamp>,
}

impl Plb {
    /// A flow with these parameters.
    pub fn new(setup: &Setup, params: PlbParams) -> Self {
        let mut draw = Draw::new(setup.seed, params.entropies);
        let entropy = draw.entropy();
        Self { params, draw, entropy, round: Round::default(), congested: 0, paused_until: None }
    }

    fn on_arrival(&mut self, fate: &Fate, path: &PathView) {
        self.round.arrived += 1;
        self.round.marked += u64::from(fate.verdict == Verdict::Ecn);
        if fate.packet_number < self.round.ended_by {
            return;
        }
        let Round { arrived, marked, .. } = self.round;
        let congested = marked as f64 >= self.params.threshold * arrived as f64;
        self.congested = if congested { (self.congested + 1).min(self.params.rounds) } else { 0 };
        self.round = Round { ended_by: path.next_packet_number, ..Round::default() };
        self.leave_congestion(path);
    }

    fn leave_congestion(&mut self, path: &PathView) {
        let idle = self.params.idle_rounds.is_some_and(|rounds| path.in_flight == 0 && self.congested >= rounds);
        let paused = self.paused_until.is_some_and(|until| path.now < until);
        if (idle || self.congested >= self.params.rounds) && !paused {
            self.rehash();
        }
    }

    fn leave_silence(&mut self, now: Timestamp) {
        let pause = self.params.pause;
        self.paused_until = Some(now + pause + self.draw.span(pause));
        self.rehash();
    }

    fn rehash(&mut self) {
        self.entropy = self.draw.entropy();
        self.congested = 0;
    }
}

impl Balancer for Plb {
    fn next_entropy(&mut self, path: &PathView) -> Entropy {
        if path.in_flight == 0 {
            self.leave_congestion(path);
        }
        self.entropy
    }

    fn on_verdict(&mut self, fate: &Fate, path: &PathView) {
        match fate.verdict {
            Verdict::Good | Verdict::Ecn => self.on_arrival(fate, path),
            Verdict::Timeout if fate.entropy == self.entropy => self.leave_silence(path.now),
            Verdict::Nack | Verdict::Timeout => {}
        }
    }

    fn on_probe_timeout(&mut self, path: &PathView) {
        self.leave_silence(path.now);
    }

    fn listens(&self) -> bool {
        true
    }

    fn clone_box(&self) -> Box<dyn Balancer> {
        Box::new(self.clone())
    }
}

pub(super) fn kind() -> Kind {
    let PlbParams { threshold, rounds, pause, entropies: count, .. } = PlbParams::default();
    let source = "Qureshi et al., SIGCOMM'22; Linux, tcp_plb.c";
    Kind::new("plb", "a new random route after congested round trips, or a timeout", source, |args, setup| {
        let params = PlbParams {
            threshold: args.number("threshold"),
            rounds: args.integer("rounds"),
            idle_rounds: Some(args.integer("idle_rounds")).filter(|rounds| *rounds > 0),
            pause: args.span("pause"),
            entropies: entropies(args),
        };
        Ok(Box::new(Plb::new(setup, params)))
    })
    .with_param(
        Param::new("threshold", Value::Number(threshold), "share of marked packets that makes a round trip congested")
            .within(1e-6, 1.0),
    )
    .with_param(
        Param::new("rounds", Value::Integer(rounds), "congested round trips after which the route changes")
            .within(1.0, 1e6),
    )
    .with_param(
        Param::new("idle_rounds", Value::Integer(3), "the same while nothing is in flight; 0 for never")
            .within(0.0, 1e6),
    )
    .with_param(Param::new("pause", Value::Span(pause), "shortest time after a timeout in which marks change nothing"))
    .with_param(super::entropies_param(count))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fate, view};
    use super::*;

    fn plb(rounds: u64, idle_rounds: Option<u64>) -> Plb {
        let params = PlbParams { rounds, idle_rounds, pause: Span::from_nanos(1_000), ..PlbParams::default() };
        Plb::new(&Setup::new(Timestamp::ZERO, 7), params)
    }

    /// A sender with a window of four packets. The first of a window ends the round before; of the other three, so many
    /// arrive marked, so that the round of a window is judged once the next one comes back.
    struct Loop {
        plb: Plb,
        next: u64,
        now: u64,
    }

    impl Loop {
        fn view(&self, in_flight: u64) -> PathView {
            PathView { next_packet_number: self.next, in_flight, ..view(self.now) }
        }

        fn round(&mut self, marked: u64) -> Entropy {
            let first = self.next;
            for _ in 0..4 {
                self.plb.next_entropy(&self.view(4));
                self.next += 1;
            }
            self.now += 100;
            for number in first..self.next {
                let verdict = if (1..=marked).contains(&(number - first)) { Verdict::Ecn } else { Verdict::Good };
                let fate = Fate { packet_number: number, ..fate(self.plb.entropy, verdict) };
                self.plb.on_verdict(&fate, &self.view(4));
            }
            self.plb.next_entropy(&self.view(4))
        }
    }

    /// The very first packet ends a round of its own.
    fn started(plb: Plb) -> Loop {
        let mut flight = Loop { plb, next: 0, now: 0 };
        flight.round(0);
        flight
    }

    #[test]
    fn the_route_changes_after_so_many_congested_rounds_in_a_row() {
        let mut flight = started(plb(3, None));
        let first = flight.plb.entropy;
        for marked in [2, 2, 1, 2, 2, 2] {
            assert_eq!(flight.round(marked), first, "a round below the threshold starts the count afresh");
        }
        assert_ne!(flight.round(2), first);
    }

    #[test]
    fn half_the_packets_are_enough_and_less_are_not() {
        let mut at = started(plb(2, None));
        let first = at.plb.entropy;
        assert_eq!((0..20).map(|_| at.round(1)).filter(|entropy| *entropy != first).count(), 0);
        let changes: Vec<_> = (0..20).map(|_| at.round(2)).collect();
        // Each change takes two rounds.
        assert_eq!(changes.windows(2).filter(|pair| pair[0] != pair[1]).count(), 9, "{changes:?}");
    }

    #[test]
    fn an_idle_sender_changes_its_route_sooner() {
        for (idle_rounds, changes) in [(Some(2), true), (Some(4), false), (None, false)] {
            let mut at = started(plb(12, idle_rounds));
            let first = at.plb.entropy;
            (0..4).for_each(|_| _ = at.round(3));
            assert_eq!(at.plb.entropy, first);
            assert_eq!(at.plb.congested, 3);
            let idle = at.view(0);
            assert_eq!(at.plb.next_entropy(&idle) != first, changes, "{idle_rounds:?}");
        }
    }

    #[test]
    fn after_a_timeout_marks_change_nothing_for_a_while() {
        let mut at = started(plb(1, None));
        let first = at.plb.entropy;
        at.plb.on_probe_timeout(&at.view(4));
        let second = at.plb.entropy;
        assert_ne!(second, first);
        // From 1 000 to 2 000 ns from now on, of which 1 000 are certain.
        for _ in 0..9 {
            assert_eq!(at.round(3), second, "at {}", at.now);
        }
        (0..11).for_each(|_| _ = at.round(3));
        assert_ne!(at.plb.entropy, second);
    }

    #[test]
    fn a_packets_timeout_says_nothing_of_a_route_it_did_not_take() {
        let mut plb = plb(12, None);
        let first = plb.entropy;
        plb.on_verdict(&fate(first, Verdict::Timeout), &view(0));
        let second = plb.entropy;
        assert_ne!(second, first);
        plb.on_verdict(&fate(first, Verdict::Timeout), &view(0));
        assert_eq!(plb.entropy, second);
        plb.on_verdict(&fate(second, Verdict::Nack), &view(0));
        assert_eq!(plb.entropy, second, "losses alone are no silence");
    }
}

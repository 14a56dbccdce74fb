//! `annulus`: Saeed et al., *Annulus: A Dual Congestion Control Loop for Datacenter and WAN Traffic Aggregates*, SIGCOMM'20.
//!
//! ```text
//! end to end    an unchanged controller                                  window, rate
//! near source   a notice of a switch: Fb = -((Q - Q_eq) + w (Q - Q_old)); if Fb < 0:
//!               q = min(63, 63 |Fb| / (Q_eq (2 w + 1))), whole;  target = rate; rate *= 1 - G_d q
//!               afterwards the stages of `reaction_point`, until the rate is the port's again
//! sends at      the smaller of the two rates
//! ```
//!
//! A bottleneck near the source is heard of within microseconds, whatever the RTT of the path. While the near-source loop
//! is the smaller one, the end-to-end loop does not grow: it is not what holds the sender back.
//!
//! Of the paper only the abstract could be had, and a reader's notes: there are two loops, switches near the source send
//! feedback straight back by QCN, and congestion anywhere else is left to the controller that the traffic has. The law of
//! the near loop is after QCN (IEEE 802.1Qau) as vendors' manuals and the simulator `csg-htsim` (`qcn.cpp`) describe it: Fb,
//! its 6 bits, w = 2 and the largest cut of a half are checked there. **Annulus' own constants are unverified.**
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `end_to_end` | a controller | `dctcp` | the abstract: DCTCP or DCQCN inside, BBR for the wide area. DCTCP is the one of them that keeps a switch's queue short |
//! | `w` | weight of the queue's growth | 2 | htsim; QCN |
//! | `gd` (G_d) | share a step of q | 1/128 | QCN: 63 steps cut about a half, htsim's largest cut |
//! | `threshold` | stages of fast recovery | 5 | htsim |
//! | `byte_counter` | bytes of a stage | 150 kB | htsim: 100 packets of 1 500 B |
//! | `timer` | length of a stage | 15 ms | 802.1Qau (`rpgTimeReset`), recalled |
//! | `increase`, `hyper_increase` | bit/s a stage | 5, 50 Mb/s | 802.1Qau (`rpgAiRate`, `rpgHaiRate`), recalled; htsim: 0.5 Mb/s |
//! | `min_rate` | bit/s | 10 Mb/s | 802.1Qau (`rpgMinRate`), recalled; htsim: 1 Mb/s |
//!
//! ## Differences from the reference
//!
//! | | QCN | here |
//! |---|---|---|
//! | Fb | reckoned and quantised by the switch | reckoned here from what the notice holds |
//! | notices in a row | each reduces | only those for packets sent after the last reduction: the rest tell of the same congestion, and forged ones are bounded by that |
//! | rate limiter | per flow at the adapter | the smaller rate paces, and bounds the window to rate x smoothed RTT |
//! | end-to-end controllers | BBR, DCTCP, DCQCN | these, `cubic` and `newreno` |
//! | which of them | the host's, by where its traffic goes | the parameter's, whatever the distance: a flow learns that with its first RTT, when its first window is out. Traffic of both kinds is two contestants, `annulus` and `annulus?end_to_end=bbr` |

use super::InvalidParam;
use super::bbr::{Bbr, BbrParams};
use super::cubic::{Cubic, CubicParams};
use super::dcqcn::{Dcqcn, DcqcnParams};
use super::dctcp::{Dctcp, DctcpParams};
use super::newreno::{NewReno, NewRenoParams};
use super::reaction_point::{ReactionPoint, Stages};
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Limit, PacketTag, Sent, Setup};
use crate::declare::{Declaration, Family, Law, Need, Reductions};
use crate::receiver::NotificationPoint;
use crate::registry::{Algorithm, Args, Choice, Param, Value};
use crate::signal::{Ecn, NearSource, PathChange, Signal};
use crate::units::{Rate, Span, Timestamp, round_to_u64};

/// Largest quantised feedback: six bits.
const MAX_FEEDBACK: f64 = 63.0;

/// Names of the controllers that the end-to-end loop may be; the first is the default.
const END_TO_END: &[&str] = &["dctcp", "bbr", "cubic", "newreno", "dcqcn"];

/// Parameters of the near-source loop.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct AnnulusParams {
    /// Weight of the queue's growth in the feedback; not negative.
    pub w: f64,
    /// Share of the rate that a step of the feedback takes; above 0, at most 1/64.
    pub gd: f64,
    /// How the rate recovers.
    pub stages: Stages,
}

impl Default for AnnulusParams {
    fn default() -> Self {
        Self {
            w: 2.0,
            gd: 1.0 / 128.0,
            stages: Stages {
                threshold: 5,
                byte_reset: 150_000,
                time_reset: Span::from_millis(15),
                increase: Rate::from_mbps(5),
                hyper_increase: Rate::from_mbps(50),
                min_rate: Rate::from_mbps(10),
            },
        }
    }
}

impl AnnulusParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(self.w >= 0.0 && self.w.is_finite(), "w", "a weight of 0 or more")?;
        InvalidParam::unless(self.gd > 0.0 && self.gd <= 1.0 / 64.0, "gd", "above 0, at most 1/64")?;
        self.stages.validate()
    }

    /// The quantised feedback that a notice amounts to; 0 asks for nothing.
    fn feedback(&self, notice: &NearSource) -> f64 {
        let set_point = notice.set_point_bytes.max(1) as f64;
        let queue = notice.queue_bytes as f64;
        let congestion = (queue - set_point) + self.w * (queue - notice.former_queue_bytes as f64);
        let full = set_point * (2.0 * self.w + 1.0);
        libm::floor(MAX_FEEDBACK * congestion / full).clamp(0.0, MAX_FEEDBACK)
    }
}

/// Two loops around one flow.
#[derive(Debug)]
pub struct Annulus {
    params: AnnulusParams,
    end_to_end: Box<dyn Controller>,
    /// The near-source loop, while it has something to say.
    near: Option<ReactionPoint>,
    /// When it reduced its rate last.
    reduced_at: Option<Timestamp>,
    smoothed_rtt: Option<Span>,
    mtu: u64,
}

impl Annulus {
    /// Two loops for a flow that begins as `setup` says, of which `end_to_end` is one.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: AnnulusParams, end_to_end: Box<dyn Controller>, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let mtu = setup.mtu.max(1);
        Ok(Self { params, end_to_end, near: None, reduced_at: None, smoothed_rtt: None, mtu })
    }

    /// The rate of the end-to-end loop; `None` before the first RTT sample if it sets none.
    fn end_to_end_rate(&self) -> Option<Rate> {
        self.end_to_end.pacing_rate().or_else(|| {
            let nanos = self.smoothed_rtt?.as_nanos();
            (nanos > 0).then(|| Rate::from_bps(round_to_u64(self.end_to_end.window() as f64 * 8e9 / nanos as f64)))
        })
    }

    /// The rate of the near-source loop, if it is not above the other.
    fn binding(&self) -> Option<Rate> {
        let near = self.near.as_ref()?.current();
        self.end_to_end_rate().is_none_or(|rate| near <= rate).then_some(near)
    }

    /// The sender as the end-to-end loop is to see it: where the other loop holds it back, the window is not in use.
    fn seen<'a>(&self, flight: &Flight<'a>) -> Flight<'a> {
        match self.binding() {
            Some(_) => Flight { limit: Limit::Application, ..*flight },
            None => *flight,
        }
    }

    fn on_notice(&mut self, now: Timestamp, notice: &NearSource) {
        let feedback = self.params.feedback(notice);
        if feedback < 1.0 || notice.port_rate == Rate::ZERO || self.is_old_news(now, notice) {
            return;
        }
        let rate = self.end_to_end_rate().unwrap_or(notice.port_rate).min(notice.port_rate).max(Rate::from_bps(1));
        let near = self.near.get_or_insert_with(|| ReactionPoint::new(self.params.stages, rate));
        near.lower_to(rate);
        near.set_ceiling(now, notice.port_rate);
        near.reduce(now, self.params.gd * feedback);
        self.reduced_at = Some(now);
    }

    /// Whether a notice tells of a time before the last reduction. A packet that is settled already was sent a round trip
    /// ago or earlier.
    fn is_old_news(&self, now: Timestamp, notice: &NearSource) -> bool {
        let Some(reduced_at) = self.reduced_at else { return false };
        match notice.triggered_by_sent_at {
            Some(sent_at) => sent_at <= reduced_at,
            None => now.saturating_since(reduced_at) <= self.smoothed_rtt.unwrap_or(Span::MAX),
        }
    }

    /// The near-source loop ends where it has nothing more to say.
    fn release(&mut self) {
        if self.near.as_ref().is_some_and(ReactionPoint::is_recovered) {
            self.near = None;
        }
    }
}

impl Clone for Annulus {
    fn clone(&self) -> Self {
        let (params, end_to_end, near) = (self.params.clone(), self.end_to_end.clone_box(), self.near.clone());
        Self { params, end_to_end, near, ..*self }
    }
}

impl Controller for Annulus {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        if let Some(near) = &mut self.near {
            near.on_sent(sent.now, u64::from(sent.bytes), flight.limit.allows_growth());
            self.release();
        }
        let seen = self.seen(flight);
        self.end_to_end.on_sent(sent, &seen)
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.smoothed_rtt = flight.smoothed_rtt.or(self.smoothed_rtt);
        let seen = self.seen(flight);
        self.end_to_end.on_feedback(feedback, &seen);
    }

    fn on_signal(&mut self, now: Timestamp, signal: &Signal, flight: &Flight<'_>) {
        match signal {
            Signal::NearSource(notice) => self.on_notice(now, notice),
            Signal::MtuChange { mtu } => self.mtu = (*mtu).max(1),
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                (self.near, self.reduced_at, self.smoothed_rtt) = (None, None, None);
            }
            _ => {}
        }
        let seen = self.seen(flight);
        self.end_to_end.on_signal(now, signal, &seen);
    }

    fn on_timer(&mut self, now: Timestamp, flight: &Flight<'_>) {
        if let Some(near) = &mut self.near {
            near.on_timer(now, flight.limit.allows_growth());
            self.release();
        }
        if self.end_to_end.next_timer().is_some_and(|at| at <= now) {
            let seen = self.seen(flight);
            self.end_to_end.on_timer(now, &seen);
        }
    }

    fn next_timer(&self) -> Option<Timestamp> {
        let near = self.near.as_ref().and_then(ReactionPoint::next_timer);
        near.into_iter().chain(self.end_to_end.next_timer()).min()
    }

    fn window(&self) -> u64 {
        let window = self.end_to_end.window();
        let near = self.near.as_ref().zip(self.smoothed_rtt).map(|(near, rtt)| near.current().bytes_in(rtt));
        near.map_or(window, |bytes| bytes.max(self.mtu).min(window))
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let near = self.near.as_ref().map(ReactionPoint::current);
        near.into_iter().chain(self.end_to_end.pacing_rate()).min()
    }

    fn send_quantum(&self) -> Option<u64> {
        self.end_to_end.send_quantum()
    }

    fn ecn(&self) -> Ecn {
        self.end_to_end.ecn()
    }

    fn in_slow_start(&self) -> bool {
        self.binding().is_none() && self.end_to_end.in_slow_start()
    }

    fn state(&self) -> ControllerState {
        let mut state = self.end_to_end.state();
        (state.window, state.pacing_rate) = (self.window(), self.pacing_rate());
        if self.binding().is_some() {
            state.phase = "near_source";
        }
        match &self.near {
            Some(near) => state.with_gauge("near_rate", near.current().as_bps() as f64),
            None => state,
        }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.end_to_end.handover()
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "annulus";
    let summary = "an end-to-end loop, and one that hears of congestion near the source at once";
    Algorithm::new(NAME, summary, "Annulus, SIGCOMM'20; QCN, IEEE 802.1Qau", |args, setup| {
        let inner = end_to_end(args.choice("end_to_end").name(), setup).map_err(|error| error.of(NAME))?;
        Ok(Box::new(Annulus::new(params(args), inner, setup).map_err(|error| error.of(NAME))?))
    })
    .with_receiver(|args, rule| match args.choice("end_to_end").name() {
        "dcqcn" => Box::new(NotificationPoint::new(rule, NotificationPoint::INTERVAL)),
        _ => Box::new(rule),
    })
    .declaring(
        Declaration::new(Family::AcrossDatacentres)
            .law(Law::Model)
            .needing(Need::Ecn)
            .needing(Need::NearSource)
            .needing(Need::CongestionNotification)
            .min_window(1.0)
            .reductions(Reductions::Unbounded)
            .utilisation(0.8),
    )
    .with_params(all_params())
}

fn end_to_end(name: &str, setup: &Setup) -> Result<Box<dyn Controller>, InvalidParam> {
    Ok(match name {
        "bbr" => Box::new(Bbr::new(BbrParams::default(), setup)?),
        "dctcp" => Box::new(Dctcp::new(DctcpParams::default(), setup)?),
        "newreno" => Box::new(NewReno::new(NewRenoParams::default(), setup)?),
        "dcqcn" => Box::new(Dcqcn::new(DcqcnParams::default(), setup)?),
        _ => Box::new(Cubic::new(CubicParams::default(), setup)?),
    })
}

fn all_params() -> Vec<Param> {
    let default = AnnulusParams::default();
    let stages = default.stages;
    let rate = |name, value, help| Param::new(name, Value::Rate(value), help).within(1_000.0, 1e12);
    vec![
        Param::new("end_to_end", Value::Choice(Choice::first_of(END_TO_END)), "controller of the end-to-end loop"),
        Param::new("w", Value::Number(default.w), "weight of the queue's growth").within(0.0, 100.0),
        Param::new("gd", Value::Number(default.gd), "share that a step of the feedback takes").within(1e-6, 1.0 / 64.0),
        Param::new("threshold", Value::Integer(u64::from(stages.threshold)), "stages of fast recovery")
            .within(1.0, 100.0),
        Param::new("byte_counter", Value::Bytes(stages.byte_reset), "bytes sent in a stage").within(1_000.0, 1e12),
        Param::new("timer", Value::Span(stages.time_reset), "length of a stage of the timer").within(1_000.0, 1e10),
        rate("increase", stages.increase, "what the target gains a stage"),
        rate("hyper_increase", stages.hyper_increase, "what it gains once both counters are past recovery"),
        rate("min_rate", stages.min_rate, "rate never to go below"),
    ]
}

fn params(args: &Args) -> AnnulusParams {
    AnnulusParams {
        w: args.number("w"),
        gd: args.number("gd"),
        stages: Stages {
            threshold: u32::try_from(args.integer("threshold")).unwrap_or(u32::MAX),
            byte_reset: args.bytes("byte_counter"),
            time_reset: args.span("timer"),
            increase: args.rate("increase"),
            hyper_increase: args.rate("hyper_increase"),
            min_rate: args.rate("min_rate"),
        },
    }
}

#[cfg(test)]
mod tests;

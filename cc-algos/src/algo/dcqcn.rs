//! `dcqcn`: Zhu et al., *Congestion Control for Large-Scale RDMA Deployments*, SIGCOMM'15, section 3.1.
//!
//! ```text
//! receiver   a marked packet           a notification (CNP), at most one each 50 us
//! sender     a notification            target = rate; rate *= 1 - alpha / 2; alpha = (1 - g) alpha + g
//!            none for 55 us            alpha = (1 - g) alpha
//!            a stage of timer or byte counter ends
//!                                      fast recovery, increase, hyper increase: see `reaction_point`
//! ```
//!
//! A flow starts at the rate of its link, with no window, for links that pause (PFC), which the simulator's do not: where
//! many start at once, what the first notifications come too late for is lost (31 % by `cwndtunnel run dc-incast --algo
//! dcqcn`). Switches should mark between 5 kB and 200 kB with at most 1 % at 40 Gb/s (the paper's deployment).
//!
//! Read: the reaction points of `alibaba-edu/High-Precision-Congestion-Control` (`rdma-hw.cc`: Mellanox' variant) and of
//! `ultraethernet/uet-htsim` (`dcqcn.cpp`: the paper's); defaults of ConnectX from `mlxconfig`. The paper's own text could
//! not be had: constants marked *paper* are as both or other sources quote it, among them the authors' later paper with the
//! fluid model that the closed-loop tests hold this to (Zhu et al., *ECN or Delay*, CoNEXT'16).
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `g` | weight of a notification | 1/256 | paper; both simulators |
//! | `alpha` | initial estimate | 1 | both simulators |
//! | `alpha_timer` | time after which alpha decays | 55 us | paper; both simulators |
//! | `timer`, `byte_counter` | length of a stage | 55 us, 10 MB | paper; htsim. ConnectX: 300 us; the NS-3 code: 1.5 ms and no byte counter |
//! | `threshold` | stages of fast recovery (F) | 5 | paper; both simulators. ConnectX: 1 |
//! | `increase`, `hyper_increase` | bit/s a stage | 40, 200 Mb/s | paper, and as often quoted for 40 Gb/s. ConnectX: 5, 50 Mb/s; htsim: 1/20, 1/10 of the link |
//! | `min_rate` | bit/s | 1 Mb/s | ConnectX (`RPG_MIN_RATE`) |
//! | `reduce_interval` | shortest time between two reductions | 4 us | ConnectX (`RATE_REDUCE_MONITOR_PERIOD`); bounds what forged notifications do |
//! | `cnp_interval` | shortest time between two notifications | 50 us | paper; htsim |
//! | `initial_window` | packets before a rate is known | 10 | RFC 9002, section 7.2 |
//!
//! ## Differences from the reference
//!
//! | | reference | here |
//! |---|---|---|
//! | window | none; the NS-3 code's variant with one: rate x base RTT | 25 x rate x smallest RTT, so that nobody sends for long to someone who does not answer; it does not bind while acknowledgements come |
//! | stages of the timer, decay of alpha | as long as configured, whatever the RTT | at least the smallest RTT: in less there is no answer of the network |
//! | `increase`, `hyper_increase` | whatever the rate | at most an eighth of the target a stage, or a packet a round trip |
//! | losses | none: links pause (PFC) | the rate halves, once a round trip; persistent congestion leaves the smallest rate |
//! | rate of the link not known | impossible | starts with `initial_window` a round trip; ceiling, and target until the first reduction, are twice the largest delivery rate |
//! | slow paths | not below `min_rate` | not below a packet a round trip, if that is less |
//! | counters while the rate is not used | run | rest |

use super::InvalidParam;
use super::newreno::packets;
use super::reaction_point::{ReactionPoint, Stages};
use super::recovery::{Recovery, Verdict};
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, PacketTag, Sent, Setup, Tally};
use crate::declare::{Declaration, Family, Law, Need, Reductions};
use crate::receiver::NotificationPoint;
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{PathChange, Signal};
use crate::units::{Rate, Span, Timestamp};

/// Smallest RTTs of its rate that a sender may have in flight (ours).
const WINDOW_RTTS: f64 = 25.0;

/// Smallest RTT assumed for the window until the first sample, so that a flow starts at the rate of its link (ours).
const ASSUMED_RTT: Span = Span::from_micros(10);

/// The ceiling in delivery rates where the link's rate is not known (ours): as slow start, doubling.
const CEILING: f64 = 2.0;

/// Smallest window, packets.
const MIN_WINDOW: u64 = 1;

/// Parameters of [`Dcqcn`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct DcqcnParams {
    /// Weight of a notification in the estimate; above 0, at most 1.
    pub g: f64,
    /// Estimate to start with; 0 to 1.
    pub alpha: f64,
    /// The estimate decays each time no notification has come for so long; not zero.
    pub alpha_timer: Span,
    /// How the rate recovers.
    pub stages: Stages,
    /// Notifications that follow a reduction more closely are ignored.
    pub reduce_interval: Span,
    /// Packets to start with where the link's rate is not known; at least one.
    pub initial_window: u64,
}

impl Default for DcqcnParams {
    fn default() -> Self {
        Self {
            g: 1.0 / 256.0,
            alpha: 1.0,
            alpha_timer: Span::from_micros(55),
            stages: Stages {
                threshold: 5,
                byte_reset: 10_000_000,
                time_reset: Span::from_micros(55),
                increase: Rate::from_mbps(40),
                hyper_increase: Rate::from_mbps(200),
                min_rate: Rate::from_mbps(1),
            },
            reduce_interval: Span::from_micros(4),
            initial_window: 10,
        }
    }
}

impl DcqcnParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        InvalidParam::unless(self.g > 0.0 && self.g <= 1.0, "g", "a weight above 0, at most 1")?;
        InvalidParam::unless((0.0..=1.0).contains(&self.alpha), "alpha", "a share from 0 to 1")?;
        InvalidParam::unless(!self.alpha_timer.is_zero(), "alpha_timer", "a time above zero")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        self.stages.validate()
    }
}

/// The reaction point of DCQCN.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    params: DcqcnParams,
    /// Rate of the local link, where the host knows it.
    line_rate: Option<Rate>,
    /// `None` before any rate is known.
    point: Option<ReactionPoint>,
    alpha: f64,
    /// When the running interval without a notification began.
    alpha_since: Timestamp,
    reduced_at: Option<Timestamp>,
    recovery: Recovery,
    smoothed_rtt: Option<Span>,
    min_rtt: Option<Span>,
    mtu: u64,
}

impl Dcqcn {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: DcqcnParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let line_rate = setup.local_line_rate.or(setup.oracle.map(|oracle| oracle.bottleneck));
        let line_rate = line_rate.filter(|rate| *rate > Rate::ZERO);
        let resumed = setup.handover.and_then(|from| {
            from.bandwidth.or(from.window.zip(from.min_rtt).and_then(|(bytes, rtt)| Rate::from_bytes_in(bytes, rtt)))
        });
        let start = resumed.filter(|rate| *rate > Rate::ZERO).or(line_rate);
        let mut point = start.map(|rate| ReactionPoint::new(params.stages, rate));
        if let (Some(point), Some(ceiling)) = (&mut point, line_rate) {
            point.set_ceiling(setup.now, ceiling);
        }
        Ok(Self {
            line_rate,
            point,
            alpha: params.alpha,
            alpha_since: setup.now,
            reduced_at: None,
            recovery: Recovery::default(),
            smoothed_rtt: None,
            min_rtt: setup.handover.and_then(|from| from.min_rtt),
            mtu: setup.mtu.max(1),
            params,
        })
    }

    /// Lets the estimate decay by the intervals that have passed without a notification.
    fn decay(&mut self, now: Timestamp) {
        // In less than a round trip no answer of the network can come.
        let interval = self.params.alpha_timer.max(self.min_rtt.unwrap_or_default());
        let intervals = now.saturating_since(self.alpha_since).as_nanos() / interval.as_nanos().max(1);
        if intervals > 0 {
            self.alpha *= libm::pow(1.0 - self.params.g, intervals as f64);
            self.alpha_since += interval.saturating_mul(intervals);
        }
    }

    fn on_notification(&mut self, now: Timestamp) {
        let too_soon = |at| now.saturating_since(at) < self.params.reduce_interval;
        if self.reduced_at.is_some_and(too_soon) {
            return;
        }
        self.decay(now);
        self.reduce(now, self.alpha / 2.0);
        self.alpha += self.params.g * (1.0 - self.alpha);
        self.alpha_since = now;
    }

    fn reduce(&mut self, now: Timestamp, cut: f64) {
        self.reduced_at = Some(now);
        let per_rtt = self.smoothed_rtt.and_then(|rtt| Rate::from_bytes_in(self.mtu, rtt)).unwrap_or(Rate::MAX);
        let min_rate = self.params.stages.min_rate.min(per_rtt).max(Rate::from_bps(1));
        if let Some(point) = &mut self.point {
            point.set_min_rate(min_rate);
            point.reduce(now, cut);
        }
    }

    /// Losses halve the rate, once a round trip. Marks reach the sender as notifications.
    fn on_losses(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let unmarked = Feedback { newly_marked: Tally::ZERO, ..*feedback };
        if let Some(Verdict::Reduce(_)) = self.recovery.judge(&unmarked, flight) {
            self.reduce(feedback.now, 0.5);
        }
    }

    /// Without a link's rate the first is that of the initial window, and what has been delivered bounds the next ones.
    fn measure(&mut self, feedback: &Feedback<'_>) {
        let Some(rtt) = self.smoothed_rtt.filter(|rtt| !rtt.is_zero()) else { return };
        let now = feedback.now;
        let point = self.point.get_or_insert_with(|| {
            let bytes = self.params.initial_window.saturating_mul(self.mtu);
            let rate = Rate::from_bytes_in(bytes, rtt).unwrap_or(Rate::MAX);
            ReactionPoint::new(self.params.stages, rate.max(Rate::from_bps(1)))
        });
        if let Some(delivered) = feedback.delivery {
            let ceiling = delivered.rate.mul_f64(CEILING);
            if ceiling > point.ceiling() {
                point.set_ceiling(now, ceiling);
                if self.reduced_at.is_none() {
                    point.aim_at_the_ceiling();
                }
            }
        }
    }

    /// What the rate sends in so many smallest RTTs, bytes; at least the smallest window.
    fn sent_in(&self, rtts: f64) -> u64 {
        let Some(point) = &self.point else { return self.params.initial_window.saturating_mul(self.mtu) };
        let rtt = self.min_rtt.unwrap_or(ASSUMED_RTT).as_nanos() as f64;
        let bytes = point.current().as_bps() as f64 * rtt * (rtts / 8e9);
        (bytes as u64).max(MIN_WINDOW.saturating_mul(self.mtu))
    }
}

impl Controller for Dcqcn {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        if let Some(point) = &mut self.point {
            point.on_sent(sent.now, u64::from(sent.bytes), flight.limit.allows_growth());
        }
        PacketTag::NONE
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        // Without a sample of its own, a path that is new may still be told those of the former one.
        if feedback.rtt.is_some() {
            (self.smoothed_rtt, self.min_rtt) = (flight.smoothed_rtt, flight.min_rtt);
            if let (Some(point), Some(rtt)) = (&mut self.point, self.min_rtt) {
                point.set_round_trip(rtt, self.mtu);
            }
        }
        if self.line_rate.is_none() {
            self.measure(feedback);
        }
        if !feedback.lost.is_empty() || !feedback.recovered_packets.is_empty() {
            self.on_losses(feedback, flight);
        }
        if feedback.persistent_congestion.is_some() {
            self.reduce(feedback.now, 1.0);
            if let Some(point) = &mut self.point {
                point.collapse(feedback.now);
            }
            self.recovery.on_collapse(feedback, flight);
        }
    }

    fn on_signal(&mut self, now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        match signal {
            Signal::CongestionNotification => self.on_notification(now),
            Signal::MtuChange { mtu } => self.mtu = (*mtu).max(1),
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                self.point = self.line_rate.map(|rate| ReactionPoint::new(self.params.stages, rate));
                self.alpha = self.params.alpha;
                self.alpha_since = now;
                (self.reduced_at, self.smoothed_rtt, self.min_rtt) = (None, None, None);
                self.recovery.forget();
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, now: Timestamp, flight: &Flight<'_>) {
        self.decay(now);
        if let Some(point) = &mut self.point {
            point.on_timer(now, flight.limit.allows_growth());
        }
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.point.as_ref().and_then(ReactionPoint::next_timer)
    }

    fn window(&self) -> u64 {
        self.sent_in(WINDOW_RTTS)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.point.as_ref().map(ReactionPoint::current)
    }

    fn state(&self) -> ControllerState {
        let phase = match &self.point {
            None => "startup",
            Some(point) if point.is_recovered() => "line_rate",
            Some(_) => "recovery",
        };
        let target = self.point.as_ref().map_or(0.0, |point| point.target().as_bps() as f64);
        ControllerState::new(self.window(), phase)
            .with_pacing_rate(self.pacing_rate())
            .with_gauge("alpha", self.alpha)
            .with_gauge("target_rate", target)
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        let known = self.point.is_none() || self.min_rtt.is_some();
        let window = known.then(|| self.sent_in(1.0));
        Handover { window, min_rtt: self.min_rtt, bandwidth: self.pacing_rate(), ..Handover::default() }
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "dcqcn";
    Algorithm::new(
        NAME,
        "cuts its rate on the receiver's notifications of marks",
        "DCQCN, SIGCOMM'15",
        |args, setup| Ok(Box::new(Dcqcn::new(params(args), setup).map_err(|error| error.of(NAME))?)),
    )
    .with_receiver(|args, rule| Box::new(NotificationPoint::new(rule, args.span("cnp_interval"))))
    .declaring(
        Declaration::new(Family::Datacentre)
            .law(Law::Model)
            .needing(Need::Ecn)
            .needing(Need::CongestionNotification)
            .min_window(1.0)
            .reductions(Reductions::Unbounded)
            .utilisation(0.65)
            .fairness(0.8),
    )
    .with_params(all_params())
}

/// Shortest span that a parameter may have, ns.
const SHORTEST: f64 = 1_000.0;

fn all_params() -> Vec<Param> {
    let default = DcqcnParams::default();
    let stages = default.stages;
    let span = |name, value, help| Param::new(name, Value::Span(value), help).within(SHORTEST, 1e9);
    let rate = |name, value, help| Param::new(name, Value::Rate(value), help).within(1_000.0, 1e12);
    vec![
        Param::new("g", Value::Number(default.g), "weight of a notification").within(1e-6, 1.0),
        Param::new("alpha", Value::Number(default.alpha), "estimate to start with").within(0.0, 1.0),
        span("alpha_timer", default.alpha_timer, "the estimate decays after so long without a notification"),
        span("timer", stages.time_reset, "length of a stage of the timer"),
        Param::new("byte_counter", Value::Bytes(stages.byte_reset), "bytes sent in a stage").within(1_000.0, 1e12),
        Param::new("threshold", Value::Integer(u64::from(stages.threshold)), "stages of fast recovery")
            .within(1.0, 100.0),
        rate("increase", stages.increase, "what the target gains a stage"),
        rate("hyper_increase", stages.hyper_increase, "what it gains once both counters are past recovery"),
        rate("min_rate", stages.min_rate, "rate never to go below"),
        span("reduce_interval", default.reduce_interval, "shortest time between two reductions"),
        span("cnp_interval", NotificationPoint::INTERVAL, "shortest time between two notifications"),
        packets("initial_window", default.initial_window, "packets to start with if the link's rate is unknown"),
    ]
}

fn params(args: &Args) -> DcqcnParams {
    DcqcnParams {
        g: args.number("g"),
        alpha: args.number("alpha"),
        alpha_timer: args.span("alpha_timer"),
        stages: Stages {
            threshold: u32::try_from(args.integer("threshold")).unwrap_or(u32::MAX),
            byte_reset: args.bytes("byte_counter"),
            time_reset: args.span("timer"),
            increase: args.rate("increase"),
            hyper_increase: args.rate("hyper_increase"),
            min_rate: args.rate("min_rate"),
        },
        reduce_interval: args.span("reduce_interval"),
        initial_window: args.integer("initial_window"),
    }
}

#[cfg(test)]
mod tests;

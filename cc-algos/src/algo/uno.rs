//! `uno`: UnoCC, one law for flows inside and between datacentres, of Uno (SC'25, arXiv 2510.15802).
//!
//! ```text
//! ratio    min(1, nearby BDP / BDP): 1 for a flow inside the datacentre, some 1/128 for one between datacentres
//! grow     cwnd += increase BDP bytes / cwnd                      for each unmarked byte; `min_increase` packets at least
//! epoch    ends with the first packet sent after its end          then  end += ratio RTT  in time of sending
//!          F = bytes marked / bytes acknowledged in it            E = (1 - weight) E + weight F
//! F > 0    E falls, and is at most 0.9                            its marked bytes let the window grow like the others
//!          else      cwnd *= 1 - E beta                           beta = 4 K / (K + BDP),  K = k nearby BDP
//!                                                                 beta *= gentle  if RTT <= phantom_rtt base RTT
//! late     a distant flow, RTT > target base RTT                  cwnd *= 1 - ratio (target - 1) / (2 target - 1) at least
//! Quick Adapt   each target base RTT, if less than adapt_below cwnd was acknowledged:  cwnd = adapt_to x that
//! loss     cwnd -= loss x its bytes                               then doubling up to half of the window before the first
//! pacing   cwnd / base RTT
//! ```
//!
//! An additive increase by a share of the BDP each round trip, and a decrease by `4 K / (K + BDP)` each `ratio` of one, give
//! flows of any RTT the same rate: both speed up by the same bits per second in the same time, and both give up the same share.
//! Phantom queues, which fill at a rate a little below the link's, mark before there is a queue: then the RTT stays close to the
//! base RTT, and the decrease is gentle.
//!
//! Read: `lcp.cpp`, `lcp.h` and `main_lcp_entry_modern.cpp` of the artifact (`spcl/Uno_SC25`, commit 68d164e), mode
//! `aimd_phantom`, and the paper's abstract. Its text could not be had: names of what is switched are ours.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `increase` | BDPs a round trip | 0.001 | the artifact's default |
//! | `min_increase` | packets a round trip | 0.04 | ours: what the artifact's nearby flows add, 175 B of 4 160 |
//! | `k` | nearby BDPs | 1/7 | the artifact's default; its scripts say 6 packets of 4 096 B, that is 0.140 |
//! | `weight` | weight of the newest epoch | 0.65 | figures 3, 8, 9, 13; 0.5 in figures 10 to 12; 1 by default |
//! | `draining` | off or on | on | while marks get fewer nothing shrinks: the artifact, mode `aimd_phantom` |
//! | `drain_gain` | times | 0 | so often the bytes of such an epoch count once more; 1 in the artifact |
//! | `phantom_rtt` | base RTTs | 1.055 | the artifact: "needs to scale with the phantom queue's size" |
//! | `gentle` | share of the decrease | 0.35 | the artifact |
//! | `quick_adapt` | off or on | on | the artifact's default |
//! | `adapt_below`, `adapt_to` | share of the window, of the bytes acknowledged | 0.5, 0.96 | the artifact |
//! | `target` | base RTTs | 1.05 | the artifact: Quick Adapt's period, and the delay above which a border without ECN is congested |
//! | `delay` | off or on | on | the artifact's mode `aimd` without ECN at the border; lost in `aimd_phantom`, see below |
//! | `fast_increase` | off or on | off | off in all of its scripts: after 3 clean epochs the increase counts as often as they are |
//! | `loss` | bytes taken for a byte lost | 1 | the artifact's default; 0 in all of its scripts |
//! | `max_window` | BDPs | 1 | the artifact |
//! | `initial_window`, `min_window` | packets | 10, 1 | RFC 9002, section 7.2; the artifact |
//!
//! ## Differences from the reference
//!
//! | | artifact | here |
//! |---|---|---|
//! | base RTT, BDP | configured | the smallest RTT seen and the local link, or the delivery rate; an oracle's with an oracle |
//! | RTT and BDP inside the datacentre | configured | what the host knows of its neighbourhood ([`HostView`](crate::controller::HostView)); without it a flow is its own neighbourhood |
//! | start | one BDP | the same with an oracle, else `initial_window`, doubling until the first mark or loss, a delay above the target, or the largest window |
//! | largest window | one BDP | `max_window` with an oracle or a known local link, else none |
//! | delay without marks | in mode `aimd_phantom` the decrease is computed and never applied, so Uno without ECN at the border knows no congestion but losses | applied, to flows whose BDP is at least twice the nearby one: at shorter RTTs 5 % of it are less than a packet |
//! | that decrease | for each epoch, by `-mdRTT`, which scripts give as 0.045 / 128 | the same, from target and ratio |
//! | growth while late | none | none, for the same flows |
//! | epochs without packets | one more for each acknowledgement, until they have caught up with the packets | count with the one before them, but no more than a round trip of them: the decrease is that of a flow with more packets |
//! | first epoch, and the one after Quick Adapt | begins once a window has been sent | the same |
//! | EWMA | float | double |
//! | epochs that bring fewer marks | all bytes count, and the unmarked twice: marks would be better than none | all bytes count once; `drain_gain` = 1 is the artifact's |
//! | what was achieved | bytes acknowledged in the period | the same, with the acknowledgement that ends the period, or the largest delivery rate in it (draft-ietf-ccwg-bbr, section 4.1) if that is more: heaps of acknowledgements must not look like losses |
//! | Quick Adapt | whatever limits the sender | only while the window is in use; against the window that the period began with, and with a packet more |
//! | growth of a round trip | a thousandth of the BDP, however small the window | at most a packet or an eighth of the window |
//! | delay of small windows | counts | what two packets of the window take at the base RTT is no delay |
//! | growth | whatever limits the sender; of a window below the gain by more than was acknowledged | at most what was acknowledged; while the window is not in use it makes up for a decrease and no more |
//! | after losses | a thousand round trips for a BDP | doubling, up to half of the window before the first loss of a round trip |
//! | decrease | at any time | by a byte at least |
//! | lost packets | those timed out | all but those sent before Quick Adapt had its say; those that coding restored too (RFC 9265, section 4) |
//! | trimmed packets | one packet each | as lost ones |
//! | retransmission timeout | as above | persistent congestion: the minimum window |
//! | pacing | renewed every 20th of the base RTT | at once; twice as fast in the first doubling |

mod epoch;
mod params;

use super::InvalidParam;
use super::fractional::FractionalWindow;
use super::recovery::{Congestion, Recovery, Verdict};
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family, Need, Reductions};
use crate::estimate::Pipe;
use crate::registry::Algorithm;
use crate::signal::{PathChange, Signal};
use crate::units::{Rate, Span, Timestamp, mul_div};

use epoch::{Epoch, Marks};
pub use params::UnoParams;

/// Of a distant flow the nearby BDP is at most this share: others hardly have room for a delay above the target.
const DISTANT: f64 = 0.5;
/// Clean epochs in a row from which fast increase counts them.
const FAST_AFTER: u32 = 3;
/// Share of the window, or a packet if that is more, that a round trip adds at most: a path may hold far less than the BDP by which
/// the increase is scaled.
const MOST_GROWTH: f64 = 0.125;
/// Packets of the window whose time at the base RTT is no delay: they may stand behind each other.
const BURST: f64 = 2.0;
/// What doubling paces at, windows a base RTT.
const STARTING_PACE: f64 = 2.0;

/// What the path makes of the constants.
#[derive(Clone, Copy, Debug)]
struct Scale {
    base_rtt: Span,
    /// Bytes that a round trip adds.
    increase: f64,
    /// Nearby BDP over BDP, at most 1.
    ratio: f64,
    /// Share of the window that an epoch full of marks takes.
    beta: f64,
    /// Largest window, bytes.
    max: f64,
    /// RTTs up to which only a phantom queue is congested, and above which a distant path is.
    phantom_rtt: Span,
    target_rtt: Span,
}

impl Scale {
    fn new(params: &UnoParams, pipe: &Pipe, nearby_bdp: Option<f64>) -> Option<Self> {
        let (base_rtt, bdp) = (pipe.base_rtt()?, pipe.bdp()?);
        let nearby = nearby_bdp.unwrap_or(bdp).min(bdp);
        let k = params.k * nearby;
        Some(Self {
            base_rtt,
            increase: params.increase * bdp,
            ratio: nearby / bdp,
            beta: 4.0 * k / (k + bdp),
            max: if pipe.is_upper_bound() { params.max_window * bdp } else { f64::INFINITY },
            phantom_rtt: base_rtt.mul_f64(params.phantom_rtt),
            target_rtt: base_rtt.mul_f64(params.target),
        })
    }

    fn is_distant(&self) -> bool {
        self.ratio <= DISTANT
    }
}

/// Of a period after which Quick Adapt looks at what was achieved.
#[derive(Clone, Copy, Debug)]
enum Period {
    /// None runs: the first packet sent from this time on begins one when it is acknowledged.
    Waiting(Timestamp),
    /// One runs.
    Running(Achieved),
}

/// What a period has brought so far.
#[derive(Clone, Copy, Debug)]
struct Achieved {
    since: Timestamp,
    /// The window that it began with.
    window: f64,
    /// Bytes acknowledged after the acknowledgement that began it.
    acked: u64,
    /// The largest delivery rate, as bytes in a target RTT.
    delivered: u64,
}

impl Achieved {
    const fn nothing(since: Timestamp, window: f64) -> Self {
        Self { since, window, acked: 0, delivered: 0 }
    }

    /// Bytes in a target RTT, of which so much has passed at least. Acknowledgements that come in heaps leave one in, or one
    /// out, of a period; the delivery rate does not mind, but knows little of a flow's first round trip.
    fn bytes(&self, passed: Span, target: Span) -> f64 {
        let counted = mul_div(self.acked, target.as_nanos(), passed.as_nanos().max(1));
        counted.max(self.delivered) as f64
    }
}

/// UnoCC's window.
#[derive(Clone, Debug)]
pub struct Uno {
    params: UnoParams,
    window: FractionalWindow,
    pipe: Pipe,
    nearby_bdp: Option<f64>,
    scale: Option<Scale>,
    /// The newest sample of the RTT, less what the receiver held back.
    rtt: Option<Span>,
    epoch: Epoch,
    period: Period,
    recovery: Recovery,
    /// When Quick Adapt last had its say: it answers for all that was sent before.
    adapted_at: Timestamp,
    /// The window doubles below this: everywhere until something is marked, lost or late.
    ssthresh: f64,
    pacing_rate: Option<Rate>,
}

impl Uno {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: UnoParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let pipe = Pipe::new(setup);
        let nearby = setup.host_view.nearby_bdp_bytes;
        let near_rate = setup.local_line_rate.or(pipe.rate()).zip(setup.host_view.nearby_rtt);
        let nearby = nearby.or_else(|| near_rate.map(|(rate, rtt)| rate.bytes_in(rtt)));
        let nearby_bdp = nearby.map(|bytes| bytes.max(1) as f64);
        let scale = Scale::new(&params, &pipe, nearby_bdp);
        let mut window = FractionalWindow::new(setup, params.initial_window, params.min_window);
        let resumed = setup.handover.is_some_and(|from| from.window.is_some());
        let given = scale.filter(|_| pipe.is_given() && !resumed);
        if let Some(scale) = given {
            window.set(scale.max);
        }
        let ssthresh = if given.is_none() && !resumed { f64::INFINITY } else { 0.0 };
        let epoch = Epoch::after(window.exact());
        let period = Period::Waiting(setup.now);
        let recovery = Recovery::default();
        let mut new = Self {
            window,
            pipe,
            nearby_bdp,
            scale,
            rtt: None,
            adapted_at: setup.now,
            epoch,
            period,
            recovery,
            ssthresh,
            pacing_rate: None,
            params,
        };
        new.pace();
        Ok(new)
    }

    fn observe(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.pipe.observe(feedback, flight) {
            self.scale = Scale::new(&self.params, &self.pipe, self.nearby_bdp);
        }
        // Packets that bring no sample are judged by the one before, so that a batch means what its packets mean.
        if let Some(sample) = feedback.rtt {
            self.rtt = Some(sample.latest.saturating_sub(sample.ack_delay));
        }
    }

    /// Bytes handed to the network since the flow began.
    const fn sent(flight: &Flight<'_>) -> u64 {
        flight.delivered.saturating_add(flight.lost).saturating_add(flight.bytes)
    }

    /// The window becomes what was achieved in a target RTT, where that is far less.
    fn quick_adapt(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>, scale: &Scale) {
        let now = feedback.now;
        let (Some(newest), Some(delivery)) = (feedback.acked.last(), feedback.delivery) else { return };
        let window = self.window.exact();
        let achieved = match &mut self.period {
            Period::Waiting(from) if newest.sent_at < *from => return,
            Period::Waiting(_) => {
                self.period = Period::Running(Achieved::nothing(now, window));
                return;
            }
            Period::Running(achieved) => achieved,
        };
        // What the receiver held back was delivered all the same.
        let held = feedback.rtt.map_or(Span::ZERO, |sample| sample.ack_delay);
        let interval = delivery.interval.saturating_sub(held).max(scale.base_rtt);
        let delivered = mul_div(delivery.delivered, scale.target_rtt.as_nanos(), interval.as_nanos().max(1));
        achieved.delivered = achieved.delivered.max(delivered);
        achieved.acked = achieved.acked.saturating_add(feedback.newly_acked.bytes);
        let passed = now.saturating_since(achieved.since);
        if passed < scale.target_rtt {
            return;
        }
        let (used, bytes) = (achieved.window, achieved.bytes(passed, scale.target_rtt));
        self.period = Period::Running(Achieved::nothing(now, window));
        let in_use = flight.limit.allows_growth() && !delivery.is_app_limited();
        // A packet that comes just after the period's end would have counted.
        if in_use && bytes + self.window.mtu() < self.params.adapt_below * used {
            self.window.cap((self.params.adapt_to * bytes).min(window - 1.0));
            self.end_start();
            self.adapted_at = now;
            self.epoch = Epoch::after(self.window.exact() + Self::sent(flight) as f64).remembering(&self.epoch);
            self.period = Period::Waiting(now);
        }
    }

    fn is_starting(&self) -> bool {
        self.window.exact() < self.ssthresh
    }

    /// From here on the window grows by the law.
    const fn end_start(&mut self) {
        self.ssthresh = 0.0;
    }

    /// `bytes` add their share.
    fn grow(&mut self, bytes: f64, scale: &Scale) {
        let doubling = (self.ssthresh.min(scale.max) - self.window.exact()).clamp(0.0, bytes);
        self.window.add(doubling);
        if self.window.exact() >= scale.max {
            self.end_start();
        }
        let clean = self.epoch.clean();
        let times = if self.params.fast_increase && clean >= FAST_AFTER { f64::from(clean) } else { 1.0 };
        let (mtu, window) = (self.window.mtu(), self.window.exact());
        let increase = times * scale.increase.max(self.params.min_increase * mtu);
        let most = mtu.max(window * MOST_GROWTH);
        self.window.add(self.window.growth(bytes - doubling, increase.min(most)));
    }

    /// An epoch has ended: takes what it costs, or says how many more bytes let the window grow.
    fn judge(&mut self, marks: Marks, rtt: Span, scale: &Scale) -> f64 {
        let target = self.params.target;
        let for_delay =
            if self.is_late(rtt, scale) { scale.ratio * (target - 1.0) / (2.0 * target - 1.0) } else { 0.0 };
        let drains = self.params.draining && marks.mean <= 0.9 && marks.mean < marks.former;
        let gentle = if rtt <= scale.phantom_rtt { self.params.gentle } else { 1.0 };
        let for_marks = if marks.share == 0.0 || drains { 0.0 } else { marks.mean * scale.beta * gentle };
        let taken = for_marks.max(for_delay);
        if taken > 0.0 {
            // Of all epochs without packets those of a round trip count.
            let epochs = marks.epochs.min(1.0 / scale.ratio);
            self.window.cut(if epochs > 1.0 { libm::pow(1.0 - taken, epochs) } else { 1.0 - taken });
        } else if drains && marks.share > 0.0 {
            return marks.marked + self.params.drain_gain * (marks.bytes - marks.marked);
        }
        0.0
    }

    /// Whether delay tells a distant flow of congestion.
    fn is_late(&self, rtt: Span, scale: &Scale) -> bool {
        if !self.params.delay || !scale.is_distant() || rtt <= scale.target_rtt {
            return false;
        }
        let burst = BURST * self.window.mtu() / self.window.exact();
        rtt > scale.base_rtt.mul_f64(1.0 + burst)
    }

    fn take_for_losses(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        let missing = feedback.lost.iter().chain(feedback.recovered_packets);
        let unanswered = missing.filter(|packet| packet.sent_at >= self.adapted_at);
        let lost = unanswered.fold(0_u64, |sum, packet| sum.saturating_add(u64::from(packet.bytes)));
        let begins = matches!(self.recovery.judge(feedback, flight), Some(Verdict::Reduce(Congestion::Loss)));
        if lost > 0 && self.params.loss > 0.0 {
            if begins {
                self.ssthresh = self.window.exact() / 2.0;
            }
            self.window.add(-self.params.loss * lost as f64);
        }
        if feedback.persistent_congestion.is_some() {
            self.window.collapse();
        }
    }

    /// What a batch tells of marks and delay, on a path that is known.
    fn step(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>, scale: &Scale) {
        let rtt = self.rtt.unwrap_or(scale.base_rtt);
        let late = self.is_late(rtt, scale);
        let acked = feedback.newly_acked.bytes;
        let marked = feedback.newly_marked.bytes.min(acked);
        if marked > 0 {
            self.end_start();
        }
        self.epoch.begin_if_due(feedback.now, Self::sent(flight));
        let before = self.window.exact();
        let ended = self.epoch.on_acked(feedback, rtt.mul_f64(scale.ratio), self.params.weight);
        let more = ended.map_or(0.0, |marks| self.judge(marks, rtt, scale));
        if !late {
            self.grow((acked - marked) as f64 + more, scale);
        }
        if self.is_late(rtt, scale) {
            self.end_start();
        }
        self.window.cap(if flight.limit.allows_growth() { scale.max } else { scale.max.min(before) });
        if self.params.quick_adapt {
            self.quick_adapt(feedback, flight, scale);
        }
    }

    fn pace(&mut self) {
        self.pacing_rate = self.scale.map(|scale| {
            let windows = if self.ssthresh.is_infinite() { STARTING_PACE } else { 1.0 };
            let seconds = scale.base_rtt.as_nanos().max(1) as f64 * 1e-9;
            let bits = crate::units::round_to_u64(8.0 * windows * self.window.exact() / seconds);
            Rate::from_bps(bits.max(1))
        });
    }
}

impl Controller for Uno {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.observe(feedback, flight);
        self.take_for_losses(feedback, flight);
        if let Some(scale) = self.scale {
            self.step(feedback, flight, &scale);
        }
        self.pace();
    }

    fn on_signal(&mut self, now: Timestamp, signal: &Signal, flight: &Flight<'_>) {
        match signal {
            Signal::MtuChange { mtu } => self.window.set_mtu(*mtu),
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                self.window.restart();
                self.pipe.forget();
                self.rtt = None;
                self.scale = Scale::new(&self.params, &self.pipe, self.nearby_bdp);
                self.epoch = Epoch::after(self.window.exact() + Self::sent(flight) as f64);
                self.period = Period::Waiting(now);
                self.recovery.forget();
                self.ssthresh = f64::INFINITY;
            }
            _ => {}
        }
        self.pace();
    }

    fn window(&self) -> u64 {
        self.window.bytes()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }

    fn in_slow_start(&self) -> bool {
        self.is_starting()
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(
            self.window.bytes(),
            if self.is_starting() { "slow_start" } else { "congestion_avoidance" },
        )
        .with_pacing_rate(self.pacing_rate)
        .with_gauge("marks", self.epoch.mean())
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        self.window.handover(self.pipe.base_rtt())
    }
}

/// The registry's entry.
pub(super) fn algorithm() -> Algorithm {
    const NAME: &str = "uno";
    let summary = "one law at any RTT: epochs of a nearby round trip, gentle while only phantom queues mark";
    Algorithm::new(NAME, summary, "UnoCC, SC'25", |args, setup| {
        Ok(Box::new(Uno::new(params::read(args), setup).map_err(|error| error.of(NAME))?))
    })
    .declaring(
        Declaration::new(Family::AcrossDatacentres)
            .needing(Need::Ecn)
            .min_window(1.0)
            .reductions(Reductions::Unbounded)
            .utilisation(0.8),
    )
    .with_params(params::all())
}

#[cfg(test)]
mod tests;

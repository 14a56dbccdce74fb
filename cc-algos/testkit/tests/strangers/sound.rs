//! Controls: the laws of the strangers without their bugs, from the same parts. Whatever the kit finds in one of these is found
//! falsely, or is a fault of what all strangers of its kind share.

use cc_algos::algo::recovery::{Congestion, Verdict};
use cc_algos::controller::PacketTag;
use cc_algos::signal::Ecn;
use cc_algos::{Controller, ControllerState, Feedback, Flight, Handover, Rate, Sent, Signal, Span, Timestamp};

use super::cubic::{self, Curve};
use super::delay;
use super::marks::{self, Share};
use super::rate::{self, Model, Samples};
use super::timer;
use super::{Core, Round, Stranger, rest_from_core, wide_area};

/// One law of each kind.
pub(crate) fn all() -> Vec<Stranger> {
    let bug = "none";
    vec![
        Stranger {
            name: "reno",
            bug,
            build: |setup| Box::new(Reno { core: Core::new(setup) }),
            declaration: wide_area,
        },
        Stranger {
            name: "cubic",
            bug,
            build: |setup| Box::new(Cubic { core: Core::new(setup), curve: Curve::default() }),
            declaration: wide_area,
        },
        Stranger {
            name: "vegas",
            bug,
            build: |setup| Box::new(Vegas { core: Core::new(setup), round: Round::default(), base: None }),
            declaration: delay::delay_based,
        },
        Stranger {
            name: "dctcp",
            bug,
            build: |setup| Box::new(Dctcp { core: Core::new(setup), share: Share::default() }),
            declaration: marks::datacentre,
        },
        Stranger {
            name: "timer",
            bug,
            build: |setup| Box::new(Ticking { core: Core::new(setup), timer: None, used: false }),
            declaration: wide_area,
        },
        Stranger {
            name: "rate",
            bug,
            build: |setup| Box::new(Modelled { model: Model::new(setup) }),
            declaration: rate::bbr_like,
        },
    ]
}

#[derive(Clone, Debug)]
struct Reno {
    core: Core,
}

impl Controller for Reno {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        if self.core.is_congested(feedback, flight) {
            self.core.reduce(0.5);
        }
        self.core.collapse_if_persistent(feedback, flight);
        self.core.grow(feedback, flight);
    }
    rest_from_core!(signals);
}

#[derive(Clone, Debug)]
struct Cubic {
    core: Core,
    curve: Curve,
}

impl Controller for Cubic {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        cubic::react(&mut self.core, &mut self.curve, feedback, flight);
        if !flight.limit.allows_growth() {
            return self.curve.stall(feedback.now);
        }
        self.curve.resume(feedback.now);
        let acked = self.core.growth(feedback, flight);
        self.curve.grow(&mut self.core, acked, feedback.now);
    }
    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        self.curve.on_signal(signal);
        self.core.on_signal(signal);
    }
    rest_from_core!();
}

#[derive(Clone, Debug)]
struct Vegas {
    core: Core,
    round: Round,
    base: Option<Span>,
}

impl Controller for Vegas {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        delay::react(&mut self.core, &mut self.round, feedback, flight);
        let Some(rtt) = feedback.rtt.map(|sample| sample.latest) else { return };
        let base = self.base.map_or(rtt, |base| base.min(rtt));
        self.base = Some(base);
        if self.round.ends(feedback, flight) {
            let queued = delay::queued(&self.core, rtt, base);
            delay::adjust(&mut self.core, queued, flight);
        }
    }
    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        if matches!(signal, Signal::PathChange { .. }) {
            self.base = None;
        }
        self.core.on_signal(signal);
    }
    rest_from_core!();
}

#[derive(Clone, Debug)]
struct Dctcp {
    core: Core,
    share: Share,
}

impl Controller for Dctcp {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.share.observe_capped(feedback, flight);
        match self.core.recovery.judge(feedback, flight) {
            Some(Verdict::Reduce(Congestion::Loss)) => self.core.reduce(0.5),
            Some(Verdict::Reduce(Congestion::Mark)) => self.core.reduce(self.share.kept()),
            _ => {}
        }
        self.core.collapse_if_persistent(feedback, flight);
        self.core.grow(feedback, flight);
    }
    rest_from_core!(signals);
}

#[derive(Clone, Debug)]
struct Ticking {
    core: Core,
    timer: Option<Timestamp>,
    used: bool,
}

impl Controller for Ticking {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        self.timer.get_or_insert(sent.now + timer::period(flight));
        PacketTag::NONE
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.used |= timer::on_feedback(&mut self.core, feedback, flight);
    }
    fn on_timer(&mut self, now: Timestamp, flight: &Flight<'_>) {
        let grows = core::mem::take(&mut self.used);
        self.core.window.shift(if grows { self.core.window.mtu() as f64 } else { 0.0 });
        let idle = flight.bytes == 0;
        self.timer = (!idle).then(|| now + timer::period(flight));
    }
    fn next_timer(&self) -> Option<Timestamp> {
        self.timer
    }
    rest_from_core!(signals);
}

#[derive(Clone, Debug)]
struct Modelled {
    model: Model,
}

impl Controller for Modelled {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.model.observe(feedback, flight, Samples::OfTheNetwork);
    }
    fn on_signal(&mut self, now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        self.model.on_signal(now, signal);
    }
    fn window(&self) -> u64 {
        self.model.window()
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.model.pacing_rate()
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn state(&self) -> ControllerState {
        ControllerState::new(self.window(), self.model.phase()).with_pacing_rate(self.pacing_rate())
    }
    fn handover(&self) -> Handover {
        self.model.handover()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

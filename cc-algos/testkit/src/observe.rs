//! What a controller is told, and what it answers, as invariants see it.

use core::fmt;

use cc_algos::controller::{Cause, Controller, Feedback, Flight, Limit, PacketTag, Sent};
use cc_algos::signal::{Ecn, Signal};
use cc_algos::units::{Rate, Timestamp};

/// One call of a controller.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// [`Controller::on_sent`].
    Sent(&'a Sent, &'a Flight<'a>),
    /// [`Controller::on_feedback`].
    Feedback(&'a Feedback<'a>, &'a Flight<'a>),
    /// [`Controller::on_signal`].
    Signal(Timestamp, &'a Signal, &'a Flight<'a>),
    /// [`Controller::on_timer`].
    Timer(Timestamp, &'a Flight<'a>),
}

impl<'a> Call<'a> {
    /// Makes the call. The tag is what `on_sent` returned.
    pub fn apply(&self, controller: &mut dyn Controller) -> PacketTag {
        match self {
            Self::Sent(sent, flight) => return controller.on_sent(sent, flight),
            Self::Feedback(feedback, flight) => controller.on_feedback(feedback, flight),
            Self::Signal(now, signal, flight) => controller.on_signal(*now, signal, flight),
            Self::Timer(now, flight) => controller.on_timer(*now, flight),
        }
        PacketTag::NONE
    }

    /// When it is made.
    pub const fn now(&self) -> Timestamp {
        match self {
            Self::Sent(sent, _) => sent.now,
            Self::Feedback(feedback, _) => feedback.now,
            Self::Signal(now, ..) | Self::Timer(now, _) => *now,
        }
    }

    /// The sender at that time.
    pub const fn flight(&self) -> &'a Flight<'a> {
        match self {
            Self::Sent(_, flight) | Self::Feedback(_, flight) | Self::Signal(_, _, flight) | Self::Timer(_, flight) => {
                flight
            }
        }
    }

    /// The feedback, if it is one.
    pub const fn feedback(&self) -> Option<&'a Feedback<'a>> {
        match self {
            Self::Feedback(feedback, _) => Some(feedback),
            _ => None,
        }
    }

    /// The signal, if it is one.
    pub const fn signal(&self) -> Option<&'a Signal> {
        match self {
            Self::Signal(_, signal, _) => Some(signal),
            _ => None,
        }
    }

    fn summary(&self) -> Summary {
        match self {
            Self::Sent(sent, _) => Summary::Sent { packet_number: sent.packet_number, bytes: sent.bytes },
            Self::Feedback(feedback, flight) => Summary::Feedback {
                cause: feedback.cause,
                acked: feedback.newly_acked.packets,
                lost: feedback.newly_lost.packets,
                marked: feedback.newly_marked.packets,
                spurious: feedback.spurious.len() as u64,
                limit: flight.limit,
            },
            Self::Signal(_, signal, _) => Summary::Signal(**signal),
            Self::Timer(..) => Summary::Timer,
        }
    }
}

/// All that an engine acts upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Outputs {
    /// [`Controller::window`].
    pub window: u64,
    /// [`Controller::pacing_rate`].
    pub pacing_rate: Option<Rate>,
    /// [`Controller::send_quantum`].
    pub send_quantum: Option<u64>,
    /// [`Controller::next_timer`].
    pub next_timer: Option<Timestamp>,
    /// [`Controller::ecn`].
    pub ecn: Ecn,
}

impl Outputs {
    /// Of a controller as it is.
    pub fn of(controller: &dyn Controller) -> Self {
        Self {
            window: controller.window(),
            pacing_rate: controller.pacing_rate(),
            send_quantum: controller.send_quantum(),
            next_timer: controller.next_timer(),
            ecn: controller.ecn(),
        }
    }
}

impl Outputs {
    /// Bytes that the sender of `flight` can have on the way: of the window, what the rate can have in flight.
    pub fn in_use(&self, flight: &Flight<'_>) -> u64 {
        let paced = self.pacing_rate.zip(flight.smoothed_rtt).map_or(u64::MAX, |(rate, rtt)| rate.bytes_in(rtt));
        self.window.min(paced)
    }
}

impl fmt::Display for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "window {} B", self.window)?;
        if let Some(rate) = self.pacing_rate {
            write!(f, ", pacing rate {rate}")?;
        }
        if let Some(bytes) = self.send_quantum {
            write!(f, ", quantum {bytes} B")?;
        }
        if let Some(at) = self.next_timer {
            write!(f, ", timer {at:?}")?;
        }
        Ok(())
    }
}

/// A call that was made, with the outputs around it.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The call.
    pub call: &'a Call<'a>,
    /// What `on_sent` returned.
    pub tag: PacketTag,
    /// Outputs before it.
    pub before: Outputs,
    /// Outputs after it.
    pub after: Outputs,
    /// The controller, as it is now.
    pub controller: &'a dyn Controller,
}

/// What was expected, and what was found instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What should hold.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl Violation {
    /// `Err` unless `holds`. The texts are made only if they are needed.
    ///
    /// # Errors
    ///
    /// The violation, if it does not hold.
    pub fn unless(holds: bool, expected: impl Into<String>, found: impl FnOnce() -> String) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { expected: expected.into(), found: found() }) }
    }
}

/// Something that must hold at each call of every history.
pub trait Invariant: Send {
    /// A call is about to be made.
    fn before(&mut self, _call: &Call<'_>, _controller: &dyn Controller) {}

    /// A call was made.
    ///
    /// # Errors
    ///
    /// If what must hold does not.
    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation>;
}

/// A call without what it borrows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Summary {
    Sent { packet_number: u64, bytes: u32 },
    Feedback { cause: Cause, acked: u64, lost: u64, marked: u64, spurious: u64, limit: Limit },
    Signal(Signal),
    Timer,
}

/// Where in a history something happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Calls made before.
    pub index: u64,
    /// When the call was made.
    pub now: Timestamp,
    call: Summary,
    /// Outputs before the call.
    pub before: Outputs,
    /// Outputs after it; `None` if it never returned.
    pub after: Option<Outputs>,
}

impl Moment {
    pub(crate) fn of(call: &Call<'_>, index: u64, before: Outputs) -> Self {
        Self { index, now: call.now(), call: call.summary(), before, after: None }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} at {:?}: ", self.index, self.now)?;
        match self.call {
            Summary::Sent { packet_number, bytes } => write!(f, "packet {packet_number} of {bytes} B sent")?,
            Summary::Feedback { cause, acked, lost, marked, spurious, limit } => write!(
                f,
                "feedback ({cause:?}): {acked} acknowledged, {lost} lost, {marked} marked, {spurious} spurious, limited by \
                 {limit:?}"
            )?,
            Summary::Signal(signal) => write!(f, "{signal:?}")?,
            Summary::Timer => f.write_str("timer")?,
        }
        write!(f, "\n    before: {}", self.before)?;
        match self.after {
            Some(after) => write!(f, "\n    after:  {after}"),
            None => f.write_str("\n    after:  it did not return"),
        }
    }
}

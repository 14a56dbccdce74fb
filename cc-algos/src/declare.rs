//! What an algorithm says of itself: its family, the signals it needs, the bounds it keeps at every step of every history,
//! and what it promises in closed loop.
//!
//! A declaration is documentation that is checked: the testing kit (`cwndtunnel-testkit`) holds an algorithm to its
//! [`Bounds`] on generated histories and to its [`Promises`] on the network of its [`Family`]. An algorithm that declares
//! nothing is held to what every controller must keep, and to no more.

mod promise;

pub use promise::{Promise, Side};

use crate::units::Span;

/// The networks that an algorithm is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Family {
    /// A control: it reacts to nothing, so that others can be compared with not reacting.
    Control,
    /// Links of the Internet: milliseconds to seconds, drop-tail queues or AQMs.
    #[default]
    WideArea,
    /// Links inside a datacentre: microseconds, switches that mark or tell more.
    Datacentre,
    /// Flows inside and between datacentres that share links.
    AcrossDatacentres,
}

impl Family {
    /// Its name in lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::WideArea => "wide area",
            Self::Datacentre => "datacentre",
            Self::AcrossDatacentres => "across datacentres",
        }
    }
}

/// A signal that an algorithm makes use of, beyond acknowledgements, losses and delays. Without it the algorithm must still
/// be safe; it need not be good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Need {
    /// CE marks by a queue's length.
    Ecn,
    /// Marks of an L4S queue, asked for by ECT(1) (RFC 9331).
    L4s,
    /// In-band telemetry of every hop.
    Int,
    /// Notices that a switch sends straight back to the source.
    NearSource,
    /// Switches that cut the payload off instead of dropping the packet.
    Trimming,
    /// Congestion notification packets of the receiver.
    CongestionNotification,
    /// CSIG tags.
    Csig,
    /// The number of switches on the forward path.
    HopCount,
}

impl Need {
    /// Its name in lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ecn => "ECN",
            Self::L4s => "L4S",
            Self::Int => "INT",
            Self::NearSource => "near-source notices",
            Self::Trimming => "trimming",
            Self::CongestionNotification => "CNPs",
            Self::Csig => "CSIG",
            Self::HopCount => "hop count",
        }
    }
}

/// How often a law may answer losses and marks with a smaller window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Reductions {
    /// At most once per window of data (RFC 9002, section 7.3.2).
    #[default]
    OncePerWindow,
    /// As often as the law likes, such as a little for each marked packet (MP-RDMA, FASTFLOW) or along a model (BBR).
    Unbounded,
}

/// Where a law's window and rate come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Law {
    /// Steps up and down: each acknowledgement, mark or loss changes the window by something.
    #[default]
    Steps,
    /// A model of the path: bandwidth, base RTT, queue. Estimates come with batches and not with packets, what a congestion
    /// response took away comes back when the model says so, and in recovery packets in flight are conserved. Where the law
    /// sets a rate, its window need only be what the rate can have in flight.
    Model,
}

/// What holds at every step of every history.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bounds {
    /// Smallest window, packets of the current MTU: 2 for Reno, 0.001 for Swift. Without a declaration it is a thousandth.
    pub min_window: f64,
    /// Largest window, packets, where the law has one of its own.
    pub max_window: Option<f64>,
    /// How often losses and marks may shrink the window.
    pub reductions: Reductions,
    /// Where window and rate come from.
    pub law: Law,
    /// For how long the law takes the smallest RTT that it has seen for the path's, where that is longer than a minute: a route
    /// that has become longer looks like a queue until then (RFC 6817, section 2.4.2: ten minutes).
    pub rtt_memory: Option<Span>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            min_window: 1e-3,
            max_window: None,
            reductions: Reductions::OncePerWindow,
            law: Law::Steps,
            rtt_memory: None,
        }
    }
}

/// What an algorithm promises in closed loop, on the network of its family (`testkit::closed_loop` has their figures).
/// `None` promises nothing.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Promises {
    /// One flow uses at least this share of the bottleneck once it has settled; the buffer holds one BDP.
    pub utilisation: Option<f64>,
    /// One flow keeps the mean queueing delay, once settled, at most at so many base RTTs; the buffer holds four BDP.
    pub queueing_delay: Option<f64>,
    /// Jain's index of four flows of equal RTT is at least this.
    pub fairness: Option<f64>,
    /// Jain's index of two flows whose base RTTs are 1 : 4 is at least this.
    pub rtt_fairness: Option<f64>,
    /// A second flow holds four fifths of its fair share after at most so many base RTTs.
    pub convergence_rtts: Option<u32>,
    /// Against one `cubic` flow of equal RTT on a drop-tail buffer of one BDP its throughput is at least this share of the
    /// bottleneck.
    pub least_share_against_cubic: Option<f64>,
    /// ... and at most this.
    pub most_share_against_cubic: Option<f64>,
    /// At this rate of independent losses one flow still uses half of the bottleneck.
    pub loss_tolerance: Option<f64>,
    /// The response function at one independent loss in a thousand packets: packets delivered a round trip, within a fifth.
    pub window_at_losses: Option<f64>,
    /// The same at one loss in ten thousand and a round trip five times as long, where laws by time and laws by round trip
    /// differ.
    pub window_at_rare_losses: Option<f64>,
    /// After the bottleneck has lost three quarters of its rate, at most so many base RTTs pass until the sending rate is down
    /// to what it carries.
    pub reaction_to_drop_rtts: Option<u32>,
    /// After the bottleneck's rate has grown fourfold, at most so many base RTTs pass until four fifths of it are used.
    pub reaction_to_rise_rtts: Option<u32>,
}

/// All that an algorithm says of itself.
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Declaration {
    /// The networks it is made for.
    pub family: Family,
    /// Signals it needs.
    pub needs: Vec<Need>,
    /// What holds always.
    pub bounds: Bounds,
    /// What holds in closed loop.
    pub promises: Promises,
}

macro_rules! builder {
    ($($(#[$doc:meta])* $field:ident . $name:ident : $type:ty),* $(,)?) => {$(
        $(#[$doc])*
        #[must_use]
        pub const fn $name(mut self, value: $type) -> Self {
            self.$field.$name = builder!(@wrap $name value);
            self
        }
    )*};
    (@wrap min_window $value:ident) => { $value };
    (@wrap reductions $value:ident) => { $value };
    (@wrap law $value:ident) => { $value };
    (@wrap $name:ident $value:ident) => { Some($value) };
}

impl Declaration {
    /// Of a member of `family` that needs no signals, keeps the default bounds and promises nothing.
    pub fn new(family: Family) -> Self {
        Self { family, ..Self::default() }
    }

    /// With a signal it needs.
    #[must_use]
    pub fn needing(mut self, need: Need) -> Self {
        self.needs.push(need);
        self
    }

    /// Whether it needs a signal.
    pub fn needs(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }

    builder! {
        /// With [`Bounds::min_window`].
        bounds.min_window: f64,
        /// With [`Bounds::max_window`].
        bounds.max_window: f64,
        /// With [`Bounds::reductions`].
        bounds.reductions: Reductions,
        /// With [`Bounds::law`].
        bounds.law: Law,
        /// With [`Bounds::rtt_memory`].
        bounds.rtt_memory: Span,
        /// With [`Promises::utilisation`].
        promises.utilisation: f64,
        /// With [`Promises::queueing_delay`].
        promises.queueing_delay: f64,
        /// With [`Promises::fairness`].
        promises.fairness: f64,
        /// With [`Promises::rtt_fairness`].
        promises.rtt_fairness: f64,
        /// With [`Promises::convergence_rtts`].
        promises.convergence_rtts: u32,
        /// With [`Promises::least_share_against_cubic`].
        promises.least_share_against_cubic: f64,
        /// With [`Promises::most_share_against_cubic`].
        promises.most_share_against_cubic: f64,
        /// With [`Promises::loss_tolerance`].
        promises.loss_tolerance: f64,
        /// With [`Promises::window_at_losses`].
        promises.window_at_losses: f64,
        /// With [`Promises::window_at_rare_losses`].
        promises.window_at_rare_losses: f64,
        /// With [`Promises::reaction_to_drop_rtts`].
        promises.reaction_to_drop_rtts: u32,
        /// With [`Promises::reaction_to_rise_rtts`].
        promises.reaction_to_rise_rtts: u32,
    }
}

//! `mprdma`: the congestion control of MP-RDMA (Lu et al., NSDI'18, section 3; Chen et al., IEEE/ACM ToN 27(6), 2019).
//!
//! ```text
//! for each packet acknowledged   unmarked  cwnd += 1 / cwnd
//!                                marked    cwnd -= 1 / 2               packets
//! ```
//!
//! One window serves all paths of a connection. It reacts to each mark and not once a round trip, so a share p of marks
//! holds it where (1 - p) / W = p / 2, at W = 2 (1 - p) / p packets.
//!
//! The law was read in two places of the Uno artifact (`spcl/Uno_SC25`, commit 68d164e: `lcp.cpp` and `uec.cpp`, type
//! `mprdma`) and in a port of the paper to ns-3 (`Cherries-Man/NS3-MP-RDMA`, `mp-rdma-hw.cc`, commit 81a0e22); of the paper
//! only the abstract could be had. The choice of paths (an acknowledgement sends the next packet on its own path, paths that
//! fall behind are dropped) is a balancer's and no part of a controller here.
//!
//! | parameter | unit | default | origin |
//! |---|---|---|---|
//! | `increase` | packets a window of unmarked packets | 1 | the law |
//! | `decrease` | packets a marked packet | 0.5 | the law; the artifact's `mprdma.cpp` has 0.15, copies of htsim 0.25 |
//! | `initial_window`, `min_window` | packets | 10, 1 | RFC 9002, section 7.2; the artifact |
//!
//! ## Differences from the reference
//!
//! | | reference | here |
//! |---|---|---|
//! | start | a window of one BDP; in the port one packet | one BDP with an oracle, else `initial_window`, doubling each round trip until the first mark or loss, or until the BDP of the local link |
//! | count | packets | bytes: a packet of half size counts half |
//! | unmarked packet | 1 / cwnd | the same, but no more than itself |
//! | losses | not part of the law as read; the hardware goes back to lost packets, copies of htsim take a trimmed packet's bytes | as a mark for each lost packet |
//! | nothing left to send | the port takes a packet for each acknowledgement, so that paths leave the window | none: a window that is not in use stays |
//! | retransmission timeout | unknown | persistent congestion: the minimum window |
//! | largest window | one BDP in the artifact | none |

use super::InvalidParam;
use super::fractional::FractionalWindow;
use super::newreno::packets;
use crate::controller::{Controller, ControllerState, Feedback, Flight, Handover, Setup};
use crate::declare::{Declaration, Family, Need, Reductions};
use crate::estimate::Pipe;
use crate::registry::{Algorithm, Args, Param, Value};
use crate::signal::{PathChange, Signal};
use crate::units::Timestamp;

/// Parameters of [`MpRdma`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct MpRdmaParams {
    /// Packets that a whole window of unmarked packets adds; above 0.
    pub increase: f64,
    /// Packets that a marked packet takes; above 0, at most 1.
    pub decrease: f64,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets never to go below; at least one.
    pub min_window: u64,
}

impl Default for MpRdmaParams {
    fn default() -> Self {
        Self { increase: 1.0, decrease: 0.5, initial_window: 10, min_window: 1 }
    }
}

impl MpRdmaParams {
    fn validate(&self) -> Result<(), InvalidParam> {
        let increases = self.increase > 0.0 && self.increase.is_finite();
        InvalidParam::unless(increases, "increase", "a positive number of packets")?;
        InvalidParam::unless(self.decrease > 0.0 && self.decrease <= 1.0, "decrease", "above 0, at most 1 packet")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(self.min_window > 0, "min_window", "at least one packet")
    }
}

/// MP-RDMA's window.
#[derive(Clone, Debug)]
pub struct MpRdma {
    params: MpRdmaParams,
    window: FractionalWindow,
    pipe: Pipe,
    /// Nothing has been marked or lost yet: the window doubles.
    starting: bool,
}

impl MpRdma {
    /// A controller for a flow that begins as `setup` says.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn new(params: MpRdmaParams, setup: &Setup) -> Result<Self, InvalidParam> {
        params.validate()?;
        let pipe = Pipe::new(setup);
        let mut window = FractionalWindow::new(setup, params.initial_window, params.min_window);
        let resumed = setup.handover.is_some_and(|from| from.window.is_some());
        let given = pipe.bdp().filter(|_| pipe.is_given() && !resumed);
        if let Some(bdp) = given {
            window.set(bdp);
        }
        Ok(Self { starting: given.is_none() && !resumed, params, window, pipe })
    }

    fn grow(&mut self, unmarked: f64) {
        let mut rest = unmarked;
        if self.starting {
            let end = self.pipe.bdp().filter(|_| self.pipe.is_upper_bound()).unwrap_or(f64::INFINITY);
            let doubling = (end - self.window.exact()).clamp(0.0, unmarked);
            self.window.add(doubling);
            self.starting = self.window.exact() < end;
            rest -= doubling;
        }
        self.window.add(self.window.growth(rest, self.params.increase * self.window.mtu()));
    }
}

impl Controller for MpRdma {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.pipe.observe(feedback, flight);
        let acked = feedback.newly_acked.bytes;
        let marked = feedback.newly_marked.bytes.min(acked);
        let lost = feedback.newly_lost.bytes as f64 + feedback.recovered.bytes as f64;
        let congested = marked as f64 + lost;
        if congested > 0.0 {
            self.starting = false;
            self.window.add(-self.params.decrease * congested);
        }
        if feedback.persistent_congestion.is_some() {
            self.window.collapse();
        }
        if flight.limit.allows_growth() {
            self.grow((acked - marked) as f64);
        }
    }

    fn on_signal(&mut self, _now: Timestamp, signal: &Signal, _flight: &Flight<'_>) {
        match signal {
            Signal::MtuChange { mtu } => self.window.set_mtu(*mtu),
            Signal::PathChange { change: PathChange::Migrated | PathChange::Revived, .. } => {
                self.window.restart();
                self.pipe.forget();
                self.starting = true;
            }
            _ => {}
        }
    }

    fn window(&self) -> u64 {
        self.window.bytes()
    }

    fn in_slow_start(&self) -> bool {
        self.starting
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(self.window.bytes(), if self.starting { "slow_start" } else { "congestion_avoidance" })
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
    const NAME: &str = "mprdma";
    let default = MpRdmaParams::default();
    Algorithm::new(
        NAME,
        "takes half a packet for each mark, over all paths together",
        "MP-RDMA, NSDI'18",
        |args, setup| Ok(Box::new(MpRdma::new(params(args), setup).map_err(|error| error.of(NAME))?)),
    )
    .declaring(
        Declaration::new(Family::Datacentre)
            .needing(Need::Ecn)
            .min_window(1.0)
            .reductions(Reductions::Unbounded)
            .utilisation(0.9)
            .fairness(0.9),
    )
    .with_param(
        Param::new("increase", Value::Number(default.increase), "packets an unmarked window adds").within(1e-3, 1e3),
    )
    .with_param(Param::new("decrease", Value::Number(default.decrease), "packets a mark takes").within(1e-3, 1.0))
    .with_param(packets("initial_window", default.initial_window, "packets to start with"))
    .with_param(packets("min_window", default.min_window, "packets never to go below"))
}

fn params(args: &Args) -> MpRdmaParams {
    MpRdmaParams {
        increase: args.number("increase"),
        decrease: args.number("decrease"),
        initial_window: args.integer("initial_window"),
        min_window: args.integer("min_window"),
    }
}

#[cfg(test)]
mod tests;

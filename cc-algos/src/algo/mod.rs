//! One algorithm a file. Each begins with its source, its law in formulas, its parameters with unit and origin, and a
//! table of differences from the reference.
//!
//! | name | file | source |
//! |---|---|---|
//! | `fixed-window` | [`fixed_window`] | a control: a window that never moves |
//! | `fixed-rate` | [`fixed_rate`] | a control: a rate that never moves |
//! | `newreno` | [`newreno`] | RFC 9002, section 7; RFC 5681; RFC 6582 |
//! | `cubic` | [`cubic`] | RFC 9438 |
//! | `dctcp` | [`dctcp`] | RFC 8257 |
//! | `copa` | [`copa`] | Arun and Balakrishnan, NSDI'18 |
//! | `ledbat++` | [`ledbat_plus_plus`] | draft-irtf-iccrg-ledbat-plus-plus |
//! | `prague` | [`prague`] | draft-briscoe-iccrg-prague-congestion-control; RFC 9331 |
//! | `vegas` | [`vegas`] | Brakmo and Peterson, IEEE JSAC 1995; Linux `tcp_vegas.c` |
//! | `swift` | [`swift`] | Kumar et al., SIGCOMM'20; OCP Falcon 0.9 |
//! | `timely` | [`timely`] | Mittal et al., SIGCOMM'15 |
//! | `hpcc` | [`hpcc`] | Li et al., SIGCOMM'19 |
//! | `powertcp` | [`powertcp`] | Addanki et al., NSDI'22 |
//! | `theta-powertcp` | [`theta_powertcp`] | Addanki et al., NSDI'22, by delay |
//! | `poseidon` | [`poseidon`] | Wang et al., NSDI'23 |
//! | `dcqcn` | [`dcqcn`] | DCQCN, SIGCOMM'15 |
//! | `mprdma` | [`mprdma`] | MP-RDMA, NSDI'18 |
//! | `bbr` | [`bbr`] | Cardwell et al., ACM Queue 2016; Linux `tcp_bbr.c` |
//! | `bbr3` | [`bbr3`] | draft-ietf-ccwg-bbr |
//! | `nscc` | [`nscc`] | Ultra Ethernet, as in uet-htsim |
//! | `fastflow` | [`fastflow`] | FASTFLOW, arXiv 2404.01630 |
//! | `gemini` | [`gemini`] | Gemini, ICNP'19 |
//! | `annulus` | [`annulus`] | Annulus, SIGCOMM'20; QCN, IEEE 802.1Qau |
//! | `uno` | [`uno`] | UnoCC, SC'25 |
//!
//! Parts that several laws share, and that laws of other crates may use too: [`recovery`] (one reduction a round trip,
//! and the undoing of spurious ones), [`window`] (Reno's window), [`hystart`] (HyStart++), [`fabric`] (a window in
//! fractions of a byte for laws of the datacentre), [`power`] (PowerTCP, however power is measured), [`fractional`]
//! (a window that moves by fractions of a byte), [`reaction_point`] (the rate of QCN and DCQCN), [`spray`],
//! [`quick_adapt`] and [`decay`] (NSCC and FASTFLOW) and, of model-based laws,
//! [`sample`] (what an acknowledgement says), [`pacing`] (at a bandwidth), [`probe_rtt`] and [`random`].

pub mod annulus;
pub mod bbr;
pub mod bbr3;
pub mod copa;
pub mod cubic;
pub mod dcqcn;
pub mod dctcp;
pub mod decay;
pub mod fabric;
pub mod fastflow;
pub mod fixed_rate;
pub mod fixed_window;
pub mod fractional;
pub mod gemini;
pub mod hpcc;
pub mod hystart;
pub mod ledbat_plus_plus;
pub mod mprdma;
pub mod newreno;
pub mod nscc;
pub mod pacing;
pub mod poseidon;
pub mod power;
pub mod powertcp;
pub mod prague;
pub mod probe_rtt;
pub mod quick_adapt;
pub mod random;
pub mod reaction_point;
pub mod recovery;
pub mod sample;
pub mod spray;
pub mod swift;
pub mod theta_powertcp;
pub mod timely;
pub mod uno;
pub mod vegas;
pub mod window;

pub use annulus::{Annulus, AnnulusParams};
pub use bbr::{Bbr, BbrParams};
pub use bbr3::{Bbr3, Bbr3Params};
pub use copa::{Copa, CopaParams};
pub use cubic::{Cubic, CubicParams};
pub use dcqcn::{Dcqcn, DcqcnParams};
pub use dctcp::{Dctcp, DctcpParams};
pub use fastflow::{FastFlow, FastFlowParams};
pub use fixed_rate::{FixedRate, FixedRateParams};
pub use fixed_window::{FixedWindow, FixedWindowParams};
pub use gemini::{Gemini, GeminiParams};
pub use hpcc::{Hpcc, HpccParams};
pub use ledbat_plus_plus::{LedbatPlusPlus, LedbatPlusPlusParams};
pub use mprdma::{MpRdma, MpRdmaParams};
pub use newreno::{NewReno, NewRenoParams};
pub use nscc::{Nscc, NsccParams};
pub use poseidon::{Poseidon, PoseidonParams};
pub use power::PowerParams;
pub use powertcp::PowerTcp;
pub use prague::{Prague, PragueParams};
pub use swift::{Swift, SwiftParams};
pub use theta_powertcp::ThetaPowerTcp;
pub use timely::{Timely, TimelyParams};
pub use uno::{Uno, UnoParams};
pub use vegas::{Vegas, VegasParams};

use crate::registry::{Algorithm, RegistryError};

/// Every algorithm of this crate, for [`Registry::builtin`](crate::Registry::builtin).
pub fn all() -> Vec<Algorithm> {
    vec![
        fixed_rate::algorithm(),
        fixed_window::algorithm(),
        newreno::algorithm(),
        cubic::algorithm(),
        dctcp::algorithm(),
        copa::algorithm(),
        ledbat_plus_plus::algorithm(),
        prague::algorithm(),
        vegas::algorithm(),
        swift::algorithm(),
        timely::algorithm(),
        hpcc::algorithm(),
        powertcp::algorithm(),
        theta_powertcp::algorithm(),
        poseidon::algorithm(),
        dcqcn::algorithm(),
        mprdma::algorithm(),
        bbr::algorithm(),
        bbr3::algorithm(),
        nscc::algorithm(),
        fastflow::algorithm(),
        gemini::algorithm(),
        annulus::algorithm(),
        uno::algorithm(),
    ]
}

/// A parameter has a value that the law cannot work with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parameter `{name}`: expected {expected}")]
pub struct InvalidParam {
    /// The parameter.
    pub name: &'static str,
    /// What would do.
    pub expected: &'static str,
}

impl InvalidParam {
    /// `Err` unless `holds`.
    fn unless(holds: bool, name: &'static str, expected: &'static str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { name, expected }) }
    }

    /// As an error of the registry's entry `algorithm`.
    fn of(self, algorithm: &str) -> RegistryError {
        RegistryError::Unsuitable { algorithm: algorithm.to_owned(), reason: self.to_string() }
    }
}

#[cfg(test)]
mod tests;

//! Estimators, written once and shared by engine and controllers.
//!
//! * [`rtt`]: smoothed RTT, its variation and the probe time-out (RFC 9002, section 5 and 6.2);
//! * [`delivery`]: delivery-rate samples (draft-ietf-ccwg-bbr, section 4.1);
//! * [`windowed`]: the largest or smallest value of a sliding window in three samples;
//! * [`round`]: round trips, counted by what was acknowledged;
//! * [`hops`]: in-band telemetry, from one acknowledgement to the next;
//! * [`pipe`]: base RTT and bandwidth-delay product of a path;
//! * [`aged`]: a smallest delay that is renewed when it is too old;
//! * [`aggregation`]: bytes acknowledged in bursts (draft-ietf-ccwg-bbr, section "BBR.extra_acked");
//! * [`full_pipe`]: whether a flow that accelerates has filled the pipe.

pub mod aged;
pub mod aggregation;
pub mod delivery;
pub mod full_pipe;
pub mod hops;
pub mod pipe;
pub mod round;
pub mod rtt;
pub mod windowed;

pub use aged::AgedMin;
pub use aggregation::AckAggregation;
pub use delivery::DeliveryEstimator;
pub use full_pipe::FullPipe;
pub use hops::{HopChange, HopMeter};
pub use pipe::Pipe;
pub use round::RoundCounter;
pub use rtt::RttEstimator;
pub use windowed::{WindowedMax, WindowedMin};

//! Controllers in closed loop: the behaviour that their papers are known for.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test")]

mod across;
mod bbr;
mod bbr3;
mod datacentre;
mod delay;
mod telemetry;
mod wide_area;

//! The engine and the simulator together against closed forms of the literature.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test")]

mod cubic;
mod dctcp;
mod newreno;
mod port;

//! The engine and the simulator together against closed forms of the literature.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test")]

mod cubic;
mod dcqcn;
mod dctcp;
mod fabric;
mod hpcc;
mod newreno;
mod port;
mod powertcp;
mod timely;

//! A controller of one's own in every command of `cwndtunnel`. See the README for how to take it out of this tree.
#![forbid(unsafe_code)]

mod aimd;

use std::process::ExitCode;

use cc_algos::Registry;
use cc_algos::registry::{Algorithm, Param, Value};

fn main() -> ExitCode {
    let mut registry = Registry::builtin();
    registry.register(
        Algorithm::new("aimd", "additive increase, multiplicative decrease", "Chiu and Jain, 1989", |args, setup| {
            Ok(Box::new(aimd::Aimd::new(args.number("decrease"), setup)))
        })
        .with_param(Param::new("decrease", Value::Number(0.5), "share of the window kept at a loss").within(0.1, 0.9)),
    );
    harness::cli::main(registry)
}

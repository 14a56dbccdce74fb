//! The program: the command line with the built-in algorithms.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    harness::cli::main(cc_algos::Registry::builtin())
}

//! What algorithms do on the networks of their families, whether they promise it or not: what to look at before declaring.
//!
//! `cargo run --release -p cwndtunnel-testkit --example promises -- cubic 'bbr3?beta=0.8'`; without names, all built-in ones.

use std::process::ExitCode;

use cc_algos::{Promise, Registry};
use testkit::closed_loop::{Contender, SEEDS, measure};

fn main() -> ExitCode {
    let registry = Registry::builtin();
    let mut specs: Vec<String> = std::env::args().skip(1).collect();
    if specs.is_empty() {
        specs = registry.iter().map(|algorithm| algorithm.name().to_owned()).collect();
    }
    for spec in specs {
        let contender = match Contender::registered(&registry, &spec) {
            Ok(contender) => contender,
            Err(error) => {
                eprintln!("promises: {error}");
                return ExitCode::from(2);
            }
        };
        println!("{spec} ({})", contender.declaration.family.name());
        for promise in Promise::ALL {
            let measured: Result<Vec<_>, _> = SEEDS.iter().map(|seed| measure(&contender, promise, *seed)).collect();
            let promised = promise.threshold(&contender.declaration.promises);
            match measured {
                Ok(values) => {
                    let values: Vec<_> = values.iter().map(|value| format!("{value:.3}")).collect();
                    let promised = promised.map_or_else(String::new, |bound| format!("  promised {bound:.3}"));
                    println!("  {:<26} {}{promised}", promise.name(), values.join("  "));
                }
                Err(error) => {
                    eprintln!("promises: {spec}: {error}");
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    ExitCode::SUCCESS
}

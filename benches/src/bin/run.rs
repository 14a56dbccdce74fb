//! Runs one workload and prints what it cost: `run WORKLOAD [ALGORITHM [TIMES]]`.
//!
//! The digest covers everything that the run measured: two builds that print the same digest behave alike.

use std::error::Error;

use benches::cpu::thread_time;
use benches::memory::peak_resident;
use benches::workload::Workload;
use cc_algos::Span;
use sim::Outcome;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let workload: Workload = args.next().unwrap_or_else(|| "incast".into()).parse()?;
    let algorithm = args.next().unwrap_or_else(|| "newreno".into());
    let times: u32 = args.next().map_or(Ok(1), |times| times.parse())?;
    let experiment = workload.experiment(&algorithm)?;
    for _ in 0..times.max(1) {
        let start = thread_time();
        let outcome = sim::run(&experiment)?;
        let nanos = thread_time().saturating_sub(start).as_nanos() as f64;
        print(workload, &algorithm, &outcome, nanos)?;
    }
    Ok(())
}

fn print(workload: Workload, algorithm: &str, outcome: &Outcome, nanos: f64) -> Result<(), Box<dyn Error>> {
    let work = outcome.work;
    let completed = outcome.flows.iter().filter(|flow| flow.completed.is_some()).count();
    let lost: u64 = outcome.flows.iter().map(|flow| flow.lost).sum();
    println!(
        "{workload} {algorithm}: {:.1} ns/hop, {:.0} ns/data packet, {:.1} ns/event; {} hops, {} data packets, {} events; \
         {completed} of {} flows completed, {lost} packets lost, {} simulated; peak {:.1} MB; digest {:016x}",
        nanos / work.packet_hops as f64,
        nanos / work.data_packets as f64,
        nanos / work.events as f64,
        work.packet_hops,
        work.data_packets,
        work.events,
        outcome.flows.len(),
        Span::from_nanos(outcome.ended_at.as_nanos()),
        peak_resident()? as f64 / 1e6,
        digest(outcome),
    );
    Ok(())
}

/// FNV-1a over the outcome as `Debug` prints it.
fn digest(outcome: &Outcome) -> u64 {
    let text = format!("{outcome:?}");
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

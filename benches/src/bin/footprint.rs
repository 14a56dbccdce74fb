//! Prints what a flow and a packet in flight take of memory: `footprint`.
//!
//! Each figure is the difference between the peaks of two processes that differ in the number of flows, or in the window of
//! each flow, divided by what they differ by. Peaks include what containers keep in reserve.

use std::error::Error;
use std::process::Command;

use benches::memory::peak_resident;
use benches::workload::Workload;
use sim::queue::{Capacity, DisciplineSpec};
use sim::spec::Topology;

/// Packets of every flow, more than any window here: 1 400 B of payload each.
const PACKETS: u64 = 200;
/// Bytes of a packet on the wire, at most.
const MTU: u64 = 1_500;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flows, window] = args.as_slice() {
        let workload = Workload::Dumbbell { flows: flows.parse()?, packets: PACKETS };
        let mut experiment = workload.experiment(&format!("fixed-window?window={}", window.parse::<u64>()? * MTU))?;
        if let Topology::Dumbbell(dumbbell) = &mut experiment.topology {
            // Windows beyond the product stand in the queue, and nothing is lost.
            dumbbell.bottleneck.discipline = DisciplineSpec::DropTail { capacity: Capacity::Unlimited };
        }
        sim::run(&experiment)?;
        println!("{}", peak_resident()?);
        return Ok(());
    }
    for flows in [1, 100, 10_000] {
        println!("{flows} flows, 8 packets in flight each: peak {:.1} MB", peak_of(flows, 8)? as f64 / 1e6);
    }
    let per_flow = slope(peak_of(1_000, 1)?, peak_of(10_000, 1)?, 9_000);
    println!("per flow with its four ports and one packet in flight: {per_flow:.0} B");
    let per_packet = slope(peak_of(1_000, 8)?, peak_of(1_000, 128)?, 120_000);
    println!("per further packet in flight: {per_packet:.0} B");
    Ok(())
}

/// Peak of a process of its own that runs so many flows with a window of so many packets.
fn peak_of(flows: u32, window: u64) -> Result<u64, Box<dyn Error>> {
    let child = Command::new(std::env::current_exe()?).args([flows.to_string(), window.to_string()]).output()?;
    if !child.status.success() {
        return Err(String::from_utf8_lossy(&child.stderr).into());
    }
    Ok(String::from_utf8(child.stdout)?.trim().parse()?)
}

fn slope(from: u64, to: u64, difference: u64) -> f64 {
    to.saturating_sub(from) as f64 / difference as f64
}

//! Whole simulations: CPU time per data packet delivered. The time per packet-hop stands in the line printed before each
//! benchmark, with the growth of the cost when the work is doubled.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use benches::cpu::{CpuTime, thread_time};
use benches::workload::Workload;
use criterion::{Criterion, Throughput};
use sim::{Experiment, Outcome};

const ALGORITHM: &str = "newreno";

fn main() -> Result<(), Box<dyn Error>> {
    let criterion =
        Criterion::default().warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_secs(5));
    let mut criterion = criterion.sample_size(10).with_measurement(CpuTime).configure_from_args();
    for workload in [
        Workload::Dumbbell { flows: 1, packets: 50_000 },
        Workload::Dumbbell { flows: 100, packets: 500 },
        Workload::Dumbbell { flows: 10_000, packets: 20 },
        Workload::Incast,
        Workload::Permutation,
    ] {
        time_run(&mut criterion, workload)?;
    }
    print_growth()?;
    criterion.final_summary();
    Ok(())
}

fn time_run(criterion: &mut Criterion<CpuTime>, workload: Workload) -> Result<(), Box<dyn Error>> {
    let experiment = workload.experiment(ALGORITHM)?;
    let (outcome, nanos) = timed(&experiment)?;
    let work = outcome.work;
    println!(
        "{workload}: {:.1} ns per hop, {:.0} ns per data packet, once; {} hops, {} data packets",
        nanos / work.packet_hops as f64,
        nanos / work.data_packets as f64,
        work.packet_hops,
        work.data_packets,
    );
    let mut group = criterion.benchmark_group("simulator");
    group.throughput(Throughput::Elements(work.data_packets));
    group.bench_function(workload.to_string(), |bencher| {
        bencher.iter(|| black_box(sim::run(&experiment)));
    });
    group.finish();
    Ok(())
}

/// Runs n, 2n and 4n packets: a simulator whose cost depends on what it has already done shows here.
fn print_growth() -> Result<(), Box<dyn Error>> {
    let mut first = None;
    for packets in [500, 1_000, 2_000] {
        let experiment = Workload::Dumbbell { flows: 100, packets }.experiment(ALGORITHM)?;
        let mut least = f64::INFINITY;
        let mut hops = 0;
        for _ in 0..3 {
            let (outcome, nanos) = timed(&experiment)?;
            least = least.min(nanos);
            hops = outcome.work.packet_hops;
        }
        let per_hop = least / hops as f64;
        let of_first = per_hop / *first.get_or_insert(per_hop);
        println!("growth: 100 flows of {packets} packets: {per_hop:.1} ns per hop, {of_first:.2} times that of 500");
    }
    Ok(())
}

fn timed(experiment: &Experiment) -> Result<(Outcome, f64), Box<dyn Error>> {
    let start = thread_time();
    let outcome = sim::run(experiment)?;
    Ok((outcome, thread_time().saturating_sub(start).as_nanos() as f64))
}

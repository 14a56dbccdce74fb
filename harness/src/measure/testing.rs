//! Made-up runs for tests: what they hold is drawn from the seed, so that cells differ as real ones do.

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::distribution::Distribution;
use super::fairness::{Fairness, FairnessWindow};
use super::record::{ClassRecord, Identity, PortRecord, RunRecord, Totals, WorkRecord};
use super::series::{FlowSeries, PortSeries, Series};

/// Completions in each made-up run.
pub(crate) const COMPLETIONS: u64 = 1_200;

/// A run whose delays scale with `slow` per cent.
pub(crate) fn run_scaled(scenario: &str, algorithm: &str, seed: u64, slow: u64) -> RunRecord {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut class = ClassRecord { contestant: algorithm.into(), group: "rpc".into(), ..ClassRecord::default() };
    for _ in 0..COMPLETIONS {
        // Roughly exponential: minus log2 of a uniform number, in steps.
        let tail = u64::from(rng.next_u64().leading_zeros()) * 2_000_000 + rng.next_u64() % 2_000_000;
        let fct = (20_000_000 + tail) * slow / 100;
        class.fct_ns.observe(fct);
        class.slowdown_milli.observe(fct / 20_000);
        class.one_way_ns.observe(10_000_000 + tail * slow / 100);
        class.queueing_ns.observe(tail * slow / 100);
    }
    class.totals = Totals {
        flows: COMPLETIONS + 1,
        finite: COMPLETIONS + 1,
        completed: COMPLETIONS,
        not_started: 1,
        delivered_bytes: 50_000_000 + rng.next_u64() % 1_000_000,
        active_ns: 10_000_000_000,
        packets_sent: 40_000,
        bytes_sent: 56_000_000,
        retransmitted: 300 + rng.next_u64() % 50,
        lost: 280,
        spurious: 3,
        marked: 12,
        timeouts: 1,
        ..Totals::default()
    };
    RunRecord {
        identity: Identity {
            scenario: scenario.into(),
            algorithm: algorithm.into(),
            seed,
            config_hash: "c0ffee".into(),
        },
        ended_at_ns: 10_000_000_000,
        classes: vec![class],
        ports: vec![port(&mut rng, slow)],
        fairness: fairness(&mut rng),
        series: (seed == 1).then(|| series(&mut rng, slow)),
        work: WorkRecord { events: 1_000, packet_hops: 2_000, data_packets: 40_000 },
    }
}

/// A run of usual speed.
pub(crate) fn run(scenario: &str, algorithm: &str, seed: u64) -> RunRecord {
    run_scaled(scenario, algorithm, seed, 100)
}

fn port(rng: &mut Xoshiro256PlusPlus, slow: u64) -> PortRecord {
    PortRecord {
        name: "bottleneck".into(),
        bytes: 55_000_000 + rng.next_u64() % 1_000_000,
        packets: 40_000,
        offered: 60_000_000,
        queue_drops: 280,
        marks: 12,
        max_backlog: 150_000,
        mean_backlog: 300 * slow + rng.next_u64() % 5_000,
        ..PortRecord::default()
    }
}

fn fairness(rng: &mut Xoshiro256PlusPlus) -> Fairness {
    let mut convergence_ns = Distribution::default();
    for _ in 0..3 {
        convergence_ns.observe(800_000_000 + rng.next_u64() % 400_000_000);
    }
    let windows = (1..=50).map(|step| FairnessWindow {
        until_ns: step * 200_000_000,
        flows: 4,
        jain_ppm: 900_000 + rng.next_u64() % 100_000,
    });
    Fairness { overall_ppm: Some(930_000), window_ns: 200_000_000, windows: windows.collect(), convergence_ns }
}

fn series(rng: &mut Xoshiro256PlusPlus, slow: u64) -> Series {
    let steps = 400_u64;
    let mut flows = Vec::new();
    for flow in 0..3_u32 {
        let starts = u64::from(flow) * 60;
        let saw = |step: u64| (20_000 + (step * 1_700 + u64::from(flow) * 9_000) % 60_000) * slow / 100;
        let at = |value: &dyn Fn(u64) -> u64| (0..steps).map(|step| (step >= starts).then(|| value(step))).collect();
        flows.push(FlowSeries {
            flow,
            class: 0,
            window: at(&saw),
            pacing_bps: at(&|step| saw(step) * 200),
            smoothed_rtt_ns: at(&|step| 20_000_000 + saw(step) * 300),
            in_flight: at(&|step| saw(step) * 9 / 10),
            delivered: at(&|step| (step - starts) * 50_000),
        });
    }
    let backlog = (0..steps).map(|step| (step * 1_700 % 60_000) + rng.next_u64() % 3_000).collect();
    Series {
        at_ns: (0..steps).map(|step| step * 25_000_000).collect(),
        flows,
        port: Some(PortSeries {
            name: "bottleneck".into(),
            backlog,
            phantom: Vec::new(),
            bytes: (0..steps).map(|step| step * 140_000).collect(),
            offered: (0..steps).map(|step| step * 140_000 + (step % 40) * 1_000).collect(),
        }),
    }
}

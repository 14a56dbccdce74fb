//! Every built-in scenario, cut short, gives the same record twice, and none that cannot be.

use std::path::Path;
use std::sync::Arc;

use cc_algos::{Registry, Span};
use harness::measure::KeepSeries;
use harness::scenario::{Prepared, SCENARIOS};
use harness::sweep::{PlanRequest, Shard, Sweep, simulate};

/// A twentieth of each run, and no more than a second: enough for slow start, queues, losses and marks.
fn shortened(duration: Span) -> Span {
    Span::from_nanos(duration.as_nanos() / 20).min(Span::from_secs(1))
}

#[test]
fn every_built_in_repeats_to_the_byte_and_offers_no_more_than_its_links() {
    let registry = Registry::builtin();
    for builtin in SCENARIOS {
        let mut scenario = builtin.scenario().unwrap();
        scenario.duration = shortened(scenario.duration);
        let prepared = Arc::new(Prepared::new(scenario, Path::new(".")).unwrap());
        let request =
            PlanRequest { scenarios: vec![prepared], algorithms: vec!["cubic".into(), "dctcp".into()], seeds: Some(1) };
        let sweep = Sweep::plan(&request, &registry, Shard::WHOLE).unwrap();
        let job = sweep.jobs.last().unwrap();
        let run = || simulate(&registry, &sweep.cells[job.cell], job, KeepSeries::Yes).unwrap();
        let record = run();
        assert!(record.to_json() == run().to_json(), "{} does not repeat", builtin.name);
        assert!(record.work.data_packets > 0, "{} moves nothing", builtin.name);
        for port in &record.ports {
            // One packet may be on the wire when the run ends.
            assert!(port.bytes <= port.offered + 1_500, "{}, {}: {port:?}", builtin.name, port.name);
        }
    }
}

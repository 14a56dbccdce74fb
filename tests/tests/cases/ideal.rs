//! The completion time that others are measured against.

use cc_algos::{Rate, Span};
use cwndtunnel_tests::{MTU, experiment, flow, run};
use sim::spec::{Dumbbell, LinkSpec, Load, Side, Topology};
use transport::flow::Pacing;

/// Over an empty network with a window that never stops it, a flow of any size takes its ideal time: slowdown one.
/// Sizes from a byte to many packets; links of different rates, so that each hop counts. Beyond one packet the last one
/// may be short, and hurries over the links behind the bottleneck: at most by what a full packet takes there.
#[test]
fn a_flow_alone_takes_its_ideal_time_whatever_its_size() {
    let link = |mbps, micros| LinkSpec::fixed(Rate::from_mbps(mbps), Span::from_micros(micros));
    for size in [1, 100, 1_000, 1_400, 1_500, 5_000, 100_000] {
        let topology = Topology::Dumbbell(Dumbbell {
            pairs: 1,
            access: link(50, 30),
            extra_delay: vec![],
            delivery: vec![],
            extra_side: Side::Left,
            bottleneck: link(10, 500),
            reverse: link(20, 500),
        });
        let flows = vec![flow(0, 1, Load::Bytes(size))];
        let mut experiment = experiment("fixed-window?window=1MB", topology, flows, Span::from_secs(2));
        experiment.endpoints.sender.pacing = Pacing::Off;
        let flow = &run(&experiment).flows[0];
        let (took, ideal) = (flow.completion_time().unwrap(), flow.ideal_completion_time(MTU).unwrap());
        // 1 500 B at 50 Mb/s take 240 us; longer acknowledgements than the smallest, and a last number, a few us.
        let short_last = if size > 1_400 { Span::from_micros(240) } else { Span::from_micros(1) };
        assert!(took + short_last >= ideal, "{size} B: {took} instead of {ideal}");
        assert!(took <= ideal + Span::from_micros(20), "{size} B: {took} instead of {ideal}");
    }
}

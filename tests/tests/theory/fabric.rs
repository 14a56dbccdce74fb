//! What the tests of laws of the datacentre share.

use cc_algos::{Span, Timestamp};
use cwndtunnel_tests::{dumbbell, experiment_of};
use sim::outcome::Sample;
use sim::spec::{Contestant, FlowSpec, Knowledge, LinkSpec, Topology};
use sim::{Experiment, Outcome};
use transport::flow::SenderConfig;

/// Pairs of hosts whose links are as fast as the bottleneck, as analyses assume, and a controller that is told base RTT and
/// rate, as those of the papers are.
pub(crate) fn experiment(
    contestant: Contestant,
    bottleneck: LinkSpec,
    flows: Vec<FlowSpec>,
    duration: Span,
) -> Experiment {
    let access =
        LinkSpec { service: bottleneck.service.clone(), ..LinkSpec::fixed(cwndtunnel_tests::FAST, Span::ZERO) };
    let mut topology = dumbbell(flows.len() as u32, bottleneck);
    let Topology::Dumbbell(dumbbell) = &mut topology else { unreachable!() };
    dumbbell.access = access;
    let mut experiment = experiment_of(vec![contestant.knowing(Knowledge::Oracle)], topology, flows, duration);
    experiment.endpoints.sender = SenderConfig::datacentre();
    experiment.endpoints.sender.mtu = 1_000;
    experiment.sample_every = Some(Span::from_micros(5));
    experiment
}

/// Samples of the second half of the run.
pub(crate) fn late(outcome: &Outcome) -> &[Sample] {
    &outcome.samples[outcome.samples.len() / 2..]
}

/// Times of the first and the last of them.
pub(crate) fn second_half(outcome: &Outcome) -> (Timestamp, Timestamp) {
    let late = late(outcome);
    (late[0].at, late[late.len() - 1].at)
}

/// Mean of one value over the second half of the run.
pub(crate) fn settled(outcome: &Outcome, value: impl Fn(&Sample) -> f64) -> f64 {
    let late = late(outcome);
    late.iter().map(value).sum::<f64>() / late.len() as f64
}

/// Share of the bottleneck's capacity that was used in the second half of the run.
pub(crate) fn utilisation(outcome: &Outcome) -> f64 {
    let late = late(outcome);
    let (first, last) = (&late[0].ports[0], &late[late.len() - 1].ports[0]);
    (last.bytes - first.bytes) as f64 / (last.offered - first.offered) as f64
}

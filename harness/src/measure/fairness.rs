//! Jain's index over time, and how long flows take to share evenly.
//!
//! Jain's index of rates x₁…xₙ is (Σx)² / (n·Σx²): 1 where all are equal, 1/n where one has everything (Jain, Chiu and
//! Hawe, DEC-TR-301, 1984).
//!
//! The windows and the convergence time are ours. A window is the longest of ten base RTTs, one hundredth of the run and
//! one sampling interval. It counts the flows that were active all through it; a flow that delivered nothing and had
//! nothing in flight at either end had nothing to send and does not count, and of very many flows only the ones in the
//! samples do ([`sim::outcome::Sample`]). After each arrival or departure of
//! a long-lived flow, the flows have converged at the end of the first window from which on the index of every window, up
//! to the next arrival or departure, is at least 0.95. If that never happens, all that is known is that it takes longer.

use std::collections::BTreeMap;

use cc_algos::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use sim::FlowId;
use sim::outcome::Sample;

use super::distribution::Distribution;

/// Parts of the whole in which an index is stored.
pub const PPM: u64 = 1_000_000;

/// The index from which on flows count as having converged, parts per million: two flows then share at worst 61 : 39.
const CONVERGED_PPM: u64 = 950_000;

/// Stretches between arrivals and departures that are shorter than so many windows say nothing on convergence.
const WINDOWS_PER_EPISODE: u64 = 5;

/// How evenly the flows of a run shared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fairness {
    /// Jain's index of the long-lived flows' mean rates while each was active, parts per million; two flows at least.
    pub overall_ppm: Option<u64>,
    /// Length of a window, nanoseconds.
    pub window_ns: u64,
    /// Windows in which two or more flows were active, one after the other.
    pub windows: Vec<FairnessWindow>,
    /// Convergence times after arrivals and departures of long-lived flows, nanoseconds.
    pub convergence_ns: Distribution,
}

impl Fairness {
    /// The index averaged over the windows, parts per million.
    pub fn mean_over_time_ppm(&self) -> Option<u64> {
        let count = u64::try_from(self.windows.len()).ok().filter(|&count| count > 0)?;
        Some(self.windows.iter().map(|window| window.jain_ppm).sum::<u64>() / count)
    }
}

/// Jain's index in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FairnessWindow {
    /// Its end, nanoseconds.
    pub until_ns: u64,
    /// Flows active all through it.
    pub flows: u64,
    /// The index, parts per million.
    pub jain_ppm: u64,
}

/// A flow without a given size: it takes part from its start until it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LongFlow {
    pub(crate) id: FlowId,
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
    pub(crate) delivered: u64,
}

/// Jain's index, parts per million; `None` of nothing, or where nobody got anything.
pub fn jain_ppm(shares: &[u64]) -> Option<u64> {
    let count = shares.len() as f64;
    let sum: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| share as f64 * share as f64).sum();
    (squares > 0.0).then(|| cc_algos::units::round_to_u64(sum * sum / (count * squares) * PPM as f64))
}

/// Measures how evenly `long` flows, and all flows in the samples, shared a run that ended at `end`.
pub(crate) fn measure(samples: &[Sample], long: &[LongFlow], longest_rtt: Span, end: Timestamp) -> Fairness {
    let interval = match samples {
        [first, second, ..] => second.at.saturating_since(first.at),
        _ => Span::ZERO,
    };
    let window =
        longest_rtt.saturating_mul(10).max(end.saturating_since(Timestamp::ZERO).mul_div(1, 100)).max(interval);
    let mut fairness = Fairness { overall_ppm: overall(long), window_ns: window.as_nanos(), ..Fairness::default() };
    if !interval.is_zero() {
        fairness.windows = windows(samples, window);
        fairness.convergence_ns = convergence(samples, long, window, end);
    }
    fairness
}

fn overall(long: &[LongFlow]) -> Option<u64> {
    let rates: Vec<u64> = long
        .iter()
        .filter_map(|flow| cc_algos::Rate::from_bytes_in(flow.delivered, flow.end.saturating_since(flow.start)))
        .map(cc_algos::Rate::as_bps)
        .collect();
    if rates.len() < 2 { None } else { jain_ppm(&rates) }
}

fn windows(samples: &[Sample], window: Span) -> Vec<FairnessWindow> {
    let mut found = Vec::new();
    let mut start = 0;
    for (index, sample) in samples.iter().enumerate() {
        if sample.at.saturating_since(samples[start].at) < window {
            continue;
        }
        let shares = shares(&samples[start], sample);
        if shares.len() >= 2
            && let Some(jain_ppm) = jain_ppm(&shares)
        {
            found.push(FairnessWindow { until_ns: sample.at.as_nanos(), flows: shares.len() as u64, jain_ppm });
        }
        start = index;
    }
    found
}

/// What each flow that was active at both ends got in between.
fn shares(first: &Sample, last: &Sample) -> Vec<u64> {
    let before: BTreeMap<FlowId, _> = first.flows.iter().map(|flow| (flow.flow, flow)).collect();
    let both = last.flows.iter().filter_map(|now| Some((*before.get(&now.flow)?, now)));
    both.filter(|(then, now)| now.delivered > then.delivered || then.in_flight > 0 || now.in_flight > 0)
        .map(|(then, now)| now.delivered.saturating_sub(then.delivered))
        .collect()
}

fn convergence(samples: &[Sample], long: &[LongFlow], window: Span, end: Timestamp) -> Distribution {
    let mut changes: Vec<Timestamp> = long.iter().flat_map(|flow| [flow.start, flow.end]).chain([end]).collect();
    changes.sort_unstable();
    changes.dedup();
    let mut times = Distribution::default();
    for pair in changes.windows(2) {
        let active: Vec<FlowId> =
            long.iter().filter(|flow| flow.start <= pair[0] && flow.end >= pair[1]).map(|flow| flow.id).collect();
        let length = pair[1].saturating_since(pair[0]);
        if active.len() < 2 || length < window.saturating_mul(WINDOWS_PER_EPISODE) {
            continue;
        }
        let within = |sample: &&Sample| sample.at >= pair[0] && sample.at <= pair[1];
        let episode: Vec<&Sample> = samples.iter().filter(within).collect();
        match converged_at(&episode, &active, window) {
            Some(at) => times.observe(at.saturating_since(pair[0]).as_nanos()),
            None => times.censor(length.as_nanos()),
        }
    }
    times
}

/// The end of the first window from which on every window's index is high enough.
fn converged_at(episode: &[&Sample], active: &[FlowId], window: Span) -> Option<Timestamp> {
    let delivered: Vec<Vec<u64>> = episode
        .iter()
        .map(|sample| {
            let by_flow: BTreeMap<FlowId, u64> = sample.flows.iter().map(|flow| (flow.flow, flow.delivered)).collect();
            active.iter().map(|flow| by_flow.get(flow).copied().unwrap_or(0)).collect()
        })
        .collect();
    let mut start = 0;
    let mut since = None;
    for (index, sample) in episode.iter().enumerate() {
        if sample.at.saturating_since(episode[start].at) < window {
            continue;
        }
        while start + 1 < index && sample.at.saturating_since(episode[start + 1].at) >= window {
            start += 1;
        }
        let got = delivered[index].iter().zip(&delivered[start]).map(|(now, then)| now.saturating_sub(*then));
        let even = jain_ppm(&got.collect::<Vec<_>>()).is_some_and(|index| index >= CONVERGED_PPM);
        since = if even { since.or(Some(sample.at)) } else { None };
    }
    since
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sim::outcome::FlowSample;

    use super::*;

    fn sample(at_ms: u64, delivered: &[(u32, u64)]) -> Sample {
        let flows = delivered.iter().map(|&(id, delivered)| FlowSample {
            flow: FlowId(id),
            window: 10_000,
            pacing_rate: None,
            smoothed_rtt: None,
            in_flight: 1_000,
            delivered,
        });
        Sample { at: Timestamp::ZERO + Span::from_millis(at_ms), flows: flows.collect(), ports: Vec::new() }
    }

    fn long(id: u32, start_ms: u64, end_ms: u64, delivered: u64) -> LongFlow {
        let at = |ms| Timestamp::ZERO + Span::from_millis(ms);
        LongFlow { id: FlowId(id), start: at(start_ms), end: at(end_ms), delivered }
    }

    #[test]
    fn jains_index_meets_its_closed_forms() {
        assert_eq!(jain_ppm(&[7, 7, 7]), Some(PPM));
        assert_eq!(jain_ppm(&[9, 0, 0, 0]), Some(PPM / 4));
        // (1+2+3)² / (3 * 14) = 36/42
        assert_eq!(jain_ppm(&[1, 2, 3]), Some(857_143));
        // k of n get everything in equal parts: k/n
        assert_eq!(jain_ppm(&[5, 5, 5, 0, 0]), Some(600_000));
        assert_eq!(jain_ppm(&[]), None);
        assert_eq!(jain_ppm(&[0, 0]), None);
    }

    proptest! {
        #[test]
        fn jains_index_lies_between_one_nth_and_one(shares in prop::collection::vec(0_u64..1 << 60, 1..40)) {
            if let Some(index) = jain_ppm(&shares) {
                prop_assert!(index <= PPM && index + 1 >= PPM / shares.len() as u64);
            }
        }
    }

    #[test]
    fn flows_active_in_only_a_part_of_a_window_do_not_count() {
        // Flow 2 arrives in the middle of the only window of 100 ms; flows 0 and 1 get 300 and 100: (400)²/(2*100000).
        let samples = [
            sample(0, &[(0, 0), (1, 0)]),
            sample(50, &[(0, 150), (1, 50), (2, 0)]),
            sample(100, &[(0, 300), (1, 100), (2, 90_000)]),
        ];
        let found = windows(&samples, Span::from_millis(100));
        assert_eq!(found, [FairnessWindow { until_ns: 100_000_000, flows: 2, jain_ppm: 800_000 }]);
    }

    #[test]
    fn a_starved_flow_counts_and_an_idle_one_does_not() {
        let mut samples = [sample(0, &[(0, 0), (1, 0), (2, 0)]), sample(100, &[(0, 500), (1, 500), (2, 0)])];
        // Flow 2 has packets in flight that do not arrive: (1000)² / (3 * 500000).
        assert_eq!(windows(&samples, Span::from_millis(100))[0].jain_ppm, 666_667);
        for at in &mut samples {
            at.flows[2].in_flight = 0;
        }
        assert_eq!(windows(&samples, Span::from_millis(100))[0].jain_ppm, PPM);
    }

    /// Two flows for a second, sampled every 10 ms: the first gets all of each interval's 100 bytes, from `even_from` on
    /// both get 50.
    fn two_flows(even_from_ms: u64) -> Vec<Sample> {
        let (mut first, mut second) = (0, 0);
        (0..=100)
            .map(|step| {
                if step > 0 && step * 10 > even_from_ms {
                    first += 50;
                    second += 50;
                } else if step > 0 {
                    first += 100;
                }
                sample(step * 10, &[(0, first), (1, second)])
            })
            .collect()
    }

    #[test]
    fn convergence_is_the_end_of_the_first_window_from_which_all_are_even() {
        // The window is 100 ms = ten RTTs of 10 ms. With e of its ten intervals even, the shares are 1000-50e and 50e:
        // the index 10⁶ / (2 * ((1000-50e)² + (50e)²)) first reaches 0.95 at e = 8 (600 : 400, 0.9615), 80 ms after 400.
        let end = Timestamp::ZERO + Span::from_secs(1);
        let flows = [long(0, 0, 1_000, 1), long(1, 0, 1_000, 1)];
        let fairness = measure(&two_flows(400), &flows, Span::from_millis(10), end);
        assert_eq!(fairness.window_ns, 100_000_000);
        assert_eq!(fairness.convergence_ns.observed().len(), 1);
        let mut expected = Distribution::default();
        expected.observe(480_000_000);
        assert_eq!(fairness.convergence_ns, expected);
    }

    #[test]
    fn flows_that_never_converge_are_censored_at_the_end_of_their_stretch() {
        let flows = [long(0, 0, 1_000, 1), long(1, 0, 1_000, 1)];
        let fairness = measure(&two_flows(5_000), &flows, Span::from_millis(10), Timestamp::ZERO + Span::from_secs(1));
        let mut expected = Distribution::default();
        expected.censor(1_000_000_000);
        assert_eq!(fairness.convergence_ns, expected);
    }

    #[test]
    fn overall_fairness_compares_rates_while_active() {
        // The same bytes in half the time are twice the rate: 9/(2*5).
        assert_eq!(overall(&[long(0, 0, 1_000, 500), long(1, 500, 1_000, 500)]), Some(900_000));
        assert_eq!(overall(&[long(0, 0, 1_000, 500)]), None);
    }
}

//! From one shape of trace to the other without losing or gaining rate.
//!
//! Both directions carry their remainders, so that what is offered over any window between two points of the time grid
//! differs between the two shapes by at most one opportunity (one bit, per step, in the other direction).

use crate::error::{TraceError, TraceErrorKind};
use crate::opportunity::OpportunityTrace;
use crate::rate::{RateTrace, Segment, check_duration, check_rate};
use crate::trace::{BIT_NS_PER_BYTE, MAHIMAHI_OPPORTUNITY_BYTES, MAX_OPPORTUNITIES, MAX_SEGMENTS, Playback, Trace};

/// How to turn one shape of trace into the other.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// The time grid in nanoseconds: opportunities fall on it, and a rate series made from opportunities has one
    /// segment for each of its steps. Default 1 ms, mahimahi's.
    pub resolution_ns: u64,
    /// What each opportunity is worth, in bytes. Default [`MAHIMAHI_OPPORTUNITY_BYTES`]. Unused when opportunities are
    /// turned into a rate.
    pub opportunity_bytes: u64,
    /// A looping series whose pass is not a whole number of opportunities is written out several times, until rounding
    /// up to a whole number changes the mean rate by at most this many parts per million. Default 10.
    pub max_error_ppm: u32,
    /// The most passes that are written out for that; the best of them is taken when none is good enough. Default 64.
    pub max_passes: u32,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        Self {
            resolution_ns: 1_000_000,
            opportunity_bytes: MAHIMAHI_OPPORTUNITY_BYTES,
            max_error_ppm: 10,
            max_passes: 64,
        }
    }
}

impl Trace {
    /// The trace as a rate series: a series as it is, opportunities spread evenly over the grid step that ends at them.
    ///
    /// An entry at 0 is spread over the first step. Equal neighbours are joined. `[1, 1, 5, 6]` ms of 1500 bytes, for
    /// instance, become 24 Mb/s for 1 ms, nothing for 3 ms and 12 Mb/s for 2 ms.
    ///
    /// # Errors
    /// If the grid step is zero, or so small that a step's rate or the number of steps passes a limit.
    pub fn to_rate(&self, options: &ConvertOptions) -> Result<RateTrace, TraceError> {
        match self {
            Self::Rate(trace) => Ok(trace.clone()),
            Self::Opportunities(trace) => spread(trace, options.resolution_ns),
        }
    }

    /// The trace as delivery opportunities: opportunities as they are, a series cut into equal portions.
    ///
    /// Portions are placed so that one ends exactly with the pass, as the format wants; where a pass ends in an outage
    /// this last one waits for the outage's end. Times are rounded up to the grid. A pass is extended to a whole number
    /// of grid steps.
    ///
    /// # Errors
    /// If the grid step or the portion is zero, or if the result passes a limit.
    pub fn to_opportunities(&self, options: &ConvertOptions) -> Result<OpportunityTrace, TraceError> {
        match self {
            Self::Opportunities(trace) => Ok(trace.clone()),
            Self::Rate(trace) => cut(trace, options),
        }
    }
}

fn spread(trace: &OpportunityTrace, step_ns: u64) -> Result<RateTrace, TraceError> {
    if step_ns == 0 {
        return Err(TraceErrorKind::ZeroResolution.into());
    }
    let period_ns = trace.period_ns();
    if period_ns.div_ceil(step_ns) > MAX_SEGMENTS as u64 {
        return Err(TraceErrorKind::TooLarge { what: "segments", limit: MAX_SEGMENTS as u64 }.into());
    }
    let mut segments: Vec<Segment> = Vec::new();
    let (mut start, mut sum, mut carry) = (0, 0, 0_u128);
    while start < period_ns {
        let end = start.saturating_add(step_ns).min(period_ns);
        let until = trace.pass_bit_ns_until(end);
        let (share, length) = (until - sum + carry, u128::from(end - start));
        carry = share % length;
        let bps = u64::try_from(share / length).unwrap_or(u64::MAX);
        check_rate(bps)?;
        match segments.last_mut() {
            Some(last) if last.bps == bps => last.duration_ns += end - start,
            _ => segments.push(Segment::new(end - start, bps)),
        }
        (start, sum) = (end, until);
    }
    RateTrace::new(segments, trace.playback())
}

/// How many portions a series is cut into, and where the last of them stands.
#[derive(Debug, Clone, Copy)]
struct Layout {
    end_ns: u64,
    count: u64,
    /// The relative error of the mean rate.
    error: f64,
}

fn cut(trace: &RateTrace, options: &ConvertOptions) -> Result<OpportunityTrace, TraceError> {
    if options.resolution_ns == 0 {
        return Err(TraceErrorKind::ZeroResolution.into());
    }
    if options.opportunity_bytes == 0 {
        return Err(TraceErrorKind::ZeroOpportunity.into());
    }
    let portion = u128::from(options.opportunity_bytes) * BIT_NS_PER_BYTE;
    let layout = choose_layout(trace, portion, options)?;
    let total = trace.bit_ns_before(layout.end_ns);
    // The first portion is the incomplete one, which makes the last end with the pass.
    let first = total - u128::from(layout.count - 1) * portion;
    let mut times = Vec::with_capacity(usize::try_from(layout.count).unwrap_or(0));
    let (mut start, mut sum, mut target) = (0_u64, 0_u128, first);
    'passes: loop {
        for segment in trace.segments() {
            let after = sum + u128::from(segment.duration_ns) * u128::from(segment.bps);
            while target <= after && target < total {
                let inside = (target - sum).div_ceil(u128::from(segment.bps));
                let t = start + u64::try_from(inside).unwrap_or(u64::MAX);
                times.push(t.next_multiple_of(options.resolution_ns).min(layout.end_ns));
                target += portion;
            }
            if target >= total {
                break 'passes;
            }
            (start, sum) = (start + segment.duration_ns, after);
        }
    }
    times.push(layout.end_ns);
    OpportunityTrace::new(times, options.opportunity_bytes, trace.playback())
}

fn choose_layout(trace: &RateTrace, portion: u128, options: &ConvertOptions) -> Result<Layout, TraceError> {
    let passes = match trace.playback() {
        Playback::Once => 1,
        Playback::Loop => u64::from(options.max_passes.max(1)),
    };
    let mut best = layout(trace, portion, options.resolution_ns, 1)?;
    for pass in 2..=passes {
        if best.error * 1e6 <= f64::from(options.max_error_ppm) {
            break;
        }
        // A longer layout that passes a limit is no option; the shorter one is.
        let Ok(next) = layout(trace, portion, options.resolution_ns, pass) else {
            break;
        };
        if next.error < best.error {
            best = next;
        }
    }
    Ok(best)
}

fn layout(trace: &RateTrace, portion: u128, resolution_ns: u64, passes: u64) -> Result<Layout, TraceError> {
    let too_many = TraceErrorKind::TooLarge { what: "opportunities", limit: MAX_OPPORTUNITIES as u64 };
    let end_ns = trace.period_ns().saturating_mul(passes).checked_next_multiple_of(resolution_ns).unwrap_or(u64::MAX);
    check_duration(end_ns)?;
    let count = trace.bit_ns_before(end_ns).div_ceil(portion);
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    if count > MAX_OPPORTUNITIES as u64 {
        return Err(too_many.into());
    }
    let mean = trace.period_bit_ns() as f64 / trace.period_ns() as f64;
    let got = count as f64 * portion as f64 / end_ns as f64;
    Ok(Layout { end_ns, count, error: (got / mean - 1.0).abs() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn times_ms(trace: &OpportunityTrace) -> Vec<u64> {
        trace.times_ns().iter().map(|t| t / MS).collect()
    }

    fn with_bytes(opportunity_bytes: u64) -> ConvertOptions {
        ConvertOptions { opportunity_bytes, ..ConvertOptions::default() }
    }

    #[test]
    fn opportunities_spread_over_the_millisecond_that_ends_at_them() {
        let times = [1, 1, 5, 6].map(|t| t * MS).to_vec();
        let trace = Trace::from(OpportunityTrace::new(times, 1500, Playback::Loop).unwrap());
        let rate = trace.to_rate(&ConvertOptions::default()).unwrap();
        let expected = [(1, 24_000_000), (3, 0), (2, 12_000_000)].map(|(ms, bps)| Segment::new(ms * MS, bps));
        assert_eq!(rate.segments(), expected);
    }

    #[test]
    fn twelve_megabits_of_1500_bytes_are_one_a_millisecond() {
        let rate = Trace::from(RateTrace::constant(12_000_000, 5 * MS).unwrap());
        assert_eq!(times_ms(&rate.to_opportunities(&with_bytes(1500)).unwrap()), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_loop_is_written_out_until_its_rate_is_exact() {
        // 12 Mb/s over 1 s is 46875/47 portions of 1504 bytes, so 47 passes hold a whole number of them.
        let rate = Trace::from(RateTrace::constant(12_000_000, 1000 * MS).unwrap());
        let exact = ConvertOptions { max_error_ppm: 0, ..ConvertOptions::default() };
        let cut = rate.to_opportunities(&exact).unwrap();
        assert_eq!(cut.period_ns(), 47_000 * MS);
        assert_eq!(Trace::from(cut).mean_bps(), 12_000_000);
    }

    #[test]
    fn the_last_portion_waits_for_the_end_of_a_final_outage() {
        let segments = vec![Segment::new(2 * MS, 12_000_000), Segment::new(3 * MS, 0)];
        let rate = Trace::from(RateTrace::new(segments, Playback::Once).unwrap());
        assert_eq!(times_ms(&rate.to_opportunities(&with_bytes(1500)).unwrap()), [1, 5]);
    }

    #[test]
    fn refuses_a_conversion_that_would_not_fit() {
        let rate = Trace::from(RateTrace::constant(400_000_000_000, 60_000 * MS).unwrap());
        let error = rate.to_opportunities(&ConvertOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), "more than 16777216 opportunities");
        let zero = ConvertOptions { resolution_ns: 0, ..ConvertOptions::default() };
        assert!(rate.to_opportunities(&zero).is_err() && rate.to_opportunities(&with_bytes(0)).is_err());
    }

    fn playbacks() -> impl Strategy<Value = Playback> {
        prop_oneof![Just(Playback::Loop), Just(Playback::Once)]
    }

    proptest! {
        /// Over any window of the grid, a cut series offers what the series did, to within one opportunity.
        #[test]
        fn cutting_keeps_the_rate_over_every_window(
            mut steps in prop::collection::vec((1_u64..3000, prop_oneof![Just(0_u64), 1..300_000_000_u64]), 1..20),
            playback in playbacks(),
            fine: bool,
            windows in prop::collection::vec((0.0..1.0, 0.0..1.0), 8),
        ) {
            if steps.iter().all(|(_, bps)| *bps == 0) {
                steps[0].1 = 1;
            }
            let unit = if fine { 997 } else { 10_000 };
            let segments = steps.iter().map(|(d, bps)| Segment::new(d * unit, *bps)).collect();
            let rate = RateTrace::new(segments, playback).unwrap();
            let options = ConvertOptions { resolution_ns: if fine { 1 } else { MS }, ..ConvertOptions::default() };
            let cut = Trace::from(rate.clone()).to_opportunities(&options).unwrap();
            let portion = u128::from(cut.bytes()) * BIT_NS_PER_BYTE;
            for (a, b) in windows {
                let [a, b] = [a, b].map(|x: f64| {
                    (x * cut.period_ns() as f64) as u64 / options.resolution_ns * options.resolution_ns
                });
                let (from, to) = (a.min(b), a.max(b));
                let offered = rate.bit_ns_before(to) - rate.bit_ns_before(from);
                let delivered = cut.pass_bit_ns_until(to) - cut.pass_bit_ns_until(from);
                prop_assert!(offered.abs_diff(delivered) <= portion, "{from}..{to}: {offered} {delivered}");
            }
        }

        /// Spreading gives each grid window what its opportunities gave, to within one bit a second.
        #[test]
        fn spreading_keeps_the_rate_over_every_window(
            gaps in prop::collection::vec(0_u64..400, 1..200),
            step_us in 1_u64..5000,
            playback in playbacks(),
        ) {
            let mut now = 0;
            let times: Vec<u64> = gaps.iter().map(|gap| { now += gap * 100_000; now }).collect();
            prop_assume!(now > 0);
            let trace = OpportunityTrace::new(times, 1504, playback).unwrap();
            let options = ConvertOptions { resolution_ns: step_us * 1000, ..ConvertOptions::default() };
            let rate = Trace::from(trace.clone()).to_rate(&options).unwrap();
            prop_assert_eq!(rate.period_ns(), trace.period_ns());
            let mut edge = 0;
            while edge <= trace.period_ns() {
                let short = trace.pass_bit_ns_until(edge).abs_diff(rate.pass_bit_ns_until(edge));
                // The carried remainder is below one segment length times 1 bit/s.
                prop_assert!(edge == 0 || short < u128::from(options.resolution_ns), "at {edge}: {short}");
                edge += options.resolution_ns;
            }
        }

        /// There and back: the opportunities of a trace on the grid come back as they were, but for those at 0.
        #[test]
        fn opportunities_survive_a_round_trip(gaps in prop::collection::vec(0_u64..30, 1..200)) {
            let mut now = 1;
            let times: Vec<u64> = gaps.iter().map(|gap| { now += gap; now * MS }).collect();
            let trace = Trace::from(OpportunityTrace::new(times, 1504, Playback::Loop).unwrap());
            let options = ConvertOptions::default();
            let back = Trace::from(trace.to_rate(&options).unwrap()).to_opportunities(&options).unwrap();
            prop_assert_eq!(Trace::from(back), trace);
        }
    }
}

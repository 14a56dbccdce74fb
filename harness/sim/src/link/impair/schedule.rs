//! Extra delay along a schedule that keeps the order: the delay box of CCAC.
//!
//! Arun et al., "Toward Formally Verifying Congestion Control Behavior" (SIGCOMM'21), and "Starvation in End-to-End
//! Congestion Control" (SIGCOMM'22) put a box behind a link's queue that may hold each packet for any time from zero to a
//! bound D, as long as packets stay in order. It stands for what real paths do beside queueing: link layers that retry and
//! aggregate, schedulers, interrupts, delayed acknowledgements. What the box does is a function of time here, constant
//! between steps, so that it can be written down, shortened and replayed.
//!
//! Where the delay falls, packets that left the queue meanwhile arrive together: a step from D to zero releases a burst of
//! what the link carries in D.

use std::sync::Arc;

use cc_algos::Span;

use crate::error::{SpecError, ensure};
use crate::time::SimTime;

/// The extra delay from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitterStep {
    /// From when, since the start of the run, or of the pass where the schedule repeats.
    pub at: Span,
    /// The delay of packets whose last bit leaves the queue from then on.
    pub delay: Span,
}

/// Extra delay that is constant between steps; cheap to clone. Before the first step it is zero, and so without any.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct JitterSchedule {
    steps: Arc<[JitterStep]>,
    repeat: Option<Span>,
}

impl JitterSchedule {
    /// The given steps; after the last one its delay holds for ever.
    ///
    /// # Errors
    /// If they do not stand in order of time.
    pub fn new(steps: impl IntoIterator<Item = JitterStep>) -> Result<Self, SpecError> {
        let steps: Arc<[JitterStep]> = steps.into_iter().collect();
        match steps.windows(2).position(|pair| pair[0].at >= pair[1].at) {
            Some(before) => Err(SpecError::Entry {
                list: "jitter schedule",
                index: before + 1,
                expected: "a later time than that of the entry before",
            }),
            None => Ok(Self { steps, repeat: None }),
        }
    }

    /// The same steps again and again, every `period`.
    ///
    /// # Errors
    /// If the period is zero or ends before the last step.
    pub fn repeating(mut self, period: Span) -> Result<Self, SpecError> {
        let last = self.steps.last().map_or(Span::ZERO, |step| step.at);
        ensure(period > last, "period of the jitter schedule", period, "more than the time of its last step")?;
        self.repeat = Some(period);
        Ok(self)
    }

    /// The steps.
    pub fn steps(&self) -> &[JitterStep] {
        &self.steps
    }

    /// After what time the steps begin again, if they do.
    pub const fn period(&self) -> Option<Span> {
        self.repeat
    }

    /// The longest delay: the bound D.
    pub fn bound(&self) -> Span {
        self.steps.iter().map(|step| step.delay).max().unwrap_or_default()
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The delay at a time.
    pub fn delay_at(&self, at: SimTime) -> Span {
        if self.is_empty() {
            return Span::ZERO;
        }
        let nanos = at.to_timestamp().as_nanos();
        // A period above zero: `repeating` made sure.
        let within = Span::from_nanos(self.repeat.map_or(nanos, |period| nanos % period.as_nanos()));
        let after = self.steps.partition_point(|step| step.at <= within);
        after.checked_sub(1).map_or(Span::ZERO, |index| self.steps[index].delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    fn schedule(steps: &[(u64, u64)]) -> Result<JitterSchedule, SpecError> {
        JitterSchedule::new(steps.iter().map(|&(at, delay)| JitterStep { at: millis(at), delay: millis(delay) }))
    }

    #[test]
    fn a_delay_holds_from_its_step_to_the_next_and_the_last_for_ever() {
        let schedule = schedule(&[(10, 5), (20, 0), (30, 7)]).unwrap();
        for (at, delay) in [(0, 0), (9, 0), (10, 5), (19, 5), (20, 0), (30, 7), (1_000_000, 7)] {
            assert_eq!(schedule.delay_at(SimTime::ZERO + millis(at)), millis(delay), "at {at} ms");
        }
        assert_eq!(schedule.bound(), millis(7));
        assert_eq!(JitterSchedule::default().delay_at(SimTime::MAX), Span::ZERO);
    }

    #[test]
    fn a_repeating_schedule_begins_each_pass_without_delay() {
        let schedule = schedule(&[(2, 9)]).unwrap().repeating(millis(10)).unwrap();
        for (at, delay) in [(1, 0), (2, 9), (9, 9), (10, 0), (11, 0), (12, 9), (99, 9), (100, 0)] {
            assert_eq!(schedule.delay_at(SimTime::ZERO + millis(at)), millis(delay), "at {at} ms");
        }
    }

    #[test]
    fn steps_out_of_order_and_periods_that_cut_them_off_are_refused() {
        let error = schedule(&[(0, 1), (5, 2), (5, 3)]).unwrap_err().to_string();
        assert_eq!(
            error,
            "jitter schedule, entry 2 (counted from 0): expected a later time than that of the entry before"
        );
        let error = schedule(&[(5, 1)]).unwrap().repeating(millis(5)).unwrap_err().to_string();
        assert_eq!(error, "period of the jitter schedule is 5ms, expected more than the time of its last step");
    }
}

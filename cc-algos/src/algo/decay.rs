//! How much of a moving average is left after several samples at once, for laws that count packets and hear of batches.

/// `kept^n` for an average that keeps `kept` of itself at each sample.
///
/// Acknowledgements mostly bear as many packets as the one before, so the last power is remembered: taking it anew costs more
/// than the rest of a law.
#[derive(Clone, Copy, Debug)]
pub struct Decay {
    kept: f64,
    samples: u64,
    power: f64,
}

impl Decay {
    /// Of an average in which each sample has this weight.
    pub const fn new(weight: f64) -> Self {
        let kept = 1.0 - weight;
        Self { kept, samples: 1, power: kept }
    }

    /// Share of the average that is left after so many samples.
    pub fn after(&mut self, samples: u64) -> f64 {
        if samples != self.samples {
            self.samples = samples;
            self.power = if samples == 1 { self.kept } else { libm::pow(self.kept, samples as f64) };
        }
        self.power
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_depends_on_the_number_of_samples_and_not_on_what_was_asked_before() {
        let mut decay = Decay::new(0.25);
        // Powers of 3/4.
        for (samples, left) in [(1, 0.75), (2, 0.5625), (2, 0.5625), (1, 0.75), (0, 1.0), (3, 0.421_875)] {
            assert!((decay.after(samples) - left).abs() < 1e-15, "{samples}");
        }
    }
}

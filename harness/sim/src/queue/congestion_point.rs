//! A congestion point in the manner of QCN: samples what comes to a port and says when the source of a sample is to be told.
//!
//! With `Q` the backlog that a sampled packet finds, `Q_eq` the set point and `Q_old` the backlog at the sample before,
//!
//! > Fb = −((Q − Q_eq) + w (Q − Q_old)),  and a notice goes to the packet's source if Fb < 0
//!
//! | parameter | default | origin |
//! |---|---|---|
//! | `Q_eq` | none | IEEE 802.1Qau; csg-htsim, `qcn.cpp`: 20 % of the buffer |
//! | w | 2 | the same |
//! | bytes between samples | 150 kB | csg-htsim: each hundredth packet of 1 500 B |
//! | their spread | ± 25 % | how a switch (Broadcom's Petra, `CpSampleBase`) draws them |
//!
//! Differences from QCN:
//!
//! | what | QCN | here |
//! |---|---|---|
//! | what a notice says | Fb in 6 bits, Q − Q_eq, Q − Q_old | Q, Q_old, Q_eq and the port's rate, in full: a law reckons Fb itself |
//! | distance of samples | shrinks with the last Fb, by a table | constant on average |
//! | reach | one Ethernet domain | wherever the source is |

use crate::error::{SpecError, ensure};
use crate::rng::{self, Random};

/// Parameters of a congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionPointSpec {
    /// The backlog that it aims at, bytes: `Q_eq`.
    pub set_point_bytes: u64,
    /// Bytes from one sample to the next, on average.
    pub sample_bytes: u64,
    /// Weight of the backlog's change: `w`. With zero the backlog alone decides.
    pub weight: u32,
}

impl CongestionPointSpec {
    /// A congestion point with QCN's weight and distance of samples.
    pub const fn new(set_point_bytes: u64) -> Self {
        Self { set_point_bytes, sample_bytes: 150_000, weight: 2 }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// If no bytes lie between samples.
    pub fn validate(&self) -> Result<(), SpecError> {
        ensure(self.sample_bytes > 0, "distance of samples", self.sample_bytes, "more than zero")
    }
}

/// What a source is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    /// The backlog, bytes.
    pub queue_bytes: u64,
    /// The backlog at the sample before, bytes.
    pub former_queue_bytes: u64,
}

/// Samples the packets of one port.
#[derive(Clone, Debug)]
pub struct CongestionPoint {
    spec: CongestionPointSpec,
    random: Random,
    bytes_to_sample: u64,
    former_queue_bytes: u64,
}

impl CongestionPoint {
    /// A congestion point with a random stream of its own.
    ///
    /// # Errors
    /// If the parameters make no sense.
    pub fn new(spec: CongestionPointSpec, random: Random) -> Result<Self, SpecError> {
        spec.validate()?;
        let mut point = Self { spec, random, bytes_to_sample: 0, former_queue_bytes: 0 };
        point.draw();
        Ok(point)
    }

    /// A packet of `bytes` comes: whether it is to be sampled by [`CongestionPoint::sample`].
    pub fn is_due(&mut self, bytes: u32) -> bool {
        self.bytes_to_sample = self.bytes_to_sample.saturating_sub(u64::from(bytes));
        let due = self.bytes_to_sample == 0;
        if due {
            self.draw();
        }
        due
    }

    /// The sample of a packet that finds this backlog: what its source is to be told, if anything.
    pub fn sample(&mut self, queue_bytes: u64) -> Option<Congestion> {
        let former_queue_bytes = std::mem::replace(&mut self.former_queue_bytes, queue_bytes);
        let queue = i128::from(queue_bytes);
        let offset = queue - i128::from(self.spec.set_point_bytes);
        let change = queue - i128::from(former_queue_bytes);
        let congested = offset + i128::from(self.spec.weight) * change > 0;
        congested.then_some(Congestion { queue_bytes, former_queue_bytes })
    }

    /// Draws the distance to the next sample, from three to five quarters of the mean.
    fn draw(&mut self) {
        let mean = self.spec.sample_bytes as f64;
        self.bytes_to_sample = (mean * (0.75 + 0.5 * rng::unit(&mut self.random))) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(spec: CongestionPointSpec) -> CongestionPoint {
        CongestionPoint::new(spec, rng::stream(1, "near-source", 0)).unwrap()
    }

    #[test]
    fn one_byte_in_so_many_is_sampled_at_varying_distances() {
        let mut point = point(CongestionPointSpec::new(26_000));
        let at: Vec<u64> = (0..100_000).filter(|_| point.is_due(1_500)).collect();
        // 150 MB: a sample each 150 kB and half a packet more, since a packet is sampled whole.
        assert!((980..=1_000).contains(&at.len()), "{}", at.len());
        let distances: Vec<u64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(distances.iter().all(|packets| (75..=125).contains(packets)));
        assert!(distances.iter().any(|packets| *packets < 80) && distances.iter().any(|packets| *packets > 120));
    }

    #[test]
    fn sources_are_told_above_the_set_point_and_of_a_steep_rise_below_it() {
        let mut point = point(CongestionPointSpec::new(30_000));
        let mut sample = |bytes| point.sample(bytes).map(|found| (found.queue_bytes, found.former_queue_bytes));
        // Fb = -((Q - 30 kB) + 2 (Q - Q_old)).
        assert_eq!(sample(10_000), None, "exactly zero");
        assert_eq!(sample(20_000), Some((20_000, 10_000)), "-10 kB and a rise of 10 kB");
        assert_eq!(sample(40_000), Some((40_000, 20_000)));
        assert_eq!(sample(35_000), None, "+5 kB, but falling by 5 kB");
        assert_eq!(sample(35_000), Some((35_000, 35_000)));
    }

    #[test]
    fn without_weight_the_backlog_alone_decides() {
        let mut point = point(CongestionPointSpec { weight: 0, ..CongestionPointSpec::new(30_000) });
        let told = [29_000, 90_000, 31_000, 30_000, u64::MAX].map(|bytes| point.sample(bytes).is_some());
        assert_eq!(told, [false, true, true, false, true]);
    }

    #[test]
    fn samples_need_a_distance() {
        let wrong = CongestionPointSpec { sample_bytes: 0, ..CongestionPointSpec::new(1) };
        assert_eq!(wrong.validate().unwrap_err().to_string(), "distance of samples is 0, expected more than zero");
    }
}

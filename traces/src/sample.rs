//! Small generated traces that come with the crate.

use crate::error::{TraceError, TraceErrorKind, clip};
use crate::format::ReadOptions;
use crate::trace::Trace;

/// A trace that comes with the crate, and how it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// Its name.
    pub name: &'static str,
    /// What it is like, in one line.
    pub description: &'static str,
    /// The generator that made it, as [`Generator`](crate::Generator) reads it.
    pub generator: &'static str,
    /// The seed it was made with.
    pub seed: u64,
    /// The trace as CSV text.
    pub csv: &'static str,
}

static SAMPLES: [Sample; 6] = [
    Sample {
        name: "lte",
        description: "LTE downlink, 5 Mb/s on average, short outages, 140 s",
        generator: "lte",
        seed: 1,
        csv: include_str!("../samples/lte.csv"),
    },
    Sample {
        name: "lte-driving",
        description: "LTE downlink while driving, 4.6 Mb/s on average, one eighth of the time in outages, 120 s",
        generator: "lte?profile=att-driving",
        seed: 1,
        csv: include_str!("../samples/lte-driving.csv"),
    },
    Sample {
        name: "5g",
        description: "5G downlink while driving, 155 Mb/s on average, deep fades, 180 s",
        generator: "5g?duration_s=180",
        seed: 1,
        csv: include_str!("../samples/5g.csv"),
    },
    Sample {
        name: "leo",
        description: "LEO satellite downlink, 124 Mb/s on average, a hand-over every 15 s, 180 s",
        generator: "leo?duration_s=180",
        seed: 1,
        csv: include_str!("../samples/leo.csv"),
    },
    Sample {
        name: "inter-dc",
        description: "100 Gb/s long-haul link with fades to three, two and one quarter of its rate, 300 s",
        generator: "inter-dc",
        seed: 1,
        csv: include_str!("../samples/inter-dc.csv"),
    },
    Sample {
        name: "on-off",
        description: "20 Mb/s for 4 s on average, then nothing for 1 s on average, 300 s",
        generator: "on-off",
        seed: 1,
        csv: include_str!("../samples/on-off.csv"),
    },
];

/// All samples.
pub fn samples() -> &'static [Sample] {
    &SAMPLES
}

/// The sample of this name, as a looping trace.
///
/// # Errors
/// If there is none; the error lists the names.
pub fn sample(name: &str) -> Result<Trace, TraceError> {
    let found = SAMPLES.iter().find(|sample| sample.name == name).ok_or_else(|| {
        let known = SAMPLES.map(|sample| sample.name).join(", ");
        TraceError::from(TraceErrorKind::UnknownName { what: "sample", name: clip(name), known })
    })?;
    found.trace()
}

impl Sample {
    /// The trace, looping.
    ///
    /// # Errors
    /// Never in a build whose tests pass: each sample is read there.
    pub fn trace(&self) -> Result<Trace, TraceError> {
        Trace::read(self.csv.as_bytes(), &ReadOptions::default())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::format::{Format, WriteOptions};
    use crate::generate::Generator;

    fn made(sample: &Sample) -> String {
        let trace = sample.generator.parse::<Generator>().unwrap().generate(sample.seed).unwrap();
        let mut bytes = format!("# generator {}, seed {}\n", sample.generator, sample.seed).into_bytes();
        trace.write(&mut bytes, &WriteOptions::new(Format::Csv)).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// With `UPDATE_SAMPLES=1` the files are written anew instead.
    #[test]
    fn each_sample_is_what_its_generator_makes() {
        for sample in samples() {
            let text = made(sample);
            if std::env::var_os("UPDATE_SAMPLES").is_some() {
                let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
                fs::write(folder.join(sample.name).with_extension("csv"), text).unwrap();
                continue;
            }
            assert!(text == sample.csv, "{} differs from its generator (UPDATE_SAMPLES=1 rewrites it)", sample.name);
            assert!(text.len() < 40_000, "{} has {} bytes", sample.name, text.len());
        }
    }

    #[test]
    fn each_sample_meets_its_generators_targets() {
        for s in samples() {
            let trace = sample(s.name).unwrap();
            for fit in s.generator.parse::<Generator>().unwrap().check(&trace) {
                assert!(fit.is_within(), "{}: {fit}", s.name);
            }
        }
    }

    #[test]
    fn an_unknown_sample_is_refused_with_the_known_ones() {
        let error = sample("3g").unwrap_err().to_string();
        assert!(error.starts_with("unknown sample `3g`: expected one of lte, lte-driving"), "{error}");
    }
}

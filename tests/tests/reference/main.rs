//! Runs of published simulators, by the same inputs: what they printed beside what comes out here.

mod uno;

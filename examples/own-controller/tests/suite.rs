//! The controller under property tests: this file is all that it takes.

#[path = "../src/aimd.rs"]
mod aimd;

testkit::controller_suite!(
    aimd_suite,
    |setup| aimd::Aimd::new(0.5, setup),
    cc_algos::Declaration::new(cc_algos::Family::WideArea).min_window(2.0)
);

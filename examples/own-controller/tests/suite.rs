//! The controller against thousands of histories: one test for each property of the kit.

#[path = "../src/aimd.rs"]
mod aimd;

testkit::controller_suite!(
    aimd_suite,
    |setup| super::aimd::Aimd::new(0.5, setup),
    cc_algos::Declaration::new(cc_algos::Family::WideArea).min_window(2.0)
);

//! Findings about built-in algorithms that are not settled.
//!
//! Some are mistakes of a law, some differences that a law has from its source on purpose or by it, some may be the property's.
//! Each entry says what its shortest history suggests, which was read and not traced further; `TESTKIT_CASES=4096 cargo test -p cwndtunnel-testkit --test builtin`
//! shows it once its line is taken out. The list may only become shorter: whatever breaks besides fails the test, and so does
//! an entry that nothing bears out any more.

use testkit::Property;

/// The algorithm, the property that it breaks, and what is known of it.
pub(crate) const OPEN: &[(&str, Property, &str)] = &[
    ("dcqcn", Property::Limited, "the window is rate x smoothed RTT and moves with the RTT"),
    ("dcqcn", Property::Idle, "the window is rate x smoothed RTT and moves with the RTT"),
    ("dcqcn", Property::Yields, "one CNP in 50 us at most, and packets of a megabyte"),
    ("hpcc", Property::Idle, "starts at line rate in its first full flight, which may come after idleness"),
    ("hpcc", Property::Yields, "packets of one byte: additive growth of a packet's share"),
    ("poseidon", Property::Monotone, "a loss of the first flight sets the rate at which it would have started anyway"),
    ("poseidon", Property::Limited, "falls to line rate x base RTT while the application limits"),
    ("poseidon", Property::Idle, "starts at line rate in its first full flight, which may come after idleness"),
    ("powertcp", Property::Idle, "starts at line rate in its first full flight, which may come after idleness"),
    ("powertcp", Property::Yields, "packets of one byte: additive growth of a packet's share"),
    ("swift", Property::Batching, "a cut in the middle of a batch"),
    (
        "theta-powertcp",
        Property::Monotone,
        "the loss takes the place of a larger cut by delay, at windows below a packet",
    ),
    ("theta-powertcp", Property::Idle, "starts at line rate in its first full flight, which may come after idleness"),
    ("timely", Property::Monotone, "a forged delay of zero makes the base RTT a nanosecond"),
    ("timely", Property::Limited, "falls to line rate x base RTT while the application limits"),
    ("timely", Property::Idle, "starts at line rate in its first full flight, which may come after idleness"),
    ("timely", Property::Yields, "a window of t_high x rate, which only its rate holds"),
];

//! Findings about built-in algorithms that are not settled.
//!
//! Some are mistakes of a law, some differences that a law has from its source on purpose or by it, some may be the property's.
//! Each entry says what its shortest history suggests, which was read and not traced further; `TESTKIT_CASES=4096 cargo
//! test -p cwndtunnel-testkit --test builtin` shows it once its line is taken out. The list may only become shorter:
//! whatever breaks besides fails the test, and so does an entry that nothing bears out any more.

use testkit::Property;

/// The algorithm, the property that it breaks, and what is known of it.
pub(crate) const OPEN: &[(&str, Property, &str)] = &[
    (
        "bbr3",
        Property::Limited,
        "a few packets less in the first feedback on larger packets that the receiver held back",
    ),
    ("dcqcn", Property::Recovers, "some Gb/s a minute after a timeout at 60 Gb/s: steps of 40 Mb/s take that long"),
    ("dcqcn", Property::Room, "some Gb/s a minute after a timeout at 60 Gb/s: steps of 40 Mb/s take that long"),
    ("gemini", Property::Answers, "a window of ten bytes with packets of one stays as it is"),
    ("hpcc", Property::Room, "the window stays at a byte after losses at rates of few packets a second"),
    ("ledbat++", Property::Lull, "a slowdown in the lull is not grown out of"),
    ("poseidon", Property::Lull, "the window follows the delay down in the lull"),
    (
        "theta-powertcp",
        Property::Monotone,
        "some hundred bits per second more with losses than without, at a rate of one kilobit",
    ),
    ("theta-powertcp", Property::Lull, "the window follows a longer delay down in the lull"),
    ("theta-powertcp", Property::Room, "the window stays at some bytes after losses at rates of few packets a second"),
    ("swift", Property::Answers, "a timeout at a window of eleven packets of 44 bytes leaves it as it is"),
];

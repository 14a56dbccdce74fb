//! Findings about built-in algorithms that are not settled.
//!
//! Some are mistakes of a law, some differences that a law has from its source on purpose or by it, some may be the property's.
//! Each entry says what its shortest history suggests, which was read and not traced further; `TESTKIT_CASES=4096 cargo
//! test -p cwndtunnel-testkit --test builtin` shows it once its line is taken out. The list may only become shorter:
//! whatever breaks besides fails the test, and so does an entry that nothing bears out any more.

use testkit::Property;

/// The algorithm, the property that it breaks, and what is known of it.
pub(crate) const OPEN: &[(&str, Property, &str)] = &[];

//! One algorithm a file. Each begins with its source, its law in formulas, its parameters with unit and origin, and a
//! table of differences from the reference.

use crate::registry::Algorithm;

/// Every algorithm of this crate, for [`Registry::builtin`](crate::Registry::builtin).
pub fn all() -> Vec<Algorithm> {
    Vec::new()
}

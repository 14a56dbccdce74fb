//! What a failure says: which property, what was expected, where, and how to see it again.

use core::fmt;

use crate::observe::{Moment, Violation};
use crate::property::Property;
use crate::script::Script;

/// A property that does not hold, and the history that shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The property.
    pub property: Property,
    /// The controller's name.
    pub subject: String,
    /// What was expected, and what was found.
    pub violation: Violation,
    /// The call that showed it, if it was one.
    pub moment: Option<Moment>,
    /// The history.
    pub script: Script,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { property, subject, violation, moment, script } = self;
        writeln!(f, "`{subject}` breaks the property `{}`: {}", property.name(), property.summary())?;
        writeln!(f, "  expected: {}", violation.expected)?;
        writeln!(f, "  found:    {}", violation.found)?;
        if let Some(moment) = moment {
            writeln!(f, "  at:       {moment}")?;
        }
        writeln!(f, "  script:   {script}")?;
        write!(f, "  replay:   testkit::replay(testkit::Property::{property:?}, \"{script}\", &subject())")
    }
}

impl std::error::Error for Failure {}

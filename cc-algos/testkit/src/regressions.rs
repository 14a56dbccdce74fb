//! Scripts that broke a property once, kept in a file beside the crate's `Cargo.toml` and played first from then on.
//!
//! `testkit-regressions/NAME.txt` holds one script a line, behind the name of the property that it broke. Lines that begin with
//! `#` and empty ones say nothing.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::property::Property;
use crate::script::Script;

/// The folder of these files.
pub const FOLDER: &str = "testkit-regressions";

/// The file of one controller.
#[derive(Clone, Debug)]
pub struct Regressions {
    file: PathBuf,
}

impl Regressions {
    /// Of the subject `name` in the crate whose `Cargo.toml` stands in `crate_folder`.
    pub fn of(crate_folder: impl AsRef<Path>, name: &str) -> Self {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
        let file: String = name.chars().map(plain).collect();
        Self { file: crate_folder.as_ref().join(FOLDER).join(file).with_extension("txt") }
    }

    /// Where they stand.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// The scripts that broke `property`.
    ///
    /// # Panics
    ///
    /// If a line is neither empty, nor a comment, nor a property and a script: a regression that is never played tests nothing.
    pub fn scripts(&self, property: Property) -> Vec<Script> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let parsed =
            lines.map(|line| parse(line).unwrap_or_else(|wrong| panic!("{}: `{line}`: {wrong}", self.file.display())));
        parsed.filter(|(of, _)| *of == property).map(|(_, script)| script).collect()
    }

    /// Keeps the script of a failure, unless it stands there already.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn keep(&self, failure: &Failure) -> io::Result<()> {
        let line = format!("{}: {}\n", failure.property.name(), failure.script);
        if fs::read_to_string(&self.file).is_ok_and(|text| text.contains(&line)) {
            return Ok(());
        }
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        OpenOptions::new().create(true).append(true).open(&self.file)?.write_all(line.as_bytes())
    }
}

fn parse(line: &str) -> Result<(Property, Script), String> {
    let (name, script) = line.split_once(':').ok_or("expected the name of a property, a colon and a script")?;
    let property = Property::of_name(name.trim()).ok_or_else(|| format!("there is no property `{name}`"))?;
    let script = Script::parse(script.trim()).map_err(|error| error.to_string())?;
    Ok((property, script))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Violation;

    #[test]
    fn a_script_that_was_kept_is_played_again_for_its_property_alone() {
        let folder = std::env::temp_dir().join(format!("testkit-regressions-{}", std::process::id()));
        let regressions = Regressions::of(&folder, "mine?beta=0.5");
        let script = Script::parse("rate 10Mbps, rtt 40ms | run 3 rtt | lose 1").unwrap();
        let failure = Failure {
            property: Property::Idle,
            subject: "mine".to_owned(),
            violation: Violation { expected: String::new(), found: String::new() },
            moment: None,
            script: script.clone(),
        };
        regressions.keep(&failure).unwrap();
        regressions.keep(&failure).unwrap();
        assert_eq!(regressions.scripts(Property::Idle), [script]);
        assert!(regressions.scripts(Property::Bounds).is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}

//! Running the program in a folder of its own.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails as tests do")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder that is gone after the test.
pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its path as text.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A scenario whose runs take milliseconds.
    #[allow(dead_code, reason = "not every test program needs one")]
    pub(crate) fn tiny_scenario(&self) -> String {
        self.file(
            "tiny.toml",
            r#"
name = "tiny"
duration = "1s"
seeds = 8
algorithms = ["newreno", "cubic"]
baseline = "cubic"

[topology]
kind = "dumbbell"
rtt = "20ms"
bottleneck = { rate = "10Mbps" }

[[workload]]
kind = "poisson"
sizes = "uniform:1kB-20kB"
load = 0.5
stop = "800ms"
"#,
        )
    }

    /// The program with these arguments, run in the folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cwndtunnel"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }
}

pub(crate) fn run(scratch: &Scratch, args: &[&str]) -> Output {
    scratch.command(args).output().unwrap()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Every file of a results folder but its manifest, with its bytes.
#[allow(dead_code, reason = "not every test program needs it")]
pub(crate) fn results(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().unwrap() != "manifest.json" {
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

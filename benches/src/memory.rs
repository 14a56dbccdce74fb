//! Memory as the system counts it.

use std::fs;
use std::io;

/// Why the peak of memory is unknown.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// There is no such file; only Linux has it.
    #[error("cannot read /proc/self/status, where Linux tells the peak of memory")]
    Unreadable(#[from] io::Error),
    /// It lacks the line.
    #[error("/proc/self/status has no line `VmHWM: ... kB`")]
    NoPeak,
}

/// Largest resident set of this process so far, bytes.
///
/// # Errors
///
/// Elsewhere than on Linux.
pub fn peak_resident() -> Result<u64, MemoryError> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or(MemoryError::NoPeak)?;
    let kib = line.trim().strip_suffix(" kB").and_then(|kib| kib.trim().parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or(MemoryError::NoPeak)
}

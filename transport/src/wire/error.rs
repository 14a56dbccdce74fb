//! What can be wrong with bytes, or with a value that has no encoding.

use thiserror::Error;

/// Why a packet could not be parsed or written.
///
/// Offsets count bytes from the start of the slice that the [`Reader`](super::Reader) or [`Writer`](super::Writer) was
/// made over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// The bytes end inside a field.
    #[error("{what} at byte {offset} is cut off, {missing} more bytes expected")]
    CutOff {
        /// The field.
        what: &'static str,
        /// Where it starts.
        offset: usize,
        /// Bytes that are missing at least.
        missing: usize,
    },
    /// The buffer ends before a field could be written.
    #[error("no room for {what} at byte {offset}, {missing} more bytes needed")]
    NoRoom {
        /// The field.
        what: &'static str,
        /// Where it would start.
        offset: usize,
        /// Bytes that are missing.
        missing: usize,
    },
    /// A number that has no meaning, or a count above its cap.
    #[error("{what} at byte {offset} is {value}, at most {limit} expected")]
    TooLarge {
        /// The field.
        what: &'static str,
        /// Where it starts.
        offset: usize,
        /// What it says.
        value: u64,
        /// The largest value allowed.
        limit: u64,
    },
    /// A value that could be coded in fewer bytes. Every value has one encoding.
    #[error("{what} at byte {offset} is not in its shortest form")]
    NotShortest {
        /// The field.
        what: &'static str,
        /// Where it starts.
        offset: usize,
    },
    /// Fields that contradict each other or a rule of the format.
    #[error("{what} at byte {offset} is invalid: {expected} expected")]
    Invalid {
        /// The field.
        what: &'static str,
        /// Where it starts or, for rules over several fields, ends.
        offset: usize,
        /// What the format demands.
        expected: &'static str,
    },
    /// A code point that no frame has.
    #[error("unknown frame type {code:#04x} at byte {offset}")]
    UnknownFrame {
        /// The type byte.
        code: u8,
        /// Where it stands.
        offset: usize,
    },
    /// A long header of another version: only the fields that all versions share can be read.
    #[error("version {version:#010x} at byte {offset} is not spoken here")]
    UnknownVersion {
        /// The version of the packet.
        version: u32,
        /// Where it stands.
        offset: usize,
    },
}

impl WireError {
    /// The byte at which the error stands.
    pub const fn offset(&self) -> usize {
        match *self {
            Self::CutOff { offset, .. }
            | Self::NoRoom { offset, .. }
            | Self::TooLarge { offset, .. }
            | Self::NotShortest { offset, .. }
            | Self::Invalid { offset, .. }
            | Self::UnknownFrame { offset, .. }
            | Self::UnknownVersion { offset, .. } => offset,
        }
    }
}

//! The place in a data packet where switches write, and the echo of what they wrote.
//!
//! The slot starts at byte [`CSIG_SLOT_OFFSET`] of the UDP payload whenever the first byte says that it is there, so
//! that a hop finds it without knowing the connection. It stands outside the authenticated data; the bits that announce
//! it do not. What the bytes mean is no matter of this module.

use core::ops::Range;

use super::header::{CSIG_COMPACT, CSIG_MASK, CSIG_WIDE, LONG_FORM};

/// Where the slot starts, in bytes from the start of the datagram.
pub const CSIG_SLOT_OFFSET: usize = 1;

/// The bytes of a tag, as they travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CsigTag {
    /// The four-byte form.
    Compact([u8; 4]),
    /// The eight-byte form.
    Wide([u8; 8]),
}

impl CsigTag {
    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Compact(bytes) => bytes,
            Self::Wide(bytes) => bytes,
        }
    }

    /// Four or eight.
    #[inline]
    pub const fn encoded_len(&self) -> usize {
        match self {
            Self::Compact(_) => 4,
            Self::Wide(_) => 8,
        }
    }
}

/// The bytes of a datagram that its CSIG slot takes. `None` if it has none, or is cut off inside.
pub fn csig_slot(datagram: &[u8]) -> Option<Range<usize>> {
    let &first = datagram.first()?;
    let len = match (first & LONG_FORM, first & CSIG_MASK) {
        (0, CSIG_COMPACT) => 4,
        (0, CSIG_WIDE) => 8,
        _ => return None,
    };
    let slot = CSIG_SLOT_OFFSET..CSIG_SLOT_OFFSET + len;
    (slot.end <= datagram.len()).then_some(slot)
}

/// The slot of a datagram for a hop to write into. `None` if it has none, or is cut off inside.
pub fn csig_slot_mut(datagram: &mut [u8]) -> Option<&mut [u8]> {
    let slot = csig_slot(datagram)?;
    datagram.get_mut(slot)
}

/// The parts of a packet's header that authentication covers: what stands before the slot and what stands after it.
/// `header` is the packet up to its payload; without a slot the second part is empty.
pub fn authenticated_header(header: &[u8]) -> (&[u8], &[u8]) {
    match csig_slot(header) {
        Some(slot) => {
            let (before, _) = header.split_at(slot.start);
            let (_, after) = header.split_at(slot.end);
            (before, after)
        }
        None => (header, &[]),
    }
}

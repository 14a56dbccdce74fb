//! Truncated packet numbers (RFC 9000, section 17.1 and appendices A.2 and A.3).

use super::VARINT_MAX;

/// The largest packet number, 2^62 - 1 (RFC 9000, section 12.3).
pub const PACKET_NUMBER_MAX: u64 = VARINT_MAX;

/// The low bytes of a packet number, as they stand in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruncatedPacketNumber {
    value: u32,
    len: u8,
}

impl TruncatedPacketNumber {
    /// The low `len` bytes (1 to 4) of a number, already cut.
    pub(super) const fn from_wire(value: u32, len: u8) -> Self {
        Self { value, len }
    }

    /// The number that this stands for: of all that end in these bytes, the one closest to the successor of
    /// `largest_received` (RFC 9000, appendix A.3). `None` stands for "nothing received yet".
    ///
    /// A packet that was overtaken by more numbers than half of what its bytes can tell apart (2^7, 2^15, 2^23 or 2^31)
    /// is read as another number; its authentication then fails, as if it had been lost.
    pub const fn expand(self, largest_received: Option<u64>) -> u64 {
        let expected = match largest_received {
            Some(largest) if largest < PACKET_NUMBER_MAX => largest + 1,
            Some(_) => PACKET_NUMBER_MAX,
            None => 0,
        };
        let window = 1u64 << (self.len * 8);
        let candidate = (expected & !(window - 1)) | self.value as u64;
        if candidate.saturating_add(window / 2) <= expected && candidate + window <= PACKET_NUMBER_MAX {
            candidate + window
        } else if candidate > expected.saturating_add(window / 2) && candidate >= window {
            candidate - window
        } else {
            candidate
        }
    }

    /// The bytes as a number.
    pub const fn value(self) -> u32 {
        self.value
    }

    /// How many bytes they are, 1 to 4.
    pub const fn encoded_len(self) -> usize {
        self.len as usize
    }
}

/// Bytes that `packet_number` takes when `largest_acked` is the largest acknowledged one: as many as tell apart twice
/// the numbers in between (RFC 9000, appendix A.2). Four if even those do not suffice; writing such a number fails.
#[inline]
pub const fn packet_number_len(packet_number: u64, largest_acked: Option<u64>) -> usize {
    match in_doubt(packet_number, largest_acked) {
        0..=0x80 => 1,
        0x81..=0x8000 => 2,
        0x8001..=0x80_0000 => 3,
        _ => 4,
    }
}

/// Whether four bytes tell `packet_number` apart from all others that the receiver may take it for.
pub(super) const fn is_encodable(packet_number: u64, largest_acked: Option<u64>) -> bool {
    packet_number <= PACKET_NUMBER_MAX && in_doubt(packet_number, largest_acked) <= 0x8000_0000
}

const fn in_doubt(packet_number: u64, largest_acked: Option<u64>) -> u64 {
    match largest_acked {
        Some(largest) => packet_number.saturating_sub(largest),
        None => packet_number.saturating_add(1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lengths_are_those_of_rfc_9000() {
        // Appendix A.2: 29 519 numbers in doubt take 16 bits, 65 611 take 24 (18 in the RFC's sense, rounded up).
        assert_eq!(packet_number_len(0xac_5c02, Some(0xab_e8b3)), 2);
        assert_eq!(packet_number_len(0xac_e8fe, Some(0xab_e8b3)), 3);
        // One byte tells 256 numbers apart, so 128 may be in doubt.
        assert_eq!(packet_number_len(127, None), 1);
        assert_eq!(packet_number_len(128, None), 2);
        assert_eq!(packet_number_len(228, Some(100)), 1);
        assert_eq!(packet_number_len(229, Some(100)), 2);
    }

    #[test]
    fn expansion_is_that_of_rfc_9000() {
        // Appendix A.3: after 0xa82f30ea, the bytes 9b32 stand for 0xa82f9b32.
        assert_eq!(TruncatedPacketNumber::from_wire(0x9b32, 2).expand(Some(0xa82f_30ea)), 0xa82f_9b32);
    }

    #[test]
    fn expansion_never_leaves_the_space() {
        assert_eq!(TruncatedPacketNumber::from_wire(0, 1).expand(Some(PACKET_NUMBER_MAX)), PACKET_NUMBER_MAX - 0xff);
        assert_eq!(TruncatedPacketNumber::from_wire(0xff, 1).expand(None), 0xff);
    }

    proptest! {
        #[test]
        fn whatever_the_receiver_saw_since_the_acknowledgement_the_number_comes_back(
            acked in prop::option::of(0u64..1 << 60),
            ahead in prop_oneof![0u64..300, 0u64..0x8000_0000],
            seen in 0u64..=u64::MAX,
        ) {
            let packet_number = acked.map_or(0, |acked| acked + 1) + ahead;
            prop_assume!(is_encodable(packet_number, acked));
            // The receiver saw something between what it acknowledged and the packet before this one.
            let largest_received = match (acked, packet_number.checked_sub(1)) {
                (Some(acked), Some(newest)) => Some(acked + seen % (newest - acked + 1)),
                (None, Some(newest)) => (seen % 2 == 0).then_some(seen / 2 % (newest + 1)),
                (_, None) => None,
            };
            let len = packet_number_len(packet_number, acked);
            let low = (packet_number & ((1 << (8 * len)) - 1)) as u32;
            let truncated = TruncatedPacketNumber::from_wire(low, len as u8);
            prop_assert_eq!(truncated.expand(largest_received), packet_number);
        }
    }
}

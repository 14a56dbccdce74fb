//! Explicit Congestion Notification (RFC 3168, RFC 9331).

/// The two ECN bits of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub enum Ecn {
    /// The sender does not take part: congestion is signalled by dropping.
    #[default]
    NotEct = 0b00,
    /// Capable, and asking for the L4S service (RFC 9331).
    Ect1 = 0b01,
    /// Capable, classic meaning: a mark counts like a loss, or as DCTCP reads it.
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// The codepoint of the low two bits; the others are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// The codepoint as the low two bits.
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// Whether a queue may mark this packet instead of dropping it.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// Packets received with each codepoint since the path began (RFC 9000, section 19.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct EcnCounts {
    /// Packets that arrived with ECT(0).
    pub ect0: u64,
    /// Packets that arrived with ECT(1).
    pub ect1: u64,
    /// Packets that arrived with CE.
    pub ce: u64,
}

impl EcnCounts {
    /// Counts one packet that arrived with `ecn`.
    pub const fn count(&mut self, ecn: Ecn) {
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.ect0 = self.ect0.saturating_add(1),
            Ecn::Ect1 => self.ect1 = self.ect1.saturating_add(1),
            Ecn::Ce => self.ce = self.ce.saturating_add(1),
        }
    }

    /// What came on top of `earlier`, or `None` if any count went backwards, which no honest peer reports.
    pub const fn since(self, earlier: Self) -> Option<Self> {
        match (
            self.ect0.checked_sub(earlier.ect0),
            self.ect1.checked_sub(earlier.ect1),
            self.ce.checked_sub(earlier.ce),
        ) {
            (Some(ect0), Some(ect1), Some(ce)) => Some(Self { ect0, ect1, ce }),
            _ => None,
        }
    }

    /// Packets of all three codepoints together, saturating.
    pub const fn total(self) -> u64 {
        self.ect0.saturating_add(self.ect1).saturating_add(self.ce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codepoint_survives_its_bits() {
        for bits in 0..4 {
            assert_eq!(Ecn::from_bits(bits).bits(), bits);
            assert_eq!(Ecn::from_bits(bits | 0b1010_0100).bits(), bits, "other bits of the byte are the DSCP");
        }
    }

    #[test]
    fn counts_that_go_backwards_are_refused() {
        let earlier = EcnCounts { ect0: 5, ect1: 0, ce: 2 };
        let later = EcnCounts { ect0: 7, ect1: 0, ce: 2 };
        assert_eq!(later.since(earlier), Some(EcnCounts { ect0: 2, ect1: 0, ce: 0 }));
        assert_eq!(earlier.since(later), None);
    }
}

//! Version negotiation, the answer to a long header of a version that is not spoken.

use smallvec::SmallVec;

use super::header::{LONG_FORM, write_long_prefix};
use super::{LongPrefix, Reader, WireError, Writer};

/// Most versions that one negotiation lists. Ours.
pub const MAX_VERSIONS: usize = 16;

/// A datagram that lists the versions its sender speaks (after RFC 9000, section 17.2.1). It is not authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionNegotiation {
    /// The receiver's id for the connection: the source of the packet that this answers.
    pub connection: u64,
    /// The sender's id for the connection: the destination of the packet that this answers.
    pub source: u64,
    /// What the sender speaks, at least one version, none of them zero.
    pub versions: SmallVec<[u32; MAX_VERSIONS]>,
}

impl VersionNegotiation {
    /// Bytes that [`write`](Self::write) takes.
    pub fn encoded_len(&self) -> usize {
        1 + 4 + 8 + 8 + 4 * self.versions.len()
    }

    /// Writes the whole datagram.
    ///
    /// # Errors
    /// [`WireError::NoRoom`]; [`WireError::TooLarge`] or [`WireError::Invalid`] for a list of the wrong length or with a
    /// zero.
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        self.check(writer.offset())?;
        let prefix = LongPrefix { version: 0, connection: self.connection, source: self.source };
        write_long_prefix(LONG_FORM, prefix, writer)?;
        for version in &self.versions {
            writer.array(version.to_be_bytes(), "version")?;
        }
        Ok(())
    }

    /// Reads a whole datagram.
    ///
    /// # Errors
    /// [`WireError::Invalid`] if it is anything but a version negotiation; [`WireError::CutOff`];
    /// [`WireError::TooLarge`] above [`MAX_VERSIONS`].
    pub fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let offset = reader.offset();
        let first = reader.clone().u8("first byte")?;
        let LongPrefix { version, connection, source } = LongPrefix::parse(reader)?;
        if version != 0 || first != LONG_FORM {
            return Err(WireError::Invalid { what: "first byte", offset, expected: "a version negotiation" });
        }
        let mut negotiation = Self { connection, source, versions: SmallVec::new() };
        let count = reader.remaining().len().div_ceil(4);
        check_count(count, reader.offset())?;
        for _ in 0..count {
            negotiation.versions.push(u32::from_be_bytes(reader.array("version")?));
        }
        negotiation.check(offset)?;
        Ok(negotiation)
    }

    fn check(&self, offset: usize) -> Result<(), WireError> {
        check_count(self.versions.len(), offset)?;
        if self.versions.is_empty() || self.versions.contains(&0) {
            return Err(WireError::Invalid { what: "version list", offset, expected: "versions other than zero" });
        }
        Ok(())
    }
}

fn check_count(count: usize, offset: usize) -> Result<(), WireError> {
    let (value, limit) = (count as u64, MAX_VERSIONS as u64);
    if value > limit {
        return Err(WireError::TooLarge { what: "version count", offset, value, limit });
    }
    Ok(())
}

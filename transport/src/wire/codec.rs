//! Bounds-checked reading and writing of bytes and variable-length integers.

use super::WireError;

/// The largest number that a variable-length integer holds, 2^62 - 1 (RFC 9000, section 16).
pub const VARINT_MAX: u64 = (1 << 62) - 1;

/// Bytes that `value` takes as a variable-length integer: 1, 2, 4 or 8 (RFC 9000, section 16). Values above
/// [`VARINT_MAX`] count as 8; writing them fails.
#[inline]
pub const fn varint_len(value: u64) -> usize {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

/// Reads from a slice and remembers where it is.
///
/// Each method takes the name of the field that it reads, for the error that may come of it.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes read so far.
    pub const fn offset(&self) -> usize {
        self.at
    }

    /// Whether everything was read.
    pub const fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// What was not read yet.
    #[inline]
    pub fn remaining(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The bytes from `start`, an earlier [`offset`](Self::offset), up to here.
    pub(super) fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// Takes `len` bytes.
    ///
    /// # Errors
    /// [`WireError::CutOff`] if fewer are left.
    #[inline]
    pub fn bytes(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], WireError> {
        let rest = self.remaining();
        let Some(taken) = rest.get(..len) else {
            return Err(WireError::CutOff { what, offset: self.at, missing: len - rest.len() });
        };
        self.at += len;
        Ok(taken)
    }

    /// Takes an array of bytes.
    ///
    /// # Errors
    /// [`WireError::CutOff`] if fewer are left.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], WireError> {
        let rest = self.remaining();
        let Some(taken) = rest.first_chunk::<N>() else {
            return Err(WireError::CutOff { what, offset: self.at, missing: N - rest.len() });
        };
        self.at += N;
        Ok(*taken)
    }

    /// Takes one byte.
    ///
    /// # Errors
    /// [`WireError::CutOff`] if none is left.
    #[inline]
    pub fn u8(&mut self, what: &'static str) -> Result<u8, WireError> {
        let [byte] = self.array(what)?;
        Ok(byte)
    }

    /// Takes a variable-length integer (RFC 9000, section 16).
    ///
    /// # Errors
    /// [`WireError::CutOff`] if it does not end, [`WireError::NotShortest`] if fewer bytes would have held it (RFC 9000
    /// allows that, this format does not).
    #[inline]
    pub fn varint(&mut self, what: &'static str) -> Result<u64, WireError> {
        let offset = self.at;
        let rest = self.remaining();
        let Some(&first) = rest.first() else {
            return Err(WireError::CutOff { what, offset, missing: 1 });
        };
        if first < 0x40 {
            self.at += 1;
            return Ok(u64::from(first));
        }
        let (value, len) = match first >> 6 {
            1 => (u64::from(u16::from_be_bytes(self.array(what)?)) & 0x3fff, 2),
            2 => (u64::from(u32::from_be_bytes(self.array(what)?)) & 0x3fff_ffff, 4),
            _ => (u64::from_be_bytes(self.array(what)?) & VARINT_MAX, 8),
        };
        if varint_len(value) != len {
            return Err(WireError::NotShortest { what, offset });
        }
        Ok(value)
    }

    /// Takes a variable-length integer of at most `limit`.
    ///
    /// # Errors
    /// As [`varint`](Self::varint), and [`WireError::TooLarge`].
    #[inline]
    pub fn varint_up_to(&mut self, limit: u64, what: &'static str) -> Result<u64, WireError> {
        let offset = self.at;
        let value = self.varint(what)?;
        if value > limit {
            return Err(WireError::TooLarge { what, offset, value, limit });
        }
        Ok(value)
    }

    /// Takes all bytes up to the next one that is not zero, and says how many.
    pub(super) fn zeros(&mut self) -> usize {
        let rest = self.remaining();
        let len = rest.iter().position(|&byte| byte != 0).unwrap_or(rest.len());
        self.at += len;
        len
    }

    pub(super) const fn invalid(&self, what: &'static str, expected: &'static str) -> WireError {
        WireError::Invalid { what, offset: self.at, expected }
    }
}

/// Writes into a slice and remembers where it is.
///
/// Each method takes the name of the field that it writes, for the error that may come of it. After an error the
/// position is where the failed field would have started.
#[derive(Debug)]
pub struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    /// A writer at the start of `bytes`.
    pub const fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes written so far.
    pub const fn offset(&self) -> usize {
        self.at
    }

    /// Bytes that can still be written.
    pub const fn room(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// What was written so far.
    pub fn written(&self) -> &[u8] {
        self.bytes.get(..self.at).unwrap_or_default()
    }

    /// The next `len` bytes, for the caller to fill. They keep what they hold until then.
    ///
    /// # Errors
    /// [`WireError::NoRoom`].
    #[inline]
    pub fn reserve(&mut self, len: usize, what: &'static str) -> Result<&mut [u8], WireError> {
        let (offset, missing) = (self.at, len.saturating_sub(self.room()));
        let Some(reserved) = self.bytes.get_mut(self.at..).and_then(|rest| rest.get_mut(..len)) else {
            return Err(WireError::NoRoom { what, offset, missing });
        };
        self.at += len;
        Ok(reserved)
    }

    /// Writes `value` as it is.
    ///
    /// # Errors
    /// [`WireError::NoRoom`].
    #[inline]
    pub fn bytes(&mut self, value: &[u8], what: &'static str) -> Result<(), WireError> {
        self.reserve(value.len(), what)?.copy_from_slice(value);
        Ok(())
    }

    /// Writes an array of bytes.
    ///
    /// # Errors
    /// [`WireError::NoRoom`].
    #[inline]
    pub fn array<const N: usize>(&mut self, value: [u8; N], what: &'static str) -> Result<(), WireError> {
        let missing = N.saturating_sub(self.room());
        let Some(slot) = self.bytes.get_mut(self.at..).and_then(|rest| rest.first_chunk_mut::<N>()) else {
            return Err(WireError::NoRoom { what, offset: self.at, missing });
        };
        *slot = value;
        self.at += N;
        Ok(())
    }

    /// Writes one byte.
    ///
    /// # Errors
    /// [`WireError::NoRoom`].
    #[inline]
    pub fn u8(&mut self, value: u8, what: &'static str) -> Result<(), WireError> {
        self.array([value], what)
    }

    /// Writes a variable-length integer in its shortest form (RFC 9000, section 16).
    ///
    /// # Errors
    /// [`WireError::NoRoom`], or [`WireError::TooLarge`] above [`VARINT_MAX`].
    #[inline]
    pub fn varint(&mut self, value: u64, what: &'static str) -> Result<(), WireError> {
        match value {
            0..0x40 => self.array([value as u8], what),
            0x40..0x4000 => self.array((value as u16 | 0x4000).to_be_bytes(), what),
            0x4000..0x4000_0000 => self.array((value as u32 | 0x8000_0000).to_be_bytes(), what),
            0x4000_0000..=VARINT_MAX => self.array((value | 0xc000_0000_0000_0000).to_be_bytes(), what),
            _ => Err(WireError::TooLarge { what, offset: self.at, value, limit: VARINT_MAX }),
        }
    }

    /// Writes a variable-length integer of at most `limit`.
    ///
    /// # Errors
    /// As [`varint`](Self::varint), and [`WireError::TooLarge`].
    #[inline]
    pub fn varint_up_to(&mut self, value: u64, limit: u64, what: &'static str) -> Result<(), WireError> {
        if value > limit {
            return Err(WireError::TooLarge { what, offset: self.at, value, limit });
        }
        self.varint(value, what)
    }

    /// Forgets what was written after `offset`, an earlier position.
    pub(super) const fn rewind(&mut self, offset: usize) {
        if offset < self.at {
            self.at = offset;
        }
    }

    pub(super) const fn invalid(&self, what: &'static str, expected: &'static str) -> WireError {
        WireError::Invalid { what, offset: self.at, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_those_of_rfc_9000() {
        // RFC 9000, appendix A.1, but for its fifth example, which is not in shortest form.
        let examples: [(u64, &[u8]); 4] = [
            (151_288_809_941_952_652, &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c]),
            (494_878_333, &[0x9d, 0x7f, 0x3e, 0x7d]),
            (15_293, &[0x7b, 0xbd]),
            (37, &[0x25]),
        ];
        for (value, bytes) in examples {
            let mut buffer = [0; 8];
            let mut writer = Writer::new(&mut buffer);
            writer.varint(value, "example").unwrap();
            assert_eq!(writer.written(), bytes);
            assert_eq!(varint_len(value), bytes.len());
            assert_eq!(Reader::new(bytes).varint("example"), Ok(value));
        }
    }

    #[test]
    fn varints_round_trip_at_their_borders() {
        for value in [0, 0x3f, 0x40, 0x3fff, 0x4000, 0x3fff_ffff, 0x4000_0000, VARINT_MAX] {
            let mut buffer = [0; 8];
            let mut writer = Writer::new(&mut buffer);
            writer.varint(value, "border").unwrap();
            assert_eq!(writer.offset(), varint_len(value));
            assert_eq!(Reader::new(writer.written()).varint("border"), Ok(value));
        }
        let mut buffer = [0; 8];
        let refused = Writer::new(&mut buffer).varint(VARINT_MAX + 1, "border");
        assert_eq!(refused, Err(WireError::TooLarge { what: "border", offset: 0, value: 1 << 62, limit: VARINT_MAX }));
    }

    #[test]
    fn longer_forms_of_a_small_number_are_refused() {
        // 37 in two bytes, RFC 9000's fifth example; 0x3fff in four; 0x3fffffff in eight.
        let longer: [&[u8]; 3] = [&[0x40, 0x25], &[0x80, 0, 0x3f, 0xff], &[0xc0, 0, 0, 0, 0x3f, 0xff, 0xff, 0xff]];
        for bytes in longer {
            let error = Reader::new(bytes).varint("length");
            assert_eq!(error, Err(WireError::NotShortest { what: "length", offset: 0 }));
        }
    }

    #[test]
    fn errors_name_field_and_offset() {
        let mut reader = Reader::new(&[1, 0x9d, 0x7f]);
        reader.u8("flags").unwrap();
        let error = reader.varint("offset").unwrap_err();
        assert_eq!(error.to_string(), "offset at byte 1 is cut off, 2 more bytes expected");
        assert_eq!(reader.offset(), 1, "nothing was taken");

        let mut buffer = [0; 3];
        let mut writer = Writer::new(&mut buffer);
        writer.u8(1, "flags").unwrap();
        let error = writer.varint(1 << 20, "offset").unwrap_err();
        assert_eq!(error.to_string(), "no room for offset at byte 1, 2 more bytes needed");
        assert_eq!(writer.written(), [1], "nothing was written");
    }
}

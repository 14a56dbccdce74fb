//! Packing frames into a packet.

use super::{AEAD_TAG_LEN, AckFrame, Frame, Header, WireError, Writer};

/// Fills a buffer of the size of a datagram with a header and frames, and keeps room for the AEAD's tag at the end.
#[derive(Debug)]
pub struct PacketBuilder<'a> {
    writer: Writer<'a>,
    header_len: usize,
}

/// Where the parts of a built packet lie in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltPacket {
    /// Bytes of header and token: not encrypted. Authenticated, but for the CSIG slot.
    pub header_len: usize,
    /// Bytes of header, token and frames. The AEAD's tag goes behind them.
    pub len: usize,
}

impl<'a> PacketBuilder<'a> {
    /// Starts a packet with its header and its token, empty for kinds that have none. `largest_acked` is the largest
    /// packet number that the peer acknowledged on this path.
    ///
    /// # Errors
    /// [`WireError::NoRoom`] if these and the AEAD's tag do not fit; [`WireError::Invalid`] for a token of another length
    /// than the header says; otherwise as [`Header::write`].
    pub fn new(
        datagram: &'a mut [u8],
        header: &Header,
        largest_acked: Option<u64>,
        token: &[u8],
    ) -> Result<Self, WireError> {
        let Some(end) = datagram.len().checked_sub(AEAD_TAG_LEN) else {
            let missing = AEAD_TAG_LEN - datagram.len();
            return Err(WireError::NoRoom { what: "AEAD tag", offset: 0, missing });
        };
        let (packet, _) = datagram.split_at_mut(end);
        let mut writer = Writer::new(packet);
        if token.len() != usize::from(header.kind.token_len()) {
            return Err(writer.invalid("token", "as many bytes as the header says"));
        }
        header.write(largest_acked, &mut writer)?;
        writer.bytes(token, "token")?;
        let header_len = writer.offset();
        Ok(Self { writer, header_len })
    }

    /// Bytes that frames can still take.
    pub const fn room(&self) -> usize {
        self.writer.room()
    }

    /// Whether no frame was added yet.
    pub const fn is_empty(&self) -> bool {
        self.writer.offset() == self.header_len
    }

    /// Adds a frame and the bytes that it carries, if any.
    ///
    /// # Errors
    /// [`WireError::NoRoom`] if they do not fit; [`WireError::Invalid`] if the payload has another length than the frame
    /// says; otherwise as [`Frame::write`]. The packet is then as before.
    pub fn push(&mut self, frame: &Frame<'_>, payload: &[u8]) -> Result<(), WireError> {
        if payload.len() as u64 != frame.payload_len() {
            return Err(self.writer.invalid("payload", "as many bytes as the frame says"));
        }
        self.all_or_nothing(|writer| {
            frame.write(writer)?;
            writer.bytes(payload, "payload")
        })
    }

    /// Adds an acknowledgement.
    ///
    /// # Errors
    /// As [`AckFrame::write`]. The packet is then as before.
    pub fn push_ack(&mut self, ack: &AckFrame) -> Result<(), WireError> {
        self.all_or_nothing(|writer| ack.write(writer))
    }

    /// Ends the packet.
    pub const fn finish(self) -> BuiltPacket {
        BuiltPacket { header_len: self.header_len, len: self.writer.offset() }
    }

    fn all_or_nothing(
        &mut self,
        write: impl FnOnce(&mut Writer<'a>) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        let start = self.writer.offset();
        write(&mut self.writer).inspect_err(|_| self.writer.rewind(start))
    }
}

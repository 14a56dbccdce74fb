//! Frames of erasure-coded blocks.
//!
//! A block has `k` data shards and `m` parity shards. A data shard is a row of frames, padded with zero bytes to the
//! block's shard length: zero bytes are padding frames, so that a recovered shard is parsed like one that arrived.

use cc_algos::ids::BlockId;

use super::field::{Field, parse_with_type, plain_frame};
use super::{FrameType, Reader, WireError, Writer};

/// Most shards of a block, data and parity together: codes over GF(2^8) have no more points besides zero.
pub const MAX_SHARDS: u8 = 255;

/// A shard's place in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The block.
    pub block: BlockId,
    /// Which shard this is: below `k` for data, from `k` to `k + m - 1` for parity.
    pub index: u8,
    /// Data shards of the block, at least one.
    pub k: u8,
    /// Parity shards of the block; `k + m` is at most [`MAX_SHARDS`].
    pub m: u8,
    /// Length of each shard of the block, bytes, at least one.
    pub shard_len: u16,
}

impl Shard {
    #[inline]
    fn encoded_len(&self) -> usize {
        self.block.encoded_len() + 3 + self.shard_len.encoded_len()
    }

    fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        self.block.write(writer, "block id")?;
        writer.array([self.index, self.k, self.m], "shard index")?;
        self.shard_len.write(writer, "shard length")
    }

    fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let block = Field::parse(reader, "block id")?;
        let [index, k, m] = reader.array("shard index")?;
        let shard_len = Field::parse(reader, "shard length")?;
        Ok(Self { block, index, k, m, shard_len })
    }

    fn check(&self, offset: usize) -> Result<(), WireError> {
        let expected = if self.k == 0 {
            "a data shard at least"
        } else if self.k.checked_add(self.m).is_none() {
            "255 shards at most"
        } else if self.shard_len == 0 {
            "a byte in each shard at least"
        } else {
            return Ok(());
        };
        Err(WireError::Invalid { what: "block", offset, expected })
    }
}

/// A data shard. `len` bytes follow, which are frames; zero bytes up to the shard length are not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodedHeader {
    /// Where the shard belongs.
    pub shard: Shard,
    /// Bytes that follow, at most the shard length.
    pub len: u16,
}

impl CodedHeader {
    /// Bytes that [`write`](Self::write) takes, type byte included, shard excluded.
    #[inline]
    pub fn encoded_len(&self) -> usize {
        1 + self.shard.encoded_len() + self.len.encoded_len()
    }

    /// Writes the frame up to its shard.
    ///
    /// # Errors
    /// [`WireError::NoRoom`], [`WireError::TooLarge`] for a value that its field cannot hold, [`WireError::Invalid`] for
    /// an impossible block or index.
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        self.check(writer.offset())?;
        writer.u8(FrameType::Coded as u8, "frame type")?;
        self.shard.write(writer)?;
        self.len.write(writer, "length")
    }

    pub(super) fn parse_body(_: u8, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let header = Self { shard: Shard::parse(reader)?, len: Field::parse(reader, "length")? };
        header.check(reader.offset())?;
        Ok(header)
    }

    fn check(&self, offset: usize) -> Result<(), WireError> {
        self.shard.check(offset)?;
        if self.shard.index >= self.shard.k {
            return Err(WireError::Invalid { what: "shard index", offset, expected: "the index of a data shard" });
        }
        if self.len > self.shard.shard_len {
            return Err(WireError::Invalid { what: "length", offset, expected: "the shard length at most" });
        }
        Ok(())
    }
}

parse_with_type!(CodedHeader, Coded);

/// A parity shard. As many bytes follow as the shard length says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParityHeader {
    /// Where the shard belongs.
    pub shard: Shard,
}

impl ParityHeader {
    /// Bytes that [`write`](Self::write) takes, type byte included, shard excluded.
    #[inline]
    pub fn encoded_len(&self) -> usize {
        1 + self.shard.encoded_len()
    }

    /// Writes the frame up to its shard.
    ///
    /// # Errors
    /// [`WireError::NoRoom`], [`WireError::TooLarge`] for a value that its field cannot hold, [`WireError::Invalid`] for
    /// an impossible block or index.
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        self.check(writer.offset())?;
        writer.u8(FrameType::Parity as u8, "frame type")?;
        self.shard.write(writer)
    }

    pub(super) fn parse_body(_: u8, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let header = Self { shard: Shard::parse(reader)? };
        header.check(reader.offset())?;
        Ok(header)
    }

    fn check(&self, offset: usize) -> Result<(), WireError> {
        let Shard { index, k, m, .. } = self.shard;
        self.shard.check(offset)?;
        // `k + m` fits, as was just checked.
        if index < k || index >= k.saturating_add(m) {
            return Err(WireError::Invalid { what: "shard index", offset, expected: "the index of a parity shard" });
        }
        Ok(())
    }
}

parse_with_type!(ParityHeader, Parity);

/// A set of shards of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ShardSet {
    words: [u64; 4],
}

impl ShardSet {
    /// No shards.
    pub const EMPTY: Self = Self { words: [0; 4] };

    /// Adds a shard.
    pub const fn insert(&mut self, index: u8) {
        self.words[index as usize / 64] |= 1 << (index % 64);
    }

    /// Whether a shard is in.
    pub const fn contains(&self, index: u8) -> bool {
        self.words[index as usize / 64] >> (index % 64) & 1 == 1
    }

    /// How many shards are in.
    pub fn len(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether none is in.
    pub const fn is_empty(&self) -> bool {
        matches!(self.words, [0, 0, 0, 0])
    }

    /// The shards, from the smallest index.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).filter(|&index| self.contains(index))
    }

    fn largest(&self) -> Option<u8> {
        (0..=u8::MAX).rev().find(|&index| self.contains(index))
    }
}

/// Shards of a block that did not arrive. The sender repairs the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nack {
    /// The block.
    pub block: BlockId,
    /// Shards of the block, data and parity together, as far as the receiver knows.
    pub shards: u8,
    /// What is missing: at least one, none at or above `shards`.
    pub missing: ShardSet,
}

impl Nack {
    /// Bytes that [`write`](Self::write) takes, type byte included.
    pub fn encoded_len(&self) -> usize {
        1 + self.block.encoded_len() + 1 + usize::from(self.shards.div_ceil(8))
    }

    /// Writes the frame, type byte included.
    ///
    /// # Errors
    /// [`WireError::NoRoom`], [`WireError::TooLarge`] for a value that its field cannot hold, [`WireError::Invalid`] if
    /// nothing is missing or what is missing does not exist.
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        self.check(writer.offset())?;
        writer.u8(FrameType::Nack as u8, "frame type")?;
        self.block.write(writer, "block id")?;
        writer.u8(self.shards, "shard count")?;
        let map = self.missing.words.map(u64::to_le_bytes);
        let map = map.as_flattened().get(..usize::from(self.shards.div_ceil(8))).unwrap_or_default();
        writer.bytes(map, "missing shards")
    }

    pub(super) fn parse_body(_: u8, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let block = Field::parse(reader, "block id")?;
        let shards = reader.u8("shard count")?;
        let map = reader.bytes(usize::from(shards.div_ceil(8)), "missing shards")?;
        let mut missing = ShardSet::EMPTY;
        for (word, bytes) in missing.words.iter_mut().zip(map.chunks(8)) {
            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        let nack = Self { block, shards, missing };
        nack.check(reader.offset())?;
        Ok(nack)
    }

    fn check(&self, offset: usize) -> Result<(), WireError> {
        match self.missing.largest() {
            None => Err(WireError::Invalid { what: "missing shards", offset, expected: "one at least" }),
            Some(largest) if largest >= self.shards => {
                Err(WireError::Invalid { what: "missing shards", offset, expected: "shards of the block" })
            }
            Some(_) => Ok(()),
        }
    }
}

parse_with_type!(Nack, Nack);

plain_frame! {
    /// Blocks that are complete, whether their shards arrived or were recovered: all below `next`, and some above it.
    BlockAck {
        /// The smallest id of a block that is not complete.
        next: BlockId = "block id",
        /// Bit `i` is set if block `next + 1 + i` is complete; of the blocks above `next`, not all need be named.
        beyond: u64 = "complete blocks",
    }
}

impl BlockAck {
    /// Blocks above `next` that a frame can name: what a varint holds.
    pub const MAX_BEYOND: u64 = 62;

    /// The blocks above `next` that the frame names, ascending. Ids that do not exist are left out.
    pub fn blocks_beyond(&self) -> impl Iterator<Item = BlockId> + use<> {
        let Self { next, beyond } = *self;
        let named = (0..Self::MAX_BEYOND).filter(move |bit| beyond >> bit & 1 == 1);
        named.filter_map(move |bit| next.0.checked_add(1 + bit).map(BlockId))
    }
}

//! In-band telemetry (INT): what the ports on the way write into a packet that asks for it, and its echo.
//!
//! A packet asks by a prefix of two bytes before its header. Each port appends a record to the prefix when the packet
//! leaves (the "embed data" mode of the INT specification 2.1, section 4.1), so that the packet grows on its way. The prefix
//! stands outside the authenticated data: what it says is to be trusted no more than any other signal.
//!
//! A record takes 20 bytes. HPCC's takes 8 (SIGCOMM'19, section 4.1): clocks that wrap after 16 ms, counters that wrap after
//! 128 MiB, and one of eight rates. Ours wrap after 78 hours and 281 TB and know any rate.

use cc_algos::signal::IntHop;
use cc_algos::units::{Rate, Timestamp};

use super::{Reader, WireError, Writer};

/// The first byte of a packet that carries telemetry; no header begins with it.
pub const INT_PREFIX: u8 = 0x30;

/// Most records that a packet carries. Ours: a fat-tree's longest path has six ports.
pub const MAX_INT_HOPS: usize = 8;

/// Bytes of a record.
pub const INT_HOP_LEN: usize = 20;

/// Most ports that a stack counts as missed.
const MAX_MISSED: u8 = 15;
const COUNT_MASK: u8 = 0x0f;
const MISSED_SHIFT: u8 = 4;

/// Bytes that one unit of the queue field stands for.
const QUEUE_UNIT: u64 = 16;
const MANTISSA_BITS: u32 = 12;
const MAX_MANTISSA: u64 = (1 << MANTISSA_BITS) - 1;
const MAX_EXPONENT: u16 = 15;

/// The records of the ports that a packet has left, in path order.
///
/// Its values are those that the encoding can carry. Reuse one: [`clear`](Self::clear) keeps its room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntStack {
    hops: Vec<IntHop>,
    missed: u8,
}

impl IntStack {
    /// Bytes of the prefix of a packet that no port has written into.
    pub const EMPTY_PREFIX_LEN: usize = 2;

    /// The records.
    pub fn hops(&self) -> &[IntHop] {
        &self.hops
    }

    /// Ports that found the stack full, 15 at most.
    pub const fn missed(&self) -> u8 {
        self.missed
    }

    /// Whether no port has written.
    pub const fn is_empty(&self) -> bool {
        self.hops.is_empty()
    }

    /// Whether there is no room for another record.
    pub const fn is_full(&self) -> bool {
        self.hops.len() >= MAX_INT_HOPS
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.hops.clear();
        self.missed = 0;
    }

    /// A port writes its record, as far as the encoding can carry it: the low 24 bits of its number, the low 48 bits of clock
    /// and counter, the queue in steps of 16 B up to 268 MB, the rate with 12 bits of mantissa, rounded down. A full stack only
    /// counts it.
    pub fn push(&mut self, hop: &IntHop) {
        if self.is_full() {
            self.missed = (self.missed + 1).min(MAX_MISSED);
        } else {
            self.hops.push(decode(&encode(hop)));
        }
    }

    /// Makes this a copy of another, in the room that it has.
    pub fn copy_from(&mut self, other: &Self) {
        self.hops.clone_from(&other.hops);
        self.missed = other.missed;
    }

    /// Bytes that [`write`](Self::write) takes.
    #[inline]
    pub const fn encoded_len(&self) -> usize {
        1 + self.hops.len() * INT_HOP_LEN
    }

    /// Writes count and records, as in an acknowledgement.
    ///
    /// # Errors
    /// [`WireError::NoRoom`].
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        // At most `MAX_INT_HOPS`.
        writer.u8(self.missed << MISSED_SHIFT | self.hops.len() as u8, "telemetry count")?;
        self.hops.iter().try_for_each(|hop| writer.array(encode(hop), "telemetry"))
    }

    /// Bytes that the prefix of a packet with this stack takes.
    pub const fn prefix_len(&self) -> usize {
        1 + self.encoded_len()
    }

    /// Writes the prefix of a packet; its header follows.
    ///
    /// # Errors
    /// [`WireError::NoRoom`].
    pub fn write_prefix(&self, writer: &mut Writer<'_>) -> Result<(), WireError> {
        writer.u8(INT_PREFIX, "telemetry prefix")?;
        self.write(writer)
    }

    /// Reads the prefix of a packet, if it has one, over what the stack held. Returns whether it has.
    ///
    /// # Errors
    /// [`WireError::CutOff`]; [`WireError::Invalid`] for a count or a rate that nobody writes. The stack then stays as it was.
    pub fn parse_prefix(&mut self, reader: &mut Reader<'_>) -> Result<bool, WireError> {
        if reader.remaining().first() != Some(&INT_PREFIX) {
            return Ok(false);
        }
        reader.u8("telemetry prefix")?;
        EncodedStack::parse(reader)?.copy_to(self);
        Ok(true)
    }
}

/// A stack that stays in the bytes of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct EncodedStack<'a> {
    missed: u8,
    records: &'a [[u8; INT_HOP_LEN]],
}

impl<'a> EncodedStack<'a> {
    /// The records.
    pub fn hops(&self) -> impl ExactSizeIterator<Item = IntHop> + 'a {
        self.records.iter().map(decode)
    }

    /// Copies everything into a stack that may have been used before.
    pub fn copy_to(&self, stack: &mut IntStack) {
        stack.hops.clear();
        stack.hops.extend(self.hops());
        stack.missed = self.missed;
    }

    pub(super) fn parse(reader: &mut Reader<'a>) -> Result<Self, WireError> {
        let first = reader.u8("telemetry count")?;
        let (count, missed) = (usize::from(first & COUNT_MASK), first >> MISSED_SHIFT);
        if count > MAX_INT_HOPS {
            return Err(reader.invalid("telemetry count", "8 records at most"));
        }
        if missed > 0 && count < MAX_INT_HOPS {
            return Err(reader.invalid("telemetry count", "no port missed while there was room"));
        }
        let (records, _) = reader.bytes(count * INT_HOP_LEN, "telemetry")?.as_chunks();
        if records.iter().any(|record| encode(&decode(record)) != *record) {
            return Err(reader.invalid("telemetry", "rates with the smallest exponent"));
        }
        Ok(Self { missed, records })
    }
}

/// Port, rate, queue, clock, counter: 3, 2, 3, 6 and 6 bytes.
fn encode(hop: &IntHop) -> [u8; INT_HOP_LEN] {
    let queue = (hop.queue_bytes / QUEUE_UNIT).min(0xff_ffff);
    let state = u64::from(hop.port & 0xff_ffff) << 40 | u64::from(encode_rate(hop.rate)) << 24 | queue;
    let mut record = [0; INT_HOP_LEN];
    record[..8].copy_from_slice(&state.to_be_bytes());
    record[8..14].copy_from_slice(&low48(hop.at.as_nanos()));
    record[14..].copy_from_slice(&low48(hop.tx_bytes));
    record
}

fn decode(record: &[u8; INT_HOP_LEN]) -> IntHop {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
    IntHop {
        port: number(&record[..3]) as u32,
        rate: decode_rate(number(&record[3..5]) as u16),
        queue_bytes: number(&record[5..8]) * QUEUE_UNIT,
        at: Timestamp::from_nanos(number(&record[8..14])),
        tx_bytes: number(&record[14..]),
    }
}

fn low48(value: u64) -> [u8; 6] {
    let [_, _, low @ ..] = value.to_be_bytes();
    low
}

/// A decimal exponent above a mantissa of 12 bits: rates of three digits, as links have them, are exact.
fn encode_rate(rate: Rate) -> u16 {
    let (mut mantissa, mut exponent) = (rate.as_bps(), 0);
    while mantissa > MAX_MANTISSA {
        mantissa /= 10;
        exponent += 1;
    }
    if exponent > MAX_EXPONENT { u16::MAX } else { exponent << MANTISSA_BITS | mantissa as u16 }
}

fn decode_rate(encoded: u16) -> Rate {
    let mantissa = u64::from(encoded) & MAX_MANTISSA;
    // At most 4095e15.
    Rate::from_bps(mantissa * 10_u64.pow(u32::from(encoded >> MANTISSA_BITS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(port: u32, rate: Rate) -> IntHop {
        IntHop {
            port,
            at: Timestamp::from_nanos(1_234_567_890_123),
            tx_bytes: 98_765_432_109,
            queue_bytes: 4_800,
            rate,
        }
    }

    #[test]
    fn rates_of_links_and_whole_nanoseconds_and_bytes_are_exact() {
        let rates = [Rate::from_bps(1), Rate::from_bps(2_400), Rate::from_mbps(155), Rate::from_gbps(25)];
        for rate in rates.into_iter().chain([100, 400, 800, 1_600].map(Rate::from_gbps)) {
            let mut stack = IntStack::default();
            stack.push(&hop(77, rate));
            assert_eq!(stack.hops(), [hop(77, rate)]);
        }
    }

    #[test]
    fn what_the_encoding_cannot_carry_is_rounded_down_cut_or_bounded() {
        let mut stack = IntStack::default();
        stack.push(&IntHop {
            port: 0xab12_3456,
            at: Timestamp::from_nanos(u64::MAX),
            tx_bytes: (1 << 48) + 5,
            queue_bytes: 31,
            rate: Rate::from_bps(123_456_789),
        });
        stack.push(&IntHop { queue_bytes: u64::MAX, rate: Rate::from_bps(u64::MAX), ..hop(1, Rate::ZERO) });
        let [first, second] = stack.hops() else { panic!("two records") };
        assert_eq!((first.port, first.at, first.tx_bytes), (0x12_3456, Timestamp::from_nanos((1 << 48) - 1), 5));
        assert_eq!((first.queue_bytes, first.rate), (16, Rate::from_bps(123_400_000)));
        assert_eq!(second.queue_bytes, ((1 << 24) - 1) * 16);
        assert_eq!(second.rate, Rate::from_bps(4_095_000_000_000_000_000));
    }

    #[test]
    fn ports_that_find_the_stack_full_are_counted_up_to_fifteen() {
        let mut stack = IntStack::default();
        for port in 0..30 {
            stack.push(&hop(port, Rate::from_gbps(100)));
        }
        assert_eq!(stack.hops().iter().map(|hop| hop.port).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
        assert_eq!((stack.missed(), stack.prefix_len()), (15, 2 + 8 * 20));
        stack.clear();
        assert_eq!(stack, IntStack::default());
    }
}

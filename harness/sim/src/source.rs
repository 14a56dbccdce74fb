//! What an application has to send: a byte stream cut into chunks, with what was lost sent again.

use std::collections::VecDeque;

use cc_algos::{Span, Timestamp};
use transport::flow::RangeSet;

use crate::spec::Load;

/// A range of the stream that one packet carries: the engine's content token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) kind: ChunkKind,
}

/// Why a packet is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkKind {
    /// Bytes never sent before.
    New,
    /// Bytes sent again.
    Again,
    /// Parity of a block: no bytes of the stream, but made of those of this range.
    Parity,
    /// No bytes at all: a ping that probes.
    Ping,
}

impl Chunk {
    /// A packet that only asks for an acknowledgement.
    pub(crate) const PING: Self = Self { offset: 0, len: 0, kind: ChunkKind::Ping };

    pub(crate) const fn end(&self) -> u64 {
        self.offset + self.len as u64
    }
}

/// The sending application of one flow.
#[derive(Debug)]
pub(crate) struct Source {
    load: Load,
    started: Timestamp,
    stop: Option<Timestamp>,
    /// Bytes of a full chunk.
    payload: u32,
    /// Bytes the application has produced so far.
    produced: u64,
    /// First byte never sent.
    next: u64,
    /// End of what a coded block was promised: a stop does not take it back.
    promised: u64,
    acked: RangeSet,
    /// Numbers in `acked`.
    acked_bytes: u64,
    again: VecDeque<Chunk>,
}

/// More than any run can carry, and far from overflow.
const ENDLESS: u64 = 1 << 62;

impl Source {
    pub(crate) fn new(load: Load, started: Timestamp, stop: Option<Timestamp>, payload: u32) -> Self {
        let produced = match load {
            Load::Bytes(bytes) => bytes,
            Load::Unlimited => ENDLESS,
            Load::OnOff { burst, .. } => burst,
        };
        Self {
            load,
            started,
            stop,
            payload,
            produced,
            next: 0,
            promised: 0,
            acked: RangeSet::default(),
            acked_bytes: 0,
            again: VecDeque::new(),
        }
    }

    /// Lets the application produce what it has produced by `now`.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        let stopped = self.stop.filter(|stop| *stop <= now);
        match (self.load, stopped) {
            (Load::Bytes(_), None) | (Load::Unlimited, None) => {}
            (Load::OnOff { burst, period }, _) => {
                // A burst that falls on the stop itself does not happen.
                let last = stopped.map_or(now, |stop| stop.saturating_sub(Span::from_nanos(1)));
                let bursts = last.saturating_since(self.started).as_nanos() / period.as_nanos().max(1) + 1;
                self.produced = self.produced.max(burst.saturating_mul(bursts));
            }
            (Load::Bytes(_) | Load::Unlimited, Some(_)) => {
                self.produced = self.produced.min(self.next.max(self.promised));
            }
        }
    }

    /// When the application will next produce something or stop, after `now`.
    pub(crate) fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        let stop = self.stop.filter(|stop| *stop > now);
        match self.load {
            Load::Bytes(_) | Load::Unlimited => stop,
            Load::OnOff { period, .. } => {
                if self.stop.is_some() && stop.is_none() {
                    return None;
                }
                let nanos = period.as_nanos().max(1);
                let bursts = now.saturating_since(self.started).as_nanos() / nanos + 1;
                Some(self.started + Span::from_nanos(nanos.saturating_mul(bursts)))
            }
        }
    }

    /// Reads a little of each part; see [`SendingEnd::touch`](crate::endpoint::SendingEnd::touch).
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        self.next ^ self.acked.range_count() as u64 ^ self.again.len() as u64
    }

    /// What the next packet carries: first what was lost, then what is new.
    pub(crate) fn peek(&mut self) -> Option<Chunk> {
        while let Some(chunk) = self.again.front() {
            if self.acked.missing(chunk.offset..chunk.end()).next().is_some() {
                return Some(*chunk);
            }
            self.again.pop_front();
        }
        self.peek_new()
    }

    /// The next bytes never sent.
    pub(crate) fn peek_new(&self) -> Option<Chunk> {
        let len = (self.produced - self.next).min(u64::from(self.payload)) as u32;
        (len > 0).then_some(Chunk { offset: self.next, len, kind: ChunkKind::New })
    }

    /// How many packets the bytes never sent fill.
    pub(crate) fn available(&self) -> u64 {
        (self.produced - self.next).div_ceil(u64::from(self.payload))
    }

    /// So many packets of bytes never sent will surely be sent.
    pub(crate) fn promise(&mut self, packets: u8) {
        let end = self.next.saturating_add(u64::from(packets) * u64::from(self.payload));
        self.promised = end.min(self.produced);
    }

    /// Bytes of a full chunk.
    pub(crate) const fn payload(&self) -> u32 {
        self.payload
    }

    /// The chunk that [`Source::peek`] gave was sent.
    pub(crate) fn sent(&mut self, chunk: &Chunk) {
        match chunk.kind {
            ChunkKind::New => self.next = chunk.end(),
            ChunkKind::Again => {
                self.again.pop_front();
            }
            ChunkKind::Parity | ChunkKind::Ping => {}
        }
    }

    /// The oldest bytes that were sent and not acknowledged, for a probe when nothing else is to be sent.
    pub(crate) fn oldest_unacknowledged(&self) -> Option<Chunk> {
        let gap = self.acked.missing(0..self.next).next()?;
        let len = (gap.end - gap.start).min(u64::from(self.payload)) as u32;
        Some(Chunk { offset: gap.start, len, kind: ChunkKind::Again })
    }

    /// Whether a chunk ends the stream, as far as its sender knows when it sends it.
    pub(crate) fn is_last(&self, chunk: &Chunk) -> bool {
        matches!(self.load, Load::Bytes(_)) && chunk.end() == self.produced
    }

    /// A packet with this chunk was acknowledged.
    pub(crate) fn acknowledged(&mut self, chunk: &Chunk) {
        if chunk.len > 0 && chunk.kind != ChunkKind::Parity {
            self.acked_bytes += self.acked.insert(chunk.offset..chunk.end());
        }
    }

    /// A packet with this chunk was declared lost.
    pub(crate) fn lost(&mut self, chunk: &Chunk) {
        if self.acked.missing(chunk.offset..chunk.end()).next().is_some() {
            self.again.push_back(Chunk { kind: ChunkKind::Again, ..*chunk });
        }
    }

    /// Whether all that the application will ever produce was acknowledged.
    pub(crate) fn is_done(&self, now: Timestamp) -> bool {
        let more_to_come = match self.load {
            Load::Bytes(_) => false,
            Load::Unlimited | Load::OnOff { .. } => self.stop.is_none_or(|stop| stop > now),
        };
        !more_to_come && self.produced == self.next && self.acked_bytes == self.produced
    }

    /// How much there is to move, if that is known from the start. What a stopped flow comes to is no size: it lasts as long
    /// as it was let.
    pub(crate) const fn size(&self) -> Option<u64> {
        match self.load {
            Load::Bytes(_) => Some(self.produced),
            Load::Unlimited | Load::OnOff { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::ZERO + Span::from_millis(millis)
    }

    fn send_all(source: &mut Source) -> Vec<Chunk> {
        std::iter::from_fn(|| {
            let chunk = source.peek()?;
            source.sent(&chunk);
            Some(chunk)
        })
        .collect()
    }

    #[test]
    fn lost_chunks_go_first_and_acknowledged_ones_not_again() {
        let mut source = Source::new(Load::Bytes(3_500), at(0), None, 1_000);
        let chunks = send_all(&mut source);
        assert_eq!(chunks.iter().map(|chunk| chunk.len).collect::<Vec<_>>(), [1_000, 1_000, 1_000, 500]);
        source.lost(&chunks[0]);
        source.lost(&chunks[2]);
        source.acknowledged(&chunks[0]); // spuriously lost
        let again = send_all(&mut source);
        assert_eq!(again, [Chunk { kind: ChunkKind::Again, ..chunks[2] }]);
        [chunks[1], again[0]].iter().for_each(|chunk| source.acknowledged(chunk));
        assert!(!source.is_done(at(1)));
        assert_eq!(source.oldest_unacknowledged(), Some(Chunk { kind: ChunkKind::Again, ..chunks[3] }));
        source.acknowledged(&chunks[3]);
        assert!(source.is_done(at(1)));
        assert_eq!(source.oldest_unacknowledged(), None);
    }

    #[test]
    fn bursts_appear_on_their_period_until_the_stop() {
        let load = Load::OnOff { burst: 100, period: Span::from_millis(10) };
        let mut source = Source::new(load, at(5), Some(at(25)), 1_000);
        let mut sizes = vec![];
        let mut now = at(5);
        loop {
            source.advance(now);
            sizes.push(send_all(&mut source).iter().map(|chunk| chunk.len).sum::<u32>());
            let Some(next) = source.next_change(now) else { break };
            now = next;
        }
        // Bursts at 5 and 15 ms; the one due at 25 ms falls on the stop.
        assert_eq!(sizes.iter().sum::<u32>(), 200);
        assert_eq!(source.produced, 200);
    }

    #[test]
    fn an_endless_source_ends_with_what_it_sent_before_its_stop() {
        let mut source = Source::new(Load::Unlimited, at(0), Some(at(10)), 1_000);
        let chunk = source.peek().unwrap();
        source.sent(&chunk);
        source.advance(at(10));
        assert_eq!(source.peek(), None);
        assert_eq!((source.produced, source.size()), (1_000, None));
        assert!(!source.is_done(at(10)), "the last chunk is still out");
        source.acknowledged(&chunk);
        assert!(source.is_done(at(10)));
    }
}

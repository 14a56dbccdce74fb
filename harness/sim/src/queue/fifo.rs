//! First in, first out.

use std::collections::VecDeque;

use super::{Capacity, Counts, Discipline, Queued};
use crate::time::SimTime;

/// Packets in order, with their bytes counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Fifo {
    packets: VecDeque<Queued>,
    bytes: u64,
}

impl Fifo {
    pub(super) fn push(&mut self, packet: Queued) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    pub(super) fn pop(&mut self) -> Option<Queued> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    pub(super) fn pop_newest(&mut self) -> Option<Queued> {
        let packet = self.packets.pop_back()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    pub(super) fn head(&self) -> Option<&Queued> {
        self.packets.front()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn packets(&self) -> u64 {
        self.packets.len() as u64
    }

    pub(super) fn fits(&self, capacity: Capacity, packet: &Queued) -> bool {
        capacity.fits(self.bytes, self.packets(), packet.bytes)
    }
}

/// First in, first out; what does not fit is refused.
#[derive(Debug)]
pub struct DropTail {
    queue: Fifo,
    capacity: Capacity,
    counts: Counts,
}

impl DropTail {
    /// An empty queue.
    pub fn new(capacity: Capacity) -> Self {
        Self { queue: Fifo::default(), capacity, counts: Counts::default() }
    }
}

impl Discipline for DropTail {
    fn enqueue(&mut self, _now: SimTime, packet: Queued, dropped: &mut Vec<Queued>) {
        if self.queue.fits(self.capacity, &packet) {
            self.queue.push(packet);
        } else {
            self.counts.overflowed += 1;
            dropped.push(packet);
        }
    }

    fn dequeue(&mut self, _now: SimTime, _dropped: &mut Vec<Queued>) -> Option<Queued> {
        self.queue.pop()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::packet;
    use super::*;

    #[test]
    fn capacity_counts_bytes_or_packets() {
        for (capacity, fit) in [(Capacity::Bytes(2_999), 1), (Capacity::Bytes(3_000), 2), (Capacity::Packets(3), 3)] {
            let (mut queue, mut dropped) = (DropTail::new(capacity), Vec::new());
            for handle in 0..5 {
                queue.enqueue(SimTime::ZERO, packet(handle), &mut dropped);
            }
            assert_eq!(queue.packets(), fit, "{capacity:?}");
            assert_eq!(queue.bytes(), fit * 1_500);
            assert_eq!(dropped.first().map(|packet| u64::from(packet.handle)), Some(fit));
            assert_eq!(queue.counts().overflowed, 5 - fit);
        }
    }

    #[test]
    fn a_burst_of_one_more_than_the_capacity_fits_when_departures_come_first() {
        let (mut queue, mut dropped) = (DropTail::new(Capacity::Packets(4)), Vec::new());
        for handle in 0..4 {
            queue.enqueue(SimTime::ZERO, packet(handle), &mut dropped);
        }
        // At the instant of the fifth arrival the first packet leaves: its departure is handled before.
        assert_eq!(queue.dequeue(SimTime::ZERO, &mut dropped).map(|packet| packet.handle), Some(0));
        queue.enqueue(SimTime::ZERO, packet(4), &mut dropped);
        assert!(dropped.is_empty());
    }
}

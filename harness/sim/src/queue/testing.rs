//! What the tests of several disciplines share.

use cc_algos::{Ecn, Rate, Span};

use super::{Discipline, Queued};
use crate::link::{Server, ServiceSpec};
use crate::time::SimTime;

/// A packet of 1 500 bytes that came at time zero.
pub(super) fn packet(handle: u32) -> Queued {
    Queued { handle, bytes: 1_500, header_bytes: 1_500, flow: 0, ecn: Ecn::NotEct, arrived: SimTime::ZERO }
}

pub(super) fn millis(millis: u64) -> SimTime {
    SimTime::ZERO + Span::from_millis(millis)
}

/// What came out of a [`Port`], when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Out {
    Sent(Queued),
    Dropped(Queued),
}

/// A discipline in front of a link: packets are offered at times, departures come before arrivals.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) discipline: Box<dyn Discipline>,
    server: Server,
    /// The packet in service and when it ends.
    serving: Option<(SimTime, Queued)>,
    pub(super) log: Vec<(SimTime, Out)>,
    dropped: Vec<Queued>,
}

impl Port {
    pub(super) fn new(discipline: Box<dyn Discipline>, rate: Rate) -> Self {
        let server = Server::new(&ServiceSpec::Fixed(rate));
        Self { discipline, server, serving: None, log: Vec::new(), dropped: Vec::new() }
    }

    /// Departures up to and including `now`.
    pub(super) fn advance(&mut self, now: SimTime) {
        while let Some((end, packet)) = self.serving.filter(|serving| serving.0 <= now) {
            self.log.push((end, Out::Sent(packet)));
            self.serving = None;
            self.start(end);
        }
    }

    pub(super) fn offer(&mut self, now: SimTime, packet: Queued) {
        self.advance(now);
        self.discipline.enqueue(now, Queued { arrived: now, ..packet }, &mut self.dropped);
        self.note_drops(now);
        if self.serving.is_none() {
            self.start(now);
        }
    }

    fn start(&mut self, now: SimTime) {
        let next = self.discipline.dequeue(now, &mut self.dropped);
        self.note_drops(now);
        if let Some(packet) = next {
            let end = self.server.serve(packet.arrived, packet.bytes).unwrap_or(SimTime::MAX);
            self.serving = Some((end, packet));
        }
    }

    fn note_drops(&mut self, now: SimTime) {
        self.log.extend(self.dropped.drain(..).map(|packet| (now, Out::Dropped(packet))));
    }

    pub(super) fn sent(&self) -> impl Iterator<Item = (SimTime, Queued)> + '_ {
        self.log.iter().filter_map(|entry| match entry.1 {
            Out::Sent(packet) => Some((entry.0, packet)),
            Out::Dropped(_) => None,
        })
    }

    pub(super) fn drops(&self) -> impl Iterator<Item = SimTime> + '_ {
        self.log.iter().filter(|entry| matches!(entry.1, Out::Dropped(_))).map(|entry| entry.0)
    }
}

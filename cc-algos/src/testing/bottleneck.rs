//! A flow over one drop-tail queue, clocked by its acknowledgements: delay follows the window, as on a real path.

use std::collections::VecDeque;

use super::{Driver, Fate};
use crate::controller::Controller;
use crate::units::{Span, Timestamp};

/// What became of a packet in the queue, and when its acknowledgement arrives.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: Timestamp,
    fate: Fate,
}

/// A [`Driver`] whose packets pass a queue of fixed rate. Whatever the window allows leaves at once; pacing is not modelled.
#[derive(Debug)]
pub(crate) struct Bottleneck<C> {
    pub(crate) flow: Driver<C>,
    /// RTT of a packet that finds the queue empty, its own service included.
    pub(crate) base: Span,
    /// Time to serve one packet.
    pub(crate) service: Span,
    /// Packets that the queue holds; more are lost.
    pub(crate) capacity: u64,
    /// Packets found in the queue from which on a packet is marked.
    pub(crate) mark_from: u64,
    free_at: Timestamp,
    due: VecDeque<Due>,
}

impl<C: Controller> Bottleneck<C> {
    /// A queue without end that marks nothing and serves `product` packets in a base RTT of `base`.
    pub(crate) fn new(controller: C, base: Span, product: u64) -> Self {
        Self {
            flow: Driver::new(controller),
            base,
            service: base.mul_div(1, product),
            capacity: u64::MAX,
            mark_from: u64::MAX,
            free_at: Timestamp::ZERO,
            due: VecDeque::new(),
        }
    }

    /// Packets in the queue, the one in service included.
    pub(crate) fn queue(&self) -> u64 {
        self.free_at.saturating_since(self.flow.now).as_nanos().div_ceil(self.service.as_nanos())
    }

    fn fill(&mut self) {
        loop {
            let sent = self.flow.in_flight.len();
            let room = self.flow.controller.window().saturating_sub(sent as u64 * self.flow.mtu());
            if room < self.flow.mtu() {
                return;
            }
            let found = self.queue();
            self.flow.send(1);
            let begins = self.free_at.max(self.flow.now);
            let fate = match found {
                found if found >= self.capacity => Fate::Lost,
                found if found >= self.mark_from => Fate::Marked,
                _ => Fate::Acked,
            };
            if fate != Fate::Lost {
                self.free_at = begins + self.service;
            }
            // A lost packet shows when the one behind it would have been acknowledged.
            self.due.push_back(Due { at: begins + self.base, fate });
        }
    }

    /// Runs for `span`, and calls `watch` after each acknowledgement.
    pub(crate) fn run(&mut self, span: Span, mut watch: impl FnMut(&Self)) {
        let end = self.flow.now + span;
        loop {
            self.fill();
            match self.due.front().copied() {
                Some(due) if due.at <= end => {
                    self.due.pop_front();
                    let sent_at = self.flow.in_flight[0].sent_at;
                    self.flow.now = due.at;
                    self.flow.rtt = due.at.saturating_since(sent_at);
                    self.flow.report(&[due.fate]);
                    watch(self);
                }
                _ => {
                    self.flow.now = end;
                    return;
                }
            }
        }
    }

    /// Window in whole packets and pacing rate in whole kb/s (0: none) at the end of each of `steps` spans.
    pub(crate) fn curve(&mut self, step: Span, steps: usize) -> String {
        let points = (0..steps).map(|_| {
            self.run(step, |_| {});
            let rate = self.flow.controller.pacing_rate().map_or(0, |rate| rate.as_bps() / 1_000);
            format!("{}@{rate}", self.flow.packets())
        });
        points.collect::<Vec<_>>().join(" ")
    }
}

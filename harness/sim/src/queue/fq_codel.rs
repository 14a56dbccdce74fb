//! FQ-CoDel, flow queues each under CoDel: RFC 8290.
//!
//! A hash puts each flow into one of many queues. Queues take turns (deficit round robin): one with credit left sends,
//! and one without gets a *quantum* of bytes and goes to the end of the line of *old* queues. A queue that was empty is
//! *new* and goes before all old ones until its first quantum is used up, so that sparse flows hardly wait. A new queue
//! that runs empty passes through the old line once before it can be new again (section 4.2). When all is full, the
//! queue with the most bytes loses packets from its head.
//!
//! | parameter | default | from |
//! |---|---|---|
//! | `queues` | 1 024 | RFC 8290, section 5.2.5 |
//! | `quantum` | 1 514 bytes | section 5.2.4: one packet of Ethernet |
//! | `capacity` | 10 240 packets | section 5.2.3 |
//! | `batch` | 64 packets | section 4.1: half of the fattest queue, up to 64 packets |
//! | `codel` | 5 ms, 100 ms, ECN | RFC 8289; Linux, `tc-fq_codel(8)` |
//!
//! Differences from the reference:
//!
//! | what | RFC 8290 | Linux | here |
//! |---|---|---|---|
//! | hash | of addresses, protocol and ports, seeded | the kernel's | of [`Queued::flow`], seeded |
//! | overflow | half the packets of the fattest queue, ≤ 64 | half its bytes, ≤ 64 packets | as the RFC, but at least one |
//! | CoDel's count on overflow | – | raised by the packets dropped | untouched |
//! | turn ends at | credit below zero | credit not above zero | as Linux |
//! | CoDel's MTU test | bytes of all queues (RFC 8289, section 4.4) | the same | the same |
//! | new queue run empty | to the end of the old line | removed if no old queue is there | as the RFC |

use std::collections::VecDeque;

use rand_core::Rng;

use super::codel::{CodelParameters, Controller, Work};
use super::fifo::Fifo;
use super::{Capacity, Counts, Discipline, Queued};
use crate::error::{SpecError, ensure};
use crate::rng::{self, Random};
use crate::time::SimTime;

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelSpec {
    /// Number of queues that flows are hashed to.
    pub queues: u32,
    /// Bytes a queue may send in its turn.
    pub quantum: u32,
    /// How much all queues hold together.
    pub capacity: Capacity,
    /// Most packets dropped at once when all is full.
    pub batch: u32,
    /// The controller of each queue.
    pub codel: CodelParameters,
}

impl Default for FqCodelSpec {
    fn default() -> Self {
        Self {
            queues: 1_024,
            quantum: 1_514,
            capacity: Capacity::Packets(10_240),
            batch: 64,
            codel: CodelParameters::default(),
        }
    }
}

impl FqCodelSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If the number of queues is not 1 to 65 536, or quantum, capacity, batch or a parameter of CoDel is zero.
    pub fn validate(&self) -> Result<(), SpecError> {
        ensure((1..=65_536).contains(&self.queues), "fq-codel queues", self.queues, "1 to 65536")?;
        ensure(self.quantum > 0, "fq-codel quantum", self.quantum, "at least 1 byte")?;
        ensure(self.batch > 0, "fq-codel drop batch", self.batch, "at least 1 packet")?;
        self.capacity.validate()?;
        self.codel.validate()
    }
}

/// One flow queue.
#[derive(Clone, Debug, Default)]
struct FlowQueue {
    fifo: Fifo,
    controller: Controller,
    /// Bytes it may still send in this turn.
    credit: i64,
    /// Whether it stands in a line.
    in_line: bool,
}

/// Flow queues under CoDel.
#[derive(Debug)]
pub struct FqCodel {
    spec: FqCodelSpec,
    seed: u64,
    queues: Vec<FlowQueue>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    bytes: u64,
    packets: u64,
    counts: Counts,
}

impl FqCodel {
    /// Empty queues; the hash is seeded from `random`.
    pub fn new(spec: FqCodelSpec, mut random: Random) -> Self {
        let queues = vec![FlowQueue::default(); spec.queues as usize];
        let (new, old) = (VecDeque::new(), VecDeque::new());
        Self { spec, seed: random.next_u64(), queues, new, old, bytes: 0, packets: 0, counts: Counts::default() }
    }

    fn index_of(&self, flow: u32) -> u32 {
        // The upper half of the hash, scaled to the number of queues.
        let hash = rng::mix(self.seed ^ u64::from(flow)) >> 32;
        ((hash * u64::from(self.spec.queues)) >> 32) as u32
    }

    /// Drops half the packets of the fattest queue from its head, but no more than a batch.
    fn drop_from_fattest(&mut self, dropped: &mut Vec<Queued>) {
        let Some(fattest) = self.queues.iter_mut().max_by_key(|queue| queue.fifo.bytes()) else { return };
        let victims = (fattest.fifo.packets() / 2).clamp(1, u64::from(self.spec.batch));
        for victim in (0..victims).map_while(|_| fattest.fifo.pop()) {
            self.bytes -= u64::from(victim.bytes);
            self.packets -= 1;
            self.counts.overflowed += 1;
            dropped.push(victim);
        }
    }
}

impl Discipline for FqCodel {
    fn enqueue(&mut self, _now: SimTime, packet: Queued, dropped: &mut Vec<Queued>) {
        let index = self.index_of(packet.flow);
        let queue = &mut self.queues[index as usize];
        if !queue.in_line {
            queue.in_line = true;
            queue.credit = i64::from(self.spec.quantum);
            self.new.push_back(index);
        }
        queue.fifo.push(packet);
        self.bytes += u64::from(packet.bytes);
        self.packets += 1;
        while self.spec.capacity.is_exceeded(self.bytes, self.packets) {
            self.drop_from_fattest(dropped);
        }
    }

    fn dequeue(&mut self, now: SimTime, dropped: &mut Vec<Queued>) -> Option<Queued> {
        loop {
            let is_new = !self.new.is_empty();
            let index = if is_new { *self.new.front()? } else { *self.old.front()? };
            let line = if is_new { &mut self.new } else { &mut self.old };
            let queue = &mut self.queues[index as usize];
            if queue.credit <= 0 {
                queue.credit += i64::from(self.spec.quantum);
                line.pop_front();
                self.old.push_back(index);
                continue;
            }
            let (bytes, packets) = (queue.fifo.bytes(), queue.fifo.packets());
            let FlowQueue { fifo, controller, .. } = queue;
            let parameters = &self.spec.codel;
            let bytes_elsewhere = self.bytes - bytes;
            let counts = &mut self.counts;
            let sent = controller.dequeue(Work { now, parameters, queue: fifo, bytes_elsewhere, counts, dropped });
            self.bytes -= bytes - queue.fifo.bytes();
            self.packets -= packets - queue.fifo.packets();
            if let Some(packet) = sent {
                queue.credit -= i64::from(packet.bytes);
                return Some(packet);
            }
            line.pop_front();
            if is_new {
                self.old.push_back(index);
            } else {
                queue.in_line = false;
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use cc_algos::{Ecn, Rate};

    use super::super::testing::{Port, millis, packet};
    use super::*;

    fn fq(spec: FqCodelSpec) -> FqCodel {
        FqCodel::new(spec, rng::stream(1, "fq", 0))
    }

    fn of(flow: u32, bytes: u32) -> Queued {
        Queued { flow, bytes, ..packet(0) }
    }

    /// The flows of the packets in the order of departure, all offered at time zero.
    fn order(spec: FqCodelSpec, offered: &[Queued]) -> Vec<u32> {
        let (mut queue, mut dropped) = (fq(spec), Vec::new());
        for packet in offered {
            queue.enqueue(SimTime::ZERO, *packet, &mut dropped);
        }
        core::iter::from_fn(|| queue.dequeue(SimTime::ZERO, &mut dropped)).map(|packet| packet.flow).collect()
    }

    #[test]
    fn a_sparse_flow_goes_before_a_backlog() {
        let mut offered = vec![of(1, 1_500); 20];
        offered.push(of(2, 100));
        // The bulk flow is new too and came first: it uses up its first quantum (1 514 B: two packets, as any credit
        // allows a whole packet). Then the newcomer.
        assert_eq!(order(FqCodelSpec::default(), &offered)[..4], [1, 1, 2, 1]);
    }

    #[test]
    fn flows_share_bytes_by_quantum_whatever_their_packets() {
        let mut port = Port::new(Box::new(fq(FqCodelSpec::default())), Rate::from_mbps(12));
        for _ in 0..1_000 {
            port.offer(SimTime::ZERO, of(1, 1_500));
        }
        for _ in 0..3_000 {
            port.offer(SimTime::ZERO, of(2, 500));
        }
        port.advance(millis(500));
        let bytes =
            |flow| port.sent().filter(|sent| sent.1.flow == flow).map(|sent| u64::from(sent.1.bytes)).sum::<u64>();
        // Both backlogged: in turns they never differ by more than a quantum and a packet each way.
        assert!(bytes(1).abs_diff(bytes(2)) <= 2 * (1_514 + 1_500), "{} {}", bytes(1), bytes(2));
        assert!(bytes(1) + bytes(2) >= 748_500);
    }

    #[test]
    fn a_new_queue_run_empty_passes_through_the_old_line_once() {
        let (mut queue, mut dropped) = (fq(FqCodelSpec::default()), Vec::new());
        for _ in 0..10 {
            queue.enqueue(SimTime::ZERO, of(1, 1_514), &mut dropped);
        }
        queue.enqueue(SimTime::ZERO, of(2, 200), &mut dropped);
        let mut next = |queue: &mut FqCodel| queue.dequeue(SimTime::ZERO, &mut dropped).map(|packet| packet.flow);
        // The quantum is one packet here: bulk, then the newcomer, then bulk again, which finds the newcomer empty.
        assert_eq!([next(&mut queue), next(&mut queue), next(&mut queue)], [Some(1), Some(2), Some(1)]);
        // It comes back while it stands in the old line, behind the bulk flow: not before its turn.
        queue.enqueue(SimTime::ZERO, of(2, 200), &mut Vec::new());
        assert_eq!([next(&mut queue), next(&mut queue)], [Some(2), Some(1)]);
    }

    #[test]
    fn a_flow_that_comes_back_at_once_does_not_overtake_the_turn_of_a_backlog() {
        // A quantum of two packets: the bulk flow has one left of its second turn when the sparse flow comes back.
        let spec = FqCodelSpec { quantum: 3_028, ..FqCodelSpec::default() };
        let (mut queue, mut dropped) = (fq(spec), Vec::new());
        for _ in 0..10 {
            queue.enqueue(SimTime::ZERO, of(1, 1_514), &mut dropped);
        }
        queue.enqueue(SimTime::ZERO, of(2, 200), &mut dropped);
        let mut take = |queue: &mut FqCodel| queue.dequeue(SimTime::ZERO, &mut dropped).map(|packet| packet.flow);
        assert_eq!([(); 4].map(|()| take(&mut queue)), [Some(1), Some(1), Some(2), Some(1)]);
        queue.enqueue(SimTime::ZERO, of(2, 200), &mut Vec::new());
        assert_eq!([(); 2].map(|()| take(&mut queue)), [Some(1), Some(2)]);
    }

    #[test]
    fn a_late_packet_alone_in_its_queue_is_signalled_while_others_keep_the_link_busy() {
        let (target, interval) = (cc_algos::Span::from_micros(10), cc_algos::Span::from_micros(100));
        let codel = CodelParameters { target, interval, ..CodelParameters::default() };
        let (mut queue, mut dropped) = (fq(FqCodelSpec { codel, ..FqCodelSpec::default() }), Vec::new());
        for _ in 0..100 {
            queue.enqueue(SimTime::ZERO, of(2, 1_500), &mut dropped);
        }
        // One packet each ms, taken one ms later: always late and always alone.
        let mut marked = 0;
        for ms in 0..20 {
            queue.enqueue(millis(ms), Queued { arrived: millis(ms), ecn: Ecn::Ect0, ..of(1, 100) }, &mut dropped);
            while let Some(packet) = queue.dequeue(millis(ms + 1), &mut dropped) {
                if packet.flow == 1 {
                    marked += u32::from(packet.ecn == Ecn::Ce);
                    break;
                }
            }
        }
        assert!(marked > 0);
    }

    #[test]
    fn overflow_takes_half_of_the_fattest_queue_up_to_a_batch_from_its_head() {
        let spec = FqCodelSpec { capacity: Capacity::Packets(20), ..FqCodelSpec::default() };
        let (mut queue, mut dropped) = (fq(spec), Vec::new());
        for handle in 0..18 {
            queue.enqueue(SimTime::ZERO, Queued { handle, ..of(1, 1_500) }, &mut dropped);
        }
        for handle in 100..103 {
            queue.enqueue(SimTime::ZERO, Queued { handle, ..of(2, 1_500) }, &mut dropped);
        }
        let victims: Vec<_> = dropped.iter().map(|packet| packet.handle).collect();
        assert_eq!(victims, (0..9).collect::<Vec<_>>());
        assert_eq!((queue.packets(), queue.counts().overflowed), (12, 9));
    }

    #[test]
    fn each_queue_is_controlled_by_itself() {
        // 12 Mb/s: a flow of two packets per ms stands, one of 1 packet each 10 ms does not and is never punished.
        let mut port = Port::new(Box::new(fq(FqCodelSpec::default())), Rate::from_mbps(12));
        for ms in 0..1_000 {
            let ecn = Ecn::Ect0;
            port.offer(millis(ms), Queued { ecn, ..of(1, 1_500) });
            port.offer(millis(ms), Queued { ecn, ..of(1, 1_500) });
            if ms % 10 == 0 {
                port.offer(millis(ms), Queued { ecn, ..of(2, 300) });
            }
        }
        let marked = |flow| port.sent().filter(|sent| sent.1.flow == flow && sent.1.ecn == Ecn::Ce).count();
        assert!(marked(1) > 10);
        assert_eq!(marked(2), 0);
        // The sparse flow waits for the packet in service and at most a quantum more: 1 + 2 ms, and its own 0.2 ms.
        let late = port.sent().filter(|sent| sent.1.flow == 2 && sent.0.picos_since(sent.1.arrived) > 3_200_000_000);
        assert_eq!(late.count(), 0);
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message = |spec: FqCodelSpec| spec.validate().unwrap_err().to_string();
        let spec = FqCodelSpec::default();
        assert_eq!(message(FqCodelSpec { queues: 0, ..spec }), "fq-codel queues is 0, expected 1 to 65536");
        assert!(message(FqCodelSpec { quantum: 0, ..spec }).contains("quantum"));
        assert!(message(FqCodelSpec { batch: 0, ..spec }).contains("batch"));
    }
}

//! Every algorithm of the registry: one packet sent, one acknowledged in a batch of its own, the window asked for.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use benches::cpu::CpuTime;
use cc_algos::controller::{
    Cause, Controller, DeliverySample, Feedback, Flight, PacketRecord, RttSample, SendState, Sent, Setup, Tally,
};
use cc_algos::{Rate, Registry, Span, Timestamp};
use criterion::Criterion;

const MTU: u64 = 1_500;
const RTT: Span = Span::from_millis(20);
/// 120 Mb/s.
const SPACING: Span = Span::from_micros(100);
/// One mark in so many packets keeps windows near a steady state.
const MARK_EVERY: u64 = 400;

/// Feeds a controller the acknowledgements of an endless, evenly spaced flow.
struct Loop {
    controller: Box<dyn Controller>,
    now: Timestamp,
    number: u64,
}

impl Loop {
    fn new(controller: Box<dyn Controller>) -> Self {
        Self { controller, now: Timestamp::ZERO + RTT, number: 0 }
    }

    fn turn(&mut self) -> u64 {
        let Self { controller, now, number } = self;
        *now += SPACING;
        *number += 1;
        let flight = flight(*number);
        let tag = controller.on_sent(&Sent::new(*now, *number + 200, MTU as u32), &flight);
        let sent_at = Timestamp::from_nanos(now.as_nanos() - RTT.as_nanos());
        let mut record = PacketRecord::new(*number, MTU as u32, sent_at);
        record.tag = tag;
        record.at_send = at_send(*number, sent_at);
        let acked = [record];
        let mut feedback = Feedback::new(*now, Cause::Ack);
        feedback.acked = &acked;
        feedback.newly_acked = Tally { bytes: MTU, packets: 1 };
        if number.is_multiple_of(MARK_EVERY) {
            feedback.newly_marked = Tally { bytes: MTU, packets: 1 };
        }
        feedback.prior_in_flight = flight.bytes + MTU;
        feedback.rtt = Some(RttSample { latest: RTT, ack_delay: Span::ZERO, sent_at });
        feedback.delivery = delivery(&record);
        controller.on_feedback(&feedback, &flight);
        controller.window()
    }
}

fn flight(number: u64) -> Flight<'static> {
    let mut flight = Flight::idle(MTU);
    flight.bytes = 199 * MTU;
    flight.packets = 199;
    flight.smoothed_rtt = Some(RTT);
    flight.latest_rtt = Some(RTT);
    flight.min_rtt = Some(RTT);
    flight.delivered = number * MTU;
    flight.next_packet_number = number + 201;
    flight
}

fn at_send(number: u64, sent_at: Timestamp) -> SendState {
    SendState {
        in_flight: 200 * MTU,
        delivered: number.saturating_sub(200) * MTU,
        delivered_at: sent_at,
        first_sent_at: Timestamp::from_nanos(sent_at.as_nanos().saturating_sub(RTT.as_nanos())),
        ..SendState::default()
    }
}

fn delivery(record: &PacketRecord) -> Option<DeliverySample> {
    let bytes = 200 * MTU;
    let rate = Rate::from_bytes_in(bytes, RTT)?;
    Some(DeliverySample::new(rate, bytes, 0, RTT, record.at_send))
}

fn main() -> Result<(), Box<dyn Error>> {
    let criterion =
        Criterion::default().warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(600));
    let mut criterion = criterion.sample_size(20).with_measurement(CpuTime).configure_from_args();
    let registry = Registry::builtin();
    for algorithm in registry.iter() {
        let setup = Setup::new(Timestamp::ZERO, MTU, 1);
        let mut turns = Loop::new(registry.build(algorithm.name(), &setup)?);
        criterion.bench_function(&format!("on_feedback/{}", algorithm.name()), |bencher| {
            bencher.iter(|| black_box(turns.turn()));
        });
    }
    criterion.final_summary();
    Ok(())
}

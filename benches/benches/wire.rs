//! Writing and parsing what every packet carries.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use benches::cpu::CpuTime;
use cc_algos::signal::EcnCounts;
use cc_algos::{PathId, Span};
use criterion::Criterion;
use transport::wire::{AckFrame, Header, PacketNumberRange, Reader, StreamHeader, WireError, Writer};

fn ack(ranges: u64) -> AckFrame {
    let ranges = (0..ranges).map(|gap| PacketNumberRange { first: 999_900 - 200 * gap, last: 1_000_000 - 200 * gap });
    AckFrame {
        largest: 1_000_000,
        ack_delay: Span::from_micros(12),
        ranges: ranges.collect(),
        ecn: Some(EcnCounts { ect0: 990_000, ect1: 0, ce: 123 }),
        ..AckFrame::default()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let criterion =
        Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    let mut criterion = criterion.sample_size(20).with_measurement(CpuTime).configure_from_args();
    for ranges in [1, 32] {
        time_ack(&mut criterion, ranges)?;
    }
    time_data_packet(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}

fn time_ack(criterion: &mut Criterion<CpuTime>, ranges: u64) -> Result<(), WireError> {
    let frame = ack(ranges);
    let mut buffer = [0; 1_200];
    criterion.bench_function(&format!("ack write/{ranges} ranges"), |bencher| {
        bencher.iter(|| {
            let mut writer = Writer::new(&mut buffer);
            black_box(&frame).write(&mut writer).map(|()| writer.offset())
        });
    });
    let mut writer = Writer::new(&mut buffer);
    frame.write(&mut writer)?;
    let bytes = writer.written().to_vec();
    let mut parsed = AckFrame::default();
    criterion.bench_function(&format!("ack parse/{ranges} ranges"), |bencher| {
        bencher.iter(|| parsed.parse_into(&mut Reader::new(black_box(&bytes))));
    });
    assert_eq!(parsed, frame, "what was parsed is what was written");
    Ok(())
}

fn time_data_packet(criterion: &mut Criterion<CpuTime>) -> Result<(), WireError> {
    let header = Header::data(0x1234_5678, PathId(0), 1_000_000);
    let largest_acked = Some(999_900);
    let stream = StreamHeader { id: 4, offset: 1_400_000_000, len: 1_400, fin: false };
    let write = |writer: &mut Writer<'_>| {
        black_box(&header).write(largest_acked, writer)?;
        black_box(&stream).write(writer)
    };
    let mut buffer = [0; 1_500];
    criterion.bench_function("data header write", |bencher| {
        bencher.iter(|| {
            let mut writer = Writer::new(&mut buffer);
            write(&mut writer).map(|()| writer.offset())
        });
    });
    let mut writer = Writer::new(&mut buffer);
    write(&mut writer)?;
    let bytes = writer.written().to_vec();
    criterion.bench_function("data header parse", |bencher| {
        bencher
            .iter(|| Header::parse(&mut Reader::new(black_box(&bytes))).map(|partial| partial.expand(largest_acked)));
    });
    Ok(())
}

//! Reading link traces and turning them from one shape into the other.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use benches::cpu::CpuTime;
use criterion::{Criterion, Throughput};
use traces::{ConvertOptions, Format, ReadOptions, Trace, WriteOptions, sample, samples};

fn main() -> Result<(), Box<dyn Error>> {
    let criterion =
        Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    let mut criterion = criterion.sample_size(20).with_measurement(CpuTime).configure_from_args();
    time_loading(&mut criterion)?;
    let convert = ConvertOptions::default();
    let lte = sample("lte")?;
    criterion.bench_function("traces/lte to opportunities", |bencher| {
        bencher.iter(|| black_box(&lte).to_opportunities(&convert));
    });
    criterion.final_summary();
    Ok(())
}

fn time_loading(criterion: &mut Criterion<CpuTime>) -> Result<(), Box<dyn Error>> {
    let read = ReadOptions::default();
    let mut mahimahi = Vec::new();
    sample("lte")?.write(&mut mahimahi, &WriteOptions::new(Format::Mahimahi))?;
    let csv = samples().iter().find(|sample| sample.name == "5g").map_or("", |sample| sample.csv);
    let mut group = criterion.benchmark_group("traces");
    for (name, bytes) in [("load mahimahi", mahimahi.as_slice()), ("load csv", csv.as_bytes())] {
        Trace::read(bytes, &read)?;
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| Trace::read(black_box(bytes), &read)));
    }
    group.finish();
    Ok(())
}

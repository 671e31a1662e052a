//! What a record costs: its checksum, its block, and the way back.
//!
//! Owns payloads that compress to about half. Must not touch files. Invariant: each measured call does what a writer or reader does for one record.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use dataset_rt_format::{
    Compression, FormatError, SampleId, ShardId, check_record, decode_record, encode_record,
};

const SIZES: [u32; 3] = [64, 16 * 1024, 1024 * 1024];

/// Bytes of which every other half is noise.
fn payload(bytes: u32) -> Vec<u8> {
    let mut state = 1_u64;
    (0..bytes)
        .map(|at| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let [.., high] = state.to_le_bytes();
            if at % 64 < 32 { high } else { 7 }
        })
        .collect()
}

fn records(criterion: &mut Criterion) -> Result<(), FormatError> {
    let sample = SampleId::new(5);
    for (name, compression) in [("raw", Compression::None), ("lz4", Compression::Lz4)] {
        let mut group = criterion.benchmark_group(format!("record-{name}"));
        for bytes in SIZES {
            let payload = payload(bytes);
            let mut scratch = Vec::new();
            let row =
                encode_record(&payload, compression, sample, &mut scratch)?.at(ShardId::new(0), 0);
            let stored = match scratch.get(..row.stored_bytes as usize) {
                Some(block) if row.stored_bytes < row.raw_bytes => block.to_vec(),
                _ => payload.clone(),
            };
            check_record(sample, &row, &stored)?;
            let mut out = vec![0; payload.len()];
            decode_record(sample, &row, &stored, &mut out)?;
            group.throughput(Throughput::Bytes(u64::from(bytes)));
            group.bench_function(BenchmarkId::new("encode", bytes), |bencher| {
                bencher
                    .iter(|| encode_record(black_box(&payload), compression, sample, &mut scratch));
            });
            group.bench_function(BenchmarkId::new("check", bytes), |bencher| {
                bencher.iter(|| check_record(sample, &row, black_box(&stored)));
            });
            group.bench_function(BenchmarkId::new("decode", bytes), |bencher| {
                bencher.iter(|| decode_record(sample, &row, black_box(&stored), &mut out));
            });
        }
        group.finish();
    }
    Ok(())
}

fn main() -> Result<(), FormatError> {
    let mut criterion = Criterion::default().configure_from_args();
    records(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}

//! What a draw costs, in each mode, over tables that fit a cache of the processor and that don't.
//!
//! Owns the tables. Must not measure their making. Invariant: positions go on from call to call, so that no draw is measured twice.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

use arrow_array::{Float64Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use criterion::{BenchmarkId, Criterion, Throughput};
use dataset_rt_format::{MetadataSchema, RowIndex, Seed};
use dataset_rt_sampler::{ActiveTable, DrawMode, DrawStream, Identity, Population, SamplingTables};

const ROWS: [u64; 2] = [1_000, 1_000_000];
const DRAWS: usize = 256;

fn equal(rows: u64) -> Result<SamplingTables, Box<dyn Error>> {
    let population = Population::unedited(Arc::new(Identity::new([rows])?))?;
    Ok(population.tables().clone())
}

fn weighted(rows: u64) -> Result<SamplingTables, Box<dyn Error>> {
    let fields = [
        Field::new("cache_id", DataType::UInt64, false),
        Field::new("sample_id", DataType::UInt64, false),
        Field::new("weight", DataType::Float64, false),
    ];
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let weights = (0..1000_u16).cycle().map(|row| 1.0 + f64::from(row));
    let weights = weights.take(usize::try_from(rows)?).collect::<Vec<_>>();
    let batch = RecordBatch::try_new(
        Arc::clone(&schema),
        vec![
            Arc::new(UInt64Array::from_value(0, weights.len())),
            Arc::new(UInt64Array::from_iter_values(0..rows)),
            Arc::new(Float64Array::from(weights)),
        ],
    )?;
    let table = ActiveTable {
        schema,
        batches: vec![batch],
    };
    let stored = MetadataSchema::from_columns(Vec::new())?;
    let population = Population::from_table(Arc::new(Identity::new([rows])?), &stored, table)?;
    Ok(population.tables().clone())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("draws");
    group.throughput(Throughput::Elements(DRAWS as u64));
    for rows in ROWS {
        let streams = [
            ("ordered", DrawMode::Ordered, equal(rows)?),
            ("uniform", DrawMode::WithReplacement, equal(rows)?),
            ("weighted", DrawMode::WithReplacement, weighted(rows)?),
            ("permutation", DrawMode::EachOnce, equal(rows)?),
        ];
        for (name, mode, tables) in streams {
            let mut stream = DrawStream::new(mode, Seed::new(7), tables);
            let mut drawn = vec![RowIndex::new(0); DRAWS];
            stream.rows_at(0, 1, &mut drawn)?;
            let mut position = 0;
            group.bench_function(BenchmarkId::new(name, rows), |bencher| {
                bencher.iter(|| {
                    position += DRAWS as u64;
                    stream.rows_at(black_box(position), 1, &mut drawn)
                });
            });
        }
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}

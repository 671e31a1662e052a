//! Reports on draws, beside the samples and columns of the table they were drawn from.
//!
//! Owns the meeting of the sampler's counts with the active table. Must not read payloads, move a cursor or add rows up. Invariant: counts and columns of one report
//! are those of one snapshot, row by row in table order. Text: `DRAWS.md`, "Reports".

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use dataset_rt_format::RowIndex;
use dataset_rt_sampler::{ActiveTable, SamplingReport};
use dataset_rt_storage::InterruptCheck;

use crate::error::ReaderError;
use crate::snapshot::Snapshot;

/// Columns that stand beside the column that a report is grouped by: it can't have one of these names.
const BESIDE_GROUPS: [&str; 4] = ["rows", "weight_share", "expected", "drawn"];

impl Snapshot {
    /// Share of the weights, expected and drawn counts of the positions `start..stop`, one line per row of the table.
    ///
    /// Columns are `row`, `cache_id`, `sample_id`, `weight_share`, `expected` and `drawn`; with `by`, the names of a column, they are that column and the last three.
    ///
    /// # Errors
    /// [`SamplerError::PositionRange`](dataset_rt_sampler::SamplerError::PositionRange); [`ReaderError::InvalidOption`] for a column that does not exist or has the name
    /// of one of the report's; [`StorageError::Cancelled`](dataset_rt_storage::StorageError::Cancelled); what the table is read with.
    ///
    /// # Cost
    /// One draw per position outside of whole cycles, and 48 bytes per row.
    pub fn sampling_report(
        &self,
        start: u64,
        stop: u64,
        by: Option<&str>,
        interrupt: &InterruptCheck,
    ) -> Result<ActiveTable, ReaderError> {
        let groups = by.map(|by| self.column(by)).transpose()?;
        let report = SamplingReport::of_range(self.stream(), start, stop, || {
            Ok::<_, ReaderError>(interrupt.check()?)
        })?;
        let counts = report.record_batch()?;
        match groups {
            None => self.beside_samples(&counts),
            Some((field, chunks)) => beside_groups(&field, &chunks, &counts),
        }
    }

    /// A column of the active table in its chunks, with the type it is handed out with.
    fn column(&self, name: &str) -> Result<(Field, Vec<ArrayRef>), ReaderError> {
        let refused = |expected| ReaderError::InvalidOption {
            option: "by",
            found: format!("{name:?}"),
            expected,
        };
        if BESIDE_GROUPS.contains(&name) {
            return Err(refused(
                "a column that has no name of the report's own (rows, weight_share, expected, drawn)",
            ));
        }
        let table = self.table()?;
        let index = table
            .schema
            .index_of(name)
            .map_err(|_| refused("a column of the active table"))?;
        let field = table.schema.field(index).clone();
        let chunks = table
            .batches
            .iter()
            .filter_map(|batch| batch.columns().get(index))
            .cloned();
        Ok((field, chunks.collect()))
    }

    fn beside_samples(&self, counts: &RecordBatch) -> Result<ActiveTable, ReaderError> {
        let rows = self.population().rows();
        let (mut caches, mut samples) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let (cache, sample) = self.population().sample_of(RowIndex::new(row))?;
            caches.push(u64::from(cache.get()));
            samples.push(sample.get());
        }
        let ids = [("cache_id", caches), ("sample_id", samples)].map(|(name, ids)| {
            let ids: ArrayRef = Arc::new(UInt64Array::from(ids));
            (Field::new(name, DataType::UInt64, false), ids)
        });
        let mut columns: Vec<_> = columns_of(counts).collect();
        columns.splice(1..1, ids);
        table_of(vec![columns])
    }
}

/// The counts in the chunks of the column that rows are grouped by.
fn beside_groups(
    field: &Field,
    chunks: &[ArrayRef],
    counts: &RecordBatch,
) -> Result<ActiveTable, ReaderError> {
    let rows: usize = chunks.iter().map(Array::len).sum();
    if rows != counts.num_rows() {
        let found = format!(
            "a table of {rows} rows, {} of which are drawn",
            counts.num_rows()
        );
        return Err(ReaderError::table(ArrowError::InvalidArgumentError(found)));
    }
    let mut first = 0;
    let batches = chunks.iter().map(|chunk| {
        let counts = counts.slice(first, chunk.len());
        first += chunk.len();
        std::iter::once((field.clone(), Arc::clone(chunk)))
            .chain(columns_of(&counts).skip(1))
            .collect()
    });
    table_of(batches.collect())
}

fn columns_of(batch: &RecordBatch) -> impl Iterator<Item = (Field, ArrayRef)> {
    let schema = batch.schema();
    let fields: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| field.as_ref().clone())
        .collect();
    fields.into_iter().zip(batch.columns().to_vec())
}

/// A table of batches of equal columns; there is at least one, for no table is empty.
fn table_of(batches: Vec<Vec<(Field, ArrayRef)>>) -> Result<ActiveTable, ReaderError> {
    let fields = batches.first().map_or_else(Vec::new, |columns| {
        columns.iter().map(|(field, _)| field.clone()).collect()
    });
    let schema = Arc::new(Schema::new(fields));
    let batches = batches.into_iter().map(|columns| {
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        RecordBatch::try_new(Arc::clone(&schema), columns).map_err(ReaderError::table)
    });
    Ok(ActiveTable {
        batches: batches.collect::<Result<_, _>>()?,
        schema,
    })
}

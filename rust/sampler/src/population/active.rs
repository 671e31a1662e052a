//! The active table: an edited table, validated whole, and what draws need of it.
//!
//! Owns the rules of a table and the order in which they are checked. Must not copy, reorder or drop columns:
//! the batches are kept as they came. Invariant: a [`Population`] that exists obeys every rule, and one that
//! is refused has changed nothing. Text: `DRAWS.md`, "Table".

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use dataset_rt_format::{CacheId, Digest128, MetadataSchema, RowIndex, SampleId};

use crate::draw::{CumulativeBuilder, MAX_ROWS, RowSamples, SamplingTables};
use crate::error::{SamplerError, TablePart, TableRule, WantedColumn};
use crate::population::columns::{BLOCK_ROWS, SamplingColumns, WEIGHT, weights};
use crate::population::digest::TableHasher;
use crate::population::identity::{GlobalSample, Identity};
use crate::population::scan::scan;

/// A table as the user sees it; the sampler keeps it and never looks at it again.
#[derive(Clone, Debug)]
pub struct ActiveTable {
    /// Its columns, in the user's order.
    pub schema: SchemaRef,
    /// Its rows, in the user's chunks.
    pub batches: Vec<RecordBatch>,
}

/// The samples that exist, the rows that are drawn, and how often.
///
/// # Cost
/// A clone shares everything.
#[derive(Clone, Debug)]
pub struct Population {
    identity: Arc<Identity>,
    tables: SamplingTables,
    digest: Digest128,
    table: Option<ActiveTable>,
}

impl Population {
    /// Every sample once, in the order of the caches, with equal weights.
    ///
    /// # Errors
    /// [`SamplerError::EmptyTable`] and [`SamplerError::TooManyRows`].
    ///
    /// # Cost
    /// Independent of the number of samples.
    pub fn unedited(identity: Arc<Identity>) -> Result<Self, SamplerError> {
        let rows = identity.samples();
        let tables = SamplingTables::new(rows, rows, RowSamples::Identity, None)?;
        let digest = TableHasher::new(rows, &RowSamples::Identity).finish_equal();
        Ok(Self {
            identity,
            tables,
            digest,
            table: None,
        })
    }

    /// Validates a whole table: `cache_id`, `sample_id`, the stored columns, `weight`, and any others.
    ///
    /// # Errors
    /// Columns first, in the order `cache_id`, `sample_id`, stored columns, `weight`:
    /// [`SamplerError::MissingColumn`], [`SamplerError::RepeatedColumn`], [`SamplerError::ColumnType`]. Then
    /// [`SamplerError::EmptyTable`] and [`SamplerError::TooManyRows`]; then rows, in the same order of columns:
    /// [`SamplerError::Rows`] with count and first rows; then [`SamplerError::WeightSum`].
    ///
    /// # Cost
    /// O(rows): about 10 ns per row, and at most 16 bytes per row beside the batches. Other columns than the three
    /// named ones are not read.
    pub fn from_table(
        identity: Arc<Identity>,
        stored: &MetadataSchema,
        table: ActiveTable,
    ) -> Result<Self, SamplerError> {
        let columns = SamplingColumns::of_table(&table, stored)?;
        let rows: u64 = table
            .batches
            .iter()
            .map(|batch| batch.num_rows() as u64)
            .sum();
        if rows == 0 {
            return Err(SamplerError::EmptyTable);
        }
        if rows > MAX_ROWS {
            return Err(SamplerError::TooManyRows {
                rows,
                limit: MAX_ROWS,
            });
        }
        let scanned = scan(&identity, &columns)?;
        let mut hasher = TableHasher::new(rows, &scanned.row_samples);
        let (sums, digest) = if scanned.has_equal_weights {
            (None, hasher.finish_equal())
        } else {
            let mut sums = CumulativeBuilder::new(scanned.weight_sum, scanned.rows);
            hasher.start_weights();
            for_each_weights(&columns, |weights| {
                hasher.weights(weights);
                sums.extend(weights);
            })?;
            (Some(sums.finish()?), hasher.finish())
        };
        let tables = SamplingTables::new(rows, identity.samples(), scanned.row_samples, sums)?;
        Ok(Self {
            identity,
            tables,
            digest,
            table: Some(table),
        })
    }

    /// Takes tables that a population of the same caches was made of, here or in another process.
    ///
    /// # Errors
    /// [`SamplerError::DamagedTables`] when they are of caches with another number of samples.
    ///
    /// # Cost
    /// Independent of the number of rows. There is no [`table`](Self::table) then.
    pub fn from_tables(
        identity: Arc<Identity>,
        tables: SamplingTables,
        digest: Digest128,
    ) -> Result<Self, SamplerError> {
        if tables.samples() != identity.samples() {
            return Err(SamplerError::DamagedTables {
                part: TablePart::Samples,
                at: tables.rows(),
                expected: TableRule::Exactly(identity.samples()),
                found: tables.samples(),
            });
        }
        Ok(Self {
            identity,
            tables,
            digest,
            table: None,
        })
    }

    /// Number of rows; at least one.
    #[inline]
    pub fn rows(&self) -> u64 {
        self.tables.rows()
    }

    /// The samples that exist.
    #[inline]
    pub fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// What draws need.
    #[inline]
    pub fn tables(&self) -> &SamplingTables {
        &self.tables
    }

    /// Digest of the sampling columns: row → sample and weights, in the form of `DRAWS.md`.
    #[inline]
    pub fn digest(&self) -> Digest128 {
        self.digest
    }

    /// The table it was made of; none for an unedited population and for tables from elsewhere.
    #[inline]
    pub fn table(&self) -> Option<&ActiveTable> {
        self.table.as_ref()
    }

    /// The sample of a row.
    ///
    /// # Errors
    /// [`SamplerError::NoSuchRow`]; [`SamplerError::DamagedTables`] when the row's entry names no sample.
    #[inline]
    pub fn sample_of(&self, row: RowIndex) -> Result<(CacheId, SampleId), SamplerError> {
        let sample = self.tables.sample_of(row)?;
        self.identity
            .locate(GlobalSample::new(sample))
            .ok_or_else(|| {
                let expected = TableRule::Below(self.identity.samples());
                let part = TablePart::Samples;
                SamplerError::DamagedTables {
                    part,
                    at: row.get(),
                    expected,
                    found: sample,
                }
            })
    }
}

fn for_each_weights(
    columns: &[SamplingColumns<'_>],
    mut show: impl FnMut(&[f64]),
) -> Result<(), SamplerError> {
    let mut scratch = Vec::new();
    for batch in columns {
        let rows = batch.weights.len();
        for start in (0..rows).step_by(BLOCK_ROWS) {
            let block = start..rows.min(start + BLOCK_ROWS);
            match weights(batch.weights, block, &mut scratch) {
                Some(weights) => show(weights),
                None => return Err(unreadable(WEIGHT, WantedColumn::Number, batch.weights)),
            }
        }
    }
    Ok(())
}

/// The error of a column whose type was accepted but can't be read.
pub(super) fn unreadable(
    column: &str,
    wanted: WantedColumn,
    array: &dyn arrow_array::Array,
) -> SamplerError {
    let given = array.data_type().to_string();
    SamplerError::ColumnType {
        column: column.to_owned(),
        wanted,
        given,
    }
}

#[cfg(test)]
mod tests;

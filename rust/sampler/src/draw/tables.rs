//! Sampling tables: all that a draw needs to know of a table, as plain buffers.
//!
//! Owns row → sample and the weights' tables, on the heap or over a mapped file. Must not scan rows when
//! opened, and must not trust what it reads: each entry is checked as it is used. Invariant: equal weights
//! and the identity mapping take no memory. Text: `DRAWS.md`, "Tables".

use arrow_buffer::ScalarBuffer;
use dataset_rt_format::RowIndex;

use crate::draw::cumulative::Cumulative;
use crate::error::{SamplerError, TablePart, TableRule};

/// The most rows of a table; a row number fits 32 bits in every table.
pub const MAX_ROWS: u64 = u32::MAX as u64;

/// Which sample stands in which row; samples are numbered through all caches.
#[derive(Clone, Debug)]
pub enum RowSamples {
    /// Row `i` holds sample `i`.
    Identity,
    /// Fewer than 2^32 samples.
    Narrow(ScalarBuffer<u32>),
    /// Any number of samples.
    Wide(ScalarBuffer<u64>),
}

/// The buffers of [`SamplingTables`], to be written to a file and taken from one.
#[derive(Clone, Debug)]
pub struct TableParts {
    /// Rows of the table.
    pub rows: u64,
    /// Samples of all caches.
    pub samples: u64,
    /// Row to sample.
    pub row_samples: RowSamples,
    /// Cumulative sums and guide; `None` for equal weights.
    pub weights: Option<WeightParts>,
}

/// The buffers of unequal weights.
#[derive(Clone, Debug)]
pub struct WeightParts {
    /// Cumulative sums of the rows' units, one per row.
    pub sums: ScalarBuffer<u64>,
    /// First row of each bucket of sums, at most one per row.
    pub guide: ScalarBuffer<u32>,
}

/// Row → sample and the tables of unequal weights.
///
/// # Cost
/// At most 16 bytes per row below 2^32 samples (20 from there on); a clone shares the buffers.
#[derive(Clone, Debug)]
pub struct SamplingTables {
    rows: u64,
    samples: u64,
    row_samples: RowSamples,
    weights: Option<Cumulative>,
}

impl SamplingTables {
    /// Takes buffers as they were built by a [`Population`](crate::Population), here or elsewhere.
    ///
    /// # Errors
    /// [`SamplerError::EmptyTable`], [`SamplerError::TooManyRows`], and [`SamplerError::DamagedTables`] when
    /// lengths or the last sum contradict each other.
    ///
    /// # Cost
    /// Independent of the number of rows.
    pub fn from_parts(parts: TableParts) -> Result<Self, SamplerError> {
        let TableParts {
            rows,
            samples,
            row_samples,
            weights,
        } = parts;
        let weights = weights.map(|parts| Cumulative::from_parts(parts.sums, parts.guide));
        Self::new(rows, samples, row_samples, weights.transpose()?)
    }

    pub(crate) fn new(
        rows: u64,
        samples: u64,
        row_samples: RowSamples,
        weights: Option<Cumulative>,
    ) -> Result<Self, SamplerError> {
        if rows == 0 {
            return Err(SamplerError::EmptyTable);
        }
        if rows > MAX_ROWS {
            return Err(SamplerError::TooManyRows {
                rows,
                limit: MAX_ROWS,
            });
        }
        let entries = match &row_samples {
            RowSamples::Identity if rows > samples => {
                return Err(damaged(
                    TablePart::Rows,
                    0,
                    TableRule::Below(samples + 1),
                    rows,
                ));
            }
            RowSamples::Identity => rows,
            RowSamples::Narrow(list) => list.len() as u64,
            RowSamples::Wide(list) => list.len() as u64,
        };
        if entries != rows {
            return Err(damaged(
                TablePart::Samples,
                0,
                TableRule::Exactly(rows),
                entries,
            ));
        }
        let sums = weights
            .as_ref()
            .map_or(rows, |weights| weights.sums().len() as u64);
        if sums != rows {
            return Err(damaged(TablePart::Sums, 0, TableRule::Exactly(rows), sums));
        }
        Ok(Self {
            rows,
            samples,
            row_samples,
            weights,
        })
    }

    /// The buffers, shared.
    pub fn parts(&self) -> TableParts {
        TableParts {
            rows: self.rows,
            samples: self.samples,
            row_samples: self.row_samples.clone(),
            weights: self.weights.as_ref().map(|weights| WeightParts {
                sums: weights.sums().clone(),
                guide: weights.guide().clone(),
            }),
        }
    }

    /// Rows of the table; at least one.
    #[inline]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Samples of all caches.
    #[inline]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Whether no row is drawn more often than another.
    #[inline]
    pub fn has_equal_weights(&self) -> bool {
        self.weights.is_none()
    }

    /// The sample of `row`, numbered through all caches.
    ///
    /// # Errors
    /// [`SamplerError::NoSuchRow`]; [`SamplerError::DamagedTables`] when the entry names no sample.
    #[inline]
    pub fn sample_of(&self, row: RowIndex) -> Result<u64, SamplerError> {
        let entry = usize::try_from(row.get())
            .ok()
            .and_then(|at| match &self.row_samples {
                RowSamples::Identity => (row.get() < self.rows).then_some(row.get()),
                RowSamples::Narrow(list) => list.get(at).map(|sample| u64::from(*sample)),
                RowSamples::Wide(list) => list.get(at).copied(),
            });
        match entry {
            Some(sample) if sample < self.samples => Ok(sample),
            Some(sample) => {
                let rule = TableRule::Below(self.samples);
                Err(damaged(TablePart::Samples, row.get(), rule, sample))
            }
            None => Err(SamplerError::NoSuchRow {
                row,
                rows: self.rows,
            }),
        }
    }

    pub(crate) fn weights(&self) -> Option<&Cumulative> {
        self.weights.as_ref()
    }
}

pub(crate) fn damaged(part: TablePart, at: u64, expected: TableRule, found: u64) -> SamplerError {
    SamplerError::DamagedTables {
        part,
        at,
        expected,
        found,
    }
}

#[cfg(test)]
mod tests;

//! The one pass over the rows of an edited table.
//!
//! Owns the rules that rows obey. The pass itself only learns that some row breaks one; which rows and how
//! many is found by a second look that a legal table never pays for. Must not change anything. Invariant:
//! what is returned describes a table in which every row is legal. Text: `DRAWS.md`, "Table".

use arrow_array::Array;
use dataset_rt_format::RowIndex;

use crate::draw::RowSamples;
use crate::error::{NAMED_ROWS, RowRule, SamplerError, WantedColumn};
use crate::population::active::unreadable;
use crate::population::columns::{
    BLOCK_ROWS, CACHE_ID, SAMPLE_ID, SamplingColumns, WEIGHT, ids, value_text, weights,
};
use crate::population::identity::Identity;
use crate::population::mapping::MappingBuilder;

/// What one pass learns of a legal table.
pub(super) struct Scanned {
    pub(super) rows: usize,
    pub(super) row_samples: RowSamples,
    /// Sum of the weights, added in row order; finite.
    pub(super) weight_sum: f64,
    pub(super) has_equal_weights: bool,
}

/// Looks at every row once.
pub(super) fn scan(
    identity: &Identity,
    columns: &[SamplingColumns<'_>],
) -> Result<Scanned, SamplerError> {
    let rows = columns.iter().map(|batch| batch.caches.len()).sum();
    let mut mapping = MappingBuilder::new(identity, rows);
    let mut scratch = Scratch::default();
    let mut samples = Vec::with_capacity(BLOCK_ROWS);
    let mut first_weight = None;
    let (mut weight_sum, mut has_equal_weights) = (0.0, true);
    for batch in columns {
        let arrays = [batch.caches, batch.samples, batch.weights];
        let mut is_legal = arrays.iter().all(|array| array.null_count() == 0);
        for start in (0..batch.caches.len()).step_by(BLOCK_ROWS) {
            let block = scratch.block(batch, start)?;
            is_legal &= number_samples(identity, block.caches, block.samples, &mut samples);
            is_legal &= block.weights.iter().all(|weight| is_weight(*weight));
            if !is_legal {
                return Err(broken_rule(identity, columns)?);
            }
            mapping.extend(&samples);
            let first = *first_weight.get_or_insert(block.weights.first().map(|w| w.to_bits()));
            for weight in block.weights {
                weight_sum += weight;
                has_equal_weights &= Some(weight.to_bits()) == first;
            }
        }
    }
    if !is_weight(weight_sum) {
        return Err(SamplerError::WeightSum { rows: rows as u64 });
    }
    Ok(Scanned {
        rows,
        row_samples: mapping.finish(),
        weight_sum,
        has_equal_weights,
    })
}

/// Numbers the samples of a block; false when one does not exist.
fn number_samples(
    identity: &Identity,
    caches: &[u64],
    samples: &[u64],
    numbers: &mut Vec<u64>,
) -> bool {
    let mut all_exist = true;
    numbers.clear();
    if let (1, Some((_, end))) = (identity.caches(), identity.bounds(0)) {
        numbers.extend_from_slice(samples);
        for (cache, sample) in caches.iter().zip(samples) {
            all_exist &= *cache == 0 && *sample < end;
        }
        return all_exist;
    }
    numbers.extend(caches.iter().zip(samples).map(|(cache, sample)| {
        let bounds = usize::try_from(*cache)
            .ok()
            .and_then(|cache| identity.bounds(cache));
        let (start, end) = bounds.unwrap_or_default();
        all_exist &= *sample < end - start;
        start.wrapping_add(*sample)
    }));
    all_exist
}

#[inline]
fn is_weight(weight: f64) -> bool {
    weight > 0.0 && weight <= f64::MAX
}

/// Values of the three columns in one block of rows.
struct Block<'a> {
    caches: &'a [u64],
    samples: &'a [u64],
    weights: &'a [f64],
}

#[derive(Default)]
struct Scratch {
    caches: Vec<u64>,
    samples: Vec<u64>,
    weights: Vec<f64>,
}

impl Scratch {
    fn block<'a>(
        &'a mut self,
        batch: &'a SamplingColumns<'_>,
        start: usize,
    ) -> Result<Block<'a>, SamplerError> {
        let rows = start..batch.caches.len().min(start + BLOCK_ROWS);
        Ok(Block {
            caches: ids(batch.caches, rows.clone(), &mut self.caches)
                .ok_or_else(|| unreadable(CACHE_ID, WantedColumn::Integer, batch.caches))?,
            samples: ids(batch.samples, rows.clone(), &mut self.samples)
                .ok_or_else(|| unreadable(SAMPLE_ID, WantedColumn::Integer, batch.samples))?,
            weights: weights(batch.weights, rows, &mut self.weights)
                .ok_or_else(|| unreadable(WEIGHT, WantedColumn::Number, batch.weights))?,
        })
    }
}

/// Rows that break one rule.
struct Offence {
    column: &'static str,
    wanted: RowRule,
    given: Option<String>,
    count: u64,
    rows: Vec<RowIndex>,
}

impl Offence {
    fn new(column: &'static str, wanted: RowRule) -> Self {
        Self {
            column,
            wanted,
            given: None,
            count: 0,
            rows: Vec::new(),
        }
    }

    fn note(&mut self, row: u64, array: &dyn Array, at: usize) {
        self.count += 1;
        if self.rows.len() < NAMED_ROWS {
            self.rows.push(RowIndex::new(row));
        }
        self.given.get_or_insert_with(|| value_text(array, at));
    }
}

/// Finds the first rule, in the order of the columns, that some row breaks, and all rows that break it.
#[cold]
fn broken_rule(
    identity: &Identity,
    columns: &[SamplingColumns<'_>],
) -> Result<SamplerError, SamplerError> {
    let caches = identity.caches() as u64;
    let mut offences = [
        Offence::new(CACHE_ID, RowRule::Cache { caches }),
        Offence::new(SAMPLE_ID, RowRule::Sample),
        Offence::new(WEIGHT, RowRule::Weight),
    ];
    let [in_cache, in_sample, in_weight] = &mut offences;
    let mut scratch = Scratch::default();
    let mut row = 0;
    for batch in columns {
        for start in (0..batch.caches.len()).step_by(BLOCK_ROWS) {
            let block = scratch.block(batch, start)?;
            let values = block.caches.iter().zip(block.samples).zip(block.weights);
            for (at, ((cache, sample), weight)) in (start..).zip(values) {
                let bounds = usize::try_from(*cache)
                    .ok()
                    .and_then(|cache| identity.bounds(cache));
                if batch.caches.is_null(at) || bounds.is_none() {
                    in_cache.note(row, batch.caches, at);
                }
                let count = bounds.map_or(u64::MAX, |(start, end)| end - start);
                if batch.samples.is_null(at) || *sample >= count {
                    in_sample.note(row, batch.samples, at);
                }
                if batch.weights.is_null(at) || !is_weight(*weight) {
                    in_weight.note(row, batch.weights, at);
                }
                row += 1;
            }
        }
    }
    let first = offences.into_iter().find(|offence| offence.count > 0);
    Ok(
        first.map_or(SamplerError::EmptyTable, |offence| SamplerError::Rows {
            column: offence.column,
            wanted: offence.wanted,
            given: offence.given.unwrap_or_default(),
            count: offence.count,
            rows: offence.rows,
        }),
    )
}

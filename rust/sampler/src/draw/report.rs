//! What a stream drew and should have drawn, row by row.
//!
//! Owns the arithmetic of weight shares and counts over a range of positions. Must not read payloads and must
//! not feed back into draws. Invariant: drawn counts add up to the number of positions, and so do the
//! expected ones up to rounding. Text: `DRAWS.md`, "Reports".

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
use dataset_rt_format::RowIndex;

use crate::draw::inclusion::first_draws;
use crate::draw::stream::{DrawMode, DrawStream};
use crate::draw::window::LAST_POSITION;
use crate::error::SamplerError;

/// Draws that are counted at a time.
const BLOCK_DRAWS: usize = 4096;

/// Draws between two questions whether the report is still wanted: a few milliseconds of work.
const CHECK_DRAWS: u64 = 64 * BLOCK_DRAWS as u64;

/// Counts of a range of positions, one entry per row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplingReport {
    /// Share of the row in the weights, as draws honour it; all shares add up to 1.
    pub weight_shares: Vec<f64>,
    /// Times the row is drawn on average over all seeds.
    pub expected: Vec<f64>,
    /// Times the row was drawn.
    pub drawn: Vec<u64>,
}

impl SamplingReport {
    /// Counts the draws of the positions `start..stop`; `check` is asked now and then whether to go on.
    ///
    /// # Errors
    /// [`SamplerError::PositionRange`] for a range that is turned round or leaves the stream;
    /// [`SamplerError::DamagedTables`]; what `check` answers.
    ///
    /// # Cost
    /// One draw per position outside of whole cycles, and 24 bytes per row.
    ///
    /// # Guarantees
    /// Expected counts are exact, save for a part of a cycle in [`DrawMode::EachOnce`] with unequal weights on more
    /// than 16 rows: there they are asymptotic, within a few percent from a dozen rows on and closer for more.
    pub fn of_range<E: From<SamplerError>>(
        stream: &DrawStream,
        start: u64,
        stop: u64,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        if start > stop || stop > LAST_POSITION + 1 {
            return Err(SamplerError::PositionRange { start, stop }.into());
        }
        let weight_shares = weight_shares(stream)?;
        let mut report = Self {
            drawn: vec![0; weight_shares.len()],
            expected: Vec::new(),
            weight_shares,
        };
        let mut stream = stream.clone();
        if stream.mode() == DrawMode::WithReplacement {
            report.count(&mut stream, start, stop, &mut check)?;
            let draws = (stop - start) as f64;
            report.expected = report
                .weight_shares
                .iter()
                .map(|share| share * draws)
                .collect();
            return Ok(report);
        }
        report.expected = vec![0.0; report.drawn.len()];
        for part in cycle_parts(start, stop, stream.tables().rows()) {
            report.add_part(&mut stream, part, &mut check)?;
        }
        Ok(report)
    }

    /// The report as columns `row`, `weight_share`, `expected` and `drawn`.
    ///
    /// # Errors
    /// [`SamplerError::EmptyTable`] when its columns are of unequal lengths, which no report of ours is.
    pub fn record_batch(&self) -> Result<RecordBatch, SamplerError> {
        let columns: [(&str, ArrayRef); 4] = [
            (
                "row",
                Arc::new(UInt64Array::from_iter_values(0..self.drawn.len() as u64)),
            ),
            (
                "weight_share",
                Arc::new(Float64Array::from(self.weight_shares.clone())),
            ),
            (
                "expected",
                Arc::new(Float64Array::from(self.expected.clone())),
            ),
            ("drawn", Arc::new(UInt64Array::from(self.drawn.clone()))),
        ];
        RecordBatch::try_from_iter(columns).map_err(|_| SamplerError::EmptyTable)
    }

    fn add_part<E: From<SamplerError>>(
        &mut self,
        stream: &mut DrawStream,
        part: CyclePart,
        check: &mut impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        match part {
            CyclePart::Whole { cycles } => {
                self.drawn.iter_mut().for_each(|drawn| *drawn += cycles);
                self.expected
                    .iter_mut()
                    .for_each(|expected| *expected += cycles as f64);
            }
            CyclePart::Part {
                cycle_start,
                from,
                to,
            } => {
                let before = self.drawn.clone();
                self.count(stream, cycle_start + from, cycle_start + to, check)?;
                let rows = self.drawn.len() as f64;
                if stream.mode() == DrawMode::Ordered {
                    let drawn = self
                        .drawn
                        .iter()
                        .zip(&before)
                        .map(|(now, before)| now - before);
                    let expected = self.expected.iter_mut().zip(drawn);
                    expected.for_each(|(expected, drawn)| *expected += drawn as f64);
                } else if stream.tables().has_equal_weights() {
                    let share = (to - from) as f64 / rows;
                    self.expected
                        .iter_mut()
                        .for_each(|expected| *expected += share);
                } else {
                    let until = first_draws(&self.weight_shares, to);
                    let before = first_draws(&self.weight_shares, from);
                    for ((expected, until), before) in
                        self.expected.iter_mut().zip(until).zip(before)
                    {
                        *expected += until - before;
                    }
                }
            }
        }
        Ok(())
    }

    fn count<E: From<SamplerError>>(
        &mut self,
        stream: &mut DrawStream,
        start: u64,
        stop: u64,
        check: &mut impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rows = vec![RowIndex::new(0); BLOCK_DRAWS];
        let mut position = start;
        while position < stop {
            if (position - start).is_multiple_of(CHECK_DRAWS) {
                check()?;
            }
            let draws = usize::try_from(stop - position)
                .unwrap_or(usize::MAX)
                .min(BLOCK_DRAWS);
            let block = rows.get_mut(..draws).unwrap_or_default();
            stream.rows_at(position, 1, block)?;
            for row in block {
                let at = usize::try_from(row.get()).unwrap_or(usize::MAX);
                if let Some(drawn) = self.drawn.get_mut(at) {
                    *drawn += 1;
                }
            }
            position += draws as u64;
        }
        Ok(())
    }
}

fn weight_shares(stream: &DrawStream) -> Result<Vec<f64>, SamplerError> {
    let rows = stream.tables().rows();
    let Some(weights) = stream.tables().weights() else {
        return Ok((0..rows).map(|_| 1.0 / rows as f64).collect());
    };
    let total = weights.total() as f64;
    let rows = 0..weights.sums().len();
    rows.map(|row| Ok(weights.units(row)? as f64 / total))
        .collect()
}

/// A piece of a range of positions, cut at the ends of cycles.
enum CyclePart {
    Whole {
        cycles: u64,
    },
    Part {
        cycle_start: u64,
        from: u64,
        to: u64,
    },
}

fn cycle_parts(start: u64, stop: u64, rows: u64) -> Vec<CyclePart> {
    let (first, last) = (start / rows, stop / rows);
    let (from, to) = (start % rows, stop % rows);
    if first == last {
        return vec![CyclePart::Part {
            cycle_start: first * rows,
            from,
            to,
        }];
    }
    let head = CyclePart::Part {
        cycle_start: first * rows,
        from,
        to: rows,
    };
    let tail = CyclePart::Part {
        cycle_start: last * rows,
        from: 0,
        to,
    };
    if from == 0 {
        return vec![
            CyclePart::Whole {
                cycles: last - first,
            },
            tail,
        ];
    }
    vec![
        head,
        CyclePart::Whole {
            cycles: last - first - 1,
        },
        tail,
    ]
}

#[cfg(test)]
mod tests;

//! Weighted draws: integer cumulative sums and a guide table into them.
//!
//! Owns the fixed-point form of weights and the search for the row that a number falls on. Must not read
//! weights from anywhere but its argument, and must not trust the tables it searches: they may lie on a
//! mapped file. Invariant: a row that is returned fits, `sums[row - 1] <= number < sums[row]`.
//! Text: `DRAWS.md`, "Weights".

use arrow_buffer::ScalarBuffer;

use crate::error::{SamplerError, TablePart, TableRule};

/// Units that the weights share out among the rows, up to rounding.
const UNITS: f64 = (1_u64 << 62) as f64;

/// No sum of units reaches this, whatever the weights.
pub(crate) const UNITS_LIMIT: u64 = 1 << 63;

/// Entries that are looked at one by one before the search halves what is left.
const LINEAR_STEPS: usize = 8;

/// Cumulative sums of the rows' units, with the guide into them.
///
/// # Cost
/// At most 12 bytes per row; a search touches one guide entry and, on average, one line of sums.
#[derive(Clone, Debug)]
pub(crate) struct Cumulative {
    sums: ScalarBuffer<u64>,
    guide: ScalarBuffer<u32>,
    shift: u32,
    total: u64,
}

/// Builds [`Cumulative`] from weights given in row order.
pub(crate) struct CumulativeBuilder {
    weight_sum: f64,
    running: u64,
    sums: Vec<u64>,
}

impl CumulativeBuilder {
    /// A builder for `rows` weights that add up to `weight_sum` when added in row order.
    pub(crate) fn new(weight_sum: f64, rows: usize) -> Self {
        Self {
            weight_sum,
            running: 0,
            sums: Vec::with_capacity(rows),
        }
    }

    /// Adds the next rows' weights; each must be finite and above zero.
    pub(crate) fn extend(&mut self, weights: &[f64]) {
        let weight_sum = self.weight_sum;
        let mut running = self.running;
        self.sums.extend(weights.iter().map(|weight| {
            running += units(*weight, weight_sum);
            running
        }));
        self.running = running;
    }

    /// Builds the guide.
    ///
    /// # Errors
    /// [`SamplerError::EmptyTable`] when nothing was added.
    pub(crate) fn finish(self) -> Result<Cumulative, SamplerError> {
        let total = *self.sums.last().ok_or(SamplerError::EmptyTable)?;
        let shift = guide_shift(total, self.sums.len());
        let mut guide = Vec::with_capacity(guide_len(total, shift));
        let mut bucket_start = 0_u64;
        for (row, sum) in (0_u32..).zip(&self.sums) {
            while bucket_start < *sum {
                guide.push(row);
                bucket_start += 1 << shift;
            }
        }
        Ok(Cumulative {
            sums: self.sums.into(),
            guide: guide.into(),
            shift,
            total,
        })
    }
}

impl Cumulative {
    /// Takes tables as they were built elsewhere.
    ///
    /// # Errors
    /// [`SamplerError::DamagedTables`] when lengths or the last sum contradict each other.
    ///
    /// # Cost
    /// Reads one entry, whatever the number of rows.
    pub(crate) fn from_parts(
        sums: ScalarBuffer<u64>,
        guide: ScalarBuffer<u32>,
    ) -> Result<Self, SamplerError> {
        let total = *sums.last().ok_or(SamplerError::EmptyTable)?;
        let last = sums.len() as u64 - 1;
        if total <= last {
            return Err(damaged(
                TablePart::Sums,
                last,
                TableRule::Above(last),
                total,
            ));
        }
        if total >= UNITS_LIMIT {
            return Err(damaged(
                TablePart::Sums,
                last,
                TableRule::Below(UNITS_LIMIT),
                total,
            ));
        }
        let shift = guide_shift(total, sums.len());
        let (wanted, found) = (guide_len(total, shift) as u64, guide.len() as u64);
        if wanted != found {
            return Err(damaged(
                TablePart::Guide,
                found,
                TableRule::Exactly(wanted),
                found,
            ));
        }
        Ok(Self {
            sums,
            guide,
            shift,
            total,
        })
    }

    /// Sum of all units.
    #[inline]
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn sums(&self) -> &ScalarBuffer<u64> {
        &self.sums
    }

    pub(crate) fn guide(&self) -> &ScalarBuffer<u32> {
        &self.guide
    }

    /// Units of `row`.
    ///
    /// # Errors
    /// [`SamplerError::DamagedTables`] when the sums do not ascend at `row`.
    #[inline]
    pub(crate) fn units(&self, row: usize) -> Result<u64, SamplerError> {
        let (before, sum) = (self.sum_before(row), self.sums.get(row).copied());
        match sum.and_then(|sum| sum.checked_sub(before)) {
            Some(units) if units > 0 && units <= self.total => Ok(units),
            _ => Err(damaged(
                TablePart::Sums,
                row as u64,
                TableRule::Above(before),
                sum.unwrap_or_default(),
            )),
        }
    }

    /// Where the search for `number` starts: no row before it can be the one. Behind the rows if the guide ends too early.
    #[inline]
    pub(crate) fn guess(&self, number: u64) -> u32 {
        let bucket = usize::try_from(number >> self.shift).unwrap_or(usize::MAX);
        self.guide.get(bucket).copied().unwrap_or(u32::MAX)
    }

    /// Sum of a guessed row; 0, which no number is below, if there is no such row.
    #[inline]
    pub(crate) fn sum_of(&self, guess: u32) -> u64 {
        usize::try_from(guess)
            .ok()
            .and_then(|row| self.sums.get(row))
            .copied()
            .unwrap_or_default()
    }

    /// The first row whose sum exceeds `number`, searched from `guess` on; `sum` is that of the guess.
    ///
    /// # Errors
    /// [`SamplerError::DamagedTables`] when no row fits there.
    #[inline]
    pub(crate) fn search(&self, number: u64, guess: u32, sum: u64) -> Result<u64, SamplerError> {
        let start = usize::try_from(guess).unwrap_or(usize::MAX);
        let row = if sum > number {
            start
        } else {
            self.search_behind(number, start)
        };
        let fits =
            self.sum_before(row) <= number && self.sums.get(row).is_some_and(|sum| *sum > number);
        if fits {
            Ok(row as u64)
        } else {
            Err(self.misled(number, start))
        }
    }

    /// The search behind a row that is too small; any row when the tables are damaged.
    #[inline]
    fn search_behind(&self, number: u64, start: usize) -> usize {
        let behind = self.sums.get(start.saturating_add(1)..).unwrap_or_default();
        match behind
            .iter()
            .take(LINEAR_STEPS)
            .position(|sum| *sum > number)
        {
            Some(steps) => start + 1 + steps,
            None => self.halve(number, start),
        }
    }

    /// Halving search between `row`, which is too small, and the start of the next bucket.
    #[cold]
    fn halve(&self, number: u64, row: usize) -> usize {
        let next = (number >> self.shift) + 1;
        let end = usize::try_from(next)
            .ok()
            .and_then(|bucket| self.guide.get(bucket))
            .and_then(|end| usize::try_from(*end).ok())
            .map_or(self.sums.len(), |end| {
                end.saturating_add(1).min(self.sums.len())
            });
        let within = self.sums.get(row..end).unwrap_or_default();
        row.saturating_add(within.partition_point(|sum| *sum <= number))
    }

    #[inline]
    fn sum_before(&self, row: usize) -> u64 {
        row.checked_sub(1)
            .and_then(|before| self.sums.get(before))
            .copied()
            .unwrap_or_default()
    }

    #[cold]
    fn misled(&self, number: u64, start: usize) -> SamplerError {
        let rows = self.sums.len() as u64;
        if start as u64 >= rows {
            let bucket = number >> self.shift;
            return damaged(
                TablePart::Guide,
                bucket,
                TableRule::Below(rows),
                start as u64,
            );
        }
        let before = self.sum_before(start);
        let rule = TableRule::Below(number.saturating_add(1));
        damaged(
            TablePart::Sums,
            (start as u64).saturating_sub(1),
            rule,
            before,
        )
    }
}

/// Units of a weight: its share of 2^62, rounded down, at least one.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding down is the rule; a share is at most 1"
)]
#[expect(clippy::cast_sign_loss, reason = "weights are above zero")]
fn units(weight: f64, weight_sum: f64) -> u64 {
    ((weight / weight_sum * UNITS) as u64).max(1)
}

/// The smallest power of two, as a shift, that gives at most as many buckets as there are rows.
fn guide_shift(total: u64, rows: usize) -> u32 {
    let mut shift = 0;
    while shift < 63 && guide_len(total, shift) > rows {
        shift += 1;
    }
    shift
}

/// Number of buckets of `2^shift` units.
fn guide_len(total: u64, shift: u32) -> usize {
    usize::try_from((total.saturating_sub(1) >> shift) + 1).unwrap_or(usize::MAX)
}

fn damaged(part: TablePart, at: u64, expected: TableRule, found: u64) -> SamplerError {
    SamplerError::DamagedTables {
        part,
        at,
        expected,
        found,
    }
}

#[cfg(test)]
mod tests;

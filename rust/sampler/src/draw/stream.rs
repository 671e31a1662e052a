//! The draw stream: position → row, whatever was drawn before.
//!
//! Owns the choice of the rule for a mode and a table. Must not let anything but (table, mode, seed,
//! position) reach a row; what it keeps between draws only saves work. Invariant: `rows_at` gives what
//! `row_at` gives at each of its positions. Text: `DRAWS.md`, "Modes".

use std::sync::Arc;

use dataset_rt_format::{RowIndex, Seed};

use crate::draw::cumulative::Cumulative;
use crate::draw::cycle_order::CycleOrder;
use crate::draw::each_once::EachOnce;
use crate::draw::permutation::LISTED_ROWS;
use crate::draw::philox::{Domain, Words, scale};
use crate::draw::tables::{SamplingTables, damaged};
use crate::draw::window::LAST_POSITION;
use crate::error::{SamplerError, TablePart, TableRule};

/// How rows are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DrawMode {
    /// In table order, again and again.
    Ordered,
    /// At random by weight; a row may come again before every row came once.
    WithReplacement,
    /// At random; each row exactly once per cycle, and weights order the cycle.
    EachOnce,
}

/// Rows by position.
///
/// # Cost
/// A clone shares tables and the order of the current cycle. A draw is O(1), except in [`DrawMode::EachOnce`]
/// with unequal weights or few rows: there the first draw of a cycle costs O(rows) time and 4 bytes per row.
#[derive(Clone, Debug)]
pub struct DrawStream {
    mode: DrawMode,
    seed: Seed,
    tables: SamplingTables,
    each_once: EachOnce,
}

/// Draws that are computed together, so that their memory accesses overlap.
const BLOCK: usize = 64;

impl DrawStream {
    /// The stream of a table, a mode and a seed.
    pub fn new(mode: DrawMode, seed: Seed, tables: SamplingTables) -> Self {
        Self {
            mode,
            seed,
            each_once: EachOnce::new(seed),
            tables,
        }
    }

    /// How rows are drawn.
    #[inline]
    pub fn mode(&self) -> DrawMode {
        self.mode
    }

    /// Seed of the stream.
    #[inline]
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// The tables it draws from.
    #[inline]
    pub fn tables(&self) -> &SamplingTables {
        &self.tables
    }

    /// The row at `position`.
    ///
    /// # Errors
    /// [`SamplerError::Position`] beyond the last position; [`SamplerError::DamagedTables`].
    pub fn row_at(&mut self, position: u64) -> Result<RowIndex, SamplerError> {
        let mut row = [RowIndex::new(0)];
        self.rows_at(position, 1, &mut row)?;
        let [row] = row;
        Ok(row)
    }

    /// The rows at `start`, `start + stride`, `start + 2 * stride` and so on, one for each place of `rows`.
    ///
    /// # Errors
    /// As for [`row_at`](Self::row_at); what `rows` holds is then unspecified.
    ///
    /// # Cost
    /// Cheaper per draw than single calls: memory accesses of up to 64 draws overlap.
    pub fn rows_at(
        &mut self,
        start: u64,
        stride: u64,
        rows: &mut [RowIndex],
    ) -> Result<(), SamplerError> {
        check_positions(start, stride, rows.len())?;
        let words = Words::new(self.seed, Domain::Rows);
        let positions = Positions { start, stride };
        match (self.mode, self.tables.weights()) {
            (DrawMode::Ordered, _) => {
                for (index, row) in (0..).zip(rows) {
                    *row = RowIndex::new(positions.at(index) % self.tables.rows());
                }
                Ok(())
            }
            (DrawMode::WithReplacement, None) => {
                for (index, row) in (0..).zip(rows) {
                    let word = words.first(positions.at(index));
                    *row = RowIndex::new(scale(word, self.tables.rows()));
                }
                Ok(())
            }
            (DrawMode::WithReplacement, Some(weights)) => {
                for (index, block) in (0..).step_by(BLOCK).zip(rows.chunks_mut(BLOCK)) {
                    let from = Positions {
                        start: positions.at(index),
                        stride,
                    };
                    weighted_rows(weights, words, from, block)?;
                }
                Ok(())
            }
            (DrawMode::EachOnce, _) => self.each_once.rows_at(&self.tables, start, stride, rows),
        }
    }

    /// The cycle that `position` is in, where drawing from it takes an order of all rows: worth sharing, as
    /// making one takes O(rows). `None` where draws are O(1).
    #[inline]
    pub fn ordered_cycle(&self, position: u64) -> Option<u64> {
        let rows = self.tables.rows();
        let is_ordered = self.mode == DrawMode::EachOnce
            && (!self.tables.has_equal_weights() || rows <= LISTED_ROWS);
        is_ordered.then(|| position / rows)
    }

    /// Makes the order of the cycle that `position` is in, so that clones of the stream share it; nothing to
    /// do in the other modes.
    ///
    /// # Errors
    /// As for [`row_at`](Self::row_at).
    ///
    /// # Cost
    /// O(rows) in [`DrawMode::EachOnce`] with unequal weights or few rows, O(1) otherwise.
    pub fn prepare(&mut self, position: u64) -> Result<(), SamplerError> {
        check_positions(position, 1, 1)?;
        match self.mode {
            DrawMode::EachOnce => self
                .each_once
                .prepare(&self.tables, position / self.tables.rows()),
            _ => Ok(()),
        }
    }

    /// The order of the current cycle, when there is one: to be shared with other processes.
    pub fn cycle_order(&self) -> Option<&Arc<CycleOrder>> {
        self.each_once.order()
    }

    /// Takes up the order of a cycle that another stream with the same table and seed has made.
    ///
    /// # Errors
    /// [`SamplerError::DamagedTables`] when it has another number of rows; nothing has changed then.
    pub fn adopt_cycle_order(&mut self, order: Arc<CycleOrder>) -> Result<(), SamplerError> {
        let (rows, found) = (self.tables.rows(), order.rows().len() as u64);
        if rows != found {
            return Err(damaged(
                TablePart::Order,
                0,
                TableRule::Exactly(rows),
                found,
            ));
        }
        self.each_once.adopt(order);
        Ok(())
    }

    /// A seed for what the caller does at random with the draw at `position`, such as augmentation.
    ///
    /// # Guarantees
    /// A function of seed and position alone; independent of the rows drawn.
    #[inline]
    pub fn draw_seed(&self, position: u64) -> u64 {
        draw_seed(self.seed, position)
    }
}

/// A seed for what the caller does at random with the draw at `position`; see [`DrawStream::draw_seed`].
#[inline]
pub fn draw_seed(seed: Seed, position: u64) -> u64 {
    Words::new(seed, Domain::DrawSeed).first(position)
}

/// Positions at equal distances; the caller has checked that the largest exists.
#[derive(Clone, Copy)]
struct Positions {
    start: u64,
    stride: u64,
}

impl Positions {
    #[inline]
    fn at(self, index: u64) -> u64 {
        self.start.wrapping_add(self.stride.wrapping_mul(index))
    }
}

/// At most [`BLOCK`] weighted draws, in steps that do not wait for each other.
#[inline]
fn weighted_rows(
    weights: &Cumulative,
    words: Words,
    positions: Positions,
    rows: &mut [RowIndex],
) -> Result<(), SamplerError> {
    if let [row] = rows {
        let number = scale(words.first(positions.start), weights.total());
        let guess = weights.guess(number);
        *row = RowIndex::new(weights.search(number, guess, weights.sum_of(guess))?);
        return Ok(());
    }
    let mut numbers = [0_u64; BLOCK];
    let mut guesses = [0_u32; BLOCK];
    let mut sums = [0_u64; BLOCK];
    for ((index, number), _) in (0..).zip(&mut numbers).zip(&*rows) {
        *number = scale(words.first(positions.at(index)), weights.total());
    }
    for ((guess, number), _) in guesses.iter_mut().zip(&numbers).zip(&*rows) {
        *guess = weights.guess(*number);
    }
    for ((sum, guess), _) in sums.iter_mut().zip(&guesses).zip(&*rows) {
        *sum = weights.sum_of(*guess);
    }
    for (((row, number), guess), sum) in rows.iter_mut().zip(&numbers).zip(&guesses).zip(&sums) {
        *row = RowIndex::new(weights.search(*number, *guess, *sum)?);
    }
    Ok(())
}

fn check_positions(start: u64, stride: u64, draws: usize) -> Result<(), SamplerError> {
    let Some(steps) = (draws as u64).checked_sub(1) else {
        return Ok(());
    };
    let last = u128::from(start) + u128::from(stride) * u128::from(steps);
    if last <= u128::from(LAST_POSITION) {
        return Ok(());
    }
    let position = u64::try_from(last).unwrap_or(u64::MAX);
    Err(SamplerError::Position {
        position,
        limit: LAST_POSITION,
    })
}

#[cfg(test)]
mod tests;

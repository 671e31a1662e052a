//! The exponential keys of one cycle.
//!
//! Owns which word and which units make the key of a row. Must not order anything. Invariant: a key is a
//! function of seed, cycle, row and units. Text: `DRAWS.md`, "Exponential keys".

use dataset_rt_format::Seed;

use crate::draw::cumulative::Cumulative;
use crate::draw::exponential::key_bits;
use crate::draw::philox::{Domain, Words};
use crate::draw::tables::damaged;
use crate::error::{SamplerError, TablePart, TableRule};

/// The exponential keys of one cycle.
pub(crate) struct Keys<'a> {
    words: Words,
    cycle: u64,
    weights: &'a Cumulative,
}

impl<'a> Keys<'a> {
    pub(crate) fn new(seed: Seed, cycle: u64, weights: &'a Cumulative) -> Self {
        Self {
            words: Words::new(seed, Domain::ExponentialKeys),
            cycle,
            weights,
        }
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.weights.sums().len()
    }

    /// The cycle they order.
    pub(crate) fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Key of a row.
    #[inline]
    pub(crate) fn of(&self, row: u32) -> Result<u64, SamplerError> {
        let [word0, word1, word2, word3] = self.words.block(u64::from(row / 4), self.cycle);
        let word = match row % 4 {
            0 => word0,
            1 => word1,
            2 => word2,
            _ => word3,
        };
        let units = self
            .weights
            .units(usize::try_from(row).unwrap_or(usize::MAX))?;
        Ok(key_bits(word, units))
    }

    /// Shows every key, in row order.
    pub(crate) fn for_each(&self, mut show: impl FnMut(u64)) -> Result<(), SamplerError> {
        let mut before = 0;
        for (block, sums) in (0..).zip(self.weights.sums().chunks(4)) {
            for (word, sum) in self.words.block(block, self.cycle).into_iter().zip(sums) {
                let units = sum.wrapping_sub(before);
                if *sum <= before || units > self.weights.total() {
                    let rule = TableRule::Above(before);
                    return Err(damaged(TablePart::Sums, block * 4, rule, *sum));
                }
                before = *sum;
                show(key_bits(word, units));
            }
        }
        Ok(())
    }

    /// Shows the keys of the four rows from `4 * block` on; all of them must exist.
    pub(crate) fn of_block(
        &self,
        block: u64,
        mut show: impl FnMut(u64),
    ) -> Result<(), SamplerError> {
        for (row, word) in (block * 4..).zip(self.words.block(block, self.cycle)) {
            let row = usize::try_from(row).unwrap_or(usize::MAX);
            show(key_bits(word, self.weights.units(row)?));
        }
        Ok(())
    }
}

//! The order of one cycle of unequal weights, sorted only as far as it is read.
//!
//! Owns the partition of a cycle's rows into runs of ascending keys and the sorting of one run. Must not
//! influence which row comes where: runs, their number and the sample that cuts them only save work.
//! Invariant: no row of a run has a larger key than a row of a later run. Text: `DRAWS.md`, "Each once".

use std::sync::Arc;

use arrow_buffer::ScalarBuffer;
use dataset_rt_format::Seed;

use crate::draw::cumulative::Cumulative;
use crate::draw::keys::Keys;
use crate::draw::splitters::Splitters;
use crate::draw::tables::damaged;
use crate::error::{SamplerError, TablePart, TableRule};

/// The rows of one cycle as a list of runs; a run of a listed permutation is final, others sort when read.
///
/// # Cost
/// 4 bytes per row; a clone shares them.
#[derive(Clone, Debug)]
pub struct CycleOrder {
    cycle: u64,
    rows: ScalarBuffer<u32>,
    /// Index behind the last row of each run; none when the list is in order already.
    run_ends: ScalarBuffer<u32>,
}

impl CycleOrder {
    /// Takes the buffers of an order that was built elsewhere.
    ///
    /// # Errors
    /// [`SamplerError::DamagedTables`] when the runs do not end with the rows.
    ///
    /// # Cost
    /// Independent of the number of rows; entries are checked as they are read.
    pub fn from_parts(
        cycle: u64,
        rows: ScalarBuffer<u32>,
        run_ends: ScalarBuffer<u32>,
    ) -> Result<Self, SamplerError> {
        let (wanted, last) = (rows.len() as u64, run_ends.last().copied().map(u64::from));
        match last {
            Some(end) if end != wanted => Err(damaged(
                TablePart::Order,
                run_ends.len() as u64 - 1,
                TableRule::Exactly(wanted),
                end,
            )),
            _ => Ok(Self {
                cycle,
                rows,
                run_ends,
            }),
        }
    }

    /// The cycle it is the order of.
    #[inline]
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Rows, run by run; within a run in no particular order.
    pub fn rows(&self) -> &ScalarBuffer<u32> {
        &self.rows
    }

    /// Index behind the last row of each run; empty when the rows are in order already.
    pub fn run_ends(&self) -> &ScalarBuffer<u32> {
        &self.run_ends
    }

    /// A list that is in order already.
    pub(crate) fn listed(cycle: u64, rows: Vec<u32>) -> Self {
        Self {
            cycle,
            rows: rows.into(),
            run_ends: Vec::new().into(),
        }
    }

    /// Partitions the rows of a cycle by their exponential keys.
    ///
    /// # Cost
    /// O(rows) time; 6 bytes per row while it runs.
    pub(crate) fn by_weight(
        seed: Seed,
        cycle: u64,
        weights: &Cumulative,
    ) -> Result<Self, SamplerError> {
        let keys = Keys::new(seed, cycle, weights);
        let splitters = Splitters::cut(&keys)?;
        let mut run_of_row = Vec::with_capacity(weights.sums().len());
        let mut run_ends = vec![0_u32; splitters.runs()];
        keys.for_each(|key| {
            let run = splitters.run_of(key);
            if let Some(len) = run_ends.get_mut(run) {
                *len += 1;
            }
            // At most MOST_RUNS runs: the number always fits.
            run_of_row.push(u16::try_from(run).unwrap_or_default());
        })?;
        let mut start = 0;
        let mut places = Vec::with_capacity(run_ends.len());
        for end in &mut run_ends {
            places.push(start);
            start += *end;
            *end = start;
        }
        let mut rows = vec![0_u32; run_of_row.len()];
        for (row, run) in (0_u32..).zip(run_of_row) {
            if let Some(place) = places.get_mut(usize::from(run)) {
                if let Some(entry) = usize::try_from(*place).ok().and_then(|at| rows.get_mut(at)) {
                    *entry = row;
                }
                *place += 1;
            }
        }
        Ok(Self {
            cycle,
            rows: rows.into(),
            run_ends: run_ends.into(),
        })
    }

    /// The run that holds `index`, in order.
    pub(crate) fn run_at(
        &self,
        seed: Seed,
        index: usize,
        weights: Option<&Cumulative>,
    ) -> Result<Run, SamplerError> {
        let (Some(weights), false) = (weights, self.run_ends.is_empty()) else {
            return Ok(Run {
                start: 0,
                rows: RunRows::Listed(self.rows.clone()),
            });
        };
        let end_of = |run: usize| {
            self.run_ends
                .get(run)
                .and_then(|end| usize::try_from(*end).ok())
        };
        let run = self
            .run_ends
            .partition_point(|end| (*end as usize) <= index);
        let start = run.checked_sub(1).and_then(end_of).unwrap_or_default();
        let end = end_of(run).unwrap_or_default();
        let Some(entries) = self.rows.get(start..end) else {
            let rule = TableRule::Below(self.rows.len() as u64 + 1);
            return Err(damaged(TablePart::Order, run as u64, rule, end as u64));
        };
        let keys = Keys::new(seed, self.cycle, weights);
        let mut keyed = Vec::with_capacity(entries.len());
        for row in entries {
            // Key and row as one integer: sorting integers takes no branches.
            keyed.push(u128::from(keys.of(*row)?) << 32 | u128::from(*row));
        }
        keyed.sort_unstable();
        let rows = keyed
            .into_iter()
            .map(|keyed| u32::try_from(keyed & u128::from(u32::MAX)).unwrap_or_default())
            .collect();
        Ok(Run {
            start,
            rows: RunRows::Sorted(rows),
        })
    }
}

/// Rows in their final order, from the index `start` of their cycle on.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    start: usize,
    rows: RunRows,
}

#[derive(Clone, Debug)]
enum RunRows {
    Listed(ScalarBuffer<u32>),
    Sorted(Arc<[u32]>),
}

impl Run {
    /// The row at `index` of the cycle, when it is in this run.
    #[inline]
    pub(crate) fn row_at(&self, index: usize) -> Option<u32> {
        let within = index.checked_sub(self.start)?;
        match &self.rows {
            RunRows::Listed(rows) => rows.get(within).copied(),
            RunRows::Sorted(rows) => rows.get(within).copied(),
        }
    }
}

#[cfg(test)]
mod tests;

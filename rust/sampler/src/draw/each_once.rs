//! Draws without replacement: cycles in which each row comes exactly once.
//!
//! Owns the choice between a keyed permutation, a shuffled list and exponential keys, and what is kept of
//! the current cycle. Must not let what is kept reach a row. Invariant: the rows of the indices
//! `0..rows` of any cycle are a permutation of the table. Text: `DRAWS.md`, "Each once".

use std::sync::Arc;

use dataset_rt_format::{RowIndex, Seed};

use crate::draw::cycle_order::{CycleOrder, Run};
use crate::draw::permutation::{LISTED_ROWS, Permutation, shuffled_list};
use crate::draw::tables::{SamplingTables, damaged};
use crate::error::{SamplerError, TablePart, TableRule};

/// The draws of one seed without replacement, with what is known of the latest cycle.
#[derive(Clone, Debug)]
pub(crate) struct EachOnce {
    seed: Seed,
    kept: Kept,
}

#[derive(Clone, Debug)]
enum Kept {
    Nothing,
    Network {
        cycle: u64,
        permutation: Permutation,
    },
    Order {
        order: Arc<CycleOrder>,
        run: Option<Run>,
    },
}

impl EachOnce {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            seed,
            kept: Kept::Nothing,
        }
    }

    /// The kept order, when the current cycle has one.
    pub(crate) fn order(&self) -> Option<&Arc<CycleOrder>> {
        match &self.kept {
            Kept::Order { order, .. } => Some(order),
            _ => None,
        }
    }

    /// Takes an order that was built elsewhere for the same table and seed.
    pub(crate) fn adopt(&mut self, order: Arc<CycleOrder>) {
        self.kept = Kept::Order { order, run: None };
    }

    /// Makes ready for draws of `cycle`.
    pub(crate) fn prepare(
        &mut self,
        tables: &SamplingTables,
        cycle: u64,
    ) -> Result<(), SamplerError> {
        let is_ready = match &self.kept {
            Kept::Nothing => false,
            Kept::Network { cycle: kept, .. } => *kept == cycle,
            Kept::Order { order, .. } => order.cycle() == cycle,
        };
        if !is_ready {
            self.kept = self.keep(tables, cycle)?;
        }
        Ok(())
    }

    fn keep(&self, tables: &SamplingTables, cycle: u64) -> Result<Kept, SamplerError> {
        let order = match (tables.weights(), u32::try_from(tables.rows())) {
            (Some(weights), _) => CycleOrder::by_weight(self.seed, cycle, weights)?,
            (None, Ok(rows)) if tables.rows() <= LISTED_ROWS => {
                CycleOrder::listed(cycle, shuffled_list(self.seed, cycle, rows))
            }
            (None, _) => {
                let permutation = Permutation::new(self.seed, cycle, tables.rows());
                return Ok(Kept::Network { cycle, permutation });
            }
        };
        Ok(Kept::Order {
            order: Arc::new(order),
            run: None,
        })
    }

    /// The rows at `start`, `start + stride` and so on; the caller has checked that the positions exist.
    pub(crate) fn rows_at(
        &mut self,
        tables: &SamplingTables,
        start: u64,
        stride: u64,
        rows: &mut [RowIndex],
    ) -> Result<(), SamplerError> {
        let (mut cycle, mut index) = (start / tables.rows(), start % tables.rows());
        for row in rows {
            if index >= tables.rows() {
                cycle += index / tables.rows();
                index %= tables.rows();
            }
            *row = self.row_at(tables, cycle, index)?;
            index = index.wrapping_add(stride);
        }
        Ok(())
    }

    #[inline]
    fn row_at(
        &mut self,
        tables: &SamplingTables,
        cycle: u64,
        index: u64,
    ) -> Result<RowIndex, SamplerError> {
        match &mut self.kept {
            Kept::Network {
                cycle: kept,
                permutation,
            } if *kept == cycle => {
                return Ok(RowIndex::new(permutation.row_at(index)));
            }
            Kept::Order { order, run } if order.cycle() == cycle => {
                let at = usize::try_from(index).unwrap_or(usize::MAX);
                let mut row = run.as_ref().and_then(|run| run.row_at(at));
                if row.is_none() {
                    row = run
                        .insert(order.run_at(self.seed, at, tables.weights())?)
                        .row_at(at);
                }
                return match row.map(u64::from) {
                    Some(row) if row < tables.rows() => Ok(RowIndex::new(row)),
                    row => Err(damaged(
                        TablePart::Order,
                        index,
                        TableRule::Below(tables.rows()),
                        row.unwrap_or(u64::MAX),
                    )),
                };
            }
            _ => {}
        }
        self.prepare(tables, cycle)?;
        self.row_at(tables, cycle, index)
    }
}

//! Orders of weighted and of listed cycles, made and sorted once for all consumers of a snapshot.
//!
//! Owns which orders are kept in this process and when those of other processes are asked for. Must not decide what is drawn: an order that was made elsewhere gives
//! the same rows. Invariant: no lock is waited for, so a forked child is never stuck here; where the lock is taken, a consumer makes its own order.

use std::sync::{Mutex, TryLockError};

use dataset_rt_sampler::DrawStream;

use crate::error::ReaderError;
use crate::share::SharedFiles;

/// Tables of fewer rows are ordered faster than it pays to keep an order.
const KEPT_ROWS: u64 = 1 << 10;

/// Tables of fewer rows are ordered faster than an order is written to a file.
const FILED_ROWS: u64 = 1 << 16;

/// Kept orders: that of the cycle that is drawn from, and the one before, for consumers that lag behind.
const KEPT: usize = 2;

/// Latest orders of one stream, each with the run that was sorted last.
#[derive(Debug, Default)]
pub(crate) struct CycleOrders {
    kept: Mutex<Vec<DrawStream>>,
}

impl CycleOrders {
    /// The cycle of `position`, where its order takes so long to make that a consumer has to be asked to wait for it.
    pub(crate) fn awaited_cycle(stream: &DrawStream, position: u64) -> Option<u64> {
        stream
            .ordered_cycle(position)
            .filter(|_| stream.tables().rows() >= KEPT_ROWS)
    }

    /// Makes `stream` ready for draws of the cycle of `position`.
    ///
    /// # Errors
    /// What the sampler finds.
    ///
    /// # Cost
    /// O(1) if a consumer of this process or of another that shares the files made the order already; otherwise O(rows).
    pub(crate) fn prepare(
        &self,
        stream: &mut DrawStream,
        position: u64,
        files: &SharedFiles,
    ) -> Result<(), ReaderError> {
        let Some(cycle) = Self::awaited_cycle(stream, position) else {
            return Ok(());
        };
        if cycle_of(stream) == Some(cycle) {
            return Ok(());
        }
        if let Some(kept) = self.kept(cycle) {
            *stream = kept;
            return Ok(());
        }
        match files.orders_folder().filter(|_| is_filed(stream)) {
            Some(folder) => folder.prepare(stream, cycle, position)?,
            None => stream.prepare(position)?,
        }
        self.keep(stream);
        Ok(())
    }

    /// Keeps what `stream` knows of its cycle, for consumers that come after.
    ///
    /// # Cost
    /// Clones of shared buffers; nothing where draws need no order.
    pub(crate) fn keep(&self, stream: &DrawStream) {
        let Some(order) = stream.cycle_order() else {
            return;
        };
        if stream.tables().rows() < KEPT_ROWS {
            return;
        }
        self.with_kept(|kept| {
            kept.retain(|other| cycle_of(other) != Some(order.cycle()));
            kept.insert(0, stream.clone());
            kept.truncate(KEPT);
        });
    }

    /// Has the order that draws at `position` need written to files, and keeps that one instead of one in memory.
    ///
    /// # Errors
    /// What the sampler finds.
    pub(crate) fn share(
        &self,
        mut stream: DrawStream,
        position: u64,
        files: &SharedFiles,
    ) -> Result<(), ReaderError> {
        if !is_filed(&stream) {
            return Ok(());
        }
        self.with_kept(Vec::clear);
        self.prepare(&mut stream, position, files)
    }

    fn kept(&self, cycle: u64) -> Option<DrawStream> {
        self.with_kept(|kept| {
            let mut kept = kept.iter();
            kept.find(|stream| cycle_of(stream) == Some(cycle)).cloned()
        })
        .flatten()
    }

    /// Acts on what is kept; `None` where another thread is at it, here or in the process this one was forked from.
    fn with_kept<T>(&self, act: impl FnOnce(&mut Vec<DrawStream>) -> T) -> Option<T> {
        match self.kept.try_lock() {
            Ok(mut kept) => Some(act(&mut kept)),
            Err(TryLockError::Poisoned(poisoned)) => Some(act(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Whether orders of the stream are worth a file: lists of equal weights are short.
fn is_filed(stream: &DrawStream) -> bool {
    stream.tables().rows() >= FILED_ROWS && !stream.tables().has_equal_weights()
}

/// The cycle whose order a stream has.
fn cycle_of(stream: &DrawStream) -> Option<u64> {
    stream.cycle_order().map(|order| order.cycle())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dataset_rt_format::Seed;
    use dataset_rt_sampler::{DrawMode, RowSamples, SamplingTables, TableParts, WeightParts};

    use super::*;

    const ROWS: u32 = 2000;

    /// Draws each of [`ROWS`] rows once per cycle, by weights that the tables take for unequal.
    fn stream(rows: u32) -> DrawStream {
        let tables = SamplingTables::from_parts(TableParts {
            rows: rows.into(),
            samples: rows.into(),
            row_samples: RowSamples::Identity,
            weights: Some(WeightParts {
                sums: (1..=u64::from(rows)).collect::<Vec<_>>().into(),
                guide: (0..rows).collect::<Vec<_>>().into(),
            }),
        });
        DrawStream::new(DrawMode::EachOnce, Seed::new(7), tables.unwrap())
    }

    fn prepared(orders: &CycleOrders, cycle: u64) -> DrawStream {
        let mut consumer = stream(ROWS);
        let position = cycle * u64::from(ROWS) + 5;
        orders
            .prepare(&mut consumer, position, &SharedFiles::default())
            .unwrap();
        assert_eq!(cycle_of(&consumer), Some(cycle));
        consumer
    }

    fn share_one(left: &DrawStream, right: &DrawStream) -> bool {
        Arc::ptr_eq(left.cycle_order().unwrap(), right.cycle_order().unwrap())
    }

    #[test]
    fn consumers_share_the_orders_of_the_latest_two_cycles() {
        let orders = CycleOrders::default();
        let first = [0, 1].map(|cycle| prepared(&orders, cycle));
        let again = [0, 1].map(|cycle| prepared(&orders, cycle));
        assert!(share_one(&first[0], &again[0]) && share_one(&first[1], &again[1]));
        prepared(&orders, 2);
        assert!(share_one(&first[1], &prepared(&orders, 1)));
        assert!(!share_one(&first[0], &prepared(&orders, 0)));
    }

    #[test]
    fn consumer_makes_its_own_order_where_another_one_is_at_it() {
        let orders = CycleOrders::default();
        let first = prepared(&orders, 3);
        let held = orders.kept.lock().unwrap();
        let own = prepared(&orders, 3);
        assert!(!share_one(&first, &own));
        drop(held);
        assert!(share_one(&first, &prepared(&orders, 3)));
    }

    #[test]
    fn orders_of_few_rows_and_of_other_modes_are_not_kept() {
        let orders = CycleOrders::default();
        let few = stream(100);
        let drawn = DrawStream::new(
            DrawMode::WithReplacement,
            Seed::new(7),
            stream(ROWS).tables().clone(),
        );
        for mut consumer in [few, drawn] {
            orders
                .prepare(&mut consumer, 5, &SharedFiles::default())
                .unwrap();
            assert_eq!(CycleOrders::awaited_cycle(&consumer, 5), None);
            orders.keep(&consumer);
        }
        assert!(orders.kept.lock().unwrap().is_empty());
    }
}

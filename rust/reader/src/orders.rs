//! Orders of weighted and of listed cycles, made once for all consumers of a snapshot.
//!
//! Owns which orders are kept in this process and when those of other processes are asked for. Must not decide what is drawn: an order that was made elsewhere gives
//! the same rows. Invariant: no lock is waited for, so a forked child is never stuck here; where the lock is taken, a consumer makes its own order.

use std::sync::{Arc, Mutex, TryLockError};

use dataset_rt_sampler::{CycleOrder, DrawStream};

use crate::error::ReaderError;
use crate::share::SharedFiles;

/// Tables of fewer rows are ordered faster than it pays to keep an order.
const KEPT_ROWS: u64 = 1 << 10;

/// Tables of fewer rows are ordered faster than an order is written to a file.
const FILED_ROWS: u64 = 1 << 16;

/// Kept orders: that of the cycle that is drawn from, and the one before, for consumers that lag behind.
const KEPT: usize = 2;

/// Latest orders of one stream.
#[derive(Debug, Default)]
pub(crate) struct CycleOrders {
    kept: Mutex<Vec<Arc<CycleOrder>>>,
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
        if stream
            .cycle_order()
            .is_some_and(|order| order.cycle() == cycle)
        {
            return Ok(());
        }
        if let Some(order) = self.kept(cycle) {
            return Ok(stream.adopt_cycle_order(order)?);
        }
        match files.orders_folder().filter(|_| is_filed(stream)) {
            Some(folder) => folder.prepare(stream, cycle, position)?,
            None => stream.prepare(position)?,
        }
        if let Some(order) = stream.cycle_order() {
            self.keep(order);
        }
        Ok(())
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

    fn kept(&self, cycle: u64) -> Option<Arc<CycleOrder>> {
        self.with_kept(|kept| kept.iter().find(|order| order.cycle() == cycle).cloned())
            .flatten()
    }

    fn keep(&self, order: &Arc<CycleOrder>) {
        self.with_kept(|kept| {
            kept.insert(0, Arc::clone(order));
            kept.truncate(KEPT);
        });
    }

    /// Acts on what is kept; `None` where another thread is at it, here or in the process this one was forked from.
    fn with_kept<T>(&self, act: impl FnOnce(&mut Vec<Arc<CycleOrder>>) -> T) -> Option<T> {
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

//! Draws to come: from positions to samples.
//!
//! Owns the meeting of the draw stream with the population. Must not read payloads. Invariant: a planned draw is a function of snapshot and position.

use std::sync::Arc;

use dataset_rt_format::{CacheId, RowIndex, SampleId};
use dataset_rt_sampler::{DrawStream, PositionRun, WindowProgress};

use crate::error::ReaderError;
use crate::snapshot::Snapshot;

/// One draw of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedDraw {
    /// Position in the stream.
    pub position: u64,
    /// Row of the active table.
    pub row: RowIndex,
    /// The row's cache.
    pub cache: CacheId,
    /// The row's sample within it.
    pub sample: SampleId,
}

/// Plans the draws of one consumer, block by block.
#[derive(Debug)]
pub(crate) struct Planner {
    snapshot: Arc<Snapshot>,
    stream: DrawStream,
    rows: Vec<RowIndex>,
}

impl Planner {
    pub(crate) fn new(snapshot: &Arc<Snapshot>) -> Self {
        Self {
            snapshot: Arc::clone(snapshot),
            stream: snapshot.stream().clone(),
            rows: Vec::new(),
        }
    }

    /// Appends the local draws `from..to` of a part of a window to `plan`, as far as the part has them.
    ///
    /// # Errors
    /// What the sampler finds; `plan` then holds what it held before.
    pub(crate) fn plan(
        &mut self,
        part: &WindowProgress,
        from: u64,
        to: u64,
        plan: &mut Vec<PlannedDraw>,
    ) -> Result<(), ReaderError> {
        let before = plan.len();
        let mut local = from;
        while let Some(run) = to
            .checked_sub(local)
            .and_then(|most| part.run_at(local, most))
        {
            if let Err(error) = self.plan_run(run, plan) {
                plan.truncate(before);
                return Err(error);
            }
            local += run.draws;
        }
        Ok(())
    }

    /// Appends the draws at any positions of the stream to `plan`.
    pub(crate) fn plan_run(
        &mut self,
        run: PositionRun,
        plan: &mut Vec<PlannedDraw>,
    ) -> Result<(), ReaderError> {
        let draws = usize::try_from(run.draws).unwrap_or(usize::MAX);
        self.rows.clear();
        self.rows.resize(draws, RowIndex::new(0));
        self.stream.rows_at(run.start, run.stride, &mut self.rows)?;
        plan.reserve(draws);
        for (number, row) in (0..).zip(&self.rows) {
            let (cache, sample) = self.snapshot.population().sample_of(*row)?;
            let position = run.start + run.stride * number;
            plan.push(PlannedDraw {
                position,
                row: *row,
                cache,
                sample,
            });
        }
        Ok(())
    }
}

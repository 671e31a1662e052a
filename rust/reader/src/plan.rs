//! Draws to come: from positions to samples.
//!
//! Owns the meeting of the draw stream with the population. Must not read payloads. Invariant: a planned draw is a function of snapshot and position.

use std::sync::Arc;

use dataset_rt_format::{CacheId, RowIndex, SampleId};
use dataset_rt_sampler::{DrawStream, PositionRun, WindowProgress};
use dataset_rt_storage::memory::reserve;

use crate::error::ReaderError;
use crate::orders::CycleOrders;
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

impl PlannedDraw {
    /// Its record.
    pub(crate) fn record(&self) -> (CacheId, SampleId) {
        (self.cache, self.sample)
    }
}

/// Plans the draws of one consumer, block by block.
#[derive(Debug)]
pub(crate) struct Planner {
    snapshot: Arc<Snapshot>,
    stream: DrawStream,
    rows: Vec<RowIndex>,
    /// Draws that were planned before they were asked for, and the local number of the first.
    ahead: (u64, Vec<PlannedDraw>),
}

impl Planner {
    pub(crate) fn new(snapshot: &Arc<Snapshot>) -> Self {
        Self {
            snapshot: Arc::clone(snapshot),
            stream: snapshot.stream().clone(),
            rows: Vec::new(),
            ahead: (0, Vec::new()),
        }
    }

    /// Whether local draw `local` can be planned at once; otherwise [`prepare`](Self::prepare) takes O(rows).
    pub(crate) fn is_ready(&self, part: &WindowProgress, local: u64) -> bool {
        let awaited = part
            .run_at(local, 1)
            .and_then(|run| CycleOrders::awaited_cycle(&self.stream, run.start));
        awaited.is_none_or(|cycle| self.kept_cycle() == Some(cycle))
    }

    /// Makes what local draw `local` needs.
    ///
    /// # Errors
    /// What the sampler finds.
    pub(crate) fn prepare(&mut self, part: &WindowProgress, local: u64) -> Result<(), ReaderError> {
        match part.run_at(local, 1) {
            Some(run) => self.snapshot.prepare(&mut self.stream, run.start),
            None => Ok(()),
        }
    }

    fn kept_cycle(&self) -> Option<u64> {
        self.stream.cycle_order().map(|order| order.cycle())
    }

    /// The same as [`plan`](Self::plan); what was planned is remembered, so that planning it again costs a copy.
    pub(crate) fn plan_ahead(
        &mut self,
        part: &WindowProgress,
        from: u64,
        to: u64,
        plan: &mut Vec<PlannedDraw>,
    ) -> Result<(), ReaderError> {
        let before = plan.len();
        self.plan(part, from, to, plan)?;
        let (first, draws) = &mut self.ahead;
        *first = from;
        draws.clear();
        reserve(draws, plan.len() - before)?;
        draws.extend_from_slice(plan.get(before..).unwrap_or_default());
        Ok(())
    }

    /// The draws `from..to` as they were planned ahead.
    fn remembered(&self, from: u64, to: u64) -> Option<&[PlannedDraw]> {
        let (first, draws) = &self.ahead;
        let start = usize::try_from(from.checked_sub(*first)?).ok()?;
        let end = usize::try_from(to.checked_sub(*first)?).ok()?;
        draws.get(start..end)
    }

    /// Appends the local draws `from..to` of a part of a window to `plan`, as far as the part has them and, where orders are worth waiting for, as far as the
    /// first one's cycle goes.
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
        if let Some(draws) = self.remembered(from, to) {
            plan.extend_from_slice(draws);
            return Ok(());
        }
        let before = plan.len();
        let mut local = from;
        while let Some(run) = to
            .checked_sub(local)
            .and_then(|most| part.run_at(local, most))
        {
            let run = match self.leading(run) {
                run if plan.len() == before || !self.starts_a_cycle(run) => run,
                _ => break,
            };
            if let Err(error) = self.plan_run(run, plan) {
                plan.truncate(before);
                return Err(error);
            }
            local += run.draws;
        }
        Ok(())
    }

    /// Whether the draws of `run` are of another cycle than the one before.
    fn starts_a_cycle(&self, run: PositionRun) -> bool {
        let awaited = CycleOrders::awaited_cycle(&self.stream, run.start);
        awaited.is_some_and(|cycle| self.kept_cycle() != Some(cycle))
    }

    /// As many draws of `run` as are of the cycle of the first one; all of them where cycles don't matter.
    fn leading(&self, run: PositionRun) -> PositionRun {
        if CycleOrders::awaited_cycle(&self.stream, run.start).is_none() {
            return run;
        }
        let rows = self.stream.tables().rows();
        let left = rows - run.start % rows;
        PositionRun {
            draws: run.draws.min(left.div_ceil(run.stride.max(1))),
            ..run
        }
    }

    /// Appends the draws at any positions of the stream to `plan`.
    ///
    /// # Errors
    /// What the sampler finds.
    pub(crate) fn plan_run(
        &mut self,
        mut run: PositionRun,
        plan: &mut Vec<PlannedDraw>,
    ) -> Result<(), ReaderError> {
        while run.draws > 0 {
            let piece = self.leading(run);
            self.plan_piece(piece, plan)?;
            run.draws -= piece.draws;
            run.start = run.start.wrapping_add(piece.draws.wrapping_mul(run.stride));
        }
        Ok(())
    }

    /// Appends draws of one cycle, where cycles matter.
    fn plan_piece(
        &mut self,
        run: PositionRun,
        plan: &mut Vec<PlannedDraw>,
    ) -> Result<(), ReaderError> {
        self.snapshot.prepare(&mut self.stream, run.start)?;
        let draws = usize::try_from(run.draws).unwrap_or(usize::MAX);
        self.rows.clear();
        reserve(&mut self.rows, draws)?;
        reserve(plan, draws)?;
        self.rows.resize(draws, RowIndex::new(0));
        self.stream.rows_at(run.start, run.stride, &mut self.rows)?;
        self.snapshot.keep(&self.stream);
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

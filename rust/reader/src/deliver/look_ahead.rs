//! What a consumer of several draws at once needs: to see them before they are read, and to give them back.
//!
//! Owns both. Must not read. Invariant: a draw that was given back is delivered again, in its place.

use dataset_rt_sampler::WindowProgress;
use dataset_rt_storage::memory::reserved;

use super::SampleIterator;
use crate::error::ReaderError;
use crate::plan::PlannedDraw;

/// How far an iterator had come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    progress: WindowProgress,
    skipped_corrupt: u64,
}

impl SampleIterator {
    /// The next `count` draws; fewer when fewer are left, or when a cycle ends whose next one has no order yet.
    ///
    /// # Errors
    /// What the sampler answers.
    pub(crate) fn upcoming(&mut self, count: u64) -> Result<Vec<PlannedDraw>, ReaderError> {
        let start = self.progress.delivered();
        let end = start.saturating_add(count).min(self.stop);
        let count = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        let mut draws = reserved(count)?;
        let planned = self
            .segments
            .iter()
            .flat_map(|segment| segment.draws.get(segment.next..).unwrap_or_default());
        draws.extend(planned.take(count));
        if end > self.planned && self.planner.is_ready(&self.progress, self.planned) {
            self.planner
                .plan_ahead(&self.progress, self.planned, end, &mut draws)?;
        }
        Ok(draws)
    }

    /// Whether the files that say where records are and how long have their length.
    pub(crate) fn have_indexes(&mut self, draws: &[PlannedDraw]) -> bool {
        let caches = self.window.snapshot().caches();
        self.index_lengths.are_indexes_intact(caches, draws)
    }

    /// Where it is.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            progress: self.progress,
            skipped_corrupt: self.skipped_corrupt,
        }
    }

    /// Gives back everything since the mark.
    pub(crate) fn return_to(&mut self, mark: Mark) {
        self.skipped_corrupt = mark.skipped_corrupt;
        self.restart_at(mark.progress);
    }

    /// Gives back the draw that was delivered or failed last; the mark is an earlier one.
    pub(crate) fn return_last(&mut self, mark: Mark) {
        let mut progress = mark.progress;
        let draws = self.progress.delivered() - progress.delivered();
        progress.advance(draws.saturating_sub(1));
        self.restart_at(progress);
    }

    /// Passes over what is left, as if it had been delivered.
    pub(crate) fn finish(&mut self) {
        let mut progress = self.progress;
        progress.finish();
        self.restart_at(progress);
    }

    fn restart_at(&mut self, progress: WindowProgress) {
        self.progress = progress;
        self.planned = progress.delivered();
        self.segments.clear();
        self.prefetch.reset();
    }
}

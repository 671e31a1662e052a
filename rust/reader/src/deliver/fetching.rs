//! Draws whose records are not in memory for certain: those of caches that come from URLs.
//!
//! Owns the two questions that an iterator asks about them. Must not fetch: jobs on the pool do. Invariant: a record that turns out to be gone is read again on the pool, in its place.

use dataset_rt_format::ErrorKind;
use dataset_rt_pool::PoolError;

use super::{Reading, SampleIterator, Segment};
use crate::coming::Coming;
use crate::error::ReaderError;
use crate::plan::PlannedDraw;

/// Whether a draw that failed is to be read again on the pool, where its record can be fetched.
pub(super) fn is_gone(coming: Option<&Coming>, draw: &PlannedDraw, error: &ReaderError) -> bool {
    coming.is_some_and(|coming| {
        error.kind() == ErrorKind::Corrupt && coming.store().replica(draw.cache).is_some()
    })
}

impl SampleIterator {
    /// Announces coming draws, and says whether records of these have to be fetched, or may have to be.
    #[cold]
    pub(super) fn has_to_fetch(&mut self, draws: &[PlannedDraw]) -> Result<bool, ReaderError> {
        let Some(coming) = &mut self.coming else {
            return Ok(false);
        };
        let planned = self.planned..self.planned + draws.len() as u64;
        coming.advance(&self.progress, planned, self.stop)?;
        let are_there = coming
            .store()
            .are_resident(draws.iter().map(PlannedDraw::record))
            .map_err(|source| ReaderError::of_store(None, source))?;
        Ok(!are_there)
    }

    /// Has the next draws, which were to be read here, read on the pool.
    #[cold]
    pub(super) fn read_next_on_pool(&mut self) -> Result<(), PoolError> {
        let Some(mut front) = self.segments.pop_front() else {
            return Ok(());
        };
        let mut draws = front.draws.split_off(front.next);
        let job_draws = usize::try_from(self.prefetch.job_draws()).unwrap_or(usize::MAX);
        let later = draws.split_off(draws.len().min(job_draws));
        if !later.is_empty() {
            self.segments.push_front(Segment {
                draws: later,
                next: 0,
                reading: Reading::Inline,
                is_cold: front.is_cold,
            });
        }
        let submitted = self.prefetch.submit(&draws, true);
        self.segments.push_front(Segment {
            draws,
            next: 0,
            reading: match &submitted {
                Ok(()) => Reading::Submitted,
                Err(_) => Reading::Inline,
            },
            is_cold: true,
        });
        submitted
    }
}

//! Blocks of draws: planned together, judged together, read here or on the pool.
//!
//! Owns how long a block is and where it is read. Must not deliver. Invariant: blocks follow each other without a gap, and those that were submitted are taken in the
//! order in which they were.

use dataset_rt_pool::PoolError;

use super::{Reading, SampleIterator, Segment};
use crate::error::ReaderError;
use crate::schedule::{Lane, judge};

/// Draws that are planned and judged together, once an iterator has come so far.
pub(super) const PLAN_DRAWS: u64 = 256;

/// How many times as long as the one before a block is, up to [`PLAN_DRAWS`].
const BLOCK_GROWTH: u64 = 8;

impl SampleIterator {
    /// Whether the pool is at work, so that more draws are worth submitting.
    pub(super) fn reads_ahead(&self) -> bool {
        self.segments
            .back()
            .is_some_and(|segment| matches!(segment.reading, Reading::Submitted))
    }

    /// Submits what the parent of a forked process had submitted: it is read there, and not here.
    pub(super) fn submit_again(&mut self) -> Result<(), PoolError> {
        self.prefetch.reset();
        let submitted = self
            .segments
            .iter()
            .filter(|segment| matches!(segment.reading, Reading::Submitted));
        for segment in submitted {
            self.prefetch.submit(&segment.draws, segment.is_cold)?;
        }
        Ok(())
    }

    /// Plans the next draws, judges where they are to be read, and submits those for the pool.
    pub(super) fn plan_block(&mut self) -> Result<(), ReaderError> {
        let draws = if self.reads_ahead() {
            self.prefetch.job_draws()
        } else {
            self.block_draws
        };
        let end = self.planned.saturating_add(draws).min(self.stop);
        let mut draws = Vec::new();
        self.planner
            .plan(&self.progress, self.planned, end, &mut draws)?;
        let has_to_fetch = self.coming.is_some() && self.has_to_fetch(&draws)?;
        let snapshot = self.window.snapshot();
        let caches = snapshot.caches();
        // Files that were cut are not touched, not even to judge; each draw then looks for itself. What is not mapped is looked at where it is read.
        let is_judged = !snapshot.options().is_mapped || self.lengths.are_intact(caches, &draws);
        let lane = match (has_to_fetch, is_judged) {
            (true, _) => Lane::Cold,
            (false, true) => judge(snapshot, &draws, self.warm_blocks),
            (false, false) => Lane::Inline,
        };
        self.warm_blocks = match lane {
            Lane::Cold => 0,
            Lane::Inline | Lane::Decode => self.warm_blocks.saturating_add(1),
        };
        let reading = match lane {
            Lane::Inline => {
                self.block_draws = (self.block_draws * BLOCK_GROWTH).min(PLAN_DRAWS);
                Reading::Inline
            }
            Lane::Cold | Lane::Decode => {
                draws.truncate(usize::try_from(self.prefetch.job_draws()).unwrap_or(usize::MAX));
                let is_cold = lane == Lane::Cold;
                match self.prefetch.submit(&draws, is_cold) {
                    Err(PoolError::LostInFork) => {
                        self.submit_again()?;
                        self.prefetch.submit(&draws, is_cold)?;
                    }
                    outcome => outcome?,
                }
                Reading::Submitted
            }
        };
        self.planned += draws.len() as u64;
        self.segments.push_back(Segment {
            draws,
            next: 0,
            reading,
            is_cold: lane == Lane::Cold,
        });
        Ok(())
    }
}

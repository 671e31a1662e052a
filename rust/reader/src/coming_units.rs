//! What a reader of units will need: every so many draws of a window some, for each of several processes.
//!
//! Owns how far ahead, as `coming` does for a window that one iterator reads. Must not fetch or wait. Invariant: units that other readers have are not announced here, so that no record is fetched twice.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use dataset_rt_pool::CancelToken;
use dataset_rt_replica::{Announcement, Store};
use dataset_rt_sampler::WindowProgress;

use crate::coming::later_shares;
use crate::error::ReaderError;
use crate::plan::{PlannedDraw, Planner};
use crate::window::ClaimedWindow;

/// Units announced ahead at most, however short their records are.
const AHEAD_UNITS: usize = 64;

/// Announces the units that one reader has of a window over caches of which some come from URLs.
pub struct ComingUnits {
    store: Arc<Store>,
    planner: Planner,
    progress: WindowProgress,
    draws: u64,
    interest: CancelToken,
    /// Announced units that are not read yet, by the local number behind the last draw.
    told: VecDeque<(u64, Announcement)>,
    /// First draw of the unit that is announced next.
    next: u64,
    later_shares: Vec<f64>,
}

impl ComingUnits {
    /// Of a window over caches of which some come from URLs; `None` for any other.
    #[must_use]
    pub fn of(window: &ClaimedWindow) -> Option<Self> {
        let snapshot = window.snapshot();
        let store = snapshot.caches().store()?;
        Some(Self {
            store: Arc::clone(store),
            planner: Planner::new(snapshot),
            progress: window.progress(),
            draws: window.draws(),
            interest: CancelToken::new(),
            told: VecDeque::new(),
            next: 0,
            later_shares: later_shares(window),
        })
    }

    /// Announces the unit of `span` draws that begins at draw `start`, and those that begin every `stride` draws behind it, as far as there is room for them; forgets those before it.
    ///
    /// # Errors
    /// What the sampler or the store's own files answer.
    pub fn advance(&mut self, start: u64, span: u64, stride: u64) -> Result<(), ReaderError> {
        while self.told.front().is_some_and(|(end, _)| *end <= start) {
            self.told.pop_front();
        }
        let stride = stride.max(span).max(1);
        if self.next < start || !(self.next - start).is_multiple_of(stride) {
            self.next = start;
        }
        if self.next == start && !self.planner.is_ready(&self.progress, start) {
            self.planner.prepare(&self.progress, start)?;
        }
        while self.next < self.draws
            && self.has_room()
            && self.planner.is_ready(&self.progress, self.next)
        {
            let end = self.draws.min(self.next.saturating_add(span));
            let mut draws = Vec::new();
            self.planner
                .plan(&self.progress, self.next, end, &mut draws)?;
            let records: Vec<_> = draws.iter().map(PlannedDraw::record).collect();
            let told = self
                .store
                .announce(&records, &self.later_shares, &self.interest)
                .map_err(|source| ReaderError::of_store(None, source))?;
            self.told.push_back((end, told));
            self.next = self.next.saturating_add(stride);
        }
        Ok(())
    }

    fn has_room(&self) -> bool {
        let bytes: u64 = self.told.iter().map(|(_, told)| told.bytes()).sum();
        self.told.is_empty()
            || (bytes < self.store.options().ahead_bytes() && self.told.len() < AHEAD_UNITS)
    }
}

impl fmt::Debug for ComingUnits {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ComingUnits")
            .field("next", &self.next)
            .field("told", &self.told.len())
            .finish_non_exhaustive()
    }
}

impl Drop for ComingUnits {
    fn drop(&mut self) {
        self.interest.cancel();
    }
}

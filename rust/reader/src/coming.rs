//! What a reader will need, told to the store ahead of time.
//!
//! Owns how far ahead: as many draws as have the bytes that the store may fetch ahead. Must not fetch or wait. Invariant: what was announced and not yet delivered stays in the store; what is
//! announced has no influence on what is delivered.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use dataset_rt_pool::CancelToken;
use dataset_rt_replica::{Announcement, Store};
use dataset_rt_sampler::{DrawMode, WindowProgress};

use crate::error::ReaderError;
use crate::plan::{PlannedDraw, Planner};
use crate::window::ClaimedWindow;

/// Draws of the first announcement: the first sample must not wait for thousands to be planned.
const FIRST_DRAWS: u64 = 64;
/// Draws of an announcement at most.
const MOST_DRAWS: u64 = 4096;
/// How many times as long as the one before an announcement is, up to that.
const GROWTH: u64 = 4;
/// Draws announced ahead at most, however short their records are.
const AHEAD_DRAWS: u64 = 64 * 1024;
/// Rows of the table that are looked at to learn how much of each cache is in it.
const PROBES: u64 = 512;

/// Announces the draws of one iterator.
#[derive(Debug)]
pub(crate) struct Coming {
    store: Arc<Store>,
    planner: Planner,
    interest: CancelToken,
    /// Announced draws that are not delivered yet, by the local number behind the last of them.
    told: VecDeque<(u64, Announcement)>,
    /// Local draws up to this one were announced or passed over.
    announced: u64,
    next_draws: u64,
    /// Bytes and draws of all announcements so far.
    total: (u64, u64),
    later_shares: Vec<f64>,
}

impl Coming {
    /// Of a window over caches of which some come from URLs; `None` for any other.
    pub(crate) fn of(window: &ClaimedWindow, start: u64) -> Option<Box<Self>> {
        let snapshot = window.snapshot();
        let store = snapshot.caches().store()?;
        Some(Box::new(Self {
            store: Arc::clone(store),
            planner: Planner::new(snapshot),
            interest: CancelToken::new(),
            told: VecDeque::new(),
            announced: start,
            next_draws: FIRST_DRAWS,
            total: (0, 0),
            later_shares: later_shares(window),
        }))
    }

    /// The store.
    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Announces more, as far as there is room for it and the draws `planned` in any case, and forgets what was delivered. The reader has planned these just now, so the order of their cycle is
    /// there.
    ///
    /// # Errors
    /// What the sampler or the store's own files answer.
    pub(crate) fn advance(
        &mut self,
        progress: &WindowProgress,
        planned: Range<u64>,
        stop: u64,
    ) -> Result<(), ReaderError> {
        let delivered = progress.delivered();
        while self.told.front().is_some_and(|(end, _)| *end <= delivered) {
            self.told.pop_front();
        }
        self.announced = self.announced.max(delivered);
        if self.announced <= planned.start && !self.planner.is_ready(progress, self.announced) {
            self.planner.prepare(progress, self.announced)?;
        }
        while (self.announced < planned.end || self.has_room(delivered))
            && self.announced < stop
            && self.planner.is_ready(progress, self.announced)
        {
            let wanted = planned.end.saturating_sub(self.announced).max(1);
            let draws = self.next_draws.min(self.fitting_draws()).max(wanted);
            let end = stop.min(self.announced + draws);
            let mut draws = Vec::new();
            self.planner
                .plan(progress, self.announced, end, &mut draws)?;
            let records: Vec<_> = draws.iter().map(PlannedDraw::record).collect();
            let told = self
                .store
                .announce(&records, &self.later_shares, &self.interest)
                .map_err(|source| ReaderError::of_store(None, source))?;
            self.announced += records.len() as u64;
            self.total.0 += told.bytes();
            self.total.1 += records.len() as u64;
            self.told.push_back((self.announced, told));
            self.next_draws = MOST_DRAWS.min(self.next_draws * GROWTH);
            if records.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn has_room(&self, delivered: u64) -> bool {
        self.free_bytes() > 0 && self.announced - delivered < AHEAD_DRAWS
    }

    fn free_bytes(&self) -> u64 {
        let bytes = self.told.iter().map(|(_, told)| told.bytes()).sum();
        self.store.options().ahead_bytes().saturating_sub(bytes)
    }

    /// Draws that have the bytes that may still be announced, if they are as long as those before.
    fn fitting_draws(&self) -> u64 {
        let (bytes, draws) = self.total;
        match bytes.checked_div(draws) {
            Some(mean) if mean > 0 => self.free_bytes() / mean,
            _ => u64::MAX,
        }
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        self.interest.cancel();
    }
}

/// For each cache the part of its records that the window still needs, about.
pub(crate) fn later_shares(window: &ClaimedWindow) -> Vec<f64> {
    let snapshot = window.snapshot();
    let caches = snapshot.caches();
    let population = snapshot.population();
    let rows = population.rows().max(1);
    let mut probes = vec![0_u64; caches.iter().count()];
    let count = rows.min(PROBES);
    for number in 0..count {
        let row = u128::from(rows) * u128::from(number) / u128::from(count);
        let row = dataset_rt_format::RowIndex::new(u64::try_from(row).unwrap_or(0));
        // A row that names no sample is an error of its draw.
        if let Ok((cache, _)) = population.sample_of(row)
            && let Some(probes) = probes.get_mut(usize::try_from(cache.get()).unwrap_or(usize::MAX))
        {
            *probes += 1;
        }
    }
    let drawn = window.draws() as f64 / rows as f64;
    let drawn = match snapshot.stream().mode() {
        // Somewhat less than the expected 1 - exp(-drawn).
        DrawMode::WithReplacement => drawn / (1.0 + drawn),
        DrawMode::Ordered | DrawMode::EachOnce => drawn.min(1.0),
    };
    let part = |(probes, (_, cache)): (u64, (_, &Arc<dataset_rt_storage::LoadedCache>))| {
        let rows = rows as f64 * probes as f64 / count as f64;
        drawn * (rows / cache.sample_count().max(1) as f64).min(1.0)
    };
    probes.into_iter().zip(caches.iter()).map(part).collect()
}

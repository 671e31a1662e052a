//! A look at file lengths shortly before mapped bytes are copied.
//!
//! Owns how long a look is trusted. Must not read. Invariant: no mapped byte is copied more than [`FRESH`] and a tick of the clock (together 11 ms at most) after its
//! file was last seen at full length, so a file that somebody cut is an error of a draw and not the end of the process, but for cuts within that time.

use std::time::Duration;

use dataset_rt_format::{CacheId, ShardId};

use crate::caches::CacheSet;
use crate::clock;
use crate::error::ReaderError;
use crate::plan::PlannedDraw;

/// How long a look is trusted.
const FRESH: Duration = Duration::from_millis(1);

/// Remembers which files were looked at, and when.
#[derive(Debug, Default)]
pub(crate) struct LengthWatch {
    /// No later than the look at any of the files below.
    seen: Option<Duration>,
    /// Sorted, both of them.
    caches: Vec<CacheId>,
    shards: Vec<(CacheId, ShardId)>,
}

impl LengthWatch {
    /// Makes sure of the files of `draw`, the first of `coming`; looks at those of all of them if the last look is too old.
    ///
    /// # Errors
    /// [`ReaderError::Cache`] when a file of `draw` has not the length of the manifest. Files of later draws are their business.
    #[inline]
    pub(crate) fn look(
        &mut self,
        caches: &CacheSet,
        coming: &[PlannedDraw],
        draw: &PlannedDraw,
    ) -> Result<(), ReaderError> {
        let is_fresh = self
            .seen
            .is_some_and(|seen| clock::now().saturating_sub(seen) < FRESH);
        if is_fresh || self.are_intact(caches, coming) {
            return Ok(());
        }
        self.forget();
        let outcome = self.look_at(caches, draw);
        self.forget();
        outcome
    }

    /// Says whether all files of these draws have their length; looks at those that were not looked at just now.
    ///
    /// # Cost
    /// An index row per draw; a system call per file, once within [`FRESH`].
    pub(crate) fn are_intact(&mut self, caches: &CacheSet, draws: &[PlannedDraw]) -> bool {
        self.all_pass(draws, |lengths, draw| lengths.look_at(caches, draw))
    }

    /// The same of the index and metadata files alone: their rows may be read then, and no record.
    pub(crate) fn are_indexes_intact(&mut self, caches: &CacheSet, draws: &[PlannedDraw]) -> bool {
        self.all_pass(draws, |lengths, draw| {
            lengths.look_at_index(caches, draw.cache)
        })
    }

    fn all_pass(
        &mut self,
        draws: &[PlannedDraw],
        look: impl Fn(&mut Self, &PlannedDraw) -> Result<(), ReaderError>,
    ) -> bool {
        let now = clock::now();
        if self
            .seen
            .is_none_or(|seen| now.saturating_sub(seen) >= FRESH)
        {
            self.forget();
            self.seen = Some(now);
        }
        let are_intact = draws.iter().all(|draw| look(self, draw).is_ok());
        if !are_intact {
            self.forget();
        }
        are_intact
    }

    fn forget(&mut self) {
        self.seen = None;
        self.caches.clear();
        self.shards.clear();
    }

    /// Looks at the index and metadata files of a cache, unless they are remembered.
    fn look_at_index(&mut self, caches: &CacheSet, cache: CacheId) -> Result<(), ReaderError> {
        if let (Some(opened), Err(place)) = (caches.get(cache), self.caches.binary_search(&cache)) {
            let cut = |source| ReaderError::Cache { cache, source };
            opened.recheck_lengths(&[]).map_err(cut)?;
            self.caches.insert(place, cache);
        }
        Ok(())
    }

    /// Looks at the files of a draw that are not remembered.
    fn look_at(&mut self, caches: &CacheSet, draw: &PlannedDraw) -> Result<(), ReaderError> {
        let cache = draw.cache;
        let Some(opened) = caches.get(cache) else {
            return Ok(());
        };
        let cut = |source| ReaderError::Cache { cache, source };
        // The index first: a shard can only be told from a row that is there.
        self.look_at_index(caches, cache)?;
        let shard = match opened.manifest().shard_count() {
            1 => ShardId::new(0),
            _ => match opened.record_place(draw.sample) {
                Ok(place) => place.shard,
                // An error of the draw itself, which comes when that is read.
                Err(_) => return Ok(()),
            },
        };
        if let Err(place) = self.shards.binary_search(&(cache, shard)) {
            opened.recheck_shard(shard).map_err(cut)?;
            self.shards.insert(place, (cache, shard));
        }
        Ok(())
    }
}

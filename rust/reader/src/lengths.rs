//! A look at file lengths shortly before mapped bytes are copied.
//!
//! Owns how long a look is trusted. Must not read. Invariant: no mapped byte is copied more than [`FRESH`] after its file was last seen at full length, so a file
//! that somebody cut is an error of a draw and not the end of the process, but for cuts within that time.

use std::time::{Duration, Instant};

use dataset_rt_format::{CacheId, SampleId};

use crate::caches::CacheSet;
use crate::error::ReaderError;
use crate::plan::PlannedDraw;

/// How long a look is trusted.
const FRESH: Duration = Duration::from_millis(1);

/// Remembers when lengths were last looked at.
#[derive(Debug, Default)]
pub(crate) struct LengthWatch {
    seen: Option<Instant>,
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
        if self.seen.is_some_and(|seen| seen.elapsed() < FRESH) || self.are_intact(caches, coming) {
            return Ok(());
        }
        check_draws(caches, std::slice::from_ref(draw))
    }

    /// Looks at the files of these draws and says whether all of them have their length.
    pub(crate) fn are_intact(&mut self, caches: &CacheSet, draws: &[PlannedDraw]) -> bool {
        let intact = check_draws(caches, draws).is_ok();
        self.seen = intact.then(Instant::now);
        intact
    }
}

fn check_draws(caches: &CacheSet, draws: &[PlannedDraw]) -> Result<(), ReaderError> {
    let mut samples: Vec<_> = draws.iter().map(|draw| (draw.cache, draw.sample)).collect();
    samples.sort_unstable();
    samples
        .chunk_by(|left, right| left.0 == right.0)
        .try_for_each(|group| check_cache(caches, group))
}

fn check_cache(caches: &CacheSet, group: &[(CacheId, SampleId)]) -> Result<(), ReaderError> {
    let Some((cache, _)) = group.first() else {
        return Ok(());
    };
    let Some(opened) = caches.get(*cache) else {
        return Ok(());
    };
    let cut = |source| ReaderError::Cache {
        cache: *cache,
        source,
    };
    // The index first: shards can only be told from rows that are there.
    opened.recheck_lengths(&[]).map_err(cut)?;
    let rows = group
        .iter()
        .filter_map(|(_, sample)| opened.index_row(*sample).ok());
    let mut shards: Vec<_> = rows.map(|row| row.shard).collect();
    shards.sort_unstable();
    shards.dedup();
    opened.recheck_lengths(&shards).map_err(cut)
}

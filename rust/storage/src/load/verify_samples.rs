//! From findings to the samples that they concern.
//!
//! Owns: running checks over consecutive samples, and the audit of all rows together. Must not: hash files.
//! Invariant: neighbours with findings make one damage; what follows a gap or an overlap in the index is not judged.
//! Format text: `FORMAT.md`, "index.bin", "Verification".

use std::ops::Range;

use dataset_rt_format::{
    CacheFile, ErrorKind, FormatError, IndexAudit, IndexRow, Region, SampleId, ShardId, Site,
};
use dataset_rt_pool::CancelToken;

use super::cache::LoadedCache;
use super::verify::Damage;
use super::verify_file::FileCheck;
use crate::error::StorageError;

impl FileCheck<'_> {
    /// Runs `check` on consecutive samples and lists those that fail, neighbours together.
    pub(crate) fn name_samples(
        &self,
        samples: Range<u64>,
        cancel: &CancelToken,
        mut check: impl FnMut(SampleId) -> Result<(), StorageError>,
    ) -> Result<Vec<Damage>, StorageError> {
        let mut damages: Vec<Damage> = Vec::new();
        for sample in samples {
            if cancel.is_cancelled() {
                return Err(StorageError::Cancelled);
            }
            let Err(error) = check(SampleId::new(sample)) else {
                continue;
            };
            if error.kind() != ErrorKind::Corrupt {
                return Err(error);
            }
            match damages
                .last_mut()
                .and_then(|damage| damage.samples.as_mut())
            {
                Some(last) if last.end == sample => last.end += 1,
                _ => damages.push(Damage {
                    error,
                    samples: Some(sample..sample + 1),
                }),
            }
        }
        Ok(damages)
    }

    /// The samples of a shard, found by bisection; all samples where the index is damaged.
    pub(crate) fn samples_of(&self, cache: &LoadedCache, shard: ShardId) -> Range<u64> {
        let count = cache.sample_count();
        let first_not_below = |wanted: u32| {
            let (mut low, mut high) = (0, count);
            while low < high {
                let middle = low + (high - low) / 2;
                let place = cache.record_place(SampleId::new(middle)).ok()?;
                if place.shard.get() < wanted {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            Some(low)
        };
        match (
            first_not_below(shard.get()),
            first_not_below(shard.get().saturating_add(1)),
        ) {
            (Some(start), Some(end)) => start..end,
            _ => 0..count,
        }
    }

    /// Checks that records stand back to back and fill the shards; gives the sum of raw lengths, where all is well.
    pub(crate) fn audit(
        &self,
        cache: &LoadedCache,
        mut audit: IndexAudit<'_>,
        cancel: &CancelToken,
        row_of: impl Fn(SampleId) -> Result<IndexRow, StorageError>,
    ) -> Result<(Vec<Damage>, u64), StorageError> {
        let mut has_gap = false;
        let mut damages = self.name_samples(0..cache.sample_count(), cancel, |sample| {
            let row = row_of(sample)?;
            if !has_gap && let Err(finding) = audit.push(sample, &row) {
                // What follows a gap or an overlap can't be judged.
                has_gap = true;
                return Err(cache.damage(finding));
            }
            Ok(())
        })?;
        let payload_bytes = audit.payload_bytes();
        if let (true, Err(finding)) = (damages.is_empty(), audit.finish()) {
            damages.push(Damage {
                error: cache.damage(finding),
                samples: None,
            });
        }
        Ok((damages, payload_bytes))
    }

    /// The audit of format 1, whose rows also say how many payload bytes there are.
    pub(super) fn verify_rows(
        &self,
        cache: &LoadedCache,
        cancel: &CancelToken,
    ) -> Result<Vec<Damage>, StorageError> {
        let manifest = cache.manifest();
        let shards = (0..manifest.shard_count()).filter_map(|shard| manifest.shard_bytes(shard));
        let shard_bytes: Vec<u64> = shards.collect();
        let audit = IndexAudit::new(&shard_bytes);
        let (mut damages, found) =
            self.audit(cache, audit, cancel, |sample| cache.index_row(sample))?;
        let expected = manifest.payload_bytes();
        if damages.is_empty() && found != expected {
            let finding = FormatError::Mismatch {
                site: Site::new(CacheFile::Manifest, Region::Json, 0),
                field: "payload_bytes",
                expected: found,
                found: expected,
            };
            damages.push(Damage {
                error: cache.damage(finding),
                samples: None,
            });
        }
        Ok(damages)
    }
}

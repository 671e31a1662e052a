//! Verification of one file of a cache.
//!
//! Owns: what is checked of which file. Must not: use the mapping for shards: files are read, so a file that is cut
//! meanwhile is a finding and not the end of the process.
//! Invariant: a finding names samples wherever records, rows or values of them can be told to be damaged.
//! Format text: `FORMAT.md`, "Verification".

use std::io;
use std::sync::atomic::Ordering;

use dataset_rt_format::{
    CacheFile, FileHasher, FileSeal, FormatError, IndexAudit, Region, SampleId, Site,
};
use dataset_rt_pool::CancelToken;

use super::cache::LoadedCache;
use super::verify::{Damage, FileCheck, VerifyProgress};
use crate::durable::DiskFile;
use crate::error::StorageError;

/// Bytes read at once; small enough to stay in a core's cache between read and hash.
const CHUNK_BYTES: u64 = 256 * 1024;

/// Checks one file in full.
pub(super) fn verify_file(
    cache: &LoadedCache,
    file: CacheFile,
    seal: FileSeal,
    progress: &VerifyProgress,
    cancel: &CancelToken,
) -> Result<Vec<Damage>, StorageError> {
    let check = FileCheck { cache, file, seal };
    let on_disk = match cache.dir.open_file(&file.path()) {
        Err(error) if error.io_kind() == Some(io::ErrorKind::NotFound) => {
            let cache = cache.path().to_owned();
            let error = StorageError::MissingFile {
                cache,
                file,
                expected_bytes: seal.bytes,
            };
            return Ok(vec![Damage {
                error,
                samples: None,
            }]);
        }
        opened => opened?,
    };
    let found = on_disk.len_bytes()?;
    if found != seal.bytes {
        let site = Site::new(file, Region::File, 0);
        let finding = FormatError::Mismatch {
            site,
            field: "file length",
            expected: seal.bytes,
            found,
        };
        return Ok(vec![Damage {
            error: cache.damage(finding),
            samples: None,
        }]);
    }
    let digest_finding = check.hash(&on_disk, progress, cancel)?;
    let mut damages = match (file, &digest_finding) {
        (CacheFile::Shard(shard), Some(_)) => {
            check.name_samples(check.samples_of(shard), cancel, |sample| {
                check.record(&on_disk, shard.get(), sample)
            })?
        }
        (CacheFile::Index, Some(_)) => {
            check.name_samples(0..cache.sample_count(), cancel, |sample| {
                cache.index_row(sample).map(|_| ())
            })?
        }
        (CacheFile::Index, None) => check.audit(cancel)?,
        (CacheFile::Metadata, _) => {
            check.name_samples(0..cache.sample_count(), cancel, |sample| {
                check.values(sample)
            })?
        }
        _ => Vec::new(),
    };
    if damages.is_empty()
        && let Some(finding) = digest_finding
    {
        damages.push(Damage {
            error: cache.damage(finding),
            samples: None,
        });
    }
    Ok(damages)
}

impl FileCheck<'_> {
    /// Hashes the file; the finding if the digest is another.
    fn hash(
        &self,
        on_disk: &DiskFile,
        progress: &VerifyProgress,
        cancel: &CancelToken,
    ) -> Result<Option<FormatError>, StorageError> {
        let site = Site::new(self.file, Region::File, 0);
        let mut hasher = FileHasher::new();
        let mut buffer = vec![0; usize::try_from(CHUNK_BYTES.min(self.seal.bytes)).unwrap_or(0)];
        let mut offset = 0;
        while offset < self.seal.bytes {
            if cancel.is_cancelled() {
                return Err(StorageError::Cancelled);
            }
            let bytes = CHUNK_BYTES.min(self.seal.bytes - offset);
            let chunk = buffer
                .get_mut(..usize::try_from(bytes).unwrap_or(0))
                .unwrap_or_default();
            match on_disk.read_exact_at(chunk, offset) {
                Err(error) if error.io_kind() == Some(io::ErrorKind::UnexpectedEof) => {
                    let found_bytes = on_disk.len_bytes()?;
                    return Ok(Some(FormatError::Truncated {
                        site,
                        expected_bytes: self.seal.bytes,
                        found_bytes,
                    }));
                }
                outcome => outcome?,
            }
            hasher.update(chunk);
            offset += bytes;
            progress.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        let found = hasher.seal().digest;
        let covered_bytes = self.seal.bytes;
        Ok(
            (found != self.seal.digest).then_some(FormatError::DigestMismatch {
                site,
                covered_bytes,
                expected: self.seal.digest,
                found,
            }),
        )
    }

    /// Checks the record of a sample, if it is in this shard.
    fn record(&self, on_disk: &DiskFile, shard: u32, sample: SampleId) -> Result<(), StorageError> {
        // A damaged row is a finding about the index.
        let Ok(row) = self.cache.index_row(sample) else {
            return Ok(());
        };
        if row.shard.get() != shard {
            return Ok(());
        }
        let mut stored = vec![0; row.stored_bytes as usize];
        match on_disk.read_exact_at(&mut stored, row.offset_bytes) {
            Err(error) if error.io_kind() == Some(io::ErrorKind::UnexpectedEof) => stored.clear(),
            outcome => outcome?,
        }
        self.cache.check_record(sample, &row, &stored)
    }

    /// Checks that all values of a sample can be read.
    fn values(&self, sample: SampleId) -> Result<(), StorageError> {
        let row = self.cache.metadata_row(sample)?;
        (0..self.cache.manifest.schema.len()).try_for_each(|column| row.value(column).map(|_| ()))
    }

    /// Checks that records stand back to back and fill the shards.
    fn audit(&self, cancel: &CancelToken) -> Result<Vec<Damage>, StorageError> {
        let shard_bytes: Vec<u64> = self
            .cache
            .manifest
            .shards
            .iter()
            .map(|seal| seal.bytes)
            .collect();
        let mut audit = IndexAudit::new(&shard_bytes);
        let mut first_finding = None;
        let damages = self.name_samples(0..self.cache.sample_count(), cancel, |sample| {
            let row = self.cache.index_row(sample)?;
            if first_finding.is_none()
                && let Err(finding) = audit.push(sample, &row)
            {
                // What follows a gap or an overlap can't be judged.
                first_finding = Some(sample.get());
                return Err(self.cache.damage(finding));
            }
            Ok(())
        })?;
        match audit.finish() {
            Err(finding) if damages.is_empty() => Ok(vec![Damage {
                error: self.cache.damage(finding),
                samples: None,
            }]),
            _ => Ok(damages),
        }
    }
}

//! Verification of one file of a cache.
//!
//! Owns: existence, length and hash of a file, and which further checks it gets. Must not: use the mapping for shards:
//! files are read, so a file that is cut meanwhile is a finding and not the end of the process.
//! Invariant: a finding names samples wherever records, rows or values of them can be told to be damaged.
//! Format text: `FORMAT.md`, "Verification"; `ORIGINAL.md`, "Verification".

use std::io;
use std::sync::atomic::Ordering;

use dataset_rt_format::{CacheFile, FormatError, Region, Site};
use dataset_rt_pool::CancelToken;

use super::cache::LoadedCache;
use super::file_hash::RunningHash;
use super::manifest::ListedFile;
use super::rows::Rows;
use super::verify::{Damage, VerifyProgress};
use crate::durable::{DirHandle, DiskFile};
use crate::error::StorageError;

/// Bytes read at once; small enough to stay in a core's cache between read and hash.
const CHUNK_BYTES: u64 = 256 * 1024;

/// What is checked of one file.
pub(crate) struct FileCheck<'a> {
    pub(super) dir: &'a DirHandle,
    /// The open cache; without it a file is judged by itself.
    pub(super) cache: Option<&'a LoadedCache>,
    pub(super) listed: ListedFile,
}

impl FileCheck<'_> {
    /// Checks the file in full.
    pub(super) fn run(
        &self,
        progress: &VerifyProgress,
        cancel: &CancelToken,
    ) -> Result<Vec<Damage>, StorageError> {
        let ListedFile { file, bytes, .. } = self.listed;
        let on_disk = match self.dir.open_file(&file.path()) {
            Err(error) if error.io_kind() == Some(io::ErrorKind::NotFound) => {
                return Ok(vec![Damage {
                    error: StorageError::MissingFile {
                        cache: self.dir.path().to_owned(),
                        file,
                        expected_bytes: bytes,
                    },
                    samples: None,
                }]);
            }
            opened => opened?,
        };
        let found = on_disk.len_bytes()?;
        if found != bytes {
            return Ok(vec![self.damage(FormatError::Mismatch {
                site: Site::new(file, Region::File, 0),
                field: "file length",
                expected: bytes,
                found,
            })]);
        }
        let hash_finding = self.hash(&on_disk, progress, cancel)?;
        let mut damages = match self.cache {
            Some(cache) => self.look_inside(cache, &on_disk, hash_finding.is_some(), cancel)?,
            None => Vec::new(),
        };
        if damages.is_empty()
            && let Some(finding) = hash_finding
        {
            damages.push(self.damage(finding));
        }
        Ok(damages)
    }

    /// Compares what is in the file with the other files.
    fn look_inside(
        &self,
        cache: &LoadedCache,
        on_disk: &DiskFile,
        has_other_hash: bool,
        cancel: &CancelToken,
    ) -> Result<Vec<Damage>, StorageError> {
        let samples = 0..cache.sample_count();
        match (&cache.rows, self.listed.file) {
            (_, CacheFile::Metadata) => {
                self.name_samples(samples, cancel, |sample| cache.check_values(sample))
            }
            (Rows::Original(rows), CacheFile::Index) => rows.verify_rows(self, cache, cancel),
            (Rows::Original(rows), CacheFile::Shard(shard)) => {
                rows.verify_shard(self, cache, on_disk, shard, cancel)
            }
            (Rows::Format1(_), CacheFile::Index) if has_other_hash => {
                self.name_samples(samples, cancel, |sample| {
                    cache.index_row(sample).map(|_| ())
                })
            }
            (Rows::Format1(_), CacheFile::Index) => self.verify_rows(cache, cancel),
            (Rows::Format1(_), CacheFile::Shard(shard)) if has_other_hash => {
                self.name_samples(self.samples_of(cache, shard), cancel, |sample| {
                    verify_record(cache, on_disk, shard, sample)
                })
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Hashes the file; the finding if the hash is another.
    fn hash(
        &self,
        on_disk: &DiskFile,
        progress: &VerifyProgress,
        cancel: &CancelToken,
    ) -> Result<Option<FormatError>, StorageError> {
        let total = self.listed.bytes;
        let mut hash = RunningHash::of_kind(self.listed.hash);
        let mut buffer = vec![0; usize::try_from(CHUNK_BYTES.min(total)).unwrap_or(0)];
        let mut offset = 0;
        while offset < total {
            if cancel.is_cancelled() {
                return Err(StorageError::Cancelled);
            }
            let bytes = CHUNK_BYTES.min(total - offset);
            let chunk = buffer
                .get_mut(..usize::try_from(bytes).unwrap_or(0))
                .unwrap_or_default();
            match on_disk.read_exact_at(chunk, offset) {
                Err(error) if error.io_kind() == Some(io::ErrorKind::UnexpectedEof) => {
                    return Ok(Some(FormatError::Truncated {
                        site: Site::new(self.listed.file, Region::File, 0),
                        expected_bytes: total,
                        found_bytes: on_disk.len_bytes()?,
                    }));
                }
                outcome => outcome?,
            }
            hash.update(chunk);
            offset += bytes;
            progress.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(hash.compare(&self.listed))
    }

    fn damage(&self, finding: FormatError) -> Damage {
        Damage {
            error: StorageError::cache(self.dir.path(), finding),
            samples: None,
        }
    }
}

/// Checks the record of a sample, if it is in this shard.
fn verify_record(
    cache: &LoadedCache,
    on_disk: &DiskFile,
    shard: dataset_rt_format::ShardId,
    sample: dataset_rt_format::SampleId,
) -> Result<(), StorageError> {
    // A damaged row is a finding about the index.
    let Ok(row) = cache.index_row(sample) else {
        return Ok(());
    };
    if row.shard != shard {
        return Ok(());
    }
    let mut stored = vec![0; row.stored_bytes as usize];
    match on_disk.read_exact_at(&mut stored, row.offset_bytes) {
        Err(error) if error.io_kind() == Some(io::ErrorKind::UnexpectedEof) => stored.clear(),
        outcome => outcome?,
    }
    cache.check_record(sample, &row, &stored)
}

//! An open cache.
//!
//! Owns: the checks at open and the way from a sample to its row, metadata and record. Must not: scan rows at open, or
//! know draws.
//! Invariant: a row handed out lies within its shard; bytes of index and metadata come from checked blocks.
//! Format text: `FORMAT.md`, "Reading".

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use dataset_rt_format::{
    BlockedFile, CacheFile, Codec, FormatError, IndexRow, MetadataLayout, SampleId, ShardId,
    check_record, decode_record,
};

use super::files::{caches_in, check_length, check_lengths, read_manifest_in};
use super::manifest::CacheManifest;
use super::plain_record::PlainRecord;
use super::rows::{RecordPlace, Rows};
use super::sample_metadata::SampleMetadata;
use crate::durable::{DirHandle, Disk};
use crate::error::StorageError;
use crate::read::{CheckedFile, Fault, Shards};

/// How a cache is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// Whether files are mapped; otherwise they are read, which is slower and has no gap for SIGBUS.
    pub mapped: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { mapped: true }
    }
}

/// A finished cache, open to read; shared by any number of threads.
///
/// # Guarantees
/// Stays readable when the cache is rebuilt or removed under its name, as far as files are held open (see
/// [`OpenOptions`]; without mapping, shards beyond the 64th are opened when they are read).
pub struct LoadedCache {
    pub(super) dir: Arc<DirHandle>,
    pub(super) manifest: Arc<CacheManifest>,
    pub(super) rows: Rows,
    metadata: CheckedFile,
    layout: MetadataLayout,
    shards: Shards,
}

impl LoadedCache {
    /// Opens the cache at `path`: manifest, versions, lengths of all files, block table, metadata schema.
    ///
    /// # Errors
    /// [`StorageError::NoManifest`], [`StorageError::MissingFile`], [`StorageError::Cache`] with the finding,
    /// [`StorageError::Io`].
    ///
    /// # Cost
    /// O(files + rows / 2048) time; scans no rows and no records. Memory of a 4096th of index and metadata.
    pub fn open(disk: &Disk, path: &Path, options: OpenOptions) -> Result<Self, StorageError> {
        loop {
            let dir = Arc::new(DirHandle::open(disk, path)?);
            match Self::open_in(Arc::clone(&dir), options) {
                // A rebuild took the directory away while it was being opened; another one has its name.
                Err(_) if !dir.has_its_path()? => {}
                Err(StorageError::NoManifest { path, .. }) => {
                    let caches = caches_in(disk, &path);
                    return Err(StorageError::NoManifest { path, caches });
                }
                outcome => return outcome,
            }
        }
    }

    pub(super) fn open_in(dir: Arc<DirHandle>, options: OpenOptions) -> Result<Self, StorageError> {
        let manifest = Arc::new(read_manifest_in(&dir)?);
        check_lengths(&dir, &manifest)?;
        let (rows, table) = Rows::open(&dir, &manifest, options.mapped)?;
        let which = BlockedFile::Metadata;
        let file = dir.open_file(&which.file().path())?;
        let bytes = manifest.metadata_bytes();
        let metadata = CheckedFile::new(which, table.as_ref(), bytes, file, options.mapped)?;
        let layout = match &table {
            Some(table) => {
                MetadataLayout::open(manifest.schema(), table.batch_ends(), bytes, &metadata)
            }
            None => {
                let rows = manifest.sample_count();
                MetadataLayout::open_unlisted(manifest.schema(), rows, bytes, &metadata)
            }
        };
        let layout = layout.map_err(|fault: Fault| fault.of_cache(dir.path()))?;
        let shards = Shards::open(&dir, &manifest, options.mapped)?;
        Ok(Self {
            dir,
            manifest,
            rows,
            metadata,
            layout,
            shards,
        })
    }

    /// The directory it was opened from.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// What the cache consists of.
    #[must_use]
    pub fn manifest(&self) -> &CacheManifest {
        &self.manifest
    }

    /// Number of samples.
    #[must_use]
    pub fn sample_count(&self) -> u64 {
        self.manifest.sample_count()
    }

    /// Where the record of a sample is, within the bounds of its shard; does not touch the record.
    ///
    /// # Errors
    /// As [`index_row`](Self::index_row).
    ///
    /// # Cost
    /// As [`index_row`](Self::index_row), for format 1.
    #[inline]
    pub fn record_place(&self, sample: SampleId) -> Result<RecordPlace, StorageError> {
        self.check_sample(sample)
            .and_then(|()| self.rows.place(&self.manifest, sample))
            .map_err(|fault| fault.of_cache(self.path()))
    }

    /// Where the stored payload of a sample is and how to decode it, within the bounds of its shard.
    ///
    /// # Errors
    /// [`StorageError::NoSuchSample`], [`StorageError::Cache`] for damage, [`StorageError::Io`] without mapping.
    ///
    /// # Cost
    /// O(1); the first row of a 64 KiB block also hashes the block. In a cache of the original system the first bytes
    /// of the record are read as well.
    #[inline]
    pub fn index_row(&self, sample: SampleId) -> Result<IndexRow, StorageError> {
        self.check_sample(sample)
            .and_then(|()| {
                self.rows
                    .payload(&self.dir, &self.manifest, &self.shards, sample)
            })
            .map_err(|fault| fault.of_cache(self.path()))
    }

    /// The record of a sample, where reading it is a copy and nothing about it is unusual: mapped, not compressed, its index block checked before. Otherwise
    /// [`index_row`](Self::index_row) and [`record_bytes`](Self::record_bytes) read it, or say what is wrong.
    ///
    /// # Cost
    /// O(1), and a fraction of what those two cost.
    #[must_use]
    #[inline]
    pub fn plain_record(&self, sample: SampleId) -> Option<PlainRecord<'_>> {
        let row = self.rows.checked_row(sample)?;
        match row.codec {
            Codec::Raw => {
                let stored = self.shards.mapped_range(&row)?;
                Some(PlainRecord::new(sample, row.checksum, stored))
            }
            Codec::Lz4 => None,
        }
    }

    /// The metadata of a sample; columns count as in the manifest's schema.
    ///
    /// # Errors
    /// As [`index_row`](Self::index_row).
    #[inline]
    pub fn metadata_row(&self, sample: SampleId) -> Result<SampleMetadata<'_>, StorageError> {
        self.check_sample(sample)
            .map_err(|fault| fault.of_cache(self.path()))?;
        match self.layout.row(sample, &self.metadata) {
            Ok(row) => Ok(SampleMetadata {
                cache: self.path(),
                row,
            }),
            Err(fault) => Err(fault.of_cache(self.path())),
        }
    }

    /// The stored bytes of a record, not checked: borrowed from the mapping, or read.
    ///
    /// `row` is the row of `sample` in this cache.
    ///
    /// # Errors
    /// [`StorageError::Cache`] when the shard is too short, [`StorageError::Io`] without mapping.
    #[inline]
    pub fn record_bytes(
        &self,
        sample: SampleId,
        row: &IndexRow,
    ) -> Result<Cow<'_, [u8]>, StorageError> {
        self.shards
            .record(&self.dir, sample, row)
            .map_err(|fault| fault.of_cache(self.path()))
    }

    /// The stored bytes of a record where they are mapped; `None` where they have to be read.
    ///
    /// # Errors
    /// [`StorageError::Cache`] when the shard is too short.
    #[inline]
    pub fn mapped_record(
        &self,
        sample: SampleId,
        row: &IndexRow,
    ) -> Result<Option<&[u8]>, StorageError> {
        self.shards
            .mapped(sample, row)
            .map_err(|fault| fault.of_cache(self.path()))
    }

    /// Copies the stored bytes of a record, not checked, into `out`, which has exactly `row.stored_bytes` bytes.
    ///
    /// # Errors
    /// As [`record_bytes`](Self::record_bytes).
    #[inline]
    pub fn read_record(
        &self,
        sample: SampleId,
        row: &IndexRow,
        out: &mut [u8],
    ) -> Result<(), StorageError> {
        self.shards
            .read(&self.dir, sample, row, out)
            .map_err(|fault| fault.of_cache(self.path()))
    }

    /// Compares stored bytes with length and checksum of their row; with its length alone in a cache of the original
    /// system, whose records have no checksum.
    ///
    /// # Errors
    /// [`StorageError::Cache`] that names sample, shard, byte range, expected and found.
    #[inline]
    pub fn check_record(
        &self,
        sample: SampleId,
        row: &IndexRow,
        stored: &[u8],
    ) -> Result<(), StorageError> {
        let checked = match self.rows {
            Rows::Format1(_) => check_record(sample, row, stored),
            Rows::Original(_) => row.check_length(sample, stored.len() as u64),
        };
        checked.map_err(|finding| self.damage(finding))
    }

    /// Whether the cache holds a checksum of each record.
    #[must_use]
    #[inline]
    pub fn has_record_checksums(&self) -> bool {
        matches!(self.rows, Rows::Format1(_))
    }

    /// Decodes stored bytes into `out`, which has exactly `row.raw_bytes` bytes; does not look at the checksum.
    ///
    /// # Errors
    /// [`StorageError::Cache`]; `out` is then all zero.
    #[inline]
    pub fn decode_record(
        &self,
        sample: SampleId,
        row: &IndexRow,
        stored: &[u8],
        out: &mut [u8],
    ) -> Result<(), StorageError> {
        decode_record(sample, row, stored, out).map_err(|finding| self.damage(finding))
    }

    /// Asks the operating system to read a record ahead; never fails.
    pub fn will_need(&self, place: &RecordPlace) {
        self.shards.will_need(place);
    }

    /// Says whether the first page of a record is in memory already; `true` where the system can't tell.
    ///
    /// # Cost
    /// Three system calls with mapping, one without: for a few records of a block of draws, not for each.
    #[must_use]
    pub fn is_resident(&self, place: &RecordPlace) -> bool {
        self.shards.is_resident(&self.dir, place)
    }

    /// Looks again at the lengths of index, metadata and the given shards; for once per block of draws.
    ///
    /// A file that is gone is fine: what is mapped or open stays.
    ///
    /// # Errors
    /// [`StorageError::Cache`] for a file whose length changed.
    ///
    /// # Cost
    /// One system call per file.
    pub fn recheck_lengths(&self, shards: &[ShardId]) -> Result<(), StorageError> {
        self.recheck_length(CacheFile::Index, self.manifest.index_bytes())?;
        self.recheck_length(CacheFile::Metadata, self.manifest.metadata_bytes())?;
        shards
            .iter()
            .try_for_each(|shard| self.recheck_shard(*shard))
    }

    /// The same for one shard alone.
    ///
    /// # Errors
    /// As [`recheck_lengths`](Self::recheck_lengths).
    pub fn recheck_shard(&self, shard: ShardId) -> Result<(), StorageError> {
        match self.manifest.shard_bytes(shard.get() as usize) {
            Some(bytes) => self.recheck_length(CacheFile::Shard(shard), bytes),
            None => Ok(()),
        }
    }

    fn recheck_length(&self, file: CacheFile, expected: u64) -> Result<(), StorageError> {
        match self.dir.len_of(&file.path())? {
            Some(found) => check_length(&self.dir, file, expected, found),
            None => Ok(()),
        }
    }

    /// All metadata as Arrow batches with the manifest's schema, checked in full; shares the mapping.
    ///
    /// # Errors
    /// [`StorageError::Cache`] for damage, [`StorageError::Io`] without mapping.
    ///
    /// # Cost
    /// One hash and validation pass over `metadata.arrow`.
    pub fn metadata_batches(&self) -> Result<Vec<RecordBatch>, StorageError> {
        let bytes = self
            .metadata
            .whole()
            .map_err(|fault| fault.of_cache(self.path()))?;
        let file = Buffer::from(bytes);
        let schema = self.manifest.schema().arrow_schema();
        let batches = (0..self.layout.batch_count())
            .map(|number| self.layout.record_batch(number, &schema, &file));
        batches
            .collect::<Result<_, _>>()
            .map_err(|finding| self.damage(finding))
    }

    /// Checks that all values of a sample can be read and are marked as valid.
    pub(super) fn check_values(&self, sample: SampleId) -> Result<(), StorageError> {
        let metadata = self.metadata_row(sample)?;
        (0..self.manifest.schema().len()).try_for_each(|column| {
            metadata.value(column)?;
            metadata.check_validity(column)
        })
    }

    #[inline]
    fn check_sample(&self, sample: SampleId) -> Result<(), Fault> {
        if sample.get() < self.sample_count() {
            return Ok(());
        }
        Err(Fault::from(StorageError::NoSuchSample {
            cache: self.path().to_owned(),
            sample: sample.get(),
            sample_count: self.sample_count(),
        }))
    }

    #[cold]
    pub(crate) fn damage(&self, finding: FormatError) -> StorageError {
        StorageError::cache(self.path(), finding)
    }
}

impl std::fmt::Debug for LoadedCache {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("LoadedCache")
            .field("path", &PathBuf::from(self.path()))
            .finish_non_exhaustive()
    }
}

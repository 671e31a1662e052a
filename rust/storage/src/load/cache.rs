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
use dataset_rt_format::limits::INDEX_ROW_LEN;
use dataset_rt_format::{
    BlockedFile, ByteSource, CacheFile, FormatError, IndexRow, Manifest, MetadataLayout,
    MetadataRow, MetadataValueRef, SampleId, ShardId, check_record, decode_index_row,
    decode_record,
};

use super::files::{check_length, check_lengths, read_blocks, read_manifest_in};
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
    pub(super) manifest: Arc<Manifest>,
    index: CheckedFile,
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
                outcome => return outcome,
            }
        }
    }

    fn open_in(dir: Arc<DirHandle>, options: OpenOptions) -> Result<Self, StorageError> {
        let manifest = Arc::new(read_manifest_in(&dir)?);
        check_lengths(&dir, &manifest)?;
        let table = Arc::new(read_blocks(&dir, &manifest)?);
        let open = |which: BlockedFile| {
            CheckedFile::new(
                which,
                &table,
                dir.open_file(&which.file().path())?,
                options.mapped,
            )
        };
        let (index, metadata) = (open(BlockedFile::Index)?, open(BlockedFile::Metadata)?);
        let layout = MetadataLayout::open(
            &manifest.schema,
            table.batch_ends(),
            manifest.metadata.bytes,
            &metadata,
        )
        .map_err(|fault: Fault| fault.of_cache(dir.path()))?;
        let shards = Shards::open(&dir, &manifest, options.mapped)?;
        Ok(Self {
            dir,
            manifest,
            index,
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
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Number of samples.
    #[must_use]
    pub fn sample_count(&self) -> u64 {
        self.manifest.sample_count
    }

    /// The index row of a sample, within the bounds of its shard.
    ///
    /// # Errors
    /// [`StorageError::NoSuchSample`], [`StorageError::Cache`] for damage, [`StorageError::Io`] without mapping.
    ///
    /// # Cost
    /// O(1); the first row of a 64 KiB block also hashes the block.
    #[inline]
    pub fn index_row(&self, sample: SampleId) -> Result<IndexRow, StorageError> {
        self.checked_row(sample)
            .map_err(|fault| fault.of_cache(self.path()))
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

    /// Compares stored bytes with length and checksum of their row.
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
        check_record(sample, row, stored).map_err(|finding| self.damage(finding))
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
    pub fn will_need(&self, row: &IndexRow) {
        self.shards.will_need(&self.dir, row);
    }

    /// Says whether the first page of a record is in memory already; `true` where the system can't tell.
    ///
    /// # Cost
    /// Three system calls with mapping, one without: for a few records of a block of draws, not for each.
    #[must_use]
    pub fn is_resident(&self, row: &IndexRow) -> bool {
        self.shards.is_resident(&self.dir, row)
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
        self.recheck_length(CacheFile::Index, self.manifest.index.bytes)?;
        self.recheck_length(CacheFile::Metadata, self.manifest.metadata.bytes)?;
        shards
            .iter()
            .try_for_each(|shard| self.recheck_shard(*shard))
    }

    /// The same for one shard alone.
    ///
    /// # Errors
    /// As [`recheck_lengths`](Self::recheck_lengths).
    pub fn recheck_shard(&self, shard: ShardId) -> Result<(), StorageError> {
        match self.manifest.shards.get(shard.get() as usize) {
            Some(seal) => self.recheck_length(CacheFile::Shard(shard), seal.bytes),
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
        let schema = self.manifest.schema.arrow_schema();
        let batches = (0..self.layout.batch_count())
            .map(|number| self.layout.record_batch(number, &schema, &file));
        batches
            .collect::<Result<_, _>>()
            .map_err(|finding| self.damage(finding))
    }

    #[inline]
    fn checked_row(&self, sample: SampleId) -> Result<IndexRow, Fault> {
        self.check_sample(sample)?;
        let bytes = self.index.array(sample.get() * INDEX_ROW_LEN)?;
        let row = decode_index_row(sample, &bytes)?;
        let shard_bytes = self
            .manifest
            .shards
            .get(row.shard.get() as usize)
            .map_or(0, |seal| seal.bytes);
        row.check_within(sample, shard_bytes)?;
        Ok(row)
    }

    #[inline]
    fn check_sample(&self, sample: SampleId) -> Result<(), Fault> {
        if sample.get() < self.manifest.sample_count {
            return Ok(());
        }
        Err(Fault::from(StorageError::NoSuchSample {
            cache: self.path().to_owned(),
            sample: sample.get(),
            sample_count: self.manifest.sample_count,
        }))
    }

    #[cold]
    pub(super) fn damage(&self, finding: FormatError) -> StorageError {
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

/// The metadata of one sample of an open cache.
pub struct SampleMetadata<'a> {
    cache: &'a Path,
    row: MetadataRow<'a, CheckedFile>,
}

impl<'a> SampleMetadata<'a> {
    /// The value of a column, counted as in the manifest's schema; text is borrowed from the mapping.
    ///
    /// # Errors
    /// [`StorageError::Cache`] for damage, [`StorageError::Io`] without mapping.
    #[inline]
    pub fn value(&self, column: usize) -> Result<MetadataValueRef<'a>, StorageError> {
        self.row
            .value(column)
            .map_err(|fault| fault.of_cache(self.cache))
    }
}

//! Records of the shards of one cache.
//!
//! Owns: the shards' mappings or open files. Must not: check or decode records; `dataset_rt_format` does.
//! Invariant: a range is handed out whole or not at all.
//! Format text: `FORMAT.md`, "Shards".

use std::borrow::Cow;
use std::io;

use dataset_rt_format::{CacheFile, FormatError, IndexRow, Region, SampleId, ShardId, Site};

use super::checked_file::slice;
use super::fault::Fault;
use crate::durable::{DirHandle, DiskFile};
use crate::error::StorageError;
use crate::load::{CacheManifest, Map, RecordPlace};
use crate::memory::zeroed;

/// Shards beyond this many are opened for each read when they are not mapped; a process has few file descriptors.
const KEPT_FILES: usize = 64;

/// The shards of an open cache.
pub(crate) enum Shards {
    Mapped(Box<[Map]>),
    Positioned(Box<[DiskFile]>),
}

impl Shards {
    /// Opens the shards; their lengths were compared with the manifest.
    ///
    /// # Cost
    /// A few system calls per shard; reads no record.
    pub(crate) fn open(
        dir: &DirHandle,
        manifest: &CacheManifest,
        is_mapped: bool,
    ) -> Result<Self, StorageError> {
        let lengths = (0..manifest.shard_count()).filter_map(|shard| manifest.shard_bytes(shard));
        let shards = (0..).map(ShardId::new).zip(lengths);
        if is_mapped {
            let maps = shards.map(|(shard, bytes)| Map::new(&open_shard(dir, shard)?, bytes));
            return Ok(Self::Mapped(maps.collect::<Result<_, _>>()?));
        }
        let files = shards
            .take(KEPT_FILES)
            .map(|(shard, _)| open_shard(dir, shard));
        Ok(Self::Positioned(files.collect::<Result<_, _>>()?))
    }

    /// The stored bytes of a record that lies within its shard: borrowed where the shard is mapped.
    #[inline]
    pub(crate) fn record(
        &self,
        dir: &DirHandle,
        sample: SampleId,
        row: &IndexRow,
    ) -> Result<Cow<'_, [u8]>, Fault> {
        match self.mapped(sample, row)? {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => {
                let mut out = zeroed(row.stored_bytes as usize)?;
                self.read(dir, sample, row, &mut out)?;
                Ok(Cow::Owned(out))
            }
        }
    }

    /// The bytes that a row names, if they are mapped and there.
    #[inline]
    pub(crate) fn mapped_range(&self, row: &IndexRow) -> Option<&[u8]> {
        let Self::Mapped(maps) = self else {
            return None;
        };
        let shard = maps.get(row.shard.get() as usize)?;
        slice(shard.bytes(), row.offset_bytes, u64::from(row.stored_bytes))
    }

    /// The stored bytes of a record, if the shard is mapped.
    #[inline]
    pub(crate) fn mapped(&self, sample: SampleId, row: &IndexRow) -> Result<Option<&[u8]>, Fault> {
        let Self::Mapped(maps) = self else {
            return Ok(None);
        };
        if let Some(record) = self.mapped_range(row) {
            return Ok(Some(record));
        }
        let shard = maps.get(row.shard.get() as usize);
        let bytes = shard.map_or(0, |shard| shard.bytes().len() as u64);
        Err(short(sample, row, bytes.saturating_sub(row.offset_bytes)).into())
    }

    /// Copies the stored bytes of a record into `out`, which has exactly their length.
    pub(crate) fn read(
        &self,
        dir: &DirHandle,
        sample: SampleId,
        row: &IndexRow,
        out: &mut [u8],
    ) -> Result<(), Fault> {
        if let Some(bytes) = self.mapped(sample, row)? {
            return match bytes.len() == out.len() {
                true => {
                    out.copy_from_slice(bytes);
                    Ok(())
                }
                false => Err(short(sample, row, bytes.len() as u64).into()),
            };
        }
        self.with_file(dir, row.shard, |file| {
            match file.read_exact_at(out, row.offset_bytes) {
                Err(error) if error.io_kind() == Some(io::ErrorKind::UnexpectedEof) => Err(short(
                    sample,
                    row,
                    file.len_bytes()?.saturating_sub(row.offset_bytes),
                )
                .into()),
                outcome => Ok(outcome?),
            }
        })?
    }

    /// Asks the operating system to read a record ahead, where that needs no opening of a file: this is asked in the consumer's thread, and opening may take long.
    pub(crate) fn will_need(&self, place: &RecordPlace) {
        match self {
            Self::Mapped(maps) => {
                let start = usize::try_from(place.offset_bytes).unwrap_or(usize::MAX);
                if let Some(map) = maps.get(place.shard.get() as usize) {
                    map.will_need(start..start.saturating_add(place.stored_bytes as usize));
                }
            }
            Self::Positioned(files) => {
                if let Some(file) = files.get(place.shard.get() as usize) {
                    file.will_need(place.offset_bytes, u64::from(place.stored_bytes));
                }
            }
        }
    }

    /// Says whether the first page of a record is in memory. A shard that is gone is held by its mapping alone.
    pub(crate) fn is_resident(&self, dir: &DirHandle, place: &RecordPlace) -> bool {
        self.with_file(dir, place.shard, |file| {
            file.is_resident(place.offset_bytes)
        })
        .unwrap_or(true)
    }

    fn with_file<T>(
        &self,
        dir: &DirHandle,
        shard: ShardId,
        work: impl FnOnce(&DiskFile) -> T,
    ) -> Result<T, StorageError> {
        if let Self::Positioned(files) = self
            && let Some(file) = files.get(shard.get() as usize)
        {
            return Ok(work(file));
        }
        Ok(work(&open_shard(dir, shard)?))
    }
}

fn open_shard(dir: &DirHandle, shard: ShardId) -> Result<DiskFile, StorageError> {
    dir.open_file(&CacheFile::Shard(shard).path())
}

#[cold]
fn short(sample: SampleId, row: &IndexRow, found_bytes: u64) -> FormatError {
    let site = Site::new(
        CacheFile::Shard(row.shard),
        Region::Record,
        row.offset_bytes,
    )
    .about(sample);
    FormatError::Truncated {
        site,
        expected_bytes: u64::from(row.stored_bytes),
        found_bytes,
    }
}

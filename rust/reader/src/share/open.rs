//! Opening a snapshot that this or another process wrote.
//!
//! Owns the checks between handle, caches and tables. Must not rebuild anything that the files hold. Invariant: an opened snapshot draws what its writer drew, or it
//! is refused.

use std::path::Path;
use std::sync::Arc;

use arrow_buffer::{Buffer, ScalarBuffer};
use bytes::Bytes;
use dataset_rt_format::snapshot::{
    HANDLE_FILE, RowSampleWidth, SnapshotHandle, SnapshotOptions, SnapshotTail, TABLE_FILE,
    TABLES_FILE, TableSections, decode_handle,
};
use dataset_rt_format::{CacheFile, FileSeal, FormatError, Region, Seed, Site};
use dataset_rt_pool::WorkerPool;
use dataset_rt_replica::Connect;
use dataset_rt_sampler::{
    Partition, Population, RowSamples, STATE_VERSION, SamplingTables, StreamState, TableParts,
    Tail, WeightParts,
};
use dataset_rt_storage::InterruptCheck;
use dataset_rt_storage::durable::{Disk, DiskFile};
use dataset_rt_storage::load::map_file;

use super::files::SharedFiles;
use super::store::{place_of, store_options};
use crate::config::{OnCorrupt, ReaderOptions};
use crate::dataset::Dataset;
use crate::error::ReaderError;
use crate::places::{StoreAccess, open_places};
use crate::snapshot::Snapshot;

/// Longest handle that is read.
const MAX_HANDLE_BYTES: u64 = 64 * 1024 * 1024;

/// How far the files of a snapshot are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// A process of this host wrote them moments ago: lengths are compared.
    Lengths,
    /// They may be old: they are hashed.
    Nothing,
}

/// Opens what [`dump`](super::dump) wrote; without a pool one of as many workers as the writer had is made.
///
/// # Errors
/// [`ReaderError::Snapshot`] for a damaged handle or file, [`ReaderError::OtherCache`] for a cache that is not the same any more, and what opening a cache finds.
pub fn open_dump(
    path: &Path,
    pool: Option<Arc<WorkerPool>>,
    connect: &dyn Connect,
) -> Result<Dataset, ReaderError> {
    let handle = read_handle(path)?;
    let pool = match pool {
        Some(pool) => pool,
        None => WorkerPool::new(usize::try_from(handle.num_workers).unwrap_or(usize::MAX))?,
    };
    let snapshot = open_snapshot(path, &handle, &pool, connect, Trust::Nothing)?;
    let key = snapshot.key();
    let state = StreamState {
        version: STATE_VERSION,
        key,
        epoch_length: handle.epoch_length,
        position: handle.position,
        window_end: handle.window_end,
        skipped: handle.skipped,
    };
    let tail = match handle.part.tail {
        SnapshotTail::Uneven => Tail::Uneven,
        SnapshotTail::Drop => Tail::Drop,
        SnapshotTail::Pad => Tail::Pad,
    };
    let (index, count) = (handle.part.index, handle.part.count);
    let partition = snapshot.part_of(Partition::WHOLE, index, count, tail)?;
    let cursor = state.cursor(&key)?;
    Ok(Dataset::resumed(
        Arc::new(snapshot),
        cursor,
        partition,
        pool,
    ))
}

/// Opens the snapshot of a window that another process of this host shared moments ago.
///
/// # Errors
/// As [`open_dump`]; tables are not hashed.
pub fn open_shared(
    handle: &Path,
    pool: &Arc<WorkerPool>,
    connect: &dyn Connect,
) -> Result<Arc<Snapshot>, ReaderError> {
    open_snapshot(handle, &read_handle(handle)?, pool, connect, Trust::Lengths).map(Arc::new)
}

/// Reads and checks a handle.
fn read_handle(path: &Path) -> Result<SnapshotHandle, ReaderError> {
    let text = DiskFile::open(&Disk::new(), path)?.read_all(MAX_HANDLE_BYTES)?;
    decode_handle(&text).map_err(|finding| ReaderError::snapshot(path, finding))
}

/// Opens the snapshot of a handle.
fn open_snapshot(
    path: &Path,
    handle: &SnapshotHandle,
    pool: &Arc<WorkerPool>,
    connect: &dyn Connect,
    trust: Trust,
) -> Result<Snapshot, ReaderError> {
    let mut options = reader_options(&handle.options);
    options.validate()?;
    let places: Vec<_> = handle.caches.iter().map(place_of).collect();
    let access = handle.store.as_ref().map(|store| StoreAccess {
        options: store_options(store),
        connect,
    });
    let interrupt = InterruptCheck::never();
    let caches = open_places(&places, &mut options, access.as_ref(), pool, &interrupt)?;
    for ((_, opened), recorded) in caches.iter().zip(&handle.caches) {
        let found = opened.manifest().content_digest();
        if found != recorded.content_digest {
            return Err(ReaderError::OtherCache {
                path: opened.path().to_owned(),
                expected: recorded.content_digest.to_string(),
                found: found.to_string(),
            });
        }
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let tables = read_tables(&folder.join(TABLES_FILE), handle, trust)?;
    let table = handle.table.map(|seal| {
        let table = folder.join(TABLE_FILE);
        if trust == Trust::Nothing {
            check_seal(
                &table,
                CacheFile::SnapshotTable,
                &map_file(&Disk::new(), &table)?,
                seal,
            )?;
        }
        Ok::<_, ReaderError>(table)
    });
    let population =
        Population::from_tables(Arc::clone(caches.identity()), tables, handle.table_digest)?;
    let is_private = trust == Trust::Lengths;
    let shared = SharedFiles::opened(folder.join(HANDLE_FILE), table.transpose()?, is_private);
    Ok(Snapshot::new(Arc::new(caches), options, population).with_shared(shared))
}

fn reader_options(options: &SnapshotOptions) -> ReaderOptions {
    ReaderOptions {
        seed: Seed::new(options.seed),
        prefetch_size: usize::try_from(options.prefetch_size).unwrap_or(usize::MAX),
        is_shuffled: options.shuffle,
        has_replacement: options.replacement,
        validates_caches: options.validate_cache,
        verifies_records: options.verify_records,
        on_corrupt: if options.skips_corrupt {
            OnCorrupt::Skip
        } else {
            OnCorrupt::Raise
        },
        is_mapped: options.mapped,
    }
}

fn read_tables(
    path: &Path,
    handle: &SnapshotHandle,
    trust: Trust,
) -> Result<SamplingTables, ReaderError> {
    let bytes = match handle.tables {
        None => Bytes::new(),
        Some(seal) => {
            let bytes = map_file(&Disk::new(), path)?;
            if trust == Trust::Nothing {
                check_seal(path, CacheFile::SnapshotTables, &bytes, seal)?;
            }
            bytes
        }
    };
    let damaged = |finding| ReaderError::snapshot(path, finding);
    let sections = TableSections::locate(handle, bytes.len() as u64).map_err(damaged)?;
    let file = Buffer::from(bytes);
    let section = |range: &std::ops::Range<usize>| file.slice_with_length(range.start, range.len());
    let row_samples = match handle.row_samples {
        RowSampleWidth::Identity => RowSamples::Identity,
        RowSampleWidth::Narrow => {
            RowSamples::Narrow(ScalarBuffer::from(section(&sections.row_samples)))
        }
        RowSampleWidth::Wide => {
            RowSamples::Wide(ScalarBuffer::from(section(&sections.row_samples)))
        }
    };
    let weights = handle.weighted.then(|| WeightParts {
        sums: ScalarBuffer::from(section(&sections.sums)),
        guide: ScalarBuffer::from(section(&sections.guide)),
    });
    Ok(SamplingTables::from_parts(TableParts {
        rows: handle.rows,
        samples: handle.samples,
        row_samples,
        weights,
    })?)
}

fn check_seal(
    path: &Path,
    file: CacheFile,
    bytes: &[u8],
    expected: FileSeal,
) -> Result<(), ReaderError> {
    let found = FileSeal::of(bytes);
    if found == expected {
        return Ok(());
    }
    let finding = FormatError::DigestMismatch {
        site: Site::new(file, Region::File, 0),
        covered_bytes: found.bytes,
        expected: expected.digest,
        found: found.digest,
    };
    Err(ReaderError::snapshot(path, finding))
}

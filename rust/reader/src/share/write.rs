//! Writing a snapshot for other processes.
//!
//! Owns the order: tables, table, handle last. Must not choose the folder. Invariant: a handle that exists describes files that are complete.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use dataset_rt_format::snapshot::{
    HANDLE_FILE, RowSampleEntries, SnapshotCache, SnapshotHandle, SnapshotOptions, SnapshotPart,
    SnapshotTail, TABLE_FILE, TABLES_FILE, encode_handle, encode_table, encode_tables,
};
use dataset_rt_format::{FileHasher, FileSeal};
use dataset_rt_sampler::{ActiveTable, Cursor, Partition, RowSamples, TableParts, Tail};
use dataset_rt_storage::StorageError;
use dataset_rt_storage::durable::{Disk, DiskFile, replace_file};

use super::store::store_text;
use crate::config::OnCorrupt;
use crate::dataset::Dataset;
use crate::error::ReaderError;
use crate::snapshot::Snapshot;

/// Version of the package, as files record it.
const WRITER_VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a handle says beyond the snapshot.
pub(super) struct View {
    cursor: Cursor,
    part: Partition,
    num_workers: usize,
}

impl View {
    /// The whole stream of a table of `rows` rows from position 0 on.
    pub(super) fn start(rows: u64) -> Result<Self, ReaderError> {
        Ok(Self {
            cursor: Cursor::new(rows)?,
            part: Partition::WHOLE,
            num_workers: 1,
        })
    }
}

/// Writes a handle of a dataset and the files it needs into `directory`, which is made if need be; returns the handle's path.
///
/// # Errors
/// [`ReaderError::Storage`]; a dump that was there before is then still whole or was replaced in part by files that its handle refuses.
///
/// # Cost
/// At most 16 bytes per row for sampling tables, and the size of an edited table.
pub fn dump(dataset: &Dataset, directory: &Path) -> Result<PathBuf, ReaderError> {
    let disk = Disk::new();
    disk.create_dir_durably(directory)?;
    let (snapshot, cursor) = dataset.current();
    let view = View {
        cursor,
        part: dataset.part(),
        num_workers: dataset.pool().num_workers(),
    };
    write_snapshot(&disk, &snapshot, &view, directory)?;
    Ok(directory.join(HANDLE_FILE))
}

/// Writes a snapshot and a view of it.
pub(super) fn write_snapshot(
    disk: &Disk,
    snapshot: &Snapshot,
    view: &View,
    directory: &Path,
) -> Result<(), ReaderError> {
    let parts = snapshot.population().tables().parts();
    let tables = write_tables(disk, &directory.join(TABLES_FILE), &parts)?;
    let table = match (snapshot.population().table(), snapshot.shared().table()?) {
        (Some(table), _) => Some(write_table(disk, &directory.join(TABLE_FILE), table)?),
        (None, Some(table)) => Some(write_table(disk, &directory.join(TABLE_FILE), &table)?),
        (None, None) => None,
    };
    let options = snapshot.options();
    let store = snapshot.caches().store();
    let caches = snapshot.caches().iter().map(|(id, cache)| SnapshotCache {
        path: cache.path().to_string_lossy().into_owned(),
        content_digest: cache.manifest().content_digest(),
        url: store
            .and_then(|store| store.replica(id))
            .map(|replica| replica.url().to_owned()),
    });
    let handle = SnapshotHandle {
        writer_version: WRITER_VERSION.to_owned(),
        caches: caches.collect(),
        options: SnapshotOptions {
            seed: options.seed.get(),
            prefetch_size: options.prefetch_size as u64,
            shuffle: options.is_shuffled,
            replacement: options.has_replacement,
            validate_cache: options.validates_caches,
            verify_records: options.verifies_records,
            skips_corrupt: options.on_corrupt == OnCorrupt::Skip,
            mapped: options.is_mapped,
        },
        store: store.map(|store| store_text(store.options())),
        num_workers: view.num_workers as u64,
        rows: parts.rows,
        samples: parts.samples,
        row_samples: entries(&parts).width(),
        weighted: parts.weights.is_some(),
        table_digest: snapshot.population().digest(),
        epoch_length: view.cursor.epoch_length(),
        position: view.cursor.position(),
        window_end: view.cursor.window_end(),
        skipped: view.cursor.skipped(),
        part: SnapshotPart {
            index: view.part.index(),
            count: view.part.count(),
            tail: match view.part.tail() {
                Tail::Uneven => SnapshotTail::Uneven,
                Tail::Drop => SnapshotTail::Drop,
                Tail::Pad => SnapshotTail::Pad,
            },
        },
        table,
        tables,
    };
    let path = directory.join(HANDLE_FILE);
    let text = encode_handle(&handle).map_err(|finding| ReaderError::snapshot(&path, finding))?;
    replace_file(disk, &path, |file| {
        file.append(&text).map_err(ReaderError::from)
    })
}

fn entries(parts: &TableParts) -> RowSampleEntries<'_> {
    match &parts.row_samples {
        RowSamples::Identity => RowSampleEntries::Identity,
        RowSamples::Narrow(entries) => RowSampleEntries::Narrow(entries),
        RowSamples::Wide(entries) => RowSampleEntries::Wide(entries),
    }
}

fn write_tables(
    disk: &Disk,
    path: &Path,
    parts: &TableParts,
) -> Result<Option<FileSeal>, ReaderError> {
    let row_samples = entries(parts);
    let weights = parts
        .weights
        .as_ref()
        .map(|weights| (&*weights.sums, &*weights.guide));
    if matches!(row_samples, RowSampleEntries::Identity) && weights.is_none() {
        return Ok(None);
    }
    let mut hasher = FileHasher::new();
    replace_file(disk, path, |file| {
        encode_tables(row_samples, weights, |piece| {
            hasher.update(piece);
            file.append(piece).map_err(ReaderError::from)
        })
    })?;
    Ok(Some(hasher.seal()))
}

fn write_table(disk: &Disk, path: &Path, table: &ActiveTable) -> Result<FileSeal, ReaderError> {
    let mut seal = None;
    replace_file(disk, path, |file| {
        let mut out = BufWriter::new(HashedFile {
            file,
            hasher: FileHasher::new(),
            failure: None,
        });
        let encoded = encode_table(&table.schema, &table.batches, &mut out);
        let flushed = out.flush();
        let hashed = out.into_parts().0;
        match hashed.failure {
            Some(failure) => Err(ReaderError::from(failure)),
            None => {
                encoded.map_err(|finding| ReaderError::snapshot(path, finding))?;
                flushed.map_err(|error| ReaderError::table(error.into()))?;
                seal = Some(hashed.hasher.seal());
                Ok(())
            }
        }
    })?;
    Ok(seal.unwrap_or_else(|| FileSeal::of(&[])))
}

/// A file that is hashed while it is written, and that keeps the error which Arrow would turn into text.
struct HashedFile<'a> {
    file: &'a mut DiskFile,
    hasher: FileHasher,
    failure: Option<StorageError>,
}

impl Write for HashedFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.file.append(bytes) {
            Ok(()) => {
                self.hasher.update(bytes);
                Ok(bytes.len())
            }
            Err(error) => {
                let answer = io::Error::other(error.to_string());
                self.failure = Some(error);
                Err(answer)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

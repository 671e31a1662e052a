//! Orders of weighted cycles as files of a shared snapshot: whoever needs one first makes it, all others map it.
//!
//! Owns those files and who writes them. Must not be needed: where a file can't be had, an order is made in memory. Invariant: under its name an order is whole.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arrow_buffer::{Buffer, ScalarBuffer};
use dataset_rt_format::CacheFile;
use dataset_rt_format::snapshot::{OrderSections, encode_order};
use dataset_rt_sampler::{CycleOrder, DrawStream};
use dataset_rt_storage::StorageError;
use dataset_rt_storage::durable::{Disk, LockFile, replace_file};
use dataset_rt_storage::load::map_file;

use crate::error::ReaderError;

/// How often a process looks whether another one has made the order.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// Longest wait for a process that makes the order; one that was stopped must not stop all others.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// The folder of a shared snapshot, as far as orders go.
#[derive(Debug)]
pub(crate) struct OrdersFolder {
    path: PathBuf,
    /// Cycles whose files this process wrote and has not removed.
    written: Mutex<Vec<u64>>,
}

impl OrdersFolder {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            written: Mutex::default(),
        }
    }

    /// Gives `stream` the order of `cycle`, which `position` is in.
    ///
    /// # Errors
    /// What the sampler finds when it makes the order.
    pub(crate) fn prepare(
        &self,
        stream: &mut DrawStream,
        cycle: u64,
        position: u64,
    ) -> Result<(), ReaderError> {
        let rows = stream.tables().rows();
        let path = self.path.join(CacheFile::SnapshotOrder(cycle).path());
        let disk = Disk::new();
        let asked = Instant::now();
        loop {
            match open_order(&disk, &path, cycle, rows) {
                Ok(Some(order)) => return Ok(stream.adopt_cycle_order(order)?),
                Ok(None) => {}
                // A file that is no order: what it should hold is made here.
                Err(_) => return Ok(stream.prepare(position)?),
            }
            match LockFile::try_acquire(&disk, &path.with_extension("lock")) {
                Ok(Some(lock)) => {
                    if let Ok(None) = open_order(&disk, &path, cycle, rows) {
                        stream.prepare(position)?;
                        self.write(&disk, &path, stream);
                    }
                    drop(lock);
                }
                Ok(None) if asked.elapsed() < LONGEST_WAIT => std::thread::sleep(LOOK_INTERVAL),
                _ => return Ok(stream.prepare(position)?),
            }
            // The file is there now, unless it could not be written.
            let is_made = stream
                .cycle_order()
                .is_some_and(|order| order.cycle() == cycle);
            if is_made {
                if let Ok(Some(order)) = open_order(&disk, &path, cycle, rows) {
                    stream.adopt_cycle_order(order)?;
                }
                return Ok(());
            }
        }
    }

    /// Writes the order of a stream for other processes, and removes the one before the last that this process wrote.
    fn write(&self, disk: &Disk, path: &Path, stream: &DrawStream) {
        let Some(order) = stream.cycle_order() else {
            return;
        };
        let written = replace_file(disk, path, |file| {
            encode_order(order.rows(), order.run_ends(), |piece| file.append(piece))
        });
        // Without the file every process makes the order for itself; and no lock is waited for, see `CycleOrders`.
        if let (Ok(()), Ok(mut written)) = (written, self.written.try_lock()) {
            written.push(order.cycle());
            while written.len() > 2 {
                let oldest = CacheFile::SnapshotOrder(written.remove(0)).path();
                let _goes_with_the_folder = disk.remove_file(&self.path.join(oldest));
            }
        }
    }
}

/// Maps the order of `cycle`; `None` if there is no such file.
fn open_order(
    disk: &Disk,
    path: &Path,
    cycle: u64,
    rows: u64,
) -> Result<Option<Arc<CycleOrder>>, ReaderError> {
    let bytes = match map_file(disk, path) {
        Ok(bytes) => bytes,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let sections = OrderSections::locate(cycle, rows, bytes.len() as u64)
        .map_err(|finding| ReaderError::snapshot(path, finding))?;
    let file = Buffer::from(bytes);
    let section = |range: &std::ops::Range<usize>| {
        ScalarBuffer::from(file.slice_with_length(range.start, range.len()))
    };
    let order =
        CycleOrder::from_parts(cycle, section(&sections.rows), section(&sections.run_ends))?;
    Ok(Some(Arc::new(order)))
}

fn is_missing(error: &StorageError) -> bool {
    error.io_kind() == Some(std::io::ErrorKind::NotFound)
}

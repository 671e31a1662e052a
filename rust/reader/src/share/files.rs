//! The life of the files behind a snapshot.
//!
//! Owns when they are made and when they go. Must not know what is in them. Invariant: files that this process made live exactly as long as the snapshot; files that
//! another process made are never removed here.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use dataset_rt_format::snapshot::{HANDLE_FILE, decode_table};
use dataset_rt_sampler::ActiveTable;
use dataset_rt_storage::durable::{Access, Disk, PrivateDir, sweep_dead};
use dataset_rt_storage::load::map_file;

use super::folder::snapshot_folder;
use super::write::write_snapshot;
use crate::error::ReaderError;
use crate::snapshot::Snapshot;

/// Files that back a snapshot, if there are any.
#[derive(Debug, Default)]
pub struct SharedFiles {
    /// Made by this process at the first wish; racing threads make their own, and the first one stays.
    made: OnceLock<PrivateDir>,
    /// The handle that the snapshot was opened from.
    handle: Option<PathBuf>,
    /// The table beside that handle, if it has one of its own.
    table: Option<PathBuf>,
}

impl SharedFiles {
    /// Files that the snapshot was opened from.
    pub(super) fn opened(handle: PathBuf, table: Option<PathBuf>) -> Self {
        Self {
            made: OnceLock::new(),
            handle: Some(handle),
            table,
        }
    }

    /// Path of the handle by which other processes open the snapshot; files are made if there are none.
    ///
    /// # Errors
    /// [`ReaderError::Storage`] when they can't be written; nothing is left then.
    pub(crate) fn share(&self, snapshot: &Snapshot) -> Result<PathBuf, ReaderError> {
        if let Some(handle) = &self.handle {
            return Ok(handle.clone());
        }
        if let Some(made) = self.made.get() {
            return Ok(made.path().join(HANDLE_FILE));
        }
        let (disk, folder) = (Disk::new(), snapshot_folder());
        sweep_dead(&disk, &folder);
        let fresh = PrivateDir::create(&disk, &folder, "snapshot", Access::OwnerOnly)?;
        write_snapshot(&disk, snapshot, None, fresh.path())?;
        Ok(self.made.get_or_init(|| fresh).path().join(HANDLE_FILE))
    }

    /// The active table, where the files hold one of their own.
    ///
    /// # Errors
    /// [`ReaderError::Storage`] and [`ReaderError::Snapshot`].
    pub(crate) fn table(&self) -> Result<Option<ActiveTable>, ReaderError> {
        self.table.as_deref().map(read_table).transpose()
    }
}

fn read_table(path: &Path) -> Result<ActiveTable, ReaderError> {
    let bytes = map_file(&Disk::new(), path)?;
    let (schema, batches) =
        decode_table(&bytes).map_err(|finding| ReaderError::snapshot(path, finding))?;
    Ok(ActiveTable { schema, batches })
}

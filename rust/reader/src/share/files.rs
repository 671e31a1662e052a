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
use super::orders::OrdersFolder;
use super::write::{View, write_snapshot};
use crate::error::ReaderError;
use crate::snapshot::Snapshot;

/// Files that back a snapshot, if there are any.
#[derive(Debug, Default)]
pub struct SharedFiles {
    /// Made by this process at the first wish; racing threads make their own, and the first one stays.
    made: OnceLock<(PrivateDir, OrdersFolder)>,
    /// The handle that the snapshot was opened from.
    handle: Option<PathBuf>,
    /// Orders of cycles beside that handle, where it is in a folder that lives no longer than the snapshot.
    orders: Option<OrdersFolder>,
    /// The table beside that handle, if it has one of its own.
    table: Option<PathBuf>,
}

impl SharedFiles {
    /// Files that the snapshot was opened from; `is_private` if they are those of a running process.
    pub(super) fn opened(handle: PathBuf, table: Option<PathBuf>, is_private: bool) -> Self {
        let orders = handle.parent().filter(|_| is_private);
        Self {
            made: OnceLock::new(),
            orders: orders.map(OrdersFolder::new),
            handle: Some(handle),
            table,
        }
    }

    /// Where orders of cycles are shared with other processes; `None` before anything is.
    pub(crate) fn orders_folder(&self) -> Option<&OrdersFolder> {
        self.orders
            .as_ref()
            .or_else(|| self.made.get().map(|(_, orders)| orders))
    }

    /// Path of the handle by which other processes open the snapshot; files are made if there are none.
    ///
    /// # Errors
    /// [`ReaderError::Storage`] when they can't be written; nothing is left then.
    pub(crate) fn share(&self, snapshot: &Snapshot) -> Result<PathBuf, ReaderError> {
        // Nothing is added to a folder that a user chose: a stream that has orders to share gets one of its own.
        let adds_orders = snapshot.stream().ordered_cycle(0).is_some();
        if let Some(handle) = &self.handle
            && (self.orders.is_some() || !adds_orders)
        {
            return Ok(handle.clone());
        }
        if let Some((made, _)) = self.made.get() {
            return Ok(made.path().join(HANDLE_FILE));
        }
        let (disk, folder) = (Disk::new(), snapshot_folder());
        let fresh = PrivateDir::create(&disk, &folder, "snapshot", Access::OwnerOnly)?;
        // Only now: a folder that was refused is not touched.
        sweep_dead(&disk, &folder);
        let view = View::start(snapshot.population().rows())?;
        write_snapshot(&disk, snapshot, &view, fresh.path())?;
        let orders = OrdersFolder::new(fresh.path());
        let (made, _) = self.made.get_or_init(|| (fresh, orders));
        Ok(made.path().join(HANDLE_FILE))
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

//! Directories and names: make, list, rename, exchange, sync, remove.
//!
//! Owns: the calls that change names. Must not: choose names or an order of calls; `publish` and `private_dir` do.
//! Invariant: every call passes the seam and every failure carries its path and operation.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;

use super::fault::{Event, Faults, Operation, Step};
use super::publish::parent_of;
use crate::error::StorageError;

/// The real file system, seen through the seam.
#[derive(Clone, Default)]
pub struct Disk {
    faults: Option<Arc<dyn Faults>>,
}

/// What identifies a file while it exists, whatever its name: device and inode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

impl Disk {
    /// The file system without hooks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The file system with hooks, for tests.
    #[must_use]
    pub fn with_faults(faults: Arc<dyn Faults>) -> Self {
        Self {
            faults: Some(faults),
        }
    }

    /// Announces that a step was reached.
    pub fn step(&self, step: Step) {
        if let Some(faults) = &self.faults {
            faults.at_step(step);
        }
    }

    /// Makes one call: announces it, makes it, and names path and operation when it fails.
    pub(crate) fn call<T>(
        &self,
        operation: Operation,
        path: &Path,
        call: impl FnOnce() -> io::Result<T>,
    ) -> Result<T, StorageError> {
        self.call_on_two(
            Event {
                operation,
                path,
                target: None,
            },
            call,
        )
    }

    /// Like [`call`](Self::call) for a name below `folder`, which is joined only when someone looks.
    pub(crate) fn call_below<T>(
        &self,
        operation: Operation,
        folder: &Path,
        name: &str,
        call: impl FnOnce() -> io::Result<T>,
    ) -> Result<T, StorageError> {
        if self.faults.is_some() {
            return self.call(operation, &folder.join(name), call);
        }
        call().map_err(|source| StorageError::io(operation, &folder.join(name), source))
    }

    fn call_on_two<T>(
        &self,
        event: Event<'_>,
        call: impl FnOnce() -> io::Result<T>,
    ) -> Result<T, StorageError> {
        let outcome = match &self.faults {
            None => call(),
            Some(faults) => faults
                .before(event)
                .and_then(|()| call())
                .inspect(|_| faults.after(event)),
        };
        outcome.map_err(|source| StorageError::io(event.operation, event.path, source))
    }

    /// Makes one directory, readable by others as the process's mask says unless `owner_only`.
    pub(crate) fn create_dir(&self, path: &Path, owner_only: bool) -> Result<(), StorageError> {
        let mode = if owner_only { 0o700 } else { 0o777 };
        self.call(Operation::CreateDir, path, || {
            fs::DirBuilder::new().mode(mode).create(path)
        })
    }

    /// Makes a directory and those above it, and makes each new name durable.
    pub fn create_dir_durably(&self, path: &Path) -> Result<(), StorageError> {
        if self.exists(path)? {
            return Ok(());
        }
        let parent = parent_of(path);
        self.create_dir_durably(parent)?;
        match self.create_dir(path, false) {
            Ok(()) => self.sync_dir(parent),
            Err(error) if error.io_kind() == Some(io::ErrorKind::AlreadyExists) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Says whether something has this name.
    pub(crate) fn exists(&self, path: &Path) -> Result<bool, StorageError> {
        self.call(Operation::Stat, path, || match fs::symlink_metadata(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        })
    }

    /// The identity of what has this name, if anything does.
    pub(crate) fn identity(&self, path: &Path) -> Result<Option<FileIdentity>, StorageError> {
        self.call(Operation::Stat, path, || match fs::metadata(path) {
            Ok(metadata) => Ok(Some(FileIdentity::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
    }

    /// The names in a directory, in no particular order; none if there is no such directory.
    ///
    /// # Errors
    /// [`StorageError::Io`].
    pub fn list(&self, path: &Path) -> Result<Vec<PathBuf>, StorageError> {
        self.call(Operation::ReadDir, path, || match fs::read_dir(path) {
            Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        })
    }

    /// Makes the names in a directory durable.
    pub(crate) fn sync_dir(&self, path: &Path) -> Result<(), StorageError> {
        self.call(Operation::SyncDir, path, || {
            fs::File::open(path)?.sync_all()
        })
    }

    /// Gives a directory a name that nothing has: replaces neither a file nor a directory that holds anything.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        self.call_on_two(
            Event {
                operation: Operation::Rename,
                path: from,
                target: Some(to),
            },
            || rustix::fs::rename(from, to).map_err(io::Error::from),
        )
    }

    /// Exchanges the names of two directories in one step; `false` where the file system can't.
    pub(crate) fn exchange(&self, from: &Path, to: &Path) -> Result<bool, StorageError> {
        let event = Event {
            operation: Operation::Exchange,
            path: from,
            target: Some(to),
        };
        let exchanged = self.call_on_two(event, || {
            Ok(rustix::fs::renameat_with(
                CWD,
                from,
                CWD,
                to,
                RenameFlags::EXCHANGE,
            )?)
        });
        let cannot = [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP].map(Errno::raw_os_error);
        match exchanged {
            Ok(()) => Ok(true),
            Err(error) if error.errno().is_some_and(|errno| cannot.contains(&errno)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes a file.
    ///
    /// # Errors
    /// [`StorageError::Io`], also when there is none.
    pub fn remove_file(&self, path: &Path) -> Result<(), StorageError> {
        self.call(Operation::RemoveFile, path, || fs::remove_file(path))
    }

    /// Removes a directory with all that is in it, following no links; nothing to remove is fine.
    pub(crate) fn remove_tree(&self, path: &Path) -> Result<(), StorageError> {
        self.call(Operation::RemoveDir, path, || {
            match fs::remove_dir_all(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                other => other,
            }
        })
    }

    /// Removes a directory if nothing is in it.
    pub(crate) fn remove_dir_if_empty(&self, path: &Path) -> Result<(), StorageError> {
        self.call(Operation::RemoveDir, path, || match fs::remove_dir(path) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty
                ) =>
            {
                Ok(())
            }
            other => other,
        })
    }
}

impl std::fmt::Debug for Disk {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Disk")
            .field("has_faults", &self.faults.is_some())
            .finish()
    }
}

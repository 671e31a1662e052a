//! Lock files that vanish with their lock.
//!
//! Owns: taking a lock on a file and removing the file again. Must not: wait; whoever wants to wait asks again.
//! Invariant: whoever holds a [`LockFile`] holds the lock of the file that has the name now: the file's identity is
//! looked at after locking, because another holder may have removed it between our open and our lock.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::disk::{Disk, FileIdentity};
use super::fault::Operation;
use super::fork::held_locks;
use crate::error::StorageError;

/// A lock this process holds; dropping it removes the file and releases the lock, in that order.
///
/// # Guarantees
/// Excludes other processes and other threads of this one. The operating system releases it when the process ends,
/// however it ends. In a forked child a copy of this value does nothing.
#[derive(Debug)]
pub struct LockFile {
    disk: Disk,
    path: PathBuf,
    number: u64,
    owner_process: u32,
    keeps_file: bool,
}

impl LockFile {
    /// Takes the lock, making the file; `None` if someone else holds it.
    ///
    /// # Errors
    /// [`StorageError::Io`], also when the file system has no locks.
    pub fn try_acquire(disk: &Disk, path: &Path) -> Result<Option<Self>, StorageError> {
        Self::acquire(disk, path, true)
    }

    /// Takes the lock of a file that exists; `None` if someone else holds it or the file is gone.
    pub(super) fn try_acquire_existing(
        disk: &Disk,
        path: &Path,
    ) -> Result<Option<Self>, StorageError> {
        Self::acquire(disk, path, false)
    }

    fn acquire(disk: &Disk, path: &Path, create: bool) -> Result<Option<Self>, StorageError> {
        loop {
            let mut held = held_locks();
            let Some(file) = open(disk, path, create)? else {
                return Ok(None);
            };
            let identity = disk.call(Operation::Lock, path, || {
                match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => Ok(Some(FileIdentity::of(&file.metadata()?))),
                    Err(Errno::WOULDBLOCK) => Ok(None),
                    Err(error) => Err(error.into()),
                }
            })?;
            let Some(identity) = identity else {
                return Ok(None);
            };
            if disk.identity(path)? == Some(identity) {
                let number = held.keep(file);
                let owner_process = std::process::id();
                return Ok(Some(Self {
                    disk: disk.clone(),
                    path: path.to_owned(),
                    number,
                    owner_process,
                    keeps_file: false,
                }));
            }
        }
    }

    /// Leaves the file when the lock is released: it still marks something that a later sweep has to remove.
    pub(super) fn keep_file(&mut self) {
        self.keeps_file = true;
    }

    /// Says whether this process took the lock, rather than having been forked from one that did.
    pub(crate) fn is_ours(&self) -> bool {
        self.owner_process == std::process::id()
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if self.is_ours() {
            if !self.keeps_file {
                // A file that can't be removed is harmless: unlocked, the next sweep takes it.
                let _swept_later = self.disk.remove_file(&self.path);
            }
            held_locks().close(self.number);
        }
    }
}

/// Opens the lock file; `None` if it does not exist and is not to be made.
fn open(disk: &Disk, path: &Path, create: bool) -> Result<Option<File>, StorageError> {
    let operation = if create {
        Operation::Create
    } else {
        Operation::Open
    };
    disk.call(operation, path, || {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(create)
            .truncate(false);
        match options.open(path) {
            Err(error) if !create && error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    })
}

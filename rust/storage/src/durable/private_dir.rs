//! A directory that one process owns until it is published or removed.
//!
//! Owns: making such a directory with its owner lock, and removing both. Must not: know what is written into it.
//! Invariant: the lock is taken before the directory is made and released after the directory is gone from its private
//! name, so a directory whose lock can be taken has no living owner.

use std::io;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::lock::LockFile;
use super::names::{lock_path_of, private_dir_name};
use super::private_folder::make_private_folder;
use crate::error::StorageError;

/// Who may look into a private directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whoever the process's file mode mask lets: for directories that are to be published.
    Mask,
    /// The owner alone.
    OwnerOnly,
}

/// A private directory; dropping it removes it unless it was renamed away.
///
/// In a forked child a copy of this value does nothing.
#[derive(Debug)]
pub struct PrivateDir {
    disk: Disk,
    path: PathBuf,
    // Released after `drop` below has removed the directory.
    lock: LockFile,
    is_left: bool,
}

impl PrivateDir {
    /// Makes a directory `<stem>.<process>-<random>` in `folder`, which is made if need be, with the same access.
    ///
    /// # Errors
    /// [`StorageError::Io`], and [`StorageError::ExposedFolder`] where nobody else is to look in but others could interfere; nothing is left then.
    pub fn create(
        disk: &Disk,
        folder: &Path,
        stem: &str,
        access: Access,
    ) -> Result<Self, StorageError> {
        loop {
            let path = folder.join(private_dir_name(stem));
            let Some(lock) = acquire_in_folder(disk, folder, &lock_path_of(&path), access)? else {
                continue;
            };
            match disk.create_dir(&path, access == Access::OwnerOnly) {
                Ok(()) => {
                    return Ok(Self {
                        disk: disk.clone(),
                        path,
                        lock,
                        is_left: false,
                    });
                }
                Err(error) if error.io_kind() == Some(io::ErrorKind::AlreadyExists) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Leaves the directory where it is when this value is dropped, dead, for the next sweep to remove.
    pub(super) fn leave_to_sweep(&mut self) {
        self.is_left = true;
        self.lock.keep_file();
    }

    /// Leaves the directory for good: what is in it has no other place, and no sweep will touch it.
    pub(super) fn abandon(mut self) {
        self.is_left = true;
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        if !self.is_left && self.lock.is_ours() && self.disk.remove_tree(&self.path).is_err() {
            // Dead once the lock is released, and recognised by its lock file: the next sweep takes it.
            self.lock.keep_file();
        }
    }
}

/// Takes the lock `path` in `folder`, making the folder as often as someone else removes it for being empty.
pub(crate) fn acquire_in_folder(
    disk: &Disk,
    folder: &Path,
    path: &Path,
    access: Access,
) -> Result<Option<LockFile>, StorageError> {
    loop {
        match access {
            Access::Mask => disk.create_dir_durably(folder)?,
            Access::OwnerOnly => make_private_folder(disk, folder)?,
        }
        match LockFile::try_acquire(disk, path) {
            Err(error) if error.io_kind() == Some(io::ErrorKind::NotFound) => {}
            outcome => return outcome,
        }
    }
}

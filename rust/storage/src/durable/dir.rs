//! One open directory, which stays the same one when its name changes hands.
//!
//! Owns: opening files and asking for lengths below a directory that is held open. Must not: make or change names.
//! Invariant: everything opened through one handle comes from one directory, also while another is exchanged into its
//! place.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::disk::{Disk, FileIdentity};
use super::fault::Operation;
use super::file::DiskFile;
use crate::error::StorageError;

/// A directory that is held open.
#[derive(Debug)]
pub struct DirHandle {
    disk: Disk,
    path: PathBuf,
    dir: File,
}

impl DirHandle {
    /// Opens a directory.
    ///
    /// # Errors
    /// [`StorageError::Io`].
    pub fn open(disk: &Disk, path: &Path) -> Result<Self, StorageError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = disk.call(Operation::ReadDir, path, || {
            Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
        })?;
        Ok(Self {
            disk: disk.clone(),
            path: path.to_owned(),
            dir,
        })
    }

    /// The path it was opened by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says whether the path still leads to this directory, and not to another one or to nothing.
    ///
    /// # Errors
    /// [`StorageError::Io`].
    pub fn has_its_path(&self) -> Result<bool, StorageError> {
        let held = self
            .disk
            .call(Operation::Stat, &self.path, || self.dir.metadata())?;
        Ok(self.disk.identity(&self.path)? == Some(FileIdentity::of(&held)))
    }

    /// Opens a file below it to read.
    ///
    /// # Errors
    /// [`StorageError::Io`].
    pub fn open_file(&self, name: &str) -> Result<DiskFile, StorageError> {
        let path = self.path.join(name);
        let file = self.disk.call(Operation::Open, &path, || {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            Ok(File::from(rustix::fs::openat(
                &self.dir,
                name,
                flags,
                Mode::empty(),
            )?))
        })?;
        Ok(DiskFile::from_open(&self.disk, path, file))
    }

    /// Length in bytes of a file below it; `None` if there is none.
    ///
    /// # Errors
    /// [`StorageError::Io`].
    ///
    /// # Cost
    /// One system call.
    pub fn len_of(&self, name: &str) -> Result<Option<u64>, StorageError> {
        let stat = || match rustix::fs::statat(&self.dir, name, AtFlags::empty()) {
            Ok(stat) => u64::try_from(stat.st_size)
                .map(Some)
                .map_err(io::Error::other),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        };
        self.disk
            .call_below(Operation::Stat, &self.path, name, stat)
    }
}

//! One open file: positioned reads, appended writes, sync.
//!
//! Owns: an open file and its path. Must not: buffer, hash or interpret bytes.
//! Invariant: a read answers with exactly the bytes asked for or with an error; a short file is never padded.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::Disk;
use super::fault::Operation;
use crate::error::StorageError;

/// An open file of the real file system.
#[derive(Debug)]
pub struct DiskFile {
    disk: Disk,
    path: PathBuf,
    file: Arc<File>,
}

impl DiskFile {
    /// Makes a new file to append to; one that exists already is an error.
    ///
    /// # Errors
    /// [`StorageError::Io`].
    pub fn create(disk: &Disk, path: &Path) -> Result<Self, StorageError> {
        let file = disk.call(Operation::Create, path, || {
            OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .open(path)
        })?;
        Ok(Self {
            disk: disk.clone(),
            path: path.to_owned(),
            file: Arc::new(file),
        })
    }

    /// Opens an existing file to read.
    ///
    /// # Errors
    /// [`StorageError::Io`].
    pub fn open(disk: &Disk, path: &Path) -> Result<Self, StorageError> {
        let file = disk.call(Operation::Open, path, || File::open(path))?;
        Ok(Self {
            disk: disk.clone(),
            path: path.to_owned(),
            file: Arc::new(file),
        })
    }

    /// Takes a file that was opened below a directory.
    pub(super) fn from_open(disk: &Disk, path: PathBuf, file: File) -> Self {
        Self {
            disk: disk.clone(),
            path,
            file: Arc::new(file),
        }
    }

    /// The same open file for another owner, such as one that syncs it meanwhile.
    pub(crate) fn share(&self) -> Self {
        Self {
            disk: self.disk.clone(),
            path: self.path.clone(),
            file: Arc::clone(&self.file),
        }
    }

    /// The path it was opened by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file itself, for mapping it.
    pub(crate) fn inner(&self) -> &File {
        &self.file
    }

    /// The seam it was opened through.
    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Its length in bytes.
    ///
    /// # Errors
    /// [`StorageError::Io`].
    pub fn len_bytes(&self) -> Result<u64, StorageError> {
        self.disk.call(Operation::Stat, &self.path, || {
            Ok(self.file.metadata()?.len())
        })
    }

    /// Asks the operating system to read a range ahead; a hint, so its failure is none.
    pub(crate) fn will_need(&self, offset: u64, bytes: u64) {
        #[cfg(not(target_vendor = "apple"))]
        {
            use rustix::fs::{Advice, fadvise};
            let length = std::num::NonZeroU64::new(bytes);
            let _hint = fadvise(&self.file, offset, length, Advice::WillNeed);
        }
        #[cfg(target_vendor = "apple")]
        let _ = (offset, bytes);
    }

    /// Says whether the page at `offset` is in memory; where the system can't tell, it is taken to be.
    pub(crate) fn is_resident(&self, offset: u64) -> bool {
        #[cfg(target_os = "linux")]
        {
            use rustix::io::{Errno, ReadWriteFlags, preadv2};
            let mut byte = [0];
            let mut buffers = [io::IoSliceMut::new(&mut byte)];
            preadv2(&self.file, &mut buffers, offset, ReadWriteFlags::NOWAIT) != Err(Errno::AGAIN)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = offset;
            true
        }
    }

    /// Fills `buffer` from the bytes at `offset`.
    ///
    /// # Errors
    /// [`StorageError::Io`]; a file that ends too early is of kind `UnexpectedEof`.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), StorageError> {
        self.disk.call(Operation::Read, &self.path, || {
            self.file.read_exact_at(buffer, offset)
        })
    }

    /// Reads the whole file, which must not be longer than `max_bytes`.
    ///
    /// # Errors
    /// [`StorageError::Io`]; a longer file is of kind `InvalidData`, and no more than the limit is read.
    pub fn read_all(&self, max_bytes: u64) -> Result<Vec<u8>, StorageError> {
        self.disk.call(Operation::Read, &self.path, || {
            let mut bytes = Vec::new();
            (&*self.file)
                .take(max_bytes.saturating_add(1))
                .read_to_end(&mut bytes)?;
            if u64::try_from(bytes.len()).is_ok_and(|length| length <= max_bytes) {
                return Ok(bytes);
            }
            Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("longer than {max_bytes} bytes"),
            ))
        })
    }

    /// Appends all of `bytes`.
    ///
    /// # Errors
    /// As [`append_pieces`](Self::append_pieces).
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.append_pieces(vec![IoSlice::new(bytes)])
    }

    /// Appends all bytes of all pieces, in order.
    ///
    /// # Errors
    /// [`StorageError::Io`]; how much was written is then unknown, and for want of room the error says how much was not.
    pub fn append_pieces(&mut self, mut pieces: Vec<IoSlice<'_>>) -> Result<(), StorageError> {
        let mut rest = pieces.as_mut_slice();
        // A write of nothing writes nothing, which would look like a disk that takes no more.
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            let written = self.disk.call(Operation::Write, &self.path, || {
                match (&*self.file).write_vectored(rest) {
                    Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
                    written => written,
                }
            });
            let written = written.map_err(|error| {
                error.needing(rest.iter().map(|piece| piece.len() as u64).sum())
            })?;
            IoSlice::advance_slices(&mut rest, written);
        }
        Ok(())
    }

    /// Makes its bytes and length durable.
    ///
    /// # Errors
    /// [`StorageError::Io`]; what reached the disk is then unknown.
    pub fn sync(&self) -> Result<(), StorageError> {
        self.disk
            .call(Operation::SyncFile, &self.path, || self.file.sync_all())
    }
}

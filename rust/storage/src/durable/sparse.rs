//! One open file whose bytes come and go in any order.
//!
//! Owns: positioned writes, holes, and what the file really takes on the disk. Must not: know what the bytes mean, or grow a file.
//! Invariant: the length stays what it was when the file was made; bytes that nobody wrote, or that were punched out, read as zero.
//! Format text: `STORE.md`, "Shards".

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use rustix::io::Errno;

use super::disk::Disk;
use super::fault::Operation;
use crate::error::StorageError;

/// Bytes that one of the units is long in which a file's blocks are counted, whatever the file system.
const BLOCK_UNIT_BYTES: u64 = 512;

/// A file of fixed length that is filled piece by piece.
#[derive(Debug)]
pub struct SparseFile {
    disk: Disk,
    path: PathBuf,
    file: File,
}

impl SparseFile {
    /// Makes a new file of `bytes` zeros that takes no room; one that exists already is an error.
    ///
    /// # Errors
    /// [`StorageError::Io`].
    pub fn create(disk: &Disk, path: &Path, bytes: u64) -> Result<Self, StorageError> {
        let file = disk.call(Operation::Create, path, || {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true);
            let file = options.open(path)?;
            file.set_len(bytes)?;
            Ok(file)
        })?;
        Ok(Self {
            disk: disk.clone(),
            path: path.to_owned(),
            file,
        })
    }

    /// Opens an existing file to read and write.
    ///
    /// # Errors
    /// [`StorageError::Io`].
    pub fn open(disk: &Disk, path: &Path) -> Result<Self, StorageError> {
        let file = disk.call(Operation::Open, path, || {
            OpenOptions::new().read(true).write(true).open(path)
        })?;
        Ok(Self {
            disk: disk.clone(),
            path: path.to_owned(),
            file,
        })
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

    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    /// [`StorageError::Io`]; how much was written is then unknown, and for want of room the error says how much was wanted.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), StorageError> {
        self.disk
            .call(Operation::Write, &self.path, || {
                self.file.write_all_at(bytes, offset)
            })
            .map_err(|error| error.needing(bytes.len() as u64))
    }

    /// Gives the room of a range back to the file system; the range reads as zero from then on.
    ///
    /// # Errors
    /// [`StorageError::Io`], also where the file system has no holes.
    pub fn punch(&self, range: Range<u64>) -> Result<(), StorageError> {
        if range.is_empty() {
            return Ok(());
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        self.disk.call(Operation::Punch, &self.path, || {
            let bytes = range.end - range.start;
            Ok(fallocate(&self.file, flags, range.start, bytes)?)
        })
    }

    /// Bytes that the file takes on the disk.
    ///
    /// # Errors
    /// [`StorageError::Io`].
    pub fn allocated_bytes(&self) -> Result<u64, StorageError> {
        self.disk.call(Operation::Stat, &self.path, || {
            Ok(self
                .file
                .metadata()?
                .blocks()
                .saturating_mul(BLOCK_UNIT_BYTES))
        })
    }

    /// The first range at or behind `offset` that takes room, about; the rest of the file where the file system can't tell.
    ///
    /// # Errors
    /// [`StorageError::Io`].
    pub fn next_data(&self, offset: u64) -> Result<Option<Range<u64>>, StorageError> {
        self.disk.call(Operation::Stat, &self.path, || {
            let length = self.file.metadata()?.len();
            let whole = (offset < length).then_some(offset..length);
            let start = match seek(&self.file, SeekFrom::Data(offset)) {
                Ok(start) => start,
                Err(Errno::NXIO) => return Ok(None),
                Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok(whole),
                Err(error) => return Err(io::Error::from(error)),
            };
            Ok(Some(start..seek(&self.file, SeekFrom::Hole(start))?))
        })
    }
}

/// Bytes that a file takes on the disk; 0 where there is none.
///
/// # Errors
/// [`StorageError::Io`].
pub fn allocated_bytes_of(disk: &Disk, path: &Path) -> Result<u64, StorageError> {
    disk.call(Operation::Stat, path, || {
        match std::fs::symlink_metadata(path) {
            Ok(metadata) => Ok(metadata.blocks().saturating_mul(BLOCK_UNIT_BYTES)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEGABYTE: u64 = 1024 * 1024;

    #[test]
    fn range_punched_out_reads_as_zero_and_takes_no_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shard");
        let file = SparseFile::create(&Disk::new(), &path, 4 * MEGABYTE).unwrap();
        assert_eq!(file.next_data(0).unwrap(), None);
        file.write_all_at(&[7; 2 << 20], MEGABYTE).unwrap();
        assert_eq!(file.next_data(0).unwrap(), Some(MEGABYTE..3 * MEGABYTE));
        let before = file.allocated_bytes().unwrap();
        file.punch(MEGABYTE..2 * MEGABYTE).unwrap();
        assert!(file.allocated_bytes().unwrap() < before);
        let mut byte = [1; 2];
        file.read_exact_at(&mut byte, 2 * MEGABYTE - 1).unwrap();
        assert_eq!(byte, [0, 7]);
        let taken = allocated_bytes_of(&Disk::new(), &path).unwrap();
        assert_eq!(taken, file.allocated_bytes().unwrap());
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 4 * MEGABYTE);
    }
}

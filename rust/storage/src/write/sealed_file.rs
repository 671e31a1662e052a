//! A file that is hashed while it is written.
//!
//! Owns: an open file with its running digest, and its block sums where the format has them. Must not: keep the file in
//! memory.
//! Invariant: the digest is of exactly the bytes that were appended, in order.
//! Format text: `FORMAT.md`, "Hashes".

use std::io::IoSlice;
use std::path::Path;

use dataset_rt_format::{BlockHasher, BlockSums, FileHasher, FileSeal};

use crate::durable::{Disk, DiskFile};
use crate::error::StorageError;

/// Bytes gathered before a write call, for files that grow by small pieces.
const BUFFER_BYTES: usize = 256 * 1024;

/// A shard: large appends, one digest.
pub(super) struct SealedFile {
    file: DiskFile,
    hasher: FileHasher,
}

impl SealedFile {
    pub(super) fn create(disk: &Disk, path: &Path) -> Result<Self, StorageError> {
        Ok(Self {
            file: DiskFile::create(disk, path)?,
            hasher: FileHasher::new(),
        })
    }

    pub(super) fn append(&mut self, pieces: Vec<IoSlice<'_>>) -> Result<(), StorageError> {
        for piece in &pieces {
            self.hasher.update(piece);
        }
        self.file.append_pieces(pieces)
    }

    /// The open file, for syncing what is in it so far.
    pub(super) fn share(&self) -> DiskFile {
        self.file.share()
    }

    /// The complete file, not yet synced.
    pub(super) fn finish(self) -> (DiskFile, FileSeal) {
        let seal = self.hasher.seal();
        (self.file, seal)
    }
}

/// `index.bin` or `metadata.arrow`: small appends, a digest and block sums.
pub(super) struct BlockedSealedFile {
    file: SealedFile,
    blocks: BlockHasher,
    buffer: Vec<u8>,
}

impl BlockedSealedFile {
    pub(super) fn create(disk: &Disk, path: &Path) -> Result<Self, StorageError> {
        Ok(Self {
            file: SealedFile::create(disk, path)?,
            blocks: BlockHasher::new(),
            buffer: Vec::new(),
        })
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() >= BUFFER_BYTES {
            return self.write(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// The complete file, not yet synced.
    pub(super) fn finish(mut self) -> Result<(DiskFile, FileSeal, BlockSums), StorageError> {
        self.flush()?;
        let (file, seal) = self.file.finish();
        Ok((file, seal, self.blocks.finish()))
    }

    fn flush(&mut self) -> Result<(), StorageError> {
        let buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer)?;
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.blocks.update(bytes);
        self.file.append(vec![IoSlice::new(bytes)])
    }
}

//! `index.bin` and `metadata.arrow`: bytes whose 64 KiB block is checked when it is first touched.
//!
//! Caches of the original system have no block checksums; their files are read in the same blocks, unchecked.
//!
//! Owns: which blocks were checked, and for files that are not mapped the blocks read last. Must not: know rows.
//! Invariant: a byte is handed out only after its block's checksum fitted, where there is one. Two threads that meet at an unchecked block
//! both check it, which does no harm.
//! Format text: `FORMAT.md`, "blocks.bin".

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, TryLockError};

use dataset_rt_format::limits::BLOCK_BYTES;
use dataset_rt_format::{BlockTable, BlockedFile, ByteSource, FormatError, Region, Site};

use super::fault::Fault;
use crate::durable::DiskFile;
use crate::error::StorageError;
use crate::load::Map;
use crate::memory::zeroed;

/// Most blocks that are kept of a file that is not mapped: 16 MiB.
const KEPT_BLOCKS: usize = 256;

/// [`BLOCK_BYTES`] as a length in memory.
const BLOCK: usize = 64 * 1024;

type Slot = Mutex<Option<(u64, Arc<[u8]>)>>;

enum Source {
    Mapped {
        map: Arc<Map>,
        checked: Box<[AtomicU64]>,
    },
    Positioned {
        file: DiskFile,
        slots: Box<[Slot]>,
    },
}

/// One file with the checksums of its blocks.
pub(crate) struct CheckedFile {
    which: BlockedFile,
    table: Option<Arc<BlockTable>>,
    file_bytes: u64,
    source: Source,
}

impl CheckedFile {
    /// Takes an open file; its length was compared with the manifest.
    pub(crate) fn new(
        which: BlockedFile,
        table: Option<&Arc<BlockTable>>,
        file_bytes: u64,
        file: DiskFile,
        is_mapped: bool,
    ) -> Result<Self, StorageError> {
        let blocks = usize::try_from(file_bytes.div_ceil(BLOCK_BYTES)).unwrap_or(usize::MAX);
        let source = if is_mapped {
            let map = Arc::new(Map::new(&file, file_bytes)?);
            let checked = (0..blocks.div_ceil(64))
                .map(|_| AtomicU64::new(0))
                .collect();
            Source::Mapped { map, checked }
        } else {
            let slots = (0..blocks.min(KEPT_BLOCKS))
                .map(|_| Slot::default())
                .collect();
            Source::Positioned { file, slots }
        };
        Ok(Self {
            which,
            table: table.cloned(),
            file_bytes,
            source,
        })
    }

    /// All bytes, after checking all blocks: shared with the mapping, or read.
    ///
    /// # Cost
    /// One hash pass over the blocks not checked before; without a mapping also one read.
    pub(crate) fn whole(&self) -> Result<bytes::Bytes, Fault> {
        let length = self.file_bytes;
        match &self.source {
            Source::Mapped { map, .. } => {
                self.bytes(0, length)?;
                Ok(bytes::Bytes::from_owner(SharedMap(Arc::clone(map))))
            }
            Source::Positioned { file, .. } => {
                let mut bytes = zeroed(usize::try_from(length).unwrap_or(usize::MAX))?;
                self.read(file, &mut bytes, 0)?;
                for (number, block) in bytes.chunks(BLOCK).enumerate() {
                    self.check(number, block)?;
                }
                Ok(bytes.into())
            }
        }
    }

    /// `N` mapped bytes from `offset` on, if their blocks were checked before; [`bytes`](ByteSource::bytes) says why not.
    #[inline]
    pub(crate) fn checked_array<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        let Source::Mapped { map, checked } = &self.source else {
            return None;
        };
        let bytes = map.bytes().get(usize::try_from(offset).ok()?..)?;
        let last = offset + (N as u64).saturating_sub(1);
        match is_checked(checked, offset / BLOCK_BYTES) && is_checked(checked, last / BLOCK_BYTES) {
            true => bytes.first_chunk().copied(),
            false => None,
        }
    }

    /// Checks the blocks of a range that were not checked before.
    #[inline]
    fn check_mapped(
        &self,
        map: &[u8],
        checked: &[AtomicU64],
        offset: u64,
        length: u64,
    ) -> Result<(), Fault> {
        let first = offset / BLOCK_BYTES;
        let last = (offset + length).saturating_sub(1) / BLOCK_BYTES;
        for block in first..=last.max(first) {
            if !is_checked(checked, block) {
                self.check_block(map, checked, block)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn check_block(&self, map: &[u8], checked: &[AtomicU64], block: u64) -> Result<(), Fault> {
        let number = usize::try_from(block).unwrap_or(usize::MAX);
        let range = self.block_range(block);
        let bytes = slice(map, range.start, range.end - range.start).unwrap_or_default();
        self.check(number, bytes)?;
        if let Some(word) = checked.get(number / 64) {
            word.fetch_or(1 << (block % 64), Ordering::Release);
        }
        Ok(())
    }

    /// One checked block of a file that is not mapped.
    fn positioned_block(
        &self,
        file: &DiskFile,
        slots: &[Slot],
        block: u64,
    ) -> Result<Arc<[u8]>, Fault> {
        let number = usize::try_from(block).unwrap_or(usize::MAX);
        let slot = number.checked_rem(slots.len()).and_then(|at| slots.get(at));
        // Nobody waits for a thread that reads: it may have stayed in the parent of a forked process.
        let mut kept = slot.and_then(|slot| match slot.try_lock() {
            Ok(kept) => Some(kept),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        });
        if let Some(Some((kept_block, bytes))) = kept.as_deref()
            && *kept_block == block
        {
            return Ok(Arc::clone(bytes));
        }
        let range = self.block_range(block);
        let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or(0)];
        self.read(file, &mut bytes, range.start)?;
        self.check(number, &bytes)?;
        let bytes: Arc<[u8]> = bytes.into();
        if let Some(kept) = kept.as_deref_mut() {
            *kept = Some((block, Arc::clone(&bytes)));
        }
        Ok(bytes)
    }

    /// Bytes of a block, as a range of the file.
    fn block_range(&self, block: u64) -> Range<u64> {
        let start = block.saturating_mul(BLOCK_BYTES).min(self.file_bytes);
        start..(start + BLOCK_BYTES).min(self.file_bytes)
    }

    fn check(&self, block: usize, bytes: &[u8]) -> Result<(), FormatError> {
        match &self.table {
            Some(table) => table.check_block(self.which, block, bytes),
            None => Ok(()),
        }
    }

    /// Copies a checked range of a file that is not mapped.
    fn copy_positioned(
        &self,
        file: &DiskFile,
        slots: &[Slot],
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), Fault> {
        let mut at = offset;
        let mut rest = out;
        while !rest.is_empty() {
            let block = self.positioned_block(file, slots, at / BLOCK_BYTES)?;
            let within = usize::try_from(at % BLOCK_BYTES).unwrap_or(usize::MAX);
            let there = block.get(within..).unwrap_or_default();
            if there.is_empty() {
                return Err(self.short(at, rest.len() as u64, 0).into());
            }
            let count = there.len().min(rest.len());
            let (head, tail) = rest.split_at_mut(count);
            head.copy_from_slice(there.get(..count).unwrap_or_default());
            rest = tail;
            at += count as u64;
        }
        Ok(())
    }

    /// Reads exactly; a file that became shorter is damaged, not unreadable.
    fn read(&self, file: &DiskFile, out: &mut [u8], offset: u64) -> Result<(), Fault> {
        match file.read_exact_at(out, offset) {
            Err(error) if error.io_kind() == Some(io::ErrorKind::UnexpectedEof) => {
                let found = file.len_bytes()?.saturating_sub(offset);
                Err(self.short(offset, out.len() as u64, found).into())
            }
            outcome => Ok(outcome?),
        }
    }

    #[cold]
    fn short(&self, offset: u64, expected_bytes: u64, found_bytes: u64) -> FormatError {
        let site = Site::new(self.which.file(), Region::File, offset);
        FormatError::Truncated {
            site,
            expected_bytes,
            found_bytes,
        }
    }
}

impl ByteSource for CheckedFile {
    type Error = Fault;

    #[inline]
    fn bytes(&self, offset: u64, length: u64) -> Result<Cow<'_, [u8]>, Fault> {
        match &self.source {
            Source::Mapped { map, checked } => {
                let Some(range) = slice(map.bytes(), offset, length) else {
                    let found = (map.bytes().len() as u64).saturating_sub(offset);
                    return Err(self.short(offset, length, found).into());
                };
                self.check_mapped(map.bytes(), checked, offset, length)?;
                Ok(Cow::Borrowed(range))
            }
            Source::Positioned { file, slots } => {
                let there = self.file_bytes.saturating_sub(offset);
                if length > there {
                    return Err(self.short(offset, length, there).into());
                }
                let mut out = zeroed(usize::try_from(length).unwrap_or(usize::MAX))?;
                self.copy_positioned(file, slots, offset, &mut out)?;
                Ok(Cow::Owned(out))
            }
        }
    }

    #[inline]
    fn array<const N: usize>(&self, offset: u64) -> Result<[u8; N], Fault> {
        if let Some(bytes) = self.checked_array(offset) {
            return Ok(bytes);
        }
        match &self.source {
            Source::Mapped { .. } => {
                let bytes = self.bytes(offset, N as u64)?;
                bytes
                    .first_chunk::<N>()
                    .copied()
                    .ok_or_else(|| self.short(offset, N as u64, 0).into())
            }
            Source::Positioned { file, slots } => {
                let mut out = [0; N];
                self.copy_positioned(file, slots, offset, &mut out)?;
                Ok(out)
            }
        }
    }
}

/// Whether a block was checked before.
#[inline]
fn is_checked(checked: &[AtomicU64], block: u64) -> bool {
    usize::try_from(block / 64)
        .ok()
        .and_then(|word| checked.get(word))
        .is_some_and(|word| word.load(Ordering::Acquire) >> (block % 64) & 1 == 1)
}

/// A range of bytes, if it is there.
#[inline]
pub(super) fn slice(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    bytes
        .get(usize::try_from(offset).ok()?..)?
        .get(..usize::try_from(length).ok()?)
}

struct SharedMap(Arc<Map>);

impl AsRef<[u8]> for SharedMap {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durable::{DirHandle, Disk};

    #[test]
    fn block_that_another_thread_reads_is_read_without_waiting_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let which = BlockedFile::Index;
        std::fs::write(folder.path().join(which.file().path()), b"0123456789").unwrap();
        let dir = DirHandle::open(&Disk::new(), folder.path()).unwrap();
        let file = dir.open_file(&which.file().path()).unwrap();
        let checked = CheckedFile::new(which, None, 10, file, false).unwrap();
        let Source::Positioned { slots, .. } = &checked.source else {
            panic!("mapped");
        };
        let _reading = slots[0].lock().unwrap();
        assert_eq!(checked.array(3).unwrap(), *b"3456");
    }
}

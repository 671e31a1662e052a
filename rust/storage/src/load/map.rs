//! Files in memory: the only file of this crate with `unsafe`.
//!
//! Owns: read-only mappings of files of published caches, and hints about them. Must not: interpret bytes, or hand out a
//! slice that is longer than the file was when it was mapped.
//! Invariant: the view has the length that was asked for and that the file had at that moment.
//! Format text: `FORMAT.md`, "Reading".
#![expect(
    unsafe_code,
    reason = "mapping a file has no safe form; the argument stands at the one block"
)]

use std::ops::Range;

use memmap2::{Advice, Mmap, MmapOptions};

use crate::durable::{DiskFile, Operation};
use crate::error::StorageError;

/// A file of a published cache, mapped to read.
///
/// Published files never change. If someone changes one all the same, bytes read from here may differ from one read to
/// the next (every use is checked as foreign bytes are), and a file that is cut between a look at its length and a read
/// of the cut part ends the process by SIGBUS; `OpenOptions::mapped = false` has no such gap.
///
/// Shards in a store of object storage are filled while they are mapped (`STORE.md`, "Shards"): their length stays, and a record's
/// bytes are foreign until a private copy of them has passed its checksum.
#[derive(Debug)]
pub(crate) struct Map {
    // `None` for an empty file, which can't be mapped.
    map: Option<Mmap>,
}

impl Map {
    /// Maps the first `bytes` bytes of `file`, which has at least as many.
    ///
    /// # Errors
    /// [`StorageError::Io`]; an unforeseen shorter file is of kind `UnexpectedEof`.
    pub(crate) fn new(file: &DiskFile, bytes: u64) -> Result<Self, StorageError> {
        let too_long = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let found = file.len_bytes()?;
        file.disk().call(Operation::Map, file.path(), || {
            let length = usize::try_from(bytes).map_err(|_| too_long())?;
            if found < bytes {
                return Err(too_long());
            }
            if length == 0 {
                return Ok(Self { map: None });
            }
            // SAFETY: the mapping is read-only and private to this value, which owns it until it is unmapped; no slice
            // outlives it, because slices borrow from `self`. Its length was just compared with the file's. That no one
            // writes to the file meanwhile is upheld by the format: a published file is complete and never written
            // again, by us or by whoever follows FORMAT.md, but for shards in a store, of which records are copied out and
            // then checked. Whoever breaks that can change bytes under a slice; nothing
            // in this workspace derives the validity of memory from such bytes: integers are copied out and bounds
            // checked, and text is checked where it is borrowed.
            let map = unsafe { MmapOptions::new().len(length).map(file.inner()) }?;
            Ok(Self { map: Some(map) })
        })
    }

    /// The mapped bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// Asks the operating system to read a range ahead; a hint, so its failure is none.
    pub(crate) fn will_need(&self, range: Range<usize>) {
        if let Some(map) = &self.map
            && range.end <= map.len()
        {
            let _hint = map.advise_range(Advice::WillNeed, range.start, range.len());
        }
    }
}

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

//! Files beside caches, mapped whole.
//!
//! Owns: mapping a file of any name. Must not: check or interpret bytes; whoever maps a file knows what it should be.
//! Invariant: the bytes have the length that the file had when it was mapped.

use std::path::Path;

use bytes::Bytes;

use super::map::Map;
use crate::durable::{Disk, DiskFile};
use crate::error::StorageError;

/// Maps the file at `path`; the mapping lives as long as the bytes or anything made of them.
///
/// # Errors
/// [`StorageError::Io`].
pub fn map_file(disk: &Disk, path: &Path) -> Result<Bytes, StorageError> {
    let file = DiskFile::open(disk, path)?;
    let length = file.len_bytes()?;
    Ok(Bytes::from_owner(Map::new(&file, length)?))
}

//! Memory whose size comes from a file or from the caller.
//!
//! Owns: asking for it in a way that may be refused. Must not: be used for what is small whatever happens.
//! Invariant: where memory is short the answer is an error; the process goes on.

use crate::error::StorageError;

/// Bytes from which on memory is asked for, and not taken: a process that lacks less can't do anything else either.
const ASKED_BYTES: usize = 256 * 1024;

/// Room for that many items.
///
/// # Errors
/// [`StorageError::NoMemory`].
pub fn reserved<T>(items: usize) -> Result<Vec<T>, StorageError> {
    let mut room = Vec::new();
    reserve(&mut room, items)?;
    Ok(room)
}

/// Room for that many items more.
///
/// # Errors
/// [`StorageError::NoMemory`]; the items that are there stay.
pub fn reserve<T>(room: &mut Vec<T>, items: usize) -> Result<(), StorageError> {
    room.try_reserve(items)
        .map_err(|_| no_memory(items.saturating_mul(size_of::<T>())))
}

/// That many zeros.
///
/// # Errors
/// [`StorageError::NoMemory`].
pub fn zeroed(bytes: usize) -> Result<Vec<u8>, StorageError> {
    if bytes < ASKED_BYTES {
        return Ok(vec![0; bytes]);
    }
    let mut room = reserved(bytes)?;
    room.resize(bytes, 0);
    Ok(room)
}

fn no_memory(bytes: usize) -> StorageError {
    StorageError::NoMemory {
        bytes: bytes as u64,
    }
}

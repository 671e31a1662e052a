//! `order-<cycle>.bin`: the order of one weighted cycle.
//!
//! Owns where its two sections are, and how they are written. Must not look at entries: the sampler checks those it uses. Invariant: sections start
//! at multiples of [`ALIGNMENT`] bytes and the file has no byte outside of them and the gap. Format text: `SNAPSHOT.md`, "order-<cycle>.bin".

use std::ops::Range;

use super::tables::{ALIGNMENT, pad, range, write_numbers};
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;

/// Bytes of a row number and of a run's end.
const ENTRY_BYTES: u64 = 4;

/// Byte ranges of the sections of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSections {
    /// Rows, run by run.
    pub rows: Range<usize>,
    /// Index behind the last row of each run; at least one.
    pub run_ends: Range<usize>,
}

impl OrderSections {
    /// Finds the sections in a file of `file_bytes` bytes that orders the `rows` rows of `cycle`.
    ///
    /// # Errors
    ///
    /// [`FormatError::Truncated`] where the file is too short for one run, [`FormatError::Mismatch`] where a piece of an entry is left over.
    pub fn locate(cycle: u64, rows: u64, file_bytes: u64) -> Result<Self, FormatError> {
        let rows_end = u128::from(rows) * u128::from(ENTRY_BYTES);
        let start = rows_end.next_multiple_of(ALIGNMENT.into());
        let site = Site::new(CacheFile::SnapshotOrder(cycle), Region::File, 0);
        let least = start + u128::from(ENTRY_BYTES);
        if u128::from(file_bytes) < least {
            return Err(FormatError::Truncated {
                site,
                expected_bytes: u64::try_from(least).unwrap_or(u64::MAX),
                found_bytes: file_bytes,
            });
        }
        if !file_bytes.is_multiple_of(ENTRY_BYTES) {
            return Err(FormatError::Mismatch {
                site,
                field: "bytes behind the last run",
                expected: 0,
                found: file_bytes % ENTRY_BYTES,
            });
        }
        Ok(Self {
            rows: range(0, rows_end)?,
            run_ends: range(start, file_bytes.into())?,
        })
    }
}

/// The bytes of an order in pieces, each handed to `write` in turn.
///
/// # Errors
///
/// What `write` answers.
pub fn encode_order<E>(
    rows: &[u32],
    run_ends: &[u32],
    mut write: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let written = write_numbers(rows, |row| row.to_le_bytes(), &mut write)?;
    pad(written, &mut write)?;
    write_numbers(run_ends, |end| end.to_le_bytes(), &mut write)?;
    Ok(())
}

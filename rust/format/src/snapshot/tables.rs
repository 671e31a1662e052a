//! `tables.bin`: sampling tables one after another.
//!
//! Owns where each section starts and how long it is. Must not look at entries: the sampler checks those it uses. Invariant: sections start at multiples of
//! [`ALIGNMENT`] bytes and the file has no byte outside of sections and gaps. Format text: `SNAPSHOT.md`, "tables.bin".

use std::ops::Range;

use super::model::{RowSampleWidth, SnapshotHandle};
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;

/// Distance to which sections are aligned, in bytes: a mapped section is then aligned for every integer.
pub(super) const ALIGNMENT: u64 = 64;

/// Bytes of a sum and of a guide entry.
const SUM_BYTES: u64 = 8;
const GUIDE_BYTES: u64 = 4;

/// Byte ranges of the sections of `tables.bin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSections {
    /// Row to sample; empty for the identity.
    pub row_samples: Range<usize>,
    /// Cumulative sums; empty for equal weights.
    pub sums: Range<usize>,
    /// Guide into the sums; empty for equal weights.
    pub guide: Range<usize>,
}

impl TableSections {
    /// Finds the sections in a file of `file_bytes` bytes.
    ///
    /// # Errors
    ///
    /// [`FormatError::Truncated`] where the file is too short for what the handle says, [`FormatError::Mismatch`] where bytes are left over.
    pub fn locate(handle: &SnapshotHandle, file_bytes: u64) -> Result<Self, FormatError> {
        let row_samples_end = u128::from(handle.rows) * u128::from(handle.row_samples.bytes());
        let sums_start = if handle.weighted {
            row_samples_end.next_multiple_of(ALIGNMENT.into())
        } else {
            row_samples_end
        };
        let sum_bytes = if handle.weighted {
            u128::from(handle.rows) * u128::from(SUM_BYTES)
        } else {
            0
        };
        let sums_end = sums_start + sum_bytes;
        let guide_start = if handle.weighted {
            sums_end.next_multiple_of(ALIGNMENT.into())
        } else {
            sums_end
        };
        let file_end = u128::from(file_bytes);
        if guide_start > file_end {
            return Err(FormatError::Truncated {
                site: Site::new(CacheFile::SnapshotTables, Region::File, 0),
                expected_bytes: u64::try_from(guide_start).unwrap_or(u64::MAX),
                found_bytes: file_bytes,
            });
        }
        let guide_bytes = file_end - guide_start;
        let surplus = if handle.weighted {
            guide_bytes % u128::from(GUIDE_BYTES)
        } else {
            guide_bytes
        };
        if surplus != 0 {
            return Err(FormatError::Mismatch {
                site: Site::new(CacheFile::SnapshotTables, Region::File, 0),
                field: "bytes behind the last section",
                expected: 0,
                found: u64::try_from(surplus).unwrap_or(u64::MAX),
            });
        }
        Ok(Self {
            row_samples: range(0, row_samples_end)?,
            sums: range(sums_start, sums_end)?,
            guide: range(guide_start, file_end)?,
        })
    }
}

pub(super) fn range(start: u128, end: u128) -> Result<Range<usize>, FormatError> {
    let narrow = |place: u128| {
        usize::try_from(place).map_err(|_| FormatError::LimitExceeded {
            what: "bytes of tables.bin",
            max: usize::MAX as u64,
            found: u64::try_from(place).unwrap_or(u64::MAX),
        })
    };
    Ok(narrow(start)?..narrow(end)?)
}

/// The bytes of `tables.bin` in pieces, each handed to `write` in order.
///
/// # Errors
///
/// What `write` answers.
///
/// # Cost
///
/// Numbers are encoded in pieces of 64 KiB; nothing is held but one piece.
pub fn encode_tables<E>(
    row_samples: RowSampleEntries<'_>,
    weights: Option<(&[u64], &[u32])>,
    mut write: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut written = match row_samples {
        RowSampleEntries::Identity => 0,
        RowSampleEntries::Narrow(entries) => {
            write_numbers(entries, |entry| entry.to_le_bytes(), &mut write)?
        }
        RowSampleEntries::Wide(entries) => {
            write_numbers(entries, |entry| entry.to_le_bytes(), &mut write)?
        }
    };
    if let Some((sums, guide)) = weights {
        written = pad(written, &mut write)?;
        written += write_numbers(sums, |sum| sum.to_le_bytes(), &mut write)?;
        pad(written, &mut write)?;
        write_numbers(guide, |entry| entry.to_le_bytes(), &mut write)?;
    }
    Ok(())
}

/// The first section's numbers.
#[derive(Clone, Copy, Debug)]
pub enum RowSampleEntries<'a> {
    /// Row k is sample k.
    Identity,
    /// Four bytes per row.
    Narrow(&'a [u32]),
    /// Eight bytes per row.
    Wide(&'a [u64]),
}

impl RowSampleEntries<'_> {
    /// How the handle calls it.
    pub const fn width(self) -> RowSampleWidth {
        match self {
            Self::Identity => RowSampleWidth::Identity,
            Self::Narrow(_) => RowSampleWidth::Narrow,
            Self::Wide(_) => RowSampleWidth::Wide,
        }
    }
}

/// Numbers that are encoded together.
const PIECE: usize = 8192;

pub(super) fn write_numbers<T: Copy, const N: usize, E>(
    numbers: &[T],
    encode: impl Fn(T) -> [u8; N],
    write: &mut impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<u64, E> {
    let mut piece = Vec::with_capacity(PIECE * N);
    for numbers in numbers.chunks(PIECE) {
        piece.clear();
        piece.extend(numbers.iter().flat_map(|number| encode(*number)));
        write(&piece)?;
    }
    Ok(numbers.len() as u64 * N as u64)
}

pub(super) fn pad<E>(
    written: u64,
    write: &mut impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<u64, E> {
    const GAP: [u8; 64] = [0; 64];
    let end = written.next_multiple_of(ALIGNMENT);
    let gap = usize::try_from(end - written).unwrap_or(0);
    write(GAP.get(..gap).unwrap_or_default())?;
    Ok(end)
}

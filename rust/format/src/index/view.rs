//! Rows of an index that is in memory.
//!
//! Owns the step from sample id to row bytes. Must not check blocks or records. Invariant: a view holds a
//! whole number of rows. Format text: `FORMAT.md`, "index.bin".

use super::{IndexRow, decode_index_row};
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;
use crate::ids::SampleId;
use crate::limits::{INDEX_ROW_BYTES, INDEX_ROW_LEN};

/// The rows of `index.bin`, or of a part of it that starts at a given sample.
#[derive(Clone, Copy, Debug)]
pub struct IndexView<'a> {
    rows: &'a [[u8; INDEX_ROW_BYTES]],
    first: u64,
}

impl<'a> IndexView<'a> {
    /// A view of a whole file.
    ///
    /// # Errors
    ///
    /// [`FormatError::Truncated`] where the last row is not whole.
    pub fn new(bytes: &'a [u8]) -> Result<Self, FormatError> {
        Self::starting_at(SampleId::new(0), bytes)
    }

    /// A view of consecutive rows, the first of which belongs to `first`.
    ///
    /// # Errors
    ///
    /// [`FormatError::Truncated`] where the last row is not whole.
    pub fn starting_at(first: SampleId, bytes: &'a [u8]) -> Result<Self, FormatError> {
        let (rows, rest) = bytes.as_chunks();
        if rest.is_empty() {
            return Ok(Self {
                rows,
                first: first.get(),
            });
        }
        let offset = first
            .get()
            .saturating_add(rows.len() as u64)
            .saturating_mul(INDEX_ROW_LEN);
        Err(FormatError::Truncated {
            site: Site::new(CacheFile::Index, Region::IndexRow, offset),
            expected_bytes: INDEX_ROW_LEN,
            found_bytes: rest.len() as u64,
        })
    }

    /// Number of rows in the view.
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the view has no rows.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row of a sample; `None` where the view does not hold it.
    ///
    /// # Errors
    ///
    /// What [`decode_index_row`] finds.
    #[inline]
    pub fn row(&self, sample: SampleId) -> Option<Result<IndexRow, FormatError>> {
        let at = usize::try_from(sample.get().checked_sub(self.first)?).ok()?;
        self.rows
            .get(at)
            .map(|bytes| decode_index_row(sample, bytes))
    }

    /// All rows with their samples, in order.
    pub fn rows(&self) -> impl Iterator<Item = (SampleId, Result<IndexRow, FormatError>)> + 'a {
        (self.first..).zip(self.rows).map(|(number, bytes)| {
            let sample = SampleId::new(number);
            (sample, decode_index_row(sample, bytes))
        })
    }
}

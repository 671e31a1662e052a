//! Values of one row, read from where they stand.
//!
//! Owns the bounds and UTF-8 checks of single values. Must not allocate unless the source does. Invariant: a
//! text lies within the text buffer of its column, whatever its offsets say.
//! Format text: `FORMAT.md`, "metadata.arrow".

use std::borrow::Cow;

use super::ByteSource;
use super::batch_header::{ColumnPlace, Span};
use super::footer::{ColumnKind, out_of_range};
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;
use crate::ids::SampleId;
use crate::metadata::MetadataValueRef;

/// The metadata of one sample.
pub struct MetadataRow<'a, S: ?Sized> {
    sample: SampleId,
    /// Number of the row within its batch.
    at: u64,
    columns: &'a [ColumnPlace],
    source: &'a S,
}

impl<'a, S: ByteSource + ?Sized> MetadataRow<'a, S> {
    pub(super) const fn new(
        sample: SampleId,
        at: u64,
        columns: &'a [ColumnPlace],
        source: &'a S,
    ) -> Self {
        Self {
            sample,
            at,
            columns,
            source,
        }
    }

    /// The value of a column; columns count as in the schema.
    ///
    /// # Errors
    ///
    /// [`FormatError::Absent`] beyond the last column; [`FormatError::OutOfRange`] and
    /// [`FormatError::InvalidUtf8`] for damaged text; what the source answers.
    ///
    /// # Cost
    ///
    /// One range of the source, two for text, and a UTF-8 check.
    #[inline]
    pub fn value(&self, column: usize) -> Result<MetadataValueRef<'a>, S::Error> {
        let Some(place) = self.columns.get(column) else {
            let count = self.columns.len() as u64;
            let found = column as u64;
            return Err(FormatError::Absent {
                what: "metadata column",
                count,
                found,
            }
            .into());
        };
        let values = place.values.offset;
        match place.kind {
            ColumnKind::Bool => {
                let [byte] = self.source.array::<1>(values + self.at / 8)?;
                Ok(MetadataValueRef::Bool(byte >> (self.at % 8) & 1 == 1))
            }
            ColumnKind::Int64 => {
                let bytes = self.source.array::<8>(values + 8 * self.at)?;
                Ok(MetadataValueRef::Int64(i64::from_le_bytes(bytes)))
            }
            ColumnKind::Float64 => {
                let bytes = self.source.array::<8>(values + 8 * self.at)?;
                Ok(MetadataValueRef::Float64(f64::from_le_bytes(bytes)))
            }
            ColumnKind::LargeUtf8 => {
                let bytes = self.source.array::<16>(values + 8 * self.at)?;
                let [start, end] = halves(&bytes).map(i64::from_le_bytes);
                self.text(&place.text, start, end)
            }
            ColumnKind::Utf8 => {
                let bytes = self.source.array::<8>(values + 4 * self.at)?;
                let [start, end] = halves(&bytes).map(i32::from_le_bytes).map(i64::from);
                self.text(&place.text, start, end)
            }
        }
    }

    /// Checks that the value of a column is marked as valid, where the file has marks. Reading values does not need it.
    ///
    /// # Errors
    ///
    /// [`FormatError::OutOfRange`] for a mark that is 0; as for [`Self::value`].
    pub fn check_validity(&self, column: usize) -> Result<(), S::Error> {
        let validity = self.columns.get(column).map(|place| place.validity);
        let Some(Span { offset, bytes: 1.. }) = validity else {
            return Ok(());
        };
        let offset = offset + self.at / 8;
        let [byte] = self.source.array::<1>(offset)?;
        match byte >> (self.at % 8) & 1 {
            1 => Ok(()),
            _ => Err(out_of_range(self.site(offset), "validity bit", 1, 1, 0).into()),
        }
    }

    #[inline]
    fn text(&self, text: &Span, start: i64, end: i64) -> Result<MetadataValueRef<'a>, S::Error> {
        // Negative offsets are beyond any buffer here.
        let (start, end) = (start.cast_unsigned(), end.cast_unsigned());
        if start > end || end > text.bytes {
            let site = self.site(text.offset);
            let (field, min, max, found) = if end > text.bytes {
                ("text end", 0, text.bytes, end)
            } else {
                ("text start", 0, end, start)
            };
            return Err(out_of_range(site, field, min, max, found).into());
        }
        let offset = text.offset + start;
        let utf8 = match self.source.bytes(offset, end - start)? {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes)
                .map(Cow::Owned)
                .map_err(|error| error.utf8_error()),
        };
        utf8.map(MetadataValueRef::String).map_err(|error| {
            FormatError::InvalidUtf8 {
                site: self.site(offset),
                covered_bytes: end - start,
                valid_bytes: error.valid_up_to() as u64,
            }
            .into()
        })
    }

    #[cold]
    fn site(&self, offset: u64) -> Site {
        Site::new(CacheFile::Metadata, Region::Value, offset).about(self.sample)
    }
}

/// The first and the last `N` bytes: copied as words, where a pattern of bytes is copied one by one.
#[inline]
fn halves<const N: usize>(bytes: &[u8]) -> [[u8; N]; 2] {
    let none = [0; N];
    [
        *bytes.first_chunk().unwrap_or(&none),
        *bytes.last_chunk().unwrap_or(&none),
    ]
}

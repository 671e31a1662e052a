//! Whole batches as Arrow arrays, for tables rather than single values.
//!
//! Owns the step from byte ranges to validated arrays. Must not copy buffers that can be shared. Invariant:
//! every array is validated in full: offsets, UTF-8 and lengths.
//! Format text: `FORMAT.md`, "metadata.arrow".

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, SchemaRef};

use super::MetadataLayout;
use super::batch_header::{ColumnPlace, Span};
use super::footer::{ColumnKind, out_of_range};
use crate::error::{FormatError, Region, SharedError, Site};
use crate::files::CacheFile;

impl MetadataLayout {
    /// One record batch of the file, sharing the memory of `file` where its alignment allows.
    ///
    /// `schema` is the Arrow schema of the cache ([`crate::MetadataSchema::arrow_schema`]); text columns come
    /// with 64-bit offsets whatever the file has.
    ///
    /// # Errors
    ///
    /// [`FormatError::Absent`] beyond the last batch; a located finding of kind `Corrupt` where values are not
    /// valid.
    ///
    /// # Cost
    ///
    /// One validation pass over the text of the batch.
    pub fn record_batch(
        &self,
        number: usize,
        schema: &SchemaRef,
        file: &Buffer,
    ) -> Result<RecordBatch, FormatError> {
        let Some(batch) = self.batch(number) else {
            let count = self.batch_count() as u64;
            return Err(FormatError::Absent {
                what: "metadata batch",
                count,
                found: number as u64,
            });
        };
        let places = self.columns(batch, file.as_slice())?;
        let rows = usize::try_from(batch.rows).unwrap_or(usize::MAX);
        let columns = places.iter().map(|place| column(place, rows, file));
        let columns = columns.collect::<Result<Vec<ArrayRef>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
            .map_err(|error| malformed(0, error))
    }
}

fn column(place: &ColumnPlace, rows: usize, file: &Buffer) -> Result<ArrayRef, FormatError> {
    check_validity(place.validity, rows, file)?;
    let values = slice(place.values, file)?;
    let (data_type, buffers) = match place.kind {
        ColumnKind::Bool => (DataType::Boolean, vec![values]),
        ColumnKind::Int64 => (DataType::Int64, vec![values]),
        ColumnKind::Float64 => (DataType::Float64, vec![values]),
        ColumnKind::LargeUtf8 => (DataType::LargeUtf8, vec![values, slice(place.text, file)?]),
        ColumnKind::Utf8 => (
            DataType::LargeUtf8,
            vec![widen(&values), slice(place.text, file)?],
        ),
    };
    let data = ArrayData::builder(data_type)
        .len(rows)
        .buffers(buffers)
        .align_buffers(true)
        .build();
    data.map(make_array)
        .map_err(|error| malformed(place.values.offset, error))
}

fn slice(span: Span, file: &Buffer) -> Result<Buffer, FormatError> {
    let start = usize::try_from(span.offset).unwrap_or(usize::MAX);
    let bytes = usize::try_from(span.bytes).unwrap_or(usize::MAX);
    // The header may have been decoded while the file was longer.
    match start.checked_add(bytes) {
        Some(end) if end <= file.len() => Ok(file.slice_with_length(start, bytes)),
        _ => Err(FormatError::Truncated {
            site: Site::new(CacheFile::Metadata, Region::Value, span.offset),
            expected_bytes: span.bytes,
            found_bytes: (file.len() as u64).saturating_sub(span.offset),
        }),
    }
}

/// 32-bit offsets as 64-bit ones; their order is checked with the array.
fn widen(offsets: &Buffer) -> Buffer {
    let (offsets, _) = offsets.as_slice().as_chunks::<4>();
    let wide: Vec<i64> = offsets
        .iter()
        .map(|bytes| i64::from(i32::from_le_bytes(*bytes)))
        .collect();
    Buffer::from_vec(wide)
}

/// A validity buffer, where there is one, has a one for every row.
fn check_validity(span: Span, rows: usize, file: &Buffer) -> Result<(), FormatError> {
    if span.bytes == 0 {
        return Ok(());
    }
    let bits = slice(span, file)?;
    let ones = bits.count_set_bits_offset(0, rows);
    if ones == rows {
        return Ok(());
    }
    let site = Site::new(CacheFile::Metadata, Region::Value, span.offset);
    Err(out_of_range(
        site,
        "valid rows",
        rows as u64,
        rows as u64,
        ones as u64,
    ))
}

fn malformed(offset: u64, error: ArrowError) -> FormatError {
    FormatError::Malformed {
        site: Site::new(CacheFile::Metadata, Region::Value, offset),
        what: "Arrow column",
        source: Arc::new(error) as SharedError,
    }
}

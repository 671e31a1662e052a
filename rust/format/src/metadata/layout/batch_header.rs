//! The header of one record batch: where each column's buffers are.
//!
//! Owns the step from flatbuffer message to absolute byte ranges. Must not read values. Invariant: every
//! range of an accepted header lies within the batch's body and is long enough for its rows.
//! Format text: `FORMAT.md`, "metadata.arrow".

use arrow_ipc::{RecordBatch, root_as_message};

use super::ByteSource;
use super::footer::{BatchPlace, ColumnKind, expect_version, out_of_range};
use crate::error::{FormatError, Region, SharedError, Site, plain_finding};
use crate::files::CacheFile;

/// Bytes before the flatbuffer: continuation marker and length.
const PREFIX_BYTES: u64 = 8;
const CONTINUATION: u32 = u32::MAX;

/// A range of the file, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// Absolute places of one column of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ColumnPlace {
    pub(super) kind: ColumnKind,
    /// Validity bits of all rows; empty where the file has none.
    pub(super) validity: Span,
    /// Values of fixed width, bits, or text offsets: exactly those of the rows.
    pub(super) values: Span,
    /// Text; empty for other kinds.
    pub(super) text: Span,
}

pub(super) fn decode_batch_header<S: ByteSource + ?Sized>(
    kinds: &[ColumnKind],
    rows: u64,
    place: &BatchPlace,
    source: &S,
) -> Result<Box<[ColumnPlace]>, S::Error> {
    let bytes = source.bytes(place.header_offset, place.header_bytes)?;
    let columns = check_header(kinds, rows, place, &bytes)?;
    Ok(columns)
}

/// The rows that the header of a batch declares, where no other file says them.
pub(super) fn declared_rows<S: ByteSource + ?Sized>(
    place: &BatchPlace,
    source: &S,
) -> Result<u64, S::Error> {
    let bytes = source.bytes(place.header_offset, place.header_bytes)?;
    Ok(batch_of(place, &bytes)?.1.length().cast_unsigned())
}

fn check_header(
    kinds: &[ColumnKind],
    rows: u64,
    place: &BatchPlace,
    bytes: &[u8],
) -> Result<Box<[ColumnPlace]>, FormatError> {
    let (site, batch) = batch_of(place, bytes)?;
    equal(site, "batch rows", rows, batch.length().cast_unsigned())?;
    if batch.compression().is_some() {
        return Err(out_of_range(site, "body compression", 0, 0, 1));
    }
    check_nodes(kinds, rows, site, &batch)?;
    place_buffers(kinds, rows, place, site, &batch)
}

/// The flatbuffer of a batch header, verified and compared with the footer.
fn batch_of<'a>(
    place: &BatchPlace,
    bytes: &'a [u8],
) -> Result<(Site, RecordBatch<'a>), FormatError> {
    let site = Site::new(
        CacheFile::Metadata,
        Region::BatchHeader,
        place.header_offset,
    );
    let malformed = |source: SharedError| FormatError::Malformed {
        site,
        what: "Arrow record batch header",
        source,
    };
    let Some(([c0, c1, c2, c3, l0, l1, l2, l3], rest)) = bytes.split_first_chunk::<8>() else {
        return Err(FormatError::Truncated {
            site,
            expected_bytes: PREFIX_BYTES,
            found_bytes: bytes.len() as u64,
        });
    };
    let marker = u32::from_le_bytes([*c0, *c1, *c2, *c3]);
    equal(
        site,
        "continuation marker",
        u64::from(CONTINUATION),
        u64::from(marker),
    )?;
    let length = u64::from(u32::from_le_bytes([*l0, *l1, *l2, *l3]));
    equal(
        site,
        "batch header length",
        place.header_bytes - PREFIX_BYTES,
        length,
    )?;

    let message = root_as_message(rest).map_err(|error| malformed(plain_finding(error)))?;
    expect_version(site, message.version())?;
    equal(
        site,
        "batch body length",
        place.body_bytes,
        message.bodyLength().cast_unsigned(),
    )?;
    let Some(batch) = message.header_as_record_batch() else {
        let found = u64::from(message.header_type().0);
        return Err(out_of_range(site, "message type", 3, 3, found));
    };
    Ok((site, batch))
}

fn check_nodes(
    kinds: &[ColumnKind],
    rows: u64,
    site: Site,
    batch: &RecordBatch<'_>,
) -> Result<(), FormatError> {
    let nodes = batch.nodes();
    let count = nodes.map_or(0, |list| list.len());
    equal(site, "field nodes", kinds.len() as u64, count as u64)?;
    for node in nodes.iter().flat_map(|list| list.iter()) {
        equal(
            site,
            "rows of a column",
            rows,
            node.length().cast_unsigned(),
        )?;
        equal(
            site,
            "nulls of a column",
            0,
            node.null_count().cast_unsigned(),
        )?;
    }
    Ok(())
}

fn place_buffers(
    kinds: &[ColumnKind],
    rows: u64,
    place: &BatchPlace,
    site: Site,
    batch: &RecordBatch<'_>,
) -> Result<Box<[ColumnPlace]>, FormatError> {
    let is_text = |kind: &&ColumnKind| matches!(kind, ColumnKind::Utf8 | ColumnKind::LargeUtf8);
    let expected = 2 * kinds.len() + kinds.iter().filter(is_text).count();
    let buffers = batch.buffers();
    equal(
        site,
        "buffers",
        expected as u64,
        buffers.map_or(0, |list| list.len()) as u64,
    )?;
    let mut spans = buffers.iter().flat_map(|list| list.iter()).map(|buffer| {
        let offset = buffer.offset().cast_unsigned();
        let bytes = buffer.length().cast_unsigned();
        // A negative number is beyond any file length here.
        match offset.checked_add(bytes) {
            Some(end) if end <= place.body_bytes => {}
            end => {
                let found = end.unwrap_or(u64::MAX);
                return Err(out_of_range(site, "buffer end", 0, place.body_bytes, found));
            }
        }
        if offset % 8 != 0 {
            return Err(out_of_range(
                site,
                "buffer offset modulo 8",
                0,
                0,
                offset % 8,
            ));
        }
        Ok(Span {
            offset: place.body_offset + offset,
            bytes,
        })
    });
    let none = Span {
        offset: place.body_offset,
        bytes: 0,
    };
    let mut next = || spans.next().unwrap_or(Ok(none));
    // The rows decide how much of a buffer counts; what follows is padding, whatever its length.
    let trimmed = |span: Span, field, needed: Option<u64>| match needed {
        Some(bytes) if bytes <= span.bytes => Ok(Span { bytes, ..span }),
        _ => {
            let min = needed.unwrap_or(u64::MAX);
            Err(out_of_range(site, field, min, place.body_bytes, span.bytes))
        }
    };
    let bitmap_bytes = Some(rows.div_ceil(8));
    let offset_bytes = |width| {
        rows.checked_add(1)
            .and_then(|count| count.checked_mul(width))
    };
    let mut columns = Vec::with_capacity(kinds.len());
    for kind in kinds {
        let validity = match next()? {
            span if span.bytes == 0 => span,
            span => trimmed(span, "validity bytes", bitmap_bytes)?,
        };
        let (field, needed) = match kind {
            ColumnKind::Bool => ("value bytes", bitmap_bytes),
            ColumnKind::Int64 | ColumnKind::Float64 => ("value bytes", rows.checked_mul(8)),
            ColumnKind::Utf8 => ("offset bytes", offset_bytes(4)),
            ColumnKind::LargeUtf8 => ("offset bytes", offset_bytes(8)),
        };
        let values = trimmed(next()?, field, needed)?;
        let text = if is_text(&kind) { next()? } else { none };
        columns.push(ColumnPlace {
            kind: *kind,
            validity,
            values,
            text,
        });
    }
    Ok(columns.into_boxed_slice())
}

fn equal(site: Site, field: &'static str, expected: u64, found: u64) -> Result<(), FormatError> {
    if expected == found {
        return Ok(());
    }
    Err(FormatError::Mismatch {
        site,
        field,
        expected,
        found,
    })
}

//! The footer of `metadata.arrow`: schema and batch places.
//!
//! Owns the comparison of the footer with manifest and block table. Must not read batches. Invariant: every
//! accepted batch lies within the file.
//! Format text: `FORMAT.md`, "metadata.arrow".

use arrow_ipc::{Endianness, Field, Footer, MetadataVersion, Precision, Type, root_as_footer};

use super::ByteSource;
use crate::error::{FormatError, Region, Site, plain_finding};
use crate::files::CacheFile;
use crate::metadata::{MetadataSchema, MetadataType};

const LEADING_MAGIC: [u8; 8] = *b"ARROW1\0\0";
const MAGIC: [u8; 6] = *b"ARROW1";
/// Footer length and magic at the end of the file.
const TAIL_BYTES: u64 = 10;

/// How a column is laid out in a batch body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Bool,
    Int64,
    Float64,
    /// Text with 32-bit offsets.
    Utf8,
    /// Text with 64-bit offsets.
    LargeUtf8,
}

/// Place of one batch in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchPlace {
    pub(super) header_offset: u64,
    pub(super) header_bytes: u64,
    pub(super) body_offset: u64,
    pub(super) body_bytes: u64,
}

/// What the footer says, checked.
pub(super) struct FooterParts {
    pub(super) kinds: Vec<ColumnKind>,
    pub(super) places: Vec<BatchPlace>,
}

/// Without `batch_count` any number of batches will do.
pub(super) fn decode_footer<S: ByteSource + ?Sized>(
    schema: &MetadataSchema,
    batch_count: Option<usize>,
    file_bytes: u64,
    source: &S,
) -> Result<FooterParts, S::Error> {
    let least = LEADING_MAGIC.len() as u64 + TAIL_BYTES;
    if file_bytes < least {
        let site = Site::new(CacheFile::Metadata, Region::File, 0);
        return Err(FormatError::Truncated {
            site,
            expected_bytes: least,
            found_bytes: file_bytes,
        }
        .into());
    }
    let head = source.array::<8>(0)?;
    if head != LEADING_MAGIC {
        let site = Site::new(CacheFile::Metadata, Region::Header, 0);
        return Err(FormatError::WrongMagic {
            site,
            expected: LEADING_MAGIC,
            found: head,
        }
        .into());
    }
    let tail_offset = file_bytes - TAIL_BYTES;
    let [l0, l1, l2, l3, magic @ ..] = source.array::<10>(tail_offset)?;
    if magic != MAGIC {
        let [m0, m1, m2, m3, m4, m5] = magic;
        let site = Site::new(CacheFile::Metadata, Region::Footer, tail_offset + 4);
        let found = [m0, m1, m2, m3, m4, m5, 0, 0];
        return Err(FormatError::WrongMagic {
            site,
            expected: LEADING_MAGIC,
            found,
        }
        .into());
    }
    let footer_bytes = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
    let most = file_bytes - least;
    if footer_bytes == 0 || footer_bytes > most {
        let site = Site::new(CacheFile::Metadata, Region::Footer, tail_offset);
        return Err(out_of_range(site, "footer length", 1, most, footer_bytes).into());
    }
    let footer_offset = tail_offset - footer_bytes;
    let bytes = source.bytes(footer_offset, footer_bytes)?;
    let parts = check_footer(schema, batch_count, footer_offset, &bytes)?;
    Ok(parts)
}

fn check_footer(
    schema: &MetadataSchema,
    batch_count: Option<usize>,
    footer_offset: u64,
    bytes: &[u8],
) -> Result<FooterParts, FormatError> {
    let site = Site::new(CacheFile::Metadata, Region::Footer, footer_offset);
    let footer = root_as_footer(bytes).map_err(|error| FormatError::Malformed {
        site,
        what: "Arrow footer",
        source: plain_finding(error),
    })?;
    expect_version(site, footer.version())?;
    let dictionaries = footer.dictionaries().map_or(0, |list| list.len());
    if dictionaries != 0 {
        return Err(out_of_range(
            site,
            "dictionaries",
            0,
            0,
            dictionaries as u64,
        ));
    }
    let kinds = check_schema(schema, site, &footer)?;
    let places = check_places(batch_count, site, footer_offset, &footer)?;
    Ok(FooterParts { kinds, places })
}

fn check_schema(
    schema: &MetadataSchema,
    site: Site,
    footer: &Footer<'_>,
) -> Result<Vec<ColumnKind>, FormatError> {
    let none = || "absent".to_owned();
    let stored = footer.schema();
    if stored.is_some_and(|stored| stored.endianness() != Endianness::Little) {
        return Err(out_of_range(site, "endianness", 0, 0, 1));
    }
    let fields = stored.and_then(|stored| stored.fields());
    let mut fields = fields.iter().flat_map(|list| list.iter());
    let mut kinds = Vec::with_capacity(schema.len());
    for (number, column) in schema.columns().iter().enumerate() {
        let expected = format!("{:?} of type {}", column.name, column.value_type);
        let Some(field) = fields.next() else {
            return Err(FormatError::ColumnMismatch {
                site,
                column: number,
                expected,
                found: none(),
            });
        };
        match column_kind(&field) {
            Some((value_type, kind))
                if value_type == column.value_type
                    && field.name() == Some(column.name.as_str())
                    && !field.nullable() =>
            {
                kinds.push(kind);
            }
            _ => {
                let found = describe(&field);
                return Err(FormatError::ColumnMismatch {
                    site,
                    column: number,
                    expected,
                    found,
                });
            }
        }
    }
    match fields.next() {
        None => Ok(kinds),
        Some(field) => Err(FormatError::ColumnMismatch {
            site,
            column: schema.len(),
            expected: none(),
            found: describe(&field),
        }),
    }
}

fn column_kind(field: &Field<'_>) -> Option<(MetadataType, ColumnKind)> {
    if field.dictionary().is_some() || field.children().is_some_and(|list| !list.is_empty()) {
        return None;
    }
    match field.type_type() {
        Type::Bool => Some((MetadataType::Bool, ColumnKind::Bool)),
        Type::Int => {
            let int = field.type_as_int()?;
            (int.bitWidth() == 64 && int.is_signed())
                .then_some((MetadataType::Int64, ColumnKind::Int64))
        }
        Type::FloatingPoint => (field.type_as_floating_point()?.precision() == Precision::DOUBLE)
            .then_some((MetadataType::Float64, ColumnKind::Float64)),
        Type::Utf8 => Some((MetadataType::String, ColumnKind::Utf8)),
        Type::LargeUtf8 => Some((MetadataType::String, ColumnKind::LargeUtf8)),
        _ => None,
    }
}

fn describe(field: &Field<'_>) -> String {
    let name: String = field.name().unwrap_or_default().chars().take(80).collect();
    let kind = field.type_type().variant_name().unwrap_or("unknown");
    let nullable = if field.nullable() { ", nullable" } else { "" };
    format!("{name:?} of Arrow type {kind}{nullable}")
}

fn check_places(
    batch_count: Option<usize>,
    site: Site,
    footer_offset: u64,
    footer: &Footer<'_>,
) -> Result<Vec<BatchPlace>, FormatError> {
    let blocks = footer.recordBatches();
    let found = blocks.map_or(0, |list| list.len());
    match batch_count {
        Some(expected) if expected != found => {
            return Err(FormatError::Mismatch {
                site,
                field: "record batches",
                expected: expected as u64,
                found: found as u64,
            });
        }
        _ => {}
    }
    let mut places = Vec::with_capacity(found);
    for block in blocks.iter().flat_map(|list| list.iter()) {
        let unsigned = |field, number: i64| {
            u64::try_from(number)
                .map_err(|_| out_of_range(site, field, 0, footer_offset, number.cast_unsigned()))
        };
        let header_offset = unsigned("batch offset", block.offset())?;
        let header_bytes = unsigned("batch header length", block.metaDataLength().into())?;
        let body_bytes = unsigned("batch body length", block.bodyLength())?;
        let body_offset = header_offset.saturating_add(header_bytes);
        let end = body_offset.saturating_add(body_bytes);
        if header_offset < 8 || header_offset % 8 != 0 {
            return Err(out_of_range(
                site,
                "batch offset",
                8,
                footer_offset,
                header_offset,
            ));
        }
        if header_bytes < 8 || header_bytes % 8 != 0 {
            return Err(out_of_range(
                site,
                "batch header length",
                8,
                footer_offset,
                header_bytes,
            ));
        }
        if end > footer_offset {
            return Err(out_of_range(site, "batch end", 8, footer_offset, end));
        }
        places.push(BatchPlace {
            header_offset,
            header_bytes,
            body_offset,
            body_bytes,
        });
    }
    Ok(places)
}

pub(super) fn expect_version(site: Site, version: MetadataVersion) -> Result<(), FormatError> {
    expect(
        site,
        "Arrow metadata version",
        MetadataVersion::V5.0,
        version.0,
    )
}

fn expect(site: Site, field: &'static str, expected: i16, found: i16) -> Result<(), FormatError> {
    if expected == found {
        return Ok(());
    }
    let number = |value: i16| u64::from(value.cast_unsigned());
    Err(FormatError::Mismatch {
        site,
        field,
        expected: number(expected),
        found: number(found),
    })
}

pub(super) fn out_of_range(
    site: Site,
    field: &'static str,
    min: u64,
    max: u64,
    found: u64,
) -> FormatError {
    FormatError::OutOfRange {
        site,
        field,
        min,
        max,
        found,
    }
}

//! Decoding of a snapshot's handle.
//!
//! Owns the order of checks: JSON, format, version, checksum, values. Must not open what the handle names. Invariant: a decoded handle has a known value in every
//! field and at least one row. Format text: `SNAPSHOT.md`, "snapshot.json".

use serde::Deserialize;
use serde_json::Value;

use super::encode::{SNAPSHOT_FORMAT, SNAPSHOT_VERSION};
use super::model::{
    RowSampleWidth, SnapshotCache, SnapshotHandle, SnapshotOptions, SnapshotPart, SnapshotStore,
    SnapshotTail, TABLE_FILE, TABLES_FILE,
};
use crate::checksum::{Digest128, FileSeal};
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;
use crate::json::{Object, check_json, decode_json};
use crate::manifest::check_checksum;

const FILE: CacheFile = CacheFile::SnapshotHandle;

#[derive(Deserialize)]
struct HeadText {
    format: Option<Value>,
    format_version: Option<Value>,
}

#[derive(Deserialize)]
struct HandleText {
    writer_version: String,
    caches: Vec<Object<CacheText>>,
    options: Object<OptionsText>,
    store: Option<Object<StoreText>>,
    num_workers: u64,
    rows: u64,
    samples: u64,
    row_samples: String,
    weighted: bool,
    table_digest: String,
    epoch_length: u64,
    position: u64,
    window_end: u64,
    skipped: u64,
    part: Object<PartText>,
    files: Vec<Object<FileText>>,
}

#[derive(Deserialize)]
struct CacheText {
    path: String,
    content_digest: String,
    url: Option<String>,
}

#[derive(Deserialize)]
struct StoreText {
    path: String,
    limit_bytes: Option<u64>,
    look_ahead_bytes: u64,
    max_requests: u64,
    attempts: u32,
    retry_wait_ms: u64,
    request_timeout_ms: u64,
}

#[derive(Deserialize)]
struct OptionsText {
    seed: String,
    prefetch_size: u64,
    shuffle: bool,
    replacement: bool,
    validate_cache: bool,
    verify_records: bool,
    on_corrupt: String,
    mapped: bool,
}

#[derive(Deserialize)]
struct PartText {
    index: u64,
    count: u64,
    tail: String,
}

#[derive(Deserialize)]
struct FileText {
    path: String,
    bytes: u64,
    xxh3_128: String,
}

/// Reads `snapshot.json`.
///
/// # Errors
///
/// [`FormatError::UnsupportedVersion`] for a later one; otherwise a finding of kind `Corrupt`.
pub fn decode_handle(text: &[u8]) -> Result<SnapshotHandle, FormatError> {
    check_json(FILE, text)?;
    check_head(&decode_json(FILE, text)?)?;
    check_checksum(FILE, text)?;
    let parts: HandleText = decode_json(FILE, text)?;
    let (table, tables) = decode_files(&parts.files)?;
    let handle = SnapshotHandle {
        writer_version: parts.writer_version,
        caches: parts
            .caches
            .into_iter()
            .map(|Object(cache)| {
                let content_digest = digest("caches.content_digest", &cache.content_digest)?;
                Ok(SnapshotCache {
                    path: cache.path,
                    content_digest,
                    url: cache.url,
                })
            })
            .collect::<Result<_, FormatError>>()?,
        options: decode_options(&parts.options.0)?,
        store: parts.store.map(|Object(store)| decode_store(store)),
        num_workers: parts.num_workers,
        rows: parts.rows,
        samples: parts.samples,
        row_samples: RowSampleWidth::from_name(&parts.row_samples)
            .ok_or_else(|| fault("row_samples", "identity, u32 or u64", &parts.row_samples))?,
        weighted: parts.weighted,
        table_digest: digest("table_digest", &parts.table_digest)?,
        epoch_length: parts.epoch_length,
        position: parts.position,
        window_end: parts.window_end,
        skipped: parts.skipped,
        part: decode_part(&parts.part.0)?,
        table,
        tables,
    };
    for (field, value) in [
        ("rows", handle.rows),
        ("epoch_length", handle.epoch_length),
        ("num_workers", handle.num_workers),
    ] {
        if value == 0 {
            return Err(fault(field, "at least 1", "0"));
        }
    }
    Ok(handle)
}

fn check_head(head: &HeadText) -> Result<(), FormatError> {
    let format = head
        .format
        .as_ref()
        .and_then(Value::as_str)
        .unwrap_or_default();
    if format != SNAPSHOT_FORMAT {
        return Err(fault("format", SNAPSHOT_FORMAT, format));
    }
    match head.format_version.as_ref().and_then(Value::as_u64) {
        Some(SNAPSHOT_VERSION) => Ok(()),
        Some(found) if found > SNAPSHOT_VERSION => Err(FormatError::UnsupportedVersion {
            file: FILE,
            supported: SNAPSHOT_VERSION,
            found,
        }),
        _ => Err(fault(
            "format_version",
            "an integer from 1 on",
            "another value",
        )),
    }
}

fn decode_options(parts: &OptionsText) -> Result<SnapshotOptions, FormatError> {
    Ok(SnapshotOptions {
        seed: parts
            .seed
            .parse()
            .map_err(|_| fault("options.seed", "an integer of 64 bits as text", &parts.seed))?,
        prefetch_size: parts.prefetch_size,
        shuffle: parts.shuffle,
        replacement: parts.replacement,
        validate_cache: parts.validate_cache,
        verify_records: parts.verify_records,
        skips_corrupt: match parts.on_corrupt.as_str() {
            "raise" => false,
            "skip" => true,
            other => return Err(fault("options.on_corrupt", "raise or skip", other)),
        },
        mapped: parts.mapped,
    })
}

fn decode_store(parts: StoreText) -> SnapshotStore {
    SnapshotStore {
        path: parts.path,
        limit_bytes: parts.limit_bytes,
        look_ahead_bytes: parts.look_ahead_bytes,
        max_requests: parts.max_requests,
        attempts: parts.attempts,
        retry_wait_ms: parts.retry_wait_ms,
        request_timeout_ms: parts.request_timeout_ms,
    }
}

fn decode_part(part: &PartText) -> Result<SnapshotPart, FormatError> {
    if part.index >= part.count {
        let expected = format!("a number below {}", part.count);
        return Err(fault("part.index", &expected, &part.index.to_string()));
    }
    Ok(SnapshotPart {
        index: part.index,
        count: part.count,
        tail: SnapshotTail::from_name(&part.tail)
            .ok_or_else(|| fault("part.tail", "uneven, drop or pad", &part.tail))?,
    })
}

/// Seals of the table and of the sampling tables, as far as the list has them.
fn decode_files(
    entries: &[Object<FileText>],
) -> Result<(Option<FileSeal>, Option<FileSeal>), FormatError> {
    let (mut table, mut tables) = (None, None);
    for Object(entry) in entries {
        let place = match entry.path.as_str() {
            TABLE_FILE => &mut table,
            TABLES_FILE => &mut tables,
            other => return Err(fault("files.path", "table.arrow or tables.bin", other)),
        };
        let seal = FileSeal {
            bytes: entry.bytes,
            digest: digest("files.xxh3_128", &entry.xxh3_128)?,
        };
        if place.replace(seal).is_some() {
            return Err(fault("files.path", "each file once", &entry.path));
        }
    }
    Ok((table, tables))
}

fn digest(field: &'static str, text: &str) -> Result<Digest128, FormatError> {
    Digest128::parse_hex(text).ok_or_else(|| fault(field, "32 lower-case hexadecimal digits", text))
}

/// Long text is cut: an error is for people to read.
fn fault(field: &'static str, expected: &str, found: &str) -> FormatError {
    FormatError::InvalidText {
        site: Site::new(FILE, Region::Json, 0),
        field,
        expected: expected.to_owned(),
        found: found.chars().take(120).collect(),
    }
}

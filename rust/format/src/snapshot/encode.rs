//! Encoding of a snapshot's handle.
//!
//! Owns the order of keys and the text form. Invariant: the text depends on the value alone. Format text: `SNAPSHOT.md`, "snapshot.json".

use serde::Serialize;

use super::model::{HANDLE_FILE, SnapshotHandle, SnapshotStore, TABLE_FILE, TABLES_FILE};
use crate::checksum::FileSeal;
use crate::error::FormatError;
use crate::manifest::{ZERO_DIGITS, encode_sealed};

pub(super) const SNAPSHOT_FORMAT: &str = "dataset_rt snapshot";
pub(super) const SNAPSHOT_VERSION: u64 = 1;

#[derive(Serialize)]
struct HandleText<'a> {
    format: &'a str,
    format_version: u64,
    writer_version: &'a str,
    caches: Vec<CacheText<'a>>,
    options: OptionsText,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<StoreText<'a>>,
    num_workers: u64,
    rows: u64,
    samples: u64,
    row_samples: &'a str,
    weighted: bool,
    table_digest: String,
    epoch_length: u64,
    position: u64,
    window_end: u64,
    skipped: u64,
    part: PartText,
    files: Vec<FileText<'a>>,
    checksum: &'a str,
}

#[derive(Serialize)]
struct CacheText<'a> {
    path: &'a str,
    content_digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
}

#[derive(Serialize)]
struct StoreText<'a> {
    path: &'a str,
    limit_bytes: Option<u64>,
    look_ahead_bytes: u64,
    max_requests: u64,
    attempts: u32,
    retry_wait_ms: u64,
    request_timeout_ms: u64,
}

impl<'a> StoreText<'a> {
    fn of(store: &'a SnapshotStore) -> Self {
        Self {
            path: &store.path,
            limit_bytes: store.limit_bytes,
            look_ahead_bytes: store.look_ahead_bytes,
            max_requests: store.max_requests,
            attempts: store.attempts,
            retry_wait_ms: store.retry_wait_ms,
            request_timeout_ms: store.request_timeout_ms,
        }
    }
}

#[derive(Serialize)]
struct OptionsText {
    seed: String,
    prefetch_size: u64,
    shuffle: bool,
    replacement: bool,
    validate_cache: bool,
    verify_records: bool,
    on_corrupt: &'static str,
    mapped: bool,
}

#[derive(Serialize)]
struct PartText {
    index: u64,
    count: u64,
    tail: &'static str,
}

#[derive(Serialize)]
struct FileText<'a> {
    path: &'a str,
    bytes: u64,
    xxh3_128: String,
}

/// The bytes of `snapshot.json`.
///
/// # Errors
///
/// [`FormatError::Encode`] where JSON can't hold the text, which does not happen.
pub fn encode_handle(handle: &SnapshotHandle) -> Result<Vec<u8>, FormatError> {
    let options = &handle.options;
    let file = |path, seal: Option<FileSeal>| {
        seal.map(|seal| FileText {
            path,
            bytes: seal.bytes,
            xxh3_128: seal.digest.to_string(),
        })
    };
    let text = HandleText {
        format: SNAPSHOT_FORMAT,
        format_version: SNAPSHOT_VERSION,
        writer_version: &handle.writer_version,
        caches: handle
            .caches
            .iter()
            .map(|cache| CacheText {
                path: &cache.path,
                content_digest: cache.content_digest.to_string(),
                url: cache.url.as_deref(),
            })
            .collect(),
        options: OptionsText {
            seed: options.seed.to_string(),
            prefetch_size: options.prefetch_size,
            shuffle: options.shuffle,
            replacement: options.replacement,
            validate_cache: options.validate_cache,
            verify_records: options.verify_records,
            on_corrupt: if options.skips_corrupt {
                "skip"
            } else {
                "raise"
            },
            mapped: options.mapped,
        },
        store: handle.store.as_ref().map(StoreText::of),
        num_workers: handle.num_workers,
        rows: handle.rows,
        samples: handle.samples,
        row_samples: handle.row_samples.name(),
        weighted: handle.weighted,
        table_digest: handle.table_digest.to_string(),
        epoch_length: handle.epoch_length,
        position: handle.position,
        window_end: handle.window_end,
        skipped: handle.skipped,
        part: PartText {
            index: handle.part.index,
            count: handle.part.count,
            tail: handle.part.tail.name(),
        },
        files: [
            file(TABLE_FILE, handle.table),
            file(TABLES_FILE, handle.tables),
        ]
        .into_iter()
        .flatten()
        .collect(),
        checksum: ZERO_DIGITS,
    };
    encode_sealed(&text, HANDLE_FILE)
}

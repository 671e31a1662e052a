//! What a snapshot's handle says.
//!
//! Owns the values of `snapshot.json`. Must not know what options mean: they are handed through to the reader. Invariant: a handle names caches by absolute path
//! and carries their digests, so whoever opens it can tell whether they are still the same. Format text: `SNAPSHOT.md`.

use crate::checksum::{Digest128, FileSeal};

/// Name of the handle.
pub const HANDLE_FILE: &str = "snapshot.json";
/// Name of the sampling tables.
pub const TABLES_FILE: &str = "tables.bin";
/// Name of the active table.
pub const TABLE_FILE: &str = "table.arrow";

/// A cache of the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotCache {
    /// Absolute path.
    pub path: String,
    /// Content digest of the cache when the snapshot was taken.
    pub content_digest: Digest128,
    /// Where its records come from, if the path is its folder in a store.
    pub url: Option<String>,
}

/// How a store is kept and filled; names and values as in `StoreConfig`, times in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotStore {
    /// Absolute path.
    pub path: String,
    /// Bytes that it may take on the disk; `None` for as many as there are.
    pub limit_bytes: Option<u64>,
    /// Bytes fetched ahead of a reader.
    pub look_ahead_bytes: u64,
    /// Requests in flight.
    pub max_requests: u64,
    /// Attempts for each request.
    pub attempts: u32,
    /// Wait before the second attempt.
    pub retry_wait_ms: u64,
    /// Longest time of a request.
    pub request_timeout_ms: u64,
}

/// How the dataset draws and reads; names and values as in `ReaderConfig`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotOptions {
    /// Seed of the draw stream.
    pub seed: u64,
    /// Draws in flight.
    pub prefetch_size: u64,
    /// Whether rows are drawn at random.
    pub shuffle: bool,
    /// Whether a row may come again before all came once.
    pub replacement: bool,
    /// Whether all files are hashed when caches are opened.
    pub validate_cache: bool,
    /// Whether each record's checksum is checked.
    pub verify_records: bool,
    /// `true` for `skip`, `false` for `raise`.
    pub skips_corrupt: bool,
    /// Whether files are mapped.
    pub mapped: bool,
}

/// Which part of every window the view draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotPart {
    /// Number of the part, below `count`.
    pub index: u64,
    /// Number of parts; 1 for the whole window.
    pub count: u64,
    /// What happens to draws that do not divide evenly.
    pub tail: SnapshotTail,
}

/// What happens to draws that do not divide evenly among parts; `DRAWS.md`, "Partitions".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotTail {
    /// Lengths differ by at most one.
    Uneven,
    /// They are passed over.
    Drop,
    /// The window's first draws fill up.
    Pad,
}

impl SnapshotTail {
    /// The word in the handle.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uneven => "uneven",
            Self::Drop => "drop",
            Self::Pad => "pad",
        }
    }

    /// The tail of a word; `None` where there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Uneven, Self::Drop, Self::Pad]
            .into_iter()
            .find(|tail| tail.name() == name)
    }
}

/// How `tables.bin` maps rows to samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSampleWidth {
    /// Row k is sample k; the section is absent.
    Identity,
    /// Four bytes per row.
    Narrow,
    /// Eight bytes per row.
    Wide,
}

impl RowSampleWidth {
    /// The word in the handle.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Narrow => "u32",
            Self::Wide => "u64",
        }
    }

    /// The width of a word; `None` where there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Identity, Self::Narrow, Self::Wide]
            .into_iter()
            .find(|width| width.name() == name)
    }

    /// Bytes per row in `tables.bin`.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Identity => 0,
            Self::Narrow => 4,
            Self::Wide => 8,
        }
    }
}

/// Everything in `snapshot.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotHandle {
    /// Version of the package that wrote it.
    pub writer_version: String,
    /// The caches in `cache_id` order.
    pub caches: Vec<SnapshotCache>,
    /// How the dataset draws and reads.
    pub options: SnapshotOptions,
    /// The store, where a cache comes from a URL.
    pub store: Option<SnapshotStore>,
    /// Worker threads of the runtime that wrote it.
    pub num_workers: u64,
    /// Rows of the active table.
    pub rows: u64,
    /// Samples of all caches.
    pub samples: u64,
    /// How rows map to samples.
    pub row_samples: RowSampleWidth,
    /// Whether there are sums and a guide.
    pub weighted: bool,
    /// Digest of the table's sampling columns.
    pub table_digest: Digest128,
    /// Draws per window.
    pub epoch_length: u64,
    /// The cursor.
    pub position: u64,
    /// End of the interrupted window that the cursor is in; the cursor itself between windows.
    pub window_end: u64,
    /// Positions passed over by hand.
    pub skipped: u64,
    /// The part that the view draws.
    pub part: SnapshotPart,
    /// `table.arrow`, unless the table is the one the caches come with.
    pub table: Option<FileSeal>,
    /// `tables.bin`, unless the stream needs no tables.
    pub tables: Option<FileSeal>,
}

//! The store of a snapshot, as its handle has it.
//!
//! Owns the step between a store's options and the handle's text. Must not open anything. Invariant: options read are those that were written, to the millisecond; no secret is among them.

use std::path::PathBuf;
use std::time::Duration;

use dataset_rt_format::snapshot::{SnapshotCache, SnapshotStore};
use dataset_rt_replica::StoreOptions;

use crate::places::Place;

/// What the handle says of a store.
pub(super) fn store_text(options: &StoreOptions) -> SnapshotStore {
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    SnapshotStore {
        path: options.path.to_string_lossy().into_owned(),
        limit_bytes: options.limit_bytes,
        look_ahead_bytes: options.look_ahead_bytes,
        max_requests: options.max_requests as u64,
        attempts: options.attempts,
        retry_wait_ms: milliseconds(options.retry_wait),
        request_timeout_ms: milliseconds(options.request_timeout),
    }
}

/// A store's options as a handle has them.
pub(super) fn store_options(text: &SnapshotStore) -> StoreOptions {
    StoreOptions {
        path: PathBuf::from(&text.path),
        limit_bytes: text.limit_bytes,
        look_ahead_bytes: text.look_ahead_bytes,
        max_requests: usize::try_from(text.max_requests).unwrap_or(usize::MAX),
        attempts: text.attempts,
        retry_wait: Duration::from_millis(text.retry_wait_ms),
        request_timeout: Duration::from_millis(text.request_timeout_ms),
    }
}

/// Where a cache of a handle is.
pub(super) fn place_of(cache: &SnapshotCache) -> Place {
    let path = PathBuf::from(&cache.path);
    match &cache.url {
        None => Place::Directory(path),
        Some(url) => Place::Stored {
            url: url.clone(),
            folder: path,
        },
    }
}

//! What a caller may choose about a store.
//!
//! Owns the truth about its options; the Python model only repeats the shape. Invariant: options that passed [`StoreOptions::validate`] can be worked with.

use std::path::PathBuf;
use std::time::Duration;

use crate::error::ReplicaError;

/// Most requests at once: more would be a mistake against any server.
const MAX_REQUESTS: usize = 1024;

/// The part of a limit that records may take which are fetched ahead.
const AHEAD_SHARE: u64 = 4;

/// How a store on the local disk is kept, and how it is filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// Directory of the store; any number of processes may share it.
    pub path: PathBuf,
    /// Bytes that the store may take on the disk; `None` for as many as there are.
    pub limit_bytes: Option<u64>,
    /// Payload bytes of coming draws that are fetched ahead of a reader.
    pub look_ahead_bytes: u64,
    /// Requests in flight, at most, of one dataset.
    pub max_requests: usize,
    /// How often an object is asked for before its error is an error.
    pub attempts: u32,
    /// Wait before the second attempt; each later one waits twice as long.
    pub retry_wait: Duration,
    /// Longest time that one request may take.
    pub request_timeout: Duration,
}

impl StoreOptions {
    /// A store at `path` with the defaults of the product.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            limit_bytes: None,
            look_ahead_bytes: 64 * 1024 * 1024,
            max_requests: 16,
            attempts: 5,
            retry_wait: Duration::from_millis(100),
            request_timeout: Duration::from_secs(30),
        }
    }

    /// Bytes that are fetched ahead: no more than a part of a limit, so that what is needed next stays.
    #[must_use]
    pub fn ahead_bytes(&self) -> u64 {
        self.limit_bytes.map_or(self.look_ahead_bytes, |limit| {
            self.look_ahead_bytes.min(limit / AHEAD_SHARE)
        })
    }

    /// Refuses options that can't be worked with.
    ///
    /// # Errors
    /// [`ReplicaError::InvalidOption`] names the option and what is wanted.
    pub fn validate(&self) -> Result<(), ReplicaError> {
        let refused = |option, found: String, expected| {
            Err(ReplicaError::InvalidOption {
                option,
                found,
                expected,
            })
        };
        if !(1..=MAX_REQUESTS).contains(&self.max_requests) {
            let found = self.max_requests.to_string();
            return refused("max_requests", found, "an integer from 1 to 1024");
        }
        if self.attempts == 0 {
            return refused("attempts", "0".to_owned(), "at least 1");
        }
        if self.request_timeout.is_zero() {
            return refused("request_timeout_seconds", "0".to_owned(), "more than 0");
        }
        if self.limit_bytes == Some(0) {
            return refused("limit_bytes", "0".to_owned(), "at least 1, or None");
        }
        Ok(())
    }
}

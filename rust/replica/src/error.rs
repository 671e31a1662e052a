//! What can go wrong between a reader and an object store.
//!
//! Owns the error type of the crate. Must not carry ready sentences. Invariant: an error about an object names its URL, and the bytes asked for where it was asked
//! for some.

use std::fmt;
use std::ops::Range;

use dataset_rt_format::{ErrorFacts, ErrorKind, FormatError};
use dataset_rt_pool::PoolError;
use dataset_rt_storage::StorageError;

use crate::transport::TransportFault;

/// Why an object was not had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFault {
    /// There is no such object.
    Missing,
    /// It is another version than the one that was opened.
    Changed,
    /// The store refuses the request, and will refuse it again.
    Refused,
    /// The request failed in a way that may pass.
    Failed,
    /// Another number of bytes came than was asked for.
    Length,
}

impl ReadFault {
    /// The kind of a transport's fault, and its sentence.
    pub(crate) fn of(fault: TransportFault) -> (Self, String) {
        match fault {
            TransportFault::Missing(cause) => (Self::Missing, cause),
            TransportFault::Changed(cause) => (Self::Changed, cause),
            TransportFault::Refused(cause) => (Self::Refused, cause),
            TransportFault::Failed(cause) => (Self::Failed, cause),
        }
    }
}

impl fmt::Display for ReadFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Missing => "there is no such object",
            Self::Changed => "it is another version than the one that was opened",
            Self::Refused => "the store refuses",
            Self::Failed => "the request failed",
            Self::Length => "another number of bytes came",
        })
    }
}

/// An error of sending, opening or fetching a cache.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplicaError {
    /// An object could not be read or written.
    #[error("{url}{}, {}: {fault}: {cause}", Bytes(range.as_ref()), Attempts(*attempts))]
    Object {
        /// The object.
        url: String,
        /// First byte asked for and end; `None` for the whole object.
        range: Option<Range<u64>>,
        /// How often it was asked for.
        attempts: u32,
        /// What kind of failure the last one was.
        fault: ReadFault,
        /// What the transport said.
        cause: String,
    },
    /// The bytes of an object are not those of the cache, however often they are fetched.
    #[error("{url}{}, {}: {finding}", Bytes(range.as_ref()), Attempts(*attempts))]
    Damaged {
        /// The object.
        url: String,
        /// First byte fetched and end.
        range: Option<Range<u64>>,
        /// How often they were fetched.
        attempts: u32,
        /// The finding.
        #[source]
        finding: Box<FormatError>,
    },
    /// A file of the local store could not be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The threads that fetch failed.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The cache at the URL is of a format whose records carry no checksums.
    #[error(
        "{url}: a cache of the original system, whose records have no checksums; convert it first"
    )]
    NoChecksums {
        /// The cache.
        url: String,
    },
    /// Another cache is at the URL.
    #[error("{url}: another cache is there; upload to a URL of its own, or delete that one first")]
    Occupied {
        /// The URL.
        url: String,
    },
    /// The records are not in the store, and a forked process can't fetch.
    #[error(
        "{url}: a process that was forked from one that fetched can't fetch; start it by spawn or forkserver"
    )]
    Forked {
        /// The cache.
        url: String,
    },
    /// An option has a value that can't be used.
    #[error("{option} is {found}, expected {expected}")]
    InvalidOption {
        /// The option.
        option: &'static str,
        /// Its value.
        found: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// Nobody waits for the bytes any more.
    #[error("cancelled")]
    Cancelled,
}

/// The bytes of a request in a sentence.
struct Bytes<'a>(Option<&'a Range<u64>>);

impl fmt::Display for Bytes<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(range) => write!(out, ", bytes {}..{}", range.start, range.end),
            None => Ok(()),
        }
    }
}

/// How often something was asked for, in a sentence.
struct Attempts(u32);

impl fmt::Display for Attempts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => out.write_str("asked for once"),
            many => write!(out, "asked for {many} times"),
        }
    }
}

impl ReplicaError {
    /// No transport could be made for a URL.
    #[must_use]
    pub fn unreachable(url: &str, fault: TransportFault) -> Self {
        let (fault, cause) = ReadFault::of(fault);
        Self::Object {
            url: url.to_owned(),
            range: None,
            attempts: 1,
            fault,
            cause,
        }
    }

    /// What a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Object { .. } | Self::Forked { .. } => ErrorKind::Remote,
            Self::Damaged { finding, .. } => finding.kind(),
            Self::Storage(error) => error.kind(),
            Self::Pool(error) => StorageError::from(error.clone()).kind(),
            Self::NoChecksums { .. } | Self::InvalidOption { .. } => ErrorKind::InvalidInput,
            Self::Occupied { .. } => ErrorKind::AlreadyExists,
            Self::Cancelled => ErrorKind::Cancelled,
        }
    }

    /// Its fields by name.
    #[must_use]
    pub fn facts(&self) -> ErrorFacts {
        let mut facts = ErrorFacts::default();
        match self {
            Self::Object {
                url,
                range,
                attempts,
                fault,
                cause,
            } => {
                facts.url = Some(url.clone());
                facts.byte_range = range.as_ref().map(|range| (range.start, range.end));
                facts.attempts = Some(*attempts);
                facts.found = Some(format!("{fault}: {cause}"));
            }
            Self::Damaged {
                url,
                range,
                attempts,
                finding,
            } => {
                facts = finding.facts();
                facts.url = Some(url.clone());
                facts.byte_range = range.as_ref().map(|range| (range.start, range.end));
                facts.attempts = Some(*attempts);
            }
            Self::Storage(error) => facts = error.facts(),
            Self::Pool(_) | Self::Cancelled => {}
            Self::NoChecksums { url } => {
                facts = facts.with_values("a cache of format 1", "one of the original system");
                facts.field = Some("paths".to_owned());
                facts.url = Some(url.clone());
            }
            Self::Occupied { url } => facts.url = Some(url.clone()),
            Self::Forked { url } => {
                facts.url = Some(url.clone());
                facts.found = Some("a forked process".to_owned());
            }
            Self::InvalidOption {
                option,
                found,
                expected,
            } => {
                facts = facts.with_values(expected, found);
                facts.field = Some((*option).to_owned());
            }
        }
        facts
    }
}

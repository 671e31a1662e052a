//! What reading can answer before it is known which cache it was.
//!
//! Owns: the small error that travels from byte sources to the cache. Must not: leave the crate.
//! Invariant: it is one pointer wide, so results on the hot path stay small.

use std::path::Path;

use dataset_rt_format::FormatError;

use crate::error::StorageError;

/// A finding about bytes, or a failed read.
#[derive(Debug)]
pub(crate) enum Fault {
    Finding(Box<FormatError>),
    Storage(Box<StorageError>),
}

impl Fault {
    /// The same as an error of the cache at `path`.
    #[cold]
    pub(crate) fn of_cache(self, path: &Path) -> StorageError {
        match self {
            Self::Finding(finding) => StorageError::cache(path, *finding),
            Self::Storage(error) => *error,
        }
    }
}

impl From<FormatError> for Fault {
    #[cold]
    fn from(finding: FormatError) -> Self {
        Self::Finding(Box::new(finding))
    }
}

impl From<StorageError> for Fault {
    #[cold]
    fn from(error: StorageError) -> Self {
        Self::Storage(Box::new(error))
    }
}

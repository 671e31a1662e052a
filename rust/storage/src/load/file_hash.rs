//! The running hash of a file, of whichever kind its manifest lists.
//!
//! Owns: the step from bytes to a finding. Must not: read files.
//! Invariant: what is found is compared with a hash of the same kind.
//! Format text: `FORMAT.md`, "Hashes"; `ORIGINAL.md`, "Verification".

use dataset_rt_format::{FileHasher, FormatError, Region, Sha256Digest, Site};
use sha2::{Digest, Sha256};

use super::manifest::{FileHash, ListedFile};

/// Hashes one listed file.
pub(super) enum RunningHash {
    Xxh3(Box<FileHasher>),
    Sha256(Box<Sha256>),
}

impl RunningHash {
    /// A hash of the kind that is listed.
    pub(super) fn of_kind(hash: FileHash) -> Self {
        match hash {
            FileHash::Xxh3(_) => Self::Xxh3(Box::default()),
            FileHash::Sha256(_) => Self::Sha256(Box::default()),
        }
    }

    /// Adds the next bytes.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Xxh3(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    /// The finding, if the file has another hash.
    pub(super) fn compare(self, listed: &ListedFile) -> Option<FormatError> {
        let site = Site::new(listed.file, Region::File, 0);
        let covered_bytes = listed.bytes;
        match (self, listed.hash) {
            (Self::Xxh3(hasher), FileHash::Xxh3(expected)) => {
                let found = hasher.seal().digest;
                (found != expected).then_some(FormatError::DigestMismatch {
                    site,
                    covered_bytes,
                    expected,
                    found,
                })
            }
            (Self::Sha256(hasher), FileHash::Sha256(expected)) => {
                let found = Sha256Digest::from_bytes((*hasher).finalize().into());
                (found != expected).then_some(FormatError::Sha256Mismatch {
                    site,
                    covered_bytes,
                    expected,
                    found,
                })
            }
            // The kind was taken from the same listing.
            _ => None,
        }
    }
}

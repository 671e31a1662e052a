//! Where the bytes of `metadata.arrow` come from.
//!
//! Owns the seam between this crate and files: decoders ask for ranges, the caller maps or reads them and
//! checks their blocks. Must not assume that a file stays as long as it was. Invariant: a source answers with
//! exactly the bytes asked for, or with an error. Format text: `FORMAT.md`, "metadata.arrow".

use std::borrow::Cow;

use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;

/// Checked ranges of one file.
pub trait ByteSource {
    /// What can go wrong, findings of this crate included.
    type Error: From<FormatError>;

    /// `length` bytes from `offset` on: borrowed where the file is mapped, owned where it is read.
    ///
    /// # Errors
    ///
    /// The range is not in the file, can't be read, or its block is damaged.
    fn bytes(&self, offset: u64, length: u64) -> Result<Cow<'_, [u8]>, Self::Error>;

    /// `N` bytes from `offset` on, by value. Sources that read may override it to avoid an allocation.
    ///
    /// # Errors
    ///
    /// As for [`Self::bytes`].
    #[inline]
    fn array<const N: usize>(&self, offset: u64) -> Result<[u8; N], Self::Error> {
        let bytes = self.bytes(offset, N as u64)?;
        match bytes.first_chunk::<N>() {
            Some(array) => Ok(*array),
            None => Err(short(offset, N as u64, bytes.len() as u64).into()),
        }
    }
}

/// A file that is in memory, without block checks.
impl ByteSource for [u8] {
    type Error = FormatError;

    #[inline]
    fn bytes(&self, offset: u64, length: u64) -> Result<Cow<'_, [u8]>, FormatError> {
        let range = usize::try_from(offset)
            .ok()
            .zip(usize::try_from(length).ok());
        let found = range.and_then(|(start, count)| self.get(start..)?.get(..count));
        match found {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => Err(short(
                offset,
                length,
                (self.len() as u64).saturating_sub(offset),
            )),
        }
    }
}

#[cold]
fn short(offset: u64, expected_bytes: u64, found_bytes: u64) -> FormatError {
    let site = Site::new(CacheFile::Metadata, Region::File, offset);
    FormatError::Truncated {
        site,
        expected_bytes,
        found_bytes,
    }
}

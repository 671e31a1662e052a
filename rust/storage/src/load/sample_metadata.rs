//! The metadata of one sample of an open cache.
//!
//! Owns: the step from a finding about a value to an error of the cache. Must not: keep values.
//! Invariant: values are read where they stand, through bounds- and UTF-8-checked accessors.
//! Format text: `FORMAT.md`, "metadata.arrow".

use std::path::Path;

use dataset_rt_format::{MetadataRow, MetadataValueRef};

use crate::error::StorageError;
use crate::read::CheckedFile;

/// The metadata of one sample of an open cache.
pub struct SampleMetadata<'a> {
    pub(super) cache: &'a Path,
    pub(super) row: MetadataRow<'a, CheckedFile>,
}

impl<'a> SampleMetadata<'a> {
    /// The value of a column, counted as in the manifest's schema; text is borrowed from the mapping.
    ///
    /// # Errors
    /// [`StorageError::Cache`] for damage, [`StorageError::Io`] without mapping.
    #[inline]
    pub fn value(&self, column: usize) -> Result<MetadataValueRef<'a>, StorageError> {
        self.row
            .value(column)
            .map_err(|fault| fault.of_cache(self.cache))
    }

    /// Checks that the value of a column is marked as valid, where the file has marks.
    pub(super) fn check_validity(&self, column: usize) -> Result<(), StorageError> {
        self.row
            .check_validity(column)
            .map_err(|fault| fault.of_cache(self.cache))
    }
}

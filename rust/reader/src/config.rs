//! What a caller may choose about reading, and which choices contradict each other.
//!
//! Owns the truth about reader options; the Python model only repeats the shape. Invariant: a [`ReaderOptions`] that exists is valid.

use dataset_rt_format::Seed;

use crate::error::ReaderError;

/// What happens when a record fails its checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnCorrupt {
    /// The draw raises; the iterator can be asked for the next one.
    #[default]
    Raise,
    /// The draw is left out and counted; the order of the rest stays.
    Skip,
}

/// Options of one dataset, fixed when it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderOptions {
    /// Seed of the draw stream.
    pub seed: Seed,
    /// Draws that may be in flight ahead of the consumer.
    pub prefetch_size: usize,
    /// Whether rows are drawn at random; otherwise in table order.
    pub is_shuffled: bool,
    /// Whether a shuffled stream may draw a row again before every row was drawn once.
    pub has_replacement: bool,
    /// Whether every file is hashed before the first read.
    pub validates_caches: bool,
    /// Whether each record's checksum is checked as it is read.
    pub verifies_records: bool,
    /// What a damaged record does to the draw that asks for it.
    pub on_corrupt: OnCorrupt,
    /// Whether files are mapped; otherwise they are read with positioned reads.
    pub is_mapped: bool,
}

impl ReaderOptions {
    /// Options with the defaults of the product and this seed.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            prefetch_size: 64,
            is_shuffled: true,
            has_replacement: true,
            validates_caches: false,
            verifies_records: true,
            on_corrupt: OnCorrupt::Raise,
            is_mapped: true,
        }
    }

    /// Refuses options that contradict each other.
    ///
    /// # Errors
    /// [`ReaderError::InvalidOption`] names the option and what is wanted.
    pub fn validate(&self) -> Result<(), ReaderError> {
        if self.prefetch_size == 0 {
            return Err(ReaderError::InvalidOption {
                option: "prefetch_size",
                found: "0".to_owned(),
                expected: "at least 1",
            });
        }
        if !self.is_shuffled && !self.has_replacement {
            return Err(ReaderError::InvalidOption {
                option: "replacement",
                expected: "True when shuffle is False: ordered draws repeat the table cyclically",
                found: "False".to_owned(),
            });
        }
        Ok(())
    }
}

//! A record that is read by copying it.
//!
//! Owns: what may be done with one before its copy is trusted. Must not: find records, or say what is wrong with one.
//! Invariant: its bytes lie within the mapping of their shard; whether they are those that were written is asked of the copy.
//! Format text: `FORMAT.md`, "Records".

use std::hint::black_box;

use dataset_rt_format::{Checksum, SampleId, record_checksum};

/// What the processor does not fetch ahead across.
const PAGE_BYTES: usize = 4096;

/// Pages of a record that are set on their way; it is copied before many more could arrive.
const TOUCHED_PAGES: usize = 16;

/// A payload as it lies in a mapped shard.
#[derive(Clone, Copy, Debug)]
pub struct PlainRecord<'a> {
    /// The payload's bytes, not checked.
    pub stored: &'a [u8],
    sample: SampleId,
    checksum: Checksum,
}

impl<'a> PlainRecord<'a> {
    #[inline]
    pub(super) const fn new(sample: SampleId, checksum: Checksum, stored: &'a [u8]) -> Self {
        Self {
            stored,
            sample,
            checksum,
        }
    }

    /// Sets its memory on the way to the processor, page by page; waits for none of it.
    #[inline]
    pub fn touch(&self) {
        for page in self.stored.chunks(PAGE_BYTES).take(TOUCHED_PAGES) {
            black_box(page.first().copied());
        }
    }

    /// Whether a copy of the payload has the checksum of the record.
    #[must_use]
    #[inline]
    pub fn is_whole(&self, copy: &[u8]) -> bool {
        record_checksum(self.sample, copy) == self.checksum
    }
}

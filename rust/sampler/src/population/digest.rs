//! The digest of a table's sampling columns.
//!
//! Owns the canonical form that is hashed. Must not depend on how the table came: chunks, column types and
//! the width of the mapping leave no trace. Invariant: two tables that draw differently have different forms.
//! Text: `DRAWS.md`, "Digest of a table".

use dataset_rt_format::{Digest128, FileHasher};

use crate::draw::RowSamples;

const HEAD: &[u8] = b"dataset_rt table 1\n";

/// Words that are turned into bytes at a time.
const BLOCK_WORDS: usize = 512;

/// Hashes the canonical form, part after part.
pub(super) struct TableHasher(FileHasher);

impl TableHasher {
    /// Starts with what stands before the weights: head, number of rows, row → sample.
    pub(super) fn new(rows: u64, row_samples: &RowSamples) -> Self {
        let mut hasher = Self(FileHasher::new());
        hasher.0.update(HEAD);
        hasher.0.update(&rows.to_le_bytes());
        match row_samples {
            RowSamples::Identity => hasher.0.update(&[0]),
            RowSamples::Narrow(list) => {
                hasher.0.update(&[1]);
                hasher.words(list.iter().map(|sample| u64::from(*sample)));
            }
            RowSamples::Wide(list) => {
                hasher.0.update(&[1]);
                hasher.words(list.iter().copied());
            }
        }
        hasher
    }

    /// Says that the weights are equal, and ends.
    pub(super) fn finish_equal(mut self) -> Digest128 {
        self.0.update(&[0]);
        self.0.seal().digest
    }

    /// Says that unequal weights follow.
    pub(super) fn start_weights(&mut self) {
        self.0.update(&[1]);
    }

    /// Adds the weights of the next rows.
    pub(super) fn weights(&mut self, weights: &[f64]) {
        self.words(weights.iter().map(|weight| weight.to_bits()));
    }

    /// Ends after the last weight.
    pub(super) fn finish(self) -> Digest128 {
        self.0.seal().digest
    }

    fn words(&mut self, mut words: impl Iterator<Item = u64>) {
        let mut bytes = [0; 8 * BLOCK_WORDS];
        loop {
            let mut filled = 0;
            for (place, word) in bytes.chunks_exact_mut(8).zip(&mut words) {
                place.copy_from_slice(&word.to_le_bytes());
                filled += 8;
            }
            self.0.update(bytes.get(..filled).unwrap_or_default());
            if filled < bytes.len() {
                return;
            }
        }
    }
}

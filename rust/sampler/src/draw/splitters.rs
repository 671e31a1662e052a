//! Where the keys of a cycle are cut into runs.
//!
//! Owns the choice of the cuts and the search for a key's run. Must not influence draws: any cuts give the same
//! order. Invariant: a larger key is never in an earlier run. Text: `DRAWS.md`, "Each once".

use crate::draw::keys::Keys;
use crate::draw::philox::scale;
use crate::error::SamplerError;

/// Rows per run, on average, until there are [`MOST_RUNS`].
pub(crate) const RUN_ROWS: usize = 1024;

/// The most runs: few enough to append to all of them without losing the cache.
pub(crate) const MOST_RUNS: usize = 512;

/// Buckets of the guide per splitter, as a power of two: so many that a key's bucket rarely has a splitter in it, and the search of a run needs no guess.
const BUCKETS_PER_SPLITTER_BITS: u32 = 6;

/// Keys that are looked at per run to cut the runs about equally long.
const SAMPLED_KEYS_PER_RUN: usize = 32;

/// Keys that cut the rows into runs, with a guide over the range they span.
pub(crate) struct Splitters {
    keys: Vec<u64>,
    shift: u32,
    /// Number of keys up to the start of each bucket.
    guide: Vec<u16>,
}

impl Splitters {
    /// Cuts the rows of `keys` into about equal runs, by a sample of them.
    pub(crate) fn cut(keys: &Keys<'_>) -> Result<Self, SamplerError> {
        let runs = (keys.rows() / RUN_ROWS).min(MOST_RUNS);
        let blocks = if runs > 1 {
            runs * SAMPLED_KEYS_PER_RUN / 4
        } else {
            0
        };
        let mut sample = Vec::with_capacity(4 * blocks);
        // Any rows would do, as long as no pattern of the table can hide from them. Four at a time share a
        // block of words and lie together in memory.
        for number in 0..blocks as u64 {
            let word = number
                .wrapping_add(keys.cycle())
                .wrapping_mul(0x9E37_79B9_7F4A_7C15);
            keys.of_block(scale(word, keys.rows() as u64 / 4), |key| sample.push(key))?;
        }
        Ok(Self::every_so_many(sample))
    }

    /// Every [`SAMPLED_KEYS_PER_RUN`]-th key of a sample.
    fn every_so_many(mut sample: Vec<u64>) -> Self {
        sample.sort_unstable();
        let keys = sample
            .into_iter()
            .skip(SAMPLED_KEYS_PER_RUN)
            .step_by(SAMPLED_KEYS_PER_RUN);
        let keys: Vec<_> = keys.collect();
        let (first, last) = keys.first().zip(keys.last()).unwrap_or((&0, &0));
        let span = last - first;
        let guide_bits = usize::BITS - keys.len().leading_zeros() + BUCKETS_PER_SPLITTER_BITS;
        let shift = (u64::BITS - span.leading_zeros()).saturating_sub(guide_bits);
        let mut below = 0_u16;
        let mut rest = keys.iter().peekable();
        let guide = (0..=span >> shift).map(|bucket| {
            let start = first + (bucket << shift);
            while rest.next_if(|key| **key < start).is_some() {
                below += 1;
            }
            below
        });
        let guide = guide.collect();
        Self { keys, shift, guide }
    }

    /// Number of runs they cut.
    pub(crate) fn runs(&self) -> usize {
        self.keys.len() + 1
    }

    /// Number of splitters that are not above `key`.
    #[inline]
    pub(crate) fn run_of(&self, key: u64) -> usize {
        let Some(above) = self.keys.first().and_then(|first| key.checked_sub(*first)) else {
            return 0;
        };
        let bucket = usize::try_from(above >> self.shift).unwrap_or(usize::MAX);
        let Some(below) = self.guide.get(bucket) else {
            return self.keys.len();
        };
        let below = usize::from(*below);
        let rest = self.keys.get(below..).unwrap_or_default();
        below
            + rest
                .iter()
                .position(|splitter| *splitter > key)
                .unwrap_or(rest.len())
    }
}

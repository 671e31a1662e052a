//! Permutations of equal weights: each row once per cycle, in an order that only the seed knows.
//!
//! Owns the two ways to permute: a keyed network evaluated row by row, and a shuffled list for few rows.
//! Must not keep anything per row in the network. Invariant: for every cycle both are bijections of
//! `0..rows`. Text: `DRAWS.md`, "Permutation".

use dataset_rt_format::Seed;

use crate::draw::philox::{Domain, Words, scale};

/// Up to this many rows a cycle is shuffled as a list. The network reaches only as many orders as its round
/// functions on about `sqrt(rows)` values allow, which shows when there are few; the list costs 64 KiB and
/// a fraction of a millisecond at this bound.
pub(crate) const LISTED_ROWS: u64 = 1 << 14;

const ROUNDS: usize = 8;

/// A generalised Feistel network on pairs `(left, right)` with `left * right >= rows`, walked until the
/// result is a row (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
///
/// # Cost
/// O(1) memory; on average less than `1 + 1 / sqrt(rows)` passes of eight rounds.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    rows: u64,
    left: u64,
    right: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of `0..rows` in this cycle; `rows` is at least 1.
    pub(crate) fn new(seed: Seed, cycle: u64, rows: u64) -> Self {
        let words = Words::new(seed, Domain::Permutation);
        let mut keys = [0; ROUNDS];
        let blocks = (0..).map(|block| words.block(block, cycle));
        for (key, word) in keys.iter_mut().zip(blocks.flatten()) {
            *key = word;
        }
        let left = rows.saturating_sub(1).isqrt() + 1;
        Self {
            rows,
            left,
            right: rows.div_ceil(left).max(1),
            keys,
        }
    }

    /// The row at `index`, which is below the number of rows.
    #[inline]
    pub(crate) fn row_at(&self, index: u64) -> u64 {
        let mut row = self.pass(index);
        while row >= self.rows {
            row = self.pass(row);
        }
        row
    }

    #[inline]
    fn pass(&self, index: u64) -> u64 {
        let (mut left, mut right) = (index / self.right, index % self.right);
        for (round, key) in self.keys.iter().enumerate() {
            if round % 2 == 0 {
                left = add(left, scale(mix(*key, right), self.left), self.left);
            } else {
                right = add(right, scale(mix(*key, left), self.right), self.right);
            }
        }
        left * self.right + right
    }
}

/// The rows of one cycle as a list, shuffled by Fisher and Yates from the last place down.
pub(crate) fn shuffled_list(seed: Seed, cycle: u64, rows: u32) -> Vec<u32> {
    let words = Words::new(seed, Domain::Permutation);
    let mut list: Vec<u32> = (0..rows).collect();
    let mut block = [0; 4];
    let mut block_number = u64::MAX;
    for place in (1..u64::from(rows)).rev() {
        if place / 4 != block_number {
            block_number = place / 4;
            block = words.block(block_number, cycle);
        }
        let [word0, word1, word2, word3] = block;
        let word = match place % 4 {
            0 => word0,
            1 => word1,
            2 => word2,
            _ => word3,
        };
        let other = usize::try_from(scale(word, place + 1));
        if let (Ok(place), Ok(other)) = (usize::try_from(place), other) {
            list.swap(place, other);
        }
    }
    list
}

/// `left + right` modulo `bound`; both are below it.
#[inline]
fn add(left: u64, right: u64, bound: u64) -> u64 {
    let sum = left + right;
    if sum >= bound { sum - bound } else { sum }
}

/// Output number `index` of SplitMix64 seeded with `key`.
#[inline]
fn mix(key: u64, index: u64) -> u64 {
    let mut word = key.wrapping_add((index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests;

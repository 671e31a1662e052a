//! The one source of randomness: Philox4x64-10, addressed by position.
//!
//! Owns the generator, the domain tags and which word of which block belongs to whom. Must not keep a
//! state: a block is a function of key and counter. Invariant: two uses never read the same block, for
//! each has a domain tag of its own in the key. Text: `DRAWS.md`, "Generator".

use dataset_rt_format::Seed;

/// What a stream of words is for; the second word of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Domain {
    /// Rows of shuffled draws with replacement; block = position.
    Rows = 1,
    /// Seeds that belong to a position; block = position.
    DrawSeed = 2,
    /// Permutation of one cycle; block = running number, second counter word = cycle.
    Permutation = 3,
    /// Exponential keys of one cycle; block = row / 4, second counter word = cycle.
    ExponentialKeys = 4,
}

/// The words of one seed in one domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    key: [u64; 2],
}

impl Words {
    pub(crate) const fn new(seed: Seed, domain: Domain) -> Self {
        Self {
            key: [seed.get(), domain as u64],
        }
    }

    /// The four words of block `(block, cycle)`.
    #[inline]
    pub(crate) fn block(self, block: u64, cycle: u64) -> [u64; 4] {
        philox4x64_10(self.key, [block, cycle, 0, 0])
    }

    /// The first word of block `(block, 0)`: all that a single draw uses.
    #[inline]
    pub(crate) fn first(self, block: u64) -> u64 {
        let [first, ..] = self.block(block, 0);
        first
    }
}

const MULTIPLIERS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
const WEYL: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];
const ROUNDS: usize = 10;

/// One block of Philox4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
#[inline]
pub(crate) fn philox4x64_10(key: [u64; 2], counter: [u64; 4]) -> [u64; 4] {
    let [mut key0, mut key1] = key;
    let mut words = counter;
    for _ in 0..ROUNDS {
        let [word0, word1, word2, word3] = words;
        let (high0, low0) = multiply(MULTIPLIERS[0], word0);
        let (high1, low1) = multiply(MULTIPLIERS[1], word2);
        words = [high1 ^ word1 ^ key0, low1, high0 ^ word3 ^ key1, low0];
        key0 = key0.wrapping_add(WEYL[0]);
        key1 = key1.wrapping_add(WEYL[1]);
    }
    words
}

/// High and low half of the 128-bit product.
#[inline]
pub(crate) fn multiply(left: u64, right: u64) -> (u64, u64) {
    let product = u128::from(left) * u128::from(right);
    ((product >> 64) as u64, left.wrapping_mul(right))
}

/// `word * bound / 2^64`, rounded down: a number below `bound`, by the word's upper bits.
#[inline]
pub(crate) fn scale(word: u64, bound: u64) -> u64 {
    multiply(word, bound).0
}

#[cfg(test)]
mod tests {
    use super::*;

    // Known answers of Random123, file `kat_vectors`, lines `philox4x64 10`.
    #[test]
    fn philox_known_inputs_give_the_published_words() {
        let known = [
            (
                [0, 0],
                [0, 0, 0, 0],
                [
                    0x1655_4d9e_ca36_314c,
                    0xdb20_fe9d_672d_0fdc,
                    0xd7e7_72ce_e186_176b,
                    0x7e68_b68a_ec7b_a23b,
                ],
            ),
            (
                [u64::MAX; 2],
                [u64::MAX; 4],
                [
                    0x87b0_92c3_013f_e90b,
                    0x438c_3c67_be8d_0224,
                    0x9cc7_d7c6_9cd7_77b6,
                    0xa09c_aebf_594f_0ba0,
                ],
            ),
            (
                [0x4528_21e6_38d0_1377, 0xbe54_66cf_34e9_0c6c],
                [
                    0x243f_6a88_85a3_08d3,
                    0x1319_8a2e_0370_7344,
                    0xa409_3822_299f_31d0,
                    0x082e_fa98_ec4e_6c89,
                ],
                [
                    0xa528_f454_03e6_1d95,
                    0x38c7_2dbd_566e_9788,
                    0xa5a1_610e_72fd_18b5,
                    0x57bd_43b5_e52b_7fe6,
                ],
            ),
        ];
        for (key, counter, words) in known {
            assert_eq!(philox4x64_10(key, counter), words);
        }
    }

    #[test]
    fn words_of_two_domains_share_nothing() {
        let seed = Seed::new(7);
        let rows = Words::new(seed, Domain::Rows).block(5, 0);
        for domain in [
            Domain::DrawSeed,
            Domain::Permutation,
            Domain::ExponentialKeys,
        ] {
            assert!(
                Words::new(seed, domain)
                    .block(5, 0)
                    .iter()
                    .all(|word| !rows.contains(word))
            );
        }
    }

    #[test]
    fn scale_of_the_extreme_words_stays_below_the_bound() {
        assert_eq!(scale(0, 10), 0);
        assert_eq!(scale(u64::MAX, 10), 9);
        assert_eq!(scale(u64::MAX, u64::MAX), u64::MAX - 1);
        assert_eq!(scale(1 << 63, 10), 5);
    }
}

//! Exponential keys: the order of one cycle of unequal weights.
//!
//! Owns the integer logarithm and the key of a row in a cycle. Must not call a floating point function:
//! conversions and one division are all there is, so keys are equal on every platform. Invariant: keys are
//! finite and above zero, so their bit patterns order like the numbers. Text: `DRAWS.md`, "Logarithm".

use crate::draw::logarithm_table::{LOGARITHMS, SERIES};
use crate::draw::philox::{multiply, scale};

/// Bits behind the point of [`exponential`].
const FRACTION_BITS: u32 = 120;

/// Bits of a word that look up the table; the rest goes into the series.
const SERIES_BITS: u32 = 55;

/// `-log2(1 - (word | 1) / 2^64)` times `2^120`: an exponential number, exact to 54 bits and more.
#[inline]
pub(crate) fn exponential(word: u64) -> u128 {
    let value = word | 1;
    let whole = value.leading_ones();
    // 1 - value / 2^64 = 2^-whole * (1 - rest / 2^64), and the rest is below one half.
    let rest = value.checked_shl(whole).unwrap_or_default();
    let entry = rest >> SERIES_BITS;
    let beyond = rest & ((1 << SERIES_BITS) - 1);
    // 1 - rest / 2^64 = (1 - entry / 512) * (1 - ratio / 2^64)
    let ratio = (beyond << 9) / (512 - entry);
    let slope = SERIES
        .iter()
        .rev()
        .fold(0, |sum, term| term + scale(ratio, sum));
    let (high, low) = multiply(ratio, slope);
    let series = (u128::from(high) << 64 | u128::from(low)) >> 7;
    let table = usize::try_from(entry)
        .ok()
        .and_then(|entry| LOGARITHMS.get(entry));
    let table = u128::from(table.copied().unwrap_or_default()) << (FRACTION_BITS - 64);
    (u128::from(whole) << FRACTION_BITS) + table + series
}

/// Key of a row with this many units, as the bits of a float64 above zero: the row with the smallest key
/// comes first, and equal keys are ordered by row.
#[inline]
pub(crate) fn key_bits(word: u64, units: u64) -> u64 {
    (exponential(word) as f64 / units as f64).to_bits()
}

#[cfg(test)]
mod tests;

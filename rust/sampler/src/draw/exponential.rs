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
    (nearest_float(exponential(word)) / units as f64).to_bits()
}

/// The float64 nearest to `value`, ties to even: what `as` gives, but without a call per row.
#[inline]
fn nearest_float(value: u128) -> f64 {
    let shift = 64_u32.saturating_sub(value.leading_zeros());
    let upper = value >> shift;
    // A bit below the 64 that are kept only matters as "there is more": the last kept bit can say so.
    let more = u64::from(upper << shift != value);
    let kept = u64::try_from(upper).unwrap_or(u64::MAX) | more;
    let power = f64::from_bits(u64::from(1023 + shift) << 52);
    kept as f64 * power
}

#[cfg(test)]
mod tests;

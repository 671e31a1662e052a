//! Decimal weights as float64.
//!
//! Owns the rounding of decimals. Must not compute with more than one rounding step. Invariant: the result is
//! the float64 nearest to the decimal, so a decimal `0.1` is the weight `0.1`. Text: `DRAWS.md`, "Table".

use arrow_buffer::i256;

/// Powers of ten that float64 holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The float64 nearest to `digits / 10^scale`.
pub(super) fn decimal_value(digits: i128, scale: i8) -> f64 {
    let power = usize::try_from(scale)
        .ok()
        .and_then(|scale| EXACT_POWERS.get(scale));
    match power {
        // Both are exact, and a division of exact numbers rounds once.
        Some(power) if digits.unsigned_abs() <= 1 << 53 => digits as f64 / power,
        _ => parse(&digits.to_string(), scale),
    }
}

/// The float64 nearest to `digits / 10^scale`.
pub(super) fn wide_decimal_value(digits: i256, scale: i8) -> f64 {
    match digits.to_i128() {
        Some(digits) => decimal_value(digits, scale),
        None => parse(&digits.to_string(), scale),
    }
}

/// Reads the decimal as text: the standard library's parser rounds exactly, whatever the length.
fn parse(digits: &str, scale: i8) -> f64 {
    format!("{digits}e{}", -i16::from(scale))
        .parse()
        .unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_of_any_size_round_to_the_nearest_float() {
        assert_eq!(decimal_value(1, 1), 0.1);
        assert_eq!(decimal_value(-25, 1), -2.5);
        assert_eq!(decimal_value(3, -2), 300.0);
        assert_eq!(decimal_value(1, 38), 1e-38);
        assert_eq!(
            decimal_value(9_007_199_254_740_993, 0),
            9_007_199_254_740_992.0
        );
        assert_eq!(decimal_value(i128::MAX, 38), 1.701_411_834_604_692_3);
        // The nearest float64 of the digits, divided, would be rounded twice.
        assert_eq!(decimal_value(974543313319776927, 16), 97.4543313319777);
        assert_eq!(wide_decimal_value(i256::from_i128(1), 1), 0.1);
        assert_eq!(wide_decimal_value(i256::MAX, 76), 5.789_604_461_865_809);
    }
}

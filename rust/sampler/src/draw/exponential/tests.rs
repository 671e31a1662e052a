use proptest::prelude::*;

use super::*;

/// `-log2(1 - (word | 1) / 2^64)` by the standard library, which is exact enough to compare with.
fn reference(word: u64) -> f64 {
    let value = (word | 1) as f64 / 2.0_f64.powi(64);
    if value < 0.5 {
        -(-value).ln_1p() / std::f64::consts::LN_2
    } else {
        -(((word | 1).wrapping_neg() as f64) / 2.0_f64.powi(64)).log2()
    }
}

#[test]
fn exponential_of_the_extreme_words_is_above_zero_and_at_most_64() {
    assert_eq!(exponential(u64::MAX), 64 << FRACTION_BITS);
    assert_eq!(exponential(0), exponential(1));
    assert!(exponential(0) > 0);
}

#[test]
fn key_of_the_extreme_words_and_units_is_finite_and_above_zero() {
    for word in [0, 1, 1 << 63, u64::MAX] {
        for units in [1, 2, 1 << 62, (1 << 63) - 1] {
            let key = f64::from_bits(key_bits(word, units));
            assert!(key.is_finite() && key > 0.0);
        }
    }
}

#[test]
fn float_of_an_integer_looks_at_every_bit_below_a_tie() {
    let tie = ((1_u128 << 53) + 1) << 40;
    assert_eq!(nearest_float(tie), tie as f64);
    for more in [1, 1 << 20] {
        assert_eq!(nearest_float(tie + more), (tie + more) as f64);
        assert_ne!(nearest_float(tie + more), nearest_float(tie));
    }
}

#[test]
fn exponential_has_the_mean_of_its_distribution() {
    let words = crate::draw::philox::Words::new(
        dataset_rt_format::Seed::new(1),
        crate::draw::philox::Domain::Rows,
    );
    let draws = 100_000_u32;
    let sum: f64 = (0..u64::from(draws))
        .map(|block| exponential(words.first(block)) as f64 / 2.0_f64.powi(120))
        .sum();
    let mean = sum / f64::from(draws);
    let wanted = std::f64::consts::LOG2_E;
    assert!(
        (mean - wanted).abs() < 4.0 * wanted / f64::from(draws).sqrt(),
        "{mean}"
    );
}

proptest! {
    #[test]
    fn exponential_agrees_with_a_library_logarithm(word in any::<u64>(), shift in 0_u32..64, high in any::<bool>()) {
        let word = if high { !(word >> shift) } else { word >> shift };
        let ours = exponential(word) as f64 / 2.0_f64.powi(120);
        prop_assert!((ours / reference(word) - 1.0).abs() < 1e-14, "{} {}", ours, reference(word));
    }

    #[test]
    fn float_of_any_integer_is_the_nearest(value in any::<u128>(), shift in 0_u32..128, low in any::<u8>()) {
        let value = (value >> shift) ^ u128::from(low);
        prop_assert_eq!(nearest_float(value), value as f64);
    }

    #[test]
    fn exponential_never_falls_where_words_rise(word in any::<u64>(), step in 1_u64..1000, shift in 0_u32..50) {
        let next = word.saturating_add(step << shift);
        prop_assert!(exponential(next) >= exponential(word));
    }
}

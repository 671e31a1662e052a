//! How likely a row is among the first draws of a weighted cycle.
//!
//! Owns the probabilities behind reports on parts of cycles. Must not be used by draws. Invariant: over all
//! rows they add up to the number of draws. Text: `DRAWS.md`, "Reports".

/// Up to this many rows every set of first draws is looked at.
const EXACT_ROWS: usize = 16;

/// Steps towards the time at which that many rows are expected to have come.
const MOST_STEPS: usize = 200;

/// For each row, the probability that it is among the first `draws` of a cycle with these shares.
pub(crate) fn first_draws(shares: &[f64], draws: u64) -> Vec<f64> {
    if draws == 0 {
        return vec![0.0; shares.len()];
    }
    if draws >= shares.len() as u64 {
        return vec![1.0; shares.len()];
    }
    match u32::try_from(draws) {
        Ok(draws) if shares.len() <= EXACT_ROWS => exact(shares, draws),
        _ => asymptotic(shares, draws as f64),
    }
}

/// Adds up the probabilities of all sets of `draws` rows, which grow row by row.
fn exact(shares: &[f64], draws: u32) -> Vec<f64> {
    let mut sets = vec![0.0; 1 << shares.len()];
    let mut included = vec![0.0; shares.len()];
    if let Some(none) = sets.first_mut() {
        *none = 1.0;
    }
    for set in 0..sets.len() {
        let probability = sets.get(set).copied().unwrap_or_default();
        let holds = |row: usize| set >> row & 1 == 1;
        if set.count_ones() == draws {
            let rows = included
                .iter_mut()
                .enumerate()
                .filter(|(row, _)| holds(*row));
            rows.for_each(|(_, included)| *included += probability);
            continue;
        }
        let missing = || shares.iter().enumerate().filter(|(row, _)| !holds(*row));
        let left: f64 = missing().map(|(_, share)| share).sum();
        for (row, share) in missing() {
            if let Some(larger) = sets.get_mut(set | 1 << row) {
                *larger += probability * share / left;
            }
        }
    }
    included
}

/// Rows come at exponential times: by the time at which `draws` rows are expected, each has come with
/// the probability `1 - 2^(-share * time)` (Rosén, "On sampling with probability proportional to size", 1997).
fn asymptotic(shares: &[f64], draws: f64) -> Vec<f64> {
    let mut time = 0.0;
    // The expected number is concave in time, so Newton's steps never pass the solution.
    for _ in 0..MOST_STEPS {
        let (mut come, mut rate) = (0.0, 0.0);
        for share in shares {
            let waiting = half_to_the(share * time);
            come += 1.0 - waiting;
            rate += share * waiting;
        }
        let step = (draws - come) / (rate * std::f64::consts::LN_2);
        if !(step > time * 1e-12 && step.is_finite()) {
            break;
        }
        time += step;
    }
    shares
        .iter()
        .map(|share| 1.0 - half_to_the(share * time))
        .collect()
}

/// `2^-value` for a value of 0 and more.
fn half_to_the(value: f64) -> f64 {
    if value >= 1000.0 {
        return 0.0;
    }
    let whole = value.floor();
    let rest = (value - whole) * std::f64::consts::LN_2;
    let mut term = 1.0;
    let mut sum = 1.0;
    for number in 1..18_u8 {
        term *= -rest / f64::from(number);
        sum += term;
    }
    (0..1000)
        .take_while(|step| f64::from(*step) < whole)
        .fold(sum, |sum, _| sum / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(included: &[f64]) -> f64 {
        included.iter().sum()
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "what ours is compared with")]
    fn powers_of_one_half_are_those_of_the_library() {
        for value in [0.0, 0.25, 0.5, 1.0, 7.75, 100.125, 999.0] {
            let wanted = 2.0_f64.powf(-value);
            assert!((half_to_the(value) / wanted - 1.0).abs() < 1e-13, "{value}");
        }
        assert_eq!(half_to_the(1e9), 0.0);
    }

    #[test]
    fn first_draw_comes_by_share_and_the_last_leaves_nothing() {
        let shares = [0.5, 0.3, 0.2];
        let first = first_draws(&shares, 1);
        for (included, share) in first.iter().zip(shares) {
            assert!((included - share).abs() < 1e-12);
        }
        // The row that is not among the first two comes last.
        let two = first_draws(&shares, 2);
        let last = 0.5 * 0.3 / 0.5 + 0.3 * 0.5 / 0.7;
        assert!((1.0 - two[2] - last).abs() < 1e-12);
        assert_eq!(first_draws(&shares, 3), [1.0; 3]);
        assert_eq!(first_draws(&shares, 0), [0.0; 3]);
    }

    #[test]
    fn many_rows_are_counted_as_exactly_as_few() {
        let weights: Vec<_> = (0..16).map(|row| 1.0 + f64::from(row % 5)).collect();
        let shares: Vec<_> = weights
            .iter()
            .map(|weight| weight / total(&weights))
            .collect();
        for draws in 1..16 {
            let exact = exact(&shares, draws);
            let close = asymptotic(&shares, f64::from(draws));
            assert!((total(&exact) - f64::from(draws)).abs() < 1e-9);
            assert!((total(&close) - f64::from(draws)).abs() < 1e-9);
            for (exact, close) in exact.iter().zip(&close) {
                assert!(
                    (exact / close - 1.0).abs() < 0.05,
                    "{draws}: {exact} {close}"
                );
            }
        }
    }

    #[test]
    fn skewed_shares_still_add_up() {
        let shares: Vec<_> = (0..40).map(|row| 2.0_f64.powi(-row - 1)).collect();
        for draws in [1, 5, 20, 39] {
            let included = first_draws(&shares, draws);
            assert!((total(&included) - draws as f64).abs() < 1e-6, "{draws}");
        }
    }
}

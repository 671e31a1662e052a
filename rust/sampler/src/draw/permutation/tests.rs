use super::*;

#[test]
fn network_of_every_small_size_is_a_bijection() {
    for rows in (1..=200).chain([255, 256, 257, 1000, 10_007, 16_385]) {
        for cycle in 0..2 {
            let permutation = Permutation::new(Seed::new(7), cycle, rows);
            let mut image: Vec<_> = (0..rows).map(|index| permutation.row_at(index)).collect();
            image.sort_unstable();
            assert!(image.into_iter().eq(0..rows), "{rows} rows");
        }
    }
}

#[test]
fn network_of_the_largest_sizes_stays_within_the_rows() {
    for rows in [(1 << 32) - 1, 1 << 40, (1 << 62) + 12_345, i64::MAX as u64] {
        let permutation = Permutation::new(Seed::new(7), 3, rows);
        let mut image: Vec<_> = (0..500)
            .map(|step| permutation.row_at(rows - 1 - step * (rows / 500)))
            .collect();
        assert!(image.iter().all(|row| *row < rows));
        image.sort_unstable();
        image.dedup();
        assert_eq!(image.len(), 500);
    }
}

#[test]
fn list_of_every_small_size_is_a_bijection() {
    for rows in (0..=64).chain([1000]) {
        let mut list = shuffled_list(Seed::new(7), 5, rows);
        list.sort_unstable();
        assert!(list.into_iter().eq(0..rows));
    }
}

/// Chi-square of counts that should be equal, in standard deviations.
fn excess(counts: &[u32]) -> f64 {
    let draws: u32 = counts.iter().sum();
    let expected = f64::from(draws) / counts.len() as f64;
    let freedom = counts.len() as f64 - 1.0;
    let square: f64 = counts
        .iter()
        .map(|count| (f64::from(*count) - expected).powi(2) / expected)
        .sum();
    (square - freedom) / (2.0 * freedom).sqrt()
}

/// Number of a permutation among all of its size, by its Lehmer code.
fn rank(list: &[u32]) -> usize {
    (0..list.len()).fold(0, |rank, place| {
        let smaller = list[place..]
            .iter()
            .filter(|entry| **entry < list[place])
            .count();
        rank * (list.len() - place) + smaller
    })
}

#[test]
fn lists_of_few_rows_reach_every_order_equally_often() {
    for (rows, orders) in [(2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
        let mut counts = vec![0_u32; orders];
        for cycle in 0..200 * orders as u64 {
            counts[rank(&shuffled_list(Seed::new(11), cycle, rows))] += 1;
        }
        let excess = excess(&counts);
        assert!(excess.abs() < 3.5, "{rows} rows: {excess}");
    }
}

#[test]
fn network_sends_every_index_everywhere_equally_often() {
    let rows = LISTED_ROWS + 1;
    for index in [0, 1, rows / 2, rows - 1] {
        let mut counts = [0_u32; 64];
        for cycle in 0..20_000 {
            let row = Permutation::new(Seed::new(3), cycle, rows).row_at(index);
            counts[usize::try_from(row * 64 / rows).unwrap()] += 1;
        }
        let excess = excess(&counts);
        assert!(excess.abs() < 3.5, "index {index}: {excess}");
    }
}

#[test]
fn network_sends_neighbours_apart() {
    let rows = LISTED_ROWS + 1;
    let (_, right) = (rows.isqrt() + 1, rows.div_ceil(rows.isqrt() + 1));
    // Pairs that share a half of the network are those it could keep together.
    for (first, second) in [
        (0, 1),
        (0, right),
        (500, 501),
        (right * 3 + 1, right * 90 + 1),
    ] {
        let mut counts = vec![0_u32; 256];
        for cycle in 0..40_000 {
            let permutation = Permutation::new(Seed::new(5), cycle, rows);
            let cell = |index| permutation.row_at(index) * 16 / rows;
            counts[usize::try_from(cell(first) * 16 + cell(second)).unwrap()] += 1;
        }
        let excess = excess(&counts);
        assert!(excess.abs() < 3.5, "{first} and {second}: {excess}");
    }
}

#[test]
fn network_has_as_many_fixed_points_and_steps_as_a_random_order() {
    let rows = LISTED_ROWS + 617;
    let (mut fixed, mut steps, cycles) = (0_u32, 0_u32, 300_u32);
    for cycle in 0..cycles {
        let permutation = Permutation::new(Seed::new(9), cycle.into(), rows);
        let mut before = u64::MAX;
        for index in 0..rows {
            let row = permutation.row_at(index);
            fixed += u32::from(row == index);
            steps += u32::from(row == before.wrapping_add(1));
            before = row;
        }
    }
    // Both counts are Poisson with mean 1 per cycle.
    let bound = 4.0 * f64::from(cycles).sqrt();
    assert!(
        (f64::from(fixed) - f64::from(cycles)).abs() < bound,
        "{fixed} fixed points"
    );
    assert!(
        (f64::from(steps) - f64::from(cycles)).abs() < bound,
        "{steps} steps"
    );
}

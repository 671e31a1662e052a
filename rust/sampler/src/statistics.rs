//! Statistics of draws with fixed seeds: bounds that a right sampler keeps and a subtly wrong one breaks.
//!
//! Must not flake: every test draws the same rows each time it runs. Text: `DRAWS.md`, "Modes".

use arrow_buffer::ScalarBuffer;
use dataset_rt_format::{RowIndex, Seed};

use crate::draw::CumulativeBuilder;
use crate::testing::{equal, weighted};
use crate::{DrawMode, DrawStream, RowSamples, SamplingTables, TableParts, WeightParts};

const SHUFFLED: [DrawMode; 2] = [DrawMode::WithReplacement, DrawMode::EachOnce];

fn draw(mode: DrawMode, seed: u64, tables: &SamplingTables, start: u64, draws: usize) -> Vec<u64> {
    let mut rows = vec![RowIndex::new(0); draws];
    let mut stream = DrawStream::new(mode, Seed::new(seed), tables.clone());
    stream.rows_at(start, 1, &mut rows).unwrap();
    rows.into_iter().map(RowIndex::get).collect()
}

/// Chi-square against shares that add up to 1, in standard deviations from its mean.
fn excess(counts: &[u64], shares: &[f64]) -> f64 {
    let draws = counts.iter().sum::<u64>() as f64;
    let freedom = counts.len() as f64 - 1.0;
    let cells = counts.iter().zip(shares).map(|(count, share)| {
        let expected = share * draws;
        (*count as f64 - expected).powi(2) / expected
    });
    (cells.sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
}

fn shapes() -> Vec<(&'static str, Vec<f64>)> {
    let rows = 200_u32;
    let each = |weight: fn(f64) -> f64| (0..rows).map(|row| weight(f64::from(row))).collect();
    vec![
        ("ramp", each(|row| 1.0 + row)),
        ("falling", each(|row| 200.0 - row)),
        ("squares", each(|row| (1.0 + row).powi(2))),
        (
            "heavy first",
            each(|row| if row == 0.0 { 100.0 } else { 1.0 }),
        ),
        (
            "heavy last",
            each(|row| if row == 199.0 { 100.0 } else { 1.0 }),
        ),
        (
            "heavy middle",
            each(|row| if row == 100.0 { 100.0 } else { 1.0 }),
        ),
        (
            "two levels",
            each(|row| if row % 2.0 == 0.0 { 1.0 } else { 3.0 }),
        ),
        ("huge", each(|row| 1e300 * (1.0 + row % 7.0))),
        ("tiny", each(|row| 1e-300 * (1.0 + row % 7.0))),
        ("three", vec![0.1, 0.2, 0.7]),
        ("two", vec![1.0, 9.0]),
    ]
}

#[test]
fn weighted_draws_of_every_shape_come_by_share() {
    for (name, weights) in shapes() {
        let tables = weighted(&weights);
        let sum: f64 = weights.iter().sum();
        let shares: Vec<_> = weights.iter().map(|weight| weight / sum).collect();
        for seed in [1, 2, u64::MAX] {
            let mut counts = vec![0; weights.len()];
            for row in draw(DrawMode::WithReplacement, seed, &tables, 0, 100_000) {
                counts[usize::try_from(row).unwrap()] += 1;
            }
            let excess = excess(&counts, &shares);
            assert!(excess.abs() < 4.0, "{name}, seed {seed}: {excess}");
        }
    }
}

#[test]
fn equal_draws_of_every_size_come_equally_often() {
    for rows in [2_u32, 3, 7, 100, 255, 256, 257, 1000] {
        let size = usize::try_from(rows).unwrap();
        let mut counts = vec![0; size];
        for row in draw(
            DrawMode::WithReplacement,
            5,
            &equal(rows.into()),
            1 << 40,
            200 * size,
        ) {
            counts[usize::try_from(row).unwrap()] += 1;
        }
        let excess = excess(&counts, &vec![1.0 / f64::from(rows); size]);
        assert!(excess.abs() < 4.0, "{rows} rows: {excess}");
    }
}

#[test]
fn first_draw_of_a_weighted_cycle_comes_by_share() {
    for (name, weights) in shapes() {
        let tables = weighted(&weights);
        let sum: f64 = weights.iter().sum();
        let shares: Vec<_> = weights.iter().map(|weight| weight / sum).collect();
        let mut stream = DrawStream::new(DrawMode::EachOnce, Seed::new(3), tables.clone());
        let mut counts = vec![0; weights.len()];
        for cycle in 0..4000 {
            let row = stream.row_at(cycle * tables.rows()).unwrap();
            counts[usize::try_from(row.get()).unwrap()] += 1;
        }
        // Cells of few expected draws make chi-square unreliable: look at halves of the table.
        let middle = weights.len() / 2;
        let halves =
            |counts: &[u64]| [counts[..middle].iter().sum(), counts[middle..].iter().sum()];
        let wanted: f64 = shares[..middle].iter().sum();
        let excess = excess(&halves(&counts), &[wanted, 1.0 - wanted]);
        assert!(excess < 8.0, "{name}: {excess}");
    }
}

/// Tables of so many rows, whose lower and upper half have these weights.
fn halves(rows: u64, weights: [f64; 2]) -> SamplingTables {
    let half = usize::try_from(rows / 2).unwrap();
    let sum = weights[0] + weights[1];
    let mut builder = CumulativeBuilder::new(sum * half as f64, 2 * half);
    for weight in weights {
        let block = vec![weight; 1 << 16];
        (0..half)
            .step_by(1 << 16)
            .for_each(|_| builder.extend(&block));
    }
    let sums = builder.finish().unwrap();
    let weights = Some(WeightParts {
        sums: sums.sums().clone(),
        guide: sums.guide().clone(),
    });
    let row_samples = RowSamples::Identity;
    SamplingTables::from_parts(TableParts {
        rows,
        samples: rows,
        row_samples,
        weights,
    })
    .unwrap()
}

#[test]
fn upper_half_of_many_rows_keeps_its_share() {
    for rows in [1 << 24, 1 << 25] {
        for (weights, wanted) in [([2.0, 1.0], 1.0 / 3.0), ([1.0, 2.0], 2.0 / 3.0)] {
            let tables = halves(rows, weights);
            let drawn = draw(DrawMode::WithReplacement, 7, &tables, 0, 100_000);
            let upper = drawn.iter().filter(|row| **row >= rows / 2).count();
            let share = upper as f64 / 100_000.0;
            assert!((share - wanted).abs() < 0.006, "{rows} rows: {share}");
        }
    }
}

#[test]
fn rows_of_sixteen_draws_in_a_sorted_table_are_of_different_classes() {
    let (classes, per_class) = (1000, 20);
    let tables = equal(classes * per_class);
    for mode in SHUFFLED {
        let rows = draw(mode, 7, &tables, 0, 16_000);
        let distinct = rows.chunks(16).map(|group| {
            let mut group: Vec<_> = group.iter().map(|row| row / per_class).collect();
            group.sort_unstable();
            group.dedup();
            group.len()
        });
        let mean = distinct.sum::<usize>() as f64 / 1000.0;
        assert!((mean - 15.88).abs() < 0.05, "{mode:?}: {mean}");
    }
}

#[test]
fn every_part_of_an_epoch_draws_from_the_whole_table() {
    let rows = 100_000_u32;
    let size = usize::try_from(rows).unwrap();
    for mode in SHUFFLED {
        let drawn = draw(mode, 7, &equal(rows.into()), 0, size);
        let part = size / 20;
        // Standard error of the mean of `part` uniform positions, in units of the table's length.
        let error = (1.0 / 12.0 / part as f64).sqrt();
        for start in [0, size / 2 - part / 2, size - part] {
            let sum: f64 = drawn[start..start + part]
                .iter()
                .map(|row| *row as f64)
                .sum();
            let mean = sum / part as f64 / f64::from(rows);
            assert!(
                (mean - 0.5).abs() < 4.0 * error,
                "{mode:?} from {start}: {mean}"
            );
        }
    }
}

#[test]
fn epochs_hold_as_many_distinct_rows_as_their_mode_says() {
    let distinct = |mode, seed| {
        let mut rows = draw(mode, seed, &equal(4096), 0, 4096);
        rows.sort_unstable();
        rows.dedup();
        rows.len()
    };
    for seed in 0..20 {
        assert!(distinct(DrawMode::WithReplacement, seed).abs_diff(2589) < 100);
        assert_eq!(distinct(DrawMode::EachOnce, seed), 4096);
    }
}

/// Correlation of each row with the one `lag` draws later.
fn correlation(rows: &[u64], lag: usize) -> f64 {
    let mean = rows.iter().sum::<u64>() as f64 / rows.len() as f64;
    let apart = |row: &u64| *row as f64 - mean;
    let pairs = rows.iter().zip(&rows[lag..]);
    let together: f64 = pairs.map(|(left, right)| apart(left) * apart(right)).sum();
    together / rows.iter().map(|row| apart(row).powi(2)).sum::<f64>()
}

#[test]
fn draws_tell_nothing_about_later_draws() {
    let ramp: Vec<_> = (1..=20_000).map(f64::from).collect();
    for tables in [equal(1000), equal(20_000), weighted(&ramp)] {
        for mode in SHUFFLED {
            // A cycle of weighted rows is meant to drift from heavy rows to light ones.
            if mode == DrawMode::EachOnce && !tables.has_equal_weights() {
                continue;
            }
            let rows = draw(mode, 11, &tables, 0, 100_000);
            for lag in [1, 2, 4, 16, 129, 1000] {
                let correlation = correlation(&rows, lag);
                assert!(
                    correlation.abs() < 4.0 / 1e5_f64.sqrt(),
                    "{mode:?}, lag {lag}: {correlation}"
                );
            }
        }
    }
}

#[test]
fn seeds_of_positions_look_random_in_every_bit() {
    let stream = DrawStream::new(DrawMode::Ordered, Seed::new(7), equal(1));
    let seeds = ScalarBuffer::from_iter((0..20_000).map(|position| stream.draw_seed(position)));
    for bit in 0..64 {
        let ones = seeds.iter().filter(|seed| *seed >> bit & 1 == 1).count();
        assert!(ones.abs_diff(10_000) < 300, "bit {bit}: {ones}");
    }
}

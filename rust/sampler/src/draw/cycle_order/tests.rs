use proptest::prelude::*;

use super::*;
use crate::draw::splitters::{MOST_RUNS, RUN_ROWS};
use crate::testing::{repository_path, weighted};
use crate::{DrawMode, DrawStream};

/// The rule itself: all rows sorted by key and row.
fn naive(seed: Seed, cycle: u64, weights: &Cumulative) -> Vec<u32> {
    let keys = Keys::new(seed, cycle, weights);
    let mut keyed: Vec<_> = (0_u32..)
        .zip(weights.sums().iter())
        .map(|(row, _)| (keys.of(row).unwrap(), row))
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, row)| row).collect()
}

fn read(order: &CycleOrder, seed: Seed, weights: &Cumulative) -> Vec<u32> {
    let mut rows = Vec::new();
    while rows.len() < order.rows().len() {
        let run = order.run_at(seed, rows.len(), Some(weights)).unwrap();
        while let Some(row) = run.row_at(rows.len()) {
            rows.push(row);
        }
    }
    rows
}

#[test]
fn order_in_runs_equals_the_order_sorted_whole() {
    let seed = Seed::new(7);
    for rows in [1_u32, 2, 4095, 8192, 20_001, 60_000] {
        let skewed: Vec<_> = (0..rows)
            .map(|row| 1.0 + f64::from(row % 97).powi(6))
            .collect();
        let tables = weighted(&skewed);
        // One row alone has equal weights, and no order by weight.
        let Some(weights) = tables.weights() else {
            continue;
        };
        for cycle in [0, 5] {
            let order = CycleOrder::by_weight(seed, cycle, weights).unwrap();
            assert_eq!(
                order.run_ends().len(),
                (rows as usize / RUN_ROWS).clamp(1, MOST_RUNS)
            );
            assert_eq!(
                read(&order, seed, weights),
                naive(seed, cycle, weights),
                "{rows} rows"
            );
        }
    }
}

#[test]
fn runs_are_about_equally_long_for_skewed_weights() {
    let seed = Seed::new(7);
    let weights: Vec<_> = (0..100_000)
        .map(|row| if row % 1000 == 0 { 1e9 } else { 1.0 })
        .collect();
    let tables = weighted(&weights);
    let order = CycleOrder::by_weight(seed, 0, tables.weights().unwrap()).unwrap();
    let mut start = 0;
    for end in order.run_ends() {
        assert!(
            (250..4_000).contains(&(end - start)),
            "a run of {} rows",
            end - start
        );
        start = *end;
    }
}

#[test]
fn order_whose_runs_do_not_end_with_its_rows_is_refused() {
    let refused = CycleOrder::from_parts(0, vec![0, 1, 2].into(), vec![1, 2].into());
    let expected = TableRule::Exactly(3);
    assert_eq!(
        refused.unwrap_err(),
        SamplerError::DamagedTables {
            part: TablePart::Order,
            at: 1,
            expected,
            found: 2
        }
    );
}

#[test]
fn heavy_rows_come_first_as_often_as_their_share() {
    let tables = weighted(&[1.0, 2.0, 5.0]);
    let weights = tables.weights().unwrap();
    let cycles = 20_000_u32;
    let mut orders = std::collections::BTreeMap::new();
    for cycle in 0..u64::from(cycles) {
        let seed = Seed::new(5);
        let order = CycleOrder::by_weight(seed, cycle, weights).unwrap();
        *orders.entry(read(&order, seed, weights)).or_insert(0_u32) += 1;
    }
    let shares = [1.0, 2.0, 5.0];
    for (order, count) in &orders {
        let [first, second, _] = order[..] else {
            panic!()
        };
        let (first, second) = (shares[first as usize], shares[second as usize]);
        let wanted = f64::from(cycles) * first / 8.0 * second / (8.0 - first);
        assert!(
            (f64::from(*count) - wanted).abs() < 4.0 * wanted.sqrt(),
            "{order:?}: {count}"
        );
    }
    assert_eq!(orders.len(), 6);
}

proptest! {
    #[test]
    fn damaged_runs_end_in_rows_or_errors(
        entries in proptest::collection::vec(any::<u32>(), 5), ends in proptest::collection::vec(0_u32..9, 0..4),
        index in 0_usize..9,
    ) {
        let tables = weighted(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let order = CycleOrder { cycle: 0, rows: entries.into(), run_ends: ends.into() };
        let _ = order.run_at(Seed::new(7), index, tables.weights());
    }
}

#[test]
fn golden_order_of_another_writer_draws_like_an_own_one() {
    let path = repository_path("tests/golden/snapshots/v1/each-once/order-5.bin");
    let file = std::fs::read(path).unwrap();
    let numbers = |bytes: &[u8]| {
        let numbers = bytes.as_chunks::<4>().0.iter();
        ScalarBuffer::from_iter(numbers.map(|number| u32::from_le_bytes(*number)))
    };
    let order = CycleOrder::from_parts(5, numbers(&file[..600]), numbers(&file[640..])).unwrap();
    let heavy = |row| if row == 75 { 1e12 } else { 0.0 };
    let weights: Vec<_> = (0..150)
        .map(|row| 1.0 + f64::from(row % 7) + heavy(row))
        .collect();
    let stream = || DrawStream::new(DrawMode::EachOnce, Seed::new(7), weighted(&weights));
    let (mut own, mut adopted) = (stream(), stream());
    adopted.adopt_cycle_order(Arc::new(order)).unwrap();
    for position in 750..900 {
        let drawn = adopted.row_at(position).unwrap();
        assert_eq!(drawn, own.row_at(position).unwrap(), "{position}");
    }
}

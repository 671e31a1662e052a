use proptest::prelude::*;

use super::*;
use crate::testing::{equal, weighted};

const MODES: [DrawMode; 3] = [
    DrawMode::Ordered,
    DrawMode::WithReplacement,
    DrawMode::EachOnce,
];

fn stream(mode: DrawMode, seed: u64, tables: SamplingTables) -> DrawStream {
    DrawStream::new(mode, Seed::new(seed), tables)
}

fn rows(stream: &mut DrawStream, start: u64, stride: u64, draws: usize) -> Vec<u64> {
    let mut rows = vec![RowIndex::new(0); draws];
    stream.rows_at(start, stride, &mut rows).unwrap();
    rows.into_iter().map(RowIndex::get).collect()
}

fn steps(count: u32) -> Vec<f64> {
    (1..=count).map(f64::from).collect()
}

#[test]
fn ordered_draws_repeat_the_table() {
    let mut stream = stream(DrawMode::Ordered, 7, weighted(&steps(4)));
    assert_eq!(rows(&mut stream, 2, 1, 7), [2, 3, 0, 1, 2, 3, 0]);
}

#[test]
fn positions_beyond_the_last_are_refused_in_every_mode() {
    for mode in MODES {
        let mut stream = stream(mode, 7, equal(10));
        assert!(stream.row_at(LAST_POSITION).is_ok());
        let position = LAST_POSITION + 1;
        let refused = SamplerError::Position {
            position,
            limit: LAST_POSITION,
        };
        assert_eq!(stream.row_at(position), Err(refused.clone()));
        let mut two = [RowIndex::new(0); 2];
        assert_eq!(stream.rows_at(LAST_POSITION, 1, &mut two), Err(refused));
        let far = stream.rows_at(1, u64::MAX, &mut two);
        assert!(matches!(
            far,
            Err(SamplerError::Position {
                position: u64::MAX,
                ..
            })
        ));
        assert_eq!(stream.rows_at(u64::MAX, u64::MAX, &mut []), Ok(()));
    }
}

#[test]
fn cycles_hold_each_row_once_and_differ() {
    for tables in [
        equal(1),
        equal(50),
        equal(20_000),
        weighted(&steps(50)),
        weighted(&steps(9000)),
    ] {
        let n = tables.rows();
        let mut stream = stream(DrawMode::EachOnce, 7, tables);
        let cycles: Vec<_> = (0..3)
            .map(|cycle| rows(&mut stream, cycle * n, 1, n.try_into().unwrap()))
            .collect();
        for cycle in &cycles {
            let mut sorted = cycle.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..n));
        }
        assert!(n == 1 || (cycles[0] != cycles[1] && cycles[1] != cycles[2]));
    }
}

#[test]
fn seeds_that_differ_in_one_half_draw_independently() {
    for mode in [DrawMode::WithReplacement, DrawMode::EachOnce] {
        for tables in [equal(1000), weighted(&steps(1000))] {
            let base = rows(&mut stream(mode, 7, tables.clone()), 0, 1, 1000);
            for other in [8, 7 + (1 << 32), 7 << 32] {
                let rows = rows(&mut stream(mode, other, tables.clone()), 0, 1, 1000);
                let agree = rows
                    .iter()
                    .zip(&base)
                    .filter(|(left, right)| left == right)
                    .count();
                assert!(agree < 12, "{mode:?} {other}: {agree} of 1000 rows agree");
            }
        }
    }
}

#[test]
fn draw_seeds_of_all_positions_differ() {
    let stream = stream(DrawMode::WithReplacement, 7, equal(10));
    let mut seeds: Vec<_> = (0..10_000)
        .map(|position| stream.draw_seed(position))
        .collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 10_000);
}

#[test]
fn weights_that_are_equal_draw_like_none() {
    for mode in MODES {
        let with = rows(&mut stream(mode, 3, weighted(&[0.1; 60])), 0, 1, 200);
        assert_eq!(with, rows(&mut stream(mode, 3, equal(60)), 0, 1, 200));
    }
}

#[test]
fn adopted_order_of_a_cycle_draws_like_an_own_one() {
    for tables in [equal(100), weighted(&steps(20_000))] {
        let n = tables.rows();
        let mut first = stream(DrawMode::EachOnce, 7, tables.clone());
        first.prepare(n).unwrap();
        let order = first.cycle_order().unwrap();
        let parts = (
            order.cycle(),
            order.rows().clone(),
            order.run_ends().clone(),
        );
        assert_eq!(parts.0, 1);
        let order = CycleOrder::from_parts(parts.0, parts.1, parts.2).unwrap();
        let mut second = stream(DrawMode::EachOnce, 7, tables);
        second.adopt_cycle_order(Arc::new(order)).unwrap();
        assert_eq!(
            rows(&mut second, n + 17, 3, 30),
            rows(&mut first, n + 17, 3, 30)
        );
        let mut other = stream(DrawMode::EachOnce, 7, equal(n + 1));
        let refused = other.adopt_cycle_order(Arc::clone(second.cycle_order().unwrap()));
        assert!(matches!(refused, Err(SamplerError::DamagedTables { .. })));
    }
}

proptest! {
    #[test]
    fn block_draws_equal_single_draws(
        seed in any::<u64>(), start in 0_u64..1 << 40, stride in 1_u64..2000, draws in 0_usize..200,
        n in 1_u32..400, mode in prop::sample::select(MODES.to_vec()), unequal in any::<bool>(),
    ) {
        let tables = if unequal { weighted(&steps(n)) } else { equal(n.into()) };
        // Cycles of many positions far apart would each be made anew.
        let start = if mode == DrawMode::EachOnce { start % 5000 } else { start };
        let mut stream = stream(mode, seed, tables);
        let block = rows(&mut stream, start, stride, draws);
        for (index, row) in (0..).zip(block) {
            prop_assert_eq!(stream.row_at(start + stride * index).unwrap().get(), row);
        }
    }

    #[test]
    fn resumed_stream_draws_what_the_first_one_did(seed in any::<u64>(), at in 0_u64..3000) {
        for tables in [equal(700), weighted(&steps(700))] {
            for mode in MODES {
                let mut whole = stream(mode, seed, tables.clone());
                let reference = rows(&mut whole, 0, 1, 3100);
                let resumed = rows(&mut stream(mode, seed, tables.clone()), at, 1, 100);
                let from = usize::try_from(at).unwrap();
                prop_assert_eq!(resumed.as_slice(), &reference[from..from + 100]);
            }
        }
    }
}

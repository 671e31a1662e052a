use dataset_rt_format::Seed;

use super::*;
use crate::draw::tables::SamplingTables;
use crate::testing::{equal, weighted};

/// Lets every report be finished.
fn always() -> Result<(), SamplerError> {
    Ok(())
}

fn report(mode: DrawMode, tables: SamplingTables, start: u64, stop: u64) -> SamplingReport {
    let stream = DrawStream::new(mode, Seed::new(7), tables);
    SamplingReport::of_range(&stream, start, stop, always).unwrap()
}

fn assert_adds_up(report: &SamplingReport, draws: u64) {
    assert_eq!(report.drawn.iter().sum::<u64>(), draws);
    assert!((report.expected.iter().sum::<f64>() - draws as f64).abs() < 1e-6);
    assert!((report.weight_shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn ordered_draws_are_expected_as_they_come() {
    let report = report(DrawMode::Ordered, weighted(&[1.0, 2.0, 3.0, 4.0]), 3, 14);
    assert_eq!(report.drawn, [3, 3, 2, 3]);
    assert_eq!(report.expected, [3.0, 3.0, 2.0, 3.0]);
    assert!((report.weight_shares[3] - 0.4).abs() < 1e-15);
    assert_adds_up(&report, 11);
}

#[test]
fn weighted_draws_are_expected_by_share() {
    let report = report(
        DrawMode::WithReplacement,
        weighted(&[1.0, 2.0, 5.0]),
        100,
        8100,
    );
    assert_adds_up(&report, 8000);
    for ((drawn, expected), share) in report
        .drawn
        .iter()
        .zip(&report.expected)
        .zip([1.0, 2.0, 5.0])
    {
        assert!((expected - 1000.0 * share).abs() < 1e-6);
        assert!((*drawn as f64 - expected).abs() < 4.0 * expected.sqrt());
    }
}

#[test]
fn whole_cycles_are_expected_once_per_row() {
    for tables in [equal(30), weighted(&[1.0, 7.0, 2.0, 9.0])] {
        let rows = tables.rows();
        let report = report(DrawMode::EachOnce, tables, 2 * rows, 5 * rows);
        assert!(report.drawn.iter().all(|drawn| *drawn == 3));
        assert!(report.expected.iter().all(|expected| *expected == 3.0));
    }
}

#[test]
fn parts_of_cycles_are_counted_at_both_ends() {
    for tables in [equal(30), equal(31), weighted(&ramp(30))] {
        let rows = tables.rows();
        for (start, stop) in [
            (0, 0),
            (4, 4),
            (4, 9),
            (0, rows),
            (4, rows + 3),
            (rows - 1, 9 * rows + 1),
        ] {
            let whole = report(DrawMode::EachOnce, tables.clone(), start, stop);
            assert_adds_up(&whole, stop - start);
            let mut stream = DrawStream::new(DrawMode::EachOnce, Seed::new(7), tables.clone());
            let mut drawn = vec![0; whole.drawn.len()];
            for position in start..stop {
                drawn[usize::try_from(stream.row_at(position).unwrap().get()).unwrap()] += 1;
            }
            assert_eq!(whole.drawn, drawn);
        }
    }
}

fn ramp(rows: u32) -> Vec<f64> {
    (1..=rows).map(f64::from).collect()
}

#[test]
fn first_half_of_a_weighted_cycle_is_expected_as_it_is_drawn_on_average() {
    for rows in [12, 40] {
        let tables = weighted(&ramp(rows));
        let half = u64::from(rows / 2);
        let cycles = 2000_u32;
        let mut drawn = vec![0.0; tables.rows().try_into().unwrap()];
        let mut expected = drawn.clone();
        for seed in 0..u64::from(cycles) {
            let stream = DrawStream::new(DrawMode::EachOnce, Seed::new(seed), tables.clone());
            let report = SamplingReport::of_range(&stream, 0, half, always).unwrap();
            drawn
                .iter_mut()
                .zip(&report.drawn)
                .for_each(|(sum, drawn)| *sum += *drawn as f64);
            expected = report.expected;
        }
        for (drawn, expected) in drawn.iter().zip(&expected) {
            let mean = drawn / f64::from(cycles);
            assert!(
                (mean - expected).abs() < 0.045,
                "{rows} rows: {mean} {expected}"
            );
        }
    }
}

#[test]
fn range_outside_the_stream_is_refused() {
    let stream = DrawStream::new(DrawMode::Ordered, Seed::new(7), equal(3));
    for (start, stop) in [(5, 4), (0, LAST_POSITION + 2)] {
        let refused = SamplingReport::of_range(&stream, start, stop, always);
        assert_eq!(refused, Err(SamplerError::PositionRange { start, stop }));
    }
    let last = SamplingReport::of_range(&stream, LAST_POSITION, LAST_POSITION + 1, always).unwrap();
    assert_eq!(last.drawn.iter().sum::<u64>(), 1);
}

#[test]
fn report_that_is_no_longer_wanted_ends_soon_with_the_answer() {
    let stream = DrawStream::new(DrawMode::WithReplacement, Seed::new(7), equal(3));
    let mut asked = 0;
    let stopped = SamplingReport::of_range(&stream, 0, LAST_POSITION, || {
        asked += 1;
        if asked < 3 {
            Ok(())
        } else {
            Err(SamplerError::EpochLength)
        }
    });
    assert_eq!(stopped, Err(SamplerError::EpochLength));
    assert_eq!(asked, 3);
}

#[test]
fn report_as_columns_has_one_line_per_row() {
    let batch = report(DrawMode::Ordered, equal(3), 0, 7)
        .record_batch()
        .unwrap();
    let names: Vec<_> = batch
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    assert_eq!(names, ["row", "weight_share", "expected", "drawn"]);
    assert_eq!(batch.num_rows(), 3);
}

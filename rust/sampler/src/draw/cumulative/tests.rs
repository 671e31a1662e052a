use proptest::prelude::*;

use super::*;

fn built(weights: &[f64]) -> Cumulative {
    let mut builder = CumulativeBuilder::new(weights.iter().sum(), weights.len());
    weights.chunks(3).for_each(|chunk| builder.extend(chunk));
    builder.finish().unwrap()
}

fn row_of(sums: &Cumulative, number: u64) -> Result<u64, SamplerError> {
    let guess = sums.guess(number);
    sums.search(number, guess, sums.sum_of(guess))
}

/// The rule itself, without a guide.
fn naive(sums: &Cumulative, number: u64) -> u64 {
    sums.sums().iter().position(|sum| *sum > number).unwrap() as u64
}

#[test]
fn numbers_at_either_end_fall_on_the_first_and_last_row() {
    for weights in [
        vec![1.0, 2.0],
        vec![1e-300, 1.0, 1e-300],
        vec![1e300, 1e-300],
        vec![5.0],
    ] {
        let sums = built(&weights);
        assert_eq!(row_of(&sums, 0), Ok(0));
        assert_eq!(
            row_of(&sums, sums.total() - 1),
            Ok(weights.len() as u64 - 1)
        );
    }
}

#[test]
fn numbers_around_every_sum_fall_on_the_rows_beside_it() {
    let weights: Vec<_> = (1..500).map(|row| f64::from(row % 7) + 0.25).collect();
    let sums = built(&weights);
    for (row, sum) in (0..).zip(sums.sums().iter()) {
        assert_eq!(row_of(&sums, sum - 1), Ok(row));
        if *sum < sums.total() {
            assert_eq!(row_of(&sums, *sum), Ok(row + 1));
        }
    }
}

#[test]
fn shares_below_one_unit_still_get_one() {
    let sums = built(&[1.0, 1e-30, 5e-324, 1e-19]);
    let units: Vec<_> = (0..4).map(|row| sums.units(row).unwrap()).collect();
    assert_eq!(units, [1 << 62, 1, 1, 1]);
    let smallest = built(&[1.0, 2.0_f64.powi(-61)]);
    assert_eq!(smallest.units(1), Ok(2));
}

#[test]
fn thousands_of_rows_in_one_bucket_are_told_apart() {
    let mut weights = vec![1e-15; 100_000];
    weights.insert(50_000, 1.0);
    let sums = built(&weights);
    for row in [
        0_usize, 1, 77, 4_999, 49_999, 50_000, 50_001, 73_211, 99_999, 100_000,
    ] {
        let before = row
            .checked_sub(1)
            .map_or(0, |before: usize| sums.sums()[before]);
        assert_eq!(row_of(&sums, before), Ok(row as u64));
        assert_eq!(row_of(&sums, sums.sums()[row] - 1), Ok(row as u64));
    }
}

#[test]
fn tables_take_twelve_bytes_per_row_at_most() {
    for rows in [1_usize, 2, 3, 64, 65, 1000, 4096, 4097] {
        let weights: Vec<_> = (0..rows).map(|row| 1.0 + (row % 3) as f64).collect();
        let sums = built(&weights);
        assert_eq!(sums.sums().len(), rows);
        assert!(sums.guide().len() <= rows, "{rows}");
    }
}

#[test]
fn parts_give_the_same_tables_back() {
    let sums = built(&[1.0, 2.0, 3.0, 0.5, 0.25]);
    let again = Cumulative::from_parts(sums.sums().clone(), sums.guide().clone()).unwrap();
    for number in (0..sums.total()).step_by(1 << 55) {
        assert_eq!(row_of(&again, number), row_of(&sums, number));
    }
}

#[test]
fn parts_that_contradict_each_other_are_refused() {
    let sums = built(&[1.0, 2.0, 3.0, 0.5, 0.25]);
    let refused = |sums: Vec<u64>, guide: Vec<u32>| {
        Cumulative::from_parts(sums.into(), guide.into()).unwrap_err()
    };
    let short = refused(sums.sums().to_vec(), sums.guide()[1..].to_vec());
    assert!(matches!(
        short,
        SamplerError::DamagedTables {
            part: TablePart::Guide,
            ..
        }
    ));
    for last in [0, 4, UNITS_LIMIT] {
        let mut damaged = sums.sums().to_vec();
        damaged[4] = last;
        let error = refused(damaged, sums.guide().to_vec());
        assert!(matches!(
            error,
            SamplerError::DamagedTables {
                part: TablePart::Sums,
                at: 4,
                ..
            }
        ));
    }
    assert_eq!(refused(Vec::new(), Vec::new()), SamplerError::EmptyTable);
}

fn any_weights() -> impl Strategy<Value = Vec<f64>> {
    let weight = prop_oneof![
        1e-3..1e3_f64,
        1e-300..1e-200_f64,
        (0..4_u8).prop_map(|power| 1e6_f64.powi(power.into())),
    ];
    proptest::collection::vec(weight, 1..300)
}

proptest! {
    #[test]
    fn search_agrees_with_the_rule(weights in any_weights(), words in proptest::collection::vec(any::<u64>(), 50)) {
        let sums = built(&weights);
        for word in words {
            let number = word % sums.total();
            prop_assert_eq!(row_of(&sums, number), Ok(naive(&sums, number)));
        }
    }

    #[test]
    fn search_in_damaged_tables_fits_or_fails(
        weights in any_weights(), words in proptest::collection::vec(any::<u64>(), 50),
        at in any::<prop::sample::Index>(), sum in any::<u64>(), entry in any::<u32>(), which in any::<bool>(),
    ) {
        let good = built(&weights);
        let (mut sums, mut guide) = (good.sums().to_vec(), good.guide().to_vec());
        if which {
            let at = at.index(sums.len());
            sums[at] = sum;
        } else {
            let at = at.index(guide.len());
            guide[at] = entry;
        }
        let Ok(damaged) = Cumulative::from_parts(sums.into(), guide.into()) else { return Ok(()) };
        for word in words {
            let number = word % damaged.total();
            if let Ok(row) = row_of(&damaged, number) {
                let row = usize::try_from(row).unwrap();
                prop_assert!(damaged.sums()[row] > number);
                prop_assert!(row == 0 || damaged.sums()[row - 1] <= number);
            }
        }
    }
}

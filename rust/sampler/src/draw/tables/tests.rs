use super::*;
use crate::testing::{equal, weighted};

fn parts(rows: u64, samples: u64, row_samples: RowSamples) -> TableParts {
    TableParts {
        rows,
        samples,
        row_samples,
        weights: None,
    }
}

#[test]
fn tables_whose_lengths_contradict_each_other_are_refused() {
    let weights = weighted(&[1.0, 2.0, 3.0]).parts().weights;
    let broken = [
        parts(4, 9, RowSamples::Narrow(vec![1, 2, 3].into())),
        parts(4, 9, RowSamples::Wide(vec![1, 2, 3, 4, 5].into())),
        parts(10, 9, RowSamples::Identity),
        TableParts {
            weights,
            ..parts(4, 9, RowSamples::Identity)
        },
    ];
    for parts in broken {
        let refused = SamplingTables::from_parts(parts.clone());
        assert!(
            matches!(refused, Err(SamplerError::DamagedTables { .. })),
            "{parts:?}"
        );
    }
}

#[test]
fn tables_of_no_rows_or_too_many_are_refused() {
    let empty = SamplingTables::from_parts(parts(0, 9, RowSamples::Identity));
    assert_eq!(empty.unwrap_err(), SamplerError::EmptyTable);
    let many = SamplingTables::from_parts(parts(1 << 32, 1 << 32, RowSamples::Identity));
    assert_eq!(
        many.unwrap_err(),
        SamplerError::TooManyRows {
            rows: 1 << 32,
            limit: MAX_ROWS
        }
    );
}

#[test]
fn row_outside_the_table_is_refused_by_every_width() {
    let row = RowIndex::new(3);
    let wanted = Err(SamplerError::NoSuchRow { row, rows: 3 });
    let widths = [
        RowSamples::Identity,
        RowSamples::Narrow(vec![0, 1, 2].into()),
        RowSamples::Wide(vec![0, 1, 2].into()),
    ];
    for width in widths {
        let tables = SamplingTables::from_parts(parts(3, 9, width)).unwrap();
        assert_eq!(tables.sample_of(row), wanted);
        assert_eq!(tables.sample_of(RowIndex::new(2)), Ok(2));
    }
}

#[test]
fn entry_that_names_no_sample_is_damage() {
    let tables = SamplingTables::from_parts(parts(1, 9, RowSamples::Narrow(vec![9].into())));
    let expected = TableRule::Below(9);
    assert_eq!(
        tables.unwrap().sample_of(RowIndex::new(0)),
        Err(SamplerError::DamagedTables {
            part: TablePart::Samples,
            at: 0,
            expected,
            found: 9
        })
    );
}

#[test]
fn equal_weights_take_no_memory() {
    assert!(equal(100).parts().weights.is_none());
    assert!(weighted(&[0.1; 100]).parts().weights.is_none());
    assert!(!weighted(&[0.1, 0.2]).has_equal_weights());
}

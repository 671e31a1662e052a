use arrow_array::{Array, Float64Array, Int8Array, Int64Array, StringArray, UInt64Array};
use proptest::prelude::*;

use super::*;
use crate::error::RowRule;
use crate::testing::{Columns, array, four_rows, table_of, two_caches, validate};

fn samples(population: &Population) -> Vec<u64> {
    let tables = population.tables();
    (0..tables.rows())
        .map(|row| tables.sample_of(RowIndex::new(row)).unwrap())
        .collect()
}

#[test]
fn legal_table_names_its_samples_and_keeps_its_batches() {
    let columns = four_rows().with("note", array(StringArray::from(vec!["a", "b", "c", "d"])));
    let population = validate(&columns).unwrap();
    assert_eq!(samples(&population), [7, 0, 4, 0]);
    assert_eq!(
        population.sample_of(RowIndex::new(2)),
        Ok((CacheId::new(1), SampleId::new(1)))
    );
    let kept = population.table().unwrap();
    assert_eq!(kept.schema.fields().len(), 4);
    for (kept, (_, given)) in kept.batches[0].columns().iter().zip(&columns.0) {
        assert!(kept.to_data().ptr_eq(&given.to_data()));
    }
}

#[test]
fn unedited_table_given_back_is_the_unedited_population() {
    let unedited = Population::unedited(two_caches()).unwrap();
    let all: Vec<_> = (0..8).collect();
    let given = validate(&Columns::of_samples(&two_caches(), &all, vec![1.0; 8])).unwrap();
    assert_eq!(given.digest(), unedited.digest());
    assert!(matches!(
        given.tables().parts().row_samples,
        RowSamples::Identity
    ));
    assert!(given.tables().has_equal_weights());
}

#[test]
fn digest_tells_tables_apart_that_draw_differently() {
    let table = |rows: &[u64], weights: Vec<f64>| {
        validate(&Columns::of_samples(&two_caches(), rows, weights))
            .unwrap()
            .digest()
    };
    let digests = [
        table(&[0, 1, 2], vec![1.0; 3]),
        table(&[0, 1, 2, 3], vec![1.0; 4]),
        table(&[0, 2, 1], vec![1.0; 3]),
        table(&[0, 1, 2], vec![1.0, 1.0, 2.0]),
        table(&[0, 1, 2], vec![1.0, 2.0, 1.0]),
        table(&[0, 2, 1], vec![1.0, 2.0, 1.0]),
    ];
    for (index, digest) in digests.iter().enumerate() {
        assert!(!digests[..index].contains(digest), "{index}");
    }
    assert_eq!(table(&[0, 2, 1], vec![5.0; 3]), digests[2]);
}

#[test]
fn table_without_rows_is_refused_with_and_without_batches() {
    let batch = four_rows().batch();
    let tables = [
        ActiveTable {
            schema: batch.schema(),
            batches: Vec::new(),
        },
        ActiveTable {
            schema: batch.schema(),
            batches: vec![batch.slice(0, 0)],
        },
    ];
    for table in tables {
        let refused = Population::from_table(two_caches(), &MetadataSchema::default(), table);
        assert_eq!(refused.unwrap_err(), SamplerError::EmptyTable);
    }
}

#[test]
fn weights_that_overflow_together_are_refused() {
    let huge = four_rows().with("weight", array(Float64Array::from(vec![1e308; 4])));
    assert_eq!(
        validate(&huge).unwrap_err(),
        SamplerError::WeightSum { rows: 4 }
    );
}

fn rows_of(refused: SamplerError) -> (&'static str, RowRule, String, u64, Vec<u64>) {
    let SamplerError::Rows {
        column,
        wanted,
        given,
        count,
        rows,
    } = refused
    else {
        panic!("{refused}")
    };
    (
        column,
        wanted,
        given,
        count,
        rows.into_iter().map(RowIndex::get).collect(),
    )
}

#[test]
fn illegal_weights_are_counted_and_the_first_five_named() {
    let rows: Vec<_> = (0..8).collect();
    let weights = [
        (vec![Some(1.0), Some(0.0), Some(2.0)], "0.0", vec![1]),
        (vec![Some(f64::NAN), Some(1.0)], "NaN", vec![0]),
        (vec![Some(1.0), Some(f64::INFINITY)], "inf", vec![1]),
        (vec![Some(1.0), None], "null", vec![1]),
        (vec![Some(-0.0), Some(1.0), Some(-2.5)], "-0.0", vec![0, 2]),
        (
            vec![
                Some(0.0),
                Some(1.0),
                None,
                Some(-1.0),
                Some(0.0),
                Some(0.0),
                None,
            ],
            "0.0",
            vec![0, 2, 3, 4, 5],
        ),
    ];
    for (weights, given, wanted) in weights {
        let count = weights
            .iter()
            .filter(|w| w.is_none_or(|w| !(w > 0.0 && w.is_finite())))
            .count();
        let ids = Columns::of_samples(
            &two_caches(),
            &rows[..weights.len()],
            vec![1.0; weights.len()],
        );
        let refused =
            validate(&ids.with("weight", array(Float64Array::from(weights)))).unwrap_err();
        let rule = RowRule::Weight;
        assert_eq!(
            rows_of(refused),
            ("weight", rule, given.to_owned(), count as u64, wanted)
        );
    }
    let integers = four_rows().with("weight", array(Int64Array::from(vec![3, 0, 1, 0])));
    let refused = rows_of(validate(&integers).unwrap_err());
    assert_eq!(
        refused,
        ("weight", RowRule::Weight, "0".to_owned(), 2, vec![1, 3])
    );
}

#[test]
fn ids_that_do_not_exist_are_counted_and_named() {
    let rule = RowRule::Cache { caches: 2 };
    let caches = four_rows().with("cache_id", array(Int64Array::from(vec![1, -1, 2, 0])));
    let refused = rows_of(validate(&caches).unwrap_err());
    assert_eq!(refused, ("cache_id", rule, "-1".to_owned(), 2, vec![1, 2]));
    let nulls = four_rows().with(
        "cache_id",
        array(UInt64Array::from(vec![Some(1), Some(0), None, Some(0)])),
    );
    let refused = rows_of(validate(&nulls).unwrap_err());
    assert_eq!(refused, ("cache_id", rule, "null".to_owned(), 1, vec![2]));
    // Sample 4 exists in the second cache only.
    let samples = four_rows().with("sample_id", array(UInt64Array::from(vec![5, 4, 0, 2])));
    let refused = rows_of(validate(&samples).unwrap_err());
    assert_eq!(
        refused,
        ("sample_id", RowRule::Sample, "5".to_owned(), 2, vec![0, 1])
    );
    let nulls = four_rows().with(
        "sample_id",
        array(Int8Array::from(vec![None, Some(0), Some(1), Some(-1)])),
    );
    let refused = rows_of(validate(&nulls).unwrap_err());
    assert_eq!(
        refused,
        (
            "sample_id",
            RowRule::Sample,
            "null".to_owned(),
            2,
            vec![0, 3]
        )
    );
}

#[test]
fn ids_of_a_single_cache_are_checked_like_those_of_many() {
    let identity = Arc::new(Identity::new([3]).unwrap());
    let table = |caches: Vec<u64>, samples: Vec<u64>| {
        let weights = array(Float64Array::from(vec![1.0; samples.len()]));
        let columns = Columns::new(
            array(UInt64Array::from(caches)),
            array(UInt64Array::from(samples)),
            weights,
        );
        let table = table_of(&columns.batch(), 10);
        Population::from_table(Arc::clone(&identity), &MetadataSchema::default(), table)
    };
    assert_eq!(
        samples(&table(vec![0, 0, 0], vec![2, 0, 2]).unwrap()),
        [2, 0, 2]
    );
    let refused = rows_of(table(vec![0, 1, 0], vec![2, 0, 2]).unwrap_err());
    let rule = RowRule::Cache { caches: 1 };
    assert_eq!(refused, ("cache_id", rule, "1".to_owned(), 1, vec![1]));
    let refused = rows_of(table(vec![0, 0, 0], vec![2, 3, u64::MAX]).unwrap_err());
    assert_eq!(
        refused,
        ("sample_id", RowRule::Sample, "3".to_owned(), 2, vec![1, 2])
    );
}

#[test]
fn rows_are_numbered_through_all_batches() {
    let weights: Vec<_> = (0..7000)
        .map(|row| if row % 1000 == 999 { -1.0 } else { 1.0 })
        .collect();
    let samples: Vec<_> = (0..7000).map(|row| row % 8).collect();
    let batch = Columns::of_samples(&two_caches(), &samples, weights).batch();
    let refused = Population::from_table(
        two_caches(),
        &MetadataSchema::default(),
        table_of(&batch, 300),
    );
    let (_, _, _, count, rows) = rows_of(refused.unwrap_err());
    assert_eq!((count, rows), (7, vec![999, 1999, 2999, 3999, 4999]));
}

#[test]
fn batch_that_differs_from_the_schema_is_refused() {
    let batch = four_rows().batch();
    let other = four_rows()
        .with("weight", array(StringArray::from(vec!["1"; 4])))
        .batch();
    let table = ActiveTable {
        schema: batch.schema(),
        batches: vec![batch, other],
    };
    let refused =
        Population::from_table(two_caches(), &MetadataSchema::default(), table).unwrap_err();
    assert!(matches!(refused, SamplerError::ColumnType { .. }));
}

#[test]
fn tables_of_other_caches_are_refused() {
    let population = validate(&four_rows()).unwrap();
    let other = Arc::new(Identity::new([9]).unwrap());
    let (tables, digest) = (population.tables().clone(), population.digest());
    let refused = Population::from_tables(other, tables.clone(), digest);
    assert!(matches!(
        refused,
        Err(SamplerError::DamagedTables { found: 8, .. })
    ));
    let taken = Population::from_tables(two_caches(), tables, digest).unwrap();
    assert_eq!(samples(&taken), samples(&population));
}

proptest! {
    #[test]
    fn chunks_and_offsets_leave_no_trace(
        rows in proptest::collection::vec((0_u64..8, 1_u32..5), 1..5000), offset in 0_usize..9, chunk in 1_usize..2000,
    ) {
        let (ids, weights): (Vec<_>, Vec<_>) =
            rows.into_iter().map(|(sample, weight)| (sample, f64::from(weight))).unzip();
        let batch = Columns::of_samples(&two_caches(), &ids, weights).batch();
        let offset = offset.min(batch.num_rows() - 1);
        let sliced = batch.slice(offset, batch.num_rows() - offset);
        let stored = MetadataSchema::default();
        let whole = Population::from_table(two_caches(), &stored, table_of(&sliced, usize::MAX / 2)).unwrap();
        let chunked = Population::from_table(two_caches(), &stored, table_of(&sliced, chunk)).unwrap();
        prop_assert_eq!(whole.digest(), chunked.digest());
        prop_assert_eq!(samples(&whole), &ids[offset..]);
        let sums = |population: &Population| population.tables().parts().weights.map(|w| w.sums.to_vec());
        prop_assert_eq!(sums(&whole), sums(&chunked));
    }
}

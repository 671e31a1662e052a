//! Whole caches of random rows come back, bit by bit, and have the bytes they had before.

use proptest::collection::vec;
use proptest::prelude::*;

use super::image::{ImageOptions, Row, build};
use super::read_image::{assert_same_rows, read};
use crate::{BatchLimits, Compression, MetadataType, MetadataValue};

fn any_value(value_type: MetadataType) -> BoxedStrategy<MetadataValue> {
    match value_type {
        MetadataType::Bool => any::<bool>().prop_map(MetadataValue::Bool).boxed(),
        MetadataType::Int64 => any::<i64>().prop_map(MetadataValue::Int64).boxed(),
        MetadataType::Float64 => any::<u64>()
            .prop_map(|bits| MetadataValue::Float64(f64::from_bits(bits)))
            .boxed(),
        MetadataType::String => "\\PC{0,9}|\u{0}|".prop_map(MetadataValue::String).boxed(),
    }
}

/// Payloads that compress, and payloads that don't.
fn any_payload() -> impl Strategy<Value = Vec<u8>> {
    let runs = vec((any::<u8>(), 1..60_usize), 0..6).prop_map(|runs| {
        runs.iter()
            .flat_map(|(byte, count)| std::iter::repeat_n(*byte, *count))
            .collect()
    });
    prop_oneof![vec(any::<u8>(), 0..120), runs]
}

fn any_rows() -> impl Strategy<Value = Vec<Row>> {
    let types = proptest::sample::subsequence(
        vec![
            MetadataType::Bool,
            MetadataType::Int64,
            MetadataType::Float64,
            MetadataType::String,
        ],
        0..=4,
    );
    types.prop_flat_map(|types| {
        let values: Vec<_> = types
            .iter()
            .map(|value_type| {
                let name = format!("{} ✓", value_type.name());
                any_value(*value_type).prop_map(move |value| (name.clone(), value))
            })
            .collect();
        vec((any_payload(), values), 1..20)
    })
}

fn any_options() -> impl Strategy<Value = ImageOptions> {
    let compression = prop_oneof![Just(Compression::None), Just(Compression::Lz4)];
    (
        compression,
        1..300_usize,
        1..6_u64,
        1..30_u64,
        proptest::option::of("\\PC{0,9}"),
    )
        .prop_map(
            |(compression, max_shard_bytes, rows, string_bytes, version)| ImageOptions {
                name: "ключ".to_owned(),
                version,
                compression,
                max_shard_bytes,
                limits: BatchLimits { rows, string_bytes },
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cache_of_random_rows_comes_back(rows in any_rows(), options in any_options()) {
        let files = build(&rows, &options).unwrap();
        assert_same_rows(&rows, &read(&files).unwrap());
        prop_assert_eq!(files, build(&rows, &options).unwrap());
    }
}

#[test]
fn cache_of_several_blocks_and_default_batches_comes_back() {
    let row = |number: i64| -> Row {
        let fields = vec![
            ("n".to_owned(), MetadataValue::Int64(number)),
            ("even".to_owned(), MetadataValue::Bool(number % 2 == 0)),
        ];
        (Vec::new(), fields)
    };
    let rows: Vec<Row> = (0..70_000).map(row).collect();
    let files = build(&rows, &ImageOptions::default()).unwrap();
    assert!(files["index.bin"].len() > 30 * 65_536);
    assert!(files["metadata.arrow"].len() > 8 * 65_536);
    let table = crate::BlockTable::decode(&files["blocks.bin"]).unwrap();
    assert_eq!(table.batch_ends(), [65_536, 70_000]);
    assert_same_rows(&rows, &read(&files).unwrap());
}

#[test]
fn batch_reaching_eight_mebibytes_of_text_closes() {
    let text = "x".repeat(1 << 20);
    let row = || {
        (
            Vec::new(),
            vec![("t".to_owned(), MetadataValue::String(text.clone()))],
        )
    };
    let rows: Vec<Row> = (0..10).map(|_| row()).collect();
    let files = build(&rows, &ImageOptions::default()).unwrap();
    let table = crate::BlockTable::decode(&files["blocks.bin"]).unwrap();
    assert_eq!(table.batch_ends(), [8, 10]);
    assert_same_rows(&rows, &read(&files).unwrap());
}

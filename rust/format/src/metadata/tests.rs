//! Schemas and the rows of a source.

use super::*;
use crate::{ErrorKind, FormatError};

type Field = (&'static str, MetadataValueRef<'static>);

fn int(name: &'static str) -> Field {
    (name, MetadataValueRef::Int64(1))
}

fn text(name: &'static str) -> Field {
    (name, "x".into())
}

fn encoder(fields: &[Field]) -> MetadataEncoder {
    let schema = MetadataSchema::infer(fields).unwrap();
    MetadataEncoder::new(schema, BatchLimits::default()).unwrap()
}

#[test]
fn schema_of_the_first_row_is_sorted_by_code_points() {
    let fields = [
        int("b"),
        text("ä"),
        int("B"),
        text("\u{10000}"),
        int("\u{ffff}"),
        int(""),
    ];
    let schema = MetadataSchema::infer(&fields).unwrap();
    let names: Vec<&str> = schema
        .columns()
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(names, ["", "B", "b", "ä", "\u{ffff}", "\u{10000}"]);
    assert_eq!(schema.columns()[3].value_type, MetadataType::String);
    assert_eq!(
        (schema.position("b"), schema.position("c"), schema.len()),
        (Some(2), None, 6)
    );
    assert!(MetadataSchema::infer(&[]).unwrap().is_empty());
}

#[test]
fn schema_with_reserved_or_repeated_names_is_refused() {
    for name in RESERVED_COLUMNS {
        let refused = MetadataSchema::infer(&[int("a"), int(name)]).unwrap_err();
        assert!(matches!(&refused, FormatError::ReservedColumn { column, .. } if column == name));
        assert_eq!(refused.kind(), ErrorKind::InvalidMetadata);
    }
    let refused = MetadataSchema::infer(&[int("a"), text("a")]);
    assert!(matches!(refused, Err(FormatError::RepeatedColumn { .. })));
}

#[test]
fn rows_in_any_order_of_fields_are_taken() {
    let mut encoder = encoder(&[int("a"), text("b"), int("c")]);
    for fields in [
        [int("a"), text("b"), int("c")],
        [int("c"), text("b"), int("a")],
        [text("b"), int("a"), int("c")],
        [int("a"), text("b"), int("c")],
    ] {
        encoder.push_row(&fields).unwrap();
    }
    assert_eq!(encoder.row_count(), 4);
}

#[test]
fn rows_of_another_shape_are_refused_by_row_and_column() {
    let mut encoder = encoder(&[int("a"), text("b")]);
    encoder.push_row(&[int("a"), text("b")]).unwrap();
    let refused = encoder.push_row(&[int("a")]).unwrap_err();
    match refused {
        FormatError::MissingColumn {
            row,
            column,
            expected,
        } => {
            assert_eq!(
                (row.get(), column.as_str(), expected),
                (1, "b", MetadataType::String)
            );
        }
        other => panic!("{other:?}"),
    }
    let refused = encoder
        .push_row(&[text("b"), int("a"), int("z")])
        .unwrap_err();
    match refused {
        FormatError::UnexpectedColumn { row, column, found } => {
            assert_eq!(
                (row.get(), column.as_str(), found),
                (1, "z", MetadataType::Int64)
            );
        }
        other => panic!("{other:?}"),
    }
    let refused = encoder
        .push_row(&[int("a"), ("b", MetadataValueRef::Float64(1.0))])
        .unwrap_err();
    match refused {
        FormatError::ColumnType {
            row,
            column,
            expected,
            found,
        } => {
            assert_eq!((row.get(), column.as_str()), (1, "b"));
            assert_eq!(
                (expected, found),
                (MetadataType::String, MetadataType::Float64)
            );
        }
        other => panic!("{other:?}"),
    }
    let refused = encoder.push_row(&[int("a"), ("a", MetadataValueRef::Bool(true)), text("b")]);
    assert!(matches!(refused, Err(FormatError::RepeatedColumn { column, .. }) if column == "a"));
    let refused = encoder.push_row(&[int("a"), text("b"), int("weight")]);
    assert!(matches!(refused, Err(FormatError::ReservedColumn { .. })));
    // None of the refused rows left a trace.
    encoder.push_row(&[text("b"), int("a")]).unwrap();
    assert_eq!(encoder.row_count(), 2);
    assert_eq!(encoder.finish().unwrap().batch_ends, [2]);
}

#[test]
fn bool_is_no_integer_and_integer_no_float() {
    let values = [
        MetadataValueRef::Bool(true),
        MetadataValueRef::Int64(1),
        MetadataValueRef::Float64(1.0),
        "1".into(),
    ];
    for first in &values {
        for later in &values {
            let mut encoder = encoder(&[("k", first.clone())]);
            let outcome = encoder.push_row(&[("k", later.clone())]);
            assert_eq!(outcome.is_ok(), first.value_type() == later.value_type());
        }
    }
}

#[test]
fn bytes_taken_early_and_late_make_the_same_file() {
    let rows: Vec<String> = (0..100).map(|number| "x".repeat(number % 7)).collect();
    let limits = BatchLimits {
        rows: 9,
        string_bytes: 20,
    };
    let encode = |take: usize| {
        let schema = MetadataSchema::infer(&[text("t")]).unwrap();
        let mut encoder = MetadataEncoder::new(schema, limits).unwrap();
        let mut bytes = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            encoder.push_row(&[("t", row.as_str().into())]).unwrap();
            if number % take == 0 {
                let pending = encoder.pending_bytes();
                bytes.extend(encoder.take_bytes());
                assert!(pending <= bytes.len() && encoder.pending_bytes() == 0);
            }
        }
        let tail = encoder.finish().unwrap();
        bytes.extend(tail.bytes);
        (bytes, tail.batch_ends)
    };
    let (bytes, ends) = encode(1);
    assert!(ends.len() > 100 / 9 && ends.last() == Some(&100));
    assert_eq!(encode(1000), (bytes.clone(), ends.clone()));
    assert_eq!(encode(13), (bytes, ends));
}

#[test]
fn type_names_come_back_and_values_keep_their_type() {
    for value in [
        MetadataValue::Bool(false),
        MetadataValue::Int64(i64::MIN),
        MetadataValue::Float64(-0.0),
        MetadataValue::String("é".to_owned()),
    ] {
        let value_type = value.value_type();
        assert_eq!(
            MetadataType::from_name(&value_type.to_string()),
            Some(value_type)
        );
        assert_eq!(value.as_ref().value_type(), value_type);
        assert_eq!(value.as_ref().into_owned(), value);
    }
    assert_eq!(MetadataType::from_name("int"), None);
}

//! Layouts of real files, of foreign files and of damaged ones.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, LargeStringArray,
    RecordBatch, StringArray,
};
use arrow_buffer::Buffer;
use arrow_ipc::MetadataVersion;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{DataType, Field, Schema};

use super::*;
use crate::metadata::{BatchLimits, MetadataEncoder, MetadataType as Type, MetadataValueRef};
use crate::{ErrorKind, FormatError, MetadataColumn, MetadataSchema, SampleId};

const ENDS: [u64; 2] = [3, 5];

fn schema(columns: &[(&str, Type)]) -> MetadataSchema {
    let column = |&(name, value_type): &(&str, Type)| MetadataColumn {
        name: name.to_owned(),
        value_type,
    };
    MetadataSchema::from_columns(columns.iter().map(column).collect()).unwrap()
}

fn typed_schema() -> MetadataSchema {
    schema(&[
        ("b", Type::Bool),
        ("f", Type::Float64),
        ("i", Type::Int64),
        ("t", Type::String),
    ])
}

fn typed_row(number: u64) -> [(&'static str, MetadataValueRef<'static>); 4] {
    let text = ["", "één", "abc", "🧪", "last"][usize::try_from(number).unwrap()];
    [
        ("b", MetadataValueRef::Bool(number.is_multiple_of(2))),
        ("f", MetadataValueRef::Float64(1.0 / number as f64)),
        ("i", MetadataValueRef::Int64(-number.cast_signed())),
        ("t", text.into()),
    ]
}

/// Five rows in batches of three and two.
fn typed_file() -> Vec<u8> {
    let limits = BatchLimits {
        rows: 3,
        ..BatchLimits::default()
    };
    let mut encoder = MetadataEncoder::new(typed_schema(), limits).unwrap();
    for number in 0..5 {
        encoder.push_row(&typed_row(number)).unwrap();
    }
    let tail = encoder.finish().unwrap();
    assert_eq!(tail.batch_ends, ENDS);
    tail.bytes
}

fn open(file: &[u8]) -> Result<MetadataLayout, FormatError> {
    MetadataLayout::open(&typed_schema(), &ENDS, file.len() as u64, file)
}

fn read_all(file: &[u8]) -> Result<(), FormatError> {
    let layout = open(file)?;
    for number in 0..5 {
        let row = layout.row(SampleId::new(number), file)?;
        for column in 0..4 {
            row.value(column)?;
        }
    }
    for batch in 0..2 {
        let buffer = Buffer::from(file.to_vec());
        layout.record_batch(batch, &typed_schema().arrow_schema(), &buffer)?;
    }
    Ok(())
}

/// A file that must be read: it has no mapping to borrow from.
struct ReadSource<'a>(&'a [u8]);

impl ByteSource for ReadSource<'_> {
    type Error = FormatError;

    fn bytes(&self, offset: u64, length: u64) -> Result<Cow<'_, [u8]>, FormatError> {
        Ok(Cow::Owned(self.0.bytes(offset, length)?.into_owned()))
    }
}

#[test]
fn values_borrowed_and_read_are_those_that_were_pushed() {
    let file = typed_file();
    let layout = open(&file).unwrap();
    let read = ReadSource(&file);
    assert_eq!(
        (
            layout.row_count(),
            layout.batch_count(),
            layout.column_count()
        ),
        (5, 2, 4)
    );
    for number in (0..5).chain([4, 0, 3, 2]) {
        let sample = SampleId::new(number);
        let borrowed = layout.row(sample, file.as_slice()).unwrap();
        let owned = layout.row(sample, &read).unwrap();
        for (column, (_, expected)) in typed_row(number).into_iter().enumerate() {
            assert_eq!(borrowed.value(column).unwrap(), expected);
            assert_eq!(owned.value(column).unwrap(), expected);
        }
    }
    let value = layout
        .row(SampleId::new(1), file.as_slice())
        .unwrap()
        .value(3)
        .unwrap();
    assert!(matches!(
        value,
        MetadataValueRef::String(Cow::Borrowed("één"))
    ));
}

#[test]
fn row_ends_come_from_batch_headers_where_nothing_lists_them() {
    let file = typed_file();
    let bytes = file.len() as u64;
    let open_with =
        |rows| MetadataLayout::open_unlisted(&typed_schema(), rows, bytes, file.as_slice());
    let layout = open_with(5).unwrap();
    assert_eq!((layout.row_count(), layout.batch_count()), (5, 2));
    for (number, expected) in [(2, "abc"), (3, "🧪"), (4, "last")] {
        let row = layout.row(SampleId::new(number), file.as_slice()).unwrap();
        assert_eq!(row.value(3).unwrap(), MetadataValueRef::from(expected));
    }
    for rows in [0, 4, 6, u64::MAX] {
        assert!(matches!(
            open_with(rows),
            Err(FormatError::Mismatch {
                field: "metadata rows",
                found: 5,
                ..
            })
        ));
    }
}

#[test]
fn rows_and_columns_beyond_the_last_are_absent() {
    let file = typed_file();
    let layout = open(&file).unwrap();
    for row in [5, 70_000, u64::MAX] {
        let refused = layout
            .row(SampleId::new(row), file.as_slice())
            .err()
            .unwrap();
        assert!(matches!(refused, FormatError::Absent { count: 5, found, .. } if found == row));
    }
    let row = layout.row(SampleId::new(4), file.as_slice()).unwrap();
    assert!(matches!(
        row.value(4),
        Err(FormatError::Absent {
            count: 4,
            found: 4,
            ..
        })
    ));
    let arrow = typed_schema().arrow_schema();
    let batch = layout.record_batch(2, &arrow, &Buffer::from(file.clone()));
    assert!(matches!(batch, Err(FormatError::Absent { count: 2, .. })));
}

#[test]
fn file_cut_anywhere_is_refused_at_open() {
    let file = typed_file();
    for length in 0..file.len() {
        let refused = open(&file[..length]).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{length}");
    }
    // Cut behind our back: the footer was read while the file was whole.
    let layout = open(&file).unwrap();
    layout.row(SampleId::new(0), file.as_slice()).unwrap();
    let cut = &file[..300];
    assert!(layout.row(SampleId::new(0), cut).unwrap().value(3).is_err());
    assert!(layout.row(SampleId::new(4), cut).is_err());
    let arrow = typed_schema().arrow_schema();
    assert!(
        layout
            .record_batch(0, &arrow, &Buffer::from(cut.to_vec()))
            .is_err()
    );
}

#[test]
fn schema_other_than_the_manifest_is_refused() {
    let file = typed_file();
    let typed = [
        ("b", Type::Bool),
        ("f", Type::Float64),
        ("i", Type::Int64),
        ("t", Type::String),
    ];
    let mut others = vec![schema(&typed[..3]), schema(&typed[1..]), schema(&[])];
    for number in 0..4 {
        let mut renamed = typed;
        renamed[number].0 = ["a", "e", "h", "s"][number];
        others.push(schema(&renamed));
        let mut retyped = typed;
        retyped[number].1 = typed[(number + 1) % 4].1;
        others.push(schema(&retyped));
    }
    others.push(schema(&[&typed[..], &[("z", Type::Bool)]].concat()));
    for other in others {
        let refused = MetadataLayout::open(&other, &ENDS, file.len() as u64, file.as_slice());
        assert!(
            matches!(refused, Err(FormatError::ColumnMismatch { .. })),
            "{other:?}"
        );
    }
}

#[test]
fn row_ends_other_than_the_batches_are_refused() {
    let file = typed_file();
    for ends in [&[5][..], &[3, 4, 5], &[]] {
        let refused =
            MetadataLayout::open(&typed_schema(), ends, file.len() as u64, file.as_slice());
        assert!(matches!(
            refused,
            Err(FormatError::Mismatch {
                field: "record batches",
                ..
            })
        ));
    }
    let layout =
        MetadataLayout::open(&typed_schema(), &[2, 5], file.len() as u64, file.as_slice()).unwrap();
    let refused = layout.row(SampleId::new(0), file.as_slice()).err();
    assert!(matches!(
        refused,
        Some(FormatError::Mismatch {
            field: "batch rows",
            expected: 2,
            found: 3,
            ..
        })
    ));
}

#[test]
fn damaged_text_is_refused_and_names_the_sample() {
    let file = typed_file();
    let layout = open(&file).unwrap();
    let batch = layout.batch(0).unwrap();
    let place = layout.columns(batch, file.as_slice()).unwrap()[3];
    let offsets = usize::try_from(place.values.offset).unwrap();
    let text = usize::try_from(place.text.offset).unwrap();
    let sample = SampleId::new(1);
    let refusal = |edited: &[u8]| {
        assert!(read_all(edited).is_err());
        let layout = open(edited).unwrap();
        let arrow = typed_schema().arrow_schema();
        let batch = layout.record_batch(0, &arrow, &Buffer::from(edited.to_vec()));
        assert!(batch.is_err());
        layout.row(sample, edited).unwrap().value(3).unwrap_err()
    };
    for end in [
        i64::MAX,
        -1,
        i64::MIN,
        place.text.bytes.cast_signed() + 1,
        -0x100,
    ] {
        let mut edited = file.clone();
        edited[offsets + 16..offsets + 24].copy_from_slice(&end.to_le_bytes());
        match refusal(&edited) {
            FormatError::OutOfRange { site, .. } => assert_eq!(site.sample, Some(sample)),
            other => panic!("{other:?}"),
        }
    }
    let mut edited = file.clone();
    edited[offsets + 8..offsets + 16].copy_from_slice(&6_u64.to_le_bytes());
    assert!(matches!(
        refusal(&edited),
        FormatError::OutOfRange {
            field: "text start",
            ..
        }
    ));
    let mut edited = file.clone();
    edited[text + 2] = 0xff;
    match refusal(&edited) {
        FormatError::InvalidUtf8 {
            site,
            covered_bytes: 5,
            valid_bytes: 2,
        } => {
            assert_eq!(
                (site.offset_bytes, site.sample),
                (text as u64, Some(sample))
            );
        }
        other => panic!("{other:?}"),
    }
}

fn foreign_file(columns: Vec<(Field, ArrayRef)>, version: MetadataVersion) -> Vec<u8> {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let schema = Arc::new(Schema::new(fields));
    let options = IpcWriteOptions::try_new(8, false, version).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
    writer
        .write(&RecordBatch::try_new(schema, arrays).unwrap())
        .unwrap();
    writer.into_inner().unwrap()
}

fn open_one(column: Type, file: &[u8]) -> Result<MetadataLayout, FormatError> {
    MetadataLayout::open(&schema(&[("k", column)]), &[2], file.len() as u64, file)
}

#[test]
fn text_with_narrow_offsets_is_read_as_the_same_type() {
    let array: ArrayRef = Arc::new(StringArray::from(vec!["één", "x"]));
    let file = foreign_file(
        vec![(Field::new("k", DataType::Utf8, false), array)],
        MetadataVersion::V5,
    );
    let layout = open_one(Type::String, &file).unwrap();
    for (row, text) in [(0, "één"), (1, "x")] {
        let value = layout
            .row(SampleId::new(row), file.as_slice())
            .unwrap()
            .value(0)
            .unwrap();
        assert_eq!(value, text.into());
    }
    let arrow = schema(&[("k", Type::String)]).arrow_schema();
    let batch = layout.record_batch(0, &arrow, &Buffer::from(file)).unwrap();
    let expected: ArrayRef = Arc::new(LargeStringArray::from(vec!["één", "x"]));
    assert_eq!(batch.column(0), &expected);
}

#[test]
fn columns_that_could_hold_other_values_are_refused() {
    let int64: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let int32: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let nulls: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None]));
    let bools: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let good = foreign_file(
        vec![(Field::new("k", DataType::Int64, false), Arc::clone(&int64))],
        MetadataVersion::V5,
    );
    open_one(Type::Int64, &good).unwrap();
    let cases = [
        (Type::Int64, Field::new("k", DataType::Int32, false), int32),
        (
            Type::Int64,
            Field::new("k", DataType::Int64, true),
            Arc::clone(&int64),
        ),
        (
            Type::Float64,
            Field::new("k", DataType::Float64, true),
            nulls,
        ),
        (
            Type::Int64,
            Field::new("k", DataType::Boolean, false),
            bools,
        ),
    ];
    for (value_type, field, array) in cases {
        let file = foreign_file(vec![(field, array)], MetadataVersion::V5);
        let refused = open_one(value_type, &file);
        assert!(matches!(refused, Err(FormatError::ColumnMismatch { .. })));
    }
    let old = foreign_file(
        vec![(Field::new("k", DataType::Int64, false), int64)],
        MetadataVersion::V4,
    );
    let refused = open_one(Type::Int64, &old);
    assert!(matches!(
        refused,
        Err(FormatError::Mismatch {
            field: "Arrow metadata version",
            ..
        })
    ));
}

/// A file of another writer, whose validity buffer says that its second row is null, though no row is.
fn file_with_validity() -> Vec<u8> {
    let field = |nullable| Schema::new(vec![Field::new("k", DataType::Int64, nullable)]);
    let array: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None]));
    let batch = RecordBatch::try_new(Arc::new(field(true)), vec![array]).unwrap();
    let mut writer = FileWriter::try_new(Vec::new(), &field(false)).unwrap();
    writer.write(&batch).unwrap();
    let mut file = writer.into_inner().unwrap();
    let node = [2_u64.to_le_bytes(), 1_u64.to_le_bytes()].concat();
    let at = file.windows(16).position(|bytes| bytes == node).unwrap();
    file[at + 8] = 0;
    file
}

#[test]
fn validity_of_ones_is_read_and_a_zero_in_it_refused_with_the_batch() {
    let mut file = file_with_validity();
    let layout = open_one(Type::Int64, &file).unwrap();
    let place = layout
        .columns(layout.batch(0).unwrap(), file.as_slice())
        .unwrap()[0];
    assert!(place.validity.bytes > 0);
    let arrow = schema(&[("k", Type::Int64)]).arrow_schema();
    assert!(
        layout
            .row(SampleId::new(1), file.as_slice())
            .unwrap()
            .value(0)
            .is_ok()
    );
    let mark = |file: &[u8], row| {
        let row = layout.row(SampleId::new(row), file).unwrap();
        row.check_validity(0)
    };
    assert!(mark(&file, 0).is_ok());
    match mark(&file, 1).unwrap_err() {
        FormatError::OutOfRange { site, field, .. } => {
            assert_eq!(
                (field, site.sample),
                ("validity bit", Some(SampleId::new(1)))
            );
        }
        other => panic!("{other:?}"),
    }
    let refused = layout.record_batch(0, &arrow, &Buffer::from(file.clone()));
    assert!(matches!(
        refused,
        Err(FormatError::OutOfRange {
            field: "valid rows",
            found: 1,
            ..
        })
    ));
    file[usize::try_from(place.validity.offset).unwrap()] |= 2;
    assert!(mark(&file, 1).is_ok());
    let batch = layout.record_batch(0, &arrow, &Buffer::from(file)).unwrap();
    assert_eq!(batch.column(0).null_count(), 0);
}

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, Decimal32Array, Decimal128Array, Decimal256Array, DictionaryArray,
    Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, LargeStringArray,
    NullArray, StringArray, StringViewArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_buffer::i256;
use arrow_schema::Field;

use super::*;
use crate::testing::{array, four_rows, stored, table_of, two_caches, validate, validate_with};
use crate::{Population, SamplerError};

type Half = <Float16Type as ArrowPrimitiveType>::Native;

#[test]
fn ids_of_every_width_mean_the_same() {
    let wanted = validate(&four_rows()).unwrap().digest();
    let ids: Vec<(ArrayRef, ArrayRef)> = vec![
        (
            array(Int8Array::from(vec![1, 0, 1, 0])),
            array(Int8Array::from(vec![4, 0, 1, 0])),
        ),
        (
            array(Int16Array::from(vec![1, 0, 1, 0])),
            array(UInt8Array::from(vec![4, 0, 1, 0])),
        ),
        (
            array(Int32Array::from(vec![1, 0, 1, 0])),
            array(UInt16Array::from(vec![4, 0, 1, 0])),
        ),
        (
            array(Int64Array::from(vec![1, 0, 1, 0])),
            array(UInt32Array::from(vec![4, 0, 1, 0])),
        ),
    ];
    for (caches, samples) in ids {
        let narrow = four_rows()
            .with("cache_id", caches)
            .with("sample_id", samples);
        assert_eq!(validate(&narrow).unwrap().digest(), wanted);
    }
}

#[test]
fn weights_of_every_type_mean_the_same() {
    let wanted = validate(&four_rows()).unwrap().digest();
    let decimal = |digits: Vec<i128>| Decimal128Array::from(digits).with_precision_and_scale(9, 2);
    let wide = [100, 200, 300, 400].map(i256::from_i128).to_vec();
    let half = Float32Array::from(vec![1.0, 2.0, 3.0, 4.0]);
    let weights: Vec<ArrayRef> = vec![
        array(half.clone()),
        array(half.unary::<_, Float16Type>(Half::from_f32)),
        array(Int8Array::from(vec![1, 2, 3, 4])),
        array(Int16Array::from(vec![1, 2, 3, 4])),
        array(Int32Array::from(vec![1, 2, 3, 4])),
        array(Int64Array::from(vec![1, 2, 3, 4])),
        array(UInt8Array::from(vec![1, 2, 3, 4])),
        array(UInt16Array::from(vec![1, 2, 3, 4])),
        array(UInt32Array::from(vec![1, 2, 3, 4])),
        array(UInt64Array::from(vec![1, 2, 3, 4])),
        array(decimal(vec![100, 200, 300, 400]).unwrap()),
        array(
            Decimal32Array::from(vec![10, 20, 30, 40])
                .with_precision_and_scale(5, 1)
                .unwrap(),
        ),
        array(
            Decimal256Array::from(wide)
                .with_precision_and_scale(40, 2)
                .unwrap(),
        ),
    ];
    for weights in weights {
        let given = weights.data_type().to_string();
        assert_eq!(
            validate(&four_rows().with("weight", weights))
                .unwrap()
                .digest(),
            wanted,
            "{given}"
        );
    }
}

#[test]
fn columns_of_types_that_mean_nothing_here_are_refused_by_name() {
    let ids: Vec<ArrayRef> = vec![
        array(Float64Array::from(vec![1.0, 0.0, 1.0, 0.0])),
        array(StringArray::from(vec!["1", "0", "1", "0"])),
        array(BooleanArray::from(vec![true, false, true, false])),
        array(NullArray::new(4)),
        array(Decimal128Array::from(vec![1, 0, 1, 0])),
        array(DictionaryArray::<Int8Type>::new(
            vec![1, 0, 1, 0].into(),
            array(UInt64Array::from(vec![0, 1])),
        )),
    ];
    for ids in ids {
        let given = ids.data_type().to_string();
        let wanted = WantedColumn::Integer;
        let column = "cache_id".to_owned();
        let refused = validate(&four_rows().with("cache_id", ids)).unwrap_err();
        assert_eq!(
            refused,
            SamplerError::ColumnType {
                column,
                wanted,
                given
            }
        );
    }
    let weights: Vec<ArrayRef> = vec![
        array(StringViewArray::from(vec!["1", "0", "1", "0"])),
        array(BooleanArray::from(vec![true; 4])),
        array(NullArray::new(4)),
    ];
    for weights in weights {
        let refused = validate(&four_rows().with("weight", weights)).unwrap_err();
        assert!(
            matches!(&refused, SamplerError::ColumnType { column, wanted: WantedColumn::Number, .. } if column == "weight"),
            "{refused}"
        );
    }
}

#[test]
fn text_is_text_in_every_encoding_and_may_hold_nulls() {
    let schema = stored("label", MetadataType::String);
    let views = array(StringViewArray::from(vec![
        Some("a"),
        None,
        Some("b"),
        Some("a"),
    ]));
    let keys = vec![0, 1, 0, 1];
    let labels: Vec<ArrayRef> = vec![
        array(StringArray::from(vec!["a", "b", "c", "d"])),
        array(LargeStringArray::from(vec!["a", "b", "c", "d"])),
        Arc::clone(&views),
        array(DictionaryArray::<UInt32Type>::new(keys.into(), views)),
    ];
    for label in labels {
        assert!(validate_with(&four_rows().with("label", label), &schema).is_ok());
    }
}

#[test]
fn stored_column_of_another_type_is_refused() {
    let kinds = [
        (MetadataType::Bool, array(Int8Array::from(vec![1; 4]))),
        (MetadataType::Int64, array(Int32Array::from(vec![1; 4]))),
        (MetadataType::Int64, array(UInt64Array::from(vec![1; 4]))),
        (
            MetadataType::Float64,
            array(Float32Array::from(vec![1.0; 4])),
        ),
        (
            MetadataType::String,
            array(BooleanArray::from(vec![true; 4])),
        ),
    ];
    for (kind, column) in kinds {
        let given = column.data_type().to_string();
        let table = four_rows().with("extra", column);
        let refused = validate_with(&table, &stored("extra", kind)).unwrap_err();
        let (column, wanted) = ("extra".to_owned(), WantedColumn::Stored(kind));
        assert_eq!(
            refused,
            SamplerError::ColumnType {
                column,
                wanted,
                given
            }
        );
    }
}

#[test]
fn missing_and_repeated_columns_are_refused() {
    for name in ["cache_id", "sample_id", "weight"] {
        let mut without = four_rows();
        without.0.retain(|(existing, _)| existing != name);
        let refused = validate(&without).unwrap_err();
        assert!(matches!(refused, SamplerError::MissingColumn { column, .. } if column == name));
        let batch = four_rows().batch();
        let twice = Field::new(name, DataType::Float64, true);
        let fields = batch
            .schema()
            .fields()
            .iter()
            .cloned()
            .chain([Arc::new(twice)])
            .collect::<Vec<_>>();
        let arrays = batch
            .columns()
            .iter()
            .chain([batch.column(2)])
            .cloned()
            .collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
        let refused = Population::from_table(
            two_caches(),
            &MetadataSchema::default(),
            table_of(&batch, 4),
        );
        let column = name.to_owned();
        assert_eq!(
            refused.unwrap_err(),
            SamplerError::RepeatedColumn { column, count: 2 }
        );
    }
    let missing = validate_with(&four_rows(), &stored("label", MetadataType::Int64)).unwrap_err();
    let wanted = WantedColumn::Stored(MetadataType::Int64);
    assert_eq!(
        missing,
        SamplerError::MissingColumn {
            column: "label".to_owned(),
            wanted
        }
    );
}

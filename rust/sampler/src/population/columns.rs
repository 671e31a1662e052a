//! The columns of an edited table: which must be there, of which types, and their values as the rules see them.
//!
//! Owns the accepted Arrow types and what each means. Must not judge values; that is `active`. Invariant: a
//! value means the same in every type that can hold it: widths are widened exactly, decimals and large
//! integers are rounded to the nearest float64. Text: `DRAWS.md`, "Table".

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use dataset_rt_format::{MetadataSchema, MetadataType};

use crate::error::{SamplerError, WantedColumn};
use crate::population::active::ActiveTable;
use crate::population::decimal::{decimal_value, wide_decimal_value};

pub(super) const CACHE_ID: &str = "cache_id";
pub(super) const SAMPLE_ID: &str = "sample_id";
pub(super) const WEIGHT: &str = "weight";

/// Rows whose values are looked at together; a block of one column fits the fastest memory.
pub(super) const BLOCK_ROWS: usize = 2048;

/// The columns that decide draws, of one batch.
pub(super) struct SamplingColumns<'a> {
    pub(super) caches: &'a dyn Array,
    pub(super) samples: &'a dyn Array,
    pub(super) weights: &'a dyn Array,
}

impl<'a> SamplingColumns<'a> {
    /// The columns of each batch of a table, after all columns of its schema were checked.
    pub(super) fn of_table(
        table: &'a ActiveTable,
        stored: &MetadataSchema,
    ) -> Result<Vec<Self>, SamplerError> {
        let positions = check_schema(&table.schema, stored)?;
        let batches = table.batches.iter().map(|batch| {
            if Arc::ptr_eq(batch.schema_ref(), &table.schema) {
                return Self::of_batch(batch, positions);
            }
            Self::of_batch(batch, check_schema(batch.schema_ref(), stored)?)
        });
        batches.collect()
    }

    fn of_batch(
        batch: &'a RecordBatch,
        [caches, samples, weights]: [usize; 3],
    ) -> Result<Self, SamplerError> {
        let column = |index: usize, name: &str, wanted| match batch.columns().get(index) {
            Some(column) => Ok(&**column),
            None => Err(SamplerError::MissingColumn {
                column: name.to_owned(),
                wanted,
            }),
        };
        Ok(Self {
            caches: column(caches, CACHE_ID, WantedColumn::Integer)?,
            samples: column(samples, SAMPLE_ID, WantedColumn::Integer)?,
            weights: column(weights, WEIGHT, WantedColumn::Number)?,
        })
    }
}

/// Positions of the sampling columns in a schema that has every column it must have.
pub(super) fn check_schema(
    schema: &Schema,
    stored: &MetadataSchema,
) -> Result<[usize; 3], SamplerError> {
    let caches = find(schema, CACHE_ID, WantedColumn::Integer)?;
    let samples = find(schema, SAMPLE_ID, WantedColumn::Integer)?;
    for column in stored.columns() {
        find(
            schema,
            &column.name,
            WantedColumn::Stored(column.value_type),
        )?;
    }
    let weights = find(schema, WEIGHT, WantedColumn::Number)?;
    Ok([caches, samples, weights])
}

fn find(schema: &Schema, name: &str, wanted: WantedColumn) -> Result<usize, SamplerError> {
    let mut named = schema
        .fields()
        .iter()
        .enumerate()
        .filter(|(_, field)| field.name() == name);
    let column = || name.to_owned();
    let Some((index, field)) = named.next() else {
        return Err(SamplerError::MissingColumn {
            column: column(),
            wanted,
        });
    };
    let more = named.count();
    if more > 0 {
        return Err(SamplerError::RepeatedColumn {
            column: column(),
            count: more + 1,
        });
    }
    if !holds(field.data_type(), wanted) {
        let given = field.data_type().to_string();
        return Err(SamplerError::ColumnType {
            column: column(),
            wanted,
            given,
        });
    }
    Ok(index)
}

fn holds(given: &DataType, wanted: WantedColumn) -> bool {
    match wanted {
        WantedColumn::Integer => given.is_integer(),
        WantedColumn::Number => given.is_integer() || given.is_floating() || given.is_decimal(),
        WantedColumn::Stored(MetadataType::Bool) => *given == DataType::Boolean,
        WantedColumn::Stored(MetadataType::Int64) => *given == DataType::Int64,
        WantedColumn::Stored(MetadataType::Float64) => *given == DataType::Float64,
        WantedColumn::Stored(MetadataType::String) => match given {
            DataType::Dictionary(_, values) => is_text(values),
            plain => is_text(plain),
        },
    }
}

fn is_text(given: &DataType) -> bool {
    matches!(
        given,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

/// Ids of some rows. One that is negative becomes `u64::MAX`, which is no id; so does whatever stands in the
/// place of a null. `None` for a type that [`check_schema`] refuses, or rows that do not exist.
pub(super) fn ids<'a>(
    array: &'a dyn Array,
    rows: Range<usize>,
    scratch: &'a mut Vec<u64>,
) -> Option<&'a [u64]> {
    fn signed(value: impl TryInto<u64>) -> u64 {
        value.try_into().unwrap_or(u64::MAX)
    }
    match array.data_type() {
        DataType::UInt64 => array.as_primitive_opt::<UInt64Type>()?.values().get(rows),
        DataType::UInt32 => widen::<UInt32Type, _>(array, rows, scratch, u64::from),
        DataType::UInt16 => widen::<UInt16Type, _>(array, rows, scratch, u64::from),
        DataType::UInt8 => widen::<UInt8Type, _>(array, rows, scratch, u64::from),
        DataType::Int64 => widen::<Int64Type, _>(array, rows, scratch, signed),
        DataType::Int32 => widen::<Int32Type, _>(array, rows, scratch, signed),
        DataType::Int16 => widen::<Int16Type, _>(array, rows, scratch, signed),
        DataType::Int8 => widen::<Int8Type, _>(array, rows, scratch, signed),
        _ => None,
    }
}

/// Weights of some rows as float64; `None` as for [`ids`].
pub(super) fn weights<'a>(
    array: &'a dyn Array,
    rows: Range<usize>,
    scratch: &'a mut Vec<f64>,
) -> Option<&'a [f64]> {
    match array.data_type() {
        DataType::Float64 => array.as_primitive_opt::<Float64Type>()?.values().get(rows),
        DataType::Float32 => widen::<Float32Type, _>(array, rows, scratch, f64::from),
        DataType::Float16 => widen::<Float16Type, _>(array, rows, scratch, f64::from),
        DataType::UInt64 => widen::<UInt64Type, _>(array, rows, scratch, |value| value as f64),
        DataType::UInt32 => widen::<UInt32Type, _>(array, rows, scratch, f64::from),
        DataType::UInt16 => widen::<UInt16Type, _>(array, rows, scratch, f64::from),
        DataType::UInt8 => widen::<UInt8Type, _>(array, rows, scratch, f64::from),
        DataType::Int64 => widen::<Int64Type, _>(array, rows, scratch, |value| value as f64),
        DataType::Int32 => widen::<Int32Type, _>(array, rows, scratch, f64::from),
        DataType::Int16 => widen::<Int16Type, _>(array, rows, scratch, f64::from),
        DataType::Int8 => widen::<Int8Type, _>(array, rows, scratch, f64::from),
        DataType::Decimal32(_, scale) => {
            let value = |digits| decimal_value(i128::from(digits), *scale);
            widen::<Decimal32Type, _>(array, rows, scratch, value)
        }
        DataType::Decimal64(_, scale) => {
            let value = |digits| decimal_value(i128::from(digits), *scale);
            widen::<Decimal64Type, _>(array, rows, scratch, value)
        }
        DataType::Decimal128(_, scale) => {
            let value = |digits| decimal_value(digits, *scale);
            widen::<Decimal128Type, _>(array, rows, scratch, value)
        }
        DataType::Decimal256(_, scale) => {
            let value = |digits| wide_decimal_value(digits, *scale);
            widen::<Decimal256Type, _>(array, rows, scratch, value)
        }
        _ => None,
    }
}

fn widen<'a, T: ArrowPrimitiveType, W>(
    array: &'a dyn Array,
    rows: Range<usize>,
    scratch: &'a mut Vec<W>,
    value: impl Fn(T::Native) -> W,
) -> Option<&'a [W]> {
    let narrow = array.as_primitive_opt::<T>()?.values().get(rows)?;
    scratch.clear();
    scratch.extend(narrow.iter().map(|narrow| value(*narrow)));
    Some(scratch)
}

/// The value of a row as text, for an error.
pub(super) fn value_text(array: &dyn Array, row: usize) -> String {
    fn native<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> Option<String> {
        Some(format!(
            "{:?}",
            array.as_primitive_opt::<T>()?.values().get(row)?
        ))
    }
    if !array.is_valid(row) {
        return "null".to_owned();
    }
    let text = match array.data_type() {
        DataType::UInt64 => native::<UInt64Type>(array, row),
        DataType::UInt32 => native::<UInt32Type>(array, row),
        DataType::UInt16 => native::<UInt16Type>(array, row),
        DataType::UInt8 => native::<UInt8Type>(array, row),
        DataType::Int64 => native::<Int64Type>(array, row),
        DataType::Int32 => native::<Int32Type>(array, row),
        DataType::Int16 => native::<Int16Type>(array, row),
        DataType::Int8 => native::<Int8Type>(array, row),
        _ => weights(array, row..row + 1, &mut Vec::new())
            .and_then(|weights| weights.first())
            .map(|weight| format!("{weight:?}")),
    };
    text.unwrap_or_else(|| array.data_type().to_string())
}

#[cfg(test)]
mod tests;

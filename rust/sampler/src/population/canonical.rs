//! A table in the one form in which it is handed out.
//!
//! Owns the order of columns and the types of ids and weights. Must not change a value or the order of rows. Invariant:
//! the table handed out makes the same population as the one that came in. Text: `DRAWS.md`, "Table".

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dataset_rt_format::MetadataSchema;

use crate::error::{SamplerError, WantedColumn};
use crate::population::active::{ActiveTable, unreadable};
use crate::population::columns::{CACHE_ID, SAMPLE_ID, WEIGHT, check_schema, ids, weights};

impl ActiveTable {
    /// The same rows: `cache_id` and `sample_id` as UInt64, stored columns, `weight` as Float64, then other columns.
    ///
    /// # Errors
    /// As [`Population::from_table`](crate::Population::from_table) for columns; none for a table that made one.
    ///
    /// # Cost
    /// Columns that have their type already are shared, not copied.
    pub fn canonical(&self, stored: &MetadataSchema) -> Result<Self, SamplerError> {
        let [caches, samples, weight] = check_schema(&self.schema, stored)?;
        let stored_columns = stored
            .columns()
            .iter()
            .filter_map(|column| self.schema.index_of(&column.name).ok());
        let mut order = vec![caches, samples];
        order.extend(stored_columns);
        order.push(weight);
        let others = (0..self.schema.fields().len()).filter(|index| !order.contains(index));
        order.extend(others.collect::<Vec<_>>());
        let schema = self.schema_of(&order);
        let batches = self.batches.iter().map(|batch| {
            let columns = order.iter().filter_map(|index| batch.columns().get(*index));
            let columns = columns
                .zip(schema.fields())
                .map(|(column, field)| typed(column, field.name()));
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let columns = columns.collect::<Result<_, _>>()?;
            RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options).map_err(
                |error| SamplerError::ColumnType {
                    column: CACHE_ID.to_owned(),
                    wanted: WantedColumn::Integer,
                    given: error.to_string(),
                },
            )
        });
        Ok(Self {
            batches: batches.collect::<Result<_, _>>()?,
            schema: Arc::clone(&schema),
        })
    }

    fn schema_of(&self, order: &[usize]) -> SchemaRef {
        let fields = order
            .iter()
            .filter_map(|index| self.schema.fields().get(*index))
            .map(|field| match field.name().as_str() {
                CACHE_ID | SAMPLE_ID => Arc::new(Field::new(field.name(), DataType::UInt64, false)),
                WEIGHT => Arc::new(Field::new(WEIGHT, DataType::Float64, false)),
                _ => Arc::clone(field),
            });
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }
}

fn typed(column: &ArrayRef, name: &str) -> Result<ArrayRef, SamplerError> {
    match (name, column.data_type()) {
        (CACHE_ID | SAMPLE_ID, DataType::UInt64) | (WEIGHT, DataType::Float64) => {
            Ok(Arc::clone(column))
        }
        (CACHE_ID | SAMPLE_ID, _) => {
            let mut scratch = Vec::new();
            let values = ids(column, 0..column.len(), &mut scratch)
                .ok_or_else(|| unreadable(name, WantedColumn::Integer, column))?;
            Ok(Arc::new(UInt64Array::from_iter_values(
                values.iter().copied(),
            )))
        }
        (WEIGHT, _) => {
            let mut scratch = Vec::new();
            let values = weights(column, 0..column.len(), &mut scratch)
                .ok_or_else(|| unreadable(name, WantedColumn::Number, column))?;
            Ok(Arc::new(Float64Array::from_iter_values(
                values.iter().copied(),
            )))
        }
        _ => Ok(Arc::clone(column)),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{BooleanArray, Int16Array, Int64Array, StringArray, UInt8Array};
    use dataset_rt_format::{MetadataColumn, MetadataType};

    use super::*;

    #[test]
    fn table_in_any_order_and_width_has_one_form_and_the_same_rows() {
        let stored = MetadataSchema::from_columns(vec![MetadataColumn {
            name: "flag".to_owned(),
            value_type: MetadataType::Bool,
        }])
        .unwrap();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("note", Arc::new(StringArray::from(vec!["a", "b"]))),
            (WEIGHT, Arc::new(Int64Array::from(vec![2, 3]))),
            ("flag", Arc::new(BooleanArray::from(vec![true, false]))),
            (SAMPLE_ID, Arc::new(Int16Array::from(vec![7, 1]))),
            (CACHE_ID, Arc::new(UInt8Array::from(vec![0, 0]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let table = ActiveTable {
            schema: batch.schema(),
            batches: vec![batch],
        };
        let canonical = table.canonical(&stored).unwrap();
        let names: Vec<_> = canonical
            .schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        assert_eq!(names, [CACHE_ID, SAMPLE_ID, "flag", WEIGHT, "note"]);
        let batch = &canonical.batches[0];
        assert_eq!(
            batch.column(1).as_ref(),
            &UInt64Array::from(vec![7, 1]) as &dyn arrow_array::Array
        );
        assert_eq!(
            batch.column(3).as_ref(),
            &Float64Array::from(vec![2.0, 3.0]) as &dyn arrow_array::Array
        );
        assert_eq!(
            canonical.canonical(&stored).unwrap().batches,
            canonical.batches
        );
    }
}

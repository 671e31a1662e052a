//! Rows gathered into one record batch.
//!
//! Owns the check of a row against the schema and the rule by which a batch closes. Must not write IPC.
//! Invariant: a refused row leaves the batch as it was. Format text: `FORMAT.md`, "metadata.arrow".

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, LargeStringBuilder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;

use super::{MetadataSchema, MetadataType, MetadataValueRef, RESERVED_COLUMNS};
use crate::error::{FormatError, SharedError};
use crate::ids::RowIndex;
use crate::limits::{BATCH_ROWS, BATCH_STRING_BYTES};

/// When a metadata batch closes. Writers of format 1 use the default; tests use smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// A batch closes when it has this many rows.
    pub rows: u64,
    /// A batch closes when its text values reach this many bytes.
    pub string_bytes: u64,
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self {
            rows: BATCH_ROWS,
            string_bytes: BATCH_STRING_BYTES,
        }
    }
}

enum ColumnBuilder {
    Bool(BooleanBuilder),
    Int64(Int64Builder),
    Float64(Float64Builder),
    String(LargeStringBuilder),
}

impl ColumnBuilder {
    fn new(value_type: MetadataType) -> Self {
        match value_type {
            MetadataType::Bool => Self::Bool(BooleanBuilder::new()),
            MetadataType::Int64 => Self::Int64(Int64Builder::new()),
            MetadataType::Float64 => Self::Float64(Float64Builder::new()),
            MetadataType::String => Self::String(LargeStringBuilder::new()),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Bool(builder) => Arc::new(builder.finish()),
            Self::Int64(builder) => Arc::new(builder.finish()),
            Self::Float64(builder) => Arc::new(builder.finish()),
            Self::String(builder) => Arc::new(builder.finish()),
        }
    }
}

/// Gathers rows of one schema until a batch closes.
pub(super) struct BatchBuilder {
    schema: MetadataSchema,
    arrow_schema: SchemaRef,
    limits: BatchLimits,
    columns: Vec<ColumnBuilder>,
    /// For each column, where the row before had its field: sources rarely change their order.
    places: Vec<usize>,
    rows_before: u64,
    rows: u64,
    string_bytes: u64,
}

impl BatchBuilder {
    pub(super) fn new(schema: MetadataSchema, limits: BatchLimits) -> Self {
        Self {
            arrow_schema: schema.arrow_schema(),
            columns: schema
                .columns()
                .iter()
                .map(|column| ColumnBuilder::new(column.value_type))
                .collect(),
            places: (0..schema.len()).collect(),
            schema,
            limits,
            rows_before: 0,
            rows: 0,
            string_bytes: 0,
        }
    }

    pub(super) const fn schema(&self) -> &MetadataSchema {
        &self.schema
    }

    /// Rows of this batch and all before it.
    pub(super) const fn row_count(&self) -> u64 {
        self.rows_before + self.rows
    }

    /// Adds a row, whatever the order of its fields; true when the batch is to be closed.
    pub(super) fn push(
        &mut self,
        fields: &[(&str, MetadataValueRef<'_>)],
    ) -> Result<bool, FormatError> {
        let row = RowIndex::new(self.row_count());
        self.match_fields(row, fields)?;
        for (builder, place) in self.columns.iter_mut().zip(&self.places) {
            let Some((_, value)) = fields.get(*place) else {
                continue;
            };
            match (builder, value) {
                (ColumnBuilder::Bool(builder), MetadataValueRef::Bool(value)) => {
                    builder.append_value(*value);
                }
                (ColumnBuilder::Int64(builder), MetadataValueRef::Int64(value)) => {
                    builder.append_value(*value);
                }
                (ColumnBuilder::Float64(builder), MetadataValueRef::Float64(value)) => {
                    builder.append_value(*value);
                }
                (ColumnBuilder::String(builder), MetadataValueRef::String(value)) => {
                    builder.append_value(value);
                    self.string_bytes += value.len() as u64;
                }
                // `match_fields` has compared the types.
                _ => {}
            }
        }
        self.rows += 1;
        Ok(self.rows >= self.limits.rows || self.string_bytes >= self.limits.string_bytes)
    }

    /// The batch gathered so far, if it has rows; the next one is empty.
    pub(super) fn take(&mut self) -> Result<Option<RecordBatch>, FormatError> {
        if self.rows == 0 {
            return Ok(None);
        }
        let rows = usize::try_from(self.rows).unwrap_or(usize::MAX);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let columns = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        self.rows_before += self.rows;
        self.rows = 0;
        self.string_bytes = 0;
        RecordBatch::try_new_with_options(Arc::clone(&self.arrow_schema), columns, &options)
            .map(Some)
            .map_err(|error| FormatError::Encode {
                what: "metadata batch",
                source: Arc::new(error) as SharedError,
            })
    }

    /// Finds each column's field in `places` and compares types; appends nothing.
    fn match_fields(
        &mut self,
        row: RowIndex,
        fields: &[(&str, MetadataValueRef<'_>)],
    ) -> Result<(), FormatError> {
        for (column, place) in self.schema.columns().iter().zip(&mut self.places) {
            let hinted = fields.get(*place).filter(|(name, _)| *name == column.name);
            let value = match hinted {
                Some((_, value)) => value,
                None => {
                    let found = fields
                        .iter()
                        .enumerate()
                        .find(|(_, field)| field.0 == column.name);
                    let Some((at, (_, value))) = found else {
                        return Err(FormatError::MissingColumn {
                            row,
                            column: column.name.clone(),
                            expected: column.value_type,
                        });
                    };
                    *place = at;
                    value
                }
            };
            if value.value_type() != column.value_type {
                return Err(FormatError::ColumnType {
                    row,
                    column: column.name.clone(),
                    expected: column.value_type,
                    found: value.value_type(),
                });
            }
        }
        if fields.len() == self.schema.len() {
            return Ok(());
        }
        Err(surplus_field(&self.schema, row, fields))
    }
}

/// All columns are there and still there are more fields: one is unknown, or one stands twice.
#[cold]
fn surplus_field(
    schema: &MetadataSchema,
    row: RowIndex,
    fields: &[(&str, MetadataValueRef<'_>)],
) -> FormatError {
    let unknown = fields
        .iter()
        .find(|(name, _)| schema.position(name).is_none());
    match unknown {
        Some((name, _)) if RESERVED_COLUMNS.contains(name) => FormatError::ReservedColumn {
            row,
            column: (*name).to_owned(),
        },
        Some((name, value)) => FormatError::UnexpectedColumn {
            row,
            column: (*name).to_owned(),
            found: value.value_type(),
        },
        None => {
            let twice = fields
                .iter()
                .enumerate()
                .find(|(at, (name, _))| fields.iter().skip(at + 1).any(|(other, _)| other == name));
            let column = twice
                .map(|(_, (name, _))| (*name).to_owned())
                .unwrap_or_default();
            FormatError::RepeatedColumn { row, column }
        }
    }
}

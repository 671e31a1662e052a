//! The schema of a cache: column names and types, sorted by name.
//!
//! Owns inference from the first row and the rules for names. Must not look at later rows. Invariant: names
//! rise strictly in code point order and none is reserved. Format text: `FORMAT.md`, "metadata.arrow".

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};

use super::{MetadataType, MetadataValueRef};
use crate::error::FormatError;
use crate::ids::RowIndex;

/// Names that the active table uses itself.
pub const RESERVED_COLUMNS: [&str; 3] = ["cache_id", "sample_id", "weight"];

/// Name and type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataColumn {
    /// The metadata key.
    pub name: String,
    /// The type of its values.
    pub value_type: MetadataType,
}

/// The columns of a cache, sorted by name in code point order. There may be none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetadataSchema {
    columns: Vec<MetadataColumn>,
}

impl MetadataSchema {
    /// Takes the columns of a source from its first row, whatever the order of its fields.
    ///
    /// # Errors
    ///
    /// [`FormatError::ReservedColumn`] and [`FormatError::RepeatedColumn`], with row 0.
    pub fn infer(fields: &[(&str, MetadataValueRef<'_>)]) -> Result<Self, FormatError> {
        let columns = fields.iter().map(|(name, value)| MetadataColumn {
            name: (*name).to_owned(),
            value_type: value.value_type(),
        });
        Self::from_columns(columns.collect())
    }

    /// A schema of columns in any order.
    ///
    /// # Errors
    ///
    /// [`FormatError::ReservedColumn`] and [`FormatError::RepeatedColumn`], with row 0.
    pub fn from_columns(mut columns: Vec<MetadataColumn>) -> Result<Self, FormatError> {
        let row = RowIndex::new(0);
        columns.sort_by(|left, right| left.name.cmp(&right.name));
        for column in &columns {
            if RESERVED_COLUMNS.contains(&column.name.as_str()) {
                return Err(FormatError::ReservedColumn {
                    row,
                    column: column.name.clone(),
                });
            }
        }
        for (left, right) in columns.iter().zip(columns.iter().skip(1)) {
            if left.name == right.name {
                return Err(FormatError::RepeatedColumn {
                    row,
                    column: right.name.clone(),
                });
            }
        }
        Ok(Self { columns })
    }

    /// The columns, sorted by name.
    pub fn columns(&self) -> &[MetadataColumn] {
        &self.columns
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Position of a column by name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns
            .binary_search_by(|column| column.name.as_str().cmp(name))
            .ok()
    }

    /// The Arrow schema of `metadata.arrow`: no field may be null.
    pub fn arrow_schema(&self) -> SchemaRef {
        let field = |column: &MetadataColumn| {
            Field::new(&column.name, column.value_type.arrow_type(), false)
        };
        Arc::new(Schema::new(
            self.columns.iter().map(field).collect::<Vec<_>>(),
        ))
    }
}

//! The stored columns of a batch, decoded when somebody asks for them.
//!
//! Owns the way from draws to an Arrow table. Must not read payloads. Invariant: one line per draw, in their order; columns and types are those of the caches.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, LargeStringBuilder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use dataset_rt_format::{MetadataType, MetadataValueRef};

use crate::caches::CacheSet;
use crate::error::ReaderError;
use crate::lengths::LengthWatch;
use crate::plan::PlannedDraw;

/// Stored columns of the samples of these draws.
///
/// # Errors
/// [`ReaderError::Cache`] for the first value that can't be read.
///
/// # Cost
/// As many values as draws and columns; payloads are not touched.
pub fn batch_metadata(
    caches: &CacheSet,
    draws: &[PlannedDraw],
) -> Result<RecordBatch, ReaderError> {
    let mut columns: Vec<_> = caches
        .schema()
        .columns()
        .iter()
        .map(|column| Column::new(column.value_type, draws.len()))
        .collect();
    let mut lengths = LengthWatch::default();
    for (number, draw) in draws.iter().enumerate() {
        lengths.look(caches, draws.get(number..).unwrap_or_default(), draw)?;
        append(caches, draw, &mut columns)?;
    }
    let arrays: Vec<_> = columns.into_iter().map(Column::finish).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(draws.len()));
    RecordBatch::try_new_with_options(caches.schema().arrow_schema(), arrays, &options)
        .map_err(ReaderError::table)
}

fn append(
    caches: &CacheSet,
    draw: &PlannedDraw,
    columns: &mut [Column],
) -> Result<(), ReaderError> {
    let cache = draw.cache;
    let in_cache = |source| ReaderError::Cache { cache, source };
    let opened = caches.get(cache).ok_or(ReaderError::NoSuchSample {
        cache,
        sample: draw.sample,
    })?;
    let row = opened.metadata_row(draw.sample).map_err(in_cache)?;
    for (number, column) in columns.iter_mut().enumerate() {
        column.append(&row.value(number).map_err(in_cache)?);
    }
    Ok(())
}

enum Column {
    Bool(BooleanBuilder),
    Int64(Int64Builder),
    Float64(Float64Builder),
    String(LargeStringBuilder),
}

impl Column {
    fn new(value_type: MetadataType, rows: usize) -> Self {
        match value_type {
            MetadataType::Bool => Self::Bool(BooleanBuilder::with_capacity(rows)),
            MetadataType::Int64 => Self::Int64(Int64Builder::with_capacity(rows)),
            MetadataType::Float64 => Self::Float64(Float64Builder::with_capacity(rows)),
            MetadataType::String => Self::String(LargeStringBuilder::with_capacity(rows, 0)),
        }
    }

    fn append(&mut self, value: &MetadataValueRef<'_>) {
        match (self, value) {
            (Self::Bool(column), MetadataValueRef::Bool(value)) => column.append_value(*value),
            (Self::Int64(column), MetadataValueRef::Int64(value)) => column.append_value(*value),
            (Self::Float64(column), MetadataValueRef::Float64(value)) => {
                column.append_value(*value);
            }
            (Self::String(column), MetadataValueRef::String(value)) => column.append_value(value),
            // Schemas of the caches were compared when they were opened, those of their files with it.
            _ => {}
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Bool(mut column) => Arc::new(column.finish()),
            Self::Int64(mut column) => Arc::new(column.finish()),
            Self::Float64(mut column) => Arc::new(column.finish()),
            Self::String(mut column) => Arc::new(column.finish()),
        }
    }
}

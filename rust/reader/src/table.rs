//! The active table as it leaves the core.
//!
//! Owns the table that caches come with: ids, stored columns, weight 1. Must not validate tables: the sampler does. Invariant: `weight` is the last column of an
//! unedited table, ids are UInt64, and rows stand in `cache_id`, `sample_id` order.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use dataset_rt_format::CacheId;
use dataset_rt_sampler::ActiveTable;
use dataset_rt_storage::load::LoadedCache;

use crate::caches::CacheSet;
use crate::error::ReaderError;

/// Every sample of every cache once, with weight 1.
///
/// # Errors
/// What storage finds in `metadata.arrow`.
///
/// # Cost
/// 24 bytes per row for ids and weight; stored columns stay in the mapped files.
pub(crate) fn unedited_table(caches: &CacheSet) -> Result<ActiveTable, ReaderError> {
    let mut fields = vec![
        Field::new("cache_id", DataType::UInt64, false),
        Field::new("sample_id", DataType::UInt64, false),
    ];
    let stored = caches.schema().arrow_schema();
    fields.extend(stored.fields().iter().map(|field| field.as_ref().clone()));
    fields.push(Field::new("weight", DataType::Float64, false));
    let schema = Arc::new(Schema::new(fields));
    let mut batches = Vec::new();
    for (id, cache) in caches.iter() {
        append_batches(id, cache, &schema, &mut batches)?;
    }
    Ok(ActiveTable { schema, batches })
}

fn append_batches(
    id: CacheId,
    cache: &LoadedCache,
    schema: &Arc<Schema>,
    batches: &mut Vec<RecordBatch>,
) -> Result<(), ReaderError> {
    let stored = cache
        .metadata_batches()
        .map_err(|source| ReaderError::Cache { cache: id, source })?;
    let mut first = 0_u64;
    for batch in stored {
        let rows = batch.num_rows();
        let end = first + rows as u64;
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
        columns.push(Arc::new(UInt64Array::from_value(u64::from(id.get()), rows)));
        columns.push(Arc::new(UInt64Array::from_iter_values(first..end)));
        columns.extend(batch.columns().iter().cloned());
        columns.push(Arc::new(Float64Array::from_value(1.0, rows)));
        batches
            .push(RecordBatch::try_new(Arc::clone(schema), columns).map_err(ReaderError::table)?);
        first = end;
    }
    Ok(())
}

//! Small tables for the tests of this crate.
//!
//! Must not be compiled into the library.

mod corpus;
mod foreign;

pub(crate) use corpus::repository_path;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, UInt64Array};
use dataset_rt_format::{MetadataColumn, MetadataSchema, MetadataType};

use crate::{ActiveTable, GlobalSample, Identity, Population, SamplerError, SamplingTables};

/// Named columns that become a batch.
#[derive(Clone)]
pub(crate) struct Columns(pub(crate) Vec<(String, ArrayRef)>);

impl Columns {
    /// The three columns that every table has.
    pub(crate) fn new(caches: ArrayRef, samples: ArrayRef, weights: ArrayRef) -> Self {
        let names = ["cache_id", "sample_id", "weight"].map(str::to_owned);
        Self(names.into_iter().zip([caches, samples, weights]).collect())
    }

    /// Rows that hold these samples, numbered through all caches.
    pub(crate) fn of_samples(identity: &Identity, samples: &[u64], weights: Vec<f64>) -> Self {
        let ids = samples
            .iter()
            .map(|sample| identity.locate(GlobalSample::new(*sample)).unwrap());
        let (caches, samples): (Vec<_>, Vec<_>) = ids
            .map(|(cache, sample)| (u64::from(cache.get()), sample.get()))
            .unzip();
        Self::new(
            Arc::new(UInt64Array::from(caches)),
            Arc::new(UInt64Array::from(samples)),
            Arc::new(Float64Array::from(weights)),
        )
    }

    /// The same with one more column, or another one of that name.
    pub(crate) fn with(mut self, name: &str, column: ArrayRef) -> Self {
        self.0.retain(|(existing, _)| existing != name);
        self.0.push((name.to_owned(), column));
        self
    }

    pub(crate) fn batch(&self) -> RecordBatch {
        RecordBatch::try_from_iter(self.0.clone()).unwrap()
    }
}

/// A table of one batch cut into chunks of `rows` rows.
pub(crate) fn table_of(batch: &RecordBatch, rows: usize) -> ActiveTable {
    let starts = (0..batch.num_rows()).step_by(rows);
    let chunk = |start| batch.slice(start, rows.min(batch.num_rows() - start));
    ActiveTable {
        schema: batch.schema(),
        batches: starts.map(chunk).collect(),
    }
}

/// Tables of one cache whose samples are drawn once each with these weights.
pub(crate) fn weighted(weights: &[f64]) -> SamplingTables {
    let identity = Identity::new([weights.len() as u64]).unwrap();
    let samples: Vec<_> = (0..weights.len() as u64).collect();
    let batch = Columns::of_samples(&identity, &samples, weights.to_vec()).batch();
    let table = table_of(&batch, batch.num_rows());
    let stored = MetadataSchema::default();
    Population::from_table(Arc::new(identity), &stored, table)
        .unwrap()
        .tables()
        .clone()
}

/// Tables of one cache whose samples are drawn once each with equal weights.
pub(crate) fn equal(rows: u64) -> SamplingTables {
    let identity = Arc::new(Identity::new([rows]).unwrap());
    Population::unedited(identity).unwrap().tables().clone()
}

pub(crate) fn array(column: impl Array + 'static) -> ArrayRef {
    Arc::new(column)
}

/// Two caches of 3 and 5 samples.
pub(crate) fn two_caches() -> Arc<Identity> {
    Arc::new(Identity::new([3, 5]).unwrap())
}

/// Four legal rows of [`two_caches`]: samples 7, 0, 4 and 0 again.
pub(crate) fn four_rows() -> Columns {
    Columns::of_samples(&two_caches(), &[7, 0, 4, 0], vec![1.0, 2.0, 3.0, 4.0])
}

/// Validates a table of [`two_caches`].
pub(crate) fn validate_with(
    columns: &Columns,
    stored: &MetadataSchema,
) -> Result<Population, SamplerError> {
    let batch = columns.batch();
    Population::from_table(
        two_caches(),
        stored,
        table_of(&batch, batch.num_rows().max(1)),
    )
}

/// Validates a table of [`two_caches`] without stored columns.
pub(crate) fn validate(columns: &Columns) -> Result<Population, SamplerError> {
    validate_with(columns, &MetadataSchema::default())
}

/// A schema of one stored column.
pub(crate) fn stored(name: &str, value_type: MetadataType) -> MetadataSchema {
    let column = MetadataColumn {
        name: name.to_owned(),
        value_type,
    };
    MetadataSchema::from_columns(vec![column]).unwrap()
}

//! The dataset as Python sees it.
//!
//! Owns the translation of its methods. Must not decide anything about tables, draws or windows. Invariant: validation and reads run without the GIL.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use dataset_rt_format::{CacheId, SampleId};
use dataset_rt_reader::{BatchShape, Dataset as CoreDataset, PlannedDraw, dump};
use dataset_rt_sampler::{ActiveTable, Tail};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::batches::BatchIterator;
use crate::convert::arrow::{ArrowTable, import_table};
use crate::convert::config::reader_fields;
use crate::convert::integer::whole_number;
use crate::convert::state::{state_from_dict, state_to_dict};
use crate::error::CoreError;
use crate::iterator::SampleIterator;
use crate::sample::{BytesSink, SampleFactory};
use crate::window::Window;
use crate::write::Signals;

/// Caches, the active table and a cursor; or the view of one rank of it.
#[pyclass(frozen, module = "dataset_rt._native")]
pub(crate) struct Dataset {
    core: CoreDataset,
    factory: PyOnceLock<SampleFactory>,
}

impl Dataset {
    pub(crate) fn new(core: CoreDataset) -> Self {
        Self {
            core,
            factory: PyOnceLock::new(),
        }
    }

    /// What makes samples that are read by identity.
    fn factory(&self, py: Python<'_>) -> &SampleFactory {
        let schema = |dataset: &CoreDataset| dataset.snapshot().caches().schema().clone();
        self.factory
            .get_or_init(py, || SampleFactory::new(py, &schema(&self.core)))
    }
}

/// Who a sample is, from two Python integers.
fn identity(
    cache: &Bound<'_, PyAny>,
    sample: &Bound<'_, PyAny>,
) -> Result<(CacheId, SampleId), CoreError> {
    let cache = whole_number("cache_id", cache)?;
    let sample = SampleId::new(whole_number("sample_id", sample)?);
    // No dataset has that many caches: the last id names none.
    let cache = CacheId::new(u32::try_from(cache).unwrap_or(u32::MAX));
    Ok((cache, sample))
}

#[pymethods]
impl Dataset {
    fn __len__(&self) -> Result<usize, CoreError> {
        usize::try_from(self.core.epoch_length()).map_err(CoreError::internal)
    }

    fn __iter__(&self, py: Python<'_>) -> Result<SampleIterator, CoreError> {
        Ok(SampleIterator::new(py, self.core.claim_window()?))
    }

    fn batches(
        &self,
        py: Python<'_>,
        batch_size: &Bound<'_, PyAny>,
        drop_last: bool,
    ) -> Result<BatchIterator, CoreError> {
        let shape = BatchShape::new(whole_number("batch_size", batch_size)?, drop_last)?;
        Ok(BatchIterator::new(py, self.core.claim_batches(shape)?))
    }

    #[getter]
    fn cache_paths(&self) -> Vec<std::path::PathBuf> {
        self.core.cache_paths()
    }

    #[getter]
    fn cache_urls(&self) -> Vec<Option<String>> {
        self.core.cache_urls()
    }

    #[getter]
    fn reader_config<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, CoreError> {
        Ok(reader_fields(py, self.core.snapshot().options())?)
    }

    #[getter]
    fn position(&self) -> u64 {
        self.core.position()
    }

    #[getter]
    fn rank(&self) -> (u64, u64) {
        (self.core.part().index(), self.core.part().count())
    }

    fn set_epoch_len(&self, epoch_len: &Bound<'_, PyAny>) -> Result<(), CoreError> {
        Ok(self
            .core
            .set_epoch_length(whole_number("epoch_len", epoch_len)?)?)
    }

    fn metadata(&self, py: Python<'_>) -> Result<ArrowTable, CoreError> {
        let table = py.detach(|| self.core.table())?;
        Ok(ArrowTable::new(table.schema, table.batches))
    }

    fn update_metadata(&self, py: Python<'_>, table: &Bound<'_, PyAny>) -> Result<(), CoreError> {
        let table = import_table(table)?;
        let table = ActiveTable {
            schema: table.schema,
            batches: table.batches,
        };
        Ok(py.detach(|| self.core.update_table(table))?)
    }

    fn skip(&self, draws: &Bound<'_, PyAny>) -> Result<(), CoreError> {
        Ok(self.core.skip(whole_number("n", draws)?)?)
    }

    fn state_dict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, CoreError> {
        Ok(state_to_dict(py, &self.core.state())?)
    }

    fn load_state_dict(&self, state: &Bound<'_, PyDict>) -> Result<(), CoreError> {
        Ok(self.core.load_state(&state_from_dict(state)?)?)
    }

    fn check_equal(&self, state: &Bound<'_, PyDict>) -> Result<(), CoreError> {
        Ok(self.core.check_equal(&state_from_dict(state)?)?)
    }

    #[pyo3(signature = (draws, start = None))]
    fn plan(
        &self,
        py: Python<'_>,
        draws: &Bound<'_, PyAny>,
        start: Option<&Bound<'_, PyAny>>,
    ) -> Result<ArrowTable, CoreError> {
        let draws = whole_number("n", draws)?;
        let start = start
            .map(|start| whole_number("start", start))
            .transpose()?;
        let plan = py.detach(|| self.core.plan(draws, start))?;
        plan_table(&plan)
    }

    #[pyo3(signature = (start, stop, by = None))]
    fn sampling_report(
        &self,
        py: Python<'_>,
        start: &Bound<'_, PyAny>,
        stop: &Bound<'_, PyAny>,
        by: Option<&str>,
    ) -> Result<ArrowTable, CoreError> {
        let (start, stop) = (whole_number("start", start)?, whole_number("stop", stop)?);
        let snapshot = self.core.snapshot();
        let signals = Signals::default();
        let check = signals.check();
        let table = py
            .detach(|| snapshot.sampling_report(start, stop, by, &check))
            .map_err(|error| signals.read_failure(py, error))?;
        Ok(ArrowTable::new(table.schema, table.batches))
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.core.stats();
        let fields = PyDict::new(py);
        fields.set_item("warm_reads", stats.warm_reads)?;
        fields.set_item("cold_reads", stats.cold_reads)?;
        fields.set_item("item_reads", stats.item_reads)?;
        fields.set_item("payload_bytes", stats.payload_bytes)?;
        fields.set_item("checked_records", stats.checked_records)?;
        fields.set_item("corrupt_skips", stats.corrupt_skips)?;
        fields.set_item("fetch_requests", stats.fetch_requests)?;
        fields.set_item("fetch_repeats", stats.fetch_repeats)?;
        fields.set_item("fetched_bytes", stats.fetched_bytes)?;
        fields.set_item("decode_seconds", stats.decode_time.as_secs_f64())?;
        fields.set_item("wait_seconds", stats.wait_time.as_secs_f64())?;
        Ok(fields)
    }

    fn draw_seed(&self, position: &Bound<'_, PyAny>) -> Result<u64, CoreError> {
        Ok(self
            .core
            .snapshot()
            .stream()
            .draw_seed(whole_number("position", position)?))
    }

    #[pyo3(signature = (index, count, *, drop_uneven = false, pad = false))]
    fn partition(
        &self,
        index: &Bound<'_, PyAny>,
        count: &Bound<'_, PyAny>,
        drop_uneven: bool,
        pad: bool,
    ) -> Result<Self, CoreError> {
        let (index, count) = (whole_number("index", index)?, whole_number("count", count)?);
        Ok(Self::new(self.core.partition(
            index,
            count,
            Tail::of_switches(drop_uneven, pad)?,
        )?))
    }

    fn get_items<'py>(
        &self,
        py: Python<'py>,
        ids: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    ) -> Result<Vec<Bound<'py, PyAny>>, CoreError> {
        let ids = ids.iter().map(|(cache, sample)| identity(cache, sample));
        let ids = ids.collect::<Result<Vec<_>, CoreError>>()?;
        let snapshot = self.core.snapshot();
        let payloads = self.core.read_samples(&ids, &mut BytesSink(py))?;
        let factory = self.factory(py);
        let samples = ids.iter().zip(payloads).map(|((cache, sample), payload)| {
            factory.make(snapshot.caches(), *cache, *sample, payload)
        });
        samples.collect()
    }

    fn get_item<'py>(
        &self,
        py: Python<'py>,
        cache_id: &Bound<'py, PyAny>,
        sample_id: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>, CoreError> {
        let (cache, sample) = identity(cache_id, sample_id)?;
        let snapshot = self.core.snapshot();
        let payload = self
            .core
            .read_sample(&snapshot, (cache, sample), &mut BytesSink(py))?;
        self.factory(py)
            .make(snapshot.caches(), cache, sample, payload)
    }

    fn dump(
        &self,
        py: Python<'_>,
        directory: std::path::PathBuf,
    ) -> Result<std::path::PathBuf, CoreError> {
        Ok(py.detach(|| dump(&self.core, Path::new(&directory)))?)
    }

    #[pyo3(signature = (*, claim = true, index = 0, count = 1, drop_uneven = false, pad = false))]
    fn window(
        &self,
        claim: bool,
        index: u64,
        count: u64,
        drop_uneven: bool,
        pad: bool,
    ) -> Result<Window, CoreError> {
        let coming = Window::part(&self.core.coming_window()?, index, count, drop_uneven, pad)?;
        if !claim {
            return Ok(coming);
        }
        Window::part(&self.core.claim_window()?, index, count, drop_uneven, pad)
    }
}

fn plan_table(plan: &[PlannedDraw]) -> Result<ArrowTable, CoreError> {
    let names = ["position", "row", "cache_id", "sample_id"];
    let fields = names.map(|name| Field::new(name, DataType::UInt64, false));
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let column = |value: fn(&PlannedDraw) -> u64| {
        Arc::new(UInt64Array::from_iter_values(plan.iter().map(value))) as _
    };
    let columns = vec![
        column(|draw| draw.position),
        column(|draw| draw.row.get()),
        column(|draw| u64::from(draw.cache.get())),
        column(|draw| draw.sample.get()),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(CoreError::internal)?;
    Ok(ArrowTable::new(schema, vec![batch]))
}

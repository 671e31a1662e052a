//! A batch as Python sees it.
//!
//! Owns how its parts become Python objects, each when it is first asked for. Must not read payloads: they are in the buffer. Invariant: nothing that is handed out
//! aliases a cache, and what the caller writes into one part changes no other.

use std::sync::{Arc, OnceLock};

use arrow_array::RecordBatch;
use dataset_rt_reader::{Batch, CacheSet, PlannedDraw, batch_metadata};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyMemoryView, PyRange, PySlice, PyTuple};

use crate::convert::arrow::ArrowTable;
use crate::convert::buffer::integers_view;
use crate::convert::column::column_values;
use crate::error::CoreError;
use crate::sample::SampleFactory;

/// Draws of one window: all payloads in one buffer, and who they are.
#[pyclass(frozen, module = "dataset_rt.api")]
pub(crate) struct SampleBatch {
    batch: Batch<Py<PyByteArray>>,
    caches: Arc<CacheSet>,
    factory: Arc<SampleFactory>,
    /// Whether decoding its metadata takes longer than letting others run meanwhile.
    is_long: bool,
    offsets: PyOnceLock<Py<PyAny>>,
    positions: PyOnceLock<Py<PyAny>>,
    cache_ids: PyOnceLock<Py<PyAny>>,
    sample_ids: PyOnceLock<Py<PyAny>>,
    metadata: OnceLock<RecordBatch>,
}

impl SampleBatch {
    pub(crate) fn new(
        batch: Batch<Py<PyByteArray>>,
        caches: &Arc<CacheSet>,
        factory: &Arc<SampleFactory>,
        is_long: bool,
    ) -> Self {
        Self {
            batch,
            caches: Arc::clone(caches),
            factory: Arc::clone(factory),
            is_long,
            offsets: PyOnceLock::new(),
            positions: PyOnceLock::new(),
            cache_ids: PyOnceLock::new(),
            sample_ids: PyOnceLock::new(),
            metadata: OnceLock::new(),
        }
    }

    /// The draws, in order.
    pub(crate) fn draws(&self) -> &[PlannedDraw] {
        &self.batch.draws
    }

    /// The stored columns, decoded once.
    fn table(&self, py: Python<'_>) -> Result<RecordBatch, CoreError> {
        if let Some(table) = self.metadata.get() {
            return Ok(table.clone());
        }
        let decode = || batch_metadata(&self.caches, &self.batch.draws);
        let table = match self.is_long {
            true => py.detach(decode),
            false => decode(),
        }?;
        Ok(self.metadata.get_or_init(|| table).clone())
    }

    /// A column of the draws, made once.
    fn column<'py>(
        &self,
        py: Python<'py>,
        made: &PyOnceLock<Py<PyAny>>,
        value: fn(&PlannedDraw) -> u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let make = || integers_view(py, "Q", self.batch.draws.iter().map(value)).map(Bound::unbind);
        Ok(made.get_or_try_init(py, make)?.bind(py).clone())
    }

    /// A draw and the place of its payload; negative numbers count from the end.
    fn draw(&self, number: isize) -> PyResult<(PlannedDraw, usize, usize)> {
        let count = self.batch.draws.len();
        let place = match usize::try_from(number) {
            Ok(place) => Some(place),
            Err(_) => count.checked_sub(number.unsigned_abs()),
        };
        let found = place.and_then(|place| {
            let draw = self.batch.draws.get(place)?;
            let start = self.batch.offsets.get(place)?;
            Some((*draw, *start, *self.batch.offsets.get(place + 1)?))
        });
        found.ok_or_else(|| PyIndexError::new_err(format!("sample {number} of a batch of {count}")))
    }

    /// A part of the buffer, if it still has the length that it came with.
    fn view<'py>(&self, py: Python<'py>, start: usize, end: usize) -> PyResult<Bound<'py, PyAny>> {
        let data = self.batch.data.bind(py);
        if Some(&data.len()) != self.batch.offsets.last() {
            return Err(PyValueError::new_err(
                "data of this batch was resized: its offsets no longer fit",
            ));
        }
        let [start, end] = [start, end].map(|at| isize::try_from(at).unwrap_or(isize::MAX));
        PyMemoryView::from(data)?.get_item(PySlice::new(py, start, end, 1))
    }

    /// The one size that all payloads have.
    fn common_size(&self) -> Result<usize, CoreError> {
        let ends = self.batch.offsets.get(1..).unwrap_or_default();
        let sizes = self
            .batch
            .offsets
            .iter()
            .zip(ends)
            .map(|(start, end)| end - start);
        let (least, most) = sizes.fold((usize::MAX, 0), |(least, most), size| {
            (size.min(least), size.max(most))
        });
        if least == most {
            return Ok(most);
        }
        Err(CoreError::option(
            "payload size",
            format_args!("from {least} to {most} bytes"),
            "one size in the whole batch; use payload(i) or offsets",
        ))
    }
}

#[pymethods]
impl SampleBatch {
    fn __len__(&self) -> usize {
        self.batch.draws.len()
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let numbers = PyRange::new(py, 0, slf.len()?.cast_signed())?;
        let builtins = py.import(pyo3::intern!(py, "builtins"))?;
        builtins.call_method1(
            pyo3::intern!(py, "map"),
            (slf.getattr(pyo3::intern!(py, "__getitem__"))?, numbers),
        )
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let first = self.batch.draws.first().map_or(0, |draw| draw.position);
        format!(
            "<SampleBatch of {} samples from position {first} on, {} bytes>",
            self.batch.draws.len(),
            self.batch.data.bind(py).len()
        )
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        number: isize,
    ) -> Result<Bound<'py, PyAny>, CoreError> {
        let (draw, start, end) = self.draw(number)?;
        let payload = self
            .view(py, start, end)?
            .call_method0(pyo3::intern!(py, "tobytes"))?
            .cast_into::<PyBytes>()
            .map_err(PyErr::from)?;
        self.factory
            .make(&self.caches, draw.cache, draw.sample, payload)
    }

    fn payload<'py>(&self, py: Python<'py>, number: isize) -> PyResult<Bound<'py, PyAny>> {
        let (_, start, end) = self.draw(number)?;
        self.view(py, start, end)
    }

    #[getter]
    fn data(&self, py: Python<'_>) -> Py<PyByteArray> {
        self.batch.data.clone_ref(py)
    }

    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let make = || {
            let offsets = self.batch.offsets.iter().map(|offset| *offset as u64);
            integers_view(py, "q", offsets).map(Bound::unbind)
        };
        Ok(self.offsets.get_or_try_init(py, make)?.bind(py).clone())
    }

    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.column(py, &self.positions, |draw| draw.position)
    }

    #[getter]
    fn cache_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.column(py, &self.cache_ids, |draw| u64::from(draw.cache.get()))
    }

    #[getter]
    fn sample_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.column(py, &self.sample_ids, |draw| draw.sample.get())
    }

    #[getter]
    fn metadata(&self, py: Python<'_>) -> Result<ArrowTable, CoreError> {
        let table = self.table(py)?;
        Ok(ArrowTable::new(table.schema(), vec![table]))
    }

    fn columns<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, CoreError> {
        let table = self.table(py)?;
        let columns = PyDict::new(py);
        for (field, values) in table.schema().fields().iter().zip(table.columns()) {
            columns.set_item(field.name(), column_values(py, values)?)?;
        }
        Ok(columns)
    }

    #[pyo3(
        signature = (shape = None, dtype = None),
        text_signature = "($self, shape=None, dtype='uint8')"
    )]
    fn stacked<'py>(
        &self,
        py: Python<'py>,
        shape: Option<Vec<usize>>,
        dtype: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>, CoreError> {
        let size = self.common_size()?;
        let numpy = py.import("numpy")?;
        let dtype = match dtype {
            Some(dtype) => dtype,
            None => pyo3::intern!(py, "uint8").clone().into_any(),
        };
        let dtype = numpy.call_method1("dtype", (dtype,))?;
        let item: usize = dtype.getattr("itemsize")?.extract()?;
        let shape = shape.unwrap_or_else(|| vec![size.checked_div(item).unwrap_or(0)]);
        let bytes = shape
            .iter()
            .try_fold(item, |bytes, length| bytes.checked_mul(*length));
        if bytes != Some(size) {
            return Err(CoreError::option(
                "shape",
                format_args!("{shape:?} of {dtype}"),
                &format!("{size} bytes for each payload"),
            ));
        }
        let lengths = std::iter::once(self.batch.draws.len()).chain(shape);
        let shape = PyTuple::new(py, lengths.collect::<Vec<_>>())?;
        let data = self.view(py, 0, size.saturating_mul(self.batch.draws.len()))?;
        Ok(numpy.call_method1("ndarray", (shape, dtype, data))?)
    }
}

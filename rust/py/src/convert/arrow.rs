//! Tables in and out by the Arrow PyCapsule stream interface.
//!
//! Owns the two crossings of an Arrow C stream. Must not judge a table: which columns and values are legal is the sampler's business; the only refusals here
//! are things that are no Arrow table at all. Invariant: a stream is consumed at most once, and what Rust keeps is owned by Arrow buffers, never by Python.
//! Interface: <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.

#![expect(unsafe_code, reason = "a C stream is imported through its raw pointer")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Field, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const STREAM_NAME: &std::ffi::CStr = c"arrow_array_stream";

/// A table that came in: its schema and its batches, in order.
pub(crate) struct ImportedTable {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

/// Why a stream could not be imported.
pub(crate) enum ImportError {
    /// A column has a type that Arrow for Rust can't hold.
    Column { column: String, given: String },
    /// The producer failed, or what it sent contradicts itself.
    Stream { reason: String },
    /// Not an Arrow table at all.
    Python(PyErr),
}

impl From<PyErr> for ImportError {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

/// Imports any object with `__arrow_c_stream__`.
///
/// # Errors
/// `TypeError` when the object has no such method or returns something else; [`ImportError::Column`] names a column whose type can't be held.
///
/// # Cost
/// No copy of values: the buffers stay the producer's and are released when the last array is dropped.
pub(crate) fn import_table(table: &Bound<'_, PyAny>) -> Result<ImportedTable, ImportError> {
    let method = table.getattr("__arrow_c_stream__").map_err(|_| {
        let given = table.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("a table with the Arrow PyCapsule stream interface (such as polars.DataFrame) is wanted, not {given}"))
    })?;
    let capsule = method.call0()?;
    let capsule = capsule
        .cast::<PyCapsule>()
        .map_err(|_| PyTypeError::new_err("__arrow_c_stream__ did not return a PyCapsule"))?;
    let pointer = capsule.pointer_checked(Some(STREAM_NAME))?;
    // SAFETY: by the PyCapsule interface a capsule of this name points to an initialised, aligned ArrowArrayStream that stays valid while the capsule lives;
    // we hold the capsule for the whole call. `from_raw` moves the stream out and marks the original as released, so its destructor won't release it again.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) };
    // A producer that breaks the interface can make the importer panic; that must not reach Python as one.
    catch_unwind(AssertUnwindSafe(|| read_stream(stream))).unwrap_or_else(|_| {
        Err(ImportError::Stream {
            reason: "the Arrow stream contradicts its own schema".to_owned(),
        })
    })
}

fn read_stream(mut stream: FFI_ArrowArrayStream) -> Result<ImportedTable, ImportError> {
    if let Some(column) = unsupported_column(&mut stream) {
        return Err(column);
    }
    let reader = RecordBatchStreamReader::try_new(stream).map_err(stream_error)?;
    let schema = reader.schema();
    let batches = reader
        .collect::<Result<Vec<_>, _>>()
        .map_err(stream_error)?;
    Ok(ImportedTable { schema, batches })
}

fn stream_error(error: ArrowError) -> ImportError {
    ImportError::Stream {
        reason: error.to_string(),
    }
}

/// Finds the first column whose type has no Arrow counterpart here; the importer itself would only name the type.
fn unsupported_column(stream: &mut FFI_ArrowArrayStream) -> Option<ImportError> {
    let get_schema = stream.get_schema()?;
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the callback belongs to this very stream, which is not yet released, and `schema` is a valid place for the result.
    let code = unsafe { get_schema(&raw mut *stream, &raw mut schema) };
    if code != 0 {
        return None;
    }
    schema.children().find_map(|child| {
        // Producers disagree on the buffers of such a column.
        if child.format() == "n" {
            return Some(ImportError::Column {
                column: child.name().unwrap_or_default().to_owned(),
                given: "null".to_owned(),
            });
        }
        let failed = Field::try_from(child).err()?;
        let given = if child.format().is_empty() {
            failed.to_string()
        } else {
            format!("Arrow format {:?}", child.format())
        };
        Some(ImportError::Column {
            column: child.name().unwrap_or_default().to_owned(),
            given,
        })
    })
}

/// A table on its way out: any consumer of the interface (Polars, pyarrow, DuckDB …) takes it without a copy.
#[pyclass(frozen, module = "dataset_rt._native")]
pub(crate) struct ArrowTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl ArrowTable {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
}

#[pymethods]
impl ArrowTable {
    /// Number of rows.
    #[getter]
    fn row_count(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Exports the table; `requested_schema` is a wish that the interface allows to ignore.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = arrow_array::RecordBatchIterator::new(
            self.batches.clone().into_iter().map(Ok),
            self.schema.clone(),
        );
        PyCapsule::new_with_value(
            py,
            FFI_ArrowArrayStream::new(Box::new(batches)),
            STREAM_NAME,
        )
    }
}

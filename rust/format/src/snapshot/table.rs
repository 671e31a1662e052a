//! `table.arrow`: the active table as an Arrow IPC file.
//!
//! Owns the call of the Arrow writer and reader. Must not judge columns: the sampler did when the table became active. Invariant: types, names and values come back
//! as they went in. Format text: `SNAPSHOT.md`, "Directory".

use std::io::{Cursor, Write};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, SchemaRef};

use crate::error::{FormatError, Region, SharedError, Site};
use crate::files::CacheFile;

/// Writes a table.
///
/// # Errors
///
/// [`FormatError::Encode`] with what Arrow or `out` answered.
pub fn encode_table(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    out: impl Write,
) -> Result<(), FormatError> {
    let write = || -> Result<(), ArrowError> {
        let mut writer = FileWriter::try_new(out, schema)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()
    };
    write().map_err(|error| FormatError::Encode {
        what: "table.arrow",
        source: Arc::new(error) as SharedError,
    })
}

/// Reads a table.
///
/// # Errors
///
/// [`FormatError::Malformed`] with what Arrow answered.
///
/// # Cost
///
/// Copies and validates every value.
pub fn decode_table(file: &[u8]) -> Result<(SchemaRef, Vec<RecordBatch>), FormatError> {
    let read = || -> Result<_, ArrowError> {
        let reader = FileReader::try_new(Cursor::new(file), None)?;
        let schema = reader.schema();
        Ok((schema, reader.collect::<Result<Vec<_>, _>>()?))
    };
    read().map_err(|error| FormatError::Malformed {
        site: Site::new(CacheFile::SnapshotTable, Region::File, 0),
        what: "Arrow table",
        source: Arc::new(error) as SharedError,
    })
}

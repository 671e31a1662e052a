//! `metadata.arrow`, made piece by piece while rows arrive.
//!
//! Owns the IPC framing and the row ends of batches. Must not write to files: the caller takes encoded bytes
//! and puts them where it likes. Invariant: memory holds one batch and its encoding, whatever the row count.
//! Format text: `FORMAT.md`, "metadata.arrow".

use std::sync::Arc;

use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;

use super::batch::BatchBuilder;
use super::{BatchLimits, MetadataSchema, MetadataValueRef};
use crate::error::{FormatError, SharedError};

/// Encodes rows of one schema into the bytes of `metadata.arrow`.
pub struct MetadataEncoder {
    batch: BatchBuilder,
    file: FileWriter<Vec<u8>>,
    batch_ends: Vec<u64>,
}

/// The last bytes of `metadata.arrow`, and the row ends for `blocks.bin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataTail {
    /// Bytes after those taken before.
    pub bytes: Vec<u8>,
    /// Rows before the end of each batch.
    pub batch_ends: Vec<u64>,
}

impl MetadataEncoder {
    /// An encoder without rows. Writers of format 1 pass `BatchLimits::default()`.
    ///
    /// # Errors
    ///
    /// [`FormatError::Encode`] where the schema can't be framed.
    pub fn new(schema: MetadataSchema, limits: BatchLimits) -> Result<Self, FormatError> {
        let batch = BatchBuilder::new(schema, limits);
        let file =
            FileWriter::try_new(Vec::new(), &batch.schema().arrow_schema()).map_err(encode)?;
        Ok(Self {
            batch,
            file,
            batch_ends: Vec::new(),
        })
    }

    /// The schema every row must have.
    pub const fn schema(&self) -> &MetadataSchema {
        self.batch.schema()
    }

    /// Rows pushed so far; also the number of the next row.
    pub const fn row_count(&self) -> u64 {
        self.batch.row_count()
    }

    /// Adds the next row, whatever the order of its fields.
    ///
    /// # Errors
    ///
    /// [`FormatError::MissingColumn`], [`FormatError::UnexpectedColumn`], [`FormatError::ColumnType`],
    /// [`FormatError::RepeatedColumn`] or [`FormatError::ReservedColumn`] with the number of the row. A
    /// refused row leaves the encoder as it was.
    ///
    /// # Cost
    ///
    /// A copy of the values; now and then the framing of a batch.
    pub fn push_row(&mut self, fields: &[(&str, MetadataValueRef<'_>)]) -> Result<(), FormatError> {
        if self.batch.push(fields)? {
            self.close_batch()?;
        }
        Ok(())
    }

    /// Bytes encoded and not yet taken; they follow those of the call before.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(self.file.get_mut())
    }

    /// Number of bytes that [`Self::take_bytes`] would give.
    pub fn pending_bytes(&self) -> usize {
        self.file.get_ref().len()
    }

    /// Closes the last batch and the file.
    ///
    /// # Errors
    ///
    /// [`FormatError::Encode`] where framing fails.
    pub fn finish(mut self) -> Result<MetadataTail, FormatError> {
        self.close_batch()?;
        let bytes = self.file.into_inner().map_err(encode)?;
        Ok(MetadataTail {
            bytes,
            batch_ends: self.batch_ends,
        })
    }

    fn close_batch(&mut self) -> Result<(), FormatError> {
        if let Some(batch) = self.batch.take()? {
            self.file.write(&batch).map_err(encode)?;
            self.batch_ends.push(self.batch.row_count());
        }
        Ok(())
    }
}

fn encode(error: ArrowError) -> FormatError {
    FormatError::Encode {
        what: "metadata.arrow",
        source: Arc::new(error) as SharedError,
    }
}

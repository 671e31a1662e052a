//! The layout of a whole `metadata.arrow`, decoded batch by batch when first needed.
//!
//! Owns the step from row to batch. Must not touch a batch that nobody asked for. Invariant: opening costs
//! O(batches), a batch's header is decoded at most once per thread that races for it, values are never kept.
//! Format text: `FORMAT.md`, "metadata.arrow".

use std::sync::OnceLock;

use super::batch_header::{ColumnPlace, declared_rows, decode_batch_header};
use super::footer::{BatchPlace, ColumnKind, FooterParts, decode_footer};
use super::{ByteSource, MetadataRow};
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;
use crate::ids::SampleId;
use crate::limits::BATCH_ROWS;
use crate::metadata::MetadataSchema;

/// Where every value of `metadata.arrow` stands.
#[derive(Debug)]
pub struct MetadataLayout {
    kinds: Vec<ColumnKind>,
    batches: Vec<Batch>,
}

#[derive(Debug)]
pub(super) struct Batch {
    pub(super) first_row: u64,
    pub(super) rows: u64,
    place: BatchPlace,
    columns: OnceLock<Box<[ColumnPlace]>>,
}

impl MetadataLayout {
    /// Reads the footer and compares it with the manifest's schema and the row ends of `blocks.bin`.
    ///
    /// # Errors
    ///
    /// A located finding of kind `Corrupt`, or what the source answers.
    ///
    /// # Cost
    ///
    /// O(columns + batches) time and memory; reads no batch.
    pub fn open<S: ByteSource + ?Sized>(
        schema: &MetadataSchema,
        batch_ends: &[u64],
        file_bytes: u64,
        source: &S,
    ) -> Result<Self, S::Error> {
        let FooterParts { kinds, places } =
            decode_footer(schema, Some(batch_ends.len()), file_bytes, source)?;
        Ok(Self::of_parts(kinds, places, batch_ends))
    }

    /// Reads the footer of a file whose row ends stand in its batch headers alone, and compares it with the schema.
    ///
    /// # Errors
    ///
    /// As for [`Self::open`]; [`FormatError::Mismatch`] where the batches have not `row_count` rows together.
    ///
    /// # Cost
    ///
    /// O(columns + batches) time and memory; reads each batch's header.
    pub fn open_unlisted<S: ByteSource + ?Sized>(
        schema: &MetadataSchema,
        row_count: u64,
        file_bytes: u64,
        source: &S,
    ) -> Result<Self, S::Error> {
        let FooterParts { kinds, places } = decode_footer(schema, None, file_bytes, source)?;
        let mut batch_ends = Vec::with_capacity(places.len());
        let mut end = 0_u64;
        for place in &places {
            end = end.saturating_add(declared_rows(place, source)?);
            batch_ends.push(end);
        }
        if end != row_count {
            let site = Site::new(CacheFile::Metadata, Region::Footer, 0);
            return Err(FormatError::Mismatch {
                site,
                field: "metadata rows",
                expected: row_count,
                found: end,
            }
            .into());
        }
        let layout = Self::of_parts(kinds, places, &batch_ends);
        // What a header declares about its columns is compared now, as nothing else vouches for it.
        for batch in &layout.batches {
            layout.columns(batch, source)?;
        }
        Ok(layout)
    }

    fn of_parts(kinds: Vec<ColumnKind>, places: Vec<BatchPlace>, batch_ends: &[u64]) -> Self {
        let starts = std::iter::once(&0).chain(batch_ends);
        let batches = places.into_iter().zip(starts.zip(batch_ends));
        let batches = batches.map(|(place, (start, end))| Batch {
            first_row: *start,
            rows: end.saturating_sub(*start),
            place,
            columns: OnceLock::new(),
        });
        Self {
            kinds,
            batches: batches.collect(),
        }
    }

    /// Number of record batches.
    pub fn batch_count(&self) -> usize {
        self.batches.len()
    }

    /// Number of rows.
    pub fn row_count(&self) -> u64 {
        self.batches
            .last()
            .map_or(0, |batch| batch.first_row + batch.rows)
    }

    /// Number of columns.
    pub fn column_count(&self) -> usize {
        self.kinds.len()
    }

    /// Finds the row of a sample; its values are read by [`MetadataRow::value`].
    ///
    /// # Errors
    ///
    /// [`FormatError::Absent`] beyond the last row; a located finding where the batch header is damaged; what
    /// the source answers.
    ///
    /// # Cost
    ///
    /// O(log batches); the first row of a batch also decodes its header.
    #[inline]
    pub fn row<'a, S: ByteSource + ?Sized>(
        &'a self,
        sample: SampleId,
        source: &'a S,
    ) -> Result<MetadataRow<'a, S>, S::Error> {
        let row = sample.get();
        let Some(batch) = self.batch_of(row) else {
            let count = self.row_count();
            return Err(FormatError::Absent {
                what: "metadata row",
                count,
                found: row,
            }
            .into());
        };
        let columns = self.columns(batch, source)?;
        Ok(MetadataRow::new(
            sample,
            row - batch.first_row,
            columns,
            source,
        ))
    }

    #[inline]
    fn batch_of(&self, row: u64) -> Option<&Batch> {
        // Without much text all batches but the last have the same number of rows.
        let guess = usize::try_from(row / BATCH_ROWS).ok()?;
        match self.batches.get(guess) {
            Some(batch) if batch.holds(row) => Some(batch),
            _ => {
                let after = self.batches.partition_point(|batch| batch.first_row <= row);
                self.batches
                    .get(after.checked_sub(1)?)
                    .filter(|batch| batch.holds(row))
            }
        }
    }

    pub(super) fn batch(&self, number: usize) -> Option<&Batch> {
        self.batches.get(number)
    }

    #[inline]
    pub(super) fn columns<'a, S: ByteSource + ?Sized>(
        &'a self,
        batch: &'a Batch,
        source: &S,
    ) -> Result<&'a [ColumnPlace], S::Error> {
        if let Some(columns) = batch.columns.get() {
            return Ok(columns);
        }
        let columns = decode_batch_header(&self.kinds, batch.rows, &batch.place, source)?;
        Ok(batch.columns.get_or_init(|| columns))
    }
}

impl Batch {
    #[inline]
    fn holds(&self, row: u64) -> bool {
        row >= self.first_row && row - self.first_row < self.rows
    }
}

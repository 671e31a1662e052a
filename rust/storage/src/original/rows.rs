//! The index of a cache of the original system.
//!
//! Owns: the reads that lead from a 24-byte row to the payload behind its envelope. Must not: judge bytes; the format
//! crate does.
//! Invariant: an envelope is read only where it lies within its shard.
//! Format text: `ORIGINAL.md`, "index.bin", "Records".

use std::sync::Arc;

use dataset_rt_format::original::{ORIGINAL_ROW_BYTES, ORIGINAL_ROW_LEN};
use dataset_rt_format::{
    ByteSource, Compression, IndexRow, OriginalManifest, OriginalRecord, SampleId,
};

use crate::durable::DirHandle;
use crate::load::RecordPlace;
use crate::read::{CheckedFile, Fault, Shards};

/// An open `index.bin` and the manifest that it is compared with.
pub(crate) struct OriginalRows {
    pub(super) manifest: Arc<OriginalManifest>,
    index: CheckedFile,
}

impl OriginalRows {
    pub(crate) fn new(manifest: Arc<OriginalManifest>, index: CheckedFile) -> Self {
        Self { manifest, index }
    }

    /// Where the record of a sample is, envelope included.
    pub(crate) fn place(&self, sample: SampleId) -> Result<RecordPlace, Fault> {
        let record = self.record(sample)?;
        Ok(RecordPlace {
            shard: record.shard,
            offset_bytes: record.offset_bytes,
            stored_bytes: record.bytes,
            // How much comes out stands in the record itself; its length is the least there is to do.
            decoded_bytes: match record.compression {
                Compression::None => 0,
                Compression::Lz4 => record.bytes,
            },
        })
    }

    /// Where the payload of a sample is; reads the first bytes of the record.
    pub(crate) fn payload(
        &self,
        dir: &DirHandle,
        shards: &Shards,
        sample: SampleId,
    ) -> Result<IndexRow, Fault> {
        let record = self.record(sample)?;
        record.payload_row(|offset_bytes, out| {
            let part = IndexRow {
                offset_bytes,
                stored_bytes: u32::try_from(out.len()).unwrap_or(u32::MAX),
                ..record.whole_row()
            };
            shards.read(dir, sample, &part, out)
        })
    }

    pub(super) fn record(&self, sample: SampleId) -> Result<OriginalRecord, Fault> {
        let row = self
            .index
            .array::<ORIGINAL_ROW_BYTES>(sample.get() * ORIGINAL_ROW_LEN)?;
        Ok(OriginalRecord::decode(&self.manifest, sample, &row)?)
    }
}

//! The cache format of `dataset_rt`: given bytes, a value or a located error; given a value, bytes.
//!
//! Owns every structure of format 1, and reading those of the original system. Must not open files, start threads, read clocks or know Python.
//! Invariant: the same input gives the same bytes, for ever, and decoding any bytes ends in a value or an
//! error that says where, with memory bounded by the input. The authority is `proto_format/FORMAT.md`.
#![forbid(unsafe_code)]

pub mod blocks;
pub mod checksum;
mod coding;
pub mod error;
pub mod files;
pub mod ids;
pub mod index;
mod json;
pub mod limits;
pub mod manifest;
pub mod metadata;
pub mod origin;
pub mod original;
pub mod record;
pub mod snapshot;

pub use blocks::{BlockHasher, BlockSums, BlockTable, BlockedFile};
pub use checksum::{Digest128, FileHasher, FileSeal, block_checksum, record_checksum};
pub use error::{ErrorFacts, ErrorKind, FormatError, Region, SharedError, Site};
pub use files::CacheFile;
pub use ids::{
    ByteLen, ByteOffset, CacheId, Checksum, DrawIndex, RowIndex, SampleId, Seed, ShardId,
};
pub use index::{IndexAudit, IndexRow, IndexView, decode_index_row, encode_index_row};
pub use manifest::{
    Features, Manifest, SourceInfo, check_source_name, decode_manifest, encode_manifest,
};
pub use metadata::{
    BatchLimits, ByteSource, MetadataColumn, MetadataEncoder, MetadataLayout, MetadataRow,
    MetadataSchema, MetadataTail, MetadataType, MetadataValue, MetadataValueRef,
};
pub use origin::{Origin, Timestamp, decode_origin, encode_origin};
pub use original::{
    OriginalManifest, OriginalRecord, OriginalShard, Sha256Digest, decode_original_manifest,
};
pub use record::{
    Codec, Compression, RecordHead, check_payload_bytes, check_record, decode_record, encode_record,
};

// Tests and builders name this crate alike.
#[cfg(test)]
extern crate self as dataset_rt_format;
#[cfg(test)]
mod testing;

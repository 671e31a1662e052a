//! Opening finished caches and checking them.

mod cache;
mod file_hash;
mod files;
mod manifest;
mod map;
mod plain;
mod plain_record;
mod rows;
mod sample_metadata;
mod verify;
mod verify_file;
mod verify_samples;

pub use cache::{LoadedCache, OpenOptions};
pub use files::{read_manifest, read_origin};
pub use manifest::{CacheManifest, FileHash, ListedFile};
pub(crate) use map::Map;
pub use plain::map_file;
pub use plain_record::PlainRecord;
pub use rows::RecordPlace;
pub use sample_metadata::SampleMetadata;
pub use verify::{Damage, VerifyProgress, VerifyReport, verify_cache};
pub(crate) use verify_file::FileCheck;

//! Opening finished caches and checking them.

mod cache;
mod files;
mod map;
mod plain;
mod verify;
mod verify_file;

pub use cache::{LoadedCache, OpenOptions, SampleMetadata};
pub use files::{read_manifest, read_origin};
pub(crate) use map::Map;
pub use plain::map_file;
pub use verify::{Damage, VerifyProgress, VerifyReport};

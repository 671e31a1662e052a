//! Caches on disk: a directory that exists completely or not at all, and checked bytes out of it.
//!
//! Owns: writing a cache, publishing it, opening it, checking it, handing out the bytes of a record.
//! Must not: know sampling, windows of draws or Python, or print.
//! Invariant: under its final name a cache is complete from the first moment to the last. All calls that sync, rename,
//! lock or read files are in [`durable`]; all mapping is in `load/map.rs`, the only file with `unsafe`.
//! Format text: `FORMAT.md`.
#![deny(unsafe_code)]

// Metadata is handed out as the file has it, and Arrow's buffers are in the order of the machine.
#[cfg(target_endian = "big")]
compile_error!("caches are little-endian files that are mapped as they are; this machine is not");

mod convert;
pub mod durable;
mod error;
mod facts;
mod interrupt;
pub mod load;
pub mod memory;
mod original;
mod read;
pub mod write;

pub use convert::{Conversion, ConvertProgress};
pub use error::{Effect, StorageError};
pub use interrupt::{CHECK_INTERVAL, InterruptCheck};
pub use load::{
    CacheManifest, Damage, LoadedCache, OpenOptions, SampleMetadata, VerifyProgress, VerifyReport,
    read_manifest, read_origin, verify_cache,
};
pub use write::{
    Begin, CacheWriter, Endings, FinishedCache, OnVersionChange, Pushed, WriteOptions,
    WriteProgress, WriteReport, WriteStages, find_finished, sweep_temporaries,
};

#[cfg(test)]
mod tests;

//! Caches in object storage, read through a store on the local disk.
//!
//! Owns: sending a cache to an object store, opening one there, which bytes are fetched and when, and what of them stays on the disk. Must not: speak the protocol of
//! any object store (a [`Transport`] does), know draws, or know Python.
//! Invariant: a record is marked as resident only after its checksum was compared, and every reader compares it again: whatever a server, a power cut or another
//! process does, no wrong byte is handed out.
//! Format text: `STORE.md`.
#![forbid(unsafe_code)]

mod error;
mod evict;
mod fetcher;
mod folder;
mod lease;
mod options;
mod patience;
mod plan;
mod queue;
mod remote;
mod replica;
mod request;
mod resident;
mod store;
mod stored;
mod transport;
mod upload;
mod view;

pub use error::{ReadFault, ReplicaError};
pub use options::StoreOptions;
pub use replica::Replica;
pub use resident::is_in_store;
pub use store::{Announcement, Awaited, FetchStats, Store};
pub use transport::{Connect, ObjectFacts, TakeBytes, Transport, TransportFault};
pub use upload::{UploadProgress, UploadReport, upload};

#[cfg(test)]
mod testing;

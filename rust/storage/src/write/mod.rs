//! Writing a cache: rows in, a published directory out.

mod begin;
mod block;
mod cache_writer;
mod endings;
mod finish;
mod options;
mod progress;
mod sealed_file;
mod shards;
mod syncs;
mod workspace;

pub use begin::{Begin, FinishedCache, find_finished, sweep_temporaries};
pub use cache_writer::{CacheWriter, Pushed};
pub use endings::Endings;
pub use finish::WriteReport;
pub use options::{OnVersionChange, WriteOptions};
pub use progress::{WriteProgress, WriteStages};

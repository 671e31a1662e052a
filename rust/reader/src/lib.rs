//! From a dataset to delivered samples: snapshot, plan, schedule, fetch, deliver.
//!
//! Owns the meeting of sampling and storage, what is in flight, and the files that share a snapshot between processes. Must not know Python or write to a terminal.
//! Invariant: what an iterator delivers depends on its snapshot and its window alone, never on threads, read-ahead or time. Texts: `DRAWS.md`, `SNAPSHOT.md`.
#![forbid(unsafe_code)]

mod arrivals;
mod batch;
mod batch_metadata;
mod caches;
mod clock;
mod coming;
mod coming_units;
mod config;
mod dataset;
mod deliver;
mod error;
mod fetch;
mod item_watch;
mod items;
mod lengths;
mod orders;
mod places;
mod plan;
mod report;
mod schedule;
mod share;
mod snapshot;
mod stats;
mod table;
mod window;

pub use batch::{Batch, BatchIterator, BatchShape, BatchSink, VecBatchSink};
pub use batch_metadata::batch_metadata;
pub use caches::{CacheSet, check_schema, open_cache};
pub use coming_units::ComingUnits;
pub use config::{OnCorrupt, ReaderOptions};
pub use dataset::Dataset;
pub use deliver::{Delivered, Delivery, Readiness, SampleIterator};
pub use error::ReaderError;
pub use fetch::{PayloadSink, Undelivered, VecSink};
pub use items::ItemSink;
pub use places::{Place, StoreAccess, is_object_url, open_places};
pub use plan::PlannedDraw;
pub use share::{SharedFiles, dump, open_dump, open_shared};
pub use snapshot::Snapshot;
pub use stats::ReadStats;
pub use window::ClaimedWindow;

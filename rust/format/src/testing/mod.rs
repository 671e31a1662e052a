//! What tests of this crate share: whole caches in memory, golden sources, fuzz targets.

mod cases;
mod corpus;
mod golden;
mod golden_snapshots;
mod image;
mod mutations;
mod read_image;
mod round_trip;
pub(crate) mod targets;

//! Populations: the samples that exist and the table that says which of them are drawn.

mod active;
mod canonical;
mod columns;
mod decimal;
mod digest;
mod identity;
mod mapping;
mod scan;

pub use active::{ActiveTable, Population};
pub use identity::{GlobalSample, Identity};

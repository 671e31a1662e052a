//! Sampling of `dataset_rt`: (population, weights, seed, position) → rows.
//!
//! Owns which tables are legal and which row every position draws. Must not open files, start threads, read
//! clocks or know Python. Invariant: a draw is a function of (table, mode, seed, position), so resume is an
//! integer. The authority is `proto_format/DRAWS.md`.
#![forbid(unsafe_code)]

// The fuzz target names this crate as others do.
#[cfg(test)]
extern crate self as dataset_rt_sampler;

mod draw;
mod error;
mod facts;
#[cfg(test)]
mod histories;
mod population;
#[cfg(test)]
mod slow_model;
#[cfg(test)]
mod statistics;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod vectors;

pub use draw::{
    Cursor, CycleOrder, DrawMode, DrawStream, LAST_POSITION, MAX_ROWS, Partition, PositionRun,
    RowSamples, STATE_VERSION, SamplingReport, SamplingTables, StreamKey, StreamState, TableParts,
    Tail, WeightParts, Window, WindowProgress, draw_seed,
};
pub use error::{
    NAMED_ROWS, RowRule, SamplerError, StateField, TablePart, TableRule, WantedColumn,
};
pub use population::{ActiveTable, GlobalSample, Identity, Population};

//! Sampling of `dataset_rt`: (population, weights, seed, position) → rows.
//!
//! Owns which tables are legal and which row every position draws. Must not open files, start threads, read
//! clocks or know Python. Invariant: a draw is a function of (table, mode, seed, position), so resume is an
//! integer. The authority is `proto_format/DRAWS.md`.
#![forbid(unsafe_code)]

mod draw;
mod error;
mod facts;
mod population;
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

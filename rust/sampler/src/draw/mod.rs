//! Draw streams: position → row, windows of positions, and their state.

mod cumulative;
mod cycle_order;
mod each_once;
mod exponential;
mod inclusion;
mod keys;
mod logarithm_table;
mod partition;
mod permutation;
mod philox;
mod report;
mod splitters;
mod state;
mod stream;
mod tables;
mod window;

pub(crate) use cumulative::CumulativeBuilder;
pub use cycle_order::CycleOrder;
pub use partition::{Partition, PositionRun, Tail, WindowProgress};
pub use report::SamplingReport;
pub use state::{STATE_VERSION, StreamKey, StreamState};
pub use stream::{DrawMode, DrawStream, draw_seed};
pub use tables::{MAX_ROWS, RowSamples, SamplingTables, TableParts, WeightParts};
pub use window::{Cursor, LAST_POSITION, Window};

/// What the vectors pin although no other module sees it.
#[cfg(test)]
pub(crate) mod internals {
    pub(crate) use super::exponential::exponential;
    pub(crate) use super::logarithm_table::{LOGARITHMS, SERIES};
    pub(crate) use super::philox::philox4x64_10;
}

//! What can be wrong with a table, a state or a request for draws.
//!
//! Owns the error type of the crate. Must not carry ready sentences: every variant has typed fields, and
//! `Display` makes the sentence. Invariant: an error leaves everything as it was before the call.
//! Text of the rules: `DRAWS.md`, "Limits" and "State".

mod facts;

use dataset_rt_format::{ErrorKind, RowIndex};

pub use facts::{RowRule, StateField, TablePart, TableRule, WantedColumn};

/// Offending rows that an error names; further ones are only counted.
pub const NAMED_ROWS: usize = 5;

/// An error of the sampler.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplerError {
    /// The table has no rows.
    #[error("the table has no rows; at least one is wanted")]
    EmptyTable,
    /// The table has more rows than a population may have.
    #[error("the table has {rows} rows; at most {limit} are possible")]
    TooManyRows {
        /// Rows of the table.
        rows: u64,
        /// The most rows a population may have.
        limit: u64,
    },
    /// The caches hold more samples, or are more caches, than identities can name.
    #[error("{caches} caches with {samples} samples are more than identities can name")]
    TooManySamples {
        /// Number of caches.
        caches: u64,
        /// Samples counted when the limit was passed.
        samples: u128,
    },
    /// A column that every table must have is absent.
    #[error("the table has no column {column:?}; {wanted} is wanted")]
    MissingColumn {
        /// Name of the column.
        column: String,
        /// What the column should hold.
        wanted: WantedColumn,
    },
    /// A column that must be unique stands in the table several times.
    #[error("the table has {count} columns named {column:?}; one is wanted")]
    RepeatedColumn {
        /// Name of the columns.
        column: String,
        /// How many have it.
        count: usize,
    },
    /// A column has a type that can't be taken for what it should hold.
    #[error("column {column:?} has type {given}; {wanted} is wanted")]
    ColumnType {
        /// Name of the column.
        column: String,
        /// What the column should hold.
        wanted: WantedColumn,
        /// Arrow type of the given column.
        given: String,
    },
    /// Rows hold values that a rule forbids.
    #[error("column {column:?}: {count} rows do not hold {wanted}; rows {}, the first holds {given}", rows_text(rows, *count))]
    Rows {
        /// Name of the column.
        column: &'static str,
        /// What every row should hold.
        wanted: RowRule,
        /// Value of the first offending row, as text.
        given: String,
        /// Number of offending rows.
        count: u64,
        /// The first of them, at most [`NAMED_ROWS`], ascending.
        rows: Vec<RowIndex>,
    },
    /// Every weight is finite, but their sum is not.
    #[error("the weights of {rows} rows add up to more than the largest float64")]
    WeightSum {
        /// Rows of the table.
        rows: u64,
    },
    /// An epoch of no draws was asked for.
    #[error("an epoch length of at least 1 is wanted")]
    EpochLength,
    /// A part that is not one of the parts, or no parts at all.
    #[error("part {index} of {count} does not exist")]
    Partition {
        /// Number of the part, counted from 0.
        index: u64,
        /// Number of parts.
        count: u64,
    },
    /// Both ways to make parts equally long were asked for.
    #[error("uneven draws are either dropped or padded, not both")]
    PartitionTail,
    /// A draw beyond the last position of a stream.
    #[error("position {position} is beyond the last one, {limit}")]
    Position {
        /// The position, or the largest number if that is larger still.
        position: u64,
        /// The last position.
        limit: u64,
    },
    /// A range of positions that is turned round or leaves the stream.
    #[error("positions {start} to {stop} are no range of a stream")]
    PositionRange {
        /// First position.
        start: u64,
        /// Position behind the last one.
        stop: u64,
    },
    /// A row outside the table.
    #[error("row {row} does not exist in a table of {rows} rows")]
    NoSuchRow {
        /// The row.
        row: RowIndex,
        /// Rows of the table.
        rows: u64,
    },
    /// A state of another version of the library.
    #[error("the state has version {found}; this build reads version {supported}")]
    StateVersion {
        /// Version of the state.
        found: u64,
        /// Version that can be read.
        supported: u64,
    },
    /// A state that contradicts itself.
    #[error("the state's {field} can't be {found}")]
    StateValue {
        /// What is wrong.
        field: StateField,
        /// Its value, as text.
        found: String,
    },
    /// A state of another stream.
    #[error("the state was saved with {field} {saved}, the dataset has {current}{}", field.advice())]
    StateMismatch {
        /// What differs.
        field: StateField,
        /// Value in the state.
        saved: String,
        /// Value of the dataset it was loaded into.
        current: String,
    },
    /// Sampling tables contradict themselves: the snapshot they were read from is damaged.
    #[error("sampling tables are damaged: {part} {at} is {found}, expected {expected}")]
    DamagedTables {
        /// Which table.
        part: TablePart,
        /// Entry of the table.
        at: u64,
        /// What it should be.
        expected: TableRule,
        /// What it is.
        found: u64,
    },
}

impl SamplerError {
    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::StateVersion { .. } => ErrorKind::UnsupportedVersion,
            Self::StateValue { .. } | Self::StateMismatch { .. } => ErrorKind::StateMismatch,
            Self::DamagedTables { .. } => ErrorKind::Corrupt,
            Self::EmptyTable
            | Self::TooManyRows { .. }
            | Self::MissingColumn { .. }
            | Self::RepeatedColumn { .. }
            | Self::ColumnType { .. }
            | Self::Rows { .. }
            | Self::WeightSum { .. } => ErrorKind::InvalidMetadata,
            Self::TooManySamples { .. }
            | Self::EpochLength
            | Self::Partition { .. }
            | Self::PartitionTail
            | Self::Position { .. }
            | Self::PositionRange { .. }
            | Self::NoSuchRow { .. } => ErrorKind::InvalidInput,
        }
    }
}

fn rows_text(rows: &[RowIndex], count: u64) -> String {
    let mut text = rows
        .iter()
        .map(RowIndex::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    if count > rows.len() as u64 {
        text.push_str(", …");
    }
    text
}

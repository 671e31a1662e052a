//! The typed fields of errors: what was wanted, and where.
//!
//! Owns small enumerations with their words. Must not hold whole sentences. Invariant: a value's words can
//! stand in the middle of a sentence. Text of the rules: `DRAWS.md`, "Limits" and "State".

use std::fmt;

use dataset_rt_format::MetadataType;

/// What a column should hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WantedColumn {
    /// Integers of any width.
    Integer,
    /// Integers, floating point numbers or decimals of any width.
    Number,
    /// The type that the caches store.
    Stored(MetadataType),
}

impl fmt::Display for WantedColumn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Integer => "an integer column",
            Self::Number => "an integer, float or decimal column",
            Self::Stored(MetadataType::Bool) => "a boolean column",
            Self::Stored(MetadataType::Int64) => "an int64 column",
            Self::Stored(MetadataType::Float64) => "a float64 column",
            Self::Stored(MetadataType::String) => "a text column",
        })
    }
}

/// What every row of a column should hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowRule {
    /// A cache of the dataset.
    Cache {
        /// Number of caches; ids count from 0.
        caches: u64,
    },
    /// A sample of the row's cache.
    Sample,
    /// A finite number above zero.
    Weight,
}

impl fmt::Display for RowRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cache { caches } => write!(out, "the id of one of {caches} caches"),
            Self::Sample => out.write_str("the id of a sample of their cache"),
            Self::Weight => out.write_str("a finite number above zero"),
        }
    }
}

/// A field of a stream's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateField {
    /// How rows are drawn.
    Mode,
    /// Seed of the stream.
    Seed,
    /// Draws of one window.
    EpochLength,
    /// Position of the next draw.
    Position,
    /// Position behind the window's last draw.
    WindowEnd,
    /// Digest of the caches.
    CachesDigest,
    /// Digest of the table's sampling columns.
    TableDigest,
}

impl StateField {
    /// What makes a state and a dataset fit that differ in it.
    pub(super) const fn advice(self) -> &'static str {
        match self {
            Self::CachesDigest => ": it wants the same caches in the same order",
            Self::TableDigest => {
                ": it wants the table that it was saved with, set before it is loaded"
            }
            Self::Mode | Self::Seed => ": it wants the reader config that it was saved with",
            Self::EpochLength | Self::Position | Self::WindowEnd => "",
        }
    }
}

impl fmt::Display for StateField {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Mode => "mode",
            Self::Seed => "seed",
            Self::EpochLength => "epoch length",
            Self::Position => "position",
            Self::WindowEnd => "window end",
            Self::CachesDigest => "caches digest",
            Self::TableDigest => "table digest",
        })
    }
}

/// One of the sampling tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TablePart {
    /// Number of rows.
    Rows,
    /// Row to sample.
    Samples,
    /// Cumulative sums of the weights.
    Sums,
    /// Guide into the cumulative sums.
    Guide,
    /// Explicit order of one cycle.
    Order,
}

impl fmt::Display for TablePart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Rows => "row count",
            Self::Samples => "sample of row",
            Self::Sums => "sum of row",
            Self::Guide => "guide entry",
            Self::Order => "order entry",
        })
    }
}

/// What an entry of a sampling table should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableRule {
    /// Exactly this.
    Exactly(u64),
    /// Anything less.
    Below(u64),
    /// Anything more.
    Above(u64),
}

impl fmt::Display for TableRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(value) => write!(out, "{value}"),
            Self::Below(bound) => write!(out, "less than {bound}"),
            Self::Above(bound) => write!(out, "more than {bound}"),
        }
    }
}

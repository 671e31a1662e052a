//! The fields of an error by name, for whoever hands them on.
//!
//! Owns [`ErrorFacts`], the one vocabulary in which every crate's error tells what it knows, and the facts of [`FormatError`]. Must not make sentences.
//! Invariant: a fact that is absent was not known; none is ever invented. Format text: `FORMAT.md`, "What a reader must refuse".

use std::path::PathBuf;

use super::{FormatError, Region, Site};
use crate::files::CacheFile;

/// What an error knows, field by field; bindings copy these and read no sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorFacts {
    /// The cache directory, or the file or directory of an operation.
    pub path: Option<PathBuf>,
    /// The damaged file, relative to the cache.
    pub file: Option<String>,
    /// What the operating system was asked to do.
    pub operation: Option<String>,
    /// Its error number.
    pub errno: Option<i32>,
    /// How many bytes a write that found no room still had to write.
    pub needed_bytes: Option<u64>,
    /// Position of the cache in the dataset.
    pub cache_id: Option<u32>,
    /// The sample concerned.
    pub sample_id: Option<u64>,
    /// Number of the shard concerned.
    pub shard: Option<u32>,
    /// First byte and end of the damaged part of the file.
    pub byte_range: Option<(u64, u64)>,
    /// The column or metadata key concerned.
    pub column: Option<String>,
    /// The setting, argument or field concerned.
    pub field: Option<String>,
    /// What was wanted.
    pub expected: Option<String>,
    /// What was there instead.
    pub found: Option<String>,
    /// The object of an object store.
    pub url: Option<String>,
    /// How often it was asked for.
    pub attempts: Option<u32>,
    /// How many rows break the rule.
    pub count: Option<u64>,
    /// The first of them.
    pub rows: Vec<u64>,
}

impl ErrorFacts {
    /// The facts of a place in a cache.
    #[must_use]
    pub fn at(site: &Site, covered_bytes: u64) -> Self {
        let has_range = !matches!(site.region, Region::File | Region::Json) || covered_bytes > 0;
        Self {
            file: Some(site.file.path()),
            sample_id: site.sample.map(|sample| sample.get()),
            shard: match site.file {
                CacheFile::Shard(shard) => Some(shard.get()),
                _ => None,
            },
            byte_range: has_range.then(|| {
                (
                    site.offset_bytes,
                    site.offset_bytes.saturating_add(covered_bytes),
                )
            }),
            ..Self::default()
        }
    }

    /// The same facts with what was wanted and what was there.
    #[must_use]
    pub fn with_values(mut self, expected: impl ToString, found: impl ToString) -> Self {
        self.expected = Some(expected.to_string());
        self.found = Some(found.to_string());
        self
    }

    /// The same facts about a column of a row.
    #[must_use]
    fn with_column(mut self, row: u64, column: &str) -> Self {
        self.column = Some(column.to_owned());
        self.count = Some(1);
        self.rows = vec![row];
        self
    }
}

impl FormatError {
    /// Its fields by name.
    pub fn facts(&self) -> ErrorFacts {
        let nowhere = ErrorFacts::default();
        match self {
            Self::Truncated {
                site,
                expected_bytes,
                found_bytes,
            } => ErrorFacts::at(site, *expected_bytes).with_values(
                format_args!("{expected_bytes} bytes"),
                format_args!("{found_bytes} bytes"),
            ),
            Self::Mismatch {
                site,
                field,
                expected,
                found,
            } => ErrorFacts {
                field: Some((*field).to_owned()),
                ..ErrorFacts::at(site, 0).with_values(expected, found)
            },
            Self::OutOfRange {
                site,
                field,
                min,
                max,
                found,
            } => ErrorFacts {
                field: Some((*field).to_owned()),
                ..ErrorFacts::at(site, 0).with_values(format_args!("{min} to {max}"), found)
            },
            Self::WrongMagic {
                site,
                expected,
                found,
            } => ErrorFacts::at(site, 8).with_values(
                format_args!("{expected:02x?}"),
                format_args!("{found:02x?}"),
            ),
            Self::ChecksumMismatch {
                site,
                covered_bytes,
                expected,
                found,
            } => ErrorFacts::at(site, *covered_bytes).with_values(
                format_args!("XXH3-64 {:016x}", expected.get()),
                format_args!("XXH3-64 {:016x}", found.get()),
            ),
            Self::DigestMismatch {
                site,
                covered_bytes,
                expected,
                found,
            } => ErrorFacts::at(site, *covered_bytes).with_values(
                format_args!("XXH3-128 {expected}"),
                format_args!("XXH3-128 {found}"),
            ),
            Self::Sha256Mismatch {
                site,
                covered_bytes,
                expected,
                found,
            } => ErrorFacts::at(site, *covered_bytes).with_values(
                format_args!("SHA-256 {expected}"),
                format_args!("SHA-256 {found}"),
            ),
            Self::InvalidUtf8 {
                site,
                covered_bytes,
                valid_bytes,
            } => ErrorFacts::at(site, *covered_bytes).with_values(
                "UTF-8",
                format_args!("{valid_bytes} bytes of UTF-8, then others"),
            ),
            Self::InvalidText {
                site,
                field,
                expected,
                found,
            } => ErrorFacts {
                field: Some((*field).to_owned()),
                ..ErrorFacts::at(site, 0).with_values(expected, found)
            },
            Self::RepeatedKey { site, key } => ErrorFacts {
                field: Some(key.clone()),
                ..ErrorFacts::at(site, 0)
            },
            Self::Malformed { site, what, source } => {
                ErrorFacts::at(site, 0).with_values(what, source)
            }
            Self::ColumnMismatch {
                site,
                expected,
                found,
                ..
            } => ErrorFacts::at(site, 0).with_values(expected, found),
            Self::UnsupportedVersion {
                file,
                supported,
                found,
            } => ErrorFacts {
                file: Some(file.path()),
                ..nowhere.with_values(supported, found)
            },
            Self::UnsupportedFeatures { file, unknown_bits } => ErrorFacts {
                file: Some(file.path()),
                ..nowhere.with_values(
                    "known features",
                    format_args!("feature bits {unknown_bits:#x}"),
                )
            },
            Self::OriginalFormat { version } => nowhere.with_values(
                "format 1, or version 2 or 3 of the original system",
                version.map_or_else(
                    || "one of the original system".to_owned(),
                    |number| format!("one of the original system, version {number}"),
                ),
            ),
            Self::PayloadTooLarge {
                sample,
                max_bytes,
                found_bytes,
            } => ErrorFacts {
                sample_id: Some(sample.get()),
                ..nowhere.with_values(
                    format_args!("at most {max_bytes} bytes"),
                    format_args!("{found_bytes} bytes"),
                )
            },
            Self::LimitExceeded { what, max, found } => ErrorFacts {
                field: Some((*what).to_owned()),
                ..nowhere.with_values(format_args!("at most {max}"), found)
            },
            Self::SourceName { found, fault } => ErrorFacts {
                field: Some("name".to_owned()),
                ..nowhere.with_values(
                    "one plain path segment",
                    format_args!("{found:?}, which {fault}"),
                )
            },
            Self::ReservedColumn { row, column } => nowhere
                .with_column(row.get(), column)
                .with_values("another name", "a reserved name"),
            Self::RepeatedColumn { row, column } => nowhere
                .with_column(row.get(), column)
                .with_values("each key once", "a repeated key"),
            Self::MissingColumn {
                row,
                column,
                expected,
            } => nowhere
                .with_column(row.get(), column)
                .with_values(expected, "no such key"),
            Self::UnexpectedColumn { row, column, found } => nowhere
                .with_column(row.get(), column)
                .with_values("no such key", found),
            Self::ColumnType {
                row,
                column,
                expected,
                found,
            } => nowhere
                .with_column(row.get(), column)
                .with_values(expected, found),
            Self::UnsupportedValue {
                row,
                column,
                expected,
                found,
            } => nowhere.with_column(row.get(), column).with_values(
                expected.map_or("bool, int64, float64 or string", |known| known.name()),
                found,
            ),
            Self::Absent { what, count, found } => ErrorFacts {
                field: Some((*what).to_owned()),
                ..nowhere.with_values(format_args!("below {count}"), found)
            },
            Self::BufferLength {
                expected_bytes,
                found_bytes,
            } => nowhere.with_values(expected_bytes, found_bytes),
            Self::Encode { what, source } => nowhere.with_values(what, source),
        }
    }
}

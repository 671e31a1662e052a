//! What can be wrong with stored bytes or with values to be written.
//!
//! Owns [`FormatError`]. Must not hold ready sentences: variants carry fields, sentences are made in `Display`.
//! Invariant: an error about stored bytes says in which file, region and byte offset it was found.
//! Format text: `FORMAT.md`, "What a reader must refuse".

use std::error::Error as StdError;
use std::sync::Arc;

use thiserror::Error;

use super::{ErrorKind, Site};
use crate::checksum::Digest128;
use crate::files::CacheFile;
use crate::ids::{Checksum, RowIndex, SampleId};
use crate::metadata::MetadataType;
use crate::original::Sha256Digest;

/// An error of another library that a finding rests on.
pub type SharedError = Arc<dyn StdError + Send + Sync + 'static>;

/// The finding of a library whose errors are no `std` errors.
#[derive(Debug, Error)]
#[error("{0}")]
struct PlainFinding(String);

/// Keeps such a finding as a source.
pub(crate) fn plain_finding(finding: impl std::fmt::Display) -> SharedError {
    Arc::new(PlainFinding(finding.to_string()))
}

/// A located finding about stored bytes, or a refused value.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// A structure needs more bytes than there are.
    #[error("{site}: {expected_bytes} bytes needed, {found_bytes} there")]
    Truncated {
        /// Start of the structure.
        site: Site,
        /// Bytes the structure needs.
        expected_bytes: u64,
        /// Bytes there are.
        found_bytes: u64,
    },
    /// A number differs from what other parts of the cache say it must be.
    #[error("{site}: {field} is {found}, expected {expected}")]
    Mismatch {
        /// Where the number stands.
        site: Site,
        /// Name of the number.
        field: &'static str,
        /// What it must be.
        expected: u64,
        /// What it is.
        found: u64,
    },
    /// A number lies outside its bounds.
    #[error("{site}: {field} is {found}, expected {min} to {max}")]
    OutOfRange {
        /// Where the number stands.
        site: Site,
        /// Name of the number.
        field: &'static str,
        /// Smallest legal value.
        min: u64,
        /// Largest legal value.
        max: u64,
        /// What it is.
        found: u64,
    },
    /// Eight magic bytes are others.
    #[error("{site}: magic is {found:02x?}, expected {expected:02x?}")]
    WrongMagic {
        /// Where the magic stands.
        site: Site,
        /// The magic of the format.
        expected: [u8; 8],
        /// The bytes there.
        found: [u8; 8],
    },
    /// An XXH3-64 value does not fit the bytes it covers.
    #[error("{site}: XXH3-64 of {covered_bytes} bytes is {:016x}, expected {:016x}", found.get(), expected.get())]
    ChecksumMismatch {
        /// Start of the bytes covered.
        site: Site,
        /// Number of bytes covered.
        covered_bytes: u64,
        /// The stored value.
        expected: Checksum,
        /// The value of the bytes there.
        found: Checksum,
    },
    /// An XXH3-128 value does not fit the bytes it covers.
    #[error("{site}: XXH3-128 of {covered_bytes} bytes is {found}, expected {expected}")]
    DigestMismatch {
        /// Start of the bytes covered.
        site: Site,
        /// Number of bytes covered.
        covered_bytes: u64,
        /// The stored value.
        expected: Digest128,
        /// The value of the bytes there.
        found: Digest128,
    },
    /// A SHA-256 value of the original system does not fit the bytes it covers.
    #[error("{site}: SHA-256 of {covered_bytes} bytes is {found}, expected {expected}")]
    Sha256Mismatch {
        /// Start of the bytes covered.
        site: Site,
        /// Number of bytes covered.
        covered_bytes: u64,
        /// The stored value.
        expected: Sha256Digest,
        /// The value of the bytes there.
        found: Sha256Digest,
    },
    /// Text is not UTF-8.
    #[error("{site}: text of {covered_bytes} bytes is not UTF-8 after {valid_bytes} bytes")]
    InvalidUtf8 {
        /// Start of the text.
        site: Site,
        /// Length of the text.
        covered_bytes: u64,
        /// Bytes before the first fault.
        valid_bytes: u64,
    },
    /// A text field has a form that the format does not allow.
    #[error("{site}: {field} is {found:?}, expected {expected}")]
    InvalidText {
        /// Where the text stands.
        site: Site,
        /// Name of the field.
        field: &'static str,
        /// The legal form.
        expected: String,
        /// The text, cut if long.
        found: String,
    },
    /// A JSON object has one key twice.
    #[error("{site}: key {key:?} is repeated")]
    RepeatedKey {
        /// Where the second one ends.
        site: Site,
        /// The key.
        key: String,
    },
    /// Bytes that another library decodes were refused by it.
    #[error("{site}: malformed {what}")]
    Malformed {
        /// Where decoding stopped, or the start where that is unknown.
        site: Site,
        /// What was to be decoded.
        what: &'static str,
        /// The finding.
        #[source]
        source: SharedError,
    },
    /// A column of `metadata.arrow` is not what the manifest says.
    #[error("{site}: column {column} is {found}, expected {expected}")]
    ColumnMismatch {
        /// Where the schema stands.
        site: Site,
        /// Position of the column.
        column: usize,
        /// Name and type of the manifest, or that there is none.
        expected: String,
        /// Name and type of the file, or that there is none.
        found: String,
    },
    /// The cache is of a later format version.
    #[error("{file}: format version {found} is not supported, this build reads {supported}")]
    UnsupportedVersion {
        /// The file that names the version.
        file: CacheFile,
        /// The newest version this build reads.
        supported: u64,
        /// The version there.
        found: u64,
    },
    /// The cache needs features that this build does not know.
    #[error("{file}: incompatible features {unknown_bits:#x} are not supported by this build")]
    UnsupportedFeatures {
        /// The file that names the features.
        file: CacheFile,
        /// The bits that are set and unknown.
        unknown_bits: u64,
    },
    /// The manifest has no `format` key: it was written by the original system, in a version that is not read.
    #[error("manifest.json: written by the original system in version {}, versions 2 and 3 are read", version.map_or_else(|| "unknown".to_owned(), |number| number.to_string()))]
    OriginalFormat {
        /// Its `format_version`, where that is an integer.
        version: Option<u64>,
    },
    /// A payload is larger than the format can hold.
    #[error(
        "payload of sample {sample} has {found_bytes} bytes, at most {max_bytes} can be stored"
    )]
    PayloadTooLarge {
        /// The sample.
        sample: SampleId,
        /// The limit.
        max_bytes: u64,
        /// The payload's length.
        found_bytes: u64,
    },
    /// A cache would have more of something than the format can hold.
    #[error("{what}: {found}, at most {max} can be stored")]
    LimitExceeded {
        /// What is counted.
        what: &'static str,
        /// The limit.
        max: u64,
        /// The count.
        found: u64,
    },
    /// A source name is not one plain path segment.
    #[error("source name {found:?} is not allowed: it {fault}")]
    SourceName {
        /// The name.
        found: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// A metadata key is reserved for the active table.
    #[error("row {row}: metadata key {column:?} is reserved")]
    ReservedColumn {
        /// The row of the source.
        row: RowIndex,
        /// The key.
        column: String,
    },
    /// A row has one metadata key twice.
    #[error("row {row}: metadata key {column:?} is repeated")]
    RepeatedColumn {
        /// The row of the source.
        row: RowIndex,
        /// The key.
        column: String,
    },
    /// A row lacks a metadata key of the first row.
    #[error("row {row}: metadata key {column:?} is missing, expected a value of type {expected}")]
    MissingColumn {
        /// The row of the source.
        row: RowIndex,
        /// The key.
        column: String,
        /// Its type.
        expected: MetadataType,
    },
    /// A row has a metadata key that the first row did not have.
    #[error("row {row}: metadata key {column:?} of type {found} is not in the first row")]
    UnexpectedColumn {
        /// The row of the source.
        row: RowIndex,
        /// The key.
        column: String,
        /// The type of its value.
        found: MetadataType,
    },
    /// A metadata value has another type than in the first row.
    #[error("row {row}: metadata key {column:?} is of type {found}, expected {expected}")]
    ColumnType {
        /// The row of the source.
        row: RowIndex,
        /// The key.
        column: String,
        /// The type of the first row.
        expected: MetadataType,
        /// The type found.
        found: MetadataType,
    },
    /// A metadata value is of no type that can be stored.
    #[error("row {row}: metadata key {column:?} is {found}, expected {}", expected.map_or("bool, int64, float64 or string", MetadataType::name))]
    UnsupportedValue {
        /// The row of the source.
        row: RowIndex,
        /// The key.
        column: String,
        /// The type of the first row, where there was one.
        expected: Option<MetadataType>,
        /// The value or its type, in words.
        found: String,
    },
    /// Something was asked for by a number that does not exist.
    #[error("{what} {found} does not exist, there are {count}")]
    Absent {
        /// What was asked for.
        what: &'static str,
        /// How many there are, counted from 0.
        count: u64,
        /// The number asked for.
        found: u64,
    },
    /// A buffer handed to this crate has another length than the record needs.
    #[error("buffer of {found_bytes} bytes for {expected_bytes} bytes")]
    BufferLength {
        /// The length needed.
        expected_bytes: u64,
        /// The length given.
        found_bytes: u64,
    },
    /// A value could not be encoded although its parts were legal.
    #[error("encoding of {what} failed")]
    Encode {
        /// What was to be encoded.
        what: &'static str,
        /// The finding.
        #[source]
        source: SharedError,
    },
}

impl FormatError {
    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Truncated { .. }
            | Self::Mismatch { .. }
            | Self::OutOfRange { .. }
            | Self::WrongMagic { .. }
            | Self::ChecksumMismatch { .. }
            | Self::DigestMismatch { .. }
            | Self::Sha256Mismatch { .. }
            | Self::InvalidUtf8 { .. }
            | Self::InvalidText { .. }
            | Self::RepeatedKey { .. }
            | Self::Malformed { .. }
            | Self::ColumnMismatch { .. } => ErrorKind::Corrupt,
            Self::UnsupportedVersion { .. }
            | Self::UnsupportedFeatures { .. }
            | Self::OriginalFormat { .. } => ErrorKind::UnsupportedVersion,
            Self::PayloadTooLarge { .. } | Self::LimitExceeded { .. } | Self::SourceName { .. } => {
                ErrorKind::InvalidInput
            }
            Self::ReservedColumn { .. }
            | Self::RepeatedColumn { .. }
            | Self::MissingColumn { .. }
            | Self::UnexpectedColumn { .. }
            | Self::ColumnType { .. }
            | Self::UnsupportedValue { .. } => ErrorKind::InvalidMetadata,
            Self::Absent { .. } => ErrorKind::NotFound,
            Self::BufferLength { .. } | Self::Encode { .. } => ErrorKind::Internal,
        }
    }
}

//! Encoding of a manifest: one value, one text.
//!
//! Owns the order of keys and the text form. Must not take digests or ratios from outside. Invariant: the text
//! depends on the value alone. Format text: `FORMAT.md`, "manifest.json".

use std::sync::Arc;

use serde::Serialize;

use super::digest::{ZERO_DIGITS, fill_checksum};
use super::name::check_source_name;
use super::{FORMAT_NAME, FORMAT_VERSION, Manifest};
use crate::error::{FormatError, SharedError};

#[derive(Serialize)]
struct ManifestText<'a> {
    format: &'a str,
    format_version: u64,
    features: FeaturesText,
    source: SourceText<'a>,
    sample_count: u64,
    payload_bytes: u64,
    compression: CompressionText<'a>,
    metadata_schema: Vec<ColumnText<'a>>,
    files: Vec<FileText>,
    content_digest: String,
    checksum: &'a str,
}

#[derive(Serialize)]
struct FeaturesText {
    compatible: u64,
    read_only: u64,
    incompatible: u64,
}

#[derive(Serialize)]
struct SourceText<'a> {
    name: &'a str,
    version: Option<&'a str>,
}

#[derive(Serialize)]
struct CompressionText<'a> {
    algo: &'a str,
    ratio: f64,
}

#[derive(Serialize)]
struct ColumnText<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    value_type: &'a str,
}

#[derive(Serialize)]
struct FileText {
    path: String,
    bytes: u64,
    xxh3_128: String,
}

/// The bytes of `manifest.json`.
///
/// # Errors
///
/// [`FormatError::SourceName`] for a name that is no path segment; [`FormatError::OutOfRange`] and
/// [`FormatError::Mismatch`] where counts do not fit each other.
pub fn encode_manifest(manifest: &Manifest) -> Result<Vec<u8>, FormatError> {
    check_source_name(&manifest.source.name)?;
    manifest.check_counts()?;
    let text = ManifestText {
        format: FORMAT_NAME,
        format_version: FORMAT_VERSION,
        features: FeaturesText {
            compatible: manifest.features.compatible,
            read_only: manifest.features.read_only,
            incompatible: manifest.features.incompatible,
        },
        source: SourceText {
            name: &manifest.source.name,
            version: manifest.source.version.as_deref(),
        },
        sample_count: manifest.sample_count,
        payload_bytes: manifest.payload_bytes,
        compression: CompressionText {
            algo: manifest.compression.name(),
            ratio: manifest.compression_ratio(),
        },
        metadata_schema: manifest
            .schema
            .columns()
            .iter()
            .map(|column| ColumnText {
                name: &column.name,
                value_type: column.value_type.name(),
            })
            .collect(),
        files: manifest
            .files()
            .map(|(file, seal)| FileText {
                path: file.path(),
                bytes: seal.bytes,
                xxh3_128: seal.digest.to_string(),
            })
            .collect(),
        content_digest: manifest.content_digest().to_string(),
        checksum: ZERO_DIGITS,
    };
    encode_sealed(&text, "manifest.json")
}

/// Pretty JSON with a trailing newline, whose last key is a checksum of zeros that gets filled in.
pub(crate) fn encode_sealed<T: Serialize>(
    text: &T,
    what: &'static str,
) -> Result<Vec<u8>, FormatError> {
    let mut bytes = serde_json::to_vec_pretty(text).map_err(|error| FormatError::Encode {
        what,
        source: Arc::new(error) as SharedError,
    })?;
    bytes.push(b'\n');
    fill_checksum(&mut bytes);
    Ok(bytes)
}

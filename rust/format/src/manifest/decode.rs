//! Decoding of a manifest, strictest first.
//!
//! Owns the order of checks: JSON, whose format, which version, checksum, features, shape, file list, content
//! digest. Must not accept a path, only compare it with the one that has to be there. Invariant: a decoded
//! manifest is complete and consistent. Format text: `FORMAT.md`, "manifest.json".

use serde::Deserialize;
use serde_json::Value;

use super::digest::check_checksum;
use super::name::name_fault;
use super::{FORMAT_NAME, FORMAT_VERSION, Features, Manifest, SourceInfo};
use crate::checksum::{Digest128, FileSeal};
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;
use crate::ids::ShardId;
use crate::json::{Object, check_json, decode_json};
use crate::metadata::{MetadataColumn, MetadataSchema, MetadataType};
use crate::record::Compression;

const SITE: Site = Site::new(CacheFile::Manifest, Region::Json, 0);

#[derive(Deserialize)]
struct HeadText {
    format: Option<Value>,
    format_version: Option<Value>,
}

#[derive(Deserialize)]
struct ManifestText {
    features: Object<FeaturesText>,
    source: Object<SourceText>,
    sample_count: u64,
    payload_bytes: u64,
    compression: Object<CompressionText>,
    metadata_schema: Vec<Object<ColumnText>>,
    files: Vec<Object<FileText>>,
    content_digest: String,
}

#[derive(Deserialize)]
struct FeaturesText {
    compatible: u64,
    read_only: u64,
    incompatible: u64,
}

#[derive(Deserialize)]
struct SourceText {
    name: String,
    // May be null, but not absent.
    #[serde(deserialize_with = "Option::deserialize")]
    version: Option<String>,
}

#[derive(Deserialize)]
struct CompressionText {
    algo: String,
    ratio: f64,
}

#[derive(Deserialize)]
struct ColumnText {
    name: String,
    #[serde(rename = "type")]
    value_type: String,
}

#[derive(Deserialize)]
struct FileText {
    path: String,
    bytes: u64,
    xxh3_128: String,
}

/// Reads `manifest.json`.
///
/// # Errors
///
/// [`FormatError::OriginalFormat`] for a manifest of the original system;
/// [`FormatError::UnsupportedVersion`] and [`FormatError::UnsupportedFeatures`] for later ones; otherwise a
/// finding of kind `Corrupt`.
///
/// # Cost
///
/// Two passes over the text, one hash pass; memory in proportion to the text.
pub fn decode_manifest(text: &[u8]) -> Result<Manifest, FormatError> {
    check_json(CacheFile::Manifest, text)?;
    check_head(decode_json(CacheFile::Manifest, text)?)?;
    check_checksum(CacheFile::Manifest, text)?;
    let parts: ManifestText = decode_json(CacheFile::Manifest, text)?;
    let (Object(features), Object(source)) = (parts.features, parts.source);
    let Object(asked) = parts.compression;
    if features.incompatible != 0 {
        return Err(FormatError::UnsupportedFeatures {
            file: CacheFile::Manifest,
            unknown_bits: features.incompatible,
        });
    }
    if let Some(fault) = name_fault(&source.name) {
        return Err(text_fault("source.name", fault, &source.name));
    }
    let Some(compression) = Compression::from_name(&asked.algo) else {
        return Err(text_fault("compression.algo", "none or lz4", &asked.algo));
    };
    if asked.ratio < 0.0 {
        let ratio = asked.ratio.to_string();
        return Err(text_fault(
            "compression.ratio",
            "a number from 0 on",
            &ratio,
        ));
    }
    let schema = decode_schema(parts.metadata_schema)?;
    let mut files = parts.files.into_iter();
    let mut next = |file| decode_seal(file, files.next());
    let (blocks, index, metadata) = (
        next(CacheFile::Blocks)?,
        next(CacheFile::Index)?,
        next(CacheFile::Metadata)?,
    );
    let shards = (0..).zip(files);
    let shards = shards
        .map(|(shard, entry)| decode_seal(CacheFile::Shard(ShardId::new(shard)), Some(entry)));
    let manifest = Manifest {
        features: Features {
            compatible: features.compatible,
            read_only: features.read_only,
            incompatible: features.incompatible,
        },
        source: SourceInfo {
            name: source.name,
            version: source.version,
        },
        sample_count: parts.sample_count,
        payload_bytes: parts.payload_bytes,
        compression,
        schema,
        blocks,
        index,
        metadata,
        shards: shards.collect::<Result<_, _>>()?,
    };
    manifest.check_counts()?;
    check_content(&manifest, &parts.content_digest)?;
    Ok(manifest)
}

fn check_head(head: HeadText) -> Result<(), FormatError> {
    let version = head.format_version.as_ref().and_then(Value::as_u64);
    let Some(format) = head.format else {
        return Err(FormatError::OriginalFormat { version });
    };
    if format != FORMAT_NAME {
        return Err(text_fault("format", FORMAT_NAME, &format.to_string()));
    }
    match version {
        Some(FORMAT_VERSION) => Ok(()),
        Some(found) if found > FORMAT_VERSION => Err(FormatError::UnsupportedVersion {
            file: CacheFile::Manifest,
            supported: FORMAT_VERSION,
            found,
        }),
        _ => {
            let found = head
                .format_version
                .map_or_else(String::new, |value| value.to_string());
            Err(text_fault("format_version", "an integer from 1 on", &found))
        }
    }
}

fn decode_schema(columns: Vec<Object<ColumnText>>) -> Result<MetadataSchema, FormatError> {
    let sorted = columns.windows(2).all(|pair| match pair {
        [Object(left), Object(right)] => left.name < right.name,
        _ => true,
    });
    if !sorted {
        return Err(text_fault(
            "metadata_schema",
            "names that rise in code point order",
            "",
        ));
    }
    let column =
        |Object(column): Object<ColumnText>| match MetadataType::from_name(&column.value_type) {
            Some(value_type) => Ok(MetadataColumn {
                name: column.name,
                value_type,
            }),
            None => Err(text_fault(
                "type",
                "bool, int64, float64 or string",
                &column.value_type,
            )),
        };
    let columns = columns.into_iter().map(column).collect::<Result<_, _>>()?;
    MetadataSchema::from_columns(columns).map_err(|error| match error {
        FormatError::ReservedColumn { column, .. } => {
            text_fault("metadata_schema", "names that are not reserved", &column)
        }
        other => other,
    })
}

fn decode_seal(file: CacheFile, entry: Option<Object<FileText>>) -> Result<FileSeal, FormatError> {
    let path = file.path();
    let Some(Object(entry)) = entry else {
        return Err(text_fault("files", &path, ""));
    };
    if entry.path != path {
        return Err(text_fault("files.path", &path, &entry.path));
    }
    let digest = decode_digest("files.xxh3_128", &entry.xxh3_128)?;
    Ok(FileSeal {
        bytes: entry.bytes,
        digest,
    })
}

fn decode_digest(field: &'static str, text: &str) -> Result<Digest128, FormatError> {
    Digest128::parse_hex(text)
        .ok_or_else(|| text_fault(field, "32 lower-case hexadecimal digits", text))
}

fn check_content(manifest: &Manifest, text: &str) -> Result<(), FormatError> {
    let expected = decode_digest("content_digest", text)?;
    let found = manifest.content_digest();
    if found == expected {
        return Ok(());
    }
    Err(FormatError::DigestMismatch {
        site: SITE,
        covered_bytes: 0,
        expected,
        found,
    })
}

/// Long text is cut: an error is for people to read.
fn text_fault(field: &'static str, expected: &str, found: &str) -> FormatError {
    let found = found.chars().take(120).collect();
    FormatError::InvalidText {
        site: SITE,
        field,
        expected: expected.to_owned(),
        found,
    }
}

//! The manifest of the original system as a value.
//!
//! Owns what a manifest of version 2 or 3 must say. Must not follow a name that stands in it: shards are where their
//! numbers say, or the manifest is refused. Invariant: a decoded manifest names only files of ours, and its counts fit
//! each other. Format text: `ORIGINAL.md`, "manifest.json".

use serde::Deserialize;

use super::{ORIGINAL_ROW_LEN, Sha256Digest};
use crate::checksum::{Digest128, FileHasher};
use crate::error::{FormatError, Region, Site};
use crate::files::{CacheFile, SHARD_FOLDER};
use crate::ids::ShardId;
use crate::json::{Object, check_json, decode_json};
use crate::limits::MAX_SHARDS;
use crate::metadata::{MetadataColumn, MetadataSchema, MetadataType, RESERVED_COLUMNS};
use crate::record::Compression;

const SITE: Site = Site::new(CacheFile::Manifest, Region::Json, 0);

const CONTENT_DOMAIN: &[u8] = b"dataset_rt original content 1\n";

/// A manifest of version 2 or 3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginalManifest {
    /// 2 or 3.
    pub version: u64,
    /// Name of the source; any text.
    pub source_name: String,
    /// Number of samples, at least one.
    pub sample_count: u64,
    /// Metadata columns.
    pub schema: MetadataSchema,
    /// Hash of `index.bin`
    pub index: Sha256Digest,
    /// Hash of `metadata.arrow`, whose length the manifest does not say.
    pub metadata: Sha256Digest,
    /// The shards in order, at least one.
    pub shards: Vec<OriginalShard>,
}

/// One shard as the manifest lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginalShard {
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// Sum of the lengths of its payloads, in bytes.
    pub payload_bytes: u64,
    /// How each of its payloads is stored.
    pub compression: Compression,
    /// Hash of the file.
    pub sha256: Sha256Digest,
}

#[derive(Deserialize)]
struct VersionText {
    format_version: u64,
}

#[derive(Deserialize)]
struct ManifestText {
    cache_id: Option<u64>,
    source_name: String,
    sample_count: u64,
    metadata_schema: Vec<Object<ColumnText>>,
    metadata_sha256: String,
    index_sha256: String,
    shards: Vec<Object<ShardText>>,
}

#[derive(Deserialize)]
struct ColumnText {
    name: String,
    kind: String,
}

#[derive(Deserialize)]
struct ShardText {
    name: String,
    uncompressed_byte_len: u64,
    byte_len: u64,
    compression: Object<CompressionText>,
    sha256: String,
}

#[derive(Deserialize)]
struct CompressionText {
    algo: String,
    // Has to be there, and informs people alone.
    #[serde(rename = "ratio")]
    _ratio: f64,
}

/// Reads a `manifest.json` that [`decode_manifest`](crate::decode_manifest) found to be of the original system.
///
/// # Errors
///
/// [`FormatError::OriginalFormat`] for versions other than 2 and 3; otherwise a finding of kind `Corrupt`.
///
/// # Cost
///
/// Two passes over the text; memory in proportion to it.
pub fn decode_original_manifest(text: &[u8]) -> Result<OriginalManifest, FormatError> {
    check_json(CacheFile::Manifest, text)?;
    let VersionText { format_version } = decode_json(CacheFile::Manifest, text)?;
    if !matches!(format_version, 2 | 3) {
        return Err(FormatError::OriginalFormat {
            version: Some(format_version),
        });
    }
    let parts: ManifestText = decode_json(CacheFile::Manifest, text)?;
    if format_version == 3 && parts.cache_id.is_none() {
        return Err(text_fault("cache_id", "an integer", "no such key"));
    }
    let shards = (0..).map(ShardId::new).zip(parts.shards);
    let manifest = OriginalManifest {
        version: format_version,
        source_name: parts.source_name,
        sample_count: parts.sample_count,
        schema: decode_schema(parts.metadata_schema)?,
        index: decode_sha256("index_sha256", &parts.index_sha256)?,
        metadata: decode_sha256("metadata_sha256", &parts.metadata_sha256)?,
        shards: shards
            .map(|(number, Object(shard))| decode_shard(number, &shard))
            .collect::<Result<_, _>>()?,
    };
    manifest.check_counts()?;
    Ok(manifest)
}

impl OriginalManifest {
    /// Length of `index.bin`, in bytes.
    pub const fn index_bytes(&self) -> u64 {
        self.sample_count * ORIGINAL_ROW_LEN
    }

    /// Sum of the payload lengths, in bytes.
    pub fn payload_bytes(&self) -> u64 {
        let payloads = self.shards.iter().map(|shard| shard.payload_bytes);
        payloads.fold(0, u64::saturating_add)
    }

    /// LZ4 where any shard is compressed.
    pub fn compression(&self) -> Compression {
        let compressed = |shard: &OriginalShard| shard.compression == Compression::Lz4;
        if self.shards.iter().any(compressed) {
            Compression::Lz4
        } else {
            Compression::None
        }
    }

    /// XXH3-128 of sample count, file hashes and codecs; the same for versions 2 and 3 of the same data.
    pub fn content_digest(&self) -> Digest128 {
        let mut hasher = FileHasher::new();
        hasher.update(CONTENT_DOMAIN);
        hasher.update(&self.sample_count.to_le_bytes());
        hasher.update(&self.index.bytes());
        hasher.update(&self.metadata.bytes());
        for shard in &self.shards {
            hasher.update(&[u8::from(shard.compression == Compression::Lz4)]);
            hasher.update(&shard.sha256.bytes());
        }
        hasher.seal().digest
    }

    fn check_counts(&self) -> Result<(), FormatError> {
        let range = |field, max, found| {
            if (1..=max).contains(&found) {
                return Ok(());
            }
            Err(FormatError::OutOfRange {
                site: SITE,
                field,
                min: 1,
                max,
                found,
            })
        };
        range(
            "sample_count",
            u64::MAX / ORIGINAL_ROW_LEN,
            self.sample_count,
        )?;
        range("number of shards", MAX_SHARDS, self.shards.len() as u64)
    }
}

fn decode_shard(number: ShardId, shard: &ShardText) -> Result<OriginalShard, FormatError> {
    let path = CacheFile::Shard(number).path();
    // The name is compared and not followed: it may say `../x`.
    if format!("{SHARD_FOLDER}/{}", shard.name) != path {
        return Err(text_fault("shards.name", &path, &shard.name));
    }
    let Object(asked) = &shard.compression;
    let Some(compression) = Compression::from_name(&asked.algo) else {
        return Err(text_fault("compression.algo", "none or lz4", &asked.algo));
    };
    Ok(OriginalShard {
        bytes: shard.byte_len,
        payload_bytes: shard.uncompressed_byte_len,
        compression,
        sha256: decode_sha256("shards.sha256", &shard.sha256)?,
    })
}

fn decode_schema(columns: Vec<Object<ColumnText>>) -> Result<MetadataSchema, FormatError> {
    let mut decoded: Vec<MetadataColumn> = Vec::with_capacity(columns.len());
    for Object(column) in columns {
        let value_type = match column.kind.as_str() {
            "bool" => MetadataType::Bool,
            "int" => MetadataType::Int64,
            "float" => MetadataType::Float64,
            "string" => MetadataType::String,
            other => return Err(text_fault("kind", "bool, int, float or string", other)),
        };
        let name = column.name;
        if decoded.last().is_some_and(|last| last.name >= name) {
            return Err(text_fault(
                "metadata_schema",
                "names that rise in code point order",
                &name,
            ));
        }
        if RESERVED_COLUMNS.contains(&name.as_str()) {
            return Err(text_fault(
                "metadata_schema",
                "names that are not reserved",
                &name,
            ));
        }
        decoded.push(MetadataColumn { name, value_type });
    }
    MetadataSchema::from_columns(decoded)
}

fn decode_sha256(field: &'static str, text: &str) -> Result<Sha256Digest, FormatError> {
    Sha256Digest::parse_hex(text)
        .ok_or_else(|| text_fault(field, "64 lower-case hexadecimal digits", text))
}

/// Long text is cut: an error is for people to read.
fn text_fault(field: &'static str, expected: &str, found: &str) -> FormatError {
    FormatError::InvalidText {
        site: SITE,
        field,
        expected: expected.to_owned(),
        found: found.chars().take(120).collect(),
    }
}

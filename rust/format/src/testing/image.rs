//! A whole cache as files in memory, written the plainest way.
//!
//! Owns the order of a write as `FORMAT.md` has it. Must not be used outside of tests and builders: it keeps
//! everything in memory. Invariant: rows and options alone decide the bytes.

use std::collections::BTreeMap;

use dataset_rt_format::{
    BatchLimits, BlockSums, BlockTable, CacheFile, Compression, Features, FileSeal, FormatError,
    Manifest, MetadataEncoder, MetadataSchema, MetadataValue, MetadataValueRef, Origin, SampleId,
    ShardId, SourceInfo, Timestamp, encode_index_row, encode_manifest, encode_origin,
    encode_record,
};

/// Payload and metadata of one sample.
pub type Row = (Vec<u8>, Vec<(String, MetadataValue)>);

/// Files of a cache by relative path.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What a writer is told.
#[derive(Clone, Debug)]
pub struct ImageOptions {
    /// Name of the source.
    pub name: String,
    /// Version of the source.
    pub version: Option<String>,
    /// How records are stored.
    pub compression: Compression,
    /// A shard that would get longer is closed first.
    pub max_shard_bytes: usize,
    /// When metadata batches close.
    pub limits: BatchLimits,
}

impl Default for ImageOptions {
    fn default() -> Self {
        Self {
            name: "source".to_owned(),
            version: None,
            compression: Compression::None,
            max_shard_bytes: 1 << 30,
            limits: BatchLimits::default(),
        }
    }
}

/// Borrows the fields of a row as encoders take them.
pub fn fields(row: &Row) -> Vec<(&str, MetadataValueRef<'_>)> {
    row.1
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_ref()))
        .collect()
}

/// All files of the cache of some rows.
pub fn build(rows: &[Row], options: &ImageOptions) -> Result<Files, FormatError> {
    let schema = match rows.first() {
        Some(row) => MetadataSchema::infer(&fields(row))?,
        None => MetadataSchema::default(),
    };
    let mut encoder = MetadataEncoder::new(schema.clone(), options.limits)?;
    let mut shards = vec![Vec::new()];
    let (mut index, mut metadata, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    for (sample, row) in (0..).map(SampleId::new).zip(rows) {
        encoder.push_row(&fields(row))?;
        metadata.extend(encoder.take_bytes());
        let head = encode_record(&row.0, options.compression, sample, &mut scratch)?;
        let stored = head.stored(&row.0, &scratch);
        let used = shards.last().map_or(0, Vec::len);
        if used > 0 && used + stored.len() > options.max_shard_bytes {
            shards.push(Vec::new());
        }
        let number = ShardId::new(u32::try_from(shards.len() - 1).unwrap_or(u32::MAX));
        if let Some(shard) = shards.last_mut() {
            index.extend(encode_index_row(&head.at(number, shard.len() as u64)));
            shard.extend_from_slice(stored);
        }
    }
    let tail = encoder.finish()?;
    metadata.extend(tail.bytes);
    let table = BlockTable::new(
        BlockSums::of(&index),
        BlockSums::of(&metadata),
        tail.batch_ends,
    )?;
    let blocks = table.encode();
    let manifest = Manifest {
        features: Features::default(),
        source: SourceInfo {
            name: options.name.clone(),
            version: options.version.clone(),
        },
        sample_count: rows.len() as u64,
        payload_bytes: rows.iter().map(|row| row.0.len() as u64).sum(),
        compression: options.compression,
        schema,
        blocks: FileSeal::of(&blocks),
        index: FileSeal::of(&index),
        metadata: FileSeal::of(&metadata),
        shards: shards.iter().map(|shard| FileSeal::of(shard)).collect(),
    };
    let origin = Origin {
        created_at: Timestamp::from_unix_seconds(1_767_323_045),
        writer_version: "0.1.0".to_owned(),
    };
    let mut files = Files::new();
    files.insert(CacheFile::Manifest.path(), encode_manifest(&manifest)?);
    files.insert(CacheFile::Origin.path(), encode_origin(&origin)?);
    files.insert(CacheFile::Blocks.path(), blocks);
    files.insert(CacheFile::Index.path(), index);
    files.insert(CacheFile::Metadata.path(), metadata);
    for (number, shard) in (0..).map(ShardId::new).zip(shards) {
        files.insert(CacheFile::Shard(number).path(), shard);
    }
    Ok(files)
}

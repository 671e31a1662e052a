//! Reading of a whole cache in memory, with every check of full verification.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_buffer::Buffer;

use super::image::{Files, Row};
use crate::{
    BlockTable, BlockedFile, CacheFile, FileSeal, FormatError, IndexAudit, IndexView, Manifest,
    MetadataLayout, MetadataType, MetadataValue, Region, SampleId, Site, check_record,
    decode_manifest, decode_record,
};

/// All rows of a cache, after everything about it was checked.
pub fn read(files: &Files) -> Result<Vec<Row>, FormatError> {
    let manifest = decode_manifest(file(files, CacheFile::Manifest)?)?;
    for (name, seal) in manifest.files() {
        check_seal(name, seal, file(files, name)?)?;
    }
    let table = check_blocks(&manifest, files)?;
    let metadata = file(files, CacheFile::Metadata)?;
    let columns = &manifest.schema;
    let layout =
        MetadataLayout::open(columns, table.batch_ends(), metadata.len() as u64, metadata)?;
    let payloads = read_payloads(&manifest, files)?;
    let mut rows = Vec::new();
    for (sample, payload) in (0..).map(SampleId::new).zip(payloads) {
        let row = layout.row(sample, metadata)?;
        let values = columns
            .columns()
            .iter()
            .enumerate()
            .map(|(number, column)| Ok((column.name.clone(), row.value(number)?.into_owned())));
        rows.push((payload, values.collect::<Result<_, FormatError>>()?));
    }
    let buffer = Buffer::from(metadata.to_vec());
    let mut seen = 0;
    for number in 0..layout.batch_count() {
        let batch = layout.record_batch(number, &columns.arrow_schema(), &buffer)?;
        for at in 0..batch.num_rows() {
            compare(&rows[seen + at], &batch, at);
        }
        seen += batch.num_rows();
    }
    assert_eq!(seen, rows.len());
    Ok(rows)
}

fn file(files: &Files, name: CacheFile) -> Result<&[u8], FormatError> {
    let found = files.get(&name.path());
    found.map(Vec::as_slice).ok_or(FormatError::Absent {
        what: "file",
        count: 0,
        found: 0,
    })
}

fn check_seal(name: CacheFile, seal: FileSeal, bytes: &[u8]) -> Result<(), FormatError> {
    let found = FileSeal::of(bytes);
    if found == seal {
        return Ok(());
    }
    Err(FormatError::DigestMismatch {
        site: Site::new(name, Region::File, 0),
        covered_bytes: found.bytes,
        expected: seal.digest,
        found: found.digest,
    })
}

fn check_blocks(manifest: &Manifest, files: &Files) -> Result<BlockTable, FormatError> {
    let table = BlockTable::decode(file(files, CacheFile::Blocks)?)?;
    table.check_lengths(manifest)?;
    for which in [BlockedFile::Index, BlockedFile::Metadata] {
        let bytes = file(files, which.file())?;
        for (number, block) in bytes.chunks(65_536).enumerate() {
            table.check_block(which, number, block)?;
        }
    }
    Ok(table)
}

fn read_payloads(manifest: &Manifest, files: &Files) -> Result<Vec<Vec<u8>>, FormatError> {
    let shard_bytes: Vec<u64> = manifest.shards.iter().map(|seal| seal.bytes).collect();
    let mut audit = IndexAudit::new(&shard_bytes);
    let mut payloads = Vec::new();
    for (sample, row) in IndexView::new(file(files, CacheFile::Index)?)?.rows() {
        let row = row?;
        audit.push(sample, &row)?;
        let shard = file(files, CacheFile::Shard(row.shard))?;
        let start = usize::try_from(row.offset_bytes).unwrap();
        let stored = &shard[start..][..row.stored_bytes as usize];
        check_record(sample, &row, stored)?;
        let mut payload = vec![0xaa; row.raw_bytes as usize];
        decode_record(sample, &row, stored, &mut payload)?;
        payloads.push(payload);
    }
    assert_eq!(audit.payload_bytes(), manifest.payload_bytes);
    audit.finish()?;
    Ok(payloads)
}

fn compare(row: &Row, batch: &RecordBatch, at: usize) {
    assert_eq!(row.1.len(), batch.num_columns());
    for ((name, value), column) in row.1.iter().zip(batch.columns()) {
        assert!(column.is_valid(at));
        let found = match value.value_type() {
            MetadataType::Bool => MetadataValue::Bool(column.as_boolean().value(at)),
            MetadataType::Int64 => {
                MetadataValue::Int64(column.as_primitive::<Int64Type>().value(at))
            }
            MetadataType::Float64 => {
                MetadataValue::Float64(column.as_primitive::<Float64Type>().value(at))
            }
            MetadataType::String => {
                MetadataValue::String(column.as_string::<i64>().value(at).to_owned())
            }
        };
        assert!(
            same_bits(value, &found),
            "{name}: {value:?} against {found:?}"
        );
    }
}

/// Equality under which a NaN is equal to itself and to nothing else.
pub fn same_bits(left: &MetadataValue, right: &MetadataValue) -> bool {
    match (left, right) {
        (MetadataValue::Float64(left), MetadataValue::Float64(right)) => {
            left.to_bits() == right.to_bits()
        }
        _ => left == right,
    }
}

/// Compares rows whose fields may stand in another order.
pub fn assert_same_rows(expected: &[Row], found: &[Row]) {
    assert_eq!(expected.len(), found.len());
    for (left, right) in expected.iter().zip(found) {
        assert_eq!(left.0, right.0);
        let mut sorted = left.1.clone();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(sorted.len(), right.1.len());
        for (want, have) in sorted.iter().zip(&right.1) {
            assert!(
                want.0 == have.0 && same_bits(&want.1, &have.1),
                "{want:?} {have:?}"
            );
        }
    }
}

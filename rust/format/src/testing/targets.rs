//! Fuzz targets: one function per decoder, which must return for any bytes.
//!
//! Owns what must hold whatever a decoder is given. Run by `rust/fuzz` and, over the saved corpus and seeded
//! edits of it, by ordinary tests. Invariant: a target panics only when a promise of the format is broken.

use dataset_rt_format::original::check_envelope;
use dataset_rt_format::snapshot::{OrderSections, TableSections, decode_handle, encode_handle};
use dataset_rt_format::{
    BlockTable, Checksum, Codec, Compression, Digest128, FormatError, IndexAudit, IndexRow,
    IndexView, MetadataColumn, MetadataLayout, MetadataSchema, MetadataType, MetadataValueRef,
    OriginalManifest, OriginalRecord, OriginalShard, SampleId, Sha256Digest, ShardId,
    block_checksum, check_record, decode_manifest, decode_origin, decode_original_manifest,
    decode_record, encode_index_row, encode_manifest, encode_origin, record_checksum,
};

/// A target and the folder of its corpus.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 9] = [
    ("manifest", manifest),
    ("origin", origin),
    ("blocks", blocks),
    ("index", index),
    ("metadata", metadata),
    ("record_lz4", record_lz4),
    ("snapshot", snapshot),
    ("original_manifest", original_manifest),
    ("original_record", original_record),
];

/// `manifest.json`, as it is and under a checksum that fits.
pub fn manifest(data: &[u8]) {
    for text in [data.to_vec(), resealed(data)] {
        if let Ok(manifest) = decode_manifest(&text) {
            let encoded = encode_manifest(&manifest).expect("a decoded manifest encodes");
            assert_eq!(
                decode_manifest(&encoded).expect("it decodes again"),
                manifest
            );
        }
    }
}

/// `origin.json`, as it is and under a checksum that fits.
pub fn origin(data: &[u8]) {
    for text in [data.to_vec(), resealed(data)] {
        if let Ok(origin) = decode_origin(&text) {
            let encoded = encode_origin(&origin).expect("a decoded origin encodes");
            assert_eq!(decode_origin(&encoded).expect("it decodes again"), origin);
        }
    }
}

/// `blocks.bin`, as it is and under a checksum that fits.
pub fn blocks(data: &[u8]) {
    let mut fitting = data.to_vec();
    if let Some((head, trailer)) = fitting.split_last_chunk_mut::<8>() {
        *trailer = block_checksum(head).get().to_le_bytes();
    }
    for bytes in [data, &fitting] {
        if let Ok(table) = BlockTable::decode(bytes) {
            assert_eq!(table.encode(), bytes);
            assert_eq!(table.batch_ends().last(), Some(&table.row_count()));
        }
    }
}

/// `index.bin`, against shards of a few lengths.
pub fn index(data: &[u8]) {
    let shard_bytes = [data.len() as u64, 100, 0];
    let mut audit = IndexAudit::new(&shard_bytes);
    let Ok(view) = IndexView::new(data) else {
        return;
    };
    for (sample, row) in view.rows() {
        let Ok(row) = row else { continue };
        let at = usize::try_from(sample.get()).expect("a row of a slice") * 32;
        assert_eq!(&encode_index_row(&row), &data[at..at + 32]);
        assert!(u64::from(row.raw_bytes) <= 255 * u64::from(row.stored_bytes));
        for length in shard_bytes {
            if row.check_within(sample, length).is_ok() {
                assert!(row.offset_bytes + u64::from(row.stored_bytes) <= length);
            }
        }
        if audit.push(sample, &row).is_err() {
            return;
        }
    }
    let _ = audit.finish();
}

/// `metadata.arrow` after a head that says what the manifest and `blocks.bin` would:
/// number of columns, their types, number of batches, and the rows of each as `u16`.
pub fn metadata(data: &[u8]) {
    let Some((schema, batch_ends, file)) = metadata_head(data) else {
        return;
    };
    let rows = batch_ends.last().copied().unwrap_or(0);
    let unlisted = MetadataLayout::open_unlisted(&schema, rows, file.len() as u64, file);
    let Ok(layout) = MetadataLayout::open(&schema, &batch_ends, file.len() as u64, file) else {
        return;
    };
    if let Ok(unlisted) = unlisted {
        assert_eq!(unlisted.row_count(), rows);
        assert_eq!(unlisted.batch_count(), layout.batch_count());
    }
    let buffer = arrow_buffer::Buffer::from(file.to_vec());
    let mut first = 0;
    for (number, end) in batch_ends.iter().enumerate() {
        let batch = layout.record_batch(number, &schema.arrow_schema(), &buffer);
        if let Ok(batch) = &batch {
            assert_eq!(batch.num_rows() as u64, end - first);
        }
        for sample in (first..*end).take(40).chain((first..*end).rev().take(40)) {
            let Ok(row) = layout.row(SampleId::new(sample), file) else {
                continue;
            };
            for column in 0..schema.len() {
                let value = row.value(column);
                let is_marked = row.check_validity(column).is_ok();
                assert!(batch.is_err() || is_marked);
                // Whoever accepts a whole batch accepts each of its values.
                assert!(batch.is_err() || value.is_ok());
                if let Ok(MetadataValueRef::String(text)) = value {
                    assert!(text.len() <= file.len());
                }
            }
        }
        first = *end;
    }
}

fn metadata_head(data: &[u8]) -> Option<(MetadataSchema, Vec<u64>, &[u8])> {
    let (count, rest) = data.split_first()?;
    let (types, rest) = rest.split_at_checked(usize::from(*count))?;
    let column = |(number, code): (usize, &u8)| MetadataColumn {
        name: format!("c{number:03}"),
        value_type: match code % 4 {
            0 => MetadataType::Bool,
            1 => MetadataType::Int64,
            2 => MetadataType::Float64,
            _ => MetadataType::String,
        },
    };
    let columns = types.iter().enumerate().map(column).collect();
    let (count, rest) = rest.split_first()?;
    let (rows, file) = rest.split_at_checked(2 * usize::from(*count))?;
    let mut end = 0;
    let ends = rows.as_chunks::<2>().0.iter().map(|rows| {
        end += u64::from(u16::from_le_bytes(*rows));
        end
    });
    let ends = ends.collect();
    Some((MetadataSchema::from_columns(columns).ok()?, ends, file))
}

/// One LZ4 record after its raw length as `u16`; compared with a decoder of the plainest kind.
pub fn record_lz4(data: &[u8]) {
    let Some((raw, stored)) = data.split_first_chunk::<2>() else {
        return;
    };
    let raw_bytes = u16::from_le_bytes(*raw);
    let sample = SampleId::new(7);
    let mut row = IndexRow {
        shard: ShardId::new(0),
        codec: Codec::Lz4,
        offset_bytes: 0,
        stored_bytes: u32::try_from(stored.len()).expect("fuzz inputs are short"),
        raw_bytes: u32::from(raw_bytes),
        checksum: record_checksum(sample, stored),
    };
    check_record(sample, &row, stored).expect("the checksum was just made");
    let mut out = vec![0xa5; usize::from(raw_bytes)];
    let outcome = decode_record(sample, &row, stored, &mut out);
    match plain_lz4(stored, usize::from(raw_bytes)) {
        Some(expected) => {
            assert!(outcome.is_ok());
            assert_eq!(out, expected);
        }
        None => {
            assert!(outcome.is_err());
            assert!(
                out.iter().all(|byte| *byte == 0),
                "what was there before shines through"
            );
        }
    }
    row.checksum = Checksum::new(row.checksum.get() ^ 1);
    let refused = check_record(sample, &row, stored);
    assert!(matches!(refused, Err(FormatError::ChecksumMismatch { .. })));
}

/// A manifest of the original system.
pub fn original_manifest(data: &[u8]) {
    if let Ok(manifest) = decode_original_manifest(data) {
        assert!(matches!(manifest.version, 2 | 3));
        assert_eq!(manifest.index_bytes() / 24, manifest.sample_count);
        assert!(manifest.sample_count > 0 && !manifest.shards.is_empty());
        let _ = (manifest.content_digest(), manifest.payload_bytes());
    }
}

/// A shard of the original system after its codec and the 24 bytes of an index row.
pub fn original_record(data: &[u8]) {
    let Some(([code, row @ ..], shard)) = data.split_first_chunk::<25>() else {
        return;
    };
    let sha256 = Sha256Digest::from_bytes([0; 32]);
    let listed = OriginalShard {
        bytes: shard.len() as u64,
        payload_bytes: 0,
        compression: if code & 1 == 1 {
            Compression::Lz4
        } else {
            Compression::None
        },
        sha256,
    };
    let manifest = OriginalManifest {
        version: 3,
        source_name: String::new(),
        sample_count: 8,
        schema: MetadataSchema::default(),
        index: sha256,
        metadata: sha256,
        shards: vec![listed],
    };
    let sample = SampleId::new(7);
    let Ok(record) = OriginalRecord::decode(&manifest, sample, row) else {
        return;
    };
    let at = |offset: u64| usize::try_from(offset).expect("within the shard");
    let whole = &shard[at(record.offset_bytes)..][..record.bytes as usize];
    // A range beyond the shard would panic here.
    let read = |offset: u64, out: &mut [u8]| {
        out.copy_from_slice(&shard[at(offset)..][..out.len()]);
        Ok::<(), FormatError>(())
    };
    let Ok(row) = record.payload_row(read) else {
        return;
    };
    let stored = &whole[whole.len() - row.stored_bytes as usize..];
    assert_eq!(row.end_bytes(), record.whole_row().end_bytes());
    assert!(u64::from(row.raw_bytes) <= 255 * stored.len() as u64);
    let _ = check_envelope(&record, &row, whole);
    let mut out = vec![0xa5; row.raw_bytes as usize];
    match decode_record(sample, &row, stored, &mut out) {
        Ok(()) if row.codec == Codec::Raw => assert_eq!(out, stored),
        Ok(()) => assert_eq!(plain_lz4(stored, out.len()), Some(out)),
        Err(_) => assert!(out.iter().all(|byte| *byte == 0)),
    }
}

/// The LZ4 block format, byte by byte, as `FORMAT.md` has it.
fn plain_lz4(stored: &[u8], raw_bytes: usize) -> Option<Vec<u8>> {
    fn length(rest: &mut std::slice::Iter<'_, u8>, field: u8) -> Option<usize> {
        let mut total = usize::from(field);
        let mut more = if field == 15 { 255 } else { 0 };
        while more == 255 {
            more = *rest.next()?;
            total += usize::from(more);
        }
        Some(total)
    }
    let mut out = Vec::new();
    let mut rest = stored.iter();
    loop {
        let token = *rest.next()?;
        for _ in 0..length(&mut rest, token >> 4)? {
            out.push(*rest.next()?);
        }
        if rest.as_slice().is_empty() {
            return (out.len() == raw_bytes).then_some(out);
        }
        let offset = usize::from(u16::from_le_bytes([*rest.next()?, *rest.next()?]));
        let from = out.len().checked_sub(offset)?;
        let count = length(&mut rest, token & 15)? + 4;
        if offset == 0 || out.len() + count > raw_bytes {
            return None;
        }
        for at in from..from + count {
            out.push(out[at]);
        }
    }
}

/// `snapshot.json`, as it is and under a checksum that fits, with files of a few lengths beside it.
pub fn snapshot(data: &[u8]) {
    for text in [data.to_vec(), resealed(data)] {
        let Ok(handle) = decode_handle(&text) else {
            continue;
        };
        assert!(handle.part.index < handle.part.count);
        let encoded = encode_handle(&handle).expect("a decoded handle encodes");
        assert_eq!(decode_handle(&encoded).expect("it decodes again"), handle);
        for file_bytes in [0, 148, 1732, 1 << 40, u64::MAX] {
            if let Ok(sections) = TableSections::locate(&handle, file_bytes) {
                let ranges = [sections.row_samples, sections.sums, sections.guide];
                assert!(ranges.iter().all(|range| range.start <= range.end));
                assert!(ranges.windows(2).all(|two| two[0].end <= two[1].start));
                assert_eq!(ranges[2].end as u64, file_bytes);
            }
            if let Ok(sections) = OrderSections::locate(7, handle.rows, file_bytes) {
                assert!(sections.rows.end <= sections.run_ends.start);
                assert!(sections.run_ends.start < sections.run_ends.end);
                assert_eq!(sections.run_ends.end as u64, file_bytes);
            }
        }
    }
}

/// The text with the checksum that fits, where it has the place for one.
pub fn resealed(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    if let Some(at) = text.len().checked_sub(36) {
        text[at..at + 32].fill(b'0');
        let digest = Digest128::of(&text).to_string();
        text[at..at + 32].copy_from_slice(digest.as_bytes());
    }
    text
}

//! Manifests, rows and envelopes of the original system.

use super::*;
use crate::{
    CacheFile, Codec, Compression, ErrorKind, FormatError, MetadataType, Region, SampleId, ShardId,
    decode_manifest, decode_original_manifest,
};

fn manifest_text() -> String {
    let (a, b, c) = ("0a".repeat(32), "b1".repeat(32), "2c".repeat(32));
    format!(
        r#"{{
  "format_version": 3,
  "cache_id": 18446744073709551615,
  "source_name": "../any text",
  "sample_count": 4,
  "metadata_schema": [
    {{"name": "b", "kind": "bool"}}, {{"name": "f", "kind": "float"}},
    {{"name": "i", "kind": "int"}}, {{"name": "s", "kind": "string"}}
  ],
  "metadata_sha256": "{a}",
  "index_sha256": "{b}",
  "shards": [
    {{"name": "000000.bin", "uncompressed_byte_len": 7, "byte_len": 100,
      "compression": {{"algo": "none", "ratio": 1.0}}, "sha256": "{c}"}},
    {{"name": "000001.bin", "uncompressed_byte_len": 9, "byte_len": 200,
      "compression": {{"algo": "lz4", "ratio": 2}}, "sha256": "{c}"}}
  ]
}}"#
    )
}

fn manifest() -> OriginalManifest {
    decode_original_manifest(manifest_text().as_bytes()).unwrap()
}

fn refusal(from: &str, to: &str) -> FormatError {
    let text = manifest_text();
    let changed = text.replacen(from, to, 1);
    assert_ne!(changed, text, "{from} is there");
    decode_original_manifest(changed.as_bytes()).expect_err(to)
}

#[test]
fn manifest_of_either_version_says_what_it_says() {
    let found = manifest();
    assert_eq!((found.version, found.sample_count), (3, 4));
    assert_eq!(found.source_name, "../any text");
    assert_eq!((found.index_bytes(), found.payload_bytes()), (96, 16));
    assert_eq!(found.compression(), Compression::Lz4);
    let types: Vec<_> = found
        .schema
        .columns()
        .iter()
        .map(|column| column.value_type)
        .collect();
    let expected = [
        MetadataType::Bool,
        MetadataType::Float64,
        MetadataType::Int64,
        MetadataType::String,
    ];
    assert_eq!(types, expected);
    assert_eq!(found.index.to_string(), "b1".repeat(32));
    let lengths: Vec<_> = found.shards.iter().map(|shard| shard.bytes).collect();
    assert_eq!(lengths, [100, 200]);
    // Version 2 has no identity, and one that is there is ignored.
    let older = manifest_text().replace("\"format_version\": 3", "\"format_version\": 2");
    for text in [
        older.clone(),
        older.replace("\"cache_id\": 18446744073709551615,", ""),
    ] {
        let older = decode_original_manifest(text.as_bytes()).unwrap();
        assert_eq!(older.version, 2);
        assert_eq!(older.content_digest(), found.content_digest());
    }
    assert!(matches!(
        decode_manifest(manifest_text().as_bytes()),
        Err(FormatError::OriginalFormat { version: Some(3) })
    ));
}

#[test]
fn content_digest_depends_on_hashes_counts_and_codecs() {
    let digest = manifest().content_digest();
    let mut renamed = manifest();
    renamed.source_name = "x".to_owned();
    assert_eq!(renamed.content_digest(), digest);
    let edits: [fn(&mut OriginalManifest); 5] = [
        |manifest| manifest.sample_count = 5,
        |manifest| manifest.index = manifest.metadata,
        |manifest| manifest.metadata = manifest.index,
        |manifest| manifest.shards[0].compression = Compression::Lz4,
        |manifest| manifest.shards[1].sha256 = manifest.index,
    ];
    for edit in edits {
        let mut other = manifest();
        edit(&mut other);
        assert_ne!(other.content_digest(), digest);
    }
}

#[test]
fn versions_beside_two_and_three_are_refused_by_number() {
    for version in [0, 1, 4, 1000] {
        let to = format!("\"format_version\": {version}");
        let refused = refusal("\"format_version\": 3", &to);
        assert_eq!(refused.kind(), ErrorKind::UnsupportedVersion);
        assert!(
            matches!(refused, FormatError::OriginalFormat { version: Some(found) } if found == version)
        );
        assert!(
            refused.to_string().contains(&format!("version {version},")),
            "{refused}"
        );
    }
}

#[test]
fn illegal_fields_are_refused() {
    let digits = "b1".repeat(32);
    for (from, to) in [
        ("\"format_version\": 3", "\"format_version\": 3.0"),
        ("\"format_version\": 3", "\"format_version\": \"3\""),
        ("\"cache_id\": 18446744073709551615,", ""),
        ("18446744073709551615", "18446744073709551616"),
        ("18446744073709551615", "-1"),
        ("\"source_name\": \"../any text\",", ""),
        ("\"sample_count\": 4", "\"sample_count\": 0"),
        (
            "\"sample_count\": 4",
            "\"sample_count\": 18446744073709551615",
        ),
        (
            "\"sample_count\": 4",
            "\"sample_count\": 4, \"sample_count\": 4",
        ),
        ("\"kind\": \"int\"", "\"kind\": \"int64\""),
        ("\"name\": \"f\"", "\"name\": \"b\""),
        ("\"name\": \"f\"", "\"name\": \"a\""),
        ("\"name\": \"s\"", "\"name\": \"weight\""),
        ("000001.bin", "000002.bin"),
        ("000001.bin", "../000001.bin"),
        ("000001.bin", "/etc/passwd"),
        ("000001.bin", "x/000001.bin"),
        ("000001.bin", "1.bin"),
        ("000001.bin", ""),
        ("\"lz4\"", "\"zstd\""),
        (", \"ratio\": 2", ""),
        ("\"byte_len\": 200", "\"byte_len\": 200.5"),
        ("{\"algo\": \"lz4\", \"ratio\": 2}", "[\"lz4\", 2]"),
        (&digits, &digits.to_uppercase()),
        (&digits, &digits[1..]),
    ] {
        let refused = refusal(from, to);
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{to}: {refused}");
    }
    let text = manifest_text();
    let start = text.find("\"shards\": [").unwrap() + 11;
    let none = format!("{}]}}", &text[..start]);
    assert!(decode_original_manifest(none.as_bytes()).is_err());
}

fn row(shard: u64, offset: u64, length: u64) -> [u8; 24] {
    let mut bytes = [0; 24];
    for (to, number) in bytes.chunks_exact_mut(8).zip([shard, offset, length]) {
        to.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

fn record(shard: u64, offset: u64, length: u64) -> Result<OriginalRecord, FormatError> {
    OriginalRecord::decode(&manifest(), SampleId::new(2), &row(shard, offset, length))
}

#[test]
fn rows_lie_within_their_shard() {
    let found = record(1, 150, 50).unwrap();
    assert_eq!(
        (found.shard, found.offset_bytes, found.bytes),
        (ShardId::new(1), 150, 50)
    );
    assert_eq!(found.compression, Compression::Lz4);
    assert_eq!(found.whole_row().end_bytes(), Some(200));
    for (shard, offset, length, field) in [
        (2, 0, 8, "shard"),
        (1 << 32, 0, 8, "shard"),
        (u64::MAX, 0, 8, "shard"),
        (0, 0, 101, "record end"),
        (0, 93, 8, "record end"),
        (0, u64::MAX, 8, "record end"),
        (0, 8, u64::MAX, "record end"),
        (0, 0, 7, "record length"),
        (0, 0, 0, "record length"),
    ] {
        match record(shard, offset, length).unwrap_err() {
            FormatError::OutOfRange {
                site, field: found, ..
            } => {
                assert_eq!(found, field);
                assert_eq!((site.region, site.offset_bytes), (Region::IndexRow, 48));
                assert_eq!(site.sample, Some(SampleId::new(2)));
            }
            other => panic!("{other:?}"),
        }
    }
    let mut long = manifest();
    long.shards[0].bytes = 1 << 40;
    let refused = OriginalRecord::decode(&long, SampleId::new(0), &row(0, 0, 1 << 32));
    assert!(matches!(
        refused,
        Err(FormatError::OutOfRange {
            field: "record length",
            ..
        })
    ));
}

fn payload_of(record: &OriginalRecord, bytes: &[u8]) -> Result<crate::IndexRow, FormatError> {
    record.payload_row(|offset, out| {
        let start = usize::try_from(offset - record.offset_bytes).unwrap();
        out.copy_from_slice(&bytes[start..start + out.len()]);
        Ok(())
    })
}

fn envelope(json_bytes: u64, rest: &[u8]) -> Vec<u8> {
    [&json_bytes.to_le_bytes(), rest].concat()
}

#[test]
fn payload_stands_behind_its_envelope() {
    let plain = record(0, 10, 8 + 2 + 5).unwrap();
    let bytes = envelope(2, b"{}12345");
    let found = payload_of(&plain, &bytes).unwrap();
    assert_eq!((found.codec, found.offset_bytes), (Codec::Raw, 20));
    assert_eq!((found.stored_bytes, found.raw_bytes), (5, 5));
    check_envelope(&plain, &found, &bytes).unwrap();
    let compressed = record(1, 10, 8 + 2 + 5).unwrap();
    let bytes = envelope(2, b"{}\xff\0\0\0x");
    let found = payload_of(&compressed, &bytes).unwrap();
    assert_eq!((found.codec, found.offset_bytes), (Codec::Lz4, 24));
    assert_eq!((found.stored_bytes, found.raw_bytes), (1, 255));
    check_envelope(&compressed, &found, &bytes).unwrap();
    // No payload at all: nothing, and one empty block.
    assert_eq!(
        payload_of(&record(0, 0, 10).unwrap(), &envelope(2, b"{}"))
            .unwrap()
            .raw_bytes,
        0
    );
    let empty = payload_of(&record(1, 0, 15).unwrap(), &envelope(2, b"{}\0\0\0\0\0")).unwrap();
    assert_eq!((empty.stored_bytes, empty.raw_bytes), (1, 0));
}

#[test]
fn envelope_that_declares_too_much_is_refused() {
    for (shard, json_bytes, rest, field) in [
        (0, 8, &b"{}12345"[..], "JSON length"),
        (0, u64::MAX, b"{}12345", "JSON length"),
        (0, 1 << 32, b"{}12345", "JSON length"),
        (1, 4, b"{}12345", "stored payload length"),
        (1, 2, b"{}\0\x01\0\0x", "payload length"),
        (1, 2, b"{}\xff\xff\xff\xffx", "payload length"),
        (1, 3, b"{} \x01\0\0\0", "payload length"),
    ] {
        let record = record(shard, 0, 15).unwrap();
        match payload_of(&record, &envelope(json_bytes, rest)).unwrap_err() {
            FormatError::OutOfRange {
                site, field: found, ..
            } => {
                assert_eq!(found, field);
                assert_eq!(site.file, CacheFile::Shard(record.shard));
                assert_eq!(site.sample, Some(SampleId::new(2)));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn envelope_holds_one_json_object() {
    let plain = record(0, 0, 8 + 7 + 1).unwrap();
    for (json, is_sound) in [
        (&b"{\"a\":1}"[..], true),
        (b"{\"a\":n}", false),
        (b"[1,2,3]", false),
        (b"{\"a\":1]", false),
        (b"\"\xff\xff\xff\"  ", false),
        (b"{}     ", true),
        (b"{} {}  ", false),
    ] {
        let bytes = envelope(7, &[json, b"p"].concat());
        let row = payload_of(&plain, &bytes).unwrap();
        assert_eq!(
            check_envelope(&plain, &row, &bytes).is_ok(),
            is_sound,
            "{json:?}"
        );
    }
}

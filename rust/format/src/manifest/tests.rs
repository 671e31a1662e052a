//! The manifest: its text, its checks and their order.

use super::*;
use crate::{
    CacheFile, Compression, Digest128, ErrorKind, FileSeal, FormatError, MetadataColumn,
    MetadataSchema, MetadataType, Region,
};

fn column(name: &str, value_type: MetadataType) -> MetadataColumn {
    MetadataColumn {
        name: name.to_owned(),
        value_type,
    }
}

fn manifest() -> Manifest {
    let columns = vec![
        column("b", MetadataType::Float64),
        column("a \"ü\"", MetadataType::String),
    ];
    Manifest {
        features: Features {
            compatible: 1,
            read_only: u64::MAX,
            incompatible: 0,
        },
        source: SourceInfo {
            name: "train".to_owned(),
            version: None,
        },
        sample_count: 3,
        payload_bytes: 30,
        compression: Compression::Lz4,
        schema: MetadataSchema::from_columns(columns).unwrap(),
        blocks: FileSeal::of(b"blocks"),
        index: FileSeal {
            bytes: 96,
            digest: Digest128::of(b"index"),
        },
        metadata: FileSeal::of(b"metadata"),
        shards: vec![
            FileSeal {
                bytes: 20,
                digest: Digest128::of(b"0"),
            },
            FileSeal::of(b"12345"),
        ],
    }
}

/// The manifest's text after a replacement, under a checksum that fits.
fn edited(from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(encode_manifest(&manifest()).unwrap()).unwrap();
    let changed = text.replacen(from, to, 1);
    assert_ne!(changed, text, "{from} is there");
    let end = changed.len() - 36;
    let mut bytes =
        format!("{}{}{}", &changed[..end], ZERO_DIGITS, &changed[end + 32..]).into_bytes();
    super::digest::fill_checksum(&mut bytes);
    bytes
}

fn refusal(from: &str, to: &str) -> FormatError {
    decode_manifest(&edited(from, to)).expect_err(to)
}

#[test]
fn manifest_text_is_pretty_and_comes_back() {
    let text = encode_manifest(&manifest()).unwrap();
    assert_eq!(decode_manifest(&text).unwrap(), manifest());
    let text = String::from_utf8(text).unwrap();
    let start = concat!(
        "{\n  \"format\": \"dataset_rt\",\n  \"format_version\": 1,\n  \"features\": {\n",
        "    \"compatible\": 1,\n    \"read_only\": 18446744073709551615,\n    \"incompatible\": 0\n  },\n",
        "  \"source\": {\n    \"name\": \"train\",\n    \"version\": null\n  },\n",
        "  \"sample_count\": 3,\n  \"payload_bytes\": 30,\n",
        "  \"compression\": {\n    \"algo\": \"lz4\",\n    \"ratio\": 1.2\n  },\n",
        "  \"metadata_schema\": [\n    {\n      \"name\": \"a \\\"ü\\\"\",\n      \"type\": \"string\"\n    },\n",
    );
    assert!(text.starts_with(start), "{text}");
    assert!(text.ends_with("\"\n}\n"));
    let paths: Vec<String> = manifest().files().map(|(file, _)| file.path()).collect();
    assert!(paths.is_sorted());
    assert_eq!(paths.last().unwrap(), "shards/000001.bin");
}

#[test]
fn ratio_of_empty_shards_is_one() {
    let mut empty = manifest();
    empty.shards = vec![FileSeal::of(b"")];
    assert_eq!(empty.compression_ratio().to_bits(), 1.0_f64.to_bits());
    assert!(
        String::from_utf8(encode_manifest(&empty).unwrap())
            .unwrap()
            .contains("\"ratio\": 1.0\n")
    );
}

#[test]
fn content_digest_depends_on_data_files_alone() {
    let digest = manifest().content_digest();
    let mut renamed = manifest();
    renamed.source = SourceInfo {
        name: "x".to_owned(),
        version: Some("2".to_owned()),
    };
    assert_eq!(renamed.content_digest(), digest);
    let mut other = manifest();
    other.shards[1] = FileSeal::of(b"12346");
    assert_ne!(other.content_digest(), digest);
    let mut fewer = manifest();
    fewer.sample_count = 2;
    assert_ne!(fewer.content_digest(), digest);
}

#[test]
fn unknown_keys_are_ignored_at_every_level() {
    let replacements = [
        (
            "\"sample_count\"",
            "\"new\": {\"a\": [1, {\"a\": null}], \"b\": -1.5e300}, \"sample_count\"",
        ),
        ("\"algo\"", "\"level\": 3, \"algo\""),
        ("\"path\"", "\"name\": \"x\", \"path\""),
    ];
    for (from, to) in replacements {
        assert_eq!(decode_manifest(&edited(from, to)).unwrap(), manifest());
    }
}

#[test]
fn manifest_with_any_changed_byte_is_refused() {
    let text = encode_manifest(&manifest()).unwrap();
    for at in 0..text.len() {
        let mut damaged = text.clone();
        damaged[at] ^= 4;
        assert!(decode_manifest(&damaged).is_err(), "byte {at}");
        assert!(decode_manifest(&text[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn other_systems_and_versions_are_told_apart_from_damage() {
    let original = decode_manifest(br#"{"format_version": 3, "shards": []}"#);
    assert!(matches!(
        original,
        Err(FormatError::OriginalFormat { version: Some(3) })
    ));
    let unnamed = decode_manifest(br#"{"format": null, "format_version": "x"}"#);
    assert!(matches!(
        unnamed,
        Err(FormatError::OriginalFormat { version: None })
    ));
    // A later version is free to change everything but these two keys.
    let later = decode_manifest(br#"{"format": "dataset_rt", "format_version": 2}"#).unwrap_err();
    assert!(matches!(
        later,
        FormatError::UnsupportedVersion {
            supported: 1,
            found: 2,
            ..
        }
    ));
    let features = refusal("\"incompatible\": 0", "\"incompatible\": 10");
    assert!(matches!(
        features,
        FormatError::UnsupportedFeatures {
            unknown_bits: 10,
            ..
        }
    ));
    for error in [original.unwrap_err(), unnamed.unwrap_err(), later, features] {
        assert_eq!(error.kind(), ErrorKind::UnsupportedVersion);
    }
}

#[test]
fn repeated_keys_are_refused_and_named() {
    for (from, to) in [
        (
            "\"sample_count\": 3",
            "\"sample_count\": 3, \"sample_count\": 3",
        ),
        (
            "\"sample_count\"",
            "\"x\": [{\"k\": {}, \"\\u006b\": 1}], \"sample_count\"",
        ),
    ] {
        match refusal(from, to) {
            FormatError::RepeatedKey { site, key } => {
                assert!(key == "sample_count" || key == "k");
                assert_eq!(
                    (site.file, site.region),
                    (CacheFile::Manifest, Region::Json)
                );
                assert!(site.offset_bytes > 100);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn illegal_fields_are_refused() {
    let many_shards = "0".repeat(40);
    for (from, to) in [
        ("\"dataset_rt\"", "\"other\""),
        ("\"format_version\": 1", "\"format_version\": 0"),
        ("\"format_version\": 1", "\"format_version\": 1.0"),
        ("\"read_only\": 1", "\"read_only\": -1"),
        ("\"compatible\": 1,", ""),
        ("\"train\"", "\"\""),
        ("\"train\"", "\"..\""),
        ("\"train\"", "\"TMP\""),
        ("\"train\"", "\"a/b\""),
        ("\"train\"", "\"a\\\\b\""),
        ("\"train\"", "\"a\\u0000\""),
        ("\"version\": null", "\"version\": 1"),
        ("\"version\": null", "\"versiom\": null"),
        ("\"sample_count\": 3", "\"sample_count\": 0"),
        ("\"sample_count\": 3", "\"sample_count\": 4"),
        (
            "\"sample_count\": 3",
            "\"sample_count\": 18446744073709551615",
        ),
        ("\"sample_count\": 3", "\"sample_count\": \"3\""),
        (
            "\"payload_bytes\": 30",
            "\"payload_bytes\": 18446744073709551616",
        ),
        ("\"algo\": \"lz4\"", "\"algo\": \"zstd\""),
        ("\"ratio\": 1.2", "\"ratio\": -1"),
        ("\"ratio\": 1.2", "\"ratio\": null"),
        ("\"ratio\": 1.2", "\"ratio\": 1e999"),
        ("\"name\": \"b\"", "\"name\": \"a\""),
        ("\"name\": \"b\"", "\"name\": \"weight\""),
        ("\"type\": \"float64\"", "\"type\": \"float32\""),
        ("blocks.bin", "blocks.bim"),
        ("shards/000001.bin", "shards/000002.bin"),
        ("shards/000001.bin", "shards/../../etc/passwd"),
        ("\"bytes\": 20", "\"bytes\": 21"),
        ("\"bytes\": 20", "\"bytes\": 20.0"),
        ("\"content_digest\": \"", "\"content_digest\": \"0"),
        (
            "\"xxh3_128\": \"",
            &format!("\"xxh3_128\": \"{many_shards}"),
        ),
    ] {
        let error = refusal(from, to);
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{to}: {error}");
    }
}

#[test]
fn faults_of_the_text_are_located_by_byte() {
    let text = b"{\n  \"format\": \"dataset_rt\",\n  \"format_version\": }\n";
    match decode_manifest(text).unwrap_err() {
        FormatError::Malformed { site, .. } => {
            assert_eq!(text[usize::try_from(site.offset_bytes).unwrap()], b'}');
        }
        other => panic!("{other:?}"),
    }
    let nested = "[".repeat(100_000);
    assert!(matches!(
        decode_manifest(nested.as_bytes()),
        Err(FormatError::Malformed { .. })
    ));
    assert!(decode_manifest(b"\xef\xbb\xbf{}").is_err());
    assert!(decode_manifest(b"{} {}").is_err());
    assert!(decode_manifest(b"{\"a\": \"\\ud800\"}").is_err());
    assert!(decode_manifest(b"").is_err());
}

#[test]
fn manifests_that_do_not_fit_are_not_written() {
    let mut illegal = manifest();
    illegal.source.name = "a/b".to_owned();
    let refused = encode_manifest(&illegal).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    let mut empty = manifest();
    empty.shards.clear();
    assert!(encode_manifest(&empty).is_err());
    let mut rows = manifest();
    rows.sample_count = 0;
    assert!(encode_manifest(&rows).is_err());
}

#[test]
fn source_names_are_plain_path_segments() {
    for name in ["a", "...", "tmpx", ".hidden", "with space", "ключ", "a:b"] {
        check_source_name(name).unwrap();
    }
    for name in ["", ".", "..", "tmp", "TmP", "a/b", "/", "a\\b", "a\0", "\0"] {
        let refused = check_source_name(name);
        assert!(matches!(refused, Err(FormatError::SourceName { found, .. }) if found == name));
    }
}

#[test]
fn arrays_in_the_place_of_objects_are_refused() {
    let text = String::from_utf8(encode_manifest(&manifest()).unwrap()).unwrap();
    for key in [
        "features",
        "source",
        "compression",
        "metadata_schema",
        "files",
    ] {
        let after = &text[text.find(&format!("\"{key}\":")).unwrap()..];
        let object = &after[after.find('{').unwrap()..=after.find('}').unwrap()];
        let values: String = object
            .lines()
            .filter_map(|line| Some(line.split_once("\": ")?.1))
            .collect();
        let refused = refusal(object, &format!("[{values}]"));
        assert!(
            matches!(refused, FormatError::Malformed { .. }),
            "{key}: {refused}"
        );
    }
    let refused = decode_manifest(br#"["dataset_rt", 2]"#);
    assert!(matches!(refused, Err(FormatError::Malformed { .. })));
}

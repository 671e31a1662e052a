//! The golden caches: every structure is decoded and encoded again, byte for byte.

use std::path::Path;

use super::cases::{golden_cases, typed_rows};
use super::corpus::repository_path;
use super::image::{Files, build};
use super::read_image::{assert_same_rows, read};
use crate::{
    BlockTable, Codec, Compression, IndexView, SampleId, decode_manifest, decode_origin,
    decode_record, encode_index_row, encode_manifest, encode_origin, encode_record,
};

fn load(folder: &str) -> Files {
    let root = repository_path("tests/golden/caches/v1").join(folder);
    let mut files = Files::new();
    load_folder(&root, &root, &mut files);
    files
}

fn load_folder(root: &Path, folder: &Path, files: &mut Files) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            load_folder(root, &path, files);
        } else {
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

fn assert_same_files(expected: &Files, found: &Files) {
    assert_eq!(
        expected.keys().collect::<Vec<_>>(),
        found.keys().collect::<Vec<_>>()
    );
    for (path, bytes) in expected {
        assert!(found[path] == *bytes, "{path} has other bytes");
    }
}

#[test]
fn golden_caches_are_what_is_written_today() {
    for case in golden_cases() {
        assert_same_files(
            &load(case.folder),
            &build(&case.rows, &case.options).unwrap(),
        );
    }
}

#[test]
fn golden_caches_hold_their_rows() {
    for case in golden_cases() {
        assert_same_rows(&case.rows, &read(&load(case.folder)).unwrap());
    }
    // Written by the oracle: no validity buffers, text offsets of 32 bits, another LZ4 encoder.
    for folder in ["oracle-none", "oracle-lz4"] {
        assert_same_rows(&typed_rows(40), &read(&load(folder)).unwrap());
    }
}

#[test]
fn golden_structures_encode_to_the_same_bytes() {
    let own = golden_cases().into_iter().map(|case| case.folder);
    let mut lz4_records = 0;
    for folder in own.chain(["oracle-none", "oracle-lz4"]) {
        let files = load(folder);
        let manifest = decode_manifest(&files["manifest.json"]).unwrap();
        assert_eq!(encode_manifest(&manifest).unwrap(), files["manifest.json"]);
        let origin = decode_origin(&files["origin.json"]).unwrap();
        assert_eq!(origin.created_at.to_string(), "2026-01-02T03:04:05Z");
        assert_eq!(encode_origin(&origin).unwrap(), files["origin.json"]);
        let table = BlockTable::decode(&files["blocks.bin"]).unwrap();
        assert_eq!(table.encode(), files["blocks.bin"]);
        let index = &files["index.bin"];
        for (sample, row) in IndexView::new(index).unwrap().rows() {
            let row = row.unwrap();
            let at = usize::try_from(sample.get()).unwrap() * 32;
            assert_eq!(encode_index_row(&row), index[at..at + 32]);
            let path = crate::CacheFile::Shard(row.shard).path();
            let start = usize::try_from(row.offset_bytes).unwrap();
            let stored = &files[&path][start..][..row.stored_bytes as usize];
            let mut payload = vec![0; row.raw_bytes as usize];
            decode_record(sample, &row, stored, &mut payload).unwrap();
            lz4_records += usize::from(row.codec == Codec::Lz4);
            if folder != "oracle-lz4" {
                assert_encodes_to(manifest.compression, sample, &payload, stored);
            }
        }
    }
    assert!(lz4_records > 30, "{lz4_records}");
}

fn assert_encodes_to(compression: Compression, sample: SampleId, payload: &[u8], stored: &[u8]) {
    let mut scratch = vec![0xee; 5000];
    let head = encode_record(payload, compression, sample, &mut scratch).unwrap();
    assert_eq!(head.stored(payload, &scratch), stored);
}

//! The golden snapshots: every structure is decoded and encoded again, byte for byte.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;

use super::corpus::repository_path;
use crate::snapshot::{
    HANDLE_FILE, OrderSections, RowSampleEntries, RowSampleWidth, SnapshotTail, TABLE_FILE,
    TABLES_FILE, TableSections, decode_handle, decode_table, encode_handle, encode_order,
    encode_tables,
};
use crate::{CacheFile, FileSeal};

const CASES: [&str; 4] = ["untouched", "weighted", "each-once", "wide"];

fn load(case: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = repository_path("tests/golden/snapshots/v1").join(case);
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect()
}

fn narrow(bytes: &[u8]) -> Vec<u32> {
    let numbers = bytes.as_chunks::<4>().0.iter();
    numbers.map(|number| u32::from_le_bytes(*number)).collect()
}

fn wide(bytes: &[u8]) -> Vec<u64> {
    let numbers = bytes.as_chunks::<8>().0.iter();
    numbers.map(|number| u64::from_le_bytes(*number)).collect()
}

/// What an encoder that writes in pieces writes.
fn whole(encode: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), ()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(&mut |piece| bytes.extend_from_slice(piece)).unwrap();
    bytes
}

#[test]
fn golden_handles_encode_to_the_same_bytes() {
    for case in CASES {
        let files = load(case);
        let handle = decode_handle(&files[HANDLE_FILE]).unwrap();
        assert_eq!(
            encode_handle(&handle).unwrap(),
            files[HANDLE_FILE],
            "{case}"
        );
        assert_eq!(handle.writer_version, "oracle");
        for (name, seal) in [(TABLE_FILE, handle.table), (TABLES_FILE, handle.tables)] {
            assert_eq!(
                files.get(name).map(|file| FileSeal::of(file)),
                seal,
                "{case}"
            );
        }
    }
}

#[test]
fn golden_handles_say_what_they_were_written_with() {
    let handle = |case| decode_handle(&load(case)[HANDLE_FILE]).unwrap();
    let weighted = handle("weighted");
    assert_eq!(weighted.options.seed, u64::MAX);
    assert!(weighted.options.skips_corrupt && weighted.weighted);
    assert_eq!((weighted.position, weighted.window_end), (104, 110));
    let part = handle("each-once").part;
    assert_eq!(
        (part.index, part.count, part.tail),
        (2, 3, SnapshotTail::Drop)
    );
    let wide = handle("wide");
    assert_eq!((wide.position, wide.skipped), (1 << 63, u64::MAX));
    assert_eq!(wide.part.tail, SnapshotTail::Pad);
}

#[test]
fn golden_tables_encode_to_the_same_bytes() {
    let mut found = Vec::new();
    for case in CASES {
        let files = load(case);
        let Some(bytes) = files.get(TABLES_FILE) else {
            continue;
        };
        let handle = decode_handle(&files[HANDLE_FILE]).unwrap();
        let sections = TableSections::locate(&handle, bytes.len() as u64).unwrap();
        let (samples32, samples64) = (
            narrow(&bytes[sections.row_samples.clone()]),
            wide(&bytes[sections.row_samples]),
        );
        let row_samples = match handle.row_samples {
            RowSampleWidth::Identity => RowSampleEntries::Identity,
            RowSampleWidth::Narrow => RowSampleEntries::Narrow(&samples32),
            RowSampleWidth::Wide => RowSampleEntries::Wide(&samples64),
        };
        let (sums, guide) = (wide(&bytes[sections.sums]), narrow(&bytes[sections.guide]));
        let weights = handle.weighted.then_some((&*sums, &*guide));
        let encoded = whole(|write| {
            encode_tables(row_samples, weights, |piece| {
                write(piece);
                Ok(())
            })
        });
        assert_eq!(encoded, *bytes, "{case}");
        found.push(handle.row_samples.name());
    }
    assert_eq!(found, ["u32", "identity", "u64"]);
}

#[test]
fn golden_order_encodes_to_the_same_bytes() {
    let bytes = &load("each-once")[&CacheFile::SnapshotOrder(5).path()];
    let sections = OrderSections::locate(5, 150, bytes.len() as u64).unwrap();
    let (rows, run_ends) = (
        narrow(&bytes[sections.rows]),
        narrow(&bytes[sections.run_ends]),
    );
    assert_eq!(run_ends, [40, 150]);
    let encoded = whole(|write| {
        encode_order(&rows, &run_ends, |piece| {
            write(piece);
            Ok(())
        })
    });
    assert_eq!(encoded, *bytes);
}

#[test]
fn golden_table_of_another_writer_is_read() {
    let (schema, batches) = decode_table(&load("weighted")[TABLE_FILE]).unwrap();
    assert_eq!(schema.fields().len(), 4);
    let notes = batches[0]
        .column_by_name("note")
        .unwrap()
        .as_string::<i32>();
    let notes: Vec<_> = notes.iter().collect();
    assert_eq!(notes, [Some("ä"), None, Some(""), Some("c"), Some("d")]);
}

//! Snapshot handles and tables: round trips, and what must be refused.

use super::*;
use crate::checksum::{Digest128, FileSeal};
use crate::error::{ErrorKind, FormatError};

fn handle() -> SnapshotHandle {
    SnapshotHandle {
        writer_version: "0.1.0".to_owned(),
        caches: vec![SnapshotCache {
            path: "/caches/a \"b\"".to_owned(),
            content_digest: Digest128::of(b"a"),
        }],
        options: SnapshotOptions {
            seed: u64::MAX,
            prefetch_size: 64,
            shuffle: true,
            replacement: false,
            validate_cache: false,
            verify_records: true,
            skips_corrupt: true,
            mapped: false,
        },
        num_workers: 2,
        rows: 3,
        samples: 5,
        row_samples: RowSampleWidth::Narrow,
        weighted: true,
        table_digest: Digest128::of(b"table"),
        epoch_length: 3,
        position: 7,
        window_end: 9,
        skipped: 2,
        table: Some(FileSeal::of(b"arrow")),
        tables: Some(FileSeal::of(b"tables")),
    }
}

fn tables() -> Vec<u8> {
    let mut bytes = Vec::new();
    let written: Result<(), ()> = encode_tables(
        RowSampleEntries::Narrow(&[4, 0, 4]),
        Some((&[1, 5, 9], &[0, 1])),
        |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        },
    );
    assert_eq!(written, Ok(()));
    bytes
}

#[test]
fn handle_decoded_is_the_one_encoded() {
    let text = encode_handle(&handle()).unwrap();
    assert_eq!(decode_handle(&text).unwrap(), handle());
}

#[test]
fn handle_with_any_byte_changed_is_refused() {
    let text = encode_handle(&handle()).unwrap();
    for at in 0..text.len() {
        let mut damaged = text.clone();
        damaged[at] ^= 1;
        assert!(
            decode_handle(&damaged).is_err(),
            "byte {at} of {}",
            String::from_utf8_lossy(&text)
        );
    }
}

#[test]
fn handle_of_a_later_version_is_refused_by_number() {
    let text = String::from_utf8(encode_handle(&handle()).unwrap()).unwrap();
    let later = text.replace("\"format_version\": 1", "\"format_version\": 2");
    let error = decode_handle(later.as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnsupportedVersion);
    assert!(matches!(
        error,
        FormatError::UnsupportedVersion { found: 2, .. }
    ));
}

#[test]
fn tables_sections_are_aligned_and_hold_the_numbers() {
    let bytes = tables();
    let sections = TableSections::locate(&handle(), bytes.len() as u64).unwrap();
    assert_eq!(
        (
            sections.row_samples.clone(),
            sections.sums.clone(),
            sections.guide.clone()
        ),
        (0..12, 64..88, 128..136)
    );
    assert_eq!(
        &bytes[sections.row_samples],
        [4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0]
    );
    assert_eq!(bytes[sections.sums.start + 8], 5);
    assert_eq!(bytes[sections.guide.start + 4], 1);
}

#[test]
fn tables_of_another_length_are_refused() {
    let bytes = tables().len() as u64;
    assert!(matches!(
        TableSections::locate(&handle(), 100),
        Err(FormatError::Truncated { .. })
    ));
    assert!(matches!(
        TableSections::locate(&handle(), bytes + 1),
        Err(FormatError::Mismatch { found: 1, .. })
    ));
    let huge = SnapshotHandle {
        rows: u64::MAX,
        ..handle()
    };
    assert!(TableSections::locate(&huge, bytes).is_err());
}

#[test]
fn tables_of_equal_weights_hold_row_samples_only() {
    let mut bytes = Vec::new();
    let written: Result<(), ()> =
        encode_tables(RowSampleEntries::Wide(&[1, 1 << 40]), None, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
    assert_eq!(written, Ok(()));
    let flat = SnapshotHandle {
        rows: 2,
        row_samples: RowSampleWidth::Wide,
        weighted: false,
        ..handle()
    };
    let sections = TableSections::locate(&flat, bytes.len() as u64).unwrap();
    assert_eq!(
        (sections.row_samples, sections.sums, sections.guide),
        (0..16, 16..16, 16..16)
    );
}

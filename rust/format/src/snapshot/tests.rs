//! Snapshot handles and tables: round trips, and what must be refused.

use super::*;
use crate::checksum::{Digest128, FileSeal};
use crate::error::{ErrorKind, FormatError};
use crate::testing::targets::resealed;

fn handle() -> SnapshotHandle {
    SnapshotHandle {
        writer_version: "0.1.0".to_owned(),
        caches: vec![SnapshotCache {
            path: "/caches/a \"b\"".to_owned(),
            content_digest: Digest128::of(b"a"),
            url: None,
        }],
        store: None,
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
        part: SnapshotPart {
            index: 1,
            count: 3,
            tail: SnapshotTail::Pad,
        },
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
fn handle_of_caches_at_urls_decoded_is_the_one_encoded() {
    let mut handle = handle();
    handle.caches[0].url = Some("s3://bucket/é".to_owned());
    for limit_bytes in [None, Some(1 << 40)] {
        handle.store = Some(SnapshotStore {
            path: "/store".to_owned(),
            limit_bytes,
            look_ahead_bytes: 5,
            max_requests: 6,
            attempts: 7,
            retry_wait_ms: 8,
            request_timeout_ms: 9,
        });
        let text = encode_handle(&handle).unwrap();
        assert_eq!(decode_handle(&text).unwrap(), handle);
    }
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

/// The handle's text with one edit, under the checksum that fits.
fn edited(from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(encode_handle(&handle()).unwrap()).unwrap();
    assert!(text.contains(from), "{from}");
    resealed(text.replacen(from, to, 1).as_bytes())
}

fn assert_faulty_field(text: &[u8], wanted: &str) {
    match decode_handle(text) {
        Err(FormatError::InvalidText { field, .. }) => assert_eq!(field, wanted),
        other => panic!("{wanted}: {other:?}"),
    }
}

#[test]
fn handle_with_an_array_for_an_object_is_refused() {
    let digest = Digest128::of(b"a").to_string();
    let cache = format!(
        "{{\n      \"path\": \"/caches/a \\\"b\\\"\",\n      \"content_digest\": \"{digest}\"\n    }}"
    );
    let part = "{\n    \"index\": 1,\n    \"count\": 3,\n    \"tail\": \"pad\"\n  }";
    for (object, array) in [
        (cache.as_str(), format!("[\"/caches/a\", \"{digest}\"]")),
        (part, "[1, 3, \"pad\"]".to_owned()),
    ] {
        assert!(decode_handle(&edited(object, object)).is_ok());
        let refused = decode_handle(&edited(object, &array)).unwrap_err();
        assert!(matches!(refused, FormatError::Malformed { .. }), "{array}");
    }
}

#[test]
fn handle_with_a_part_that_does_not_exist_is_refused() {
    assert_faulty_field(&edited("\"index\": 1", "\"index\": 3"), "part.index");
    assert_faulty_field(&edited("\"count\": 3", "\"count\": 0"), "part.index");
    assert_faulty_field(&edited("\"pad\"", "\"PAD\""), "part.tail");
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
fn order_sections_are_aligned_and_hold_the_numbers() {
    let mut bytes = Vec::new();
    let written: Result<(), ()> = encode_order(&[2, 0, 1], &[1, 3], |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    });
    assert_eq!(written, Ok(()));
    let sections = OrderSections::locate(7, 3, bytes.len() as u64).unwrap();
    assert_eq!((sections.rows, sections.run_ends), (0..12, 64..72));
    assert_eq!((bytes[0], bytes[68]), (2, 3));
    // No run, a piece of one, and no room for the rows.
    for (rows, file_bytes) in [(3, 64), (3, 70), (17, 72), (u64::MAX, 72)] {
        let refused = OrderSections::locate(7, rows, file_bytes);
        assert!(refused.is_err(), "{rows} rows in {file_bytes} bytes");
    }
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

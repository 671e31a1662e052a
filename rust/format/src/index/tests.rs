//! Rows, views and the audit of all rows.

use super::*;
use crate::{Checksum, Codec, FormatError, SampleId, ShardId};

fn row(codec: Codec, stored_bytes: u32, raw_bytes: u32) -> IndexRow {
    IndexRow {
        shard: ShardId::new(0x0403_0201),
        codec,
        offset_bytes: 0x1817_1615_1413_1211,
        stored_bytes,
        raw_bytes,
        checksum: Checksum::new(0x2827_2625_2423_2221),
    }
}

fn at(shard: u32, offset_bytes: u64, stored_bytes: u32) -> IndexRow {
    let shard = ShardId::new(shard);
    IndexRow {
        shard,
        offset_bytes,
        ..row(Codec::Raw, stored_bytes, stored_bytes)
    }
}

#[test]
fn row_bytes_stand_where_the_format_says() {
    let bytes = encode_index_row(&row(Codec::Lz4, 0x3433_3231, 0x4443_4241));
    let expected = [
        0x01, 0x02, 0x03, 0x04, 1, 0, 0, 0, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x31,
        0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
    ];
    assert_eq!(bytes, expected);
    assert_eq!(
        decode_index_row(SampleId::new(0), &bytes).unwrap(),
        row(Codec::Lz4, 0x3433_3231, 0x4443_4241)
    );
}

#[test]
fn row_with_lengths_at_the_limits_is_accepted() {
    for legal in [
        row(Codec::Raw, 0, 0),
        row(Codec::Raw, u32::MAX, u32::MAX),
        row(Codec::Lz4, 1, 2),
        row(Codec::Lz4, 10, 2550),
        row(Codec::Lz4, u32::MAX / 4, 0x7e00_0000),
    ] {
        let bytes = encode_index_row(&legal);
        assert_eq!(decode_index_row(SampleId::new(3), &bytes).unwrap(), legal);
    }
}

#[test]
fn row_with_lengths_beyond_the_limits_is_refused() {
    for illegal in [
        row(Codec::Raw, 1, 0),
        row(Codec::Raw, 5, 6),
        row(Codec::Lz4, 0, 0),
        row(Codec::Lz4, 0, 1),
        row(Codec::Lz4, 5, 5),
        row(Codec::Lz4, 10, 2551),
        row(Codec::Lz4, u32::MAX / 4, 0x7e00_0001),
    ] {
        let refused = decode_index_row(SampleId::new(3), &encode_index_row(&illegal)).unwrap_err();
        match refused {
            FormatError::OutOfRange { site, .. } | FormatError::Mismatch { site, .. } => {
                assert_eq!(
                    (site.offset_bytes, site.sample),
                    (96, Some(SampleId::new(3)))
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn row_with_unknown_codec_or_padding_is_refused() {
    let bytes = encode_index_row(&row(Codec::Raw, 4, 4));
    for (place, field) in [(4, "codec"), (5, "padding"), (6, "padding"), (7, "padding")] {
        let mut edited = bytes;
        edited[place] = 2;
        let refused = decode_index_row(SampleId::new(0), &edited);
        assert!(
            matches!(refused, Err(FormatError::OutOfRange { field: found, .. }) if found == field)
        );
    }
}

#[test]
fn record_end_is_compared_with_the_shard() {
    let sample = SampleId::new(1);
    assert!(at(0, 10, 5).check_within(sample, 15).is_ok());
    assert!(at(0, 10, 5).check_within(sample, 14).is_err());
    let wrapping = at(0, u64::MAX, 2);
    assert_eq!(wrapping.end_bytes(), None);
    assert!(wrapping.check_within(sample, u64::MAX).is_err());
}

#[test]
fn view_of_a_part_answers_for_its_samples_alone() {
    let bytes = [
        encode_index_row(&at(0, 0, 1)),
        encode_index_row(&at(0, 1, 2)),
    ]
    .concat();
    let view = IndexView::starting_at(SampleId::new(7), &bytes).unwrap();
    assert_eq!((view.len(), view.is_empty()), (2, false));
    assert_eq!(view.row(SampleId::new(8)).unwrap().unwrap(), at(0, 1, 2));
    assert!(view.row(SampleId::new(6)).is_none());
    assert!(view.row(SampleId::new(9)).is_none());
    let samples: Vec<u64> = view.rows().map(|(sample, _)| sample.get()).collect();
    assert_eq!(samples, [7, 8]);
    match IndexView::new(&bytes[..63]).unwrap_err() {
        FormatError::Truncated {
            site,
            expected_bytes: 32,
            found_bytes: 31,
        } => {
            assert_eq!(site.offset_bytes, 32);
        }
        other => panic!("{other:?}"),
    }
}

fn audit(shard_bytes: &[u64], rows: &[IndexRow]) -> Result<u64, FormatError> {
    let mut audit = IndexAudit::new(shard_bytes);
    for (sample, row) in (0..).map(SampleId::new).zip(rows) {
        audit.push(sample, row)?;
    }
    let payload_bytes = audit.payload_bytes();
    audit.finish()?;
    Ok(payload_bytes)
}

#[test]
fn audit_of_records_back_to_back_gives_the_payload_bytes() {
    let rows = [at(0, 0, 4), at(0, 4, 0), at(0, 4, 6), at(1, 0, 3)];
    assert_eq!(audit(&[10, 3], &rows).unwrap(), 13);
    assert_eq!(audit(&[0], &[at(0, 0, 0)]).unwrap(), 0);
}

#[test]
fn audit_of_gaps_overlaps_and_left_over_bytes_refuses() {
    let cases: [(&[u64], &[IndexRow]); 9] = [
        (&[10], &[at(0, 0, 4), at(0, 5, 5)]),
        (&[10], &[at(0, 0, 4), at(0, 3, 7)]),
        (&[10], &[at(0, 1, 9)]),
        (&[10], &[at(0, 0, 9)]),
        (&[10], &[at(0, 0, 11)]),
        (&[10, 3], &[at(0, 0, 9), at(1, 0, 3)]),
        (&[10, 3], &[at(0, 0, 10)]),
        (&[0, 3], &[at(1, 0, 3)]),
        (&[10, 0, 3], &[at(0, 0, 10), at(2, 0, 3)]),
    ];
    for (number, (shard_bytes, rows)) in cases.into_iter().enumerate() {
        assert!(audit(shard_bytes, rows).is_err(), "case {number}");
    }
    assert!(audit(&[10, 3], &[at(0, 0, 10), at(1, 0, 3), at(0, 0, 10)]).is_err());
}

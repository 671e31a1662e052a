//! Encoding, checking and decoding of records.

use super::*;
use crate::{FormatError, Region, SampleId, ShardId};

const SAMPLE: SampleId = SampleId::new(11);

fn encode(payload: &[u8], compression: Compression) -> (RecordHead, Vec<u8>) {
    let mut scratch = Vec::new();
    let head = encode_record(payload, compression, SAMPLE, &mut scratch).unwrap();
    let stored = head.stored(payload, &scratch).to_vec();
    (head, stored)
}

fn noise(length: u32) -> Vec<u8> {
    let mixed = (0..length).map(|number| number.wrapping_mul(0x9e37_79b9) >> 7);
    mixed
        .map(|number| number.to_le_bytes()[1] ^ number.to_le_bytes()[0])
        .collect()
}

#[test]
fn payload_without_compression_is_its_record() {
    for payload in [&b""[..], b"a", &[0; 500]] {
        let (head, stored) = encode(payload, Compression::None);
        assert_eq!((head.codec, stored.as_slice()), (Codec::Raw, payload));
        assert_eq!(head.stored_bytes, head.raw_bytes);
        assert_eq!(head.raw_bytes as usize, payload.len());
    }
}

#[test]
fn payload_that_compresses_becomes_a_block_and_comes_back() {
    let payload = [vec![7; 3000], noise(50), vec![9; 500]].concat();
    let (head, stored) = encode(&payload, Compression::Lz4);
    assert_eq!((head.codec, head.raw_bytes), (Codec::Lz4, 3550));
    assert!(stored.len() < 200);
    let row = head.at(ShardId::new(2), 40);
    check_record(SAMPLE, &row, &stored).unwrap();
    let mut out = vec![1; payload.len()];
    decode_record(SAMPLE, &row, &stored, &mut out).unwrap();
    assert_eq!(out, payload);
}

#[test]
fn payload_that_does_not_get_smaller_stays_raw() {
    for payload in [Vec::new(), vec![5], vec![5; 5], noise(300)] {
        assert_eq!(
            encode(&payload, Compression::Lz4).0.codec,
            Codec::Raw,
            "{}",
            payload.len()
        );
    }
}

#[test]
fn scratch_used_before_changes_nothing() {
    let payload = [vec![3; 900], noise(40)].concat();
    let (head, stored) = encode(&payload, Compression::Lz4);
    let mut scratch = vec![0xee; 100_000];
    let again = encode_record(&payload, Compression::Lz4, SAMPLE, &mut scratch).unwrap();
    assert_eq!(
        (again, again.stored(&payload, &scratch)),
        (head, stored.as_slice())
    );
}

#[test]
fn record_of_another_sample_is_refused() {
    let (head, stored) = encode(b"payload", Compression::None);
    let row = head.at(ShardId::new(3), 99);
    check_record(SAMPLE, &row, &stored).unwrap();
    match check_record(SampleId::new(12), &row, &stored).unwrap_err() {
        FormatError::ChecksumMismatch {
            site,
            covered_bytes: 7,
            expected,
            found,
        } => {
            assert_eq!((site.region, site.offset_bytes), (Region::Record, 99));
            assert_eq!(site.file.path(), "shards/000003.bin");
            assert_eq!(site.sample, Some(SampleId::new(12)));
            assert!(expected == head.checksum && found != head.checksum);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn record_with_any_flipped_bit_is_refused() {
    let (head, stored) = encode(&noise(40), Compression::None);
    let row = head.at(ShardId::new(0), 0);
    for bit in 0..stored.len() * 8 {
        let mut damaged = stored.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(check_record(SAMPLE, &row, &damaged).is_err());
    }
    assert!(matches!(
        check_record(SAMPLE, &row, &stored[1..]),
        Err(FormatError::Truncated { .. })
    ));
}

#[test]
fn block_of_another_length_is_refused_and_leaves_zeros() {
    let payload = vec![8; 1000];
    let (head, stored) = encode(&payload, Compression::Lz4);
    for raw_bytes in [999, 1001, 1] {
        let mut row = head.at(ShardId::new(0), 0);
        row.raw_bytes = raw_bytes;
        let mut out = vec![0xaa; raw_bytes as usize];
        assert!(decode_record(SAMPLE, &row, &stored, &mut out).is_err());
        assert!(out.iter().all(|byte| *byte == 0));
    }
}

#[test]
fn buffer_of_another_length_is_refused() {
    let (head, stored) = encode(b"payload", Compression::None);
    let row = head.at(ShardId::new(0), 0);
    let refused = decode_record(SAMPLE, &row, &stored, &mut [0; 6]);
    let expected = Err((7, 6));
    assert_eq!(
        refused.map_err(|error| match error {
            FormatError::BufferLength {
                expected_bytes,
                found_bytes,
            } => (expected_bytes, found_bytes),
            other => panic!("{other:?}"),
        }),
        expected
    );
}

#[test]
fn codec_and_compression_names_come_back() {
    for codec in [Codec::Raw, Codec::Lz4] {
        assert_eq!(Codec::from_code(codec.code()), Some(codec));
    }
    assert_eq!(Codec::from_code(2), None);
    for compression in [Compression::None, Compression::Lz4] {
        assert_eq!(
            Compression::from_name(&compression.to_string()),
            Some(compression)
        );
    }
    assert_eq!(Compression::from_name("LZ4"), None);
}

//! The block table: layout, look-ups, and what it refuses.

use super::*;
use crate::{ErrorKind, FormatError, Region, block_checksum};

fn bytes(length: usize) -> Vec<u8> {
    (0..=250).cycle().take(length).collect()
}

fn table() -> BlockTable {
    let (index, metadata) = (bytes(32 * 3000), bytes(65_536));
    BlockTable::new(
        BlockSums::of(&index),
        BlockSums::of(&metadata),
        vec![1000, 3000],
    )
    .unwrap()
}

fn with_trailer(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 8;
    let checksum = block_checksum(&bytes[..end]).get();
    bytes[end..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

#[test]
fn table_bytes_stand_where_the_format_says() {
    let encoded = table().encode();
    let number = |at: usize| u64::from_le_bytes(encoded[at..at + 8].try_into().unwrap());
    assert_eq!(&encoded[..8], b"DRTBLKS1");
    assert_eq!(number(8), 65_536 << 32 | 1);
    assert_eq!([number(16), number(24), number(32)], [96_000, 65_536, 2]);
    assert_eq!([number(40), number(48)], [1000, 3000]);
    let index = bytes(96_000);
    assert_eq!(number(56), block_checksum(&index[..65_536]).get());
    assert_eq!(number(64), block_checksum(&index[65_536..]).get());
    assert_eq!(number(72), block_checksum(&bytes(65_536)).get());
    assert_eq!(number(80), block_checksum(&encoded[..80]).get());
    assert_eq!(encoded.len(), 88);
    assert_eq!(BlockTable::decode(&encoded).unwrap(), table());
}

#[test]
fn block_look_ups_end_with_the_file() {
    let table = table();
    let (index, metadata) = (BlockedFile::Index, BlockedFile::Metadata);
    assert_eq!(
        (table.block_count(index), table.block_count(metadata)),
        (2, 1)
    );
    assert_eq!(table.block_range(index, 1), Some(65_536..96_000));
    assert_eq!(table.block_range(metadata, 0), Some(0..65_536));
    assert_eq!(table.block_range(metadata, 1), None);
    assert_eq!(table.row_count(), 3000);
}

#[test]
fn block_check_tells_length_and_bytes_apart() {
    let (table, mut block) = (table(), bytes(96_000)[65_536..].to_vec());
    table.check_block(BlockedFile::Index, 1, &block).unwrap();
    block[3] ^= 1;
    match table
        .check_block(BlockedFile::Index, 1, &block)
        .unwrap_err()
    {
        FormatError::ChecksumMismatch {
            site,
            covered_bytes: 30_464,
            ..
        } => {
            assert_eq!((site.region, site.offset_bytes), (Region::Block, 65_536));
            assert_eq!(site.file.path(), "index.bin");
        }
        other => panic!("{other:?}"),
    }
    let cut = table.check_block(BlockedFile::Index, 1, &block[1..]);
    assert!(matches!(
        cut,
        Err(FormatError::Truncated {
            expected_bytes: 30_464,
            ..
        })
    ));
    let beyond = table.check_block(BlockedFile::Metadata, 1, &[]);
    assert!(matches!(
        beyond,
        Err(FormatError::Absent {
            count: 1,
            found: 1,
            ..
        })
    ));
}

#[test]
fn block_hasher_fed_in_pieces_gives_the_sums_of_the_whole() {
    for length in [0, 1, 65_535, 65_536, 65_537, 200_000] {
        let whole = BlockSums::of(&bytes(length));
        assert_eq!(whole.sums.len(), length.div_ceil(65_536));
        for piece in [1000, 32_768, 65_536, 70_000] {
            let mut hasher = BlockHasher::new();
            bytes(length)
                .chunks(piece)
                .for_each(|chunk| hasher.update(chunk));
            assert_eq!(hasher.finish(), whole);
        }
    }
}

#[test]
fn table_with_any_changed_byte_is_refused() {
    let encoded = table().encode();
    for at in 0..encoded.len() {
        let mut edited = encoded.clone();
        edited[at] ^= 0x40;
        assert!(BlockTable::decode(&edited).is_err(), "byte {at}");
        assert!(BlockTable::decode(&encoded[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn table_of_a_later_layout_is_unsupported() {
    let mut edited = table().encode();
    edited[8] = 2;
    let refused = BlockTable::decode(&with_trailer(edited)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::UnsupportedVersion);
}

#[test]
fn table_with_fitting_checksum_and_illegal_numbers_is_refused() {
    let edits: [(usize, u64); 9] = [
        (8, 32_768 << 32 | 1),
        (16, 96_001),
        (16, u64::MAX),
        (24, u64::MAX),
        (32, u64::MAX),
        (32, 1 << 61),
        (40, 0),
        (40, 3000),
        (48, 2999),
    ];
    for (at, number) in edits {
        let mut edited = table().encode();
        edited[at..at + 8].copy_from_slice(&number.to_le_bytes());
        let refused = BlockTable::decode(&with_trailer(edited)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{at} {number}");
    }
}

#[test]
fn table_with_bytes_that_nothing_names_is_refused() {
    let mut longer = table().encode();
    longer.extend_from_slice(&[0; 8]);
    let refused = BlockTable::decode(&with_trailer(longer)).unwrap_err();
    assert!(matches!(
        refused,
        FormatError::Truncated {
            expected_bytes: 88,
            found_bytes: 96,
            ..
        }
    ));
}

#[test]
fn table_of_parts_that_do_not_fit_is_refused() {
    let sums = || BlockSums::of(&bytes(64));
    assert!(BlockTable::new(sums(), sums(), vec![1, 2]).is_ok());
    for ends in [
        vec![],
        vec![1],
        vec![2, 2],
        vec![0, 2],
        vec![3],
        vec![2, 1, 2],
    ] {
        assert!(BlockTable::new(sums(), sums(), ends).is_err());
    }
    assert!(BlockTable::new(BlockSums::of(&bytes(63)), sums(), vec![1]).is_err());
    assert!(BlockTable::new(BlockSums::default(), sums(), vec![]).is_err());
}

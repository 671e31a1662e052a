//! Damage of every kind of file: found at open, at read or by verification, and named.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset_rt_format::{ErrorKind, MetadataValueRef, SampleId, ShardId};

use super::{assert_sample, open, pool, small, write};
use crate::durable::Disk;
use crate::{
    InterruptCheck, LoadedCache, OpenOptions, Pushed, StorageError, VerifyReport, WriteOptions,
};

/// A cache of 200 rows in several shards.
fn made(base: &Path) -> PathBuf {
    write(&Disk::new(), base, "a", &small(), 1, 200)
        .unwrap()
        .path
}

/// A cache of 5000 rows without payload: three blocks of index.
fn made_long(base: &Path) -> PathBuf {
    let options = WriteOptions::default();
    let crate::Begin::Building(mut writer) =
        super::begin(&Disk::new(), base, "a", &options, 1).unwrap()
    else {
        panic!("exists");
    };
    for row in 0..5000_i64 {
        let text = format!("{row:020}");
        let fields = [
            ("label", MetadataValueRef::from(text.as_str())),
            ("row", MetadataValueRef::Int64(row)),
        ];
        if writer.push(Vec::new(), &fields).unwrap() == Pushed::BlockFull {
            writer.dispatch().unwrap();
        }
    }
    writer.finish().unwrap().path
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

fn cut(path: &Path, bytes: u64) {
    let length = fs::metadata(path).unwrap().len();
    fs::OpenOptions::new()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(length - bytes)
        .unwrap();
}

fn open_as(path: &Path, mapped: bool) -> Result<LoadedCache, StorageError> {
    LoadedCache::open(&Disk::new(), path, OpenOptions { mapped })
}

fn verify(path: &Path) -> VerifyReport {
    Arc::new(open(path))
        .verify(&pool(2), &InterruptCheck::never(), &Arc::default())
        .unwrap()
}

/// The samples that a verification names, and the file of the finding.
fn named(report: &VerifyReport) -> Vec<(String, Option<(u64, u64)>)> {
    let damages = report.damages.iter();
    damages
        .map(|damage| {
            assert_eq!(damage.error.kind(), ErrorKind::Corrupt);
            let samples = damage
                .samples
                .as_ref()
                .map(|samples| (samples.start, samples.end));
            (damage.error.facts().file.unwrap(), samples)
        })
        .collect()
}

#[test]
fn flipped_payload_byte_is_found_at_read_and_named_by_verification() {
    let base = tempfile::tempdir().unwrap();
    let path = made(base.path());
    let row = open(&path).index_row(SampleId::new(77)).unwrap();
    assert!(row.shard.get() > 2 && row.stored_bytes > 0);
    flip(
        &path.join(format!("shards/{:06}.bin", row.shard.get())),
        usize::try_from(row.offset_bytes).unwrap(),
    );
    for mapped in [true, false] {
        let cache = open_as(&path, mapped).unwrap();
        let sample = SampleId::new(77);
        let stored = cache.record_bytes(sample, &row).unwrap();
        let error = cache.check_record(sample, &row, &stored).unwrap_err();
        let facts = error.facts();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!(facts.path.as_deref(), Some(path.as_path()));
        assert_eq!(
            (facts.sample_id, facts.shard),
            (Some(77), Some(row.shard.get()))
        );
        assert_eq!(
            facts.byte_range,
            Some((row.offset_bytes, row.end_bytes().unwrap()))
        );
        assert!(facts.expected.is_some() && facts.found.is_some());
        (0..200)
            .filter(|row| *row != 77)
            .for_each(|row| assert_sample(&cache, row));
    }
    let file = format!("shards/{:06}.bin", row.shard.get());
    assert_eq!(named(&verify(&path)), [(file, Some((77, 78)))]);
}

#[test]
fn exchanged_records_of_equal_length_are_found() {
    let base = tempfile::tempdir().unwrap();
    let options = WriteOptions::default();
    let crate::Begin::Building(mut writer) =
        super::begin(&Disk::new(), base.path(), "a", &options, 1).unwrap()
    else {
        panic!("exists");
    };
    for byte in 0..3 {
        let _ = writer.push(vec![byte; 8], &[]).unwrap();
    }
    let path = writer.finish().unwrap().path;
    let shard = path.join("shards/000000.bin");
    let mut bytes = fs::read(&shard).unwrap();
    bytes.rotate_left(8);
    fs::write(&shard, bytes).unwrap();
    assert_eq!(
        named(&verify(&path)),
        [("shards/000000.bin".to_owned(), Some((0, 3)))]
    );
}

#[test]
fn file_cut_by_one_byte_fails_at_open_and_is_named() {
    for file in [
        "index.bin",
        "metadata.arrow",
        "blocks.bin",
        "shards/000000.bin",
        "shards/000003.bin",
    ] {
        let base = tempfile::tempdir().unwrap();
        let path = made(base.path());
        cut(&path.join(file), 1);
        for mapped in [true, false] {
            let error = open_as(&path, mapped).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{file}");
            assert_eq!(error.facts().file.as_deref(), Some(file));
        }
    }
}

#[test]
fn missing_file_fails_at_open_and_is_named() {
    for file in [
        "index.bin",
        "metadata.arrow",
        "blocks.bin",
        "shards/000002.bin",
    ] {
        let base = tempfile::tempdir().unwrap();
        let path = made(base.path());
        fs::remove_file(path.join(file)).unwrap();
        let error = open_as(&path, true).unwrap_err();
        assert!(matches!(error, StorageError::MissingFile { .. }), "{error}");
        assert_eq!(error.facts().file.as_deref(), Some(file));
    }
    let base = tempfile::tempdir().unwrap();
    let path = made(base.path());
    let error = open_as(base.path(), true).unwrap_err();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(
        error
            .to_string()
            .ends_with(&format!("the cache in it is {name:?}")),
        "{error}"
    );
    fs::remove_file(path.join("manifest.json")).unwrap();
    let error = open_as(&path, true).unwrap_err();
    assert!(
        matches!(&error, StorageError::NoManifest { caches, .. } if caches.is_empty()),
        "{error}"
    );
}

#[test]
fn missing_or_damaged_origin_leaves_the_cache_whole() {
    let base = tempfile::tempdir().unwrap();
    let path = made(base.path());
    flip(&path.join("origin.json"), 30);
    assert!(verify(&path).is_intact());
    fs::remove_file(path.join("origin.json")).unwrap();
    assert!(verify(&path).is_intact());
}

#[test]
fn flipped_byte_in_manifest_or_block_table_fails_at_open() {
    for (file, at) in [
        ("manifest.json", 100),
        ("blocks.bin", 50),
        ("blocks.bin", 3),
    ] {
        let base = tempfile::tempdir().unwrap();
        let path = made(base.path());
        flip(&path.join(file), at);
        assert_eq!(
            open_as(&path, true).unwrap_err().kind(),
            ErrorKind::Corrupt,
            "{file} {at}"
        );
    }
}

#[test]
fn flipped_index_byte_concerns_the_rows_of_its_block_alone() {
    let base = tempfile::tempdir().unwrap();
    let path = made_long(base.path());
    flip(&path.join("index.bin"), 3000 * 32 + 9);
    for mapped in [true, false] {
        let cache = open_as(&path, mapped).unwrap();
        for row in [0, 2047, 4096, 4999] {
            cache.index_row(SampleId::new(row)).unwrap();
        }
        for row in [2048, 3000, 4095] {
            let error = cache.index_row(SampleId::new(row)).unwrap_err();
            assert_eq!(error.facts().file.as_deref(), Some("index.bin"));
            assert_eq!(error.facts().byte_range, Some((65_536, 131_072)));
        }
    }
    assert_eq!(
        named(&verify(&path)),
        [("index.bin".to_owned(), Some((2048, 4096)))]
    );
}

#[test]
fn flipped_metadata_byte_is_found_by_values_by_batches_and_by_verification() {
    let base = tempfile::tempdir().unwrap();
    let path = made_long(base.path());
    let metadata = path.join("metadata.arrow");
    let bytes = fs::read(&metadata).unwrap();
    let text = format!("{:020}", 4000);
    let at = bytes
        .windows(20)
        .rposition(|window| window == text.as_bytes())
        .unwrap();
    flip(&metadata, at);
    for mapped in [true, false] {
        let cache = open_as(&path, mapped).unwrap();
        let value = |row| {
            cache
                .metadata_row(SampleId::new(row))
                .unwrap()
                .value(0)
                .map(|value| value.into_owned())
        };
        assert!(value(10).is_ok());
        assert_eq!(value(4000).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(
            cache.metadata_batches().unwrap_err().kind(),
            ErrorKind::Corrupt
        );
    }
    let report = verify(&path);
    let concerned = report.damages.iter().any(|damage| {
        damage
            .samples
            .as_ref()
            .is_some_and(|range| range.contains(&4000))
    });
    assert!(concerned, "{report:?}");
    assert!(report.damages.iter().all(|damage| {
        damage
            .samples
            .as_ref()
            .is_some_and(|range| !range.contains(&10))
    }));
}

#[test]
fn file_cut_after_open_is_found_by_the_length_check_and_by_positioned_reads() {
    for file in ["index.bin", "metadata.arrow", "shards/000002.bin"] {
        let base = tempfile::tempdir().unwrap();
        let path = made(base.path());
        let mapped = open_as(&path, true).unwrap();
        let positioned = open_as(&path, false).unwrap();
        let all: Vec<ShardId> = (0..5).map(ShardId::new).collect();
        mapped.recheck_lengths(&all).unwrap();
        let row = mapped.index_row(SampleId::new(50)).unwrap();
        fs::OpenOptions::new()
            .write(true)
            .open(path.join(file))
            .unwrap()
            .set_len(0)
            .unwrap();
        for cache in [&mapped, &positioned] {
            let error = cache.recheck_lengths(&all).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert_eq!(error.facts().file.as_deref(), Some(file));
        }
        let sample = SampleId::new(50);
        let read = positioned
            .index_row(sample)
            .and_then(|row| positioned.record_bytes(sample, &row).map(|_| ()))
            .and_then(|()| positioned.metadata_row(sample)?.value(0).map(|_| ()));
        assert!(
            row.shard == ShardId::new(2),
            "choose a sample of the third shard"
        );
        if file == "metadata.arrow" {
            // The only block was checked and kept when the footer was read.
            read.unwrap();
            continue;
        }
        let error = read.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert_eq!(error.facts().file.as_deref(), Some(file));
    }
}

#[test]
fn verification_when_interrupted_stops() {
    let base = tempfile::tempdir().unwrap();
    let cache = Arc::new(open(&made(base.path())));
    let (entered_sender, entered) = std::sync::mpsc::channel();
    let (open_gate, gate) = std::sync::mpsc::channel::<()>();
    // The only worker is kept busy, so the verification has to wait, and the wait makes the check.
    let pool = pool(1);
    let mut window = dataset_rt_pool::OrderedWindow::new(
        &pool,
        std::num::NonZeroUsize::MIN,
        &dataset_rt_pool::CancelToken::new(),
    );
    window
        .submit(move || {
            entered_sender.send(()).unwrap();
            let _opened = gate.recv();
        })
        .unwrap();
    entered.recv().unwrap();
    let outcome = cache.verify(&pool, &InterruptCheck::new(|| true), &Arc::default());
    assert!(matches!(outcome, Err(StorageError::Cancelled)));
    drop(open_gate);
}

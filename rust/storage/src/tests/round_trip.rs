//! What is written is what is read, for any worker count and way of reading.

use std::sync::Arc;

use super::{assert_holds, begin, payload, pool, tree, write};
use crate::durable::Disk;
use crate::{
    Begin, InterruptCheck, LoadedCache, OpenOptions, StorageError, VerifyProgress, WriteOptions,
};
use dataset_rt_format::{Codec, Compression, ErrorKind, SampleId};

fn options(compression: Compression) -> WriteOptions {
    WriteOptions {
        max_shard_bytes: 100_000,
        compression,
        ..WriteOptions::default()
    }
}

#[test]
fn cache_written_and_opened_holds_the_source_mapped_or_not() {
    let base = tempfile::tempdir().unwrap();
    let disk = Disk::new();
    for (name, compression) in [("raw", Compression::None), ("lz4", Compression::Lz4)] {
        let report = write(&disk, base.path(), name, &options(compression), 2, 700).unwrap();
        assert_eq!(report.path, base.path().join(name));
        assert_eq!(report.sample_count, 700);
        for mapped in [true, false] {
            let cache = LoadedCache::open(&disk, &report.path, OpenOptions { mapped }).unwrap();
            assert!(cache.manifest().shard_count() > 2, "{name} has one shard");
            assert_holds(&cache, 700);
            let rows: usize = cache
                .metadata_batches()
                .unwrap()
                .iter()
                .map(|batch| batch.num_rows())
                .sum();
            assert_eq!(rows, 700);
            assert!(matches!(
                cache.index_row(dataset_rt_format::SampleId::new(700)),
                Err(StorageError::NoSuchSample {
                    sample: 700,
                    sample_count: 700,
                    ..
                })
            ));
            let cache = Arc::new(cache);
            let progress = Arc::new(VerifyProgress::default());
            let verified = cache
                .verify(&pool(2), &InterruptCheck::never(), &progress)
                .unwrap();
            assert!(verified.is_intact(), "{:?}", verified.damages);
            assert_eq!(progress.bytes(), progress.total_bytes());
        }
    }
    let names: Vec<String> = tree(base.path())
        .into_keys()
        .filter(|name| name.starts_with("tmp"))
        .collect();
    assert_eq!(names, Vec::<String>::new());
}

#[test]
fn plain_record_is_the_payload_where_nothing_is_unusual() {
    let base = tempfile::tempdir().unwrap();
    let disk = Disk::new();
    let open = |name: &str, compression, mapped| {
        let path = base.path().join(name);
        if !path.exists() {
            write(&disk, base.path(), name, &options(compression), 1, 700).unwrap();
        }
        LoadedCache::open(&disk, &path, OpenOptions { mapped }).unwrap()
    };
    let samples = || (0..700).map(SampleId::new);
    let cache = open("raw", Compression::None, true);
    assert!(samples().all(|sample| cache.plain_record(sample).is_none()));
    for sample in samples() {
        cache.index_row(sample).unwrap();
        let record = cache.plain_record(sample).unwrap();
        record.touch();
        assert_eq!(record.stored, payload(sample.get()));
        assert!(record.is_whole(&payload(sample.get())));
        assert!(!record.is_whole(&payload(sample.get() + 1)));
    }
    for beyond in [700, u64::MAX / 32, u64::MAX] {
        assert!(cache.plain_record(SampleId::new(beyond)).is_none());
    }
    let positioned = open("raw", Compression::None, false);
    let compressed = open("lz4", Compression::Lz4, true);
    for sample in samples() {
        positioned.index_row(sample).unwrap();
        assert!(positioned.plain_record(sample).is_none());
        let codec = compressed.index_row(sample).unwrap().codec;
        let is_plain = compressed.plain_record(sample).is_some();
        assert_eq!(is_plain, codec == Codec::Raw);
    }
}

#[test]
fn bytes_for_any_worker_count_and_prefetch_are_equal() {
    for compression in [Compression::None, Compression::Lz4] {
        let mut first = None;
        for (workers, prefetch_size) in [(1, 1), (2, 64), (8, 3), (8, 64)] {
            let base = tempfile::tempdir().unwrap();
            let options = WriteOptions {
                prefetch_size,
                ..options(compression)
            };
            write(&Disk::new(), base.path(), "a", &options, workers, 3000).unwrap();
            let mut files = tree(base.path());
            files.remove("a/origin.json").unwrap();
            assert_eq!(first.get_or_insert_with(|| files.clone()), &files);
        }
    }
}

#[test]
fn record_larger_than_a_shard_gets_a_shard_of_its_own() {
    let base = tempfile::tempdir().unwrap();
    let options = WriteOptions {
        max_shard_bytes: 10,
        ..WriteOptions::default()
    };
    let Begin::Building(mut writer) = begin(&Disk::new(), base.path(), "a", &options, 1).unwrap()
    else {
        panic!("exists");
    };
    for bytes in [4usize, 6, 1, 25, 0, 10] {
        let _ = writer.push(vec![7; bytes], &[]).unwrap();
    }
    let report = writer.finish().unwrap();
    let cache = LoadedCache::open(&Disk::new(), &report.path, OpenOptions::default()).unwrap();
    let lengths: Vec<u64> = (0..cache.manifest().shard_count())
        .filter_map(|shard| cache.manifest().shard_bytes(shard))
        .collect();
    assert_eq!(lengths, [10, 1, 25, 10]);
    assert!(
        Arc::new(cache)
            .verify(&pool(1), &InterruptCheck::never(), &Arc::default())
            .unwrap()
            .is_intact()
    );
}

#[test]
fn source_without_rows_is_refused_and_leaves_nothing() {
    let base = tempfile::tempdir().unwrap();
    let error = write(
        &Disk::new(),
        base.path(),
        "a",
        &WriteOptions::default(),
        1,
        0,
    )
    .unwrap_err();
    assert!(matches!(error, StorageError::NoSamples { .. }));
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(tree(base.path()).is_empty());
}

#[test]
fn refused_row_ends_the_write_and_leaves_nothing() {
    let base = tempfile::tempdir().unwrap();
    let Begin::Building(mut writer) =
        begin(&Disk::new(), base.path(), "a", &WriteOptions::default(), 1).unwrap()
    else {
        panic!("exists");
    };
    super::push_row(&mut writer, 0).unwrap();
    let error = writer.push(payload(1), &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidMetadata);
    assert!(matches!(
        writer.push(payload(1), &[]),
        Err(StorageError::WriterFailed)
    ));
    assert!(matches!(writer.finish(), Err(StorageError::WriterFailed)));
    assert!(tree(base.path()).is_empty());
}

#[test]
fn dropped_writer_leaves_nothing() {
    let base = tempfile::tempdir().unwrap();
    let Begin::Building(mut writer) =
        begin(&Disk::new(), base.path(), "a", &WriteOptions::default(), 1).unwrap()
    else {
        panic!("exists");
    };
    for row in 0..3000 {
        super::push_row(&mut writer, row).unwrap();
    }
    assert!(!tree(base.path()).is_empty());
    drop(writer);
    assert!(tree(base.path()).is_empty());
}

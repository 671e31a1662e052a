//! Behaviour of the crate as a whole, and the small caches that its tests are made of.

mod any_bytes;
mod convert;
mod damage;
mod endings;
mod failing_io;
mod locking;
mod original;
mod power_cut;
mod publication;
mod recorder;
mod reuse;
mod round_trip;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::durable::Disk;
use crate::{
    Begin, CacheWriter, InterruptCheck, LoadedCache, OnVersionChange, OpenOptions, Pushed,
    StorageError, WriteOptions, WriteReport,
};
use dataset_rt_format::{MetadataValueRef, SampleId};
use dataset_rt_pool::WorkerPool;

/// Payload of row `row`: lengths and bytes vary, some are empty, some compress well and some not at all.
pub fn payload(row: u64) -> Vec<u8> {
    let length = usize::try_from(row * 37 % 6000).unwrap();
    let mut state = row;
    let mut noise = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    (0..length)
        .map(|at| {
            if row.is_multiple_of(3) {
                at.to_le_bytes()[1]
            } else {
                noise()
            }
        })
        .collect()
}

/// Text value of row `row`.
pub fn label(row: u64) -> String {
    format!("räw {}", row % 7)
}

/// Pushes a row of the test source.
pub fn push_row(writer: &mut CacheWriter<Vec<u8>>, row: u64) -> Result<(), StorageError> {
    let text = label(row);
    let fields = [
        ("score", MetadataValueRef::Float64(f64::from_bits(row))),
        ("label", MetadataValueRef::from(text.as_str())),
        ("even", MetadataValueRef::Bool(row.is_multiple_of(2))),
        (
            "number",
            MetadataValueRef::Int64(-(i64::try_from(row).unwrap())),
        ),
    ];
    match writer.push(payload(row), &fields)? {
        Pushed::Room => Ok(()),
        Pushed::BlockFull => writer.dispatch(),
    }
}

pub fn begin(
    disk: &Disk,
    base: &Path,
    name: &str,
    options: &WriteOptions,
    workers: usize,
) -> Result<Begin<Vec<u8>>, StorageError> {
    let pool = WorkerPool::new(workers).unwrap();
    CacheWriter::begin(disk, base, name, options, &pool, &InterruptCheck::never())
}

/// Writes `rows` rows of the test source.
pub fn write(
    disk: &Disk,
    base: &Path,
    name: &str,
    options: &WriteOptions,
    workers: usize,
    rows: u64,
) -> Result<WriteReport, StorageError> {
    let Begin::Building(mut writer) = begin(disk, base, name, options, workers)? else {
        panic!("{name} exists already");
    };
    for row in 0..rows {
        push_row(&mut writer, row)?;
    }
    writer.finish()
}

/// Compares a cache with the test source.
pub fn assert_holds(cache: &LoadedCache, rows: u64) {
    assert_eq!(cache.sample_count(), rows);
    for row in 0..rows {
        assert_sample(cache, row);
    }
}

/// Compares one sample with the test source.
pub fn assert_sample(cache: &LoadedCache, row: u64) {
    let sample = SampleId::new(row);
    let index_row = cache.index_row(sample).unwrap();
    let stored = cache.record_bytes(sample, &index_row).unwrap();
    cache.check_record(sample, &index_row, &stored).unwrap();
    let mut out = vec![0; index_row.raw_bytes as usize];
    cache
        .decode_record(sample, &index_row, &stored, &mut out)
        .unwrap();
    assert_eq!(out, payload(row), "payload of {row}");
    let metadata = cache.metadata_row(sample).unwrap();
    assert_eq!(
        metadata.value(0).unwrap(),
        MetadataValueRef::Bool(row.is_multiple_of(2))
    );
    assert_eq!(
        metadata.value(1).unwrap(),
        MetadataValueRef::from(label(row).as_str())
    );
    assert_eq!(
        metadata.value(2).unwrap(),
        MetadataValueRef::Int64(-(i64::try_from(row).unwrap()))
    );
    assert_eq!(
        metadata.value(3).unwrap(),
        MetadataValueRef::Float64(f64::from_bits(row))
    );
}

/// Every file and folder below `path` with its bytes, by relative path.
pub fn tree(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap().path();
            let name = entry
                .strip_prefix(path)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            if entry.is_dir() {
                found.insert(name, Vec::new());
                folders.push(entry);
            } else {
                found.insert(name, std::fs::read(&entry).unwrap());
            }
        }
    }
    found
}

pub fn pool(workers: usize) -> Arc<WorkerPool> {
    WorkerPool::new(workers).unwrap()
}

/// Options that make several shards of few rows.
pub fn small() -> WriteOptions {
    WriteOptions {
        max_shard_bytes: 20_000,
        ..WriteOptions::default()
    }
}

/// Replaces the cache `base/name` by one of another source version.
pub fn rebuild(
    disk: &Disk,
    base: &Path,
    name: &str,
    rows: u64,
) -> Result<WriteReport, StorageError> {
    let options = WriteOptions {
        source_version: Some(format!("of {rows} rows")),
        on_version_change: OnVersionChange::Rebuild,
        ..small()
    };
    write(disk, base, name, &options, 1, rows)
}

pub fn open(path: &Path) -> LoadedCache {
    LoadedCache::open(&Disk::new(), path, OpenOptions::default()).unwrap()
}

//! Stores that are filled, read, and tampered with.

use std::sync::Arc;

use dataset_rt_format::{ErrorKind, SampleId};
use dataset_rt_pool::CancelToken;

use super::*;
use crate::testing::{Mischief, Objects, check, failed, open, options, records, write_cache};

const ROWS: u64 = 300;

struct Place {
    folder: tempfile::TempDir,
    objects: Arc<Objects>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = write_cache(folder.path(), ROWS, 1000, 50_000);
        let objects = Objects::at(&cache);
        Self { folder, objects }
    }

    fn open(&self) -> Store {
        open(&self.objects, &options(&self.folder.path().join("store")))
    }

    fn shard_reads(&self) -> usize {
        let reads = self.objects.reads.lock().unwrap();
        reads
            .iter()
            .filter(|(name, _)| name.starts_with("shards/"))
            .count()
    }
}

fn await_all(store: &Store, samples: impl IntoIterator<Item = u64>) {
    let records = records(samples);
    let awaited = store.await_records(&records, &CancelToken::new());
    for number in 0..records.len() {
        assert!(awaited.failure(number).is_none(), "{awaited:?}");
    }
}

fn replica(store: &Store) -> &Arc<Replica> {
    store.replica(CacheId::new(0)).unwrap()
}

#[test]
fn opening_fetches_no_record_and_a_second_time_only_the_manifest() {
    let place = Place::new();
    place.open();
    assert_eq!(place.shard_reads(), 0);
    place.objects.reads.lock().unwrap().clear();
    place.open();
    let reads = place.objects.reads.lock().unwrap();
    let names: Vec<_> = reads.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["manifest.json"]);
}

#[test]
fn record_that_is_awaited_is_there_and_is_fetched_once() {
    let place = Place::new();
    let store = place.open();
    assert!(!store.are_resident(records([3])).unwrap());
    await_all(&store, [3, 299, 3]);
    assert!(store.are_resident(records([3, 299])).unwrap());
    let before = place.shard_reads();
    await_all(&store, [299, 3]);
    assert_eq!(place.shard_reads(), before);
    for sample in [3, 299] {
        check(replica(&store).cache(), sample).unwrap();
    }
    assert!(check(replica(&store).cache(), 100).is_err());
}

#[test]
fn records_that_were_announced_come_whether_awaited_or_not() {
    let place = Place::new();
    let store = place.open();
    let told = store
        .announce(&records(0..ROWS), &[1.0], &CancelToken::new())
        .unwrap();
    assert_eq!(told.bytes(), ROWS * 1000);
    await_all(&store, (0..ROWS).rev());
    // Six shards, each smaller than a piece.
    assert_eq!(place.shard_reads(), 6);
    assert_eq!(store.stats().bytes, ROWS * 1000 + opening_bytes(&place));
}

fn opening_bytes(place: &Place) -> u64 {
    let reads = place.objects.reads.lock().unwrap();
    let opening = reads
        .iter()
        .filter(|(name, _)| !name.starts_with("shards/"));
    opening.map(|(_, range)| range.end - range.start).sum()
}

#[test]
fn announcement_nobody_is_interested_in_any_more_does_not_hinder() {
    let place = Place::new();
    let store = place.open();
    let interest = CancelToken::new();
    interest.cancel();
    store
        .announce(&records(0..ROWS), &[1.0], &interest)
        .unwrap();
    await_all(&store, [7]);
    assert!(store.are_resident(records([7])).unwrap());
}

#[test]
fn record_that_can_not_be_had_fails_alone() {
    let place = Place::new();
    let in_turn = StoreOptions {
        max_requests: 1,
        ..options(&place.folder.path().join("store"))
    };
    let store = open(&place.objects, &in_turn);
    place.objects.misbehave(vec![failed(); 3]);
    let awaited = store.await_records(&records([5, 299]), &CancelToken::new());
    let error = awaited.failure(0).unwrap();
    assert_eq!(error.kind(), ErrorKind::Remote);
    assert_eq!(error.facts().byte_range, Some((5000, 6000)));
    assert!(awaited.failure(1).is_none());
    await_all(&store, [5]);
}

#[test]
fn wrong_record_of_a_run_fails_alone() {
    let place = Place::new();
    let in_turn = StoreOptions {
        max_requests: 1,
        ..options(&place.folder.path().join("store"))
    };
    let store = open(&place.objects, &in_turn);
    // Byte 3500 of a shard whose records have 1000 bytes.
    place.objects.misbehave(vec![Mischief::Flip(3500); 3]);
    let told = store.announce(&records(0..10), &[1.0], &CancelToken::new());
    let awaited = store.await_records(&records(0..10), &CancelToken::new());
    for number in 0..10 {
        assert_eq!(awaited.failure(number).is_some(), number == 3, "{number}");
    }
    let error = awaited.failure(3).unwrap();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.facts().sample_id, Some(3));
    assert!(store.are_resident(records(4..50)).unwrap());
    assert!(!store.are_resident(records([3])).unwrap());
    drop(told);
}

#[test]
fn bytes_that_are_always_wrong_are_never_marked() {
    let place = Place::new();
    let store = place.open();
    place.objects.misbehave(vec![Mischief::Flip(0); 3]);
    let awaited = store.await_records(&records([5]), &CancelToken::new());
    let error = awaited.failure(0).unwrap();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.facts().url.unwrap(), "test://place/shards/000000.bin");
    assert!(!store.are_resident(records([5])).unwrap());
    await_all(&store, [5]);
    check(replica(&store).cache(), 5).unwrap();
}

#[test]
fn record_lost_in_the_store_is_fetched_again() {
    let place = Place::new();
    let store = place.open();
    await_all(&store, [5]);
    let row = replica(&store).cache().index_row(SampleId::new(5)).unwrap();
    let shard = replica(&store).stored.shard(0).unwrap();
    shard
        .punch(row.offset_bytes..row.offset_bytes + u64::from(row.stored_bytes))
        .unwrap();
    assert!(check(replica(&store).cache(), 5).is_err());
    store.refetch(records([5])[0], &CancelToken::new()).unwrap();
    check(replica(&store).cache(), 5).unwrap();
}

#[test]
fn two_stores_over_one_folder_see_each_others_records() {
    let place = Place::new();
    let (one, other) = (place.open(), place.open());
    await_all(&one, [42]);
    assert!(other.are_resident(records([42])).unwrap());
    check(replica(&other).cache(), 42).unwrap();
}

#[test]
fn folder_made_by_several_at_once_is_one_and_whole() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| await_all(&place.open(), 0..ROWS));
        }
    });
    let store = place.folder.path().join("store");
    let mut names: Vec<_> = std::fs::read_dir(&store)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "leases")
        .collect();
    names.sort();
    let digest = replica(&place.open()).stored.digest.to_string();
    assert_eq!(names, [digest]);
}

#[test]
fn wait_that_is_cancelled_ends() {
    let place = Place::new();
    let slow = StoreOptions {
        retry_wait: std::time::Duration::from_secs(3600),
        ..options(&place.folder.path().join("store"))
    };
    let store = open(&place.objects, &slow);
    place.objects.misbehave([failed()]);
    let cancel = CancelToken::new();
    cancel.cancel();
    let awaited = store.await_records(&records([1]), &cancel);
    assert_eq!(awaited.failure(0).unwrap().kind(), ErrorKind::Cancelled);
}

#[test]
fn file_of_residence_that_is_cut_is_an_error_of_the_disk() {
    let place = Place::new();
    let store = place.open();
    let folder = replica(&store).cache().path().to_owned();
    std::fs::File::options()
        .write(true)
        .open(folder.join("resident.bin"))
        .unwrap()
        .set_len(10)
        .unwrap();
    let awaited = store.await_records(&records([11]), &CancelToken::new());
    assert_eq!(awaited.failure(0).unwrap().kind(), ErrorKind::Io);
}

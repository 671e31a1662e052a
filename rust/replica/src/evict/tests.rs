//! Room made in stores of many shapes.

use std::sync::Arc;

use dataset_rt_pool::CancelToken;

use super::*;
use crate::testing::{Objects, check, open, options, records, write_cache};
use crate::{Store, StoreOptions};
use dataset_rt_format::CacheId;

const ROWS: u64 = 512;
const RECORD: usize = 16 * 1024;

struct Place {
    folder: tempfile::TempDir,
    objects: Arc<Objects>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = write_cache(folder.path(), ROWS, RECORD, 1024 * 1024);
        let objects = Objects::at(&cache);
        Self { folder, objects }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn open(&self, limit_bytes: Option<u64>) -> Store {
        let options = StoreOptions {
            limit_bytes,
            ..options(&self.store())
        };
        open(&self.objects, &options)
    }

    /// Makes room for real: `limit_bytes` of the store are to be left.
    fn make_room(&self, limit_bytes: u64, start: u64) -> u64 {
        let (disk, store) = (Disk::new(), self.store());
        let room = Room {
            disk: &disk,
            store: &store,
            limit_bytes,
        };
        room.make(start, 0).unwrap();
        room.used_bytes().unwrap()
    }
}

fn fetch(store: &Store, samples: impl IntoIterator<Item = u64>) {
    let records = records(samples);
    let awaited = store.await_records(&records, &CancelToken::new());
    for number in 0..records.len() {
        assert!(awaited.failure(number).is_none(), "{awaited:?}");
    }
}

/// Samples that are marked; each of them must have its bytes.
fn resident(store: &Store) -> Vec<u64> {
    let replica = store.replica(CacheId::new(0)).unwrap();
    let states = replica.stored.resident.states(0..ROWS).unwrap();
    let marked = (0..).zip(states).filter(|(_, state)| *state != ABSENT);
    let marked: Vec<u64> = marked.map(|(sample, _)| sample).collect();
    for sample in &marked {
        check(replica.cache(), *sample).unwrap();
    }
    marked
}

#[test]
fn store_within_its_limit_keeps_everything() {
    let place = Place::new();
    let store = place.open(None);
    fetch(&store, 0..ROWS);
    let used = place.make_room(u64::MAX, 0);
    assert!(used >= ROWS * RECORD as u64);
    assert_eq!(resident(&store).len() as u64, ROWS);
}

#[test]
fn store_beyond_its_limit_shrinks_below_it_and_what_stays_is_whole() {
    for start in [0, 3, 1_000_003] {
        let place = Place::new();
        let store = place.open(None);
        fetch(&store, 0..ROWS);
        let limit = ROWS * RECORD as u64 / 2;
        assert!(place.make_room(limit, start) <= limit);
        let kept = resident(&store).len() as u64;
        assert!(kept < ROWS && kept > ROWS / 4, "{kept}");
        fetch(&store, 0..ROWS);
        assert_eq!(resident(&store).len() as u64, ROWS);
    }
}

#[test]
fn records_of_a_lease_stay_whatever_the_limit_is() {
    let place = Place::new();
    let store = place.open(None);
    let needed: Vec<u64> = (0..ROWS).step_by(3).collect();
    let told = store
        .announce(
            &records(needed.iter().copied()),
            &[0.0],
            &CancelToken::new(),
        )
        .unwrap();
    fetch(&store, 0..ROWS);
    place.make_room(1, 0);
    assert_eq!(resident(&store), needed);
    drop(told);
    place.make_room(1, 0);
    assert_eq!(resident(&store), Vec::<u64>::new());
}

#[test]
fn records_used_since_the_last_look_outlast_those_that_rested() {
    let place = Place::new();
    let store = place.open(None);
    fetch(&store, 0..ROWS);
    let replica = store.replica(CacheId::new(0)).unwrap();
    replica.stored.resident.set(0..ROWS, RESTING).unwrap();
    assert!(store.are_resident(records(100..200)).unwrap());
    place.make_room(ROWS * RECORD as u64 / 2, 0);
    let kept = resident(&store);
    assert!((100..200).all(|sample| kept.contains(&sample)));
}

#[test]
fn room_that_a_killed_process_left_without_a_mark_is_given_back() {
    let place = Place::new();
    let store = place.open(None);
    fetch(&store, 0..ROWS);
    let replica = store.replica(CacheId::new(0)).unwrap();
    replica.stored.resident.set(0..ROWS, ABSENT).unwrap();
    let used = place.make_room(1, 0);
    assert!(used < ROWS * RECORD as u64 / 16, "{used}");
}

fn used_bytes(place: &Place) -> u64 {
    let room = Room {
        disk: &Disk::new(),
        store: &place.store(),
        limit_bytes: u64::MAX,
    };
    room.used_bytes().unwrap()
}

#[test]
fn limit_holds_while_a_store_is_filled() {
    let place = Place::new();
    let limit = ROWS * RECORD as u64 / 4;
    let store = place.open(Some(limit));
    for start in (0..ROWS).step_by(8) {
        fetch(&store, start..start + 8);
        assert!(used_bytes(&place) <= limit, "{start}");
    }
    resident(&store);
}

#[test]
fn limit_holds_for_processes_that_end_before_they_looked_twice() {
    let place = Place::new();
    let limit = ROWS * RECORD as u64 / 4;
    for sample in 0..ROWS {
        let store = place.open(Some(limit));
        fetch(&store, [sample]);
        assert!(used_bytes(&place) <= limit, "{sample}");
    }
}

#[test]
fn room_is_made_for_what_is_under_way_too() {
    let place = Place::new();
    let store = place.open(None);
    fetch(&store, 0..ROWS);
    let (used, coming) = (used_bytes(&place), ROWS * RECORD as u64 / 4);
    let (disk, path) = (Disk::new(), place.store());
    let room = Room {
        disk: &disk,
        store: &path,
        limit_bytes: used + coming / 2,
    };
    room.make(0, coming).unwrap();
    assert!(used_bytes(&place) + coming <= room.limit_bytes);
    assert!(used_bytes(&place) > coming);
}

#[test]
fn foreign_files_in_the_store_are_not_touched() {
    let place = Place::new();
    let store = place.open(None);
    fetch(&store, 0..ROWS);
    let foreign = place.store().join("mine");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("data"), [1; 100_000]).unwrap();
    place.make_room(1, 0);
    assert_eq!(std::fs::read(foreign.join("data")).unwrap(), [1; 100_000]);
}

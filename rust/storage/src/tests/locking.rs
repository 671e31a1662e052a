//! Who may build, who waits, and what a sweep takes.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use super::recorder::Recorder;
use super::{assert_holds, open, pool, push_row, small, tree, write};
use crate::durable::{Disk, LockFile, Operation};
use crate::{Begin, CacheWriter, InterruptCheck, StorageError, find_finished, sweep_temporaries};

fn try_begin(base: &Path, name: &str) -> Begin<Vec<u8>> {
    let (disk, check) = (Disk::new(), InterruptCheck::never());
    CacheWriter::try_begin(&disk, base, name, &small(), &pool(1), &check).unwrap()
}

fn building(begin: Begin<Vec<u8>>) -> Box<CacheWriter<Vec<u8>>> {
    match begin {
        Begin::Building(writer) => writer,
        other => panic!("expected a writer, not {other:?}"),
    }
}

#[test]
fn second_builder_of_a_name_is_busy_then_finds_it_finished() {
    let base = tempfile::tempdir().unwrap();
    let mut first = building(try_begin(base.path(), "a"));
    push_row(&mut first, 0).unwrap();
    assert!(matches!(try_begin(base.path(), "a"), Begin::Busy));
    first.finish().unwrap();
    let Begin::Finished(found) = try_begin(base.path(), "a") else {
        panic!("not found");
    };
    assert_eq!(found.sample_count, 1);
    assert!(!found.was_waited_for);
    assert_eq!(
        found.origin.unwrap().writer_version,
        env!("CARGO_PKG_VERSION")
    );
}

#[test]
fn look_for_a_finished_cache_neither_waits_nor_builds() {
    let base = tempfile::tempdir().unwrap();
    let find = || {
        let (disk, check) = (Disk::new(), InterruptCheck::never());
        find_finished(&disk, base.path(), "a", &small(), &pool(1), &check).unwrap()
    };
    assert_eq!(find(), None);
    assert!(tree(base.path()).is_empty());
    let mut builder = building(try_begin(base.path(), "a"));
    push_row(&mut builder, 0).unwrap();
    assert_eq!(find(), None);
    let report = builder.finish().unwrap();
    let found = find().unwrap();
    assert_eq!((found.path, found.sample_count), (report.path, 1));
}

#[test]
fn waiting_builder_sees_the_cache_finished_by_the_other() {
    let base = tempfile::tempdir().unwrap();
    let mut first = building(try_begin(base.path(), "a"));
    push_row(&mut first, 0).unwrap();
    let (asked_sender, asked) = mpsc::channel();
    let path = base.path().to_owned();
    let waiter = std::thread::spawn(move || {
        // The check is made once per failed attempt, so its first call means that the other was seen building.
        let check = InterruptCheck::new(move || {
            let _first_counts = asked_sender.send(());
            false
        });
        CacheWriter::<Vec<u8>>::begin(&Disk::new(), &path, "a", &small(), &pool(1), &check).unwrap()
    });
    asked.recv().unwrap();
    first.finish().unwrap();
    let Begin::Finished(found) = waiter.join().unwrap() else {
        panic!("built twice");
    };
    assert!(found.was_waited_for);
    assert_eq!(found.sample_count, 1);
}

#[test]
fn waiting_builder_takes_over_when_the_other_gives_up() {
    let base = tempfile::tempdir().unwrap();
    let first = building(try_begin(base.path(), "a"));
    let first = std::sync::Mutex::new(Some(first));
    // The first attempt finds the other building; then the other gives up.
    let check = InterruptCheck::new(move || {
        drop(first.lock().unwrap().take());
        false
    });
    let begun =
        CacheWriter::<Vec<u8>>::begin(&Disk::new(), base.path(), "a", &small(), &pool(1), &check);
    let mut second = building(begun.unwrap());
    push_row(&mut second, 0).unwrap();
    assert_holds(&open(&second.finish().unwrap().path), 1);
}

#[test]
fn waiting_builder_when_interrupted_stops() {
    let base = tempfile::tempdir().unwrap();
    let _first = building(try_begin(base.path(), "a"));
    let check = InterruptCheck::new(|| true);
    let begun =
        CacheWriter::<Vec<u8>>::begin(&Disk::new(), base.path(), "a", &small(), &pool(1), &check);
    assert!(matches!(begun, Err(StorageError::Cancelled)));
}

#[test]
fn eight_threads_with_one_name_build_once() {
    let base = tempfile::tempdir().unwrap();
    let built = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                match super::begin(&Disk::new(), base.path(), "a", &small(), 1).unwrap() {
                    Begin::Building(mut writer) => {
                        built.fetch_add(1, Ordering::SeqCst);
                        (0..50).for_each(|row| push_row(&mut writer, row).unwrap());
                        writer.finish().unwrap();
                    }
                    Begin::Finished(found) => assert_eq!(found.sample_count, 50),
                    Begin::Busy => panic!("begin waits"),
                }
            });
        }
    });
    assert_eq!(built.into_inner(), 1);
    assert_holds(&open(&base.path().join("a")), 50);
}

#[test]
fn builders_of_other_names_leave_living_temporaries_alone() {
    let base = tempfile::tempdir().unwrap();
    let mut first = building(try_begin(base.path(), "a"));
    for name in ["b", "a.b", "a.1-0123456789abcdef"] {
        write(&Disk::new(), base.path(), name, &small(), 1, 5).unwrap();
        let row = first.row_count();
        push_row(&mut first, row).unwrap();
    }
    assert_holds(&open(&first.finish().unwrap().path), 3);
}

#[test]
fn sweep_takes_the_dead_and_nothing_that_is_not_ours() {
    let base = tempfile::tempdir().unwrap();
    let folder = base.path().join("tmp");
    let make = |name: &str| {
        fs::create_dir_all(folder.join(name).join("shards")).unwrap();
        fs::write(folder.join(name).join("manifest.json"), "{}").unwrap();
    };
    let dead = "a.123-0123456789abcdef";
    make(dead);
    fs::write(folder.join(format!("{dead}.lock")), "").unwrap();
    fs::write(folder.join("c.build.lock"), "").unwrap();
    for foreign in ["a", "b.77-0123456789abcdef", "x.y"] {
        make(foreign);
    }
    fs::write(folder.join("notes.lock"), "mine").unwrap();
    let alive = folder.join("d.build.lock");
    let lock = LockFile::try_acquire(&Disk::new(), &alive)
        .unwrap()
        .unwrap();

    sweep_temporaries(&Disk::new(), base.path());
    let mut left: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(
        left,
        [
            "a",
            "b.77-0123456789abcdef",
            "d.build.lock",
            "notes.lock",
            "x.y"
        ]
    );
    assert_eq!(tree(&folder.join("a")).len(), 2);
    drop(lock);
    assert!(!alive.exists());
}

#[test]
fn lock_of_a_file_that_another_holder_removed_meanwhile_is_not_taken_for_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let removed = AtomicBool::new(false);
    let recorder = Recorder::failing(move |_, event| {
        // Between our open and our lock, the last holder releases: it removes the file that we have open.
        if event.operation == Operation::Lock && !removed.swap(true, Ordering::SeqCst) {
            fs::remove_file(event.path).unwrap();
        }
        None
    });
    let lock = LockFile::try_acquire(&recorder.disk(), &path)
        .unwrap()
        .unwrap();
    assert!(
        LockFile::try_acquire(&Disk::new(), &path)
            .unwrap()
            .is_none(),
        "two holders"
    );
    drop(lock);
    assert!(!path.exists());
}

#[test]
fn lock_taken_and_released_by_many_threads_has_one_holder_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let (is_held, taken) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while taken.load(Ordering::SeqCst) < 200 {
                    if let Some(lock) = LockFile::try_acquire(&Disk::new(), &path).unwrap() {
                        assert!(!is_held.swap(true, Ordering::SeqCst), "two holders");
                        taken.fetch_add(1, Ordering::SeqCst);
                        std::thread::yield_now();
                        assert!(is_held.swap(false, Ordering::SeqCst));
                        drop(lock);
                    }
                }
            });
        }
    });
    assert!(!path.exists());
}

#[test]
fn readers_during_rebuilds_see_one_whole_cache_or_another() {
    let base = tempfile::tempdir().unwrap();
    super::rebuild(&Disk::new(), base.path(), "a", 3).unwrap();
    let path = base.path().join("a");
    let is_done = Arc::new(AtomicBool::new(false));
    let (opened_sender, opened) = mpsc::channel();
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (path, is_done, opened_sender) =
                (path.clone(), Arc::clone(&is_done), opened_sender.clone());
            std::thread::spawn(move || {
                while !is_done.load(Ordering::SeqCst) {
                    let cache = open(&path);
                    assert_holds(&cache, cache.sample_count());
                    let _writer_has_ended = opened_sender.send(());
                }
            })
        })
        .collect();
    for round in 0..30 {
        super::rebuild(&Disk::new(), base.path(), "a", 4 + round % 2).unwrap();
        opened.recv().unwrap();
    }
    is_done.store(true, Ordering::SeqCst);
    readers
        .into_iter()
        .for_each(|reader| reader.join().unwrap());
}

#[test]
fn reader_opened_before_a_rebuild_keeps_its_cache() {
    for mapped in [true, false] {
        let base = tempfile::tempdir().unwrap();
        write(&Disk::new(), base.path(), "a", &small(), 1, 40).unwrap();
        let path = base.path().join("a");
        let old =
            crate::LoadedCache::open(&Disk::new(), &path, crate::OpenOptions { mapped }).unwrap();
        super::rebuild(&Disk::new(), base.path(), "a", 2).unwrap();
        old.recheck_lengths(&[dataset_rt_format::ShardId::new(0)])
            .unwrap();
        assert_holds(&old, 40);
        assert_holds(&open(&path), 2);
    }
}

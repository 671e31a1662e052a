//! Caches that are completed on the pool while the next source's rows come in.

use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use dataset_rt_pool::WorkerPool;
use rustix::io::Errno;

use super::recorder::Recorder;
use super::{assert_holds, open, pool, push_row, small, tree, write};
use crate::durable::{Disk, Operation};
use crate::write::Endings;
use crate::{Begin, CacheWriter, InterruptCheck, StorageError, WriteOptions, WriteReport};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn filled(
    disk: &Disk,
    base: &Path,
    name: &str,
    rows: u64,
    pool: &Arc<WorkerPool>,
    endings: &Endings<Vec<u8>>,
) -> CacheWriter<Vec<u8>> {
    let check = InterruptCheck::never();
    let begun = CacheWriter::begin(disk, base, name, &small(), pool, &check).unwrap();
    let Begin::Building(mut writer) = begun else {
        panic!("{name} exists already");
    };
    writer.share_window(endings);
    for row in 0..rows {
        push_row(&mut writer, row).unwrap();
    }
    *writer
}

/// Completes a cache of each name on a pool; their outcomes in order.
fn write_all(disk: &Disk, base: &Path, workers: usize, rows: u64) -> Vec<Outcome> {
    let pool = pool(workers);
    let mut endings = Endings::new(&pool, &small());
    let check = InterruptCheck::never();
    let mut outcomes = Vec::new();
    for name in NAMES {
        let writer = filled(disk, base, name, rows, &pool, &endings);
        if endings.is_full() {
            outcomes.extend(endings.take(&check).unwrap());
        }
        endings.push(writer).unwrap();
    }
    while let Some(outcome) = endings.take(&check).unwrap() {
        outcomes.push(outcome);
    }
    outcomes
}

type Outcome = Result<WriteReport, StorageError>;

/// A disk on which the rename of one private directory waits; sending lets it go.
fn held_rename(name: &'static str) -> (Disk, Sender<()>) {
    let (release, wait) = channel();
    let wait = Mutex::new(wait);
    let recorder = Recorder::failing(move |_, event| {
        let begins = event.path.file_name().and_then(|name| name.to_str());
        if event.operation == Operation::Rename && begins.is_some_and(|path| path.starts_with(name))
        {
            let _released_or_dropped = wait.lock().unwrap().recv();
        }
        None
    });
    (recorder.disk(), release)
}

#[test]
fn caches_completed_on_the_pool_are_those_of_their_callers() {
    let expected = tempfile::tempdir().unwrap();
    for name in NAMES {
        write(&Disk::new(), expected.path(), name, &small(), 1, 50).unwrap();
    }
    for workers in [2, 8] {
        let base = tempfile::tempdir().unwrap();
        let outcomes = write_all(&Disk::new(), base.path(), workers, 50);
        for (name, outcome) in NAMES.iter().zip(outcomes) {
            let report = outcome.unwrap();
            assert_eq!(report.path, base.path().join(name));
            assert_holds(&open(&report.path), 50);
        }
        let mut found = tree(base.path());
        let mut wanted = tree(expected.path());
        for name in NAMES {
            // The time of writing stands there.
            found.remove(&format!("{name}/origin.json")).unwrap();
            wanted.remove(&format!("{name}/origin.json")).unwrap();
        }
        assert_eq!(found, wanted);
    }
}

#[test]
fn rows_of_the_next_source_come_in_while_a_cache_is_published() {
    let base = tempfile::tempdir().unwrap();
    let (disk, release) = held_rename("a.");
    let pool = pool(2);
    let mut endings = Endings::new(&pool, &small());
    let check = InterruptCheck::never();
    let first = filled(&disk, base.path(), "a", 50, &pool, &endings);
    endings.push(first).unwrap();
    assert!(endings.is_full());

    let second = filled(&disk, base.path(), "b", 1500, &pool, &endings);
    assert_eq!(second.row_count(), 1500);
    assert!(second.progress().samples() > 0, "blocks were committed");
    assert!(!base.path().join("a").exists());
    assert_eq!(
        second.in_flight(),
        1,
        "the other task of the window is the first cache's"
    );

    release.send(()).unwrap();
    let first = endings.take(&check).unwrap().unwrap().unwrap();
    assert_eq!(first.sample_count, 50);
    assert_eq!(second.finish().unwrap().sample_count, 1500);
}

#[test]
fn cache_that_fails_at_its_completion_fails_alone() {
    let base = tempfile::tempdir().unwrap();
    let recorder = Recorder::failing(|_, event| {
        let is_manifest = event.path.ends_with("manifest.json");
        let is_second = event.path.to_str().unwrap().contains("/tmp/b.");
        (is_manifest && is_second).then(|| Errno::NOSPC.raw_os_error())
    });
    let outcomes = write_all(&recorder.disk(), base.path(), 3, 20);
    for (name, outcome) in NAMES.iter().zip(outcomes) {
        assert_eq!(outcome.is_ok(), *name != "b");
        assert_eq!(base.path().join(name).exists(), *name != "b");
    }
    assert!(!base.path().join("tmp").exists());
}

#[test]
fn source_without_rows_is_told_by_its_completion() {
    let base = tempfile::tempdir().unwrap();
    for outcome in write_all(&Disk::new(), base.path(), 2, 0) {
        assert!(matches!(outcome, Err(StorageError::NoSamples { .. })));
    }
    assert!(tree(base.path()).is_empty());
}

#[test]
fn dropped_completions_leave_nothing_half_done() {
    let base = tempfile::tempdir().unwrap();
    let pool = pool(4);
    let mut endings = Endings::new(&pool, &small());
    for name in ["a", "b", "c"] {
        let writer = filled(&Disk::new(), base.path(), name, 200, &pool, &endings);
        endings.push(writer).unwrap();
    }
    drop(endings);
    for name in ["a", "b", "c"] {
        let path = base.path().join(name);
        if path.exists() {
            assert_holds(&open(&path), 200);
        }
    }
    assert!(!base.path().join("tmp").exists());
}

#[test]
fn window_of_one_task_leaves_completion_to_the_caller() {
    let one = WriteOptions {
        prefetch_size: 1,
        ..small()
    };
    assert!(!Endings::<Vec<u8>>::new(&pool(1), &small()).is_possible());
    assert!(!Endings::<Vec<u8>>::new(&pool(8), &one).is_possible());
    assert!(Endings::<Vec<u8>>::new(&pool(2), &small()).is_possible());
}

//! Every call of a build and of a rebuild fails once, and the disk dies at every call.

use std::path::Path;

use super::recorder::Recorder;
use super::{assert_holds, open, rebuild, small, tree, write};
use crate::durable::{Disk, Operation};
use crate::{Effect, StorageError};
use dataset_rt_format::ErrorKind;

const EIO: i32 = 5;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;

/// What a failed build or rebuild leaves under the final name.
fn assert_outcome(
    outcome: &Result<crate::WriteReport, StorageError>,
    base: &Path,
    before: Option<u64>,
    rows: u64,
) {
    let name = base.join("a");
    match outcome {
        Ok(_) => assert_holds(&open(&name), rows),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Io, "{error}");
            assert_eq!(error.errno(), Some(EIO), "{error}");
            assert!(error.path().is_some(), "{error}");
            match (error.effect(), before) {
                (Effect::Unknown, _) => assert_holds(&open(&name), rows),
                (Effect::NotPublished, Some(before)) => assert_holds(&open(&name), before),
                (Effect::NotPublished, None) => assert!(!name.exists(), "{error} left {name:?}"),
            }
        }
    }
}

/// Runs `work` with the n-th call failing, for every n, until no call is left to fail.
fn for_every_call(
    dies: bool,
    prepare: impl Fn(&Path),
    work: impl Fn(&Disk, &Path) -> Result<crate::WriteReport, StorageError>,
    check: impl Fn(&Result<crate::WriteReport, StorageError>, &Path),
) -> usize {
    for broken in 0.. {
        let base = tempfile::tempdir().unwrap();
        prepare(base.path());
        let recorder = Recorder::failing(move |number, _| {
            (number == broken || dies && number > broken).then_some(EIO)
        });
        let outcome = work(&recorder.disk(), base.path());
        check(&outcome, base.path());
        // The disk is well again: the next run ends as if nothing had been, and leaves no temporaries.
        if !base.path().join("a").exists() {
            write(&Disk::new(), base.path(), "a", &small(), 1, 20).unwrap();
        } else {
            let _reused = super::begin(&Disk::new(), base.path(), "a", &small(), 1).unwrap();
        }
        let left: Vec<String> = tree(base.path())
            .into_keys()
            .filter(|name| name.starts_with("tmp"))
            .collect();
        assert_eq!(left, Vec::<String>::new(), "call {broken}: {outcome:?}");
        if recorder.calls() <= broken {
            return broken;
        }
    }
    0
}

#[test]
fn build_with_any_one_call_failing_gives_a_typed_error_and_leaves_nothing() {
    let calls = for_every_call(
        false,
        |_| {},
        |disk, base| write(disk, base, "a", &small(), 1, 20),
        |outcome, base| assert_outcome(outcome, base, None, 20),
    );
    assert!(calls > 40, "only {calls} calls were seen");
}

#[test]
fn build_on_a_disk_that_dies_at_any_call_leaves_nothing_that_outlives_the_next_run() {
    for_every_call(
        true,
        |_| {},
        |disk, base| write(disk, base, "a", &small(), 1, 20),
        |outcome, base| assert_outcome(outcome, base, None, 20),
    );
}

#[test]
fn rebuild_with_any_one_call_failing_keeps_the_old_cache_or_has_the_new_one() {
    for_every_call(
        false,
        |base| {
            write(&Disk::new(), base, "a", &small(), 1, 7).unwrap();
        },
        |disk, base| rebuild(disk, base, "a", 20),
        |outcome, base| assert_outcome(outcome, base, Some(7), 20),
    );
}

#[test]
fn rebuild_where_names_cannot_be_exchanged_keeps_the_old_cache_or_has_the_new_one() {
    for broken in 0.. {
        let base = tempfile::tempdir().unwrap();
        write(&Disk::new(), base.path(), "a", &small(), 1, 7).unwrap();
        let recorder = Recorder::failing(move |number, event| match event.operation {
            Operation::Exchange => Some(EINVAL),
            _ => (number == broken).then_some(EIO),
        });
        let outcome = rebuild(&recorder.disk(), base.path(), "a", 20);
        assert_outcome(&outcome, base.path(), Some(7), 20);
        if recorder.calls() <= broken {
            assert!(outcome.is_ok());
            assert_eq!(recorder.succeeded(Operation::Rename).len(), 2);
            return;
        }
    }
}

#[test]
fn write_onto_a_full_disk_says_so_and_leaves_nothing() {
    for full_from in 0..12 {
        let base = tempfile::tempdir().unwrap();
        let writes = std::sync::atomic::AtomicUsize::new(0);
        let recorder = Recorder::failing(move |_, event| {
            let is_full = event.operation == Operation::Write
                && writes.fetch_add(1, std::sync::atomic::Ordering::SeqCst) >= full_from;
            is_full.then_some(ENOSPC)
        });
        let Err(error) = write(&recorder.disk(), base.path(), "a", &small(), 1, 200) else {
            assert!(full_from > 6, "a build of {full_from} writes");
            continue;
        };
        assert_eq!(error.errno(), Some(ENOSPC));
        assert!(
            matches!(
                error,
                StorageError::Io {
                    operation: Operation::Write,
                    ..
                }
            ),
            "{error}"
        );
        assert!(error.path().unwrap().starts_with(base.path()));
        let needed = error.facts().needed_bytes.unwrap();
        assert!(needed > 0 && error.to_string().contains(&needed.to_string()));
        assert!(tree(base.path()).is_empty());
    }
}

#[test]
fn rebuild_whose_name_is_not_durable_keeps_the_old_files_for_the_next_run() {
    let base = tempfile::tempdir().unwrap();
    write(&Disk::new(), base.path(), "a", &small(), 1, 7).unwrap();
    let folder = base.path().to_owned();
    let exchanged = std::sync::atomic::AtomicBool::new(false);
    let recorder = Recorder::failing(move |_, event| {
        let order = std::sync::atomic::Ordering::SeqCst;
        exchanged.fetch_or(event.operation == Operation::Exchange, order);
        let is_sync = event.operation == Operation::SyncDir && event.path == folder;
        (exchanged.load(order) && is_sync).then_some(EIO)
    });
    let error = rebuild(&recorder.disk(), base.path(), "a", 20).unwrap_err();
    assert_eq!(error.effect(), Effect::Unknown);
    assert_holds(&open(&base.path().join("a")), 20);
    // Their removal could reach the disk before the exchange does.
    let private = recorder.succeeded(Operation::Exchange).remove(0);
    assert_holds(&open(&private), 7);
    let _reused = super::begin(&Disk::new(), base.path(), "a", &small(), 1).unwrap();
    assert!(!private.exists());
}

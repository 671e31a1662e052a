//! Locks in what is told to be a forked child.
//!
//! The fork is announced, not made, so "parent" and "child" are this one process: closing what a child inherits is seen
//! by the lock becoming free. One test per process, because the list of held locks is the process's.
#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::path::Path;

use dataset_rt_storage::durable::{Disk, LockFile, fork};

fn is_free(path: &Path) -> bool {
    LockFile::try_acquire(&Disk::new(), path).unwrap().is_some()
}

#[test]
fn lock_across_an_announced_fork_stays_with_the_parent_and_is_closed_in_the_child() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let lock = LockFile::try_acquire(&Disk::new(), &path).unwrap().unwrap();
    assert!(!is_free(&path));

    fork::before_fork();
    fork::before_fork();
    fork::after_fork_in_parent();
    assert!(!is_free(&path));

    fork::before_fork();
    fork::after_fork_in_child();
    assert!(is_free(&path));

    let other = folder.path().join("other");
    let kept = LockFile::try_acquire(&Disk::new(), &other)
        .unwrap()
        .unwrap();
    // Without an announcement the child still closes what it can.
    fork::after_fork_in_child();
    assert!(is_free(&other));
    drop((lock, kept));
}

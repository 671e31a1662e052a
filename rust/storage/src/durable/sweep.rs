//! Removing what dead processes left.
//!
//! Owns: telling dead temporaries from living ones and from what is not ours. Must not: fail a build: what can't be
//! removed stays for a later sweep.
//! Invariant: a directory is removed only while its owner lock is held here, and only if its name and its lock file's
//! name are ones that this crate makes.

use std::path::Path;

use super::disk::Disk;
use super::lock::LockFile;
use super::names::{Guarded, guarded_by};

/// Removes the dead temporaries in `folder`, then the folder itself if nothing is left in it.
///
/// # Guarantees
/// Never touches a temporary whose owner lives, in this process or another, nor anything this crate did not make.
///
/// # Cost
/// One directory listing, and two calls per lock file found.
pub fn sweep_dead(disk: &Disk, folder: &Path) {
    let Ok(entries) = disk.list(folder) else {
        return;
    };
    for entry in entries {
        let Some(guarded) = guarded_by(&entry) else {
            continue;
        };
        let Ok(Some(mut lock)) = LockFile::try_acquire_existing(disk, &entry) else {
            continue;
        };
        if let Guarded::PrivateDir(dir) = guarded
            && disk.remove_tree(&dir).is_err()
        {
            // Without its lock file the directory would never be recognised again.
            lock.keep_file();
        }
    }
    let _in_use = disk.remove_dir_if_empty(folder);
}

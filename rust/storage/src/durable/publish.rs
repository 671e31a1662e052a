//! Giving a complete private directory its final name.
//!
//! Owns: the last calls of a publication and their order. Must not: write or sync what is in the directory; by the time
//! it comes here, every byte and every name in it is durable.
//! Invariant: at any instant the final name stands for nothing, for the old directory or for the new one, whole. The
//! one exception, on file systems that can't exchange, is a moment in which it stands for nothing.

use std::path::Path;

use super::disk::Disk;
use super::fault::Step;
use super::private_dir::{Access, PrivateDir};
use crate::error::StorageError;

/// Gives `dir` the name `target`, which nothing has.
///
/// # Errors
/// [`StorageError::Io`]: the name was not given, and the directory is removed. [`StorageError::NameNotDurable`]: the name
/// was given and works, but may be lost in a power failure.
pub fn publish_new(disk: &Disk, dir: PrivateDir, target: &Path) -> Result<(), StorageError> {
    disk.rename(dir.path(), target)?;
    disk.step(Step::Published);
    sync_name(disk, target)?;
    disk.step(Step::NameSynced);
    drop(dir);
    Ok(())
}

/// Gives `dir` the name of the directory `target`, which is then removed.
///
/// Where the file system can't exchange two names in one step, `target` is first renamed away: a kill between that and
/// the next rename leaves the name free, so the next run builds anew.
///
/// # Errors
/// As [`publish_new`]; after [`StorageError::Io`] the old directory has its name still, or again.
pub fn publish_over(disk: &Disk, mut dir: PrivateDir, target: &Path) -> Result<(), StorageError> {
    let mut replaced = None;
    if !disk.exchange(dir.path(), target)? {
        let folder = parent_of(dir.path());
        let aside = PrivateDir::create(disk, folder, "replaced", Access::Mask)?;
        disk.rename(target, aside.path())?;
        if let Err(error) = disk.rename(dir.path(), target) {
            // The old directory is whole in its private place; give it back before that place is removed.
            if disk.rename(aside.path(), target).is_err() {
                aside.abandon();
            }
            return Err(error);
        }
        replaced = Some(aside);
    }
    disk.step(Step::Published);
    let synced = sync_name(disk, target).and_then(|()| sync_name(disk, dir.path()));
    if let Err(error) = synced {
        // Removing the old files could become durable before the exchange does; a later sweep removes them.
        dir.leave_to_sweep();
        if let Some(mut aside) = replaced {
            aside.leave_to_sweep();
        }
        return Err(error);
    }
    disk.step(Step::NameSynced);
    drop(replaced);
    drop(dir);
    disk.step(Step::ReplacedRemoved);
    Ok(())
}

fn sync_name(disk: &Disk, path: &Path) -> Result<(), StorageError> {
    disk.sync_dir(parent_of(path))
        .map_err(|source| StorageError::NameNotDurable {
            path: path.to_owned(),
            source: Box::new(source),
        })
}

/// The directory that holds the name `path`.
pub(crate) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

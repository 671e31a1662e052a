//! The place where one cache is made.
//!
//! Owns: the build lock of a name, the private directory, and the folder of temporaries around them.
//! Must not: write files of the cache.
//! Invariant: things go away in the order directory, lock, folder, so nobody takes the lock of a name while a directory
//! of its last holder is still there.

use std::path::{Path, PathBuf};

use dataset_rt_format::files::SHARD_FOLDER;

use crate::durable::{
    Access, Disk, LockFile, PrivateDir, Step, build_lock_name, private_stem, publish_new,
    publish_over,
};
use crate::error::StorageError;

/// Name of the folder of temporaries below the base directory; no source may be called so.
pub(super) const TEMPORARY_FOLDER: &str = "tmp";

/// The right to build one name; dropping it gives the right back.
pub(super) struct BuildRight {
    disk: Disk,
    target: PathBuf,
    folder_path: PathBuf,
    // Dropped in this order.
    _lock: LockFile,
    _folder: TemporaryFolder,
}

/// Removes the folder of temporaries when nothing is left in it.
struct TemporaryFolder {
    disk: Disk,
    path: PathBuf,
    owner_process: u32,
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if self.owner_process == std::process::id() {
            let _in_use = self.disk.remove_dir_if_empty(&self.path);
        }
    }
}

impl BuildRight {
    /// Takes the right to build `base/name`; `None` if someone else has it.
    pub(super) fn try_take(
        disk: &Disk,
        base: &Path,
        name: &str,
    ) -> Result<Option<Self>, StorageError> {
        let path = base.join(TEMPORARY_FOLDER);
        let lock = crate::durable::acquire_in_folder(
            disk,
            &path,
            &path.join(build_lock_name(name)),
            Access::Mask,
        )?;
        let Some(lock) = lock else { return Ok(None) };
        disk.step(Step::BuildLocked);
        let folder = TemporaryFolder {
            disk: disk.clone(),
            path: path.clone(),
            owner_process: std::process::id(),
        };
        Ok(Some(Self {
            disk: disk.clone(),
            target: base.join(name),
            folder_path: path,
            _lock: lock,
            _folder: folder,
        }))
    }

    /// Makes the private directory, with its folder of shards.
    pub(super) fn make_workspace(self, name: &str) -> Result<Workspace, StorageError> {
        let dir = PrivateDir::create(
            &self.disk,
            &self.folder_path,
            &private_stem(name),
            Access::Mask,
        )?;
        self.disk
            .create_dir(&dir.path().join(SHARD_FOLDER), false)?;
        self.disk.step(Step::PrivateDirMade);
        Ok(Workspace { dir, right: self })
    }
}

/// A private directory and the right to give it its name. Dropping it removes the directory.
pub(super) struct Workspace {
    // Dropped in this order.
    dir: PrivateDir,
    right: BuildRight,
}

impl Workspace {
    /// Where the files of the cache are made.
    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The seam it writes through.
    pub(super) fn disk(&self) -> &Disk {
        &self.right.disk
    }

    /// Gives the directory its final name, in exchange for what has it if `replaces`.
    pub(super) fn publish(self, replaces: bool) -> Result<PathBuf, StorageError> {
        let Self { dir, right } = self;
        if replaces {
            publish_over(&right.disk, dir, &right.target)?;
        } else {
            publish_new(&right.disk, dir, &right.target)?;
        }
        let (disk, target) = (right.disk.clone(), right.target.clone());
        drop(right);
        disk.step(Step::Unlocked);
        Ok(target)
    }
}

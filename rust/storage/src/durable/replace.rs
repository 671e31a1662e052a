//! Writing one small or large file in the place of another.
//!
//! Owns: temporary beside the target, sync, rename, sync of the folder. Must not: know what the file means.
//! Invariant: under its name the file is the old one or the new one, whole; whoever has the old one open keeps it.

use std::path::Path;

use super::disk::Disk;
use super::file::DiskFile;
use super::names::private_dir_name;
use crate::error::StorageError;

/// Makes the file `path` with what `write` puts into it, replacing a file of that name.
///
/// # Errors
/// What `write` answers, or [`StorageError::Io`]; the file of that name is then the one it was.
pub fn replace_file<E: From<StorageError>>(
    disk: &Disk,
    path: &Path,
    write: impl FnOnce(&mut DiskFile) -> Result<(), E>,
) -> Result<(), E> {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let temporary = path.with_file_name(private_dir_name(&name));
    let written =
        write_whole(disk, &temporary, write).and_then(|()| Ok(disk.rename(&temporary, path)?));
    if let Err(error) = written {
        // Best effort: what the caller has to know is why the file was not written.
        let _left_behind = disk.remove_file(&temporary);
        return Err(error);
    }
    match path.parent() {
        Some(parent) => Ok(disk.sync_dir(parent)?),
        None => Ok(()),
    }
}

fn write_whole<E: From<StorageError>>(
    disk: &Disk,
    path: &Path,
    write: impl FnOnce(&mut DiskFile) -> Result<(), E>,
) -> Result<(), E> {
    let mut file = DiskFile::create(disk, path)?;
    write(&mut file)?;
    Ok(file.sync()?)
}

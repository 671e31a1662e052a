//! The folder that holds directories of one user alone.
//!
//! Owns: making it, and the judgement whether an existing one is safe to write into. Must not: change a folder that exists.
//! Invariant: nothing is written below a folder in which another user could have put files, or could exchange ours.
//! Format text: `SNAPSHOT.md`, "Private directories".

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::disk::Disk;
use super::fault::Operation;
use super::publish::parent_of;
use crate::error::StorageError;

/// Write permission of the group and of all others.
const OTHERS_WRITE: u32 = 0o022;
/// In such a directory names can be removed by their owner only.
const STICKY: u32 = 0o1000;
/// The user whom every other one has to trust.
const ROOT: u32 = 0;

/// Why a folder is no place for files of one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FolderFault {
    /// It is a file, or a symbolic link that another user could turn elsewhere.
    NoDirectory,
    /// Another user owns it.
    ForeignOwner {
        /// Number of that user.
        owner: u32,
    },
    /// Others may write into it and remove what they did not make.
    Writable {
        /// Its permissions.
        mode: u32,
    },
}

impl fmt::Display for FolderFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDirectory => out.write_str("no directory, or a symbolic link"),
            Self::ForeignOwner { owner } => write!(out, "owned by user {owner}"),
            Self::Writable { mode } => write!(out, "writable by others (mode {mode:04o})"),
        }
    }
}

/// Makes `folder` for this user alone, or checks the one that is there.
///
/// # Errors
/// [`StorageError::ExposedFolder`] for a folder in which others can interfere; [`StorageError::Io`].
pub(super) fn make_private_folder(disk: &Disk, folder: &Path) -> Result<(), StorageError> {
    loop {
        if let Some(found) = look(disk, folder)? {
            return match fault_of(found, rustix::process::geteuid().as_raw()) {
                None => Ok(()),
                Some(found) => Err(StorageError::ExposedFolder {
                    path: folder.to_owned(),
                    found,
                }),
            };
        }
        disk.create_dir_durably(parent_of(folder))?;
        match disk.create_dir(folder, true) {
            // Looked at all the same: someone else may have been faster.
            Ok(()) => {}
            Err(error) if error.io_kind() == Some(io::ErrorKind::AlreadyExists) => {}
            Err(error) => return Err(error),
        }
    }
}

/// What is known of a name.
#[derive(Clone, Copy)]
struct Found {
    is_dir: bool,
    owner: u32,
    mode: u32,
}

/// What has this name, without following a link; `None` if nothing has.
fn look(disk: &Disk, path: &Path) -> Result<Option<Found>, StorageError> {
    disk.call(Operation::Stat, path, || match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(Found {
            is_dir: metadata.is_dir(),
            owner: metadata.uid(),
            mode: metadata.mode() & 0o7777,
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    })
}

/// What is wrong with a folder for this user. A common one (`/tmp`, scratch space) is fine where its owner is root and it is sticky: what is made in it stays ours.
fn fault_of(found: Found, user: u32) -> Option<FolderFault> {
    let Found {
        is_dir,
        owner,
        mode,
    } = found;
    let is_sticky = mode & STICKY != 0;
    if !is_dir {
        Some(FolderFault::NoDirectory)
    } else if owner != user && !(owner == ROOT && is_sticky) {
        Some(FolderFault::ForeignOwner { owner })
    } else if mode & OTHERS_WRITE != 0 && !is_sticky {
        Some(FolderFault::Writable { mode })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn fault_at(path: &Path) -> Option<FolderFault> {
        match make_private_folder(&Disk::new(), path) {
            Ok(()) => None,
            Err(StorageError::ExposedFolder { found, .. }) => Some(found),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn folder_that_is_made_is_the_users_alone() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a/b");
        for _ in 0..2 {
            assert_eq!(fault_at(&folder), None);
        }
        let mode = fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn folder_that_others_can_write_to_is_refused_unless_sticky() {
        let root = tempfile::tempdir().unwrap();
        for (mode, is_refused) in [
            (0o700, false),
            (0o755, false),
            (0o1777, false),
            (0o777, true),
            (0o720, true),
            (0o702, true),
        ] {
            fs::set_permissions(root.path(), fs::Permissions::from_mode(mode)).unwrap();
            let wanted = is_refused.then_some(FolderFault::Writable { mode });
            assert_eq!(fault_at(root.path()), wanted, "{mode:o}");
        }
    }

    #[test]
    fn link_and_file_in_its_place_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let (link, file) = (root.path().join("link"), root.path().join("file"));
        symlink(root.path(), &link).unwrap();
        fs::write(&file, b"x").unwrap();
        assert_eq!(fault_at(&link), Some(FolderFault::NoDirectory));
        assert_eq!(fault_at(&file), Some(FolderFault::NoDirectory));
    }

    #[test]
    fn folder_of_another_user_is_refused_unless_it_is_a_common_one() {
        let folder = |owner, mode| Found {
            is_dir: true,
            owner,
            mode,
        };
        let foreign = |owner| Some(FolderFault::ForeignOwner { owner });
        assert_eq!(fault_of(folder(7, 0o700), 5), foreign(7));
        assert_eq!(fault_of(folder(7, 0o1777), 5), foreign(7));
        assert_eq!(fault_of(folder(ROOT, 0o755), 5), foreign(ROOT));
        assert_eq!(fault_of(folder(ROOT, 0o1777), 5), None);
        assert_eq!(fault_of(folder(5, 0o700), 5), None);
    }
}

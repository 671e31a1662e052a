//! Where shared snapshots live.
//!
//! Owns the choice of the folder. Must not make it. Invariant: one folder per user, so that nobody meets another's files.

use std::path::PathBuf;

/// Environment variable that names another folder for shared snapshots.
pub(super) const FOLDER_VARIABLE: &str = "DATASET_RT_SNAPSHOT_DIR";

/// The folder for shared snapshots: as the environment says, or one of this user's under the temporary directory.
pub(super) fn snapshot_folder() -> PathBuf {
    match std::env::var_os(FOLDER_VARIABLE) {
        Some(folder) if !folder.is_empty() => PathBuf::from(folder),
        _ => {
            std::env::temp_dir().join(format!("dataset_rt-{}", rustix::process::getuid().as_raw()))
        }
    }
}

//! The small files of a cache: manifest, origin, block table.
//!
//! Owns: reading them whole, with a bound on their length. Must not: trust a length that is not compared.
//! Invariant: what is returned was decoded and checked as a whole.
//! Format text: `FORMAT.md`, "manifest.json", "origin.json", "blocks.bin".

use std::io;
use std::path::Path;
use std::sync::Arc;

use dataset_rt_format::{
    BlockTable, CacheFile, FormatError, Manifest, Origin, Region, Site, decode_manifest,
    decode_origin, decode_original_manifest,
};

use super::manifest::CacheManifest;
use crate::durable::{DirHandle, Disk};
use crate::error::StorageError;

/// Longest manifest that is read: a million shards take less.
const MAX_MANIFEST_BYTES: u64 = 256 * 1024 * 1024;
/// Longest origin file that is read.
const MAX_ORIGIN_BYTES: u64 = 64 * 1024;

/// Reads the manifest of the cache at `path`.
///
/// # Errors
/// [`StorageError::NoManifest`] for a directory without one, [`StorageError::Io`], and [`StorageError::Cache`] with the
/// finding: damage, a later version, or a version of the original system that is not read.
pub fn read_manifest(disk: &Disk, path: &Path) -> Result<CacheManifest, StorageError> {
    read_manifest_in(&DirHandle::open(disk, path)?)
}

/// Names of the caches in a folder, sorted; none where it can't be listed.
pub(super) fn caches_in(disk: &Disk, folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = disk
        .list(folder)
        .unwrap_or_default()
        .iter()
        .filter(|path| path.join(CacheFile::Manifest.path()).is_file())
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    names.sort_unstable();
    names
}

/// Reads the origin of the cache at `path`.
///
/// # Errors
/// [`StorageError::Io`], and [`StorageError::Cache`] for a damaged one. A cache is whole without it.
pub fn read_origin(disk: &Disk, path: &Path) -> Result<Origin, StorageError> {
    let file = DirHandle::open(disk, path)?.open_file(&CacheFile::Origin.path())?;
    decode_origin(&file.read_all(MAX_ORIGIN_BYTES)?)
        .map_err(|finding| StorageError::cache(path, finding))
}

pub(super) fn read_manifest_in(dir: &DirHandle) -> Result<CacheManifest, StorageError> {
    let file = match dir.open_file(&CacheFile::Manifest.path()) {
        Err(error) if error.io_kind() == Some(io::ErrorKind::NotFound) => {
            return Err(StorageError::NoManifest {
                path: dir.path().to_owned(),
                caches: Vec::new(),
            });
        }
        opened => opened?,
    };
    let text = file.read_all(MAX_MANIFEST_BYTES)?;
    let corrupt = |finding| StorageError::cache(dir.path(), finding);
    match decode_manifest(&text) {
        Err(FormatError::OriginalFormat { .. }) => {
            let manifest = decode_original_manifest(&text).map_err(corrupt)?;
            let metadata_bytes = dir.len_of(&CacheFile::Metadata.path())?;
            Ok(CacheManifest::Original {
                manifest: Arc::new(manifest),
                // One that is missing is found where files are looked for.
                metadata_bytes: metadata_bytes.unwrap_or(0),
            })
        }
        decoded => Ok(CacheManifest::Format1(Box::new(decoded.map_err(corrupt)?))),
    }
}

/// Reads the block table and compares it with the manifest.
pub(super) fn read_blocks(
    dir: &DirHandle,
    manifest: &Manifest,
) -> Result<BlockTable, StorageError> {
    let corrupt = |finding| StorageError::cache(dir.path(), finding);
    let text = dir
        .open_file(&CacheFile::Blocks.path())?
        .read_all(manifest.blocks.bytes)?;
    let table = BlockTable::decode(&text).map_err(corrupt)?;
    table.check_lengths(manifest).map_err(corrupt)?;
    Ok(table)
}

/// Compares the length of every listed file with the manifest.
pub(super) fn check_lengths(dir: &DirHandle, manifest: &CacheManifest) -> Result<(), StorageError> {
    for listed in manifest.files() {
        match dir.len_of(&listed.file.path())? {
            Some(found) => check_length(dir, listed.file, listed.bytes, found)?,
            None => {
                return Err(StorageError::MissingFile {
                    cache: dir.path().to_owned(),
                    file: listed.file,
                    expected_bytes: listed.bytes,
                });
            }
        }
    }
    Ok(())
}

pub(super) fn check_length(
    dir: &DirHandle,
    file: CacheFile,
    expected: u64,
    found: u64,
) -> Result<(), StorageError> {
    if expected == found {
        return Ok(());
    }
    let site = Site::new(file, Region::File, 0);
    Err(StorageError::cache(
        dir.path(),
        FormatError::Mismatch {
            site,
            field: "file length",
            expected,
            found,
        },
    ))
}

//! The folder of a cache in the store.
//!
//! Owns: fetching what a cache is opened from, and giving the folder its name. Must not: fetch records. Invariant: a folder that has its name holds manifest, index,
//! metadata and block table, whole and compared with their hashes, and shards of their full length; its name is the content digest.
//! Format text: `STORE.md`, "Folders".

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset_rt_format::{
    CacheFile, FileHasher, FileSeal, FormatError, Manifest, Region, ShardId, Site, decode_manifest,
};
use dataset_rt_pool::{CancelToken, OrderedWindow, WorkerPool};
use dataset_rt_storage::InterruptCheck;
use dataset_rt_storage::durable::{
    Access, Disk, DiskFile, PrivateDir, SparseFile, publish_new, sweep_dead,
};

use crate::error::ReplicaError;
use crate::patience::take;
use crate::remote::{Finding, Remote};
use crate::resident::Resident;

/// Longest manifest that is read.
const MAX_MANIFEST_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes of one request for index, metadata or block table.
const PART_BYTES: u64 = 8 * 1024 * 1024;
/// Folder of what is being fetched.
const TEMPORARIES: &str = "tmp";

/// Finds the folder of the cache at a URL in the store, or makes it; returns its path.
///
/// # Errors
/// What the object store or the disk answers; [`ReplicaError::NoChecksums`] for a cache of the original system.
pub(crate) fn open_folder(
    disk: &Disk,
    store: &Path,
    remote: &Arc<Remote>,
    pool: &Arc<WorkerPool>,
    interrupt: &InterruptCheck,
) -> Result<PathBuf, ReplicaError> {
    // On the pool, like all that waits for a server: whoever waits here looks up meanwhile.
    let mut window = OrderedWindow::new(pool, NonZeroUsize::MIN, &CancelToken::new());
    let (asked, cancel) = (Arc::clone(remote), window.cancel_token().clone());
    window.submit(move || read_manifest(&asked, &cancel))?;
    let (text, manifest) = take(interrupt, &mut window)??;
    let folder = store.join(manifest.content_digest().to_string());
    if is_made(&folder) {
        return Ok(folder);
    }
    let temporaries = store.join(TEMPORARIES);
    let fresh = PrivateDir::create(disk, &temporaries, "fetch", Access::Mask)?;
    let fetching = Fetching {
        disk,
        remote,
        pool,
        interrupt,
        folder: fresh.path(),
    };
    for (file, seal) in [
        (CacheFile::Blocks, manifest.blocks),
        (CacheFile::Index, manifest.index),
        (CacheFile::Metadata, manifest.metadata),
    ] {
        fetching.fetch(file, seal)?;
    }
    let shards = fresh.path().join(dataset_rt_format::files::SHARD_FOLDER);
    disk.create_dir_durably(&shards)?;
    for (shard, seal) in (0..).zip(&manifest.shards) {
        let name = CacheFile::Shard(ShardId::new(shard)).path();
        SparseFile::create(disk, &fresh.path().join(name), seal.bytes)?;
    }
    Resident::create(disk, fresh.path(), manifest.sample_count)?;
    let mut file = DiskFile::create(disk, &fresh.path().join(CacheFile::Manifest.path()))?;
    file.append(&text)?;
    file.sync()?;
    let published = match publish_new(disk, fresh, &folder) {
        // Another process was faster: what it made is the same.
        Err(_) if is_made(&folder) => Ok(folder),
        published => Ok(published.map(|()| folder)?),
    };
    sweep_dead(disk, &temporaries);
    published
}

/// Whether a folder has its manifest, which it gets before its name.
fn is_made(folder: &Path) -> bool {
    folder.join(CacheFile::Manifest.path()).is_file()
}

/// The manifest at a URL, as bytes and as what they say.
fn read_manifest(
    remote: &Remote,
    cancel: &CancelToken,
) -> Result<(Vec<u8>, Box<Manifest>), ReplicaError> {
    let name = CacheFile::Manifest.path();
    let bytes = remote.facts(&name)?.bytes;
    let damaged = |finding| ReplicaError::Damaged {
        url: format!("{}/{name}", remote.url()),
        range: None,
        attempts: 1,
        finding: Box::new(finding),
    };
    if bytes == 0 || bytes > MAX_MANIFEST_BYTES {
        return Err(damaged(FormatError::OutOfRange {
            site: Site::new(CacheFile::Manifest, Region::File, 0),
            field: "file length",
            min: 1,
            max: MAX_MANIFEST_BYTES,
            found: bytes,
        }));
    }
    let mut found = None;
    let read = remote.read(
        &name,
        0..bytes,
        bytes,
        &|| !cancel.is_cancelled(),
        &mut |text| match decode_manifest(text) {
            Ok(manifest) => {
                found = Some((text.to_vec(), Box::new(manifest)));
                Ok(())
            }
            Err(FormatError::OriginalFormat { .. }) => {
                Err(Finding::Local(ReplicaError::NoChecksums {
                    url: remote.url().to_owned(),
                }))
            }
            Err(finding) => Err(Finding::Wrong(finding)),
        },
    );
    read.and_then(|()| found.ok_or(ReplicaError::Cancelled))
}

/// Fetches whole files of one cache.
struct Fetching<'a> {
    disk: &'a Disk,
    remote: &'a Arc<Remote>,
    pool: &'a Arc<WorkerPool>,
    interrupt: &'a InterruptCheck,
    folder: &'a Path,
}

impl Fetching<'_> {
    /// Fetches a file in parts, at once as many as there are workers, and compares its hash.
    fn fetch(&self, file: CacheFile, seal: FileSeal) -> Result<(), ReplicaError> {
        let mut hasher = FileHasher::new();
        let mut out = DiskFile::create(self.disk, &self.folder.join(file.path()))?;
        let cancel = CancelToken::new();
        let capacity = NonZeroUsize::new(self.pool.num_workers()).unwrap_or(NonZeroUsize::MIN);
        let mut window = OrderedWindow::new(self.pool, capacity, &cancel);
        let mut next = 0;
        while next < seal.bytes || !window.is_empty() {
            if next < seal.bytes && !window.is_full() {
                let end = seal.bytes.min(next + PART_BYTES);
                let (remote, range, cancel) = (Arc::clone(self.remote), next..end, cancel.clone());
                window.submit(move || {
                    fetch_part(&remote, &file.path(), range, seal.bytes, &cancel)
                })?;
                next = end;
                continue;
            }
            let part = take(self.interrupt, &mut window)??;
            hasher.update(&part);
            out.append(&part)?;
        }
        let found = hasher.seal();
        if found != seal {
            return Err(ReplicaError::Damaged {
                url: format!("{}/{file}", self.remote.url()),
                range: Some(0..seal.bytes),
                attempts: 1,
                finding: Box::new(FormatError::DigestMismatch {
                    site: Site::new(file, Region::File, 0),
                    covered_bytes: found.bytes,
                    expected: seal.digest,
                    found: found.digest,
                }),
            });
        }
        Ok(out.sync()?)
    }
}

fn fetch_part(
    remote: &Remote,
    name: &str,
    range: Range<u64>,
    object_bytes: u64,
    cancel: &CancelToken,
) -> Result<Vec<u8>, ReplicaError> {
    let mut part = Vec::new();
    remote.read(
        name,
        range,
        object_bytes,
        &|| !cancel.is_cancelled(),
        &mut |bytes| {
            part.clear();
            part.extend_from_slice(bytes);
            Ok(())
        },
    )?;
    Ok(part)
}

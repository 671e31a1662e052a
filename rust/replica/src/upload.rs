//! Sending a cache to an object store.
//!
//! Owns: the order, what need not be sent again, and the comparison of what arrived. Must not: write into the cache. Invariant: the manifest is sent last, and only after every file that it lists was
//! read back and had its length and hash; an upload that ended anywhere goes on where it was.
//! Format text: `STORE.md`, "Uploads".

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dataset_rt_format::{CacheFile, FileHasher, FileSeal, FormatError, Manifest, Region, Site};
use dataset_rt_pool::{CancelToken, OrderedWindow, WorkerPool};
use dataset_rt_storage::InterruptCheck;
use dataset_rt_storage::durable::{Disk, DiskFile};
use dataset_rt_storage::load::{CacheManifest, read_manifest};

use crate::error::{ReadFault, ReplicaError};
use crate::options::StoreOptions;
use crate::patience::take;
use crate::remote::Remote;
use crate::transport::Transport;

/// Bytes of one request that reads back.
const PART_BYTES: u64 = 8 * 1024 * 1024;
/// Longest manifest or origin that is sent.
const MAX_TEXT_BYTES: u64 = 256 * 1024 * 1024;

/// What an upload came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UploadReport {
    /// Objects that were sent.
    pub sent_files: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Objects that were there already, whole.
    pub kept_files: u64,
    /// Their bytes.
    pub kept_bytes: u64,
}

/// How far an upload is.
#[derive(Debug, Default)]
pub struct UploadProgress {
    done_bytes: AtomicU64,
    total_bytes: AtomicU64,
}

impl UploadProgress {
    /// Bytes that have arrived.
    #[must_use]
    pub fn done_bytes(&self) -> u64 {
        self.done_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of all files.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes.load(Ordering::Relaxed)
    }
}

/// Sends the finished cache at `path` to the place of a transport.
///
/// # Errors
/// What the disk or the object store answers; [`ReplicaError::Occupied`] where another cache is; [`ReplicaError::NoChecksums`] for a cache of the original system; [`ReplicaError::Damaged`] where a file of the cache is not what its manifest says: it is sent and then not
/// found to be right, and there is no manifest then.
///
/// # Cost
/// Every byte is sent at most once, and read back once.
pub fn upload(
    path: &Path,
    url: &str,
    transport: Arc<dyn Transport>,
    options: &StoreOptions,
    pool: &Arc<WorkerPool>,
    interrupt: &InterruptCheck,
    progress: &UploadProgress,
) -> Result<UploadReport, ReplicaError> {
    let disk = Disk::new();
    let remote = Arc::new(Remote::new(url, transport, options));
    let CacheManifest::Format1(manifest) = read_manifest(&disk, path)? else {
        return Err(ReplicaError::NoChecksums {
            url: path.display().to_string(),
        });
    };
    let files = files_of(&disk, path, &manifest)?;
    refuse_occupied(&remote, &files, pool, interrupt)?;
    let total = files.iter().map(|(_, seal)| seal.bytes).sum();
    let mut report = UploadReport::default();
    let cancel = CancelToken::new();
    let capacity = NonZeroUsize::new(pool.num_workers()).unwrap_or(NonZeroUsize::MIN);
    let mut window = OrderedWindow::new(pool, capacity, &cancel);
    let mut rest = files.into_iter().peekable();
    progress.total_bytes.store(total, Ordering::Relaxed);
    while rest.peek().is_some() || !window.is_empty() {
        // Data first: the last file goes when all others have arrived.
        let is_last = |file: &(CacheFile, FileSeal)| file.0 == CacheFile::Manifest;
        let next = match window.is_full() {
            true => None,
            false => rest.next_if(|file| !is_last(file) || window.is_empty()),
        };
        if let Some((file, seal)) = next {
            let (remote, cancel) = (Arc::clone(&remote), cancel.clone());
            let source = path.join(file.path());
            window.submit(move || send(&remote, file, seal, &source, &cancel))?;
            continue;
        }
        let sent = take(interrupt, &mut window)??;
        let (files, bytes) = match sent.is_sent {
            true => (&mut report.sent_files, &mut report.sent_bytes),
            false => (&mut report.kept_files, &mut report.kept_bytes),
        };
        *files += 1;
        *bytes += sent.bytes;
        let done = report.sent_bytes + report.kept_bytes;
        progress.done_bytes.store(done, Ordering::Relaxed);
    }
    Ok(report)
}

/// Leaves alone what is no part of this cache: a URL with the manifest of another one.
fn refuse_occupied(
    remote: &Arc<Remote>,
    files: &[(CacheFile, FileSeal)],
    pool: &Arc<WorkerPool>,
    interrupt: &InterruptCheck,
) -> Result<(), ReplicaError> {
    let Some((file, seal)) = files.last().copied() else {
        return Ok(());
    };
    let cancel = CancelToken::new();
    let mut window: OrderedWindow<Result<bool, ReplicaError>> =
        OrderedWindow::new(pool, NonZeroUsize::MIN, &cancel);
    let (asked, cancel) = (Arc::clone(remote), cancel.clone());
    window.submit(move || match asked.length_of(&file.path())? {
        None => Ok(true),
        Some(bytes) if bytes != seal.bytes => Ok(false),
        Some(_) => Ok(arrived(&asked, file, seal, &cancel)?.is_none()),
    })?;
    match take(interrupt, &mut window)?? {
        true => Ok(()),
        false => Err(ReplicaError::Occupied {
            url: remote.url().to_owned(),
        }),
    }
}

/// All files with what they have to be, the manifest last.
fn files_of(
    disk: &Disk,
    path: &Path,
    manifest: &Manifest,
) -> Result<Vec<(CacheFile, FileSeal)>, ReplicaError> {
    let mut files: Vec<_> = manifest.files().collect();
    for file in [CacheFile::Origin, CacheFile::Manifest] {
        let name = path.join(file.path());
        // A cache is whole without its origin.
        if file == CacheFile::Manifest || name.is_file() {
            let text = DiskFile::open(disk, &name)?.read_all(MAX_TEXT_BYTES)?;
            files.push((file, FileSeal::of(&text)));
        }
    }
    Ok(files)
}

struct Sent {
    is_sent: bool,
    bytes: u64,
}

/// Sends a file unless it is there, and compares what is there then.
fn send(
    remote: &Remote,
    file: CacheFile,
    seal: FileSeal,
    source: &Path,
    cancel: &CancelToken,
) -> Result<Sent, ReplicaError> {
    let name = file.path();
    let sent = |is_sent| Sent {
        is_sent,
        bytes: seal.bytes,
    };
    if remote.length_of(&name)? == Some(seal.bytes)
        && arrived(remote, file, seal, cancel)?.is_none()
    {
        return Ok(sent(false));
    }
    remote.put(&name, source, &|| !cancel.is_cancelled())?;
    match arrived(remote, file, seal, cancel)? {
        None => Ok(sent(true)),
        Some(finding) => Err(ReplicaError::Damaged {
            url: format!("{}/{name}", remote.url()),
            range: Some(0..seal.bytes),
            attempts: 1,
            finding: Box::new(finding),
        }),
    }
}

/// Reads an object back; what is wrong with it, if anything is.
fn arrived(
    remote: &Remote,
    file: CacheFile,
    seal: FileSeal,
    cancel: &CancelToken,
) -> Result<Option<FormatError>, ReplicaError> {
    let mut hasher = FileHasher::new();
    let mut start = 0;
    remote.forget_tag(&file.path());
    while start < seal.bytes {
        let end = seal.bytes.min(start + PART_BYTES);
        remote.read(
            &file.path(),
            start..end,
            seal.bytes,
            &|| !cancel.is_cancelled(),
            &mut |bytes| {
                hasher.update(bytes);
                Ok(())
            },
        )?;
        start = end;
    }
    let found = hasher.seal();
    Ok((found != seal).then(|| FormatError::DigestMismatch {
        site: Site::new(file, Region::File, 0),
        covered_bytes: found.bytes,
        expected: seal.digest,
        found: found.digest,
    }))
}

impl Remote {
    /// Length of an object in bytes; `None` if there is none.
    fn length_of(&self, name: &str) -> Result<Option<u64>, ReplicaError> {
        match self.facts(name) {
            Ok(facts) => Ok(Some(facts.bytes)),
            Err(ReplicaError::Object {
                fault: ReadFault::Missing,
                ..
            }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;

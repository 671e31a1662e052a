//! What live readers need soon, told to every process that shares the store.
//!
//! Owns: the files that say so, and reading those of others. Must not: decide what goes. Invariant: a lease is on the disk before its reader looks whether records are there, and a
//! dead process has none: its folder goes with its lock.
//! Format text: `STORE.md`, "Leases".

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dataset_rt_format::Digest128;
use dataset_rt_storage::StorageError;
use dataset_rt_storage::durable::{Access, Disk, DiskFile, PrivateDir, sweep_dead};

/// Folder of the leases in the store.
const LEASES: &str = "leases";
/// Beginning of a lease's file name; a number follows.
const LEASE_STEM: &str = "need-";
/// Longest lease that is read.
const MAX_LEASE_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of a digest, and of a number.
const DIGEST_LEN: usize = 16;
const NUMBER_LEN: usize = 8;

/// Samples that somebody needs soon, by cache.
pub(crate) type Needs = HashMap<Digest128, HashSet<u64>>;

/// The leases of one process.
#[derive(Debug)]
pub(crate) struct Leases {
    disk: Disk,
    folder: PathBuf,
    own: Mutex<Option<Arc<PrivateDir>>>,
    next: AtomicU64,
}

/// One lease; dropping it gives it up.
#[derive(Debug)]
pub(crate) struct Lease {
    disk: Disk,
    path: PathBuf,
    process: u32,
    _folder: Arc<PrivateDir>,
}

impl Leases {
    pub(crate) fn new(disk: &Disk, store: &Path) -> Self {
        Self {
            disk: disk.clone(),
            folder: store.join(LEASES),
            own: Mutex::default(),
            next: AtomicU64::new(0),
        }
    }

    /// Tells that samples are needed soon.
    pub(crate) fn take(&self, needs: &[(Digest128, Vec<u64>)]) -> Result<Lease, StorageError> {
        let folder = self.own_folder()?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = folder.path().join(format!("{LEASE_STEM}{number}"));
        DiskFile::create(&self.disk, &path)?.append(&encode(needs))?;
        Ok(Lease {
            disk: self.disk.clone(),
            path,
            process: std::process::id(),
            _folder: folder,
        })
    }

    fn own_folder(&self) -> Result<Arc<PrivateDir>, StorageError> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*own {
            return Ok(Arc::clone(folder));
        }
        let made = PrivateDir::create(&self.disk, &self.folder, "reader", Access::Mask)?;
        Ok(Arc::clone(own.insert(Arc::new(made))))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            return; // a forked child's copy
        }
        // One that stays keeps some records longer than need be, until its process ends.
        let _kept_longer = self.disk.remove_file(&self.path);
    }
}

/// Removes the leases of dead processes.
pub(crate) fn sweep(disk: &Disk, store: &Path) {
    sweep_dead(disk, &store.join(LEASES));
}

/// All leases in a store; `None` where one is just being written.
pub(crate) fn read_needs(disk: &Disk, store: &Path) -> Result<Option<Needs>, StorageError> {
    let mut needs = Needs::new();
    for process in disk.list(&store.join(LEASES))? {
        if !process.is_dir() {
            continue;
        }
        for path in disk.list(&process)? {
            let text = match DiskFile::open(disk, &path) {
                // It was given up, or its process died and was swept.
                Err(error) if error.io_kind() == Some(io::ErrorKind::NotFound) => continue,
                file => file?.read_all(MAX_LEASE_BYTES)?,
            };
            if !decode(&text, &mut needs) {
                return Ok(None);
            }
        }
    }
    Ok(Some(needs))
}

/// Caches, and for each its digest, a count and so many sample numbers; a zero count of another kind ends it, so that a part is told from the whole.
fn encode(needs: &[(Digest128, Vec<u64>)]) -> Vec<u8> {
    let mut text = Vec::new();
    text.extend_from_slice(&(needs.len() as u64).to_le_bytes());
    for (digest, samples) in needs {
        text.extend_from_slice(&digest.bytes());
        text.extend_from_slice(&(samples.len() as u64).to_le_bytes());
        for sample in samples {
            text.extend_from_slice(&sample.to_le_bytes());
        }
    }
    text
}

/// Adds what a lease says; false where it is not whole.
fn decode(text: &[u8], needs: &mut Needs) -> bool {
    let mut rest = text;
    let Some(caches) = number(&mut rest) else {
        return false;
    };
    for _ in 0..caches {
        let Some((digest, behind)) = rest.split_first_chunk::<DIGEST_LEN>() else {
            return false;
        };
        rest = behind;
        let Some(count) = number(&mut rest) else {
            return false;
        };
        let samples = needs.entry(Digest128::from_bytes(*digest)).or_default();
        for _ in 0..count {
            match number(&mut rest) {
                Some(sample) => samples.insert(sample),
                None => return false,
            };
        }
    }
    rest.is_empty()
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let (bytes, behind) = rest.split_first_chunk::<NUMBER_LEN>()?;
    *rest = behind;
    Some(u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(name: &str) -> Digest128 {
        Digest128::of(name.as_bytes())
    }

    #[test]
    fn leases_of_all_readers_are_read_until_they_are_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::new();
        let (one, other) = (
            Leases::new(&disk, folder.path()),
            Leases::new(&disk, folder.path()),
        );
        let first = one.take(&[(digest("a"), vec![1, 2])]).unwrap();
        let second = other
            .take(&[(digest("a"), vec![2, 3]), (digest("b"), vec![])])
            .unwrap();
        sweep(&disk, folder.path());
        let needs = read_needs(&disk, folder.path()).unwrap().unwrap();
        assert_eq!(needs.get(&digest("a")), Some(&HashSet::from([1, 2, 3])));
        drop(first);
        let needs = read_needs(&disk, folder.path()).unwrap().unwrap();
        assert_eq!(needs.get(&digest("a")), Some(&HashSet::from([2, 3])));
        drop((second, one, other));
        assert_eq!(
            read_needs(&disk, folder.path()).unwrap(),
            Some(Needs::new())
        );
    }

    #[test]
    fn part_of_a_lease_is_told_from_the_whole() {
        let whole = encode(&[(digest("a"), vec![7, 8]), (digest("b"), vec![9])]);
        for length in 0..whole.len() {
            assert!(!decode(&whole[..length], &mut Needs::new()), "{length}");
        }
        let mut needs = Needs::new();
        assert!(decode(&whole, &mut needs));
        assert_eq!(needs.len(), 2);
    }
}

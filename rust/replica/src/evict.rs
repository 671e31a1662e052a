//! Making room in a store that has a limit.
//!
//! Owns: which records go. Must not: touch what a lease names, or anything that is no record of a store's folder. Invariant: a record's mark goes before its room does, and leases are read again in
//! between, so that a reader either has its lease seen, or sees that the record is absent.
//! Format text: `STORE.md`, "Room".

use std::ops::Range;
use std::path::{Path, PathBuf};

use dataset_rt_format::Digest128;
use dataset_rt_storage::StorageError;
use dataset_rt_storage::durable::{Disk, LockFile, allocated_bytes_of};
use dataset_rt_storage::load::OpenOptions;

use crate::error::ReplicaError;
use crate::lease::{Needs, read_needs, sweep};
use crate::resident::{ABSENT, RESTING, USED};
use crate::stored::StoredCache;

/// Lock of whoever makes room.
const LOCK_FILE: &str = "room.lock";
/// Records looked at in one go.
const LOOKED_RECORDS: u64 = 64 * 1024;
/// The part of the limit from which on room is made, and the part that is then left: both of these of the limit stay free.
const FREE_SHARE_BEFORE: u64 = 16;
const FREE_SHARE_BEHIND: u64 = 8;

/// The room of one store.
pub(crate) struct Room<'a> {
    pub(crate) disk: &'a Disk,
    pub(crate) store: &'a Path,
    pub(crate) limit_bytes: u64,
}

impl Room<'_> {
    /// Bytes that the store takes on the disk.
    pub(crate) fn used_bytes(&self) -> Result<u64, StorageError> {
        let mut bytes = 0;
        for folder in self.folders()? {
            let shards = folder.join(dataset_rt_format::files::SHARD_FOLDER);
            for path in self
                .disk
                .list(&folder)?
                .into_iter()
                .chain(self.disk.list(&shards)?)
            {
                bytes += allocated_bytes_of(self.disk, &path)?;
            }
        }
        Ok(bytes)
    }

    /// Gives room back until enough is free beside `coming_bytes`, or nothing more may go; `start` says which folder and shard come first. Does nothing while another process does it. Says how many bytes
    /// are used then, with those coming.
    pub(crate) fn make(&self, start: u64, coming_bytes: u64) -> Result<u64, ReplicaError> {
        let used = self.used_bytes()?.saturating_add(coming_bytes);
        if used <= self.limit_bytes - self.limit_bytes / FREE_SHARE_BEFORE {
            return Ok(used);
        }
        let lock = self.store.join(LOCK_FILE);
        let Some(_lock) = LockFile::try_acquire(self.disk, &lock)? else {
            return Ok(used);
        };
        sweep(self.disk, self.store);
        let kept = self.limit_bytes - self.limit_bytes / FREE_SHARE_BEHIND;
        self.shrink(start, used.saturating_sub(kept))?;
        Ok(self.used_bytes()?.saturating_add(coming_bytes))
    }

    fn shrink(&self, start: u64, mut surplus: u64) -> Result<(), ReplicaError> {
        let folders = self.folders()?;
        // What was used goes in the second round at the latest: the first one lets it rest.
        for _round in 0..2 {
            for folder in rotated(&folders, start) {
                if surplus == 0 {
                    return Ok(());
                }
                let options = OpenOptions { mapped: false };
                let stored = StoredCache::open(self.disk, folder, options)?;
                self.make_in(&stored, start, &mut surplus)?;
            }
        }
        Ok(())
    }

    /// The folders of caches.
    fn folders(&self) -> Result<Vec<PathBuf>, StorageError> {
        let mut folders = self.disk.list(self.store)?;
        folders.retain(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| Digest128::parse_hex(name).is_some())
        });
        folders.sort();
        Ok(folders)
    }

    fn make_in(
        &self,
        stored: &StoredCache,
        start: u64,
        surplus: &mut u64,
    ) -> Result<(), ReplicaError> {
        let count = u32::try_from(stored.cache.manifest().shard_count()).unwrap_or(u32::MAX);
        let shards: Vec<u32> = (0..count).collect();
        for shard in rotated(&shards, start) {
            if *surplus == 0 {
                return Ok(());
            }
            let file = stored.shard(*shard)?;
            let before = file.allocated_bytes()?;
            let mut offset = 0;
            while let Some(data) = file.next_data(offset)? {
                offset = data.end;
                let samples = stored.samples_in(*shard, &data)?;
                let mut first = samples.start;
                while first < samples.end {
                    let end = samples.end.min(first + LOOKED_RECORDS);
                    self.make_of(stored, first..end)?;
                    first = end;
                }
            }
            *surplus = surplus.saturating_sub(before.saturating_sub(file.allocated_bytes()?));
        }
        Ok(())
    }

    /// Lets records of one shard go that rest and that nobody needs, and lets those rest that were used.
    fn make_of(&self, stored: &StoredCache, samples: Range<u64>) -> Result<(), ReplicaError> {
        let Some(needs) = read_needs(self.disk, self.store)? else {
            return Ok(());
        };
        let states = stored.resident.states(samples.clone())?;
        let runs = runs_of(
            samples.clone().zip(states),
            |sample, state| match is_needed(&needs, stored.digest, sample) {
                true => None,
                false => Some(state),
            },
        );
        let mut going = Vec::new();
        for (run, state) in runs {
            match state {
                USED => stored.resident.set(run, RESTING)?,
                state => {
                    if state != ABSENT {
                        stored.resident.set(run.clone(), ABSENT)?;
                    }
                    going.push((run, state));
                }
            }
        }
        // Whoever took a lease since the first look saw a mark that is gone now, unless it is seen here.
        let needs = read_needs(self.disk, self.store)?;
        for (run, state) in going {
            let is_kept = |sample| match &needs {
                Some(needs) => is_needed(needs, stored.digest, sample),
                None => true,
            };
            let pieces = runs_of(run.map(|sample| (sample, state)), |sample, _| {
                Some(u8::from(is_kept(sample)))
            });
            for (piece, is_kept) in pieces {
                match is_kept {
                    0 => self.punch(stored, piece)?,
                    _ if state != ABSENT => stored.resident.set(piece, state)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn punch(&self, stored: &StoredCache, samples: Range<u64>) -> Result<(), ReplicaError> {
        let Some(last) = samples.end.checked_sub(1) else {
            return Ok(());
        };
        let (first, last) = (stored.range(samples.start)?, stored.range(last)?);
        Ok(stored
            .shard(first.shard)?
            .punch(first.start_bytes..last.end_bytes)?)
    }
}

/// A process's own way through folders and shards, so that no part of the store is always the first to go.
fn rotated<T>(items: &[T], start: u64) -> impl Iterator<Item = &T> {
    let count = items.len().max(1) as u64;
    let skipped = usize::try_from(start % count).unwrap_or(0);
    items.iter().skip(skipped).chain(items.iter().take(skipped))
}

fn is_needed(needs: &Needs, digest: Digest128, sample: u64) -> bool {
    needs
        .get(&digest)
        .is_some_and(|samples| samples.contains(&sample))
}

/// Runs of neighbouring samples with one value; those without one are left out.
fn runs_of(
    samples: impl Iterator<Item = (u64, u8)>,
    value: impl Fn(u64, u8) -> Option<u8>,
) -> Vec<(Range<u64>, u8)> {
    let mut runs: Vec<(Range<u64>, u8)> = Vec::new();
    for (sample, state) in samples {
        let Some(value) = value(sample, state) else {
            continue;
        };
        match runs.last_mut() {
            Some((run, same)) if run.end == sample && *same == value => run.end = sample + 1,
            _ => runs.push((sample..sample + 1, value)),
        }
    }
    runs
}

#[cfg(test)]
mod tests;

//! The store of one dataset: what is fetched, in which order, and until when it stays.
//!
//! Owns what is announced and what is waited for, and the leases of this process. Must not know draws, only samples in the order in which they are needed. Invariant: a lease is taken before
//! residence is looked at, and whoever waits for a record hears what became of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dataset_rt_format::{CacheId, SampleId};
use dataset_rt_pool::{CancelToken, fork};
use dataset_rt_storage::durable::Disk;

use crate::error::ReplicaError;
use crate::fetcher::Fetcher;
use crate::lease::{Lease, Leases};
use crate::options::StoreOptions;
use crate::plan::{Needed, Spare};
use crate::replica::Replica;
use crate::request::{Outcome, Request};

/// Longest time between two looks at whether whoever waits still does.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// Rounds in which records are fetched for somebody who waits: another process may take one away in between.
const ROUNDS: usize = 3;

/// A record by its sample.
pub type Record = (CacheId, SampleId);

/// Records that somebody waited for: those that had to be fetched stay in the store until this is dropped.
#[derive(Debug)]
pub struct Awaited {
    /// In the order of the records.
    failures: Vec<Option<Arc<ReplicaError>>>,
    lease: Option<Lease>,
}

impl Awaited {
    /// Why the record with this number is not there, if it is not.
    #[must_use]
    pub fn failure(&self, number: usize) -> Option<&Arc<ReplicaError>> {
        self.failures.get(number)?.as_ref()
    }
}

/// What was fetched since the dataset was opened, in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchStats {
    /// Requests made of the object store, repeated ones too.
    pub requests: u64,
    /// Those of them that repeated one that had failed.
    pub repeats: u64,
    /// Bytes that came.
    pub bytes: u64,
}

/// The caches of a dataset that come from URLs, and the store they share.
#[derive(Debug)]
pub struct Store {
    replicas: Box<[Option<Arc<Replica>>]>,
    generation: u64,
    leases: Leases,
    fetcher: Fetcher,
}

/// Draws that were announced: their records stay, once they are there, until this is dropped.
#[derive(Debug)]
pub struct Announcement {
    _lease: Option<Lease>,
    bytes: u64,
}

impl Announcement {
    /// Bytes of the records that were announced.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Store {
    /// A store for the caches of a dataset, in `cache_id` order; `None` for one that is on the disk anyway.
    ///
    /// # Errors
    /// [`ReplicaError::InvalidOption`].
    pub fn new(
        options: StoreOptions,
        replicas: Vec<Option<Arc<Replica>>>,
    ) -> Result<Self, ReplicaError> {
        options.validate()?;
        let disk = Disk::new();
        Ok(Self {
            leases: Leases::new(&disk, &options.path),
            replicas: replicas.into_boxed_slice(),
            generation: fork::generation(),
            fetcher: Fetcher::new(&disk, options),
        })
    }

    /// How it is kept and filled.
    #[must_use]
    pub fn options(&self) -> &StoreOptions {
        self.fetcher.options()
    }

    /// The replica with this id; `None` for a cache that is on the disk anyway.
    #[must_use]
    #[inline]
    pub fn replica(&self, cache: CacheId) -> Option<&Arc<Replica>> {
        self.replicas
            .get(usize::try_from(cache.get()).ok()?)?
            .as_ref()
    }

    /// What was fetched so far.
    #[must_use]
    pub fn stats(&self) -> FetchStats {
        let mut stats = FetchStats::default();
        for replica in self.replicas.iter().flatten() {
            let traffic = &replica.remote.traffic;
            stats.requests += traffic.requests.load(Ordering::Relaxed);
            stats.repeats += traffic.repeats.load(Ordering::Relaxed);
            stats.bytes += traffic.bytes.load(Ordering::Relaxed);
        }
        stats
    }

    /// Whether all these records are in the store; notes that they are used.
    ///
    /// # Errors
    /// [`ReplicaError::Storage`].
    ///
    /// # Cost
    /// A system call per record.
    pub fn are_resident(
        &self,
        records: impl IntoIterator<Item = Record>,
    ) -> Result<bool, ReplicaError> {
        for (cache, sample) in records {
            if let Some(replica) = self.replica(cache)
                && !replica.touch(sample)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Announces records in the order in which they will be needed: those that are not there are asked for, until `interest` is cancelled. `later_shares` says for each cache which part of its other
    /// records will be needed later.
    ///
    /// # Errors
    /// [`ReplicaError::Storage`] and [`ReplicaError::Pool`]; never what the object store answers.
    ///
    /// # Cost
    /// Some system calls per record; waits for no answer.
    pub fn announce(
        &self,
        records: &[Record],
        later_shares: &[f64],
        interest: &CancelToken,
    ) -> Result<Announcement, ReplicaError> {
        if self.is_forked() {
            return Ok(Announcement {
                _lease: None,
                bytes: 0,
            });
        }
        let (needed, bytes) = self.needs(records);
        let lease = self.lease(&needed)?;
        let mut requests = Vec::new();
        let planned = self.fetcher.planning();
        for ((replica, needed), share) in self.replicas.iter().zip(&needed).zip(later_shares) {
            if let Some(replica) = replica {
                let spare = self.spare(*share);
                requests.extend(self.fetcher.plan(replica, needed, spare, Some(interest))?);
            }
        }
        requests.sort_by_key(|request| request.run.turn);
        self.fetcher.push(&requests, false)?;
        drop(planned);
        Ok(Announcement {
            _lease: lease,
            bytes,
        })
    }

    /// Waits until records are in the store, fetching those that nobody asked for yet before all others.
    ///
    /// # Errors
    /// Each record has its own, in the answer: what the object store answered after the last attempt, [`ReplicaError::Cancelled`], [`ReplicaError::Forked`].
    pub fn await_records(&self, records: &[Record], cancel: &CancelToken) -> Awaited {
        let mut awaited = Awaited {
            failures: vec![None; records.len()],
            lease: None,
        };
        if let Err(error) = self.await_all(records, &mut awaited, cancel) {
            awaited.failures.fill(Some(Arc::new(error)));
        }
        awaited
    }

    /// Fetches a record again whose bytes in the store are not what they were.
    ///
    /// # Errors
    /// As [`await_records`](Self::await_records).
    pub fn refetch(
        &self,
        record: Record,
        cancel: &CancelToken,
    ) -> Result<Awaited, Arc<ReplicaError>> {
        if let Some(replica) = self.replica(record.0) {
            replica
                .forget(record.1)
                .map_err(|error| Arc::new(ReplicaError::from(error)))?;
        }
        let awaited = self.await_records(&[record], cancel);
        match awaited.failure(0) {
            Some(error) => Err(Arc::clone(error)),
            None => Ok(awaited),
        }
    }

    fn await_all(
        &self,
        records: &[Record],
        awaited: &mut Awaited,
        cancel: &CancelToken,
    ) -> Result<(), ReplicaError> {
        if self.are_resident(records.iter().copied())? {
            return Ok(());
        }
        if !self.is_forked() {
            awaited.lease = self.lease(&self.needs(records).0)?;
        }
        for _round in 0..ROUNDS {
            if !self.await_once(records, &mut awaited.failures, cancel)? {
                break;
            }
        }
        Ok(())
    }

    /// What is needed of each replica, in the order of its samples, and how many bytes that are.
    fn needs(&self, records: &[Record]) -> (Vec<Vec<Needed>>, u64) {
        let mut bytes = 0;
        let mut needed = vec![Vec::new(); self.replicas.len()];
        for (turn, (cache, sample)) in (0..).zip(records) {
            let place = usize::try_from(cache.get()).unwrap_or(usize::MAX);
            if let (Some(replica), Some(needed)) = (self.replica(*cache), needed.get_mut(place)) {
                let sample = sample.get();
                // A row that can't be read is an error of its draw, which comes when that is read.
                if let Ok(range) = replica.stored.range(sample) {
                    bytes += range.end_bytes - range.start_bytes;
                    needed.push(Needed { sample, turn });
                }
            }
        }
        for needed in &mut needed {
            needed.sort_unstable();
            needed.dedup_by_key(|one| one.sample);
        }
        (needed, bytes)
    }

    /// One round; says whether anything had to be waited for.
    fn await_once(
        &self,
        records: &[Record],
        failures: &mut [Option<Arc<ReplicaError>>],
        cancel: &CancelToken,
    ) -> Result<bool, ReplicaError> {
        let mut absent = Vec::new();
        for (place, (cache, sample)) in records.iter().enumerate() {
            let is_open = failures.get(place).is_some_and(Option::is_none);
            if let Some(replica) = self.replica(*cache)
                && is_open
                && !replica.touch(*sample)?
            {
                absent.push((place, replica, sample.get()));
            }
        }
        let Some((_, replica, _)) = absent.first() else {
            return Ok(false);
        };
        if self.is_forked() {
            return Err(ReplicaError::Forked {
                url: replica.url().to_owned(),
            });
        }
        let requests = self.demand(&absent)?;
        for ((place, replica, sample), request) in absent.iter().zip(requests) {
            // A record that no request holds came meanwhile.
            let Some(request) = request else { continue };
            let ended = loop {
                if let Some(ended) = request.wait(LOOK_INTERVAL) {
                    break ended;
                }
                if cancel.is_cancelled() {
                    return Err(ReplicaError::Cancelled);
                }
            };
            // Other records of the same request may have failed, and this one not.
            if let (Outcome::Failed(error), Some(failure)) = (ended, failures.get_mut(*place))
                && !replica.touch(SampleId::new(*sample))?
            {
                *failure = Some(error);
            }
        }
        Ok(true)
    }

    /// The request of each record, made if there is none, and put before all that nobody waits for.
    fn demand(
        &self,
        absent: &[(usize, &Arc<Replica>, u64)],
    ) -> Result<Vec<Option<Arc<Request>>>, ReplicaError> {
        let planned = self.fetcher.planning();
        let mut requests = Vec::new();
        let mut seen = HashSet::new();
        for (_, replica, _) in absent {
            if seen.insert(replica.number) {
                let own = absent
                    .iter()
                    .filter(|(_, other, _)| other.number == replica.number);
                let mut needed: Vec<_> = own
                    .map(|(_, _, sample)| Needed {
                        sample: *sample,
                        turn: 0,
                    })
                    .collect();
                needed.sort_unstable();
                needed.dedup_by_key(|one| one.sample);
                requests.extend(self.fetcher.plan(replica, &needed, self.spare(0.0), None)?);
            }
        }
        self.fetcher.push(&requests, true)?;
        drop(planned);
        let samples = absent
            .iter()
            .map(|(_, replica, sample)| (replica.number, *sample));
        Ok(self.fetcher.demand(samples))
    }

    fn lease(&self, needed: &[Vec<Needed>]) -> Result<Option<Lease>, ReplicaError> {
        let needs = self
            .replicas
            .iter()
            .zip(needed)
            .filter(|(_, needed)| !needed.is_empty());
        let needs: Vec<_> = needs
            .filter_map(|(replica, needed)| {
                let digest = replica.as_ref()?.stored.digest;
                Some((digest, needed.iter().map(|one| one.sample).collect()))
            })
            .collect();
        Ok(match needs.is_empty() {
            true => None,
            false => Some(self.leases.take(&needs)?),
        })
    }

    /// What records are worth of which this part will be needed later.
    fn spare(&self, later_share: f64) -> Spare {
        match self.holds_all() {
            true => Spare::Kept { later_share },
            false => Spare::Displacing,
        }
    }

    /// Whether the limit leaves room for all records of this dataset.
    fn holds_all(&self) -> bool {
        let replicas = self.replicas.iter().flatten();
        let stored: u64 = replicas
            .map(|replica| replica.cache().manifest().stored_bytes())
            .sum();
        self.options()
            .limit_bytes
            .is_none_or(|limit| stored <= limit - limit / 8)
    }

    fn is_forked(&self) -> bool {
        self.generation != fork::generation()
    }
}

#[cfg(test)]
mod tests;

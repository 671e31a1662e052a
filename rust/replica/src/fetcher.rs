//! The threads that fetch.
//!
//! Owns their number, the queue they work off, and when they look for room. Must not know draws or leases. Invariant: requests in flight are bounded, no record is planned twice, and a thread
//! lives no longer than the dataset.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use dataset_rt_pool::{CancelToken, PoolError, WorkerPool};
use dataset_rt_storage::durable::Disk;

use crate::error::ReplicaError;
use crate::evict::Room;
use crate::options::StoreOptions;
use crate::plan::{Needed, Spare, plan_requests};
use crate::queue::Queue;
use crate::replica::Replica;
use crate::request::{Outcome, Request};
use crate::view::View;

/// The part of a limit that may be fetched between two looks at the room that is left.
const LOOKS_PER_LIMIT: u64 = 64;

/// Fetches what is asked for, in order.
#[derive(Debug)]
pub(crate) struct Fetcher {
    crew: OnceLock<Arc<WorkerPool>>,
    /// Held while requests are planned.
    planning: Mutex<()>,
    inner: Arc<Inner>,
}

/// What the threads see.
#[derive(Debug)]
struct Inner {
    work: Mutex<Work>,
    options: StoreOptions,
    disk: Disk,
    /// Held while room is made, so that nothing more is asked for meanwhile.
    asked: Mutex<Asked>,
    /// A request ended.
    arrived: Condvar,
    looks: AtomicU64,
}

#[derive(Debug, Default)]
struct Work {
    queue: Queue,
    /// Threads that work the queue off.
    runners: usize,
}

/// What counts against a limit, of this process alone.
#[derive(Debug)]
struct Asked {
    /// Asked for since the last look at the room that is left.
    unseen_bytes: u64,
    /// Asked for, and not there yet.
    coming_bytes: u64,
}

impl Fetcher {
    pub(crate) fn new(disk: &Disk, options: StoreOptions) -> Self {
        Self {
            crew: OnceLock::new(),
            planning: Mutex::default(),
            inner: Arc::new(Inner {
                work: Mutex::default(),
                options,
                disk: disk.clone(),
                asked: Mutex::new(Asked {
                    // The first request looks: processes before this one may have ended without a look.
                    unseen_bytes: u64::MAX,
                    coming_bytes: 0,
                }),
                arrived: Condvar::new(),
                looks: AtomicU64::new(u64::from(std::process::id())),
            }),
        }
    }

    pub(crate) fn options(&self) -> &StoreOptions {
        &self.inner.options
    }

    /// The right to plan, until the requests planned have been pushed.
    pub(crate) fn planning(&self) -> MutexGuard<'_, ()> {
        self.planning.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests for those of the records that are absent and not under way; the right to plan is held.
    pub(crate) fn plan(
        &self,
        replica: &Arc<Replica>,
        needed: &[Needed],
        spare: Spare,
        interest: Option<&CancelToken>,
    ) -> Result<Vec<Arc<Request>>, ReplicaError> {
        let held = |samples| self.inner.work().queue.held(replica.number, &samples);
        let view = View::new(replica, &held);
        let absent = view.absent_of(needed)?;
        let runs = plan_requests(&view, &absent, spare)?;
        let requests = runs
            .into_iter()
            .map(|run| Arc::new(Request::new(replica, run, interest.cloned())));
        Ok(requests.collect())
    }

    /// Takes requests in and has threads work them off.
    pub(crate) fn push(&self, requests: &[Arc<Request>], is_urgent: bool) -> Result<(), PoolError> {
        if requests.is_empty() {
            return Ok(());
        }
        let max_requests = self.options().max_requests;
        let crew = match self.crew.get() {
            Some(crew) => crew,
            None => {
                let made = WorkerPool::new(max_requests)?;
                self.crew.get_or_init(|| made)
            }
        };
        let started = {
            let mut work = self.inner.work();
            work.queue.push(requests, is_urgent);
            let started = requests
                .len()
                .min(max_requests.saturating_sub(work.runners));
            work.runners += started;
            started
        };
        for number in 0..started {
            let inner = Arc::clone(&self.inner);
            if let Err(error) = crew.spawn(move || inner.run()) {
                self.inner.work().runners -= started - number;
                return Err(error);
            }
        }
        Ok(())
    }

    /// The requests that hold these samples' records, put before all that nobody waits for; `None` for a record that no request holds.
    pub(crate) fn demand(
        &self,
        samples: impl Iterator<Item = (u64, u64)>,
    ) -> Vec<Option<Arc<Request>>> {
        let mut work = self.inner.work();
        let held: Vec<_> = samples
            .map(|(replica, sample)| work.queue.holding(replica, sample).cloned())
            .collect();
        for request in held.iter().flatten() {
            if request.demand() {
                work.queue.hasten(request);
            }
        }
        held
    }
}

impl Inner {
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works the queue off.
    fn run(&self) {
        loop {
            let request = {
                let mut work = self.work();
                match work.queue.pop() {
                    Some(request) => request,
                    None => {
                        work.runners = work.runners.saturating_sub(1);
                        return;
                    }
                }
            };
            let outcome = match request.is_wanted() {
                false => Outcome::Dropped,
                true => {
                    let bytes = request.run.bytes.end - request.run.bytes.start;
                    self.take_room(bytes, &|| request.is_wanted());
                    let filled = catch_unwind(AssertUnwindSafe(|| self.fill(&request)));
                    self.fill_room(bytes);
                    filled.unwrap_or_else(|_| Outcome::Failed(Arc::new(ReplicaError::Cancelled)))
                }
            };
            self.work().queue.forget(&request);
            request.end(outcome);
        }
    }

    fn fill(&self, request: &Request) -> Outcome {
        match request.replica.fill(&request.run, &|| request.is_wanted()) {
            Ok(()) => Outcome::Filled,
            Err(ReplicaError::Cancelled) => Outcome::Dropped,
            Err(error) => Outcome::Failed(Arc::new(error)),
        }
    }

    /// Takes room for so many more bytes: makes some when there may be too little, and waits for requests under way when there is none.
    fn take_room(&self, bytes: u64, is_wanted: &dyn Fn() -> bool) {
        let Some(limit_bytes) = self.options.limit_bytes else {
            return;
        };
        let room = Room {
            disk: &self.disk,
            store: &self.options.path,
            limit_bytes,
        };
        let mut asked = self.asked();
        loop {
            asked.unseen_bytes = asked.unseen_bytes.saturating_add(bytes);
            if asked.unseen_bytes <= limit_bytes / LOOKS_PER_LIMIT {
                break;
            }
            let start = self.looks.fetch_add(1, Ordering::Relaxed);
            // A store in which no room can be made fills up; the next look tries again, and a full disk is an error of the write.
            let fits = room
                .make(start, asked.coming_bytes + bytes)
                .map_or(true, |used| used <= limit_bytes);
            // What is needed at once may exceed the limit, so one request at a time goes on.
            if fits || asked.coming_bytes == 0 || !is_wanted() {
                asked.unseen_bytes = 0;
                break;
            }
            asked.unseen_bytes = u64::MAX;
            asked = self
                .arrived
                .wait(asked)
                .unwrap_or_else(PoisonError::into_inner);
        }
        asked.coming_bytes += bytes;
    }

    /// Bytes for which room was taken are there, or will not come.
    fn fill_room(&self, bytes: u64) {
        let mut asked = self.asked();
        asked.coming_bytes = asked.coming_bytes.saturating_sub(bytes);
        self.arrived.notify_all();
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

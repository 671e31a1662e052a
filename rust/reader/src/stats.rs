//! What was read through a set of caches, and how.
//!
//! Owns the counts. Must not decide anything by them. Invariant: counting takes no lock and no locked instruction per draw: an iterator counts for itself, and is added up
//! when somebody asks or it ends.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Counts since the caches were opened, in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadStats {
    /// Draws whose records were in memory.
    pub warm_reads: u64,
    /// Draws whose records were not, or are read without a mapping.
    pub cold_reads: u64,
    /// Samples read by identity.
    pub item_reads: u64,
    /// Payload bytes of all of these.
    pub payload_bytes: u64,
    /// Those of them whose checksum was compared: caches of the original system hold none of records.
    pub checked_records: u64,
    /// Damaged draws that were left out.
    pub corrupt_skips: u64,
    /// Requests made of object stores, repeated ones too.
    pub fetch_requests: u64,
    /// Those of them that repeated one that had failed.
    pub fetch_repeats: u64,
    /// Bytes that came from object stores.
    pub fetched_bytes: u64,
    /// Time spent decoding, of all threads together.
    pub decode_time: Duration,
    /// Time that consumers waited for the pool.
    pub wait_time: Duration,
}

impl ReadStats {
    fn add(&mut self, other: &Self) {
        self.warm_reads += other.warm_reads;
        self.cold_reads += other.cold_reads;
        self.item_reads += other.item_reads;
        self.payload_bytes += other.payload_bytes;
        self.checked_records += other.checked_records;
        self.corrupt_skips += other.corrupt_skips;
        self.decode_time += other.decode_time;
        self.wait_time += other.wait_time;
    }
}

/// The counts of a set of caches.
#[derive(Debug, Default)]
pub(crate) struct ReadCounters(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    ended: ReadStats,
    live: Vec<Arc<Counts>>,
}

impl ReadCounters {
    /// All counts at this moment.
    pub(crate) fn stats(&self) -> ReadStats {
        let counted = self.lock();
        let mut stats = counted.ended;
        for counts in &counted.live {
            stats.add(&counts.stats());
        }
        stats
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn add(&self, stats: &ReadStats) {
        self.lock().ended.add(stats);
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts that one iterator writes and anybody may read.
#[derive(Debug, Default)]
struct Counts {
    warm_reads: AtomicU64,
    cold_reads: AtomicU64,
    payload_bytes: AtomicU64,
    checked_records: AtomicU64,
    corrupt_skips: AtomicU64,
    decode_ns: AtomicU64,
    wait_ns: AtomicU64,
}

impl Counts {
    fn stats(&self) -> ReadStats {
        let value = |count: &AtomicU64| count.load(Ordering::Relaxed);
        ReadStats {
            warm_reads: value(&self.warm_reads),
            cold_reads: value(&self.cold_reads),
            item_reads: 0,
            payload_bytes: value(&self.payload_bytes),
            checked_records: value(&self.checked_records),
            corrupt_skips: value(&self.corrupt_skips),
            fetch_requests: 0,
            fetch_repeats: 0,
            fetched_bytes: 0,
            decode_time: Duration::from_nanos(value(&self.decode_ns)),
            wait_time: Duration::from_nanos(value(&self.wait_ns)),
        }
    }
}

/// An iterator's way to count.
#[derive(Debug)]
pub(crate) struct Tally {
    counts: Arc<Counts>,
    counters: Arc<ReadCounters>,
}

impl Tally {
    pub(crate) fn new(counters: &Arc<ReadCounters>) -> Self {
        let counts = Arc::new(Counts::default());
        counters.lock().live.push(Arc::clone(&counts));
        Self {
            counts,
            counters: Arc::clone(counters),
        }
    }

    /// Counts a delivered draw.
    #[inline]
    pub(crate) fn read(&mut self, is_cold: bool, is_checked: bool, bytes: usize) {
        let counts = &self.counts;
        count(
            if is_cold {
                &counts.cold_reads
            } else {
                &counts.warm_reads
            },
            1,
        );
        count(&counts.payload_bytes, bytes as u64);
        count(&counts.checked_records, u64::from(is_checked));
    }

    /// Counts a draw that was left out.
    pub(crate) fn skip(&mut self) {
        count(&self.counts.corrupt_skips, 1);
    }

    /// Counts time spent decoding.
    #[inline]
    pub(crate) fn decode(&mut self, time: Duration) {
        if !time.is_zero() {
            count(&self.counts.decode_ns, nanoseconds(time));
        }
    }

    /// Counts time spent waiting.
    pub(crate) fn wait(&mut self, time: Duration) {
        count(&self.counts.wait_ns, nanoseconds(time));
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        let mut counted = self.counters.lock();
        counted.ended.add(&self.counts.stats());
        counted
            .live
            .retain(|counts| !Arc::ptr_eq(counts, &self.counts));
    }
}

/// Adds without a locked instruction: nobody else writes.
#[inline]
fn count(counter: &AtomicU64, more: u64) {
    counter.store(
        counter.load(Ordering::Relaxed).wrapping_add(more),
        Ordering::Relaxed,
    );
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

//! Counters of a running write, for whoever shows progress or a profile.
//!
//! Owns: the counters. Must not: print, or be read for anything that decides what is written.
//! Invariant: a count never falls; committed samples are in a shard file, not yet durable.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Counters of one cache that is being written; shared and read at any time.
#[derive(Debug, Default)]
pub struct WriteProgress {
    samples: AtomicU64,
    payload_bytes: AtomicU64,
    stages: [AtomicU64; 6],
}

/// A stage of writing that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Record,
    Compression,
    Disk,
    IngressWait,
    Finish,
    Publish,
}

/// Time spent in each stage so far. Stages overlap: workers encode while the caller waits or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteStages {
    /// Making records and index rows, in all workers together; all of it without compression.
    pub record: Duration,
    /// Making records with compression, in all workers together.
    pub compression: Duration,
    /// Writing files.
    pub disk: Duration,
    /// Waiting for the oldest task because the window was full.
    pub ingress_wait: Duration,
    /// Completing the files after the last row: last blocks, syncs, manifest.
    pub finish: Duration,
    /// Rename and sync of the parent directory.
    pub publish: Duration,
}

impl WriteProgress {
    /// Samples that are in a shard file.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples.load(Ordering::Relaxed)
    }

    /// Payload bytes of those samples.
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        self.payload_bytes.load(Ordering::Relaxed)
    }

    /// Time spent in each stage.
    #[must_use]
    pub fn stages(&self) -> WriteStages {
        let [record, compression, disk, ingress_wait, finish, publish] = self
            .stages
            .each_ref()
            .map(|nanos| Duration::from_nanos(nanos.load(Ordering::Relaxed)));
        WriteStages {
            record,
            compression,
            disk,
            ingress_wait,
            finish,
            publish,
        }
    }

    pub(super) fn add_committed(&self, samples: u64, payload_bytes: u64) {
        self.samples.fetch_add(samples, Ordering::Relaxed);
        self.payload_bytes
            .fetch_add(payload_bytes, Ordering::Relaxed);
    }

    /// Runs `work` and adds its duration to `stage`; to be used per block, not per sample.
    pub(super) fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let outcome = work();
        self.add_time(stage, start.elapsed());
        outcome
    }

    pub(super) fn add_time(&self, stage: Stage, time: Duration) {
        if let Some(nanos) = self.stages.get(stage as usize) {
            nanos.fetch_add(
                u64::try_from(time.as_nanos()).unwrap_or(u64::MAX),
                Ordering::Relaxed,
            );
        }
    }
}

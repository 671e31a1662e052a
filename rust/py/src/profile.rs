//! The writer's profile as a JSON file.
//!
//! Owns its keys. Must not measure. Invariant: all durations are seconds; stages overlap, so they need not add up to the wall time.

use std::path::Path;
use std::time::Duration;

use dataset_rt_storage::durable::{Disk, replace_file};
use serde::{Deserialize, Serialize};

use crate::error::CoreError;
use crate::write::SourceProfile;

/// The profile of one call.
#[derive(Serialize)]
pub(crate) struct Profile {
    writer_version: &'static str,
    outcome: String,
    wall: f64,
    sources: Vec<SourceStages>,
    total: Stages,
}

#[derive(Serialize)]
struct SourceStages {
    name: String,
    outcome: String,
    #[serde(flatten)]
    stages: Stages,
}

/// Where the time of one source, or of several, went.
#[derive(Clone, Copy, Default, Deserialize, Serialize)]
pub(crate) struct Stages {
    samples: u64,
    payload_bytes: u64,
    python_next: f64,
    python_extract: f64,
    ingress_wait: f64,
    record: f64,
    compression: f64,
    disk: f64,
    finish: f64,
    publish: f64,
}

impl Stages {
    pub(crate) fn of(profile: &SourceProfile) -> Self {
        let stages = profile.counters.stages();
        Self {
            samples: profile.counters.samples(),
            payload_bytes: profile.counters.payload_bytes(),
            python_next: profile.times.next.as_secs_f64(),
            python_extract: profile.times.extract.as_secs_f64(),
            ingress_wait: stages.ingress_wait.as_secs_f64(),
            record: stages.record.as_secs_f64(),
            compression: stages.compression.as_secs_f64(),
            disk: stages.disk.as_secs_f64(),
            finish: stages.finish.as_secs_f64(),
            publish: stages.publish.as_secs_f64(),
        }
    }

    /// What a profile that was written says of all its sources together.
    ///
    /// # Errors
    /// `DatasetError` for a text that is no profile.
    pub(crate) fn total_of(text: &str) -> Result<Self, CoreError> {
        #[derive(Deserialize)]
        struct Total {
            total: Stages,
        }
        let Total { total } = serde_json::from_str(text).map_err(CoreError::internal)?;
        Ok(total)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            samples: self.samples + other.samples,
            payload_bytes: self.payload_bytes + other.payload_bytes,
            python_next: self.python_next + other.python_next,
            python_extract: self.python_extract + other.python_extract,
            ingress_wait: self.ingress_wait + other.ingress_wait,
            record: self.record + other.record,
            compression: self.compression + other.compression,
            disk: self.disk + other.disk,
            finish: self.finish + other.finish,
            publish: self.publish + other.publish,
        }
    }
}

impl Profile {
    /// A profile without sources; `outcome` is a word for the whole call.
    pub(crate) fn new(outcome: &str, wall: Duration) -> Self {
        Self {
            writer_version: env!("CARGO_PKG_VERSION"),
            outcome: outcome.to_owned(),
            wall: wall.as_secs_f64(),
            sources: Vec::new(),
            total: Stages::default(),
        }
    }

    /// Adds a source: its name, its outcome in a word, where its time went.
    pub(crate) fn add(&mut self, name: String, outcome: &str, stages: Stages) {
        self.total = self.total.plus(stages);
        let outcome = outcome.to_owned();
        self.sources.push(SourceStages {
            name,
            outcome,
            stages,
        });
    }

    /// Writes the file.
    ///
    /// # Errors
    /// `DatasetIOError` when it can't be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), CoreError> {
        let text = serde_json::to_vec_pretty(self).map_err(CoreError::internal)?;
        Ok(replace_file(&Disk::new(), path, |file| file.append(&text))?)
    }
}

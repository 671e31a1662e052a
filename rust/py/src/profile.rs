//! The writer's profile as a JSON file.
//!
//! Owns its keys. Must not measure. Invariant: all durations are seconds; stages overlap, so they need not add up to the wall time.

use std::path::Path;
use std::time::Duration;

use dataset_rt_storage::durable::{Disk, replace_file};
use serde::Serialize;

use crate::error::CoreError;
use crate::write::SourceProfile;

#[derive(Serialize)]
struct ProfileText<'a> {
    writer_version: &'a str,
    outcome: &'a str,
    wall: f64,
    sources: Vec<SourceText<'a>>,
    total: StagesText,
}

#[derive(Serialize)]
struct SourceText<'a> {
    name: &'a str,
    outcome: &'a str,
    #[serde(flatten)]
    stages: StagesText,
}

#[derive(Clone, Copy, Default, Serialize)]
struct StagesText {
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

impl StagesText {
    fn of(profile: &SourceProfile) -> Self {
        Self {
            samples: profile.samples,
            payload_bytes: profile.payload_bytes,
            python_next: profile.times.next.as_secs_f64(),
            python_extract: profile.times.extract.as_secs_f64(),
            ingress_wait: profile.stages.ingress_wait.as_secs_f64(),
            record: profile.stages.record.as_secs_f64(),
            compression: profile.stages.compression.as_secs_f64(),
            disk: profile.stages.disk.as_secs_f64(),
            finish: profile.stages.finish.as_secs_f64(),
            publish: profile.stages.publish.as_secs_f64(),
        }
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

/// One source of a profile: name, outcome in a word, where its time went.
pub(crate) type ProfiledSource = (String, &'static str, SourceProfile);

/// Writes the profile of one call.
///
/// # Errors
/// `DatasetIOError` when the file can't be written.
pub(crate) fn write_profile(
    path: &Path,
    outcome: &str,
    wall: Duration,
    sources: &[ProfiledSource],
) -> Result<(), CoreError> {
    let stages = |profile: &SourceProfile| StagesText::of(profile);
    let text = ProfileText {
        writer_version: env!("CARGO_PKG_VERSION"),
        outcome,
        wall: wall.as_secs_f64(),
        sources: sources
            .iter()
            .map(|(name, outcome, profile)| SourceText {
                name,
                outcome,
                stages: stages(profile),
            })
            .collect(),
        total: sources
            .iter()
            .map(|(_, _, profile)| stages(profile))
            .fold(StagesText::default(), StagesText::plus),
    };
    let text = serde_json::to_vec_pretty(&text).map_err(CoreError::internal)?;
    Ok(replace_file(&Disk::new(), path, |file| file.append(&text))?)
}

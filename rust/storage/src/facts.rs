//! The fields of this crate's errors by name.
//!
//! Owns what a [`StorageError`] knows, told in the vocabulary of `dataset_rt_format`. Must not make sentences. Invariant: a finding keeps its place in the cache and
//! gains the cache's path.

use dataset_rt_format::{CacheFile, ErrorFacts};

use crate::error::StorageError;

impl StorageError {
    /// Its fields by name.
    #[must_use]
    pub fn facts(&self) -> ErrorFacts {
        let mut facts = ErrorFacts::default();
        match self {
            Self::Io {
                operation,
                source,
                needed_bytes,
                ..
            } => {
                facts.needed_bytes = *needed_bytes;
                facts.operation = Some(operation.to_string());
                facts.found = Some(source.to_string());
            }
            Self::NameNotDurable { source, .. } => facts = source.facts(),
            Self::Cache { finding, .. } | Self::Refused { finding, .. } => facts = finding.facts(),
            Self::MissingFile {
                file,
                expected_bytes,
                ..
            } => {
                facts = match expected_bytes {
                    0 => facts.with_values("a file", "no such file"),
                    bytes => facts.with_values(format_args!("{bytes} bytes"), "no such file"),
                };
                facts.file = Some(file.path());
                if let CacheFile::Shard(shard) = file {
                    facts.shard = Some(shard.get());
                }
            }
            Self::NoManifest { .. } => facts = facts.with_values("manifest.json", "no such file"),
            Self::NoSuchSample {
                sample,
                sample_count,
                ..
            } => {
                facts = facts.with_values(format_args!("less than {sample_count}"), sample);
                facts.sample_id = Some(*sample);
            }
            Self::NoSamples { .. } => facts = facts.with_values("at least one sample", "none"),
            Self::Occupied { .. } => {
                facts = facts.with_values("a finished cache or nothing", "something else")
            }
            Self::SourceVersion {
                recorded, wanted, ..
            } => {
                facts = facts.with_values(wanted, recorded.as_deref().unwrap_or("no version"));
            }
            Self::ExposedFolder { found, .. } => {
                facts = facts.with_values("a directory of this user alone", found);
            }
            Self::InvalidOption {
                option,
                found,
                expected,
            } => {
                facts = facts.with_values(expected, found);
                facts.field = Some((*option).to_owned());
            }
            _ => {}
        }
        facts.errno = self.errno();
        facts.path = self.path().map(std::borrow::ToOwned::to_owned);
        facts
    }
}

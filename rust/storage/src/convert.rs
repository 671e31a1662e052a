//! Rewriting a readable cache as format 1.
//!
//! Owns: the way of each sample from an open cache to a writer. Must not: write a file itself, or carry damage over: what
//! it writes gets new checksums, so each record is checked before.
//! Invariant: what is published holds the samples, metadata, source name and version of the cache it was made from.
//! Format text: `FORMAT.md`; `ORIGINAL.md`, "Conversion".

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dataset_rt_format::{Compression, SampleId};
use dataset_rt_pool::WorkerPool;

use crate::durable::Disk;
use crate::error::StorageError;
use crate::interrupt::InterruptCheck;
use crate::load::{LoadedCache, OpenOptions, read_manifest};
use crate::write::{Begin, CacheWriter, Pushed, WriteOptions, WriteReport};

/// Samples between two looks whether the work is still wanted.
const CHECK_SAMPLES: u64 = 64;

/// A cache to be rewritten, and how.
#[derive(Clone, Copy, Debug)]
pub struct Conversion<'a> {
    /// The seam to read and write through.
    pub disk: &'a Disk,
    /// The cache to be read.
    pub from: &'a Path,
    /// Where the new one is to be.
    pub to: &'a Path,
    /// How it is written; name and version of the source are those of the cache read.
    pub options: &'a WriteOptions,
    /// How its records are stored; `None` as in the cache read.
    pub compression: Option<Compression>,
}

/// Counters of a running conversion, for whoever shows progress.
#[derive(Debug, Default)]
pub struct ConvertProgress {
    samples: AtomicU64,
    total_samples: AtomicU64,
}

impl ConvertProgress {
    /// Samples read so far.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples.load(Ordering::Relaxed)
    }

    /// Samples of the cache.
    #[must_use]
    pub fn total_samples(&self) -> u64 {
        self.total_samples.load(Ordering::Relaxed)
    }
}

impl Conversion<'_> {
    /// Writes the samples of one cache as another, of format 1.
    ///
    /// # Errors
    /// [`StorageError::AlreadyFinished`] where a finished cache has the place; [`StorageError::Cache`] for the first damage
    /// of the cache read; [`StorageError::Cancelled`] when the interrupt check says so; otherwise what opening one cache
    /// and writing another answer. Nothing new is left then.
    ///
    /// # Cost
    /// Reads every record once, those of the original system three times; encoding runs on the pool.
    pub fn run(
        &self,
        pool: &Arc<WorkerPool>,
        interrupt: &InterruptCheck,
        progress: &ConvertProgress,
    ) -> Result<WriteReport, StorageError> {
        let cache = Arc::new(LoadedCache::open(
            self.disk,
            self.from,
            OpenOptions::default(),
        )?);
        let samples = cache.sample_count();
        progress.total_samples.store(samples, Ordering::Relaxed);
        let mut writer = self.begin(&cache, pool, interrupt)?;
        if cache.manifest().is_original() {
            // Its records have no checksums of their own.
            let report = cache.verify(pool, interrupt, &Arc::default())?;
            report.into_result()?;
        }
        for sample in 0..samples {
            if sample.is_multiple_of(CHECK_SAMPLES) {
                progress.samples.store(sample, Ordering::Relaxed);
                interrupt.check()?;
            }
            push_sample(&cache, SampleId::new(sample), &mut writer)?;
        }
        progress.samples.store(samples, Ordering::Relaxed);
        writer.finish()
    }

    fn begin(
        &self,
        cache: &LoadedCache,
        pool: &Arc<WorkerPool>,
        interrupt: &InterruptCheck,
    ) -> Result<CacheWriter<Vec<u8>>, StorageError> {
        let (Some(base), Some(name)) = (self.to.parent(), self.to.file_name()) else {
            return Err(StorageError::InvalidOption {
                option: "out",
                found: self.to.display().to_string(),
                expected: "a path that ends in the name of a directory",
            });
        };
        let Some(name) = name.to_str() else {
            return Err(StorageError::InvalidOption {
                option: "out",
                found: self.to.display().to_string(),
                expected: "a path in Unicode",
            });
        };
        let finished = || StorageError::AlreadyFinished {
            path: self.to.to_owned(),
        };
        // Whatever version it is of, and whether it can be read or not. What is no cache is the writer's to refuse.
        if self.disk.exists(self.to)? {
            match read_manifest(self.disk, self.to) {
                Err(StorageError::NoManifest { .. } | StorageError::Io { .. }) => {}
                _ => return Err(finished()),
            }
        }
        let source = cache.manifest().source();
        let options = WriteOptions {
            source_name: Some(source.name),
            source_version: source.version,
            compression: self.compression.unwrap_or(cache.manifest().compression()),
            ..self.options.clone()
        };
        match CacheWriter::begin(self.disk, base, name, &options, pool, interrupt) {
            Ok(Begin::Building(writer)) => Ok(*writer),
            // Finished by someone else since, in the same version or in another one.
            Ok(_) | Err(StorageError::SourceVersion { .. }) => Err(finished()),
            Err(error) => Err(error),
        }
    }
}

fn push_sample(
    cache: &LoadedCache,
    sample: SampleId,
    writer: &mut CacheWriter<Vec<u8>>,
) -> Result<(), StorageError> {
    let row = cache.index_row(sample)?;
    // The copy that is checked is the copy that is written.
    let stored = cache.record_bytes(sample, &row)?.into_owned();
    cache.check_record(sample, &row, &stored)?;
    let mut payload = vec![0; row.raw_bytes as usize];
    cache.decode_record(sample, &row, &stored, &mut payload)?;
    let metadata = cache.metadata_row(sample)?;
    let columns = cache.manifest().schema().columns().iter().enumerate();
    let fields = columns
        .map(|(number, column)| Ok((column.name.as_str(), metadata.value(number)?)))
        .collect::<Result<Vec<_>, StorageError>>()?;
    match writer.push(payload, &fields)? {
        Pushed::Room => Ok(()),
        Pushed::BlockFull => writer.dispatch(),
    }
}

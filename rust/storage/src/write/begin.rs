//! Deciding whether a cache is written, reused or waited for.
//!
//! Owns: that decision. Must not: rebuild or touch a finished cache that it can't read.
//! Invariant: the decision to build is made while the name's build lock is held, so two builders of one name never both
//! build.
//! Format text: `FORMAT.md`, "Publication".

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset_rt_format::{Origin, SourceInfo, check_source_name};
use dataset_rt_pool::WorkerPool;

use super::cache_writer::CacheWriter;
use super::options::{OnVersionChange, WriteOptions};
use super::workspace::{BuildRight, TEMPORARY_FOLDER};
use crate::durable::{Disk, sweep_dead};
use crate::error::StorageError;
use crate::interrupt::{CHECK_INTERVAL, InterruptCheck};
use crate::load::{LoadedCache, OpenOptions, read_manifest, read_origin};

/// What there is to do for one source.
#[derive(Debug)]
pub enum Begin<P> {
    /// Rows are wanted.
    Building(Box<CacheWriter<P>>),
    /// A finished cache can be reused; the source is not to be asked for rows.
    Finished(FinishedCache),
    /// Someone else builds this name; ask again a little later.
    Busy,
}

/// A finished cache that has the wanted name and version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedCache {
    /// The cache.
    pub path: PathBuf,
    /// Its samples.
    pub sample_count: u64,
    /// The source it was written from.
    pub source: SourceInfo,
    /// When and by what it was written, where that file is whole.
    pub origin: Option<Origin>,
    /// Whether another builder finished it while this one waited.
    pub was_waited_for: bool,
}

impl<P: AsRef<[u8]> + Send + 'static> CacheWriter<P> {
    /// Begins the cache `base/name`, waiting as long as someone else builds it; never answers [`Begin::Busy`].
    ///
    /// # Errors
    /// As [`try_begin`](Self::try_begin), and [`StorageError::Cancelled`] when the interrupt check says so.
    pub fn begin(
        disk: &Disk,
        base: &Path,
        name: &str,
        options: &WriteOptions,
        pool: &Arc<WorkerPool>,
        interrupt: &InterruptCheck,
    ) -> Result<Begin<P>, StorageError> {
        let mut has_waited = false;
        loop {
            match Self::try_begin(disk, base, name, options, pool, interrupt)? {
                Begin::Busy => {
                    has_waited = true;
                    interrupt.check()?;
                    std::thread::sleep(CHECK_INTERVAL / 2);
                }
                Begin::Finished(mut finished) => {
                    finished.was_waited_for = has_waited;
                    return Ok(Begin::Finished(finished));
                }
                building @ Begin::Building(_) => return Ok(building),
            }
        }
    }

    /// Begins the cache `base/name` without waiting; removes dead temporaries on the way.
    ///
    /// # Errors
    /// [`StorageError::Refused`] for a name that is no path segment, [`StorageError::InvalidOption`],
    /// [`StorageError::Occupied`] when something else has the name, [`StorageError::SourceVersion`], what reading the
    /// manifest of a finished cache answers, [`StorageError::Io`].
    pub fn try_begin(
        disk: &Disk,
        base: &Path,
        name: &str,
        options: &WriteOptions,
        pool: &Arc<WorkerPool>,
        interrupt: &InterruptCheck,
    ) -> Result<Begin<P>, StorageError> {
        sweep_temporaries(disk, base);
        if let Some(finished) = find_finished(disk, base, name, options, pool, interrupt)? {
            return Ok(Begin::Finished(finished));
        }
        let target = base.join(name);
        let Some(right) = BuildRight::try_take(disk, base, name)? else {
            return Ok(Begin::Busy);
        };
        // The last holder of the lock may have died after the first sweep saw it alive.
        sweep_temporaries(disk, base);
        // Another builder may have finished between the look and the lock.
        let replaces = match look(disk, &target, options)? {
            Found::Reusable(finished) => {
                validate(disk, &finished, options, pool, interrupt)?;
                return Ok(Begin::Finished(finished));
            }
            Found::Outdated => true,
            Found::Nothing => false,
        };
        let workspace = right.make_workspace(name)?;
        let source_name = options.source_name.as_deref().unwrap_or(name);
        let writer = Self::start(workspace, source_name, options, pool, interrupt, replaces)?;
        Ok(Begin::Building(Box::new(writer)))
    }
}

/// Looks for the finished cache `base/name`, without waiting for whoever may build it now; `None` when it is to be built.
///
/// # Errors
/// As [`CacheWriter::try_begin`].
///
/// # Cost
/// Reads the manifest; with [`WriteOptions::validates_reused`] everything.
pub fn find_finished(
    disk: &Disk,
    base: &Path,
    name: &str,
    options: &WriteOptions,
    pool: &Arc<WorkerPool>,
    interrupt: &InterruptCheck,
) -> Result<Option<FinishedCache>, StorageError> {
    check_source_name(name).map_err(|finding| StorageError::refused(name, finding))?;
    options.check()?;
    match look(disk, &base.join(name), options)? {
        Found::Reusable(finished) => {
            validate(disk, &finished, options, pool, interrupt)?;
            Ok(Some(finished))
        }
        Found::Outdated | Found::Nothing => Ok(None),
    }
}

/// Removes what dead builders left below `base`; never touches what a living one uses.
pub fn sweep_temporaries(disk: &Disk, base: &Path) {
    sweep_dead(disk, &base.join(TEMPORARY_FOLDER));
}

/// What has the name of the cache.
enum Found {
    Nothing,
    Reusable(FinishedCache),
    Outdated,
}

/// Verifies a finished cache in full, where the options want that before its reuse.
fn validate(
    disk: &Disk,
    finished: &FinishedCache,
    options: &WriteOptions,
    pool: &Arc<WorkerPool>,
    interrupt: &InterruptCheck,
) -> Result<(), StorageError> {
    if !options.validates_reused {
        return Ok(());
    }
    let cache = Arc::new(LoadedCache::open(
        disk,
        &finished.path,
        OpenOptions::default(),
    )?);
    cache
        .verify(pool, interrupt, &Arc::default())?
        .into_result()
}

fn look(disk: &Disk, target: &Path, options: &WriteOptions) -> Result<Found, StorageError> {
    if !disk.exists(target)? {
        return Ok(Found::Nothing);
    }
    let occupied = || StorageError::Occupied {
        path: target.to_owned(),
    };
    let manifest = match read_manifest(disk, target) {
        Err(StorageError::NoManifest { .. }) => return Err(occupied()),
        Err(error) if error.io_kind() == Some(io::ErrorKind::NotADirectory) => {
            return Err(occupied());
        }
        manifest => manifest?,
    };
    let wanted = options.source_version.as_ref();
    let source = manifest.source();
    if let Some(wanted) = wanted.filter(|wanted| source.version.as_ref() != Some(*wanted)) {
        return match options.on_version_change {
            OnVersionChange::Rebuild => Ok(Found::Outdated),
            OnVersionChange::Refuse => Err(StorageError::SourceVersion {
                path: target.to_owned(),
                recorded: source.version,
                wanted: wanted.clone(),
            }),
        };
    }
    Ok(Found::Reusable(FinishedCache {
        path: target.to_owned(),
        sample_count: manifest.sample_count(),
        source,
        origin: read_origin(disk, target).ok(),
        was_waited_for: false,
    }))
}

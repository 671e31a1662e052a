//! Where caches are: directories, or URLs whose records come through a store.
//!
//! Owns telling one from the other and opening both. Must not fetch records. Invariant: a dataset of which one cache comes from a URL checks every record it reads, and hashes no file whole: its
//! shards are there in part.

use std::path::PathBuf;
use std::sync::Arc;

use dataset_rt_format::CacheId;
use dataset_rt_pool::WorkerPool;
use dataset_rt_replica::{Connect, Replica, ReplicaError, Store, StoreOptions};
use dataset_rt_storage::InterruptCheck;
use dataset_rt_storage::load::{LoadedCache, OpenOptions};

use crate::caches::{CacheSet, open_cache};
use crate::config::ReaderOptions;
use crate::error::ReaderError;

/// Beginnings of the URLs that lead to object storage.
const SCHEMES: [&str; 4] = ["s3://", "gs://", "az://", "file://"];

/// Where a cache is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A directory.
    Directory(PathBuf),
    /// A URL.
    Url(String),
    /// A URL whose folder in the store is known: another process opened it.
    Stored {
        /// The URL.
        url: String,
        /// The folder.
        folder: PathBuf,
    },
}

/// Whether a text is a URL of object storage.
#[must_use]
pub fn is_object_url(text: &str) -> bool {
    SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

/// The store for caches that come from URLs, and what reaches those.
pub struct StoreAccess<'a> {
    /// How the store is kept and filled.
    pub options: StoreOptions,
    /// Makes transports of URLs.
    pub connect: &'a dyn Connect,
}

/// Opens caches in the order of their ids; `options` become those that they are read with.
///
/// # Errors
/// As [`CacheSet::open`]; [`ReaderError::Replica`]; [`ReaderError::InvalidOption`] for a URL without a store, or options that no store can honour.
pub fn open_places(
    places: &[Place],
    options: &mut ReaderOptions,
    access: Option<&StoreAccess<'_>>,
    pool: &Arc<WorkerPool>,
    interrupt: &InterruptCheck,
) -> Result<CacheSet, ReaderError> {
    if places
        .iter()
        .any(|place| !matches!(place, Place::Directory(_)))
    {
        refuse_unfit(options, access)?;
        options.verifies_records = true;
    }
    let mut caches = Vec::with_capacity(places.len());
    let mut replicas = Vec::with_capacity(places.len());
    for (cache, place) in (0..).map(CacheId::new).zip(places) {
        let (opened, replica) = open_place(cache, place, options, access, pool, interrupt)?;
        caches.push(opened);
        replicas.push(replica);
    }
    let set = CacheSet::new(caches)?;
    match access {
        Some(access) if replicas.iter().any(Option::is_some) => {
            let store = Store::new(access.options.clone(), replicas)
                .map_err(|source| ReaderError::of_store(None, source))?;
            Ok(set.backed_by(Arc::new(store)))
        }
        _ => Ok(set),
    }
}

type Opened = (Arc<LoadedCache>, Option<Arc<Replica>>);

fn open_place(
    cache: CacheId,
    place: &Place,
    options: &ReaderOptions,
    access: Option<&StoreAccess<'_>>,
    pool: &Arc<WorkerPool>,
    interrupt: &InterruptCheck,
) -> Result<Opened, ReaderError> {
    let (url, folder) = match place {
        Place::Directory(path) => {
            if dataset_rt_replica::is_in_store(path) {
                return Err(ReaderError::InvalidOption {
                    option: "cache_paths",
                    found: path.display().to_string(),
                    expected: "the URL of this cache: its folder in a store holds only what was fetched of it",
                });
            }
            let opened = open_cache(path, options, pool, interrupt)
                .map_err(|source| ReaderError::Cache { cache, source })?;
            return Ok((opened, None));
        }
        Place::Url(url) => (url, None),
        Place::Stored { url, folder } => (url, Some(folder)),
    };
    let Some(access) = access else {
        return Err(no_store());
    };
    let opening = OpenOptions {
        mapped: options.is_mapped,
    };
    let replica = connect(url, access).and_then(|transport| match folder {
        Some(folder) => Replica::attach(url, folder, transport, &access.options, opening),
        None => Replica::open(url, transport, &access.options, opening, pool, interrupt),
    });
    let replica = replica.map_err(|source| ReaderError::of_store(Some(cache), source))?;
    Ok((Arc::clone(replica.cache()), Some(Arc::new(replica))))
}

fn connect(
    url: &str,
    access: &StoreAccess<'_>,
) -> Result<Arc<dyn dataset_rt_replica::Transport>, ReplicaError> {
    let connected = access.connect.connect(url, &access.options, false);
    connected.map_err(|fault| ReplicaError::unreachable(url, fault))
}

fn refuse_unfit(
    options: &ReaderOptions,
    access: Option<&StoreAccess<'_>>,
) -> Result<(), ReaderError> {
    if access.is_none() {
        return Err(no_store());
    }
    if options.validates_caches {
        return Err(ReaderError::InvalidOption {
            option: "validate_cache",
            found: "True".to_owned(),
            expected: "False for a URL: its records are checked as they are fetched, and again as they are read",
        });
    }
    Ok(())
}

fn no_store() -> ReaderError {
    ReaderError::InvalidOption {
        option: "store_config",
        found: "None".to_owned(),
        expected: "a StoreConfig where a path is a URL",
    }
}

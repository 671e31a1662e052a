//! A small cache, and an object store that misbehaves to order.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dataset_rt_format::{CacheId, FormatError, SampleId, check_record};
use dataset_rt_pool::WorkerPool;
use dataset_rt_storage::durable::Disk;
use dataset_rt_storage::load::{LoadedCache, OpenOptions};
use dataset_rt_storage::{Begin, CacheWriter, InterruptCheck, Pushed, WriteOptions};

use crate::transport::{ObjectFacts, TakeBytes, Transport, TransportFault};
use crate::{Replica, Store, StoreOptions};

/// What an object store does to one request.
#[derive(Clone, Debug)]
pub enum Mischief {
    /// Answers with a fault.
    Answer(TransportFault),
    /// Gives so many bytes less.
    Short(usize),
    /// Changes the byte with this number.
    Flip(usize),
    /// Says that the whole object has this length.
    Length(u64),
    /// Gives the object another tag.
    Tag(&'static str),
    /// Behaves.
    None,
}

/// Objects in a folder.
#[derive(Debug)]
pub struct Objects {
    root: PathBuf,
    pub mischief: Mutex<VecDeque<Mischief>>,
    /// Names and ranges that were read.
    pub reads: Mutex<Vec<(String, Range<u64>)>>,
    /// Names that were put.
    pub puts: Mutex<Vec<String>>,
}

impl Objects {
    pub fn at(root: &Path) -> Arc<Self> {
        Arc::new(Self {
            root: root.to_owned(),
            mischief: Mutex::default(),
            reads: Mutex::default(),
            puts: Mutex::default(),
        })
    }

    pub fn misbehave(&self, mischief: impl IntoIterator<Item = Mischief>) {
        self.mischief.lock().unwrap().extend(mischief);
    }

    fn next(&self) -> Mischief {
        let next = self.mischief.lock().unwrap().pop_front();
        next.unwrap_or(Mischief::None)
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, TransportFault> {
        std::fs::read(self.root.join(name))
            .map_err(|error| TransportFault::Missing(error.to_string()))
    }
}

impl Transport for Objects {
    fn facts(&self, name: &str) -> Result<ObjectFacts, TransportFault> {
        Ok(ObjectFacts {
            bytes: self.bytes(name)?.len() as u64,
            tag: Some("v1".to_owned()),
        })
    }

    fn read(
        &self,
        name: &str,
        range: Range<u64>,
        _tag: Option<&str>,
        take: &mut TakeBytes<'_>,
    ) -> Result<(), TransportFault> {
        self.reads
            .lock()
            .unwrap()
            .push((name.to_owned(), range.clone()));
        let object = self.bytes(name)?;
        let (start, end) = (
            range.start.try_into().unwrap(),
            range.end.try_into().unwrap(),
        );
        let mut bytes = object[start..end].to_vec();
        let mut facts = ObjectFacts {
            bytes: object.len() as u64,
            tag: Some("v1".to_owned()),
        };
        match self.next() {
            Mischief::Answer(fault) => return Err(fault),
            Mischief::Short(count) => bytes.truncate(bytes.len().saturating_sub(count)),
            Mischief::Flip(place) => bytes[place] ^= 1,
            Mischief::Length(length) => facts.bytes = length,
            Mischief::Tag(tag) => facts.tag = Some(tag.to_owned()),
            Mischief::None => {}
        }
        take(&bytes, &facts);
        Ok(())
    }

    fn put(&self, name: &str, file: &Path) -> Result<(), TransportFault> {
        self.puts.lock().unwrap().push(name.to_owned());
        let mut bytes = std::fs::read(file).unwrap();
        match self.next() {
            Mischief::Answer(fault) => return Err(fault),
            Mischief::Flip(place) => bytes[place] ^= 1,
            _ => {}
        }
        let target = self.root.join(name);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, bytes).unwrap();
        Ok(())
    }
}

pub fn failed() -> Mischief {
    Mischief::Answer(TransportFault::Failed("no luck".to_owned()))
}

/// Payload of row `row`, of `bytes` bytes that no other row has.
pub fn payload(row: u64, bytes: usize) -> Vec<u8> {
    let mut state = row + 1;
    (0..bytes)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()[0]
        })
        .collect()
}

/// Writes a cache of `rows` rows of `bytes` bytes each in shards of `shard_bytes`.
pub fn write_cache(base: &Path, rows: u64, bytes: usize, shard_bytes: u64) -> PathBuf {
    let options = WriteOptions {
        max_shard_bytes: shard_bytes,
        ..WriteOptions::default()
    };
    let pool = WorkerPool::new(1).unwrap();
    let begun = CacheWriter::<Vec<u8>>::begin(
        &Disk::new(),
        base,
        "cache",
        &options,
        &pool,
        &InterruptCheck::never(),
    );
    let Begin::Building(mut writer) = begun.unwrap() else {
        panic!("it exists");
    };
    for row in 0..rows {
        match writer.push(payload(row, bytes), &[]).unwrap() {
            Pushed::Room => {}
            Pushed::BlockFull => writer.dispatch().unwrap(),
        }
    }
    writer.finish().unwrap();
    base.join("cache")
}

/// Options that lose no time.
pub fn options(store: &Path) -> StoreOptions {
    StoreOptions {
        retry_wait: Duration::ZERO,
        attempts: 3,
        max_requests: 2,
        ..StoreOptions::new(store.to_owned())
    }
}

/// A store with one replica.
pub fn open(objects: &Arc<Objects>, options: &StoreOptions) -> Store {
    let pool = WorkerPool::new(2).unwrap();
    let replica = Replica::open(
        "test://place",
        Arc::clone(objects) as Arc<dyn Transport>,
        options,
        OpenOptions::default(),
        &pool,
        &InterruptCheck::never(),
    );
    Store::new(options.clone(), vec![Some(Arc::new(replica.unwrap()))]).unwrap()
}

/// The records with these sample numbers, of the only cache.
pub fn records(samples: impl IntoIterator<Item = u64>) -> Vec<(CacheId, SampleId)> {
    samples
        .into_iter()
        .map(|sample| (CacheId::new(0), SampleId::new(sample)))
        .collect()
}

/// Compares the stored bytes of a sample with its checksum.
pub fn check(cache: &LoadedCache, sample: u64) -> Result<(), FormatError> {
    let sample = SampleId::new(sample);
    let row = cache.index_row(sample).unwrap();
    check_record(sample, &row, &cache.record_bytes(sample, &row).unwrap())
}

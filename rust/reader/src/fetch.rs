//! One record from its cache to its consumer.
//!
//! Owns the order copy, then check, so that what is checked is what is handed out, and decoding where a record is compressed. Must not decide in which thread it
//! runs. Invariant: payload bytes are copied once, into memory that nobody else can change, and never handed out unchecked unless checks are off.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use dataset_rt_format::{Codec, IndexRow};
use dataset_rt_storage::load::LoadedCache;
use dataset_rt_storage::memory::{reserved, zeroed};

use crate::caches::CacheSet;
use crate::error::ReaderError;
use crate::plan::PlannedDraw;

/// Where payload bytes go.
pub trait PayloadSink {
    /// A payload as the consumer holds it.
    type Payload;
    /// What keeps the consumer from holding one.
    type Error;

    /// Copies bytes into memory of the consumer's.
    ///
    /// # Errors
    /// Whatever keeps the consumer from holding that many bytes.
    fn copy(&mut self, bytes: &[u8]) -> Result<Self::Payload, Self::Error>;

    /// The bytes of a payload that [`copy`](Self::copy) made.
    fn bytes<'a>(&'a self, payload: &'a Self::Payload) -> &'a [u8];
}

/// Why a draw has no payload.
#[derive(Debug)]
pub enum Undelivered<E> {
    /// Its record could not be read.
    Read(ReaderError),
    /// The consumer could not hold its payload.
    Sink(E),
}

impl<E> From<ReaderError> for Undelivered<E> {
    fn from(error: ReaderError) -> Self {
        Self::Read(error)
    }
}

/// A sink of plain vectors.
#[derive(Clone, Copy, Debug, Default)]
pub struct VecSink;

impl PayloadSink for VecSink {
    type Payload = Vec<u8>;
    type Error = ReaderError;

    fn copy(&mut self, bytes: &[u8]) -> Result<Vec<u8>, ReaderError> {
        let mut payload = reserved(bytes.len())?;
        payload.extend_from_slice(bytes);
        Ok(payload)
    }

    fn bytes<'a>(&'a self, payload: &'a Vec<u8>) -> &'a [u8] {
        payload
    }
}

/// The cache of a draw.
#[inline]
pub(crate) fn cache_of<'a>(
    caches: &'a CacheSet,
    draw: &PlannedDraw,
) -> Result<&'a LoadedCache, ReaderError> {
    caches.get(draw.cache).ok_or(ReaderError::NoSuchSample {
        cache: draw.cache,
        sample: draw.sample,
    })
}

/// Reads one payload in the caller's thread; time spent decoding is added to `decode_time`.
///
/// # Errors
/// What the sink answers, and [`ReaderError::Cache`] for a record that can't be read or fails its checksum.
pub(crate) fn fetch<S: PayloadSink>(
    caches: &CacheSet,
    draw: &PlannedDraw,
    next: Option<&PlannedDraw>,
    verifies: bool,
    sink: &mut S,
    decode_time: &mut Duration,
) -> Result<S::Payload, Undelivered<S::Error>> {
    let cache = cache_of(caches, draw)?;
    if let Some(record) = cache.plain_record(draw.sample) {
        let payload = sink.copy(record.stored).map_err(Undelivered::Sink)?;
        if let Some(next) = next
            && let Some(record) = cache_of(caches, next)
                .ok()
                .and_then(|cache| cache.plain_record(next.sample))
        {
            record.touch();
        }
        if !verifies || record.is_whole(sink.bytes(&payload)) {
            return Ok(payload);
        }
    }
    fetch_unusual(caches, draw, verifies, sink, decode_time)
}

/// The same for a record that is not mapped, compressed, damaged, or in an index block that nobody looked at yet.
#[inline(never)]
fn fetch_unusual<S: PayloadSink>(
    caches: &CacheSet,
    draw: &PlannedDraw,
    verifies: bool,
    sink: &mut S,
    decode_time: &mut Duration,
) -> Result<S::Payload, Undelivered<S::Error>> {
    let cache = cache_of(caches, draw)?;
    let in_cache = |source| ReaderError::Cache {
        cache: draw.cache,
        source,
    };
    let row = cache.index_row(draw.sample).map_err(in_cache)?;
    let stored = cache.record_bytes(draw.sample, &row).map_err(in_cache)?;
    if row.codec == Codec::Lz4 {
        let begun = Instant::now();
        // What was checked has to be what is decoded, also where a store may take bytes away in between.
        let stored = match caches.store() {
            Some(_) => Cow::Owned(stored.into_owned()),
            None => stored,
        };
        let payload = decode(cache, draw, &row, &stored, verifies)?;
        *decode_time += begun.elapsed();
        return sink.copy(&payload).map_err(Undelivered::Sink);
    }
    let payload = sink.copy(&stored).map_err(Undelivered::Sink)?;
    if verifies {
        cache
            .check_record(draw.sample, &row, sink.bytes(&payload))
            .map_err(in_cache)?;
    }
    Ok(payload)
}

/// Decodes a compressed record, checked before it is decoded.
fn decode(
    cache: &LoadedCache,
    draw: &PlannedDraw,
    row: &IndexRow,
    stored: &[u8],
    verifies: bool,
) -> Result<Vec<u8>, ReaderError> {
    let in_cache = |source| ReaderError::Cache {
        cache: draw.cache,
        source,
    };
    if verifies {
        cache
            .check_record(draw.sample, row, stored)
            .map_err(in_cache)?;
    }
    // The row was checked: LZ4 can't hold more than 255 times its stored bytes, and those are in the file.
    let mut payload =
        zeroed(usize::try_from(row.raw_bytes).unwrap_or(usize::MAX)).map_err(in_cache)?;
    cache
        .decode_record(draw.sample, row, stored, &mut payload)
        .map_err(in_cache)?;
    Ok(payload)
}

//! Where batches go.
//!
//! Owns what is asked of a consumer, and the place of a payload within its memory. Must not read. Invariant: a payload that does not fit is not copied, not even in part.

use std::ops::Range;
use std::time::Duration;

use dataset_rt_storage::memory::zeroed;

use crate::deliver::SampleIterator;
use crate::error::ReaderError;
use crate::fetch::PayloadSink;

/// Where batches go.
pub trait BatchSink {
    /// Payload bytes as the consumer holds them.
    type Data;
    /// What keeps the consumer from holding or waiting for them.
    type Error: From<ReaderError> + Send;

    /// Makes memory of the consumer's, of `bytes` bytes, and has it filled once; `is_long` tells when that takes a millisecond or so, or waits.
    ///
    /// # Errors
    /// Whatever keeps the consumer from holding that many bytes.
    fn make(
        &mut self,
        bytes: usize,
        is_long: bool,
        fill: &mut (dyn FnMut(&mut [u8]) + Send),
    ) -> Result<Self::Data, Self::Error>;

    /// Cuts memory that [`make`](Self::make) made.
    ///
    /// # Errors
    /// Whatever keeps the consumer from doing so.
    fn shorten(&mut self, data: &mut Self::Data, bytes: usize) -> Result<(), Self::Error>;

    /// Waits a while for the block that comes next; says whether it is there. Also called now and then while a large batch is filled.
    ///
    /// # Errors
    /// As [`SampleIterator::wait`], and whatever ends the consumer's patience.
    fn wait(samples: &mut SampleIterator) -> Result<bool, Self::Error>;
}

/// A sink of plain vectors.
#[derive(Clone, Copy, Debug, Default)]
pub struct VecBatchSink;

impl BatchSink for VecBatchSink {
    type Data = Vec<u8>;
    type Error = ReaderError;

    fn make(
        &mut self,
        bytes: usize,
        _is_long: bool,
        fill: &mut (dyn FnMut(&mut [u8]) + Send),
    ) -> Result<Vec<u8>, ReaderError> {
        let mut data = zeroed(bytes)?;
        fill(&mut data);
        Ok(data)
    }

    fn shorten(&mut self, data: &mut Vec<u8>, bytes: usize) -> Result<(), ReaderError> {
        data.truncate(bytes);
        Ok(())
    }

    fn wait(samples: &mut SampleIterator) -> Result<bool, ReaderError> {
        samples.wait(Duration::from_millis(50))
    }
}

/// A payload that does not fit.
#[derive(Debug)]
pub(super) struct Full;

/// A sink within a buffer. A payload that is copied takes the place behind the last one that was accepted.
pub(super) struct SliceSink<'a> {
    pub(super) out: &'a mut [u8],
    pub(super) used: usize,
}

impl PayloadSink for SliceSink<'_> {
    type Payload = Range<usize>;
    type Error = Full;

    #[inline]
    fn copy(&mut self, bytes: &[u8]) -> Result<Range<usize>, Full> {
        let place = self.used..self.used.saturating_add(bytes.len());
        self.out
            .get_mut(place.clone())
            .ok_or(Full)?
            .copy_from_slice(bytes);
        Ok(place)
    }

    #[inline]
    fn bytes<'a>(&'a self, payload: &'a Range<usize>) -> &'a [u8] {
        self.out.get(payload.clone()).unwrap_or_default()
    }
}

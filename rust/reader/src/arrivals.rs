//! Records of one job that come from object storage.
//!
//! Owns the wait for them, and the second try for one that is not what it was. Must not decide what is fetched ahead. Invariant: a record is read when it has arrived; one
//! that fails its checksum then is fetched once more, and only what fails again is an error.

use std::sync::Arc;

use dataset_rt_format::ErrorKind;
use dataset_rt_pool::CancelToken;
use dataset_rt_replica::{Awaited, Store};

use crate::error::ReaderError;
use crate::plan::PlannedDraw;

/// The records of the draws of one job.
pub(crate) struct Arrivals<'a> {
    store: &'a Arc<Store>,
    cancel: &'a CancelToken,
    awaited: Awaited,
}

impl<'a> Arrivals<'a> {
    /// Waits for the records of these draws.
    pub(crate) fn of(
        store: &'a Arc<Store>,
        draws: &[PlannedDraw],
        cancel: &'a CancelToken,
    ) -> Self {
        let records: Vec<_> = draws.iter().map(PlannedDraw::record).collect();
        Self {
            awaited: store.await_records(&records, cancel),
            store,
            cancel,
        }
    }

    /// Reads the draw with this number.
    pub(crate) fn read(
        &mut self,
        number: usize,
        draw: &PlannedDraw,
        mut read: impl FnMut() -> Result<Vec<u8>, ReaderError>,
    ) -> Result<Vec<u8>, ReaderError> {
        let in_cache = |source| ReaderError::of_store(Some(draw.cache), source);
        if let Some(error) = self.awaited.failure(number) {
            return Err(in_cache(Arc::clone(error)));
        }
        match read() {
            Err(error)
                if error.kind() == ErrorKind::Corrupt
                    && self.store.replica(draw.cache).is_some() =>
            {
                // Held while it is read: it stays in the store that long.
                let _awaited = self
                    .store
                    .refetch(draw.record(), self.cancel)
                    .map_err(in_cache)?;
                read()
            }
            outcome => outcome,
        }
    }
}

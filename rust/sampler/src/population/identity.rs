//! The samples that exist: all caches of a dataset, numbered through.
//!
//! Owns the numbering of samples across caches. Must not know where caches lie. Invariant: ids are dense,
//! so whether one exists is a comparison, never a look at rows. Text: `DRAWS.md`, "Words and numbers".

use dataset_rt_format::{CacheId, SampleId};

use crate::error::SamplerError;

/// A sample, numbered through all caches of the dataset in the order of their ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct GlobalSample(u64);

impl GlobalSample {
    /// Names a bare number.
    #[inline]
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The bare number.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// The samples of each cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Number of samples in all caches up to and including this one.
    ends: Vec<u64>,
}

impl Identity {
    /// Numbers the samples of caches with these sample counts, in the order of their ids.
    ///
    /// # Errors
    /// [`SamplerError::TooManySamples`] when ids or their sum don't fit.
    pub fn new(sample_counts: impl IntoIterator<Item = u64>) -> Result<Self, SamplerError> {
        let mut ends = Vec::new();
        let mut samples = 0_u128;
        for count in sample_counts {
            samples += u128::from(count);
            let caches = ends.len() as u64 + 1;
            match u64::try_from(samples) {
                Ok(end) if caches <= u64::from(u32::MAX) => ends.push(end),
                _ => return Err(SamplerError::TooManySamples { caches, samples }),
            }
        }
        Ok(Self { ends })
    }

    /// Number of caches.
    #[inline]
    pub fn caches(&self) -> usize {
        self.ends.len()
    }

    /// Number of samples in all caches.
    #[inline]
    pub fn samples(&self) -> u64 {
        self.ends.last().copied().unwrap_or_default()
    }

    /// The numbers of the first sample of a cache and of the first one behind it.
    #[inline]
    pub(crate) fn bounds(&self, cache: usize) -> Option<(u64, u64)> {
        let end = *self.ends.get(cache)?;
        let before = cache
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        Some((before.copied().unwrap_or_default(), end))
    }

    /// Number of samples in a cache; `None` when there is no such cache.
    pub fn sample_count(&self, cache: CacheId) -> Option<u64> {
        self.bounds(usize::try_from(cache.get()).ok()?)
            .map(|(start, end)| end - start)
    }

    /// The number of a sample; `None` when it does not exist.
    ///
    /// # Cost
    /// Independent of the number of samples and caches.
    #[inline]
    pub fn global_of(&self, cache: CacheId, sample: SampleId) -> Option<GlobalSample> {
        let (start, end) = self.bounds(usize::try_from(cache.get()).ok()?)?;
        (sample.get() < end - start).then(|| GlobalSample::new(start + sample.get()))
    }

    /// The ids behind a number; `None` when it belongs to no sample.
    ///
    /// # Cost
    /// A halving search over the caches.
    #[inline]
    pub fn locate(&self, sample: GlobalSample) -> Option<(CacheId, SampleId)> {
        let cache = self.ends.partition_point(|end| *end <= sample.get());
        let (start, _) = self.bounds(cache)?;
        Some((
            CacheId::new(u32::try_from(cache).ok()?),
            SampleId::new(sample.get() - start),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locate_every_sample_is_the_inverse_of_global_of() {
        let identity = Identity::new([3, 0, 1, 2]).unwrap();
        assert_eq!(identity.samples(), 6);
        for number in 0..6 {
            let sample = GlobalSample::new(number);
            let (cache, id) = identity.locate(sample).unwrap();
            assert_eq!(identity.global_of(cache, id), Some(sample));
        }
        assert_eq!(
            identity.locate(GlobalSample::new(3)),
            Some((CacheId::new(2), SampleId::new(0)))
        );
    }

    #[test]
    fn ids_outside_every_cache_do_not_exist() {
        let identity = Identity::new([3, 0, 1]).unwrap();
        assert_eq!(identity.locate(GlobalSample::new(4)), None);
        assert_eq!(identity.global_of(CacheId::new(0), SampleId::new(3)), None);
        assert_eq!(identity.global_of(CacheId::new(1), SampleId::new(0)), None);
        assert_eq!(identity.global_of(CacheId::new(3), SampleId::new(0)), None);
        assert_eq!(
            identity.global_of(CacheId::new(0), SampleId::new(u64::MAX)),
            None
        );
    }

    #[test]
    fn identity_of_more_samples_than_numbers_is_refused() {
        let error = Identity::new([u64::MAX, 1]).unwrap_err();
        assert_eq!(
            error,
            SamplerError::TooManySamples {
                caches: 2,
                samples: 1 << 64
            }
        );
    }
}

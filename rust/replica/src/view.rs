//! A replica as the planner sees it.
//!
//! Owns the order of two looks: at what is under way, then at what is there. Must not plan. Invariant: a record told to be absent was neither under way nor there, as long as nobody else
//! plans meanwhile.

use std::ops::Range;

use crate::error::ReplicaError;
use crate::plan::{Needed, RecordRange, Records};
use crate::replica::Replica;
use crate::resident::ABSENT;

/// The records of one replica and those of them that are under way.
pub(crate) struct View<'a> {
    replica: &'a Replica,
    held: &'a dyn Fn(Range<u64>) -> Vec<Range<u64>>,
}

impl<'a> View<'a> {
    /// `held` tells which samples of a run are under way.
    pub(crate) fn new(
        replica: &'a Replica,
        held: &'a dyn Fn(Range<u64>) -> Vec<Range<u64>>,
    ) -> Self {
        Self { replica, held }
    }

    /// Those of the records that have to be asked for; the others are noted as used.
    pub(crate) fn absent_of(&self, needed: &[Needed]) -> Result<Vec<Needed>, ReplicaError> {
        let mut absent = Vec::new();
        for one in needed {
            let is_held = !(self.held)(one.sample..one.sample + 1).is_empty();
            let sample = dataset_rt_format::SampleId::new(one.sample);
            if !is_held && !self.replica.touch(sample)? {
                absent.push(*one);
            }
        }
        Ok(absent)
    }
}

impl Records for View<'_> {
    type Error = ReplicaError;

    fn range(&self, sample: u64) -> Result<RecordRange, ReplicaError> {
        self.replica.stored.range(sample)
    }

    fn sample_count(&self) -> u64 {
        self.replica.cache().sample_count()
    }

    fn are_absent(&self, samples: Range<u64>) -> Result<Vec<bool>, ReplicaError> {
        let held = (self.held)(samples.clone());
        let states = self.replica.stored.resident.states(samples.clone())?;
        Ok(samples
            .zip(states)
            .map(|(sample, state)| state == ABSENT && !held.iter().any(|run| run.contains(&sample)))
            .collect())
    }
}

//! Requests in the order in which they are made.
//!
//! Owns which request comes next, and which records are under way. Must not fetch or plan. Invariant: a record is in at most one request at a time; one that somebody
//! waits for comes before one that somebody will need.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use crate::request::Request;

/// What waits and what is under way.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<Arc<Request>>,
    /// By replica and first sample; both those that wait and those that are made.
    under_way: BTreeMap<(u64, u64), Arc<Request>>,
}

impl Queue {
    /// Takes requests in, behind those that wait, or before them.
    pub(crate) fn push(&mut self, requests: &[Arc<Request>], is_urgent: bool) {
        for request in requests {
            let key = (request.replica.number, request.run.samples.start);
            self.under_way.insert(key, Arc::clone(request));
        }
        match is_urgent {
            false => self.waiting.extend(requests.iter().map(Arc::clone)),
            true => {
                for request in requests.iter().rev() {
                    self.waiting.push_front(Arc::clone(request));
                }
            }
        }
    }

    /// The request that comes next.
    pub(crate) fn pop(&mut self) -> Option<Arc<Request>> {
        self.waiting.pop_front()
    }

    /// Puts a request that waits before all others.
    pub(crate) fn hasten(&mut self, request: &Arc<Request>) {
        let place = self
            .waiting
            .iter()
            .position(|waiting| Arc::ptr_eq(waiting, request));
        if let Some(request) = place.and_then(|place| self.waiting.remove(place)) {
            self.waiting.push_front(request);
        }
    }

    /// Forgets a request that has ended.
    pub(crate) fn forget(&mut self, request: &Request) {
        let key = (request.replica.number, request.run.samples.start);
        self.under_way.remove(&key);
    }

    /// The request that holds the record of a sample.
    pub(crate) fn holding(&self, replica: u64, sample: u64) -> Option<&Arc<Request>> {
        let (_, request) = self
            .under_way
            .range((replica, 0)..=(replica, sample))
            .next_back()?;
        request.run.samples.contains(&sample).then_some(request)
    }

    /// Samples of a run that are under way.
    pub(crate) fn held(&self, replica: u64, samples: &Range<u64>) -> Vec<Range<u64>> {
        let before = self.holding(replica, samples.start).map(Arc::clone);
        let within = self
            .under_way
            .range((replica, samples.start)..(replica, samples.end))
            .map(|(_, request)| Arc::clone(request));
        before
            .into_iter()
            .chain(within)
            .map(|request| request.run.samples.clone())
            .collect()
    }
}

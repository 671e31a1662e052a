//! The objects of one cache: asked for until they are right, or given up with an error that says what was asked for.
//!
//! Owns attempts, waits between them, and the version of each object. Must not know what bytes mean: whoever asks brings the check. Invariant: bytes that are taken
//! have the length that was asked for, come from the version of the object that was seen first, and have passed the caller's check.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dataset_rt_format::FormatError;

use crate::error::{ReadFault, ReplicaError};
use crate::options::StoreOptions;
use crate::transport::{ObjectFacts, Transport, TransportFault};

/// Longest wait before an attempt.
const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// Longest time between two looks at whether the bytes are still wanted.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// What the caller found in bytes that came.
pub(crate) enum Finding {
    /// They are not the cache's: they are asked for again.
    Wrong(FormatError),
    /// They could not be put away: asking again would not help.
    Local(ReplicaError),
}

/// What was asked of a server.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) requests: AtomicU64,
    pub(crate) repeats: AtomicU64,
    pub(crate) bytes: AtomicU64,
}

/// The objects below one URL.
#[derive(Debug)]
pub(crate) struct Remote {
    url: String,
    transport: Arc<dyn Transport>,
    attempts: u32,
    retry_wait: Duration,
    /// Tags of the objects that were read from.
    tags: Mutex<HashMap<String, String>>,
    pub(crate) traffic: Arc<Traffic>,
}

/// One failed attempt.
enum Failure {
    Fault(ReadFault, String),
    Wrong(FormatError),
    Local(ReplicaError),
}

impl Remote {
    pub(crate) fn new(url: &str, transport: Arc<dyn Transport>, options: &StoreOptions) -> Self {
        Self {
            url: url.trim_end_matches('/').to_owned(),
            transport,
            attempts: options.attempts,
            retry_wait: options.retry_wait,
            tags: Mutex::default(),
            traffic: Arc::default(),
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What is known of an object.
    pub(crate) fn facts(&self, name: &str) -> Result<ObjectFacts, ReplicaError> {
        self.repeat(name, None, &|| true, |_| {
            self.transport.facts(name).map_err(Failure::of)
        })
    }

    /// Reads a range of an object of `object_bytes` bytes; `take` checks the bytes and puts them away, possibly more than once.
    ///
    /// # Errors
    /// [`ReplicaError::Object`] and [`ReplicaError::Damaged`] after the last attempt; what `take` could not put away; [`ReplicaError::Cancelled`] when `is_wanted` says so.
    pub(crate) fn read(
        &self,
        name: &str,
        range: Range<u64>,
        object_bytes: u64,
        is_wanted: &dyn Fn() -> bool,
        take: &mut (dyn FnMut(&[u8]) -> Result<(), Finding> + Send),
    ) -> Result<(), ReplicaError> {
        let wanted = range.clone();
        self.repeat(name, Some(wanted), is_wanted, |remote| {
            let tag = remote.tag(name);
            let mut outcome = Err(Failure::Fault(ReadFault::Length, "nothing came".to_owned()));
            let read =
                remote
                    .transport
                    .read(name, range.clone(), tag.as_deref(), &mut |bytes, facts| {
                        remote
                            .traffic
                            .bytes
                            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
                        outcome = remote
                            .judge(&range, object_bytes, tag.as_deref(), bytes, facts)
                            .and_then(|()| take(bytes).map_err(Failure::from))
                            .map(|()| remote.keep_tag(name, facts));
                    });
            read.map_err(Failure::of).and(outcome)
        })
    }

    /// Makes an object of a file.
    pub(crate) fn put(
        &self,
        name: &str,
        file: &Path,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<(), ReplicaError> {
        self.repeat(name, None, is_wanted, |remote| {
            remote.transport.put(name, file).map_err(Failure::of)
        })
    }

    /// Forgets which version of an object was read: another one was made.
    pub(crate) fn forget_tag(&self, name: &str) {
        let mut tags = self.tags.lock().unwrap_or_else(PoisonError::into_inner);
        tags.remove(name);
    }

    /// Compares what a server says about the object with what is known of it.
    fn judge(
        &self,
        range: &Range<u64>,
        object_bytes: u64,
        tag: Option<&str>,
        bytes: &[u8],
        facts: &ObjectFacts,
    ) -> Result<(), Failure> {
        if let (Some(expected), Some(found)) = (tag, facts.tag.as_deref())
            && expected != found
        {
            let cause = format!("its tag is {found}, was {expected}");
            return Err(Failure::Fault(ReadFault::Changed, cause));
        }
        if facts.bytes != object_bytes {
            let cause = format!(
                "the object has {} bytes, the cache says {object_bytes}",
                facts.bytes
            );
            return Err(Failure::Fault(ReadFault::Length, cause));
        }
        let wanted = range.end - range.start;
        if bytes.len() as u64 != wanted {
            let cause = format!("{} of {wanted}", bytes.len());
            return Err(Failure::Fault(ReadFault::Length, cause));
        }
        Ok(())
    }

    fn tag(&self, name: &str) -> Option<String> {
        let tags = self.tags.lock().unwrap_or_else(PoisonError::into_inner);
        tags.get(name).cloned()
    }

    fn keep_tag(&self, name: &str, facts: &ObjectFacts) {
        if let Some(tag) = &facts.tag {
            let mut tags = self.tags.lock().unwrap_or_else(PoisonError::into_inner);
            if !tags.contains_key(name) {
                tags.insert(name.to_owned(), tag.clone());
            }
        }
    }

    /// Makes attempts until one succeeds, one can't be repeated, or there were enough.
    fn repeat<T>(
        &self,
        name: &str,
        range: Option<Range<u64>>,
        is_wanted: &dyn Fn() -> bool,
        mut attempt: impl FnMut(&Self) -> Result<T, Failure>,
    ) -> Result<T, ReplicaError> {
        let mut number = 1;
        loop {
            if !is_wanted() {
                return Err(ReplicaError::Cancelled);
            }
            self.traffic.requests.fetch_add(1, Ordering::Relaxed);
            let failure = match attempt(self) {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            if number >= self.attempts || !failure.may_pass() {
                return Err(self.error(name, range, number, failure));
            }
            self.traffic.repeats.fetch_add(1, Ordering::Relaxed);
            wait(self.wait_before(number), is_wanted);
            number += 1;
        }
    }

    /// The wait behind attempt `number`, which failed.
    fn wait_before(&self, number: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(number.saturating_sub(1));
        self.retry_wait.saturating_mul(doubled).min(LONGEST_WAIT)
    }

    fn error(
        &self,
        name: &str,
        range: Option<Range<u64>>,
        attempts: u32,
        failure: Failure,
    ) -> ReplicaError {
        let url = format!("{}/{name}", self.url);
        match failure {
            Failure::Local(error) => error,
            Failure::Wrong(finding) => ReplicaError::Damaged {
                url,
                range,
                attempts,
                finding: Box::new(finding),
            },
            Failure::Fault(fault, cause) => ReplicaError::Object {
                url,
                range,
                attempts,
                fault,
                cause,
            },
        }
    }
}

impl Failure {
    fn of(fault: TransportFault) -> Self {
        let (fault, cause) = ReadFault::of(fault);
        Self::Fault(fault, cause)
    }

    fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Wrong(_) | Self::Fault(ReadFault::Failed | ReadFault::Length, _)
        )
    }
}

impl From<Finding> for Failure {
    fn from(finding: Finding) -> Self {
        match finding {
            Finding::Wrong(finding) => Self::Wrong(finding),
            Finding::Local(error) => Self::Local(error),
        }
    }
}

/// Waits, but no longer than somebody wants the bytes.
fn wait(time: Duration, is_wanted: &dyn Fn() -> bool) {
    let begun = Instant::now();
    while is_wanted() {
        let left = time.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(LOOK_INTERVAL));
    }
}

#[cfg(test)]
mod tests;

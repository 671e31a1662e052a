//! What speaks to an object store.
//!
//! Owns the seam: what is asked of a transport and what it may answer. Must not retry, time or check anything; [`Remote`](crate::remote::Remote) does. Invariant: a transport
//! makes each request once and says what became of it.

use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::options::StoreOptions;

/// What an object store says about an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectFacts {
    /// Length of the whole object, in bytes.
    pub bytes: u64,
    /// What tells its versions apart.
    pub tag: Option<String>,
}

/// Why a request had no success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportFault {
    /// There is no such object.
    Missing(String),
    /// It has not the tag that was asked for.
    Changed(String),
    /// The store refuses, and would again.
    Refused(String),
    /// Anything else: it may pass.
    Failed(String),
}

/// Takes the bytes that came, and what was said about the whole object with them.
pub type TakeBytes<'a> = dyn FnMut(&[u8], &ObjectFacts) + Send + 'a;

/// The objects of one cache, by their paths below its URL.
pub trait Transport: Debug + Send + Sync {
    /// What is known of an object, without its bytes.
    ///
    /// # Errors
    /// [`TransportFault`].
    fn facts(&self, name: &str) -> Result<ObjectFacts, TransportFault>;

    /// Reads a range that is not empty, of the object with this tag if there is one to ask for; calls `take` once.
    ///
    /// # Errors
    /// [`TransportFault`]; `take` was not called then.
    fn read(
        &self,
        name: &str,
        range: Range<u64>,
        tag: Option<&str>,
        take: &mut TakeBytes<'_>,
    ) -> Result<(), TransportFault>;

    /// Makes an object of a file's bytes, in the place of one that has its name; it appears whole or not at all.
    ///
    /// # Errors
    /// [`TransportFault`].
    fn put(&self, name: &str, file: &Path) -> Result<(), TransportFault>;
}

/// Makes transports of URLs.
pub trait Connect: Send + Sync {
    /// A transport for the objects below `url`; `is_made` where a place that does not exist may be made.
    ///
    /// # Errors
    /// [`TransportFault`] for a URL or a set-up that can't be used.
    fn connect(
        &self,
        url: &str,
        options: &StoreOptions,
        is_made: bool,
    ) -> Result<Arc<dyn Transport>, TransportFault>;
}

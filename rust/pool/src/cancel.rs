//! A flag that tells work it is no longer wanted.
//!
//! Owns: the flag and its children.
//! Must not: interrupt anything by force, or lock: it may be set from a signal path or read in a forked child.
//! Invariant: once cancelled, a token and all its children stay cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A shared flag that says "stop"; clones are the same flag.
#[derive(Debug, Clone, Default)]
pub struct CancelToken {
    flag: Arc<AtomicBool>,
    parents: Vec<Arc<AtomicBool>>,
}

impl CancelToken {
    /// Makes a token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a token that is cancelled with this one, but can also be cancelled alone.
    #[must_use]
    pub fn child(&self) -> Self {
        let mut parents = self.parents.clone();
        parents.push(Arc::clone(&self.flag));
        Self {
            flag: Arc::default(),
            parents,
        }
    }

    /// Cancels this token and its children; doing it twice changes nothing.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Release);
    }

    /// Says whether this token or one it descends from was cancelled.
    ///
    /// # Cost
    /// One atomic load per generation; cheap enough for once per block of work.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Acquire)
            || self
                .parents
                .iter()
                .any(|parent| parent.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::CancelToken;

    #[test]
    fn token_cancelled_in_a_clone_is_cancelled_everywhere() {
        let token = CancelToken::new();
        let clone = token.clone();
        assert!(!clone.is_cancelled());
        token.cancel();
        assert!(clone.is_cancelled());
    }

    #[test]
    fn child_follows_parent_but_not_the_reverse() {
        let root = CancelToken::new();
        let (left, right) = (root.child(), root.child());
        let grandchild = left.child();
        left.cancel();
        assert!(left.is_cancelled() && grandchild.is_cancelled());
        assert!(!root.is_cancelled() && !right.is_cancelled());
        root.cancel();
        assert!(right.is_cancelled());
    }
}

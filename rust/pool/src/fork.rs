//! How the crate learns that the process it runs in is a forked child.
//!
//! Owns: one counter, the generation of this process: how many forks of forks it is away from the first one.
//! Must not: lock, allocate or start anything: the hook runs in a child where only one thread exists and any lock may
//! have been held by a thread that was not copied.
//! Invariant: everything that holds threads remembers the generation it was made in, and touches nothing of an older
//! one: no lock, no queue, no destructor.

use std::sync::atomic::{AtomicU64, Ordering};

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Tells the crate that this process has just been made by `fork`; to be called in the child, before anything else.
///
/// # Guarantees
/// Touches one atomic counter and nothing else. From here on each [`WorkerPool`](crate::WorkerPool) builds fresh
/// threads at its first use, leaks the inherited ones, and windows made before the fork answer
/// [`PoolError::LostInFork`](crate::PoolError::LostInFork).
pub fn note_forked_child() {
    GENERATION.fetch_add(1, Ordering::AcqRel);
}

/// Says how many noted forks lie between the first process and this one.
#[must_use]
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

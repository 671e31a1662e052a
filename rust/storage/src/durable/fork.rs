//! Locks across `fork`.
//!
//! Owns: the list of lock files this process holds open. A `flock` lock belongs to the open file, and a forked child
//! inherits open files: without this list, a child would keep its parent's locks alive after the parent died.
//! Must not: unlock anything in a child, which would take the lock from the parent; a child only closes.
//! Invariant: a lock file is open only while it is on the list, and the list is not being changed while a fork that
//! was announced by [`before_fork`] happens.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The open lock files of this process, by number.
#[derive(Default)]
pub(super) struct HeldLocks {
    next_number: u64,
    files: BTreeMap<u64, File>,
}

impl HeldLocks {
    /// Keeps a locked file open and gives it a number.
    pub(super) fn keep(&mut self, file: File) -> u64 {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        self.files.insert(number, file);
        number
    }

    /// Closes a file, which releases its lock.
    pub(super) fn close(&mut self, number: u64) {
        self.files.remove(&number);
    }
}

static HELD: Mutex<HeldLocks> = Mutex::new(HeldLocks {
    next_number: 0,
    files: BTreeMap::new(),
});

thread_local! {
    static ACROSS_FORK: RefCell<Option<MutexGuard<'static, HeldLocks>>> = const { RefCell::new(None) };
}

/// The list, for as long as a lock file is being opened or closed.
pub(super) fn held_locks() -> MutexGuard<'static, HeldLocks> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// To be called in the thread that is about to fork: from here to the fork no lock file is opened or closed.
///
/// # Cost
/// Waits at most for one open, lock or close call of another thread.
pub fn before_fork() {
    ACROSS_FORK.with(|guard| {
        let mut guard = guard.borrow_mut();
        if guard.is_none() {
            *guard = Some(held_locks());
        }
    });
}

/// To be called in the same thread of the parent, right after the fork.
pub fn after_fork_in_parent() {
    ACROSS_FORK.with(|guard| drop(guard.borrow_mut().take()));
}

/// To be called in the child, right after the fork: closes the inherited lock files and leaves the locks to the parent.
///
/// # Guarantees
/// Never waits. Without [`before_fork`] a lock file that another thread was opening at that moment can stay open.
pub fn after_fork_in_child() {
    let announced = ACROSS_FORK.with(|guard| guard.borrow_mut().take());
    let mut held = match announced {
        Some(held) => held,
        None => match HELD.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        },
    };
    held.files.clear();
}

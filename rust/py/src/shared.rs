//! Iterators of the core that several threads, handlers of signals and finalizers may ask at once.
//!
//! Owns who works in one, and what can be told of it meanwhile. Must not know what the work is. Invariant: nobody waits for a thread that waits for him: who is asked
//! while the same thread works in it tells where it was before, or refuses.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use dataset_rt_pool::fork::generation;
use dataset_rt_reader::{BatchIterator, SampleIterator};
use dataset_rt_sampler::StreamState;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::CoreError;

/// Where an iterator stands.
#[derive(Clone)]
pub(crate) struct Standing {
    pub(crate) position: u64,
    pub(crate) remaining: u64,
    pub(crate) state: StreamState,
}

/// What stands somewhere in its window.
pub(crate) trait Stands {
    fn standing(&self) -> Standing;
}

macro_rules! stands {
    ($($iterator:ty),*) => {$(
        impl Stands for $iterator {
            fn standing(&self) -> Standing {
                Standing {
                    position: self.position(),
                    remaining: self.remaining(),
                    state: self.state(),
                }
            }
        }
    )*};
}

stands!(SampleIterator, BatchIterator);

thread_local! {
    /// Something of which each thread has its own.
    static HERE: u8 = const { 0 };
}

/// A number of this thread that no other living thread has; not 0.
fn this_thread() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// An iterator of the core.
pub(crate) struct Shared<T> {
    core: Mutex<T>,
    /// The thread that works in it; 0 for none.
    worker: AtomicUsize,
    /// Generation of the process in which that thread works: one of the parent never ends in a forked child.
    taken_in: AtomicU64,
    /// Where it stood before the call that is under way, as far as that was told.
    told: Mutex<Option<Standing>>,
}

impl<T: Stands> Shared<T> {
    pub(crate) fn new(core: T) -> Self {
        Self {
            core: Mutex::new(core),
            worker: AtomicUsize::new(0),
            taken_in: AtomicU64::new(0),
            told: Mutex::new(None),
        }
    }

    /// The iterator for this thread alone; where another one works in it, this one waits without the GIL.
    ///
    /// # Errors
    /// `RuntimeError` where this thread works in it already, in a call that ran a handler or a finalizer, or where a thread did that a fork left behind; whatever a
    /// handler raises.
    pub(crate) fn work(&self, py: Python<'_>) -> Result<Working<'_, T>, CoreError> {
        loop {
            if let Some(working) = self.try_work() {
                return Ok(working);
            }
            self.wait_for_another(py)?;
        }
    }

    /// Asks the iterator, or what it told before the call that is under way.
    ///
    /// # Errors
    /// As [`work`](Self::work), where nothing was told.
    pub(crate) fn ask<R>(
        &self,
        py: Python<'_>,
        core: impl Fn(&T) -> R,
        told: impl Fn(Standing) -> R,
    ) -> Result<R, CoreError> {
        loop {
            if let Some(working) = self.try_work() {
                return Ok(core(&working));
            }
            let standing = self.told().clone();
            if let Some(standing) = standing {
                return Ok(told(standing));
            }
            self.wait_for_another(py)?;
        }
    }

    fn try_work(&self) -> Option<Working<'_, T>> {
        let core = match self.core.try_lock() {
            Ok(core) => core,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        self.worker.store(this_thread(), Ordering::Relaxed);
        self.taken_in.store(generation(), Ordering::Relaxed);
        Some(Working {
            shared: self,
            has_told: false,
            core,
        })
    }

    fn wait_for_another(&self, py: Python<'_>) -> Result<(), CoreError> {
        if self.worker.load(Ordering::Relaxed) == this_thread() {
            return Err(PyRuntimeError::new_err(
                "this thread is in a call of this iterator already: a signal handler or a finalizer can't draw from it",
            )
            .into());
        }
        if self.taken_in.load(Ordering::Relaxed) != generation() {
            return Err(PyRuntimeError::new_err(
                "another thread was in a call of this iterator when this process was forked, and never ends it here: load the iterator's state into another one",
            )
            .into());
        }
        py.check_signals()?;
        py.detach(|| std::thread::sleep(Duration::from_millis(1)));
        Ok(())
    }

    fn told(&self) -> MutexGuard<'_, Option<Standing>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An iterator that this thread works in.
pub(crate) struct Working<'a, T> {
    shared: &'a Shared<T>,
    has_told: bool,
    core: MutexGuard<'a, T>,
}

impl<T: Stands> Working<'_, T> {
    /// Tells where it stands, for whoever asks until the work is done.
    pub(crate) fn tell(&mut self) {
        *self.shared.told() = Some(self.core.standing());
        self.has_told = true;
    }
}

impl<T> Deref for Working<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.core
    }
}

impl<T> DerefMut for Working<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.core
    }
}

impl<T> Drop for Working<'_, T> {
    fn drop(&mut self) {
        if self.has_told {
            *self
                .shared
                .told
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = None;
        }
        self.shared.worker.store(0, Ordering::Relaxed);
    }
}

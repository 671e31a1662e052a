//! A clock for moments that are only compared.
//!
//! Owns which clock is cheap enough to be read before each draw. Must not be used to measure. Invariant: it never runs backwards, and is never behind by more than a
//! tick of the system, at most 10 ms.

use std::time::Duration;

/// Time since some moment of the past, in whole ticks: reading it costs a third of what [`std::time::Instant`] costs.
#[cfg(target_os = "linux")]
#[inline]
pub(crate) fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(time.tv_sec.cast_unsigned(), nanoseconds)
}

/// Time since the first call.
#[cfg(not(target_os = "linux"))]
#[inline]
pub(crate) fn now() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

//! The state of a stream: a few integers and digests that resume it anywhere.
//!
//! Owns what is saved and which streams may take it up. Must not know a text form; callers make plain dicts of
//! the fields. Invariant: a state that is taken up continues with the very draws that would have followed.
//! Text: `DRAWS.md`, "State".

use std::fmt;

use dataset_rt_format::{Digest128, Seed};

use crate::draw::partition::WindowProgress;
use crate::draw::stream::DrawMode;
use crate::draw::window::{Cursor, LAST_POSITION, Window};
use crate::error::{SamplerError, StateField};

/// Version of the states that this build writes and reads.
pub const STATE_VERSION: u64 = 1;

/// What makes a stream: two streams with one key draw alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamKey {
    /// How rows are drawn.
    pub mode: DrawMode,
    /// Seed of the stream.
    pub seed: Seed,
    /// Digest of the caches.
    pub caches_digest: Digest128,
    /// Digest of the table's sampling columns.
    pub table_digest: Digest128,
}

/// A saved stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamState {
    /// Version of the state.
    pub version: u64,
    /// What makes the stream.
    pub key: StreamKey,
    /// Draws of full windows.
    pub epoch_length: u64,
    /// Position of the next draw.
    pub position: u64,
    /// Position behind the last draw of the window that `position` is in; equal to it between windows.
    pub window_end: u64,
    /// Positions passed over by hand.
    pub skipped: u64,
}

impl StreamState {
    /// The state between windows, or before the rest of an interrupted one.
    pub fn of_cursor(key: StreamKey, cursor: &Cursor) -> Self {
        Self {
            version: STATE_VERSION,
            key,
            epoch_length: cursor.epoch_length(),
            position: cursor.position(),
            window_end: cursor.window_end(),
            skipped: cursor.skipped(),
        }
    }

    /// The state within a window: what was delivered counts, not what was fetched.
    pub fn of_window(key: StreamKey, progress: &WindowProgress) -> Self {
        Self {
            version: STATE_VERSION,
            key,
            epoch_length: progress.window().epoch_length(),
            position: progress.position(),
            window_end: progress.window().end(),
            skipped: progress.skipped(),
        }
    }

    /// Checks that the state belongs to a stream with this key.
    ///
    /// # Errors
    /// [`SamplerError::StateVersion`]; [`SamplerError::StateMismatch`] for the first of mode, seed, caches digest and
    /// table digest that differs; [`SamplerError::StateValue`] when the state contradicts itself.
    pub fn check(&self, current: &StreamKey) -> Result<(), SamplerError> {
        if self.version != STATE_VERSION {
            let (found, supported) = (self.version, STATE_VERSION);
            return Err(SamplerError::StateVersion { found, supported });
        }
        same(StateField::Mode, self.key.mode.name(), current.mode.name())?;
        same(StateField::Seed, self.key.seed, current.seed)?;
        same(
            StateField::CachesDigest,
            self.key.caches_digest,
            current.caches_digest,
        )?;
        same(
            StateField::TableDigest,
            self.key.table_digest,
            current.table_digest,
        )?;
        let refused = |field, value: u64| {
            Err(SamplerError::StateValue {
                field,
                found: value.to_string(),
            })
        };
        if self.epoch_length == 0 {
            return refused(StateField::EpochLength, self.epoch_length);
        }
        if self.window_end > LAST_POSITION + 1 {
            return refused(StateField::WindowEnd, self.window_end);
        }
        if self.position > self.window_end {
            return refused(StateField::Position, self.position);
        }
        Ok(())
    }

    /// Checks that this state and `current` go on with the same draws, as the ranks of one job must.
    ///
    /// # Errors
    /// As for [`check`](Self::check), and [`SamplerError::StateMismatch`] for epoch length, position or window end.
    pub fn check_equal(&self, current: &Self) -> Result<(), SamplerError> {
        self.check(&current.key)?;
        same(
            StateField::EpochLength,
            self.epoch_length,
            current.epoch_length,
        )?;
        same(StateField::Position, self.position, current.position)?;
        same(StateField::WindowEnd, self.window_end, current.window_end)
    }

    /// The cursor of a dataset that takes up the state.
    ///
    /// # Errors
    /// As for [`check`](Self::check).
    pub fn cursor(&self, current: &StreamKey) -> Result<Cursor, SamplerError> {
        self.check(current)?;
        let Self {
            position,
            window_end,
            epoch_length,
            skipped,
            ..
        } = *self;
        Ok(Cursor::resumed(position, window_end, epoch_length, skipped))
    }

    /// The rest of the window, for an iterator that takes up the state; empty between windows.
    ///
    /// # Errors
    /// As for [`check`](Self::check).
    pub fn window(&self, current: &StreamKey) -> Result<Window, SamplerError> {
        self.check(current)?;
        Ok(Window::rest(
            self.position,
            self.window_end,
            self.epoch_length,
            self.skipped,
        ))
    }
}

impl DrawMode {
    /// The name in a state.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ordered => "ordered",
            Self::WithReplacement => "with_replacement",
            Self::EachOnce => "each_once",
        }
    }

    /// The mode of a name.
    ///
    /// # Errors
    /// [`SamplerError::StateValue`] when there is no such mode.
    pub fn from_name(name: &str) -> Result<Self, SamplerError> {
        let modes = [Self::Ordered, Self::WithReplacement, Self::EachOnce];
        modes
            .into_iter()
            .find(|mode| mode.name() == name)
            .ok_or_else(|| SamplerError::StateValue {
                field: StateField::Mode,
                found: name.to_owned(),
            })
    }
}

fn same<T: fmt::Display + PartialEq>(
    field: StateField,
    saved: T,
    current: T,
) -> Result<(), SamplerError> {
    if saved == current {
        return Ok(());
    }
    let (saved, current) = (saved.to_string(), current.to_string());
    Err(SamplerError::StateMismatch {
        field,
        saved,
        current,
    })
}

#[cfg(test)]
mod tests;

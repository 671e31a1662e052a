//! Windows: which positions of the stream belong to which iterator.
//!
//! Owns the cursor of a dataset, the window of an iterator and what `skip` does to both. Must not draw.
//! Invariant: two windows taken from one cursor never overlap, and taking one moves the cursor past it at
//! once. Text: `DRAWS.md`, "Windows".

use crate::error::SamplerError;

/// The last position of a stream.
pub const LAST_POSITION: u64 = i64::MAX as u64;

/// The positions `start..end` of one iterator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    origin: u64,
    start: u64,
    end: u64,
    epoch_length: u64,
    skipped: u64,
}

impl Window {
    /// The window of `draws` positions from `start` on.
    ///
    /// # Errors
    /// [`SamplerError::Position`] when it ends beyond the last position of a stream.
    pub fn new(start: u64, draws: u64) -> Result<Self, SamplerError> {
        let end = advance(start, draws)?;
        Ok(Self {
            origin: start,
            start,
            end,
            epoch_length: draws,
            skipped: 0,
        })
    }

    /// What is left from `start` on of a window of `epoch_length` positions that ends at `end`.
    pub(crate) fn rest(start: u64, end: u64, epoch_length: u64, skipped: u64) -> Self {
        let origin = end.saturating_sub(epoch_length).min(start);
        Self {
            origin,
            start,
            end,
            epoch_length,
            skipped,
        }
    }

    /// The first position; not that of the whole window when this is the rest of an interrupted one.
    #[inline]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The position behind the last one.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The first position of the whole window, also when only its rest is left.
    #[inline]
    pub fn origin(&self) -> u64 {
        self.origin
    }

    /// Number of positions.
    #[inline]
    pub fn draws(&self) -> u64 {
        self.end - self.start
    }

    /// Draws of the full windows that follow.
    #[inline]
    pub fn epoch_length(&self) -> u64 {
        self.epoch_length
    }

    /// Positions that were passed over by hand before the window.
    #[inline]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// Where the next window starts and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    position: u64,
    epoch_length: u64,
    skipped: u64,
    /// The window whose rest comes next, after a state was loaded from within it.
    interrupted: Option<Window>,
}

impl Cursor {
    /// A cursor at position 0 with windows of `epoch_length` draws.
    ///
    /// # Errors
    /// [`SamplerError::EpochLength`] when that is 0.
    pub fn new(epoch_length: u64) -> Result<Self, SamplerError> {
        let mut cursor = Self {
            position: 0,
            epoch_length: 1,
            interrupted: None,
            skipped: 0,
        };
        cursor.set_epoch_length(epoch_length)?;
        Ok(cursor)
    }

    /// A cursor as a state describes it; the caller has checked `position <= window_end`.
    pub(crate) fn resumed(position: u64, window_end: u64, epoch_length: u64, skipped: u64) -> Self {
        let rest = || Window::rest(position, window_end, epoch_length, skipped);
        let interrupted = (position < window_end).then(rest);
        Self {
            position,
            epoch_length,
            interrupted,
            skipped,
        }
    }

    /// Position of the next window's first draw.
    #[inline]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Draws of a full window.
    #[inline]
    pub fn epoch_length(&self) -> u64 {
        self.epoch_length
    }

    /// Draws passed over by [`skip`](Self::skip), here or in the iterator whose state was loaded.
    #[inline]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// End of the interrupted window that comes next; the cursor's own position otherwise.
    #[inline]
    pub fn window_end(&self) -> u64 {
        self.interrupted.map_or(self.position, |window| window.end)
    }

    /// Sets the length of full windows; the rest of an interrupted one keeps its end.
    ///
    /// # Errors
    /// [`SamplerError::EpochLength`] when `epoch_length` is 0; nothing has changed then.
    pub fn set_epoch_length(&mut self, epoch_length: u64) -> Result<(), SamplerError> {
        if epoch_length == 0 {
            return Err(SamplerError::EpochLength);
        }
        self.epoch_length = epoch_length;
        Ok(())
    }

    /// Takes the next window and moves past it.
    ///
    /// # Errors
    /// [`SamplerError::Position`] at the end of the stream; the cursor stays where it was.
    pub fn take_window(&mut self) -> Result<Window, SamplerError> {
        let window = match self.interrupted {
            Some(rest) => rest,
            None => Window::new(self.position, self.epoch_length)?,
        };
        let window = Window {
            epoch_length: self.epoch_length,
            skipped: self.skipped,
            ..window
        };
        self.position = window.end;
        self.interrupted = None;
        Ok(window)
    }

    /// Passes over `draws` positions; of an interrupted window that many fewer are left.
    ///
    /// # Errors
    /// [`SamplerError::Position`] at the end of the stream; the cursor stays where it was.
    pub fn skip(&mut self, draws: u64) -> Result<(), SamplerError> {
        let position = advance(self.position, draws)?;
        self.position = position;
        self.interrupted = self
            .interrupted
            .filter(|window| position < window.end)
            .map(|window| Window {
                start: position,
                ..window
            });
        self.skipped = self.skipped.saturating_add(draws);
        Ok(())
    }
}

/// `position + draws`, kept within the stream.
pub(crate) fn advance(position: u64, draws: u64) -> Result<u64, SamplerError> {
    match position.checked_add(draws) {
        // A window may end behind the last position, which is not itself a draw.
        Some(end) if end <= LAST_POSITION + 1 => Ok(end),
        end => Err(SamplerError::Position {
            position: end.unwrap_or(u64::MAX),
            limit: LAST_POSITION,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_one_cursor_follow_each_other() {
        let mut cursor = Cursor::new(4).unwrap();
        let spans: Vec<_> = (0..3)
            .map(|_| cursor.take_window().unwrap())
            .map(|window| (window.start(), window.end()))
            .collect();
        assert_eq!(spans, [(0, 4), (4, 8), (8, 12)]);
        assert_eq!(cursor.position(), 12);
    }

    #[test]
    fn epoch_length_of_zero_is_refused_and_changes_nothing() {
        let mut cursor = Cursor::new(4).unwrap();
        assert_eq!(cursor.set_epoch_length(0), Err(SamplerError::EpochLength));
        assert_eq!(cursor.epoch_length(), 4);
        assert_eq!(Cursor::new(0), Err(SamplerError::EpochLength));
    }

    #[test]
    fn window_behind_the_last_position_is_refused_and_moves_nothing() {
        let mut cursor = Cursor::resumed(LAST_POSITION, LAST_POSITION, 1, 0);
        assert_eq!(cursor.take_window().unwrap().end(), LAST_POSITION + 1);
        let refused = cursor.take_window();
        assert_eq!(
            refused,
            Err(SamplerError::Position {
                position: LAST_POSITION + 2,
                limit: LAST_POSITION
            })
        );
        assert_eq!(cursor.position(), LAST_POSITION + 1);
    }

    #[test]
    fn rest_of_an_interrupted_window_comes_first_and_once() {
        let mut cursor = Cursor::resumed(6, 10, 10, 0);
        assert_eq!(cursor.window_end(), 10);
        let rest = cursor.take_window().unwrap();
        assert_eq!((rest.origin(), rest.start(), rest.end()), (0, 6, 10));
        let full = cursor.take_window().unwrap();
        assert_eq!((full.origin(), full.start(), full.end()), (10, 10, 20));
    }

    #[test]
    fn skip_within_an_interrupted_window_keeps_its_end() {
        let mut cursor = Cursor::resumed(6, 10, 10, 2);
        cursor.skip(3).unwrap();
        assert_eq!(
            (cursor.position(), cursor.window_end(), cursor.skipped()),
            (9, 10, 5)
        );
        cursor.skip(1).unwrap();
        assert_eq!(cursor.take_window().unwrap().end(), 20);
    }
}

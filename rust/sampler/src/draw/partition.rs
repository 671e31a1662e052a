//! Partitions: the draws of a window that belong to one of several ranks, and how far a rank has come.
//!
//! Owns which local draw stands at which position and what position a rank is at. Must not draw. Invariant:
//! the parts of a window, taken together, are the window for every number of parts, and ranks that have
//! drawn equally often are at one position. Text: `DRAWS.md`, "Partitions".

use crate::draw::window::Window;
use crate::error::SamplerError;

/// What happens to draws that do not divide evenly among the parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// The first parts have one draw more.
    #[default]
    Uneven,
    /// Left-over draws are passed over.
    Drop,
    /// Parts that lack a draw repeat the window's first ones.
    Pad,
}

impl Tail {
    /// The tail of two switches.
    ///
    /// # Errors
    /// [`SamplerError::PartitionTail`] when both are set.
    pub fn of_switches(drop_uneven: bool, pad: bool) -> Result<Self, SamplerError> {
        match (drop_uneven, pad) {
            (false, false) => Ok(Self::Uneven),
            (true, false) => Ok(Self::Drop),
            (false, true) => Ok(Self::Pad),
            (true, true) => Err(SamplerError::PartitionTail),
        }
    }
}

/// Part `index` of `count`: the draws whose number in the window is `index` modulo `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    index: u64,
    count: u64,
    tail: Tail,
}

impl Partition {
    /// The only part.
    pub const WHOLE: Self = Self {
        index: 0,
        count: 1,
        tail: Tail::Uneven,
    };

    /// Part `index` of `count`.
    ///
    /// # Errors
    /// [`SamplerError::Partition`] when there is no such part.
    pub fn new(index: u64, count: u64, tail: Tail) -> Result<Self, SamplerError> {
        Self::WHOLE.part(index, count, tail)
    }

    /// Part `index` of `count` of this part; `tail` is that of the new part.
    ///
    /// # Errors
    /// [`SamplerError::Partition`] when there is no such part.
    pub fn part(self, index: u64, count: u64, tail: Tail) -> Result<Self, SamplerError> {
        let refused = SamplerError::Partition { index, count };
        if index >= count {
            return Err(refused);
        }
        match (self.count.checked_mul(index), self.count.checked_mul(count)) {
            // index < count, so the new index stays below the new count.
            (Some(offset), Some(count)) => Ok(Self {
                index: self.index + offset,
                count,
                tail,
            }),
            _ => Err(refused),
        }
    }

    /// Number of the part, counted from 0.
    #[inline]
    pub fn index(self) -> u64 {
        self.index
    }

    /// Number of parts.
    #[inline]
    pub fn count(self) -> u64 {
        self.count
    }

    /// What happens to draws that do not divide evenly.
    #[inline]
    pub fn tail(self) -> Tail {
        self.tail
    }

    /// Draws of this part in a window of `draws` draws.
    pub fn draws_of(self, draws: u64) -> u64 {
        match self.tail {
            Tail::Uneven => draws.saturating_sub(self.index).div_ceil(self.count),
            Tail::Drop => draws / self.count,
            Tail::Pad => draws.div_ceil(self.count),
        }
    }
}

/// Positions at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionRun {
    /// The first position.
    pub start: u64,
    /// Distance to the next.
    pub stride: u64,
    /// Number of positions, at least one.
    pub draws: u64,
}

/// One part of a window, and how much of it has been delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowProgress {
    window: Window,
    partition: Partition,
    delivered: u64,
    skipped: u64,
    is_finished: bool,
}

impl WindowProgress {
    /// Nothing of this part has been delivered.
    pub fn new(window: Window, partition: Partition) -> Self {
        Self {
            window,
            partition,
            delivered: 0,
            skipped: 0,
            is_finished: false,
        }
    }

    /// The window.
    #[inline]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The part.
    #[inline]
    pub fn partition(&self) -> Partition {
        self.partition
    }

    /// Local draws in all.
    #[inline]
    pub fn draws(&self) -> u64 {
        self.partition.draws_of(self.window.draws())
    }

    /// Local draws that were delivered, failed or were passed over.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Local draws that are left.
    #[inline]
    pub fn remaining(&self) -> u64 {
        self.draws() - self.delivered
    }

    /// Positions passed over by hand, here and before the window.
    #[inline]
    pub fn skipped(&self) -> u64 {
        self.window.skipped().saturating_add(self.skipped)
    }

    /// The position that all parts are at after as many local draws; the window's end when it is through.
    pub fn position(&self) -> u64 {
        let is_through = self.partition.tail == Tail::Drop && self.remaining() == 0;
        if self.is_finished || is_through {
            return self.window.end();
        }
        let drawn = self.delivered.saturating_mul(self.partition.count);
        self.window.start() + drawn.min(self.window.draws())
    }

    /// The longest run of positions from local draw `local` on, at most `most`; `None` behind the last one.
    pub fn run_at(&self, local: u64, most: u64) -> Option<PositionRun> {
        let left = self
            .draws()
            .checked_sub(local)
            .filter(|left| *left > 0)?
            .min(most);
        if left == 0 {
            return None;
        }
        let Partition { index, count, .. } = self.partition;
        let (start, draws) = (self.window.start(), self.window.draws());
        // Only padding leaves the window, by less than one round of the parts.
        let number = local.saturating_mul(count).saturating_add(index);
        if let Some(beyond) = number.checked_sub(draws) {
            let whole = self.window.end() - self.window.origin();
            let position = self.window.origin() + beyond % whole.max(1);
            return Some(PositionRun {
                start: position,
                stride: count,
                draws: 1,
            });
        }
        let within = (draws - number).div_ceil(count);
        Some(PositionRun {
            start: start + number,
            stride: count,
            draws: left.min(within),
        })
    }

    /// Counts local draws as delivered, at most what is left.
    pub fn advance(&mut self, draws: u64) {
        self.delivered += draws.min(self.remaining());
    }

    /// Passes over local draws, at most what is left.
    pub fn skip(&mut self, draws: u64) {
        let before = self.position();
        self.advance(draws);
        self.skipped = self.skipped.saturating_add(self.position() - before);
    }

    /// Notes that the caller was told that nothing is left: every part is then at the window's end.
    pub fn finish(&mut self) {
        self.delivered = self.draws();
        self.is_finished = true;
    }
}

#[cfg(test)]
mod tests;

//! The slow model of streams: rows by the text of `DRAWS.md`, windows as lists, numbers of 128 bits.
//!
//! Must not use what it is compared with, but for the generator and the logarithm, which have vectors of their own.
#![expect(
    clippy::cast_possible_truncation,
    reason = "numbers of 128 bits that the model has bounded; tables of a few rows"
)]

use crate::draw::internals::{exponential, philox4x64_10};
use crate::{DrawMode, LAST_POSITION, StreamState, Tail};

/// Windows of at most so many draws are also kept as a list.
const LISTED: u128 = 200;

/// The position behind the last one.
const END: u128 = LAST_POSITION as u128 + 1;

/// A table as the model has it.
#[derive(Clone, Debug)]
pub(crate) struct Slow {
    pub(crate) mode: DrawMode,
    pub(crate) seed: u64,
    pub(crate) weights: Vec<f64>,
}

impl Slow {
    fn word(&self, domain: u64, block: u64, cycle: u64, number: usize) -> u64 {
        philox4x64_10([self.seed, domain], [block, cycle, 0, 0])[number]
    }

    /// The units of unequal weights.
    fn units(&self) -> Option<Vec<u64>> {
        let first = self.weights[0].to_bits();
        if self.weights.iter().all(|weight| weight.to_bits() == first) {
            return None;
        }
        let sum: f64 = self.weights.iter().fold(0.0, |sum, weight| sum + weight);
        let units = |weight: &f64| ((weight / sum * 2.0_f64.powi(62)) as u64).max(1);
        Some(self.weights.iter().map(units).collect())
    }

    pub(crate) fn row(&self, position: u64) -> u64 {
        let rows = self.weights.len() as u64;
        let (cycle, index) = (position / rows, position % rows);
        let scaled = |word: u64, bound: u64| (u128::from(word) * u128::from(bound)) >> 64;
        match (self.mode, self.units()) {
            (DrawMode::Ordered, _) => index,
            (DrawMode::WithReplacement, None) => scaled(self.word(1, position, 0, 0), rows) as u64,
            (DrawMode::WithReplacement, Some(units)) => {
                let total = units.iter().sum();
                let mut left = scaled(self.word(1, position, 0, 0), total) as u64;
                let mut row = 0;
                while left >= units[row] {
                    left -= units[row];
                    row += 1;
                }
                row as u64
            }
            (DrawMode::EachOnce, units) => self.cycle(cycle, units)[index as usize],
        }
    }

    fn cycle(&self, cycle: u64, units: Option<Vec<u64>>) -> Vec<u64> {
        let mut list: Vec<u64> = (0..self.weights.len() as u64).collect();
        match units {
            None => {
                for last in (1..list.len()).rev() {
                    let word = self.word(3, last as u64 / 4, cycle, last % 4);
                    let other = (u128::from(word) * (last as u128 + 1)) >> 64;
                    list.swap(last, other as usize);
                }
            }
            Some(units) => {
                let key = |row: u64| {
                    let word = self.word(4, row / 4, cycle, row as usize % 4);
                    exponential(word) as f64 / units[row as usize] as f64
                };
                // Stable: equal keys stay in row order.
                list.sort_by(|left, right| key(*left).total_cmp(&key(*right)));
            }
        }
        list
    }
}

/// A window: what is left of it, and where it began as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) origin: u128,
    pub(crate) start: u128,
    pub(crate) end: u128,
    pub(crate) epoch: u128,
    pub(crate) skipped: u128,
}

/// The cursor of the model.
#[derive(Clone, Debug)]
pub(crate) struct SlowCursor {
    pub(crate) position: u128,
    pub(crate) epoch: u128,
    pub(crate) skipped: u128,
    pub(crate) rest: Option<Span>,
}

impl SlowCursor {
    pub(crate) fn take(&mut self) -> Option<Span> {
        let fresh = Span {
            origin: self.position,
            start: self.position,
            end: self.position + self.epoch,
            epoch: self.epoch,
            skipped: self.skipped,
        };
        let span = Span {
            epoch: self.epoch,
            skipped: self.skipped,
            ..self.rest.unwrap_or(fresh)
        };
        if span.end > END {
            return None;
        }
        self.position = span.end;
        self.rest = None;
        Some(span)
    }

    pub(crate) fn skip(&mut self, draws: u128) -> bool {
        if self.position + draws > END {
            return false;
        }
        self.position += draws;
        self.skipped += draws;
        self.rest = self.rest.filter(|rest| self.position < rest.end);
        if let Some(rest) = &mut self.rest {
            rest.start = self.position;
        }
        true
    }
}

/// One part of a window of the model.
#[derive(Clone, Debug)]
pub(crate) struct SlowPart {
    pub(crate) span: Span,
    pub(crate) index: u128,
    pub(crate) count: u128,
    pub(crate) tail: Tail,
    pub(crate) delivered: u128,
    pub(crate) skipped: u128,
    pub(crate) is_finished: bool,
}

impl SlowPart {
    pub(crate) fn draws(&self) -> u128 {
        let draws = self.span.end - self.span.start;
        match self.tail {
            Tail::Uneven => draws.saturating_sub(self.index).div_ceil(self.count),
            Tail::Drop => draws / self.count,
            Tail::Pad => draws.div_ceil(self.count),
        }
    }

    pub(crate) fn position_of(&self, local: u128) -> u128 {
        let number = self.index + local * self.count;
        let draws = self.span.end - self.span.start;
        if number < draws {
            self.span.start + number
        } else {
            let whole = self.span.end - self.span.origin;
            self.span.origin + (number - draws) % whole
        }
    }

    /// Positions of a short window, counted out one by one.
    pub(crate) fn list(&self) -> Option<Vec<u128>> {
        let mut numbers: Vec<_> = (self.span.start..self.span.end)
            .take(LISTED as usize)
            .collect();
        if self.span.end - self.span.start > LISTED || self.count > LISTED {
            return None;
        }
        let count = self.count as usize;
        let beyond = numbers.len() % count;
        match self.tail {
            Tail::Drop => numbers.truncate(numbers.len() - beyond),
            Tail::Pad if beyond > 0 => {
                let again = (self.span.origin..self.span.end).cycle();
                numbers.extend(again.take(count - beyond));
            }
            _ => {}
        }
        Some(
            numbers
                .into_iter()
                .skip(self.index as usize)
                .step_by(count)
                .collect(),
        )
    }

    pub(crate) fn position(&self) -> u128 {
        let is_through = self.tail == Tail::Drop && self.delivered == self.draws();
        if self.is_finished || is_through {
            return self.span.end;
        }
        (self.span.start + self.delivered * self.count).min(self.span.end)
    }

    pub(crate) fn advance(&mut self, draws: u128) {
        self.delivered = (self.delivered + draws).min(self.draws());
    }
}

pub(crate) fn slow_cursor(position: u128, epoch: u128, skipped: u128, end: u128) -> SlowCursor {
    let span = Span {
        origin: end.saturating_sub(epoch).min(position),
        start: position,
        end,
        epoch,
        skipped,
    };
    SlowCursor {
        position,
        epoch,
        skipped,
        rest: (position < end).then_some(span),
    }
}

pub(crate) fn rest_of(state: &StreamState) -> Span {
    let (start, end) = (u128::from(state.position), u128::from(state.window_end));
    Span {
        origin: end.saturating_sub(state.epoch_length.into()).min(start),
        start,
        end,
        epoch: state.epoch_length.into(),
        skipped: state.skipped.into(),
    }
}

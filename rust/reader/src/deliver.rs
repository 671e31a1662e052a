//! The iterator of one window: draws in plan order.
//!
//! Owns what is delivered next and what has been delivered. Must not look at the dataset again. Invariant: draws leave in the order of their positions; a draw that
//! fails takes its own place, and the one after it can still be had.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use dataset_rt_format::ErrorKind;
use dataset_rt_pool::PoolError;
use dataset_rt_sampler::{StreamState, WindowProgress};

use crate::coming::Coming;
use crate::config::OnCorrupt;
use crate::error::ReaderError;
use crate::fetch::{PayloadSink, Undelivered, fetch};
use crate::lengths::LengthWatch;
use crate::plan::{PlannedDraw, Planner};
use crate::schedule::{FetchedBlock, Prefetch};
use crate::stats::Tally;
use crate::window::ClaimedWindow;

mod blocks;
mod fetching;
mod look_ahead;

use blocks::PLAN_DRAWS;
use fetching::is_gone;
pub(crate) use look_ahead::Mark;

/// Draws of an iterator's first block. Each draw of a block may touch, and check, an index block that nobody looked at yet: the first sample must not wait for
/// hundreds of them.
const FIRST_DRAWS: u64 = 1;

/// What has to happen before the next draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Nothing: [`SampleIterator::deliver`] won't wait for the pool.
    Ready,
    /// [`SampleIterator::wait`], for a block that the pool reads or the order of a cycle.
    Waiting,
    /// The window is over.
    Ended,
}

/// A draw and its payload.
#[derive(Debug)]
pub struct Delivered<P> {
    /// The draw.
    pub draw: PlannedDraw,
    /// Its payload, as the sink made it.
    pub payload: P,
}

/// What became of one draw.
pub type Delivery<S> =
    Result<Delivered<<S as PayloadSink>::Payload>, Undelivered<<S as PayloadSink>::Error>>;

/// How a run of planned draws is read.
#[derive(Debug)]
enum Reading {
    Inline,
    Submitted,
    Fetched(FetchedBlock),
    Failed(PoolError),
}

/// Planned draws that are read in one way.
#[derive(Debug)]
struct Segment {
    draws: Vec<PlannedDraw>,
    next: usize,
    reading: Reading,
    is_cold: bool,
}

/// The draws of one window, in order.
///
/// # Guarantees
/// Nothing but snapshot and window decides what is delivered. Dropping it cancels what is read ahead and waits for nothing.
#[derive(Debug)]
pub struct SampleIterator {
    window: ClaimedWindow,
    progress: WindowProgress,
    stop: u64,
    planner: Planner,
    prefetch: Prefetch,
    /// What is fetched ahead, where caches come from URLs.
    coming: Option<Box<Coming>>,
    lengths: LengthWatch,
    /// Of index and metadata files alone.
    index_lengths: LengthWatch,
    segments: VecDeque<Segment>,
    /// Local draws up to this one are in `segments` or delivered.
    planned: u64,
    /// Draws of the next block that is read inline.
    block_draws: u64,
    /// Blocks in a row whose pages were in memory.
    warm_blocks: u32,
    skipped_corrupt: u64,
    tally: Tally,
}

impl SampleIterator {
    /// Iterates over a claimed window.
    #[must_use]
    pub fn new(window: ClaimedWindow) -> Self {
        let stop = window.draws();
        Self::over(window, 0, stop)
    }

    /// Iterates over the local draws `start..stop`, which the caller has checked to exist.
    pub(crate) fn over(window: ClaimedWindow, start: u64, stop: u64) -> Self {
        let snapshot = window.snapshot();
        let mut progress = window.progress();
        progress.advance(start);
        Self {
            progress,
            stop,
            planner: Planner::new(snapshot),
            prefetch: Prefetch::new(snapshot, window.pool()),
            coming: Coming::of(&window, start),
            lengths: LengthWatch::default(),
            index_lengths: LengthWatch::default(),
            segments: VecDeque::new(),
            planned: start,
            block_draws: FIRST_DRAWS,
            warm_blocks: 0,
            skipped_corrupt: 0,
            tally: Tally::new(snapshot.caches().counters()),
            window,
        }
    }

    /// The same for a consumer that takes nothing before it has all of them: the first block is no shorter than later ones.
    pub(crate) fn over_unit(window: ClaimedWindow, start: u64, stop: u64) -> Self {
        Self {
            block_draws: PLAN_DRAWS,
            ..Self::over(window, start, stop)
        }
    }

    /// The window it iterates over.
    #[must_use]
    pub fn window(&self) -> &ClaimedWindow {
        &self.window
    }

    /// Position of the next draw to be delivered; of this part's window, see [`WindowProgress::position`].
    #[must_use]
    pub fn position(&self) -> u64 {
        self.progress.position()
    }

    /// Draws left.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.stop.saturating_sub(self.progress.delivered())
    }

    /// Damaged draws left out so far.
    #[must_use]
    pub fn skipped_corrupt(&self) -> u64 {
        self.skipped_corrupt
    }

    /// What resumes the stream behind the last delivered draw.
    #[must_use]
    pub fn state(&self) -> StreamState {
        StreamState::of_window(self.window.snapshot().key(), &self.progress)
    }

    /// Continues with the rest of the window that a state was saved in.
    ///
    /// # Errors
    /// [`SamplerError::StateMismatch`](dataset_rt_sampler::SamplerError::StateMismatch) and its like; nothing has changed then.
    pub fn load_state(&mut self, state: &StreamState) -> Result<(), ReaderError> {
        let window = state.window(&self.window.snapshot().key())?;
        let claimed = ClaimedWindow::new(
            self.window.snapshot().clone(),
            self.window.pool().clone(),
            window,
            self.window.partition(),
        );
        *self = Self::new(claimed);
        Ok(())
    }

    /// Passes over `draws` draws, at most to the window's end.
    pub fn skip(&mut self, draws: u64) {
        self.progress.skip(draws.min(self.remaining()));
        self.planned = self.progress.delivered();
        self.segments.clear();
        self.prefetch.reset();
    }

    /// Plans ahead and submits reads; never waits.
    ///
    /// # Errors
    /// What the sampler or the pool answers; nothing was delivered then, and the call may be repeated.
    pub fn prepare(&mut self) -> Result<Readiness, ReaderError> {
        while self
            .segments
            .front()
            .is_some_and(|segment| segment.next >= segment.draws.len())
        {
            self.segments.pop_front();
        }
        if self.segments.is_empty() && self.planned < self.stop {
            if !self.planner.is_ready(&self.progress, self.planned) {
                return Ok(Readiness::Waiting);
            }
            self.plan_block()?;
        }
        while self.reads_ahead()
            && !self.prefetch.is_full()
            && self.planned < self.stop
            && self.planner.is_ready(&self.progress, self.planned)
        {
            self.plan_block()?;
        }
        Ok(match self.segments.front() {
            None => {
                if self.stop == self.progress.draws() {
                    self.progress.finish();
                }
                Readiness::Ended
            }
            Some(Segment {
                reading: Reading::Submitted,
                ..
            }) => Readiness::Waiting,
            Some(_) => Readiness::Ready,
        })
    }

    /// Waits at most `timeout` for the block that comes next; says whether it is there. Where a cycle of draws begins, makes its order first, however long
    /// that takes.
    ///
    /// # Errors
    /// What the sampler finds; [`PoolError`] when a forked child could not submit again what its parent had submitted.
    pub fn wait(&mut self, timeout: Duration) -> Result<bool, ReaderError> {
        let Some(front) = self.segments.front_mut() else {
            self.planner.prepare(&self.progress, self.planned)?;
            return Ok(true);
        };
        if !matches!(front.reading, Reading::Submitted) {
            return Ok(true);
        }
        let begun = Instant::now();
        let taken = self.prefetch.take(timeout);
        self.tally.wait(begun.elapsed());
        front.reading = match taken {
            None => return Ok(false),
            Some(Err(PoolError::LostInFork)) => {
                self.submit_again()?;
                return Ok(false);
            }
            Some(Ok(mut block)) => {
                self.tally.decode(block.take_decode_time());
                Reading::Fetched(block)
            }
            Some(Err(error)) => Reading::Failed(error),
        };
        Ok(true)
    }

    /// Delivers the next draw; `None` when [`prepare`](Self::prepare) has to be asked again.
    ///
    /// # Errors
    /// What reading that draw found, or what the sink answers. The draw's position is used up either way.
    pub fn deliver<S: PayloadSink>(&mut self, sink: &mut S) -> Option<Delivery<S>> {
        self.deliver_looked(sink, false)
    }

    /// The same; `is_looked` spares the look at the draw's files, which the caller had within some microseconds.
    #[inline]
    pub(crate) fn deliver_looked<S: PayloadSink>(
        &mut self,
        sink: &mut S,
        is_looked: bool,
    ) -> Option<Delivery<S>> {
        loop {
            let segment = self.segments.front_mut()?;
            if matches!(segment.reading, Reading::Submitted) {
                return None;
            }
            let draw = *segment.draws.get(segment.next)?;
            let snapshot = self.window.snapshot();
            let is_cold = segment.is_cold;
            let mut decode_time = Duration::ZERO;
            let outcome = match &mut segment.reading {
                Reading::Submitted => return None,
                Reading::Inline => {
                    let coming = segment.draws.get(segment.next..).unwrap_or_default();
                    let look = match is_looked {
                        true => Ok(()),
                        false => self.lengths.look(snapshot.caches(), coming, &draw),
                    };
                    look.map_err(Undelivered::Read).and_then(|()| {
                        fetch(
                            snapshot.caches(),
                            &draw,
                            coming.get(1),
                            snapshot.options().verifies_records,
                            sink,
                            &mut decode_time,
                        )
                    })
                }
                Reading::Fetched(block) => match block.take(segment.next) {
                    Ok(payload) => sink.copy(&payload).map_err(Undelivered::Sink),
                    Err(error) => Err(Undelivered::Read(error)),
                },
                Reading::Failed(error) => Err(Undelivered::Read(error.clone().into())),
            };
            if let Err(Undelivered::Read(error)) = &outcome
                && matches!(segment.reading, Reading::Inline)
                && is_gone(self.coming.as_deref(), &draw, error)
            {
                return match self.read_next_on_pool() {
                    Ok(()) => None,
                    Err(error) => Some(Err(Undelivered::Read(error.into()))),
                };
            }
            segment.next += 1;
            self.progress.advance(1);
            self.tally.decode(decode_time);
            match outcome {
                Err(Undelivered::Read(error))
                    if snapshot.options().on_corrupt == OnCorrupt::Skip
                        && error.kind() == ErrorKind::Corrupt =>
                {
                    self.skipped_corrupt += 1;
                    self.tally.skip();
                }
                Ok(payload) => {
                    let is_checked = snapshot.checks_records_of(draw.cache);
                    let bytes = sink.bytes(&payload).len();
                    self.tally.read(is_cold, is_checked, bytes);
                    return Some(Ok(Delivered { draw, payload }));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

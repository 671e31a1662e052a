//! Batches: the draws of a window, many at once, their payloads back to back in one buffer.
//!
//! Owns where a batch ends, and what becomes of one that can't be completed. Must not choose or order draws: the iterator below does. Invariant: the draws of all batches
//! are those that single reads deliver, in the same order; a draw is used up when its batch is handed out, or its own error.

use dataset_rt_format::ErrorKind;
use dataset_rt_sampler::StreamState;
use dataset_rt_storage::StorageError;
use dataset_rt_storage::memory::{reserve, reserved};

use crate::deliver::{Mark, Readiness, SampleIterator};
use crate::error::ReaderError;
use crate::fetch::{Undelivered, VecSink, cache_of};
use crate::plan::PlannedDraw;
use crate::window::ClaimedWindow;

mod fill;
mod sink;

use fill::{Draft, Outcome, fill};
pub use sink::{BatchSink, VecBatchSink};

/// Payload bytes of a batch from which on filling it takes longer than letting others run meanwhile.
const LONG_BYTES: usize = 1024 * 1024;

/// Draws from which on the same holds, however short they are.
const LONG_DRAWS: u64 = 16 * 1024;

/// Draws and their payloads.
#[derive(Debug)]
pub struct Batch<D> {
    /// The draws, at least one, in the order of their positions.
    pub draws: Vec<PlannedDraw>,
    /// Where each payload begins, and where the last one ends.
    pub offsets: Vec<usize>,
    /// All payloads, back to back.
    pub data: D,
}

/// The draws of one window in batches.
#[derive(Debug)]
pub struct BatchIterator {
    samples: SampleIterator,
    size: u64,
    drops_last: bool,
    /// A draw that fails takes the place of its whole batch.
    is_whole: bool,
}

/// How many draws a batch has, and what happens to a last one with fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchShape {
    size: u64,
    drops_last: bool,
}

impl BatchShape {
    /// Batches of `size` draws; with `drops_last` draws that make no full batch at the window's end are passed over.
    ///
    /// # Errors
    /// [`ReaderError::InvalidOption`] for a size of 0.
    pub fn new(size: u64, drops_last: bool) -> Result<Self, ReaderError> {
        if size == 0 {
            return Err(ReaderError::InvalidOption {
                option: "batch_size",
                found: "0".to_owned(),
                expected: "at least 1",
            });
        }
        Ok(Self { size, drops_last })
    }
}

impl BatchIterator {
    /// Iterates over a claimed window.
    #[must_use]
    pub fn new(window: ClaimedWindow, shape: BatchShape) -> Self {
        Self {
            samples: SampleIterator::new(window),
            size: shape.size,
            drops_last: shape.drops_last,
            is_whole: false,
        }
    }

    /// All draws of an iterator as one batch, which a draw that fails takes the place of: a unit of work of another process.
    pub(crate) fn whole(samples: SampleIterator) -> Self {
        Self {
            size: samples.remaining(),
            samples,
            drops_last: false,
            is_whole: true,
        }
    }

    /// The window it iterates over.
    #[must_use]
    pub fn window(&self) -> &ClaimedWindow {
        self.samples.window()
    }

    /// Position of the next draw to be delivered, as [`SampleIterator::position`].
    #[must_use]
    pub fn position(&self) -> u64 {
        self.samples.position()
    }

    /// Batches left, if no draw fails.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        let draws = self.samples.remaining();
        match self.drops_last {
            true => draws / self.size,
            false => draws.div_ceil(self.size),
        }
    }

    /// What resumes the stream behind the last delivered batch.
    #[must_use]
    pub fn state(&self) -> StreamState {
        self.samples.state()
    }

    /// As [`SampleIterator::load_state`].
    ///
    /// # Errors
    /// As there.
    pub fn load_state(&mut self, state: &StreamState) -> Result<(), ReaderError> {
        self.samples.load_state(state)
    }

    /// Passes over `draws` draws, at most to the window's end.
    pub fn skip(&mut self, draws: u64) {
        self.samples.skip(draws);
    }

    /// Whether planning a batch takes longer than letting others run meanwhile: it has very many draws, or its index is read and not mapped.
    #[must_use]
    pub fn is_long(&self) -> bool {
        let options = self.window().snapshot().options();
        !options.is_mapped || self.size.min(self.samples.remaining()) >= LONG_DRAWS
    }

    /// The next batch; `None` at the window's end.
    ///
    /// # Errors
    /// A draw's own error when the draw is the next one: its position is used up. Anything else, an interrupted wait or memory that is not there, uses up nothing.
    ///
    /// # Guarantees
    /// A batch ends before a draw that fails, and at the window's end; it is full otherwise, also where damaged draws are left out. The end of the window is noted with
    /// the batch that is not full, so that parts of it that have had equally many batches are at one position.
    pub fn next_batch<S: BatchSink>(
        &mut self,
        sink: &mut S,
    ) -> Result<Option<Batch<S::Data>>, S::Error> {
        let mark = self.samples.mark();
        let batch = self.assemble(mark, sink);
        if let Err(Unassembled::Aborted(_)) = &batch {
            self.samples.return_to(mark);
        }
        batch.map_err(|error| match error {
            Unassembled::Draw(error) => error.into(),
            Unassembled::Aborted(error) => error,
        })
    }

    fn assemble<S: BatchSink>(
        &mut self,
        mark: Mark,
        sink: &mut S,
    ) -> Result<Option<Batch<S::Data>>, Unassembled<S::Error>> {
        let left = self.samples.remaining();
        if left == 0 || (self.drops_last && left < self.size) {
            self.samples.finish();
            return Ok(None);
        }
        let wanted = usize::try_from(self.size.min(left)).unwrap_or(usize::MAX);
        let mut draft = Draft {
            wanted,
            draws: room_for(wanted)?,
            offsets: room_for(wanted.saturating_add(1))?,
        };
        draft.offsets.push(0);
        // Payloads of this batch that no longer fitted the memory they were read into.
        let mut moved = Vec::new();
        loop {
            let mut waits = false;
            while self.samples.prepare().map_err(aborted)? == Readiness::Waiting {
                waits = true;
                S::wait(&mut self.samples).map_err(Unassembled::Aborted)?;
            }
            let room = self.room(&draft).map_err(aborted)?;
            let bytes = moved.len().saturating_add(room);
            let is_long = waits || self.is_long() || bytes >= LONG_BYTES;
            let mut outcome = Outcome::Complete;
            let mut data = sink
                .make(bytes, is_long, &mut |out| {
                    if let Some(start) = out.get_mut(..moved.len()) {
                        start.copy_from_slice(&moved);
                    }
                    outcome = fill::<S>(&mut self.samples, &mut draft, out);
                    if matches!(outcome, Outcome::Full) {
                        let used = out.get(..draft.used()).unwrap_or_default();
                        moved.clear();
                        match reserve(&mut moved, used.len()) {
                            Ok(()) => moved.extend_from_slice(used),
                            Err(error) => outcome = Outcome::Aborted(short(error)),
                        }
                    }
                })
                .map_err(Unassembled::Aborted)?;
            match outcome {
                Outcome::Complete => {}
                Outcome::Aborted(error) => return Err(Unassembled::Aborted(error)),
                Outcome::Failed(error) if self.is_whole || draft.draws.is_empty() => {
                    return Err(Unassembled::Draw(error));
                }
                Outcome::Failed(_) => self.samples.return_last(mark),
                Outcome::Full => {
                    self.samples.return_last(mark);
                    if self.read_alone(S::wait, mark, &mut draft, &mut moved)? {
                        continue;
                    }
                }
            }
            let is_full = draft.draws.len() as u64 >= self.size;
            if !is_full && self.samples.remaining() == 0 {
                self.samples.finish();
                if self.drops_last || draft.draws.is_empty() {
                    return Ok(None);
                }
            }
            if draft.used() < bytes {
                sink.shorten(&mut data, draft.used())
                    .map_err(Unassembled::Aborted)?;
            }
            return Ok(Some(Batch {
                draws: draft.draws,
                offsets: draft.offsets,
                data,
            }));
        }
    }

    /// Payload bytes of the next batch as the index has them, of its draws that can be planned without waiting; nothing is read.
    ///
    /// # Errors
    /// What the sampler answers.
    pub fn expected_bytes(&mut self) -> Result<usize, ReaderError> {
        self.bytes_of_next(self.size)
    }

    /// Bytes to reserve for the draws that are missing.
    fn room(&mut self, draft: &Draft) -> Result<usize, ReaderError> {
        let missing = draft.wanted.saturating_sub(draft.draws.len());
        self.bytes_of_next(missing as u64)
    }

    fn bytes_of_next(&mut self, draws: u64) -> Result<usize, ReaderError> {
        let draws = self.samples.upcoming(draws)?;
        if !self.samples.have_indexes(&draws) {
            return Ok(0); // each draw then looks for itself, and has a buffer of its own
        }
        let caches = self.samples.window().snapshot().caches();
        // A row that can't be read is an error of its draw: it comes when that is read.
        let bytes = draws
            .iter()
            .filter_map(|draw| {
                let cache = cache_of(caches, draw).ok()?;
                match cache.plain_record(draw.sample) {
                    Some(record) => Some(record.stored.len() as u64),
                    None => Some(u64::from(cache.index_row(draw.sample).ok()?.raw_bytes)),
                }
            })
            .sum::<u64>();
        Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// Reads the next draw by itself, whatever size was expected of it; false when it failed and ends the batch.
    fn read_alone<E: From<ReaderError>>(
        &mut self,
        wait: impl Fn(&mut SampleIterator) -> Result<bool, E>,
        mark: Mark,
        draft: &mut Draft,
        moved: &mut Vec<u8>,
    ) -> Result<bool, Unassembled<E>> {
        loop {
            match self.samples.deliver(&mut VecSink) {
                None => match self.samples.prepare().map_err(aborted)? {
                    Readiness::Ready => {}
                    Readiness::Ended => return Ok(true),
                    Readiness::Waiting => {
                        wait(&mut self.samples).map_err(Unassembled::Aborted)?;
                    }
                },
                Some(Ok(delivered)) => {
                    reserve(moved, delivered.payload.len())
                        .map_err(|error| Unassembled::Aborted(short(error)))?;
                    moved.extend_from_slice(&delivered.payload);
                    draft.push(delivered.draw, moved.len());
                    return Ok(true);
                }
                Some(Err(Undelivered::Read(error) | Undelivered::Sink(error)))
                    if error.kind() == ErrorKind::OutOfMemory =>
                {
                    return Err(aborted(error));
                }
                Some(Err(Undelivered::Read(error) | Undelivered::Sink(error)))
                    if self.is_whole || draft.draws.is_empty() =>
                {
                    return Err(Unassembled::Draw(error));
                }
                Some(Err(_)) => {
                    self.samples.return_last(mark);
                    return Ok(false);
                }
            }
        }
    }
}

/// Why there is no batch.
enum Unassembled<E> {
    /// Its first draw failed.
    Draw(ReaderError),
    /// Something that is not a draw's failed.
    Aborted(E),
}

/// Short memory as the consumer's error.
fn short<E: From<ReaderError>>(error: StorageError) -> E {
    ReaderError::from(error).into()
}

fn room_for<T, E: From<ReaderError>>(items: usize) -> Result<Vec<T>, Unassembled<E>> {
    reserved(items).map_err(|error| Unassembled::Aborted(short(error)))
}

fn aborted<E: From<ReaderError>>(error: ReaderError) -> Unassembled<E> {
    Unassembled::Aborted(error.into())
}

#[cfg(test)]
mod tests;

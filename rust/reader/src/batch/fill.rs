//! The filling of one buffer with draws.
//!
//! Owns the loop over draws, and how often it looks up from them: at the lengths of files, and at the consumer. Must not decide what becomes of a draw that fails.
//! Invariant: the draft's offsets are those of whole, checked payloads in the buffer.

use dataset_rt_format::ErrorKind;

use crate::deliver::{Readiness, SampleIterator};
use crate::error::ReaderError;
use crate::fetch::Undelivered;
use crate::plan::PlannedDraw;

use super::sink::{BatchSink, Full, SliceSink};

/// Bytes that are copied between two looks at the lengths of files; each draw counts as [`DRAW_BYTES`] more.
const TRUSTED_BYTES: usize = 64 * 1024;

/// Bytes between two looks of a fill at whether the consumer still wants it, counted alike.
const LOOK_BYTES: usize = 64 * 1024 * 1024;

/// What a draw costs beside its bytes, in bytes.
const DRAW_BYTES: usize = 1024;

/// What filling came to.
pub(super) enum Outcome<E> {
    /// As many draws as were wanted, or as the window had.
    Complete,
    /// The next draw's payload does not fit what was reserved.
    Full,
    /// The next draw failed.
    Failed(ReaderError),
    /// Something that is not a draw's failed.
    Aborted(E),
}

/// A batch in the making.
pub(super) struct Draft {
    pub(super) wanted: usize,
    pub(super) draws: Vec<PlannedDraw>,
    pub(super) offsets: Vec<usize>,
}

impl Draft {
    pub(super) fn used(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    pub(super) fn push(&mut self, draw: PlannedDraw, end: usize) {
        self.draws.push(draw);
        self.offsets.push(end);
    }
}

/// Reads draws into `out`, behind those of the draft.
pub(super) fn fill<S: BatchSink>(
    samples: &mut SampleIterator,
    draft: &mut Draft,
    out: &mut [u8],
) -> Outcome<S::Error> {
    let mut sink = SliceSink {
        used: draft.used(),
        out,
    };
    let (mut unseen_bytes, mut trusted_bytes) = (0, 0);
    while draft.draws.len() < draft.wanted {
        let is_looked = trusted_bytes > 0;
        match samples.deliver_looked(&mut sink, is_looked) {
            Some(Ok(delivered)) => {
                let bytes = delivered.payload.len() + DRAW_BYTES;
                unseen_bytes += bytes;
                let trusted = if is_looked {
                    trusted_bytes
                } else {
                    TRUSTED_BYTES
                };
                trusted_bytes = trusted.saturating_sub(bytes);
                sink.used = delivered.payload.end;
                draft.push(delivered.draw, sink.used);
                if unseen_bytes >= LOOK_BYTES {
                    unseen_bytes = 0;
                    if let Err(error) = S::wait(samples) {
                        return Outcome::Aborted(error);
                    }
                }
            }
            // Short memory says nothing about the draw.
            Some(Err(Undelivered::Read(error))) if error.kind() == ErrorKind::OutOfMemory => {
                return Outcome::Aborted(error.into());
            }
            Some(Err(Undelivered::Read(error))) => return Outcome::Failed(error),
            Some(Err(Undelivered::Sink(Full))) => return Outcome::Full,
            None => {
                trusted_bytes = 0;
                match samples.prepare() {
                    Ok(Readiness::Ready) => {}
                    Ok(Readiness::Ended) => break,
                    Ok(Readiness::Waiting) => {
                        if let Err(error) = S::wait(samples) {
                            return Outcome::Aborted(error);
                        }
                    }
                    Err(error) => return Outcome::Aborted(error.into()),
                }
            }
        }
    }
    Outcome::Complete
}

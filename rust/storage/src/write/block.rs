//! A run of consecutive samples that is encoded as one task.
//!
//! Owns: the payloads of a run and, after encoding, its records back to back. Must not: know shards or files; the place
//! of a record is decided where blocks are committed in order.
//! Invariant: the encoded bytes depend on payloads, compression and first sample alone.
//! Format text: `FORMAT.md`, "Records".

use std::io::IoSlice;
use std::ops::Range;

use dataset_rt_format::{Codec, Compression, FormatError, RecordHead, SampleId, encode_record};

use super::progress::{Stage, WriteProgress};

/// A block is closed when its payloads reach this many bytes.
const FULL_BYTES: u64 = 256 * 1024;
/// A block is closed when it has this many samples.
const FULL_SAMPLES: usize = 1024;
/// A payload up to this many bytes is copied when it comes in; keeping hold of its owner would cost more.
const COPIED_BYTES: usize = 4096;
/// Buffers that a large record made longer than this are not kept for the next block.
const KEPT_BUFFER_BYTES: usize = 1024 * 1024;

/// Where bytes of a block stand.
enum Place {
    /// A range of the block's buffer.
    Buffer(Range<usize>),
    /// A payload that the source still owns, by its number among those.
    Held(usize),
}

/// Payloads of consecutive samples, then their records.
pub(super) struct Block<P> {
    first_sample: u64,
    payload_bytes: u64,
    /// Where the payloads are, then where the records are; one for each sample.
    places: Vec<Place>,
    buffer: Vec<u8>,
    held: Vec<P>,
    heads: Vec<RecordHead>,
    scratch: Vec<u8>,
}

impl<P> Default for Block<P> {
    fn default() -> Self {
        Self {
            first_sample: 0,
            payload_bytes: 0,
            places: Vec::new(),
            buffer: Vec::new(),
            held: Vec::new(),
            heads: Vec::new(),
            scratch: Vec::new(),
        }
    }
}

impl<P: AsRef<[u8]>> Block<P> {
    /// Empties a committed block for its next use, keeping its buffers. Drops the payloads still held.
    pub(super) fn restart_at(&mut self, first_sample: u64) {
        self.first_sample = first_sample;
        self.payload_bytes = 0;
        self.places.clear();
        self.held.clear();
        self.heads.clear();
        self.buffer.clear();
        for buffer in [&mut self.buffer, &mut self.scratch] {
            if buffer.capacity() > KEPT_BUFFER_BYTES {
                *buffer = Vec::new();
            }
        }
    }

    /// Adds the payload of the next sample.
    pub(super) fn push(&mut self, payload: P) {
        let bytes = payload.as_ref();
        self.payload_bytes += bytes.len() as u64;
        if bytes.len() <= COPIED_BYTES {
            self.places.push(append(&mut self.buffer, bytes));
        } else {
            self.places.push(Place::Held(self.held.len()));
            self.held.push(payload);
        }
    }

    /// Says whether the block is to be encoded before another sample is added.
    pub(super) fn is_full(&self) -> bool {
        self.payload_bytes >= FULL_BYTES || self.places.len() >= FULL_SAMPLES
    }

    /// Number of samples.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn first_sample(&self) -> u64 {
        self.first_sample
    }

    pub(super) fn payload_bytes(&self) -> u64 {
        self.payload_bytes
    }

    /// Turns the payloads into records.
    ///
    /// # Errors
    /// [`FormatError::PayloadTooLarge`] with the sample.
    ///
    /// # Cost
    /// One hash pass; with compression also one pass of the codec and a copy of what it made.
    pub(super) fn encode(&mut self, compression: Compression) -> Result<(), FormatError> {
        self.heads.reserve(self.places.len());
        let mut scratch = std::mem::take(&mut self.scratch);
        for (sample, number) in (self.first_sample..).zip(0..self.places.len()) {
            let payload = self.bytes(number);
            let head = encode_record(payload, compression, SampleId::new(sample), &mut scratch)?;
            // A raw record is the payload, where it is.
            if head.codec != Codec::Raw {
                let record = append(&mut self.buffer, head.stored(&[], &scratch));
                if let Some(place) = self.places.get_mut(number) {
                    *place = record;
                }
            }
            self.heads.push(head);
        }
        self.scratch = scratch;
        Ok(())
    }

    /// Heads of the records, in sample order.
    pub(super) fn heads(&self) -> &[RecordHead] {
        &self.heads
    }

    /// The bytes of consecutive records, in as few pieces as they stand in memory.
    pub(super) fn pieces(&self, records: Range<usize>) -> Vec<IoSlice<'_>> {
        let mut pieces = Vec::new();
        let mut joined = 0..0;
        for place in self.places.get(records).unwrap_or_default() {
            match place {
                Place::Buffer(range) if range.start == joined.end => joined.end = range.end,
                Place::Buffer(range) => {
                    pieces.push(IoSlice::new(self.buffer(&joined)));
                    joined = range.clone();
                }
                Place::Held(number) => {
                    pieces.push(IoSlice::new(self.buffer(&joined)));
                    joined = 0..0;
                    pieces.push(IoSlice::new(self.held(*number)));
                }
            }
        }
        pieces.push(IoSlice::new(self.buffer(&joined)));
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    fn bytes(&self, number: usize) -> &[u8] {
        match self.places.get(number) {
            Some(Place::Buffer(range)) => self.buffer(range),
            Some(Place::Held(number)) => self.held(*number),
            None => &[],
        }
    }

    fn buffer(&self, range: &Range<usize>) -> &[u8] {
        self.buffer.get(range.clone()).unwrap_or_default()
    }

    fn held(&self, number: usize) -> &[u8] {
        self.held.get(number).map(AsRef::as_ref).unwrap_or_default()
    }
}

fn append(buffer: &mut Vec<u8>, bytes: &[u8]) -> Place {
    let start = buffer.len();
    buffer.extend_from_slice(bytes);
    Place::Buffer(start..buffer.len())
}

/// Encodes a block and counts the time.
pub(super) fn encode_timed<P: AsRef<[u8]>>(
    mut block: Block<P>,
    compression: Compression,
    progress: &WriteProgress,
) -> (Block<P>, Result<(), FormatError>) {
    let stage = match compression {
        Compression::None => Stage::Record,
        Compression::Lz4 => Stage::Compression,
    };
    let outcome = progress.time(stage, || block.encode(compression));
    (block, outcome)
}

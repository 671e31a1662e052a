//! A run of consecutive samples that is encoded as one task.
//!
//! Owns: the payloads of a run and, after encoding, its records back to back. Must not: know shards or files; the place
//! of a record is decided where blocks are committed in order.
//! Invariant: the encoded bytes depend on payloads, compression and first sample alone.
//! Format text: `FORMAT.md`, "Records".

use dataset_rt_format::{Compression, FormatError, RecordHead, SampleId, encode_record};

use super::progress::{Stage, WriteProgress};

/// A block is closed when its payloads reach this many bytes.
const FULL_BYTES: u64 = 256 * 1024;
/// A block is closed when it has this many samples.
const FULL_SAMPLES: usize = 1024;
/// A payload up to this many bytes is copied when it comes in; keeping hold of its owner would cost more.
const COPIED_BYTES: usize = 4096;
/// Buffers that a large record made longer than this are not kept for the next block.
const KEPT_BUFFER_BYTES: usize = 1024 * 1024;

enum Payload<P> {
    /// The next bytes of the block's buffer.
    Copied { bytes: usize },
    /// Bytes that the source still owns.
    Held(P),
}

/// Payloads of consecutive samples, then their records.
pub(super) struct Block<P> {
    first_sample: u64,
    payloads: Vec<Payload<P>>,
    payload_bytes: u64,
    copied: Vec<u8>,
    heads: Vec<RecordHead>,
    encoded: Vec<u8>,
    scratch: Vec<u8>,
}

impl<P> Default for Block<P> {
    fn default() -> Self {
        Self {
            first_sample: 0,
            payloads: Vec::new(),
            payload_bytes: 0,
            copied: Vec::new(),
            heads: Vec::new(),
            encoded: Vec::new(),
            scratch: Vec::new(),
        }
    }
}

impl<P: AsRef<[u8]>> Block<P> {
    /// Empties a committed block for its next use, keeping its buffers. Drops the payloads still held.
    pub(super) fn restart_at(&mut self, first_sample: u64) {
        self.first_sample = first_sample;
        self.payload_bytes = 0;
        self.payloads.clear();
        self.heads.clear();
        for buffer in [&mut self.copied, &mut self.encoded, &mut self.scratch] {
            buffer.clear();
            buffer.shrink_to(KEPT_BUFFER_BYTES);
        }
    }

    /// Adds the payload of the next sample.
    pub(super) fn push(&mut self, payload: P) {
        let bytes = payload.as_ref();
        self.payload_bytes += bytes.len() as u64;
        if bytes.len() <= COPIED_BYTES {
            self.copied.extend_from_slice(bytes);
            self.payloads.push(Payload::Copied { bytes: bytes.len() });
        } else {
            self.payloads.push(Payload::Held(payload));
        }
    }

    /// Says whether the block is to be encoded before another sample is added.
    pub(super) fn is_full(&self) -> bool {
        self.payload_bytes >= FULL_BYTES || self.payloads.len() >= FULL_SAMPLES
    }

    /// Number of samples.
    pub(super) fn len(&self) -> usize {
        self.payloads.len()
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
    /// One hash pass and at most one copy; with compression one pass of the codec.
    pub(super) fn encode(&mut self, compression: Compression) -> Result<(), FormatError> {
        self.heads.reserve(self.payloads.len());
        let stays_in_place = self.stays_in_place(compression);
        let mut copied = self.copied.as_slice();
        for (sample, payload) in (self.first_sample..).zip(&self.payloads) {
            let bytes = match payload {
                Payload::Copied { bytes } => {
                    let (head, rest) = copied.split_at_checked(*bytes).unwrap_or((copied, &[]));
                    copied = rest;
                    head
                }
                Payload::Held(owner) => owner.as_ref(),
            };
            let head = encode_record(bytes, compression, SampleId::new(sample), &mut self.scratch)?;
            if !stays_in_place {
                self.encoded
                    .extend_from_slice(head.stored(bytes, &self.scratch));
            }
            self.heads.push(head);
        }
        Ok(())
    }

    /// Heads of the records, in sample order.
    pub(super) fn heads(&self) -> &[RecordHead] {
        &self.heads
    }

    /// The records, back to back.
    pub(super) fn records(&self, compression: Compression) -> &[u8] {
        if self.stays_in_place(compression) {
            &self.copied
        } else {
            &self.encoded
        }
    }

    /// Without compression, payloads that were all copied are the records already.
    fn stays_in_place(&self, compression: Compression) -> bool {
        compression == Compression::None && self.copied.len() as u64 == self.payload_bytes
    }
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

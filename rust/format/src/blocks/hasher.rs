//! Block checksums of a file that is written in pieces.
//!
//! Owns the cutting into 64 KiB blocks. Must not keep more than one block in memory. Invariant: the sums do
//! not depend on how the file was cut into pieces. Format text: `FORMAT.md`, "blocks.bin".

use crate::checksum::block_checksum;
use crate::limits::BLOCK_BYTES;

const BLOCK: usize = 65_536;
const _: () = assert!(BLOCK as u64 == BLOCK_BYTES);

/// Length of a file and the XXH3-64 of each of its blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockSums {
    pub(super) bytes: u64,
    pub(super) sums: Vec<u64>,
}

impl BlockSums {
    /// Sums of a file held in memory.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = BlockHasher::new();
        hasher.update(bytes);
        hasher.finish()
    }
}

/// Running block checksums.
#[derive(Debug, Default)]
pub struct BlockHasher {
    pending: Vec<u8>,
    done: BlockSums,
}

impl BlockHasher {
    /// A hasher that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next bytes of the file.
    pub fn update(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        self.done.bytes += bytes.len() as u64;
        if !self.pending.is_empty() {
            let wanted = (BLOCK - self.pending.len()).min(rest.len());
            let (head, tail) = rest.split_at(wanted);
            self.pending.extend_from_slice(head);
            rest = tail;
            if self.pending.len() < BLOCK {
                return;
            }
            self.done.sums.push(block_checksum(&self.pending).get());
            self.pending.clear();
        }
        let (blocks, tail) = rest.as_chunks::<BLOCK>();
        self.done
            .sums
            .extend(blocks.iter().map(|block| block_checksum(block).get()));
        self.pending.extend_from_slice(tail);
    }

    /// Closes the last, possibly short block.
    pub fn finish(mut self) -> BlockSums {
        if !self.pending.is_empty() {
            self.done.sums.push(block_checksum(&self.pending).get());
        }
        self.done
    }
}

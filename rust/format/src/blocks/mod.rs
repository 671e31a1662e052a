//! `blocks.bin`: checksums of 64 KiB blocks, and the rows at which metadata batches end.

mod decode;
mod hasher;
mod table;

pub use hasher::{BlockHasher, BlockSums};
pub use table::{BlockTable, BlockedFile};

#[cfg(test)]
mod tests;

//! Caches of the original system, read and verified, never written.

mod rows;
mod verify;

pub(crate) use rows::OriginalRows;

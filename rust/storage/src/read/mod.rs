//! Bytes out of an open cache.

mod checked_file;
mod fault;
mod shards;

pub(crate) use checked_file::CheckedFile;
pub(crate) use fault::Fault;
pub(crate) use shards::Shards;

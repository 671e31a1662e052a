//! `manifest.json`: what a cache consists of. Written last; its presence marks a finished cache.

mod decode;
mod digest;
mod encode;
mod model;
mod name;

pub use decode::decode_manifest;
pub use encode::encode_manifest;
pub use model::{FORMAT_NAME, FORMAT_VERSION, Features, Manifest, SourceInfo};
pub use name::check_source_name;

pub(crate) use digest::{ZERO_DIGITS, check_checksum};
pub(crate) use encode::encode_sealed;

#[cfg(test)]
mod tests;

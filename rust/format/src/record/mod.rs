//! Records: a payload, raw or as one LZ4 block, and nothing else.

mod codec;
mod decode;
mod encode;
mod lz4;

pub use codec::{Codec, Compression};
pub use decode::{check_record, decode_record};
pub use encode::{RecordHead, check_payload_bytes, encode_record};

#[cfg(test)]
mod tests;

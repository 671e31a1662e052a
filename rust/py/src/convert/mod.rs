//! Conversions between Python objects and the core's types, one file per kind of value.

pub(crate) mod arrow;
pub(crate) mod buffer;
pub(crate) mod bytes;
pub(crate) mod column;
pub(crate) mod config;
pub(crate) mod integer;
pub(crate) mod location;
pub(crate) mod metadata;
pub(crate) mod sample_object;
pub(crate) mod state;

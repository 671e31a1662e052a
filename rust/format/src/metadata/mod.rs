//! Metadata: typed columns, one value per sample and column, in one Arrow IPC file.

mod batch;
mod encoder;
mod layout;
mod schema;
mod value;

pub use batch::BatchLimits;
pub use encoder::{MetadataEncoder, MetadataTail};
pub use layout::{ByteSource, MetadataLayout, MetadataRow};
pub use schema::{MetadataColumn, MetadataSchema, RESERVED_COLUMNS};
pub use value::{MetadataType, MetadataValue, MetadataValueRef};

#[cfg(test)]
mod tests;

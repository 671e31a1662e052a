//! Reading `metadata.arrow` in place: which bytes hold which value.

mod arrays;
mod batch_header;
mod footer;
mod row;
mod source;
mod table;

pub use row::MetadataRow;
pub use source::ByteSource;
pub use table::MetadataLayout;

#[cfg(test)]
mod tests;

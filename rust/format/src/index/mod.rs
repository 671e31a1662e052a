//! The index: one fixed-width row per sample.

mod audit;
mod row;
mod view;

pub use audit::IndexAudit;
pub use row::{IndexRow, decode_index_row, encode_index_row};
pub use view::IndexView;

#[cfg(test)]
mod tests;

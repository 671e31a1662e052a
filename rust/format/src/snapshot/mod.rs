//! Snapshots: the frozen view that processes of one host share.

mod decode;
mod encode;
mod model;
mod order;
mod table;
mod tables;
#[cfg(test)]
mod tests;

pub use decode::decode_handle;
pub use encode::encode_handle;
pub use model::{
    HANDLE_FILE, RowSampleWidth, SnapshotCache, SnapshotHandle, SnapshotOptions, SnapshotPart,
    SnapshotStore, SnapshotTail, TABLE_FILE, TABLES_FILE,
};
pub use order::{OrderSections, encode_order};
pub use table::{decode_table, encode_table};
pub use tables::{RowSampleEntries, TableSections, encode_tables};

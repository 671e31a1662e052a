//! The files behind a snapshot, for other processes of the host.

mod files;
mod folder;
mod open;
mod orders;
mod store;
mod text;
mod write;

pub use files::SharedFiles;
pub use open::{open_dump, open_shared};
pub(crate) use text::WindowText;
pub use write::dump;

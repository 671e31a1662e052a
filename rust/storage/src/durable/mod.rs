//! Everything that touches the disk: calls, order and durability.
//!
//! Owns: every create, write, read, sync, rename, lock and remove call of the crate, and the seam where tests let them
//! fail or die. Must not: know what the files mean.
//! Invariant: a call that failed is an error with path, operation and errno; nothing here retries or hides one.
//! Format text: `FORMAT.md`, "Publication"; the table of crash points is `docs/durability.md`.

mod dir;
mod disk;
mod fault;
mod file;
pub mod fork;
mod lock;
mod names;
mod private_dir;
mod private_folder;
mod publish;
mod replace;
mod sparse;
mod sweep;

pub use dir::DirHandle;
pub use disk::Disk;
pub use fault::{Event, Faults, Operation, Step};
pub use file::DiskFile;
pub use lock::LockFile;
pub use names::{build_lock_name, private_stem};
pub(crate) use private_dir::acquire_in_folder;
pub use private_dir::{Access, PrivateDir};
pub use private_folder::FolderFault;
pub use publish::{publish_new, publish_over};
pub use replace::replace_file;
pub use sparse::{SparseFile, allocated_bytes_of};
pub use sweep::sweep_dead;

//! The kinds of error that every crate of the core answers with.
//!
//! Owns [`ErrorKind`]. Must not carry fields: those belong to each crate's own error.
//! Invariant: bindings match on kinds alone, never on the text of an error.

/// What a caller can do about an error; the only thing bindings match on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller gave an argument or a setting that can't be used.
    InvalidInput,
    /// Metadata of a source, or a table, breaks a rule.
    InvalidMetadata,
    /// A saved state belongs to another stream.
    StateMismatch,
    /// Something named by the caller does not exist.
    NotFound,
    /// Something to be made exists already.
    AlreadyExists,
    /// Stored bytes are not what was written.
    Corrupt,
    /// Stored bytes are of a version or use features that this build can't read.
    UnsupportedVersion,
    /// The operating system refused an operation.
    Io,
    /// An object store did not give what was asked of it.
    Remote,
    /// There is not as much memory as was asked for.
    OutOfMemory,
    /// The operation was cancelled.
    Cancelled,
    /// A worker thread panicked.
    WorkerPanicked,
    /// A fault of this library.
    Internal,
}

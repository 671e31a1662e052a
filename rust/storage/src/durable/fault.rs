//! The seam between this crate and the operating system.
//!
//! Owns: the names of the operations and of the steps of a publication, and the trait that tests hook in with.
//! Must not: decide anything; without hooks it costs one branch per call.
//! Invariant: each call of `durable` is announced here before it is made, so a test that counts announcements has
//! counted the calls.

use std::fmt;
use std::io;
use std::path::Path;

/// One kind of call to the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Operation {
    /// Make a directory.
    CreateDir,
    /// Open a directory, or read its entries.
    ReadDir,
    /// Make a new file.
    Create,
    /// Open an existing file.
    Open,
    /// Ask for length or existence.
    Stat,
    /// Map a file into memory.
    Map,
    /// Read bytes at an offset.
    Read,
    /// Write bytes.
    Write,
    /// Make a file's bytes durable.
    SyncFile,
    /// Make a directory's entries durable.
    SyncDir,
    /// Give a directory its final name.
    Rename,
    /// Exchange two directories in one step.
    Exchange,
    /// Remove a file.
    RemoveFile,
    /// Remove a directory, with what is in it.
    RemoveDir,
    /// Take a lock.
    Lock,
    /// Give the room of a range of a file back.
    Punch,
}

impl fmt::Display for Operation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::CreateDir => "create directory",
            Self::ReadDir => "read directory",
            Self::Create => "create",
            Self::Open => "open",
            Self::Stat => "stat",
            Self::Map => "map",
            Self::Read => "read",
            Self::Write => "write",
            Self::SyncFile => "sync",
            Self::SyncDir => "sync directory",
            Self::Rename => "rename",
            Self::Exchange => "exchange",
            Self::RemoveFile => "remove",
            Self::RemoveDir => "remove directory",
            Self::Lock => "lock",
            Self::Punch => "punch a hole into",
        })
    }
}

/// A named point in the making of a cache; the rows of `docs/durability.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Step {
    /// The name's build lock is held; nothing is written.
    BuildLocked,
    /// The private directory and its owner lock exist.
    PrivateDirMade,
    /// Some records are in a shard, none of them synced.
    RecordsWritten,
    /// All shards are written and synced.
    ShardsSynced,
    /// Every data file is written and synced.
    DataSynced,
    /// The directories that name the data files are synced.
    DataNamed,
    /// The manifest is written, not synced.
    ManifestWritten,
    /// The manifest is synced, and so is the directory that names it.
    ManifestSynced,
    /// The directory has its final name; the name is not synced.
    Published,
    /// The final name is synced.
    NameSynced,
    /// The directory that an exchange replaced is removed.
    ReplacedRemoved,
    /// Owner lock and build lock are removed.
    Unlocked,
}

impl Step {
    /// All steps, in the order a rebuild passes them; a first build passes all but [`Step::ReplacedRemoved`].
    pub const ALL: [Self; 12] = [
        Self::BuildLocked,
        Self::PrivateDirMade,
        Self::RecordsWritten,
        Self::ShardsSynced,
        Self::DataSynced,
        Self::DataNamed,
        Self::ManifestWritten,
        Self::ManifestSynced,
        Self::Published,
        Self::NameSynced,
        Self::ReplacedRemoved,
        Self::Unlocked,
    ];
}

/// One call, as announced to [`Faults`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// What is done.
    pub operation: Operation,
    /// To which path.
    pub path: &'a Path,
    /// The other path of a rename or an exchange.
    pub target: Option<&'a Path>,
}

/// Hooks for tests: watch calls, make them fail, or end the process at a step.
pub trait Faults: Send + Sync {
    /// Called before a call; an error is what the call answers, and then it is not made.
    ///
    /// # Errors
    /// Whatever the test wants the operating system to have said.
    fn before(&self, event: Event<'_>) -> io::Result<()> {
        let _ = event;
        Ok(())
    }

    /// Called after a call that succeeded.
    fn after(&self, event: Event<'_>) {
        let _ = event;
    }

    /// Called when a step has been reached.
    fn at_step(&self, step: Step) {
        let _ = step;
    }
}

//! Named integers: everything a bug could swap has a type of its own.
//!
//! Owns the newtypes that the other crates pass around. Must not do arithmetic on behalf of callers: a
//! newtype is made with `new` and opened with `get`, so every mix of units is visible in the code.
//! Invariant: a value is stored as given, no newtype changes or checks it.
//! Format text: `FORMAT.md`, "Words and numbers".

macro_rules! named_integers {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name($inner);

        impl $name {
            /// Names a bare integer.
            #[inline]
            pub const fn new(value: $inner) -> Self {
                Self(value)
            }

            /// The bare integer.
            #[inline]
            pub const fn get(self) -> $inner {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, out)
            }
        }
    )*};
}

named_integers! {
    /// Position of a cache among the loaded caches of a dataset.
    CacheId(u32);
    /// Number of a sample within its cache, counted from 0 in the order of the source.
    SampleId(u64);
    /// Number of a shard file within its cache, counted from 0.
    ShardId(u32);
    /// Number of a row, counted from 0: of the active table, or of a source while it is written.
    RowIndex(u64);
    /// Position of a draw since the stream was last reset.
    DrawIndex(u64);
    /// Distance from the start of a file, in bytes.
    ByteOffset(u64);
    /// Length in bytes.
    ByteLen(u64);
    /// An XXH3-64 value.
    Checksum(u64);
    /// Seed of a draw stream.
    Seed(u64);
}

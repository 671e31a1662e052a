//! Little-endian reading of fixed fields.
//!
//! Owns bounds-checked steps through a byte slice. Must not know any structure. Invariant: no step reads
//! beyond the slice. Format text: `FORMAT.md`, "Words and numbers".

/// Walks through a byte slice; every step answers `None` at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps<'a> {
    rest: &'a [u8],
}

impl<'a> Steps<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*head)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// The next `count` numbers; `None` where the slice is shorter, before anything is allocated.
    pub(crate) fn u64s(&mut self, count: usize) -> Option<Box<[u64]>> {
        let (head, rest) = self.rest.split_at_checked(count.checked_mul(8)?)?;
        self.rest = rest;
        let (numbers, _) = head.as_chunks::<8>();
        Some(
            numbers
                .iter()
                .map(|bytes| u64::from_le_bytes(*bytes))
                .collect(),
        )
    }
}

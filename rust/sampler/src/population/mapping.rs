//! Row → sample of a table that is being validated.
//!
//! Owns the choice between the identity and a list, and the list's width. Must not hold a list that says no
//! more than the identity. Invariant: the result names, for each row that was added, the sample given.
//! Text: `DRAWS.md`, "Tables".

use crate::draw::RowSamples;
use crate::population::identity::Identity;

/// Collects row → sample.
pub(super) struct MappingBuilder {
    rows: usize,
    is_narrow: bool,
    added: u64,
    list: List,
}

enum List {
    None,
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl MappingBuilder {
    /// A builder for a table of `rows` rows.
    pub(super) fn new(identity: &Identity, rows: usize) -> Self {
        let is_narrow = identity.samples() <= u64::from(u32::MAX);
        Self {
            rows,
            is_narrow,
            added: 0,
            list: List::None,
        }
    }

    /// Adds the samples of the next rows.
    pub(super) fn extend(&mut self, samples: &[u64]) {
        let is_identity = samples
            .iter()
            .zip(self.added..)
            .all(|(sample, row)| *sample == row);
        if matches!(self.list, List::None) && !is_identity {
            self.list = if self.is_narrow {
                let mut list = Vec::with_capacity(self.rows);
                list.extend((0..self.added).map(narrow));
                List::Narrow(list)
            } else {
                let mut list = Vec::with_capacity(self.rows);
                list.extend(0..self.added);
                List::Wide(list)
            };
        }
        match &mut self.list {
            List::None => {}
            List::Narrow(list) => list.extend(samples.iter().map(|sample| narrow(*sample))),
            List::Wide(list) => list.extend_from_slice(samples),
        }
        self.added += samples.len() as u64;
    }

    /// The finished mapping.
    pub(super) fn finish(self) -> RowSamples {
        match self.list {
            List::None => RowSamples::Identity,
            List::Narrow(list) => RowSamples::Narrow(list.into()),
            List::Wide(list) => RowSamples::Wide(list.into()),
        }
    }
}

/// A sample number below 2^32; there is none else where this is called.
#[inline]
fn narrow(sample: u64) -> u32 {
    u32::try_from(sample).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(samples_in_caches: u64, rows: &[&[u64]]) -> RowSamples {
        let identity = Identity::new([samples_in_caches]).unwrap();
        let mut builder =
            MappingBuilder::new(&identity, rows.iter().map(|block| block.len()).sum());
        rows.iter().for_each(|block| builder.extend(block));
        builder.finish()
    }

    #[test]
    fn rows_in_the_order_of_the_samples_need_no_list() {
        assert!(matches!(
            built(9, &[&[0, 1, 2], &[3, 4]]),
            RowSamples::Identity
        ));
    }

    #[test]
    fn list_after_a_first_difference_names_every_row() {
        let RowSamples::Narrow(list) = built(9, &[&[0, 1], &[2, 8]]) else {
            panic!()
        };
        assert_eq!(*list, [0, 1, 2, 8]);
    }

    #[test]
    fn list_of_more_than_32_bit_samples_is_wide() {
        let RowSamples::Wide(list) = built(1 << 32, &[&[0, 1], &[u32::MAX.into()]]) else {
            panic!()
        };
        assert_eq!(*list, [0, 1, u64::from(u32::MAX)]);
        let narrow = built((1 << 32) - 1, &[&[1]]);
        assert!(matches!(narrow, RowSamples::Narrow(_)));
    }
}

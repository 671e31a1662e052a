//! Seeded edits of the corpus and of whole caches: every outcome is a value or a located error.

use super::cases::golden_cases;
use super::corpus::saved_inputs;
use super::image::{Files, build};
use super::read_image::{assert_same_rows, read};
use super::targets::TARGETS;

/// SplitMix64; the edits are the same in every run.
struct Edits(u64);

impl Edits {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count.max(1) as u64).unwrap()
    }

    /// One to four edits: flipped bits, bytes at the edges of their range, cuts, moved pieces.
    fn apply(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            if bytes.is_empty() {
                return;
            }
            let at = self.below(bytes.len());
            match self.below(8) {
                0..=2 => bytes[at] ^= 1 << self.below(8),
                3 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][self.below(5)],
                4 => bytes[at] = bytes[at].wrapping_add(1),
                5 => bytes.truncate(at),
                6 => {
                    let piece = bytes[at..].iter().take(8).copied().collect::<Vec<u8>>();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, piece);
                }
                _ => {
                    let end = (at + 8).min(bytes.len());
                    bytes[at..end].fill(if self.below(2) == 0 { 0 } else { 0xff });
                }
            }
        }
    }
}

#[test]
fn decoders_with_edited_inputs_keep_their_promises() {
    for (name, target) in TARGETS {
        let inputs = saved_inputs(name);
        let mut edits = Edits(0x5eed);
        for round in 0..4_000 {
            let mut input = inputs[round % inputs.len()].clone();
            edits.apply(&mut input);
            target(&input);
        }
    }
}

/// Everything is under a checksum: whatever is edited, the cache is refused.
#[test]
fn caches_with_an_edited_file_are_refused() {
    for case in golden_cases() {
        let files = build(&case.rows, &case.options).unwrap();
        let mut edits = Edits(0xcace);
        for path in files.keys() {
            for _ in 0..120 {
                let mut edited: Files = files.clone();
                edits.apply(edited.get_mut(path).unwrap());
                if edited == files || path == "origin.json" {
                    continue;
                }
                if let Ok(rows) = read(&edited) {
                    panic!(
                        "{}: an edit of {path} gave {} rows",
                        case.folder,
                        rows.len()
                    );
                }
            }
        }
        assert_same_rows(&case.rows, &read(&files).unwrap());
    }
}

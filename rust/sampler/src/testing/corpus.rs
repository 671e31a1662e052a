//! The saved inputs of the fuzz target `tables`, replayed as they are and edited.

use std::path::{Path, PathBuf};

use super::foreign;
use crate::draw::internals::philox4x64_10;

/// A path of the repository, in a Bazel sandbox or in a checkout.
pub(crate) fn repository_path(relative: &str) -> PathBuf {
    let in_sandbox = PathBuf::from(relative);
    if in_sandbox.exists() {
        return in_sandbox;
    }
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(relative)
}

fn saved_inputs() -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(repository_path("rust/fuzz/corpus/tables")).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

#[test]
fn draws_from_the_saved_corpus_are_rows_or_errors() {
    let inputs = saved_inputs();
    assert!(inputs.len() >= 3);
    for input in inputs {
        foreign::tables(&input);
    }
}

#[test]
fn draws_from_edited_tables_are_rows_or_errors() {
    let inputs = saved_inputs();
    for round in 0..600_u64 {
        let [at, bit, value, edits] = philox4x64_10([0x7ab1e5, 0], [round, 0, 0, 0]);
        let mut input = inputs[usize::try_from(round).unwrap() % inputs.len()].clone();
        for edit in 0..=edits % 4 {
            let place = usize::try_from(at.rotate_left(u32::try_from(edit).unwrap() * 16)).unwrap();
            let place = place % input.len();
            match bit % 3 {
                0 => input[place] ^= 1 << (value % 8),
                1 => input[place] = [0, 1, 0x7f, 0x80, 0xff][usize::try_from(value % 5).unwrap()],
                _ => input.truncate(place.max(8)),
            }
        }
        foreign::tables(&input);
    }
}

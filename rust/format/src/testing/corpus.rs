//! The saved fuzz corpus, replayed by ordinary tests.

use std::path::{Path, PathBuf};

use super::targets::TARGETS;

/// A path of the repository, in a Bazel sandbox or in a checkout.
pub fn repository_path(relative: &str) -> PathBuf {
    let in_sandbox = PathBuf::from(relative);
    if in_sandbox.exists() {
        return in_sandbox;
    }
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(relative)
}

/// The saved inputs of a target.
pub fn saved_inputs(target: &str) -> Vec<Vec<u8>> {
    let folder = match std::env::var_os("DRT_CORPUS_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => repository_path("rust/fuzz/corpus"),
    };
    let entries = std::fs::read_dir(folder.join(target)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

#[test]
fn decoders_with_the_saved_corpus_keep_their_promises() {
    for (name, target) in TARGETS {
        let inputs = saved_inputs(name);
        assert!(inputs.len() >= 3, "{name} has a corpus");
        for input in inputs {
            target(&input);
        }
    }
}

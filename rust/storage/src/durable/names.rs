//! Names of temporaries.
//!
//! Owns: how a private directory, its lock and a build lock are called, and how such names are told from anyone
//! else's. Must not: touch the disk.
//! Invariant: only names made here are recognised here, so a sweep can't remove what it did not make.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use dataset_rt_format::Digest128;

/// Ending of every lock file.
pub(crate) const LOCK_SUFFIX: &str = ".lock";
/// Ending of the lock that builders of one name share.
const BUILD_LOCK_SUFFIX: &str = ".build.lock";
/// Source names up to this many bytes stand in the names of temporaries as they are; file names end at 255 bytes.
const MAX_PLAIN_STEM_BYTES: usize = 128;
/// Hexadecimal digits of the random part.
const RANDOM_DIGITS: usize = 16;

/// The part of a temporary's name that stands for `name`: the name itself, or a beginning and a digest of a long one.
#[must_use]
pub fn private_stem(name: &str) -> String {
    if name.len() <= MAX_PLAIN_STEM_BYTES {
        return name.to_owned();
    }
    let beginning: String = name.chars().take(MAX_PLAIN_STEM_BYTES / 8).collect();
    format!("{beginning}~{}", Digest128::of(name.as_bytes()))
}

/// File name of the lock that builders of the cache `name` share.
#[must_use]
pub fn build_lock_name(name: &str) -> String {
    format!("{}{BUILD_LOCK_SUFFIX}", private_stem(name))
}

/// A fresh directory name for `stem`: process number and a random part that no other call of this process gives.
pub(crate) fn private_dir_name(stem: &str) -> String {
    format!(
        "{stem}.{}-{:016x}",
        std::process::id(),
        RandomState::new().hash_one(stem)
    )
}

/// The lock file of a private directory, beside it.
pub(crate) fn lock_path_of(private_dir: &Path) -> PathBuf {
    let mut path = private_dir.as_os_str().to_owned();
    path.push(LOCK_SUFFIX);
    PathBuf::from(path)
}

/// What a lock file in a folder of temporaries guards.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Guarded {
    /// A private directory, which has this path.
    PrivateDir(PathBuf),
    /// The right to build one name; no directory.
    Build,
}

/// Recognises a lock file of ours.
pub(crate) fn guarded_by(lock: &Path) -> Option<Guarded> {
    let file_name = lock.file_name()?.to_str()?;
    if file_name
        .strip_suffix(BUILD_LOCK_SUFFIX)
        .is_some_and(|stem| !stem.is_empty())
    {
        return Some(Guarded::Build);
    }
    let dir_name = file_name.strip_suffix(LOCK_SUFFIX)?;
    let (stem, unique) = dir_name.rsplit_once('.')?;
    let (process, random) = unique.split_once('-')?;
    let is_number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    let is_random = random.len() == RANDOM_DIGITS
        && random
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (!stem.is_empty() && is_number && is_random)
        .then(|| Guarded::PrivateDir(lock.with_file_name(dir_name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_name_of_any_stem_is_recognised_with_its_lock() {
        for name in [
            "a",
            "train.v2",
            "x.lock",
            "a.1-0123456789abcdef",
            "ünï",
            &"long".repeat(60),
        ] {
            let dir = Path::new("/base/tmp").join(private_dir_name(&private_stem(name)));
            assert_eq!(
                guarded_by(&lock_path_of(&dir)),
                Some(Guarded::PrivateDir(dir))
            );
            let build = Path::new("/base/tmp").join(build_lock_name(name));
            assert_eq!(guarded_by(&build), Some(Guarded::Build));
        }
    }

    #[test]
    fn foreign_name_is_not_recognised() {
        for name in [
            "a",
            "a.lock",
            "train",
            ".1-0123456789abcdef.lock",
            "a.1-0123456789ABCDEF.lock",
            "a.-0123456789abcdef.lock",
            "a.1-0123.lock",
            ".build.lock",
        ] {
            assert_eq!(guarded_by(Path::new(name)), None, "{name}");
        }
    }

    #[test]
    fn long_names_that_differ_at_the_end_have_different_stems_of_bounded_length() {
        let (left, right) = (
            private_stem(&format!("{}1", "n".repeat(250))),
            private_stem(&format!("{}2", "n".repeat(250))),
        );
        assert_ne!(left, right);
        assert!(private_dir_name(&left).len() + LOCK_SUFFIX.len() < 255);
    }

    #[test]
    fn private_names_of_one_stem_differ() {
        assert_ne!(private_dir_name("a"), private_dir_name("a"));
    }
}

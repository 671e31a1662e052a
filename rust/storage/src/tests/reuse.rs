//! When a finished cache is reused, refused or rebuilt.

use std::fs;

use super::{assert_holds, begin, open, small, tree, write};
use crate::durable::Disk;
use crate::{Begin, OnVersionChange, StorageError, WriteOptions};
use dataset_rt_format::ErrorKind;

fn versioned(version: Option<&str>, on_version_change: OnVersionChange) -> WriteOptions {
    WriteOptions {
        source_version: version.map(str::to_owned),
        on_version_change,
        ..small()
    }
}

#[test]
fn reuse_for_every_pair_of_versions_follows_the_one_rule() {
    let versions = [None, Some("1"), Some("2"), Some("")];
    for recorded in versions {
        for wanted in versions {
            let base = tempfile::tempdir().unwrap();
            let refuse = OnVersionChange::Refuse;
            write(
                &Disk::new(),
                base.path(),
                "a",
                &versioned(recorded, refuse),
                1,
                2,
            )
            .unwrap();
            let before = tree(base.path());
            let is_reusable = wanted.is_none() || wanted == recorded;
            match begin(
                &Disk::new(),
                base.path(),
                "a",
                &versioned(wanted, refuse),
                1,
            ) {
                Ok(Begin::Finished(found)) => {
                    assert!(is_reusable, "{recorded:?} reused for {wanted:?}");
                    assert_eq!(found.source.version.as_deref(), recorded);
                }
                Err(error @ StorageError::SourceVersion { .. }) => {
                    assert!(!is_reusable, "{recorded:?} refused for {wanted:?}");
                    assert_eq!(error.kind(), ErrorKind::UnsupportedVersion);
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(tree(base.path()), before);
            let rebuild = versioned(wanted, OnVersionChange::Rebuild);
            match begin(&Disk::new(), base.path(), "a", &rebuild, 1).unwrap() {
                Begin::Finished(_) => assert!(is_reusable),
                Begin::Building(writer) => {
                    assert!(!is_reusable);
                    // The old cache is there until the new one is complete, also when there will be none.
                    assert_holds(&open(&base.path().join("a")), 2);
                    drop(writer);
                    assert_eq!(tree(base.path()), before);
                }
                Begin::Busy => panic!("nobody else builds"),
            }
        }
    }
}

#[test]
fn name_taken_by_something_else_is_refused_and_left_alone() {
    for make in [
        (|path| fs::write(path, "text")) as fn(&std::path::Path) -> std::io::Result<()>,
        |path| fs::create_dir(path),
        |path| fs::create_dir_all(path.join("shards")),
    ] {
        let base = tempfile::tempdir().unwrap();
        make(&base.path().join("a")).unwrap();
        let before = tree(base.path());
        let error = begin(&Disk::new(), base.path(), "a", &small(), 1).unwrap_err();
        assert!(matches!(error, StorageError::Occupied { .. }), "{error}");
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(tree(base.path()), before);
    }
}

#[test]
fn damaged_finished_cache_is_an_error_and_never_rebuilt() {
    let base = tempfile::tempdir().unwrap();
    write(&Disk::new(), base.path(), "a", &small(), 1, 2).unwrap();
    let manifest = base.path().join("a/manifest.json");
    let mut text = fs::read(&manifest).unwrap();
    text[40] ^= 1;
    fs::write(&manifest, &text).unwrap();
    let before = tree(base.path());
    for on_version_change in [OnVersionChange::Refuse, OnVersionChange::Rebuild] {
        let options = versioned(Some("2"), on_version_change);
        let error = begin(&Disk::new(), base.path(), "a", &options, 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!(tree(base.path()), before);
    }
}

#[test]
fn reuse_with_validation_finds_a_flipped_byte_and_without_does_not_look() {
    let base = tempfile::tempdir().unwrap();
    write(&Disk::new(), base.path(), "a", &small(), 1, 200).unwrap();
    let shard = base.path().join("a/shards/000001.bin");
    let mut bytes = fs::read(&shard).unwrap();
    bytes[5] ^= 1;
    fs::write(&shard, &bytes).unwrap();
    assert!(matches!(
        begin(&Disk::new(), base.path(), "a", &small(), 1),
        Ok(Begin::Finished(_))
    ));
    let options = WriteOptions {
        validates_reused: true,
        ..small()
    };
    let error = begin(&Disk::new(), base.path(), "a", &options, 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn name_that_is_no_path_segment_is_refused_before_anything_is_made() {
    let base = tempfile::tempdir().unwrap();
    for name in ["", ".", "..", "tmp", "TMP", "a/b", "a\0b", "/abs"] {
        let error = begin(&Disk::new(), &base.path().join("new"), name, &small(), 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name:?}");
    }
    assert!(tree(base.path()).is_empty());
}

#[test]
fn option_of_zero_is_refused() {
    let base = tempfile::tempdir().unwrap();
    for options in [
        WriteOptions {
            prefetch_size: 0,
            ..small()
        },
        WriteOptions {
            max_shard_bytes: 0,
            ..small()
        },
    ] {
        let error = begin(&Disk::new(), base.path(), "a", &options, 1).unwrap_err();
        assert!(matches!(error, StorageError::InvalidOption { .. }));
    }
}

#[test]
fn long_name_is_built_where_the_file_system_allows_the_name_itself() {
    let base = tempfile::tempdir().unwrap();
    let name = "n".repeat(255);
    write(&Disk::new(), base.path(), &name, &small(), 1, 2).unwrap();
    assert_holds(&open(&base.path().join(&name)), 2);
}

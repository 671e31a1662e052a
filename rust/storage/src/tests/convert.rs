//! Rewriting caches as format 1, and what verification compares beyond hashes.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use dataset_rt_format::{Compression, ErrorKind, decode_manifest, encode_manifest};

use super::{assert_holds, open, pool, small, tree, write};
use crate::convert::{Conversion, ConvertProgress};
use crate::durable::Disk;
use crate::{InterruptCheck, StorageError, WriteOptions, WriteReport};

fn convert(
    from: &Path,
    to: &Path,
    compression: Option<Compression>,
    interrupt: &InterruptCheck,
) -> Result<WriteReport, StorageError> {
    let conversion = Conversion {
        disk: &Disk::new(),
        from,
        to,
        options: &small(),
        compression,
    };
    conversion.run(&pool(2), interrupt, &ConvertProgress::default())
}

#[test]
fn converted_cache_holds_what_the_other_held() {
    let base = tempfile::tempdir().unwrap();
    let options = WriteOptions {
        source_version: Some("v7".to_owned()),
        compression: Compression::Lz4,
        ..small()
    };
    let from = write(&Disk::new(), base.path(), "a", &options, 1, 90)
        .unwrap()
        .path;
    let never = InterruptCheck::never();
    let to = base.path().join("other name");
    let report = convert(&from, &to, None, &never).unwrap();
    assert_eq!(report.path, to);
    let cache = open(&to);
    assert_holds(&cache, 90);
    let source = cache.manifest().source();
    assert_eq!(
        (source.name.as_str(), source.version.as_deref()),
        ("a", Some("v7"))
    );
    // The same rows and options give the same bytes, so the compression was kept.
    let (mut first, mut second) = (tree(&from), tree(&to));
    first.remove("origin.json");
    second.remove("origin.json");
    assert_eq!(first, second);
    let plain = base.path().join("plain");
    convert(&from, &plain, Some(Compression::None), &never).unwrap();
    assert_eq!(open(&plain).manifest().compression(), Compression::None);
    assert_holds(&open(&plain), 90);
    for finished in [&to, &from] {
        let refused = convert(&from, finished, None, &never).unwrap_err();
        assert!(
            matches!(refused, StorageError::AlreadyFinished { .. }),
            "{refused}"
        );
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    }
}

#[test]
fn damage_and_interrupts_leave_nothing() {
    let base = tempfile::tempdir().unwrap();
    let from = write(&Disk::new(), base.path(), "a", &small(), 1, 90)
        .unwrap()
        .path;
    let to = base.path().join("b");
    let stopped = convert(&from, &to, None, &InterruptCheck::new(|| true)).unwrap_err();
    assert!(matches!(stopped, StorageError::Cancelled));
    let shard = from.join("shards/000002.bin");
    let mut bytes = fs::read(&shard).unwrap();
    bytes[5] ^= 1;
    fs::write(&shard, bytes).unwrap();
    let refused = convert(&from, &to, None, &InterruptCheck::never()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Corrupt);
    assert_eq!(refused.facts().shard, Some(2));
    let names: Vec<_> = fs::read_dir(base.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["a"]);
}

#[test]
fn payload_bytes_of_the_manifest_are_compared_with_the_index() {
    let base = tempfile::tempdir().unwrap();
    let path = write(&Disk::new(), base.path(), "a", &small(), 1, 30)
        .unwrap()
        .path;
    let file = path.join("manifest.json");
    let mut manifest = decode_manifest(&fs::read(&file).unwrap()).unwrap();
    manifest.payload_bytes += 1;
    fs::write(&file, encode_manifest(&manifest).unwrap()).unwrap();
    let report = Arc::new(open(&path))
        .verify(&pool(1), &InterruptCheck::never(), &Arc::default())
        .unwrap();
    let [damage] = report.damages.as_slice() else {
        panic!("{report:?}");
    };
    let facts = damage.error.facts();
    assert_eq!(facts.field.as_deref(), Some("payload_bytes"));
    assert_eq!(facts.file.as_deref(), Some("manifest.json"));
}

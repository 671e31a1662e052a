//! Caches of the original system: opened, read, verified, and refused where they are hostile.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset_rt_format::{ErrorKind, MetadataValueRef, SampleId};
use sha2::{Digest, Sha256};

use super::pool;
use crate::durable::Disk;
use crate::{
    InterruptCheck, LoadedCache, OpenOptions, StorageError, VerifyReport, read_manifest,
    verify_cache,
};

const CASES: [(&str, u64); 4] = [
    ("original-v2/typed-none", 2),
    ("original-v2/typed-lz4", 2),
    ("original-v3/typed-none", 3),
    ("original-v3/typed-lz4", 3),
];

fn golden(case: &str) -> PathBuf {
    let in_sandbox = Path::new("tests/golden/caches").join(case);
    if in_sandbox.exists() {
        return in_sandbox;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("tests/golden/caches").join(case)
}

/// A copy that may be changed.
fn copy(case: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in super::tree(&golden(case)) {
        let target = dir.path().join(&name);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        if name != "shards" {
            fs::write(target, bytes).unwrap();
        }
    }
    dir
}

fn open(path: &Path, mapped: bool) -> Result<LoadedCache, StorageError> {
    LoadedCache::open(&Disk::new(), path, OpenOptions { mapped })
}

fn read(cache: &LoadedCache, sample: u64) -> Result<Vec<u8>, StorageError> {
    let sample = SampleId::new(sample);
    let row = cache.index_row(sample)?;
    let stored = cache.record_bytes(sample, &row)?;
    cache.check_record(sample, &row, &stored)?;
    let mut out = vec![0; row.raw_bytes as usize];
    cache.decode_record(sample, &row, &stored, &mut out)?;
    Ok(out)
}

/// The payload of the golden rows.
fn payload(row: u64) -> Vec<u8> {
    if row % 11 == 5 {
        return Vec::new();
    }
    let noise =
        (0..row * 3 % 64).map(|k| u8::try_from((row * 73 + k * k * 31 + k / 7) % 251).unwrap());
    let repeats = usize::try_from((row % 9) * (row % 5)).unwrap();
    noise.chain(b"abcd".repeat(repeats)).collect()
}

fn verify(path: &Path) -> VerifyReport {
    let check = InterruptCheck::never();
    verify_cache(&Disk::new(), path, &pool(2), &check, &Arc::default()).unwrap()
}

/// Changes a file and, in the manifest, its hash and length, as somebody would who means it.
fn forge(path: &Path, file: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let target = path.join(file);
    let mut bytes = fs::read(&target).unwrap();
    let hash = |bytes: &[u8]| {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        dataset_rt_format::Sha256Digest::from_bytes(digest).to_string()
    };
    let (old_hash, old_bytes) = (hash(&bytes), bytes.len());
    change(&mut bytes);
    let manifest = fs::read_to_string(path.join("manifest.json")).unwrap();
    let forged = manifest.replace(&old_hash, &hash(&bytes)).replace(
        &format!("\"byte_len\": {old_bytes},"),
        &format!("\"byte_len\": {},", bytes.len()),
    );
    fs::write(path.join("manifest.json"), forged).unwrap();
    fs::write(target, bytes).unwrap();
}

fn named(report: &VerifyReport) -> Vec<(String, Option<(u64, u64)>)> {
    let damages = report.damages.iter();
    damages
        .map(|damage| {
            assert_eq!(damage.error.kind(), ErrorKind::Corrupt);
            let samples = damage.samples.as_ref();
            let samples = samples.map(|samples| (samples.start, samples.end));
            (damage.error.facts().file.unwrap(), samples)
        })
        .collect()
}

#[test]
fn golden_caches_open_and_hold_their_rows() {
    let mut digests = Vec::new();
    for (case, version) in CASES {
        for mapped in [true, false] {
            let cache = open(&golden(case), mapped).unwrap();
            let manifest = cache.manifest();
            assert!(manifest.is_original() && manifest.format_version() == version);
            assert_eq!(
                (cache.sample_count(), manifest.source().version),
                (40, None)
            );
            assert!(manifest.shard_count() > 3);
            let total: usize = (0..40).map(|row| payload(row).len()).sum();
            assert_eq!(manifest.payload_bytes(), total as u64);
            for row in 0..40 {
                assert_eq!(read(&cache, row).unwrap(), payload(row), "{case} {row}");
                let metadata = cache.metadata_row(SampleId::new(row)).unwrap();
                assert_eq!(
                    metadata.value(1).unwrap(),
                    MetadataValueRef::Bool(row % 3 == 0)
                );
                let text = row.to_string();
                assert_eq!(
                    metadata.value(4).unwrap(),
                    MetadataValueRef::from(text.as_str())
                );
            }
            let MetadataValueRef::Float64(score) = cache
                .metadata_row(SampleId::new(1))
                .unwrap()
                .value(2)
                .unwrap()
            else {
                panic!("score is a float");
            };
            assert_eq!(score.to_bits(), 0x7ff4_0000_dead_beef);
            let rows: usize = cache
                .metadata_batches()
                .unwrap()
                .iter()
                .map(|b| b.num_rows())
                .sum();
            assert_eq!(rows, 40);
            digests.push((case, manifest.content_digest()));
        }
        let report = verify(&golden(case));
        assert!(report.is_intact(), "{case}: {report:?}");
        assert!(report.files > 5 && report.sample_count == 40);
    }
    let of = |case: &str| digests.iter().find(|(known, _)| *known == case).unwrap().1;
    assert_eq!(of("original-v2/typed-lz4"), of("original-v3/typed-lz4"));
    assert_ne!(of("original-v2/typed-none"), of("original-v2/typed-lz4"));
}

#[test]
fn other_versions_are_refused_by_number() {
    for version in [1, 4] {
        let dir = copy("original-v3/typed-none");
        let path = dir.path().join("manifest.json");
        let text = fs::read_to_string(&path).unwrap();
        let other = text.replace(
            "\"format_version\": 3",
            &format!("\"format_version\": {version}"),
        );
        fs::write(&path, other).unwrap();
        let refused = open(dir.path(), true).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::UnsupportedVersion);
        assert!(
            refused
                .facts()
                .found
                .unwrap()
                .contains(&version.to_string())
        );
        let refused = read_manifest(&Disk::new(), dir.path()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::UnsupportedVersion);
    }
}

#[test]
fn files_that_are_missing_cut_or_longer_fail_at_open_and_are_named() {
    for file in ["index.bin", "metadata.arrow", "shards/000001.bin"] {
        for edit in [None, Some(false), Some(true)] {
            let dir = copy("original-v2/typed-none");
            let path = dir.path().join(file);
            match edit {
                None => fs::remove_file(&path).unwrap(),
                Some(longer) => {
                    let mut bytes = fs::read(&path).unwrap();
                    if longer {
                        bytes.push(0)
                    } else {
                        bytes.truncate(bytes.len() / 2)
                    };
                    fs::write(&path, bytes).unwrap();
                }
            }
            let refused = open(dir.path(), true).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Corrupt, "{file} {edit:?}");
            assert_eq!(refused.facts().file.as_deref(), Some(file));
            let report = verify(dir.path());
            assert_eq!(named(&report), [(file.to_owned(), None)]);
        }
    }
}

#[test]
fn metadata_of_another_shape_fails_at_open() {
    for (from, to) in [
        ("\"sample_count\": 40", "\"sample_count\": 39"),
        ("\"kind\": \"bool\"", "\"kind\": \"int\""),
        ("\"name\": \"flag\"", "\"name\": \"flah\""),
    ] {
        let dir = copy("original-v3/typed-none");
        let manifest = dir.path().join("manifest.json");
        let text = fs::read_to_string(&manifest).unwrap().replace(from, to);
        fs::write(&manifest, text).unwrap();
        if from.contains("sample_count") {
            forge(dir.path(), "index.bin", |bytes| bytes.truncate(39 * 24));
        }
        let refused = open(dir.path(), true).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{to}: {refused}");
        assert_eq!(refused.facts().file.as_deref(), Some("metadata.arrow"));
    }
}

#[test]
fn forged_rows_are_refused_where_they_are_read_and_named_by_verification() {
    let put = |at: usize, number: u64| {
        move |bytes: &mut Vec<u8>| bytes[at..at + 8].copy_from_slice(&number.to_le_bytes())
    };
    for (field, number) in [
        (0, 99),
        (8, 1 << 50),
        (16, u64::MAX),
        (16, 1 << 33),
        (16, 3),
    ] {
        let dir = copy("original-v3/typed-lz4");
        forge(dir.path(), "index.bin", put(2 * 24 + field, number));
        let cache = open(dir.path(), true).unwrap();
        assert_eq!(read(&cache, 1).unwrap(), payload(1));
        let refused = read(&cache, 2).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt);
        assert_eq!(refused.facts().sample_id, Some(2));
        let found = named(&verify(dir.path()));
        assert_eq!(found.first().unwrap().0, "index.bin");
        assert!(
            found[0].1.is_some_and(|(start, end)| start <= 2 && 2 < end),
            "{found:?}"
        );
    }
    // The row of another sample, whole: nothing is out of bounds, and two samples share bytes.
    let dir = copy("original-v3/typed-none");
    forge(dir.path(), "index.bin", |bytes| {
        bytes.copy_within(24..48, 48)
    });
    let report = verify(dir.path());
    assert_eq!(
        named(&report).first().unwrap(),
        &("index.bin".to_owned(), Some((2, 3)))
    );
}

#[test]
fn forged_records_are_refused_where_they_are_read_and_named_by_verification() {
    let start = |dir: &Path, sample: u64| {
        let place = open(dir, true)
            .unwrap()
            .record_place(SampleId::new(sample))
            .unwrap();
        (
            usize::try_from(place.offset_bytes).unwrap(),
            place.shard.get(),
        )
    };
    // Sample 7 has a payload that compresses well. Its JSON length, and the first bytes of its LZ4 prefix.
    for (case, in_prefix, number) in [
        ("original-v2/typed-none", false, u64::MAX),
        ("original-v3/typed-lz4", false, 1 << 20),
        ("original-v3/typed-lz4", true, 0xffff_ffff),
        ("original-v3/typed-lz4", true, payload(7).len() as u64 + 1),
        ("original-v3/typed-lz4", true, payload(7).len() as u64 - 1),
    ] {
        let dir = copy(case);
        let (at, shard) = start(dir.path(), 7);
        forge(dir.path(), &format!("shards/{shard:06}.bin"), |bytes| {
            if in_prefix {
                let json = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
                let at = at + 8 + usize::try_from(json).unwrap();
                bytes[at..at + 4].copy_from_slice(&u32::try_from(number).unwrap().to_le_bytes());
            } else {
                bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
        });
        for mapped in [true, false] {
            let refused = read(&open(dir.path(), mapped).unwrap(), 7).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Corrupt, "{case} {number}");
            assert_eq!(
                (refused.facts().sample_id, refused.facts().shard),
                (Some(7), Some(shard))
            );
        }
        let found = named(&verify(dir.path()));
        assert_eq!(found, [(format!("shards/{shard:06}.bin"), Some((7, 8)))]);
    }
}

#[test]
fn sum_of_payload_lengths_is_compared_with_the_manifest() {
    let dir = copy("original-v2/typed-none");
    let manifest = dir.path().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let listed = text.split("\"uncompressed_byte_len\": ").nth(1).unwrap();
    let listed = listed.split(',').next().unwrap().to_owned();
    let key = "\"uncompressed_byte_len\": ";
    let text = text.replacen(&format!("{key}{listed}"), &format!("{key}1{listed}"), 1);
    fs::write(&manifest, text).unwrap();
    assert_eq!(
        named(&verify(dir.path())),
        [("shards/000000.bin".to_owned(), None)]
    );
}

#[test]
fn flipped_payload_byte_is_found_by_verification_alone() {
    let dir = copy("original-v3/typed-none");
    let cache = open(dir.path(), true).unwrap();
    let row = cache.index_row(SampleId::new(7)).unwrap();
    drop(cache);
    let file = format!("shards/{:06}.bin", row.shard.get());
    let mut bytes = fs::read(dir.path().join(&file)).unwrap();
    bytes[usize::try_from(row.offset_bytes).unwrap()] ^= 1;
    fs::write(dir.path().join(&file), bytes).unwrap();
    assert_ne!(
        read(&open(dir.path(), true).unwrap(), 7).unwrap(),
        payload(7)
    );
    let report = verify(dir.path());
    assert_eq!(named(&report), [(file, None)]);
    assert!(report.damages[0].error.to_string().contains("SHA-256"));
}

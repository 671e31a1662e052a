//! Caches with arbitrary edits: an answer is the written value or an error, never a panic, other bytes, or memory that
//! an edit asked for.
//!
//! The edits are made in a child, so that a limit on memory ends it and nothing else. `DRT_EDITS` sets their number.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use dataset_rt_format::{ErrorKind, SampleId};
use dataset_rt_pool::WorkerPool;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{label, payload, pool, tree, write};
use crate::durable::Disk;
use crate::{InterruptCheck, LoadedCache, OpenOptions, WriteOptions};

const ROWS: u64 = 12;
const EDITS: &str = "DRT_EDITS";
const COUNT: &str = "DRT_EDITS_OF_CHILD";
const DEFAULT_EDITS: u64 = 100_000;

/// Memory beyond what an intact cache took, and twice its files, that an edited one may take.
const SLACK_BYTES: u64 = 1024 * 1024;

/// SplitMix64; the edits are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).unwrap()
    }
}

/// What becomes of the bytes of a file: flipped bits, extreme bytes, runs of them, cuts, moved rows, surplus.
fn edit(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut edited = bytes.to_vec();
    let at = random.below(bytes.len());
    let end = (at + 1 + random.below(8)).min(bytes.len());
    match random.below(16) {
        0..=5 => edited[at] ^= 1 << random.below(8),
        6..=7 => edited[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
        8..=9 => edited[at] = u8::try_from(random.below(256)).unwrap(),
        10 => edited[at..end].fill(0),
        11 => edited[at..end].fill(0xff),
        12 => edited[at..end].fill_with(|| u8::try_from(random.below(256)).unwrap()),
        13 => edited.truncate(at),
        14 => {
            let from = random.below(bytes.len() - (end - at) + 1);
            edited.copy_within(at..end, from);
        }
        _ => edited.extend_from_slice(&bytes[at..end]),
    }
    edited
}

/// A cache on the disk, and its files as they were written.
struct Subject {
    dir: tempfile::TempDir,
    files: Vec<(String, Vec<u8>)>,
    pool: Arc<WorkerPool>,
}

impl Subject {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = WriteOptions {
            max_shard_bytes: 800,
            ..WriteOptions::default()
        };
        write(&Disk::new(), dir.path(), "a", &options, 1, ROWS).unwrap();
        let files = tree(&dir.path().join("a"))
            .into_iter()
            .filter(|(name, _)| name != "shards")
            .collect::<Vec<_>>();
        assert!(files.len() > 6, "several shards");
        Self {
            dir,
            files,
            // As many as there are files: a verification then waits once and not for each file.
            pool: pool(9),
        }
    }

    /// Opens the cache, reads all there is and verifies it; says whether nothing was found.
    fn is_intact(&self, mapped: bool) -> bool {
        let path = self.dir.path().join("a");
        match LoadedCache::open(&Disk::new(), &path, OpenOptions { mapped }) {
            Err(error) => {
                assert_is_finding(error.kind());
                false
            }
            Ok(cache) => {
                read_all(&cache);
                let check = InterruptCheck::never();
                let report = Arc::new(cache).verify(&self.pool, &check, &Arc::default());
                report.unwrap().is_intact()
            }
        }
    }
}

fn assert_is_finding(kind: ErrorKind) {
    assert!(
        matches!(kind, ErrorKind::Corrupt | ErrorKind::UnsupportedVersion),
        "{kind:?}"
    );
}

fn read_all(cache: &LoadedCache) {
    for row in 0..cache.sample_count().min(ROWS) {
        let sample = SampleId::new(row);
        let read = cache.index_row(sample).and_then(|index_row| {
            let stored = cache.record_bytes(sample, &index_row)?;
            cache.check_record(sample, &index_row, &stored)?;
            let mut out = vec![0; index_row.raw_bytes as usize];
            cache.decode_record(sample, &index_row, &stored, &mut out)?;
            Ok(out)
        });
        match read {
            Ok(bytes) => assert_eq!(bytes, payload(row)),
            Err(error) => assert_is_finding(error.kind()),
        }
        if let Some(record) = cache.plain_record(sample)
            && record.is_whole(record.stored)
        {
            assert_eq!(record.stored, payload(row));
        }
        match cache
            .metadata_row(sample)
            .and_then(|metadata| metadata.value(1))
        {
            Ok(value) => assert_eq!(value, label(row).as_str().into()),
            Err(error) => assert_is_finding(error.kind()),
        }
    }
    if let Err(error) = cache.metadata_batches() {
        assert_is_finding(error.kind());
    }
}

/// Replaces what differs from `old`, so that an edit costs a few bytes and not a file.
fn overwrite(path: &Path, old: &[u8], new: &[u8]) {
    let file = File::options().write(true).open(path).unwrap();
    let same = old.iter().zip(new).take_while(|(old, new)| old == new);
    let start = same.count();
    file.set_len(new.len() as u64).unwrap();
    file.write_all_at(&new[start..], start as u64).unwrap();
}

fn make_edits(count: u64, has_limit: bool) {
    let subject = Subject::new();
    for mapped in [true, false] {
        assert!(subject.is_intact(mapped));
    }
    let files_bytes: usize = subject.files.iter().map(|(_, bytes)| bytes.len()).sum();
    if has_limit {
        limit_memory(2 * files_bytes as u64 + SLACK_BYTES);
    }
    let mut random = Random(0xed17);
    for number in 0..count {
        let (name, bytes) = &subject.files[random.below(subject.files.len())];
        let edited = edit(&mut random, bytes);
        let path = subject.dir.path().join("a").join(name);
        overwrite(&path, bytes, &edited);
        let is_intact = subject.is_intact(number % 2 == 0);
        assert_eq!(
            is_intact,
            name == "origin.json" || edited == *bytes,
            "edit {number}, of {name}"
        );
        overwrite(&path, &edited, bytes);
    }
    assert!(subject.is_intact(true));
}

/// Lets this process have no more writable memory than it has, and `bytes`. Address space would be no measure: an
/// allocator sets aside a lot of it beforehand.
fn limit_memory(bytes: u64) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let size = status
        .lines()
        .find_map(|line| line.strip_prefix("VmData:")?.strip_suffix("kB"));
    let current = Some(size.unwrap().trim().parse::<u64>().unwrap() * 1024 + bytes);
    let maximum = getrlimit(Resource::Data).maximum;
    setrlimit(Resource::Data, Rlimit { current, maximum }).unwrap();
}

/// Makes the edits when it is the child; otherwise a few of them, without a limit that others would feel.
#[test]
fn child() {
    match std::env::var(COUNT) {
        Ok(count) => make_edits(count.parse().unwrap(), true),
        Err(_) => make_edits(100, false),
    }
}

#[test]
fn cache_with_any_edit_answers_what_was_written_or_an_error_in_bounded_memory() {
    let count = std::env::var(EDITS).unwrap_or_else(|_| DEFAULT_EDITS.to_string());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::any_bytes::child", "--nocapture"])
        .env(COUNT, count)
        // Naming the frames of a failure takes more memory than the limit leaves.
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

//! A process that writes a cache is killed, and what it left is looked at.
//!
//! Each test starts this very binary again with variables that say where it is to die: at a named step, by each of the
//! signals that end a process, or before its n-th call to the operating system. The rows of the table in
//! `docs/durability.md` are the tests of `at_step`.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails the test by panicking"
)]

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dataset_rt_format::{MetadataValueRef, SampleId};
use dataset_rt_pool::WorkerPool;
use dataset_rt_storage::durable::{Disk, Event, Faults, Step};
use dataset_rt_storage::{
    Begin, CacheWriter, InterruptCheck, LoadedCache, OnVersionChange, OpenOptions, Pushed,
    WriteOptions,
};
use rustix::process::{Signal, getpid, kill_process};

/// Rows of the first version of the source, and of the second.
const ROWS: [u64; 2] = [40, 60];
const SIGKILL: i32 = 9;
/// What ends a process by default: an operator's kill, a scheduler's, a terminal's.
const SIGNALS: [Signal; 3] = [Signal::KILL, Signal::TERM, Signal::INT];

const BASE: &str = "DRT_CRASH_BASE";
const NAME: &str = "DRT_CRASH_NAME";
const VERSION: &str = "DRT_CRASH_VERSION";
const STEP: &str = "DRT_CRASH_STEP";
const CALL: &str = "DRT_CRASH_CALL";
const PAUSE: &str = "DRT_CRASH_PAUSE";
const SIGNAL: &str = "DRT_CRASH_SIGNAL";

/// What the child does at which point.
struct Fate {
    dies_at: Option<String>,
    pauses_at: Option<String>,
    dies_before_call: Option<usize>,
    dies_by: Signal,
    calls: AtomicUsize,
}

impl Fate {
    fn die(&self) {
        // Not caught, so not cleaned up after: what a power cut does to a process.
        kill_process(getpid(), self.dies_by).unwrap();
    }
}

impl Faults for Fate {
    fn before(&self, _event: Event<'_>) -> io::Result<()> {
        if Some(self.calls.fetch_add(1, Ordering::SeqCst)) == self.dies_before_call {
            self.die();
        }
        Ok(())
    }

    fn at_step(&self, step: Step) {
        let step = format!("{step:?}");
        if self.dies_at.as_ref() == Some(&step) {
            self.die();
        }
        if self.pauses_at.as_ref() == Some(&step) {
            io::stderr().write_all(b"paused\n").unwrap();
            let _until_closed = io::stdin().read_to_end(&mut Vec::new()).unwrap();
        }
    }
}

fn payload(version: usize, row: u64) -> Vec<u8> {
    vec![u8::try_from(version).unwrap(); usize::try_from(row * 131 % 3000).unwrap()]
}

/// Writes the cache `base/name` from a version of the source; says whether it was built or found.
fn write(disk: &Disk, base: &Path, name: &str, version: usize) -> &'static str {
    let options = WriteOptions {
        max_shard_bytes: 8000,
        source_version: Some(version.to_string()),
        on_version_change: OnVersionChange::Rebuild,
        ..WriteOptions::default()
    };
    let pool = WorkerPool::new(2).unwrap();
    let check = InterruptCheck::never();
    let begun = CacheWriter::begin(disk, base, name, &options, &pool, &check).unwrap();
    let Begin::Building(mut writer) = begun else {
        return "found";
    };
    for row in 0..ROWS[version] {
        let fields = [("row", MetadataValueRef::Int64(i64::try_from(row).unwrap()))];
        if writer.push(payload(version, row), &fields).unwrap() == Pushed::BlockFull {
            writer.dispatch().unwrap();
        }
    }
    writer.finish().unwrap();
    "built"
}

/// Which version a cache holds, all of it; `None` when there is no cache.
fn held_version(path: &Path) -> Option<usize> {
    if !path.exists() {
        return None;
    }
    let cache = Arc::new(LoadedCache::open(&Disk::new(), path, OpenOptions::default()).unwrap());
    let version: usize = cache
        .manifest()
        .source()
        .version
        .as_ref()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(cache.sample_count(), ROWS[version]);
    for row in 0..ROWS[version] {
        let sample = SampleId::new(row);
        let index_row = cache.index_row(sample).unwrap();
        let bytes = cache.record_bytes(sample, &index_row).unwrap();
        cache.check_record(sample, &index_row, &bytes).unwrap();
        assert_eq!(bytes.as_ref(), payload(version, row));
    }
    let pool = WorkerPool::new(1).unwrap();
    let report = cache
        .verify(&pool, &InterruptCheck::never(), &Arc::default())
        .unwrap();
    assert!(report.is_intact(), "{report:?}");
    Some(version)
}

/// The process that is killed; without variables it writes once and looks at what it wrote.
#[test]
fn child() {
    let Ok(base) = std::env::var(BASE) else {
        let base = tempfile::tempdir().unwrap();
        assert_eq!(write(&Disk::new(), base.path(), "a", 0), "built");
        assert_eq!(held_version(&base.path().join("a")), Some(0));
        return;
    };
    let disk = Disk::with_faults(Arc::new(Fate {
        dies_at: std::env::var(STEP).ok(),
        pauses_at: std::env::var(PAUSE).ok(),
        dies_before_call: std::env::var(CALL)
            .ok()
            .map(|number| number.parse().unwrap()),
        dies_by: std::env::var(SIGNAL).map_or(Signal::KILL, |number| {
            Signal::from_named_raw(number.parse().unwrap()).unwrap()
        }),
        calls: AtomicUsize::new(0),
    }));
    let version = std::env::var(VERSION).unwrap().parse().unwrap();
    let name = std::env::var(NAME).unwrap();
    let outcome = write(&disk, Path::new(&base), &name, version);
    io::stderr()
        .write_all(format!("{outcome}\n").as_bytes())
        .unwrap();
}

/// A variable of a child, and its value.
type Variable = (&'static str, String);

/// Starts a child with variables that say what becomes of it.
fn start(
    base: &Path,
    name: &str,
    version: usize,
    fate: impl IntoIterator<Item = Variable>,
) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture", "--test-threads=1"]);
    command
        .env(BASE, base)
        .env(NAME, name)
        .env(VERSION, version.to_string());
    command.envs(fate);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs a child to its end: how it ended, and its last word.
fn run(
    base: &Path,
    version: usize,
    fate: impl IntoIterator<Item = Variable>,
) -> (ExitStatus, String) {
    finish(start(base, "a", version, fate))
}

fn finish(child: Child) -> (ExitStatus, String) {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    (
        output.status,
        text.lines().last().unwrap_or_default().to_owned(),
    )
}

/// Everything in the folder of temporaries.
fn temporaries(base: &Path) -> Vec<PathBuf> {
    match fs::read_dir(base.join("tmp")) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(error) => {
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            Vec::new()
        }
    }
}

/// Ends a build (`before` is `None`) or a rebuild at a step; `after` is the version that must stand then.
fn at_step(step: Step, before: Option<usize>, after: Option<usize>) {
    for signal in SIGNALS {
        let base = tempfile::tempdir().unwrap();
        if let Some(version) = before {
            assert_eq!(write(&Disk::new(), base.path(), "a", version), "built");
        }
        let new = before.map_or(0, |version| version + 1);
        let number = signal.as_raw();
        let fate = [(STEP, format!("{step:?}")), (SIGNAL, number.to_string())];
        let (status, _) = run(base.path(), new, fate);
        assert_eq!(status.signal(), Some(number), "the step is not passed");
        assert_eq!(held_version(&base.path().join("a")), after);

        let (status, outcome) = run(base.path(), new, None);
        assert!(status.success());
        assert_eq!(outcome, if after == Some(new) { "found" } else { "built" });
        assert_eq!(held_version(&base.path().join("a")), Some(new));
        assert_eq!(temporaries(base.path()), Vec::<PathBuf>::new());
    }
}

macro_rules! table {
    ($($test:ident: $step:ident, $before:expr => $after:expr;)*) => {$(
        #[test]
        fn $test() {
            at_step(Step::$step, $before, $after);
        }
    )*};
}

table! {
    build_killed_with_the_build_lock_is_absent: BuildLocked, None => None;
    build_killed_with_an_empty_directory_is_absent: PrivateDirMade, None => None;
    build_killed_while_records_are_written_is_absent: RecordsWritten, None => None;
    build_killed_with_synced_shards_is_absent: ShardsSynced, None => None;
    build_killed_with_synced_data_is_absent: DataSynced, None => None;
    build_killed_with_named_data_is_absent: DataNamed, None => None;
    build_killed_with_an_unsynced_manifest_is_absent: ManifestWritten, None => None;
    build_killed_with_a_synced_manifest_is_absent: ManifestSynced, None => None;
    build_killed_after_the_rename_is_complete: Published, None => Some(0);
    build_killed_after_the_parent_sync_is_complete: NameSynced, None => Some(0);
    build_killed_after_unlocking_is_complete: Unlocked, None => Some(0);
    rebuild_killed_with_the_build_lock_keeps_the_old: BuildLocked, Some(0) => Some(0);
    rebuild_killed_with_an_empty_directory_keeps_the_old: PrivateDirMade, Some(0) => Some(0);
    rebuild_killed_while_records_are_written_keeps_the_old: RecordsWritten, Some(0) => Some(0);
    rebuild_killed_with_synced_shards_keeps_the_old: ShardsSynced, Some(0) => Some(0);
    rebuild_killed_with_synced_data_keeps_the_old: DataSynced, Some(0) => Some(0);
    rebuild_killed_with_named_data_keeps_the_old: DataNamed, Some(0) => Some(0);
    rebuild_killed_with_an_unsynced_manifest_keeps_the_old: ManifestWritten, Some(0) => Some(0);
    rebuild_killed_with_a_synced_manifest_keeps_the_old: ManifestSynced, Some(0) => Some(0);
    rebuild_killed_after_the_exchange_has_the_new: Published, Some(0) => Some(1);
    rebuild_killed_after_the_syncs_of_names_has_the_new: NameSynced, Some(0) => Some(1);
    rebuild_killed_after_removing_the_old_has_the_new: ReplacedRemoved, Some(0) => Some(1);
    rebuild_killed_after_unlocking_has_the_new: Unlocked, Some(0) => Some(1);
}

/// Kills before call 0, 1, 2 and so on, until a child gets through.
fn at_every_call(before: Option<usize>) {
    let new = before.map_or(0, |version| version + 1);
    for call in 0.. {
        let base = tempfile::tempdir().unwrap();
        if let Some(version) = before {
            write(&Disk::new(), base.path(), "a", version);
        }
        let (status, _) = run(base.path(), new, Some((CALL, call.to_string())));
        let left = held_version(&base.path().join("a"));
        if status.success() {
            assert_eq!(left, Some(new));
            assert!(call > 40, "only {call} calls");
            return;
        }
        assert_eq!(status.signal(), Some(SIGKILL));
        assert!(
            left == before || left == Some(new),
            "call {call} leaves {left:?}"
        );
        assert_eq!(
            write(&Disk::new(), base.path(), "a", new),
            if left == Some(new) { "found" } else { "built" }
        );
        assert_eq!(held_version(&base.path().join("a")), Some(new));
        assert_eq!(
            temporaries(base.path()),
            Vec::<PathBuf>::new(),
            "call {call}"
        );
    }
}

#[test]
fn build_killed_before_any_call_is_absent_or_complete_and_the_next_run_succeeds() {
    at_every_call(None);
}

#[test]
fn rebuild_killed_before_any_call_has_the_old_or_the_new_and_the_next_run_succeeds() {
    at_every_call(Some(0));
}

#[test]
fn four_processes_with_one_name_build_once() {
    let base = tempfile::tempdir().unwrap();
    let children: Vec<Child> = (0..4).map(|_| start(base.path(), "a", 0, None)).collect();
    let mut outcomes: Vec<String> = children.into_iter().map(|child| finish(child).1).collect();
    outcomes.sort();
    assert_eq!(outcomes, ["built", "found", "found", "found"]);
    assert_eq!(held_version(&base.path().join("a")), Some(0));
}

/// A child that builds `a` and stands still with records written, until its input is closed.
fn paused_builder(base: &Path) -> Child {
    let step = format!("{:?}", Step::RecordsWritten);
    let mut paused = start(base, "a", 0, Some((PAUSE, step)));
    let mut words = BufReader::new(paused.stderr.as_mut().unwrap()).lines();
    assert!(words.any(|line| line.unwrap() == "paused"));
    paused
}

#[test]
fn temporaries_of_a_living_process_survive_the_runs_of_others() {
    let base = tempfile::tempdir().unwrap();
    let mut paused = paused_builder(base.path());
    let before = temporaries(base.path());
    assert_eq!(
        before.len(),
        3,
        "a build lock, a directory and its lock: {before:?}"
    );

    let (status, _) = finish(start(base.path(), "b", 0, None));
    assert!(status.success());
    assert_eq!(temporaries(base.path()).len(), 3);
    drop(paused.stdin.take());
    assert!(paused.wait().unwrap().success());
    assert_eq!(held_version(&base.path().join("a")), Some(0));
    assert_eq!(temporaries(base.path()), Vec::<PathBuf>::new());
}

#[test]
fn process_waiting_for_a_builder_that_is_killed_builds_itself() {
    let base = tempfile::tempdir().unwrap();
    let mut paused = paused_builder(base.path());
    let waiting = start(base.path(), "a", 0, None);
    paused.kill().unwrap();
    assert_eq!(paused.wait().unwrap().signal(), Some(SIGKILL));
    let (status, outcome) = finish(waiting);
    assert!(status.success());
    assert_eq!(outcome, "built");
    assert_eq!(temporaries(base.path()), Vec::<PathBuf>::new());
}

//! The order of calls by which a cache becomes durable and visible.

use std::path::Path;

use super::recorder::{Call, Entry, Recorder};
use super::{rebuild, small, write};
use crate::durable::{Operation, Step};
use crate::{Begin, Pushed, WriteOptions};
use dataset_rt_format::MetadataValueRef;

/// Position of the first entry that fits, which must exist.
fn first(entries: &[Entry], fits: impl Fn(&Entry) -> bool) -> usize {
    entries.iter().position(fits).expect("no such entry")
}

fn is_call(call: &Call, operation: Operation, name: &str) -> bool {
    call.operation == operation && call.path.ends_with(name)
}

fn after(entries: &[Entry], operation: Operation, name: &str) -> usize {
    first(
        entries,
        |entry| matches!(entry, Entry::After(call) if is_call(call, operation, name)),
    )
}

fn before(entries: &[Entry], operation: Operation, name: &str) -> usize {
    first(
        entries,
        |entry| matches!(entry, Entry::Before(call) if is_call(call, operation, name)),
    )
}

#[test]
fn build_syncs_files_then_folders_then_manifest_then_renames_then_syncs_parent() {
    let base = tempfile::tempdir().unwrap();
    let recorder = Recorder::new();
    write(&recorder.disk(), base.path(), "a", &small(), 2, 300).unwrap();
    let entries = recorder.entries();
    let private = recorder.succeeded(Operation::Rename).remove(0);
    let private = private.file_name().unwrap().to_str().unwrap();

    let manifest = before(&entries, Operation::Create, "manifest.json");
    let created = recorder.succeeded(Operation::Create);
    let data: Vec<_> = created
        .iter()
        .filter(|path| {
            !path.ends_with("manifest.json") && path.extension() != Some("lock".as_ref())
        })
        .collect();
    assert!(data.len() > 6, "too few files to show an order: {data:?}");
    for path in data {
        let is_this = |entry: &&Entry, operation| matches!(entry, Entry::After(call) if call.operation == operation && &call.path == path);
        let synced = entries
            .iter()
            .position(|entry| is_this(&entry, Operation::SyncFile))
            .unwrap();
        let last_write = entries
            .iter()
            .rposition(|entry| is_this(&entry, Operation::Write))
            .unwrap();
        assert!(last_write < synced, "{path:?} is written after its sync");
        assert!(
            synced < manifest,
            "{path:?} is synced after the manifest is made"
        );
    }
    for folder in ["shards", private] {
        assert!(
            after(&entries, Operation::SyncDir, folder) < manifest,
            "{folder} is synced too late"
        );
    }
    let manifest_synced = after(&entries, Operation::SyncFile, "manifest.json");
    let rename = before(&entries, Operation::Rename, private);
    let named = entries[manifest_synced..rename].iter().any(
        |entry| matches!(entry, Entry::After(call) if is_call(call, Operation::SyncDir, private)),
    );
    assert!(
        named,
        "the manifest's name is not durable before the rename"
    );
    let renamed = after(&entries, Operation::Rename, private);
    let parent_synced = entries[renamed..].iter().any(|entry| {
        matches!(entry, Entry::After(call) if call.operation == Operation::SyncDir && call.path == base.path())
    });
    assert!(parent_synced, "the final name is not durable");
}

#[test]
fn build_below_new_folders_makes_their_names_durable() {
    let base = tempfile::tempdir().unwrap();
    let recorder = Recorder::new();
    write(
        &recorder.disk(),
        &base.path().join("x/y"),
        "a",
        &small(),
        1,
        3,
    )
    .unwrap();
    let synced = recorder.succeeded(Operation::SyncDir);
    for folder in [base.path().to_owned(), base.path().join("x")] {
        assert!(synced.contains(&folder), "{folder:?} is not synced");
    }
}

#[test]
fn build_passes_all_steps_in_order_and_a_rebuild_one_more() {
    let base = tempfile::tempdir().unwrap();
    let recorder = Recorder::new();
    write(&recorder.disk(), base.path(), "a", &small(), 1, 3).unwrap();
    let built: Vec<Step> = Step::ALL
        .into_iter()
        .filter(|step| *step != Step::ReplacedRemoved)
        .collect();
    assert_eq!(recorder.steps(), built);

    let recorder = Recorder::new();
    rebuild(&recorder.disk(), base.path(), "a", 4).unwrap();
    assert_eq!(recorder.steps(), Step::ALL);
}

#[test]
fn rebuild_syncs_both_names_before_it_removes_the_old_files() {
    let base = tempfile::tempdir().unwrap();
    write(
        &crate::durable::Disk::new(),
        base.path(),
        "a",
        &small(),
        1,
        3,
    )
    .unwrap();
    let recorder = Recorder::new();
    rebuild(&recorder.disk(), base.path(), "a", 4).unwrap();
    let entries = recorder.entries();
    let private = recorder.succeeded(Operation::Exchange).remove(0);
    let exchanged = first(
        &entries,
        |entry| matches!(entry, Entry::After(call) if call.operation == Operation::Exchange),
    );
    let removed = first(
        &entries,
        |entry| matches!(entry, Entry::Before(call) if call.operation == Operation::RemoveDir && call.path == private),
    );
    for folder in [base.path(), private.parent().unwrap_or(Path::new("/"))] {
        let synced = entries[exchanged..removed].iter().any(|entry| {
            matches!(entry, Entry::After(call) if call.operation == Operation::SyncDir && call.path == folder)
        });
        assert!(
            synced,
            "{folder:?} is not synced between exchange and removal"
        );
    }
}

#[test]
fn long_shard_is_synced_while_it_grows_and_again_when_it_is_complete() {
    let base = tempfile::tempdir().unwrap();
    let recorder = Recorder::new();
    let begun = super::begin(
        &recorder.disk(),
        base.path(),
        "a",
        &WriteOptions::default(),
        1,
    );
    let Begin::Building(mut writer) = begun.unwrap() else {
        panic!("it exists already");
    };
    for row in 0..40 {
        let fields = [("row", MetadataValueRef::Int64(row))];
        if writer.push(vec![7; 1 << 20], &fields).unwrap() == Pushed::BlockFull {
            writer.dispatch().unwrap();
        }
    }
    writer.finish().unwrap();
    let entries = recorder.entries();
    let places = |operation| {
        let is_this = move |entry: &Entry| matches!(entry, Entry::After(call) if is_call(call, operation, "000000.bin"));
        let of_entries = entries.iter().enumerate();
        of_entries
            .filter(move |(_, entry)| is_this(entry))
            .map(|(place, _)| place)
            .collect::<Vec<_>>()
    };
    let (syncs, writes) = (places(Operation::SyncFile), places(Operation::Write));
    assert_eq!(syncs.len(), 3, "after 16 and 32 MiB and at the end");
    assert!(syncs[0] < *writes.last().unwrap());
    assert!(*writes.last().unwrap() < syncs[2]);
}

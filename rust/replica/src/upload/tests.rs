//! Uploads that end anywhere, and what is at the other end then.

use super::*;
use crate::testing::{Mischief, Objects, failed, options, write_cache};

struct Trip {
    folder: tempfile::TempDir,
    cache: std::path::PathBuf,
    objects: Arc<Objects>,
}

impl Trip {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = write_cache(folder.path(), 50, 1000, 20_000);
        let objects = Objects::at(&folder.path().join("remote"));
        Self {
            folder,
            cache,
            objects,
        }
    }

    fn upload(&self) -> Result<UploadReport, ReplicaError> {
        upload(
            &self.cache,
            "test://place",
            Arc::clone(&self.objects) as Arc<dyn Transport>,
            &options(self.folder.path()),
            &WorkerPool::new(2).unwrap(),
            &InterruptCheck::never(),
            &UploadProgress::default(),
        )
    }

    fn has_manifest(&self) -> bool {
        self.folder.path().join("remote/manifest.json").is_file()
    }
}

#[test]
fn upload_sends_every_file_once_and_the_manifest_last() {
    let trip = Trip::new();
    let first = trip.upload().unwrap();
    // Three shards, blocks, index, metadata, origin, manifest.
    assert_eq!((first.sent_files, first.kept_files), (8, 0));
    assert_eq!(
        trip.objects.puts.lock().unwrap().last().unwrap(),
        "manifest.json"
    );
    let second = trip.upload().unwrap();
    assert_eq!(
        (second.sent_files, second.kept_bytes),
        (0, first.sent_bytes)
    );
    for (file, _) in files_of(&Disk::new(), &trip.cache, &manifest_of(&trip)).unwrap() {
        let there = std::fs::read(trip.folder.path().join("remote").join(file.path())).unwrap();
        assert_eq!(there, std::fs::read(trip.cache.join(file.path())).unwrap());
    }
}

fn manifest_of(trip: &Trip) -> Manifest {
    match read_manifest(&Disk::new(), &trip.cache).unwrap() {
        CacheManifest::Format1(manifest) => *manifest,
        CacheManifest::Original { .. } => panic!("of the original system"),
    }
}

#[test]
fn upload_that_failed_goes_on_where_it_was() {
    let trip = Trip::new();
    trip.objects.misbehave(vec![Mischief::None; 4]);
    trip.objects.misbehave(vec![failed(); 60]);
    trip.upload().unwrap_err();
    assert!(!trip.has_manifest());
    trip.objects.mischief.lock().unwrap().clear();
    let report = trip.upload().unwrap();
    assert!(report.kept_files > 0 && report.sent_files > 0, "{report:?}");
    assert!(trip.has_manifest());
}

#[test]
fn object_of_the_right_length_and_other_bytes_is_sent_again() {
    let trip = Trip::new();
    trip.upload().unwrap();
    let shard = trip.folder.path().join("remote/shards/000001.bin");
    let mut bytes = std::fs::read(&shard).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&shard, bytes).unwrap();
    assert_eq!(trip.upload().unwrap().sent_files, 1);
    assert_eq!(
        std::fs::read(&shard).unwrap(),
        std::fs::read(trip.cache.join("shards/000001.bin")).unwrap()
    );
}

#[test]
fn file_that_is_not_what_the_manifest_says_leaves_no_manifest_at_the_url() {
    let trip = Trip::new();
    let shard = trip.cache.join("shards/000000.bin");
    let mut bytes = std::fs::read(&shard).unwrap();
    bytes[0] ^= 1;
    std::fs::write(&shard, bytes).unwrap();
    let error = trip.upload().unwrap_err();
    assert_eq!(error.facts().url.unwrap(), "test://place/shards/000000.bin");
    assert!(!trip.has_manifest());
}

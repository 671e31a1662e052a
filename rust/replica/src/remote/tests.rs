//! Attempts against servers that misbehave.

use dataset_rt_format::{CacheFile, ErrorKind, Region, Site};

use super::*;
use crate::testing::{Mischief, Objects, failed, options};

/// An object of a hundred bytes behind a server with these manners.
fn object(
    mischief: impl IntoIterator<Item = Mischief>,
) -> (tempfile::TempDir, Arc<Objects>, Remote) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("object"), [7; 100]).unwrap();
    let objects = Objects::at(folder.path());
    objects.misbehave(mischief);
    let remote = Remote::new(
        "test://place/",
        Arc::clone(&objects) as Arc<dyn Transport>,
        &options(folder.path()),
    );
    (folder, objects, remote)
}

fn read(remote: &Remote) -> Result<Vec<u8>, ReplicaError> {
    let mut taken = Vec::new();
    remote.read("object", 10..30, 100, &|| true, &mut |bytes| {
        taken = bytes.to_vec();
        match bytes.iter().all(|byte| *byte == 7) {
            true => Ok(()),
            false => Err(Finding::Wrong(FormatError::OutOfRange {
                site: Site::new(CacheFile::Index, Region::File, 0),
                field: "byte",
                min: 7,
                max: 7,
                found: 6,
            })),
        }
    })?;
    Ok(taken)
}

#[test]
fn fault_that_passes_costs_attempts_and_nothing_else() {
    for mischief in [
        failed(),
        Mischief::Short(1),
        Mischief::Short(20),
        Mischief::Length(99),
        Mischief::Flip(3),
    ] {
        let (_folder, objects, remote) = object([mischief.clone(), mischief]);
        assert_eq!(read(&remote).unwrap(), [7; 20]);
        assert_eq!(objects.reads.lock().unwrap().len(), 3);
        assert_eq!(remote.traffic.repeats.load(Ordering::Relaxed), 2);
    }
}

#[test]
fn fault_that_stays_is_an_error_that_names_url_range_and_attempts() {
    for (mischief, kind, fault) in [
        (failed(), ErrorKind::Remote, Some(ReadFault::Failed)),
        (
            Mischief::Short(1),
            ErrorKind::Remote,
            Some(ReadFault::Length),
        ),
        (
            Mischief::Length(99),
            ErrorKind::Remote,
            Some(ReadFault::Length),
        ),
        (Mischief::Flip(3), ErrorKind::Corrupt, None),
    ] {
        let (_folder, _objects, remote) = object(vec![mischief; 3]);
        let error = read(&remote).unwrap_err();
        let facts = error.facts();
        assert_eq!(error.kind(), kind);
        assert_eq!(facts.url.as_deref(), Some("test://place/object"));
        assert_eq!(facts.byte_range, Some((10, 30)));
        assert_eq!(facts.attempts, Some(3));
        if let ReplicaError::Object { fault: found, .. } = error {
            assert_eq!(Some(found), fault);
        }
    }
}

#[test]
fn refusal_is_not_repeated() {
    for fault in [
        TransportFault::Missing(String::new()),
        TransportFault::Changed(String::new()),
        TransportFault::Refused(String::new()),
    ] {
        let (_folder, objects, remote) = object([Mischief::Answer(fault)]);
        assert_eq!(read(&remote).unwrap_err().facts().attempts, Some(1));
        assert_eq!(objects.reads.lock().unwrap().len(), 1);
    }
}

#[test]
fn version_that_changes_between_reads_is_an_error() {
    let (_folder, _objects, remote) = object([Mischief::None, Mischief::Tag("v2")]);
    read(&remote).unwrap();
    let error = read(&remote).unwrap_err();
    assert!(matches!(
        error,
        ReplicaError::Object {
            fault: ReadFault::Changed,
            attempts: 1,
            ..
        }
    ));
}

#[test]
fn waits_grow_to_a_bound_and_nobody_waits_for_what_is_not_wanted() {
    let (folder, _objects, _remote) = object([]);
    let slow = StoreOptions {
        retry_wait: Duration::from_secs(1),
        ..options(folder.path())
    };
    let remote = Remote::new("test://place", Objects::at(folder.path()), &slow);
    let waits: Vec<_> = (1..=7)
        .map(|number| remote.wait_before(number).as_secs())
        .collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 20, 20]);
    let read = remote.read("object", 0..1, 100, &|| false, &mut |_| Ok(()));
    assert!(matches!(read, Err(ReplicaError::Cancelled)));
}

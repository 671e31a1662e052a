//! Caches with arbitrary edits: an answer is the written value or an error, never a panic or other bytes.

use std::fs;
use std::sync::{Arc, LazyLock};

use dataset_rt_format::{ErrorKind, SampleId};
use dataset_rt_pool::WorkerPool;
use proptest::prelude::*;

use super::{label, payload, pool, small, tree, write};
use crate::durable::Disk;
use crate::{InterruptCheck, LoadedCache, OpenOptions};

const ROWS: u64 = 40;

type Files = Vec<(String, Vec<u8>)>;

static POOL: LazyLock<Arc<WorkerPool>> = LazyLock::new(|| pool(1));

static INTACT: LazyLock<Files> = LazyLock::new(|| {
    let base = tempfile::tempdir().unwrap();
    let path = write(&Disk::new(), base.path(), "a", &small(), 1, ROWS)
        .unwrap()
        .path;
    tree(&path)
        .into_iter()
        .filter(|(name, _)| name != "shards")
        .collect()
});

/// Reads everything there is; errors must be of kind `Corrupt` or about versions.
fn read_all(cache: &LoadedCache) {
    let expected = |kind| {
        assert!(
            matches!(kind, ErrorKind::Corrupt | ErrorKind::UnsupportedVersion),
            "{kind:?}"
        );
    };
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
            Err(error) => expected(error.kind()),
        }
        match cache
            .metadata_row(sample)
            .and_then(|metadata| metadata.value(1))
        {
            Ok(value) => assert_eq!(value, label(row).as_str().into()),
            Err(error) => expected(error.kind()),
        }
    }
    if let Err(error) = cache.metadata_batches() {
        expected(error.kind());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cache_with_one_edit_answers_what_was_written_or_an_error(
        file in 0usize..100,
        at in any::<prop::sample::Index>(),
        edit in prop_oneof![(1u8..=255).prop_map(Some), Just(None)],
        mapped in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("shards")).unwrap();
        let edited = file % INTACT.len();
        for (number, (name, bytes)) in INTACT.iter().enumerate() {
            let mut bytes = bytes.clone();
            if number == edited {
                let at = at.index(bytes.len());
                match edit {
                    Some(mask) => bytes[at] ^= mask,
                    None => bytes.truncate(at),
                }
            }
            fs::write(dir.path().join(name), bytes).unwrap();
        }
        match LoadedCache::open(&Disk::new(), dir.path(), OpenOptions { mapped }) {
            Err(error) => prop_assert!(
                matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::UnsupportedVersion),
                "{}", error
            ),
            Ok(cache) => {
                read_all(&cache);
                let name = &INTACT[edited].0;
                let report = Arc::new(cache).verify(&POOL, &InterruptCheck::never(), &Arc::default()).unwrap();
                prop_assert_eq!(report.is_intact(), name == "origin.json", "an edit of {}", name);
            }
        }
    }
}

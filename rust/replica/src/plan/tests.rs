//! Requests against what they must be, for any shape of shards and any records.

use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

/// Records back to back, and which of them are absent.
struct Shelf {
    records: Vec<RecordRange>,
    absent: Vec<bool>,
}

impl Shelf {
    /// Records of these lengths, in shards of so many.
    fn new(lengths: &[u64], per_shard: usize, absent: Vec<bool>) -> Self {
        let shards = (0..).zip(lengths.chunks(per_shard));
        let records = shards.flat_map(|(shard, lengths)| {
            let mut end_bytes = 0;
            lengths.iter().map(move |length| {
                let start_bytes = end_bytes;
                end_bytes += length;
                RecordRange {
                    shard,
                    start_bytes,
                    end_bytes,
                }
            })
        });
        Self {
            records: records.collect(),
            absent,
        }
    }

    fn all_absent(lengths: &[u64], per_shard: usize) -> Self {
        Self::new(lengths, per_shard, vec![true; lengths.len()])
    }

    fn plan(&self, samples: &[u64], later_share: f64) -> Vec<Run> {
        let needed: Vec<_> = samples
            .iter()
            .map(|sample| Needed {
                sample: *sample,
                turn: 0,
            })
            .collect();
        let Ok(runs) = plan_requests(self, &needed, Spare::Kept { later_share });
        runs
    }
}

impl Records for Shelf {
    type Error = Infallible;

    fn range(&self, sample: u64) -> Result<RecordRange, Infallible> {
        Ok(self.records[usize::try_from(sample).unwrap()])
    }

    fn sample_count(&self) -> u64 {
        self.records.len() as u64
    }

    fn are_absent(&self, samples: Range<u64>) -> Result<Vec<bool>, Infallible> {
        let absent = samples.map(|sample| self.absent[usize::try_from(sample).unwrap()]);
        Ok(absent.collect())
    }
}

const KIB: u64 = 1024;

#[test]
fn records_far_apart_are_asked_for_alone() {
    let shelf = Shelf::all_absent(&[200 * KIB; 15], 100);
    let runs = shelf.plan(&[0, 4, 9], 0.0);
    let samples: Vec<_> = runs.into_iter().map(|run| run.samples).collect();
    assert_eq!(samples, [0..1, 4..5, 9..10]);
}

#[test]
fn gap_cheaper_than_a_request_is_moved() {
    let shelf = Shelf::all_absent(&[KIB; 4000], 4000);
    let runs = shelf.plan(&[10, 100], 0.0);
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].samples, 10..101);
    assert_eq!(runs[0].bytes, 10 * KIB..101 * KIB);
}

#[test]
fn piece_whose_records_will_be_needed_is_moved_whole() {
    let shelf = Shelf::all_absent(&[KIB; 10_000], 10_000);
    let runs = shelf.plan(&[5000], 0.9);
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].samples, 4096..8192);
    let few = shelf.plan(&[5000], 0.001);
    assert_eq!(few[0].samples, 5000..5001);
}

#[test]
fn piece_of_many_needed_records_is_moved_whole() {
    let shelf = Shelf::all_absent(&[64 * KIB; 64], 64);
    let needed: Vec<u64> = (0..64).step_by(4).collect();
    let runs = shelf.plan(&needed, 0.0);
    assert_eq!(runs.len(), 16, "gaps of 192 KiB are dearer than requests");
    let needed: Vec<u64> = (0..64).step_by(2).collect();
    assert_eq!(shelf.plan(&needed, 0.0).len(), 1);
}

#[test]
fn store_that_can_not_hold_everything_moves_little_besides() {
    let shelf = Shelf::all_absent(&[16 * KIB; 2048], 2048);
    let needed: Vec<_> = (0..2048)
        .step_by(8)
        .map(|sample| Needed { sample, turn: 0 })
        .collect();
    let Ok(runs) = plan_requests(&shelf, &needed, Spare::Displacing);
    assert_eq!(runs.len(), 256);
    let Ok(runs) = plan_requests(&shelf, &needed, Spare::Kept { later_share: 0.0 });
    assert!(runs.len() < 16);
}

#[test]
fn resident_records_of_a_whole_piece_are_not_moved_again() {
    let mut absent = vec![true; 4096];
    absent[1000..2000].fill(false);
    let shelf = Shelf::new(&[KIB; 4096], 4096, absent);
    let samples = shelf.plan(&[3000], 1.0).into_iter().map(|run| run.samples);
    assert_eq!(samples.collect::<Vec<_>>(), [0..1000, 2000..4096]);
}

#[test]
fn requests_come_in_the_order_of_their_soonest_turn() {
    let shelf = Shelf::all_absent(&[PIECE_BYTES; 4], 4);
    let needed = [(0, 2), (1, 0), (3, 1)].map(|(sample, turn)| Needed { sample, turn });
    let Ok(runs) = plan_requests(&shelf, &needed, Spare::Kept { later_share: 0.0 });
    let samples: Vec<_> = runs.iter().map(|run| run.samples.start).collect();
    assert_eq!(samples, [1, 3, 0]);
}

proptest! {
    #[test]
    fn plan_holds_each_needed_record_once_and_stays_in_bounds(
        lengths in proptest::collection::vec(0..300 * KIB, 1..200),
        per_shard in 1_usize..80,
        chosen in proptest::collection::vec((any::<bool>(), any::<bool>()), 200),
        later_share in 0.0..=1.0_f64,
        is_kept in any::<bool>(),
    ) {
        let absent: Vec<_> = chosen.iter().map(|(absent, _)| *absent).take(lengths.len()).collect();
        let shelf = Shelf::new(&lengths, per_shard, absent.clone());
        let needed: Vec<_> = (0..)
            .zip(&chosen)
            .take(lengths.len())
            .filter(|(_, (absent, needed))| *absent && *needed)
            .map(|(sample, _)| Needed { sample, turn: 1000 - sample })
            .collect();
        let spare = match is_kept {
            true => Spare::Kept { later_share },
            false => Spare::Displacing,
        };
        let Ok(runs) = plan_requests(&shelf, &needed, spare);
        let mut held = vec![0; lengths.len()];
        for run in &runs {
            let mut end = run.bytes.start;
            for sample in run.samples.clone() {
                let number = usize::try_from(sample).unwrap();
                let record = shelf.records[number];
                held[number] += 1;
                prop_assert_eq!(record.shard, run.shard);
                prop_assert_eq!(record.start_bytes, end);
                end = record.end_bytes;
                prop_assert!(absent[number], "sample {} is there", sample);
            }
            prop_assert_eq!(end, run.bytes.end);
            prop_assert!(run.bytes.start / PIECE_BYTES == shelf.records[usize::try_from(run.samples.end - 1).unwrap()].start_bytes / PIECE_BYTES);
        }
        prop_assert!(held.iter().all(|count| *count <= 1));
        prop_assert!(needed.iter().all(|one| held[usize::try_from(one.sample).unwrap()] == 1));
        prop_assert!(runs.is_sorted_by_key(|run| run.turn));
        let bytes: u64 = runs.iter().map(|run| run.bytes.end - run.bytes.start).sum();
        let least: u64 = needed.iter().map(|one| lengths[usize::try_from(one.sample).unwrap()]).sum();
        if !is_kept {
            prop_assert!(bytes <= least + needed.len() as u64 * FULL_REQUEST_BYTES);
        }
    }
}

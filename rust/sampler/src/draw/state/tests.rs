use super::*;
use crate::draw::partition::{Partition, Tail};

fn key() -> StreamKey {
    StreamKey {
        mode: DrawMode::WithReplacement,
        seed: Seed::new(7),
        caches_digest: Digest128::of(b"caches"),
        table_digest: Digest128::of(b"table"),
    }
}

#[test]
fn state_of_each_other_stream_is_refused_naming_both() {
    let state = StreamState::of_cursor(key(), &Cursor::new(10).unwrap());
    let others = [
        (
            StateField::Mode,
            StreamKey {
                mode: DrawMode::EachOnce,
                ..key()
            },
        ),
        (
            StateField::Seed,
            StreamKey {
                seed: Seed::new(8),
                ..key()
            },
        ),
        (
            StateField::CachesDigest,
            StreamKey {
                caches_digest: Digest128::of(b""),
                ..key()
            },
        ),
        (
            StateField::TableDigest,
            StreamKey {
                table_digest: Digest128::of(b""),
                ..key()
            },
        ),
    ];
    for (differing, other) in others {
        match state.cursor(&other) {
            Err(SamplerError::StateMismatch {
                field,
                saved,
                current,
            }) => {
                assert_eq!(field, differing);
                assert_ne!(saved, current);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(state.cursor(&key()), Ok(Cursor::new(10).unwrap()));
}

#[test]
fn state_of_another_version_is_refused_before_anything_else() {
    let state = StreamState::of_cursor(key(), &Cursor::new(10).unwrap());
    let later = StreamState {
        version: 2,
        epoch_length: 0,
        ..state
    };
    let refused = later.check(&StreamKey {
        seed: Seed::new(8),
        ..key()
    });
    assert_eq!(
        refused,
        Err(SamplerError::StateVersion {
            found: 2,
            supported: 1
        })
    );
}

#[test]
fn state_that_contradicts_itself_is_refused() {
    let state = StreamState::of_cursor(key(), &Cursor::new(10).unwrap());
    let broken = [
        (
            StateField::EpochLength,
            StreamState {
                epoch_length: 0,
                ..state
            },
        ),
        (
            StateField::Position,
            StreamState {
                position: 5,
                window_end: 4,
                ..state
            },
        ),
        (
            StateField::WindowEnd,
            StreamState {
                window_end: u64::MAX,
                ..state
            },
        ),
    ];
    for (wrong, state) in broken {
        let refused = state.check(&key());
        assert!(matches!(refused, Err(SamplerError::StateValue { field, .. }) if field == wrong));
    }
}

#[test]
fn state_within_a_window_resumes_with_its_rest_and_then_full_windows() {
    let mut cursor = Cursor::new(10).unwrap();
    cursor.take_window().unwrap();
    let mut progress = WindowProgress::new(cursor.take_window().unwrap(), Partition::WHOLE);
    progress.advance(4);
    let state = StreamState::of_window(key(), &progress);
    assert_eq!(
        (state.position, state.window_end, state.epoch_length),
        (14, 20, 10)
    );
    let mut resumed = state.cursor(&key()).unwrap();
    assert_eq!(resumed.epoch_length(), 10);
    assert_eq!(StreamState::of_cursor(key(), &resumed), state);
    let spans: Vec<_> = (0..2)
        .map(|_| resumed.take_window().unwrap())
        .map(|window| (window.start(), window.end()))
        .collect();
    assert_eq!(spans, [(14, 20), (20, 30)]);
}

#[test]
fn state_at_the_end_of_a_window_resumes_with_the_next_one() {
    let mut cursor = Cursor::new(10).unwrap();
    let mut progress = WindowProgress::new(cursor.take_window().unwrap(), Partition::WHOLE);
    progress.advance(10);
    let state = StreamState::of_window(key(), &progress);
    let window = state.cursor(&key()).unwrap().take_window().unwrap();
    assert_eq!((window.start(), window.end()), (10, 20));
    assert_eq!(state.window(&key()).unwrap().draws(), 0);
}

#[test]
fn states_of_ranks_at_equal_draws_are_one_state() {
    let window = Window::new(0, 10).unwrap();
    for tail in [Tail::Uneven, Tail::Drop, Tail::Pad] {
        let states: Vec<_> = (0..4)
            .map(|index| {
                let partition = Partition::new(index, 4, tail).unwrap();
                let mut progress = WindowProgress::new(window, partition);
                progress.advance(1);
                progress.skip(1);
                StreamState::of_window(key(), &progress)
            })
            .collect();
        assert!(states.iter().all(|state| state == &states[0]), "{states:?}");
    }
}

#[test]
fn skips_are_counted_across_windows_and_states() {
    let mut cursor = Cursor::new(10).unwrap();
    cursor.skip(3).unwrap();
    let mut progress = WindowProgress::new(cursor.take_window().unwrap(), Partition::WHOLE);
    progress.skip(4);
    let state = StreamState::of_window(key(), &progress);
    assert_eq!((state.position, state.skipped), (7, 7));
    let mut resumed = state.cursor(&key()).unwrap();
    resumed.skip(2).unwrap();
    assert_eq!(StreamState::of_cursor(key(), &resumed).skipped, 9);
}

#[test]
fn every_mode_has_a_name_of_its_own() {
    for mode in [
        DrawMode::Ordered,
        DrawMode::WithReplacement,
        DrawMode::EachOnce,
    ] {
        assert_eq!(DrawMode::from_name(mode.name()), Ok(mode));
    }
    assert!(DrawMode::from_name("shuffled").is_err());
}

#[test]
fn states_of_ranks_are_equal_only_where_the_same_draws_follow() {
    let at = |position, window_end, epoch_length| StreamState {
        version: STATE_VERSION,
        key: key(),
        epoch_length,
        position,
        window_end,
        skipped: 0,
    };
    let own = at(3, 10, 10);
    assert_eq!(own.check_equal(&own), Ok(()));
    assert_eq!(StreamState { skipped: 9, ..own }.check_equal(&own), Ok(()));
    for (other, differing) in [
        (at(4, 10, 10), StateField::Position),
        (at(3, 11, 10), StateField::WindowEnd),
        (at(3, 10, 11), StateField::EpochLength),
    ] {
        assert!(matches!(
            other.check_equal(&own),
            Err(SamplerError::StateMismatch { field, .. }) if field == differing
        ));
    }
}

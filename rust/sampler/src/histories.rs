//! Any history of cursors, windows, parts, skips, updates, saves and loads equals the slow model, at any size up to the ends of the numbers.
//!
//! Must not flake: the histories are the same in each run.
#![expect(
    clippy::cast_possible_truncation,
    reason = "numbers of 128 bits that the model has bounded; tables of a few rows"
)]

use dataset_rt_format::{Digest128, RowIndex, Seed};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::slow_model::{Slow, SlowCursor, SlowPart, Span, rest_of, slow_cursor};
use crate::testing::weighted;
use crate::{
    Cursor, DrawMode, DrawStream, LAST_POSITION, Partition, PositionRun, StreamKey, StreamState,
    Tail, Window, WindowProgress,
};

/// Draws of each part that are looked at after every step.
const NEXT: usize = 9;

const MODES: [DrawMode; 3] = [
    DrawMode::Ordered,
    DrawMode::WithReplacement,
    DrawMode::EachOnce,
];

/// A step of a history.
#[derive(Clone, Debug)]
enum Step {
    Take {
        nested: Vec<(u64, u64)>,
        tail: usize,
    },
    Epoch(u64),
    Skip(u64),
    Update(Vec<f64>),
    Advance(Index, u64),
    SkipWithin(Index, u64),
    Finish(Index),
    Save(Option<Index>),
    Load(Index),
    LoadWithin(Index, Index),
}

/// Numbers of draws from none to beyond the end of any stream.
fn counts() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0_u64..40,
        1 => select(vec![1 << 32, 1 << 62, (1 << 62) - 3, LAST_POSITION - 20, LAST_POSITION]),
        1 => select(vec![1 << 63, u64::MAX - 1, u64::MAX]),
    ]
}

fn weights() -> impl Strategy<Value = Vec<f64>> {
    let extreme = select(vec![
        5e-324,
        1e-308,
        1e-20,
        1.0,
        3.0,
        9e15,
        1e300,
        f64::MAX / 16.0,
    ]);
    prop_oneof![
        (1_usize..12).prop_map(|rows| vec![1.0; rows]),
        prop::collection::vec(0.5_f64..9.0, 1..12),
        prop::collection::vec(extreme, 1..12),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let parts = prop::collection::vec((0_u64..4, 1_u64..5), 0..3);
    let wide = select(vec![
        (0, u64::MAX),
        (u64::MAX - 1, u64::MAX),
        (1 << 40, 1 << 41),
    ]);
    let nested = prop_oneof![6 => parts, 1 => wide.prop_map(|part| vec![part])];
    let step = prop_oneof![
        6 => (nested, 0_usize..3).prop_map(|(nested, tail)| Step::Take { nested, tail }),
        2 => counts().prop_map(Step::Epoch),
        2 => counts().prop_map(Step::Skip),
        1 => weights().prop_map(Step::Update),
        6 => (any::<Index>(), counts()).prop_map(|(at, draws)| Step::Advance(at, draws)),
        2 => (any::<Index>(), counts()).prop_map(|(at, draws)| Step::SkipWithin(at, draws)),
        1 => any::<Index>().prop_map(Step::Finish),
        4 => prop::option::of(any::<Index>()).prop_map(Step::Save),
        3 => any::<Index>().prop_map(Step::Load),
        2 => (any::<Index>(), any::<Index>()).prop_map(|(at, state)| Step::LoadWithin(at, state)),
    ];
    prop::collection::vec(step, 1..80)
}

/// Both sides of a history.
struct History {
    slow: Slow,
    table: u64,
    stream: DrawStream,
    cursor: Cursor,
    slow_cursor: SlowCursor,
    parts: Vec<(u64, WindowProgress, SlowPart)>,
    states: Vec<StreamState>,
}

impl History {
    fn new(mode: DrawMode, seed: u64, weights: Vec<f64>) -> Self {
        let rows = weights.len() as u64;
        Self {
            stream: DrawStream::new(mode, Seed::new(seed), weighted(&weights)),
            slow: Slow {
                mode,
                seed,
                weights,
            },
            table: 0,
            cursor: Cursor::new(rows).unwrap(),
            slow_cursor: slow_cursor(0, rows.into(), 0, 0),
            parts: Vec::new(),
            states: Vec::new(),
        }
    }

    fn key(&self, table: u64) -> StreamKey {
        StreamKey {
            mode: self.slow.mode,
            seed: Seed::new(self.slow.seed),
            caches_digest: Digest128::of(b"caches"),
            table_digest: Digest128::of(&table.to_le_bytes()),
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Take { nested, tail } => self.take_window(&nested, tail),
            Step::Epoch(draws) => {
                assert_eq!(self.cursor.set_epoch_length(draws).is_ok(), draws > 0);
                if draws > 0 {
                    self.slow_cursor.epoch = draws.into();
                }
            }
            Step::Skip(draws) => {
                let is_taken = self.slow_cursor.skip(draws.into());
                assert_eq!(self.cursor.skip(draws).is_ok(), is_taken);
            }
            Step::Update(weights) => {
                let fresh = Self::new(self.slow.mode, self.slow.seed, weights);
                self.table += 1;
                (self.slow, self.stream) = (fresh.slow, fresh.stream);
                (self.cursor, self.slow_cursor) = (fresh.cursor, fresh.slow_cursor);
            }
            Step::Advance(at, draws) => self.with_part(at, |part, slow| {
                part.advance(draws);
                slow.advance(draws.into());
            }),
            Step::SkipWithin(at, draws) => self.with_part(at, |part, slow| {
                let before = slow.position();
                part.skip(draws);
                slow.advance(draws.into());
                slow.skipped += slow.position() - before;
            }),
            Step::Finish(at) => self.with_part(at, |part, slow| {
                part.finish();
                slow.delivered = slow.draws();
                slow.is_finished = true;
            }),
            Step::Save(None) => {
                let state = StreamState::of_cursor(self.key(self.table), &self.cursor);
                self.states.push(state);
            }
            Step::Save(Some(at)) => {
                if let Some((table, part, _)) = pick(&self.parts, at) {
                    let state = StreamState::of_window(self.key(*table), part);
                    self.states.push(state);
                }
            }
            Step::Load(at) => self.load(at),
            Step::LoadWithin(at, state) => self.load_within(at, state),
        }
        self.agree();
    }

    fn take_window(&mut self, nested: &[(u64, u64)], tail: usize) {
        let tail = [Tail::Uneven, Tail::Drop, Tail::Pad][tail];
        let (window, span) = (self.cursor.take_window(), self.slow_cursor.take());
        assert_eq!(window.is_ok(), span.is_some(), "{window:?} {span:?}");
        let (Ok(window), Some(span)) = (window, span) else {
            return;
        };
        assert_span(&window, &span);
        let (mut part, mut index, mut count) = (Partition::WHOLE, 0_u128, 1_u128);
        for (inner, of) in nested {
            let fits = inner < of && count * u128::from(*of) <= u64::MAX.into();
            let inside = part.part(*inner, *of, tail);
            assert_eq!(inside.is_ok(), fits, "{inner} of {of} of {part:?}");
            if let Ok(inside) = inside {
                part = inside;
                (index, count) = (index + count * u128::from(*inner), count * u128::from(*of));
            }
        }
        assert_eq!((part.index().into(), part.count().into()), (index, count));
        let slow = SlowPart {
            span,
            index,
            count,
            tail: part.tail(),
            delivered: 0,
            skipped: 0,
            is_finished: false,
        };
        self.parts
            .push((self.table, WindowProgress::new(window, part), slow));
    }

    fn with_part(&mut self, at: Index, act: impl FnOnce(&mut WindowProgress, &mut SlowPart)) {
        if !self.parts.is_empty() {
            let at = at.index(self.parts.len());
            let (_, part, slow) = &mut self.parts[at];
            act(part, slow);
        }
    }

    fn load(&mut self, at: Index) {
        let Some(state) = pick(&self.states, at).copied() else {
            return;
        };
        let key = self.key(self.table);
        let taken = state.cursor(&key);
        assert_eq!(taken.is_ok(), state.key == key);
        if let Ok(cursor) = taken {
            self.cursor = cursor;
            self.slow_cursor = slow_cursor(
                state.position.into(),
                state.epoch_length.into(),
                state.skipped.into(),
                state.window_end.into(),
            );
        }
    }

    fn load_within(&mut self, at: Index, state: Index) {
        let Some(state) = pick(&self.states, state).copied() else {
            return;
        };
        let key = pick(&self.parts, at).map(|(table, ..)| self.key(*table));
        self.with_part(at, |part, slow| {
            let taken = state.window(&key.expect("there is such a part"));
            assert_eq!(taken.is_ok(), key == Some(state.key));
            if let Ok(window) = taken {
                *part = WindowProgress::new(window, part.partition());
                slow.span = rest_of(&state);
                (slow.delivered, slow.skipped, slow.is_finished) = (0, 0, false);
            }
        });
    }

    /// Compares all that both sides tell.
    fn agree(&mut self) {
        let (cursor, slow) = (&self.cursor, &self.slow_cursor);
        assert_eq!(u128::from(cursor.position()), slow.position);
        assert_eq!(u128::from(cursor.epoch_length()), slow.epoch);
        assert_eq!(
            u128::from(cursor.skipped()),
            slow.skipped.min(u64::MAX.into())
        );
        let end = slow.rest.map_or(slow.position, |rest| rest.end);
        assert_eq!(u128::from(cursor.window_end()), end);
        for (table, part, slow) in &self.parts {
            assert_eq!(u128::from(part.draws()), slow.draws());
            assert_eq!(u128::from(part.delivered()), slow.delivered);
            assert_eq!(u128::from(part.position()), slow.position());
            let skipped = (slow.span.skipped + slow.skipped).min(u64::MAX.into());
            assert_eq!(u128::from(part.skipped()), skipped);
            let runs = coming_runs(part, slow.delivered);
            let coming: Vec<_> = runs.iter().flat_map(positions).collect();
            let wanted = (slow.delivered..slow.draws()).take(coming.len());
            let wanted: Vec<_> = wanted.map(|local| slow.position_of(local)).collect();
            assert_eq!(coming, wanted);
            if let Some(list) = slow.list() {
                let rest = list.iter().skip(slow.delivered as usize).take(NEXT);
                assert_eq!(coming, rest.copied().collect::<Vec<_>>());
            }
            if *table == self.table {
                for run in runs {
                    let mut drawn = [RowIndex::new(0); NEXT];
                    let drawn = &mut drawn[..run.draws as usize];
                    self.stream.rows_at(run.start, run.stride, drawn).unwrap();
                    let row = |position| RowIndex::new(self.slow.row(position as u64));
                    assert_eq!(drawn, positions(&run).map(row).collect::<Vec<_>>());
                }
            }
        }
    }
}

/// The next draws of a part.
fn coming_runs(part: &WindowProgress, delivered: u128) -> Vec<PositionRun> {
    let (mut runs, mut left) = (Vec::new(), NEXT as u64);
    let mut local = delivered as u64;
    while let Some(run) = part.run_at(local, left) {
        (local, left) = (local + run.draws, left - run.draws);
        runs.push(run);
    }
    runs
}

fn positions(run: &PositionRun) -> impl Iterator<Item = u128> {
    let (start, stride) = (u128::from(run.start), u128::from(run.stride));
    (0..u128::from(run.draws)).map(move |step| start + stride * step)
}

fn assert_span(window: &Window, span: &Span) {
    let found = [window.origin(), window.start(), window.end()].map(u128::from);
    assert_eq!(found, [span.origin, span.start, span.end]);
    assert_eq!(u128::from(window.epoch_length()), span.epoch);
}

fn pick<T>(list: &[T], at: Index) -> Option<&T> {
    (!list.is_empty()).then(|| at.get(list))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 8000,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(0x5eed),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_history_equals_the_slow_model(
        mode in select(MODES.to_vec()),
        seed in any::<u64>(),
        weights in weights(),
        start in counts(),
        steps in steps(),
    ) {
        let mut history = History::new(mode, seed, weights);
        history.take(Step::Skip(start));
        for step in steps {
            history.take(step);
        }
    }
}

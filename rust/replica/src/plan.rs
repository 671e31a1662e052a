//! Which bytes are asked for: from records that are needed to requests.
//!
//! Owns the choice between ranges of records and whole pieces of a shard, whichever moves fewer bytes when a request counts as some bytes itself. Must not look at files or
//! servers: places and residence are asked of the caller. Invariant: every needed record is in exactly one request, requests of one plan don't overlap, and each is
//! a run of whole records within one piece, so that its size is bounded by a piece or by one record.

use std::ops::Range;

/// Bytes that a request costs beside those it moves: what a connection could have moved while it waited for an answer.
pub(crate) const REQUEST_BYTES: u64 = 128 * 1024;

/// The same where the store can't hold everything: what is moved besides pushes out what will be needed.
const FULL_REQUEST_BYTES: u64 = REQUEST_BYTES / 4;

/// Length of a piece: a record belongs to the piece that its first byte is in.
pub(crate) const PIECE_BYTES: u64 = 4 * 1024 * 1024;

/// A record that a draw needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Needed {
    pub(crate) sample: u64,
    /// When it is needed: lower is sooner.
    pub(crate) turn: u64,
}

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordRange {
    pub(crate) shard: u32,
    pub(crate) start_bytes: u64,
    pub(crate) end_bytes: u64,
}

impl RecordRange {
    fn piece(&self) -> (u32, u64) {
        (self.shard, self.start_bytes / PIECE_BYTES)
    }
}

/// What bytes that nobody needs now are worth.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spare {
    /// The store keeps all that is fetched; this part of it will be needed later.
    Kept { later_share: f64 },
    /// They take the room of records that are needed as much.
    Displacing,
}

impl Spare {
    fn later_share(self) -> f64 {
        match self {
            Self::Kept { later_share } => later_share,
            Self::Displacing => 0.0,
        }
    }

    fn request_bytes(self) -> u64 {
        match self {
            Self::Kept { .. } => REQUEST_BYTES,
            Self::Displacing => FULL_REQUEST_BYTES,
        }
    }
}

/// What is asked of a cache while its requests are planned.
pub(crate) trait Records {
    /// What keeps it from answering.
    type Error;

    /// Where the record of a sample is.
    ///
    /// # Errors
    /// Whatever keeps the index from being read.
    fn range(&self, sample: u64) -> Result<RecordRange, Self::Error>;

    /// Number of samples.
    fn sample_count(&self) -> u64;

    /// For each of these samples, whether its record has to be asked for: it is neither resident nor under way.
    ///
    /// # Errors
    /// Whatever keeps that from being told.
    fn are_absent(&self, samples: Range<u64>) -> Result<Vec<bool>, Self::Error>;
}

/// A run of records to ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) samples: Range<u64>,
    pub(crate) shard: u32,
    pub(crate) bytes: Range<u64>,
    /// The soonest turn of a record in it.
    pub(crate) turn: u64,
}

/// Plans requests for records that are absent, given in the order of their samples and each once; `spare` says what other records are worth. Requests come sorted by turn.
///
/// # Errors
/// What `records` answers.
pub(crate) fn plan_requests<R: Records>(
    records: &R,
    needed: &[Needed],
    spare: Spare,
) -> Result<Vec<Run>, R::Error> {
    let request_bytes = spare.request_bytes();
    let cost = |run: &Run| run.bytes.end - run.bytes.start + request_bytes;
    let mut runs = Vec::new();
    let mut rest = needed;
    while let Some(first) = rest.first() {
        let piece = piece_of(records, first.sample)?;
        let count = rest.partition_point(|one| one.sample < piece.samples.end);
        let (group, others) = rest.split_at(count.max(1));
        rest = others;
        let narrow = joined(records, group, request_bytes)?;
        let piece_bytes = piece.bytes.end - piece.bytes.start;
        let records_later = (piece.samples.end - piece.samples.start) as f64;
        let by_ranges = narrow.iter().map(cost).sum::<u64>() as f64;
        let by_ranges_later =
            spare.later_share() * (piece_bytes as f64 + records_later * request_bytes as f64);
        if ((piece_bytes + request_bytes) as f64) <= by_ranges.max(by_ranges_later) {
            let wide = widened(records, &piece, group)?;
            runs.extend(joined(records, &wide, request_bytes)?);
        } else {
            runs.extend(narrow);
        }
    }
    runs.sort_by_key(|run| run.turn);
    Ok(runs)
}

/// Joins records to runs where the gap between two of them is cheaper than a request.
fn joined<R: Records>(
    records: &R,
    needed: &[Needed],
    request_bytes: u64,
) -> Result<Vec<Run>, R::Error> {
    let mut runs: Vec<Run> = Vec::new();
    for one in needed {
        let range = records.range(one.sample)?;
        if let Some(run) = runs.last_mut() {
            let gap = range.start_bytes.saturating_sub(run.bytes.end);
            // A record under way within a gap would be asked for twice.
            let is_joined = gap < request_bytes && {
                let between = run.samples.end..one.sample;
                between.is_empty() || records.are_absent(between)?.iter().all(|absent| *absent)
            };
            if is_joined {
                run.samples.end = one.sample + 1;
                run.bytes.end = range.end_bytes;
                run.turn = run.turn.min(one.turn);
                continue;
            }
        }
        runs.push(Run {
            samples: one.sample..one.sample + 1,
            shard: range.shard,
            bytes: range.start_bytes..range.end_bytes,
            turn: one.turn,
        });
    }
    Ok(runs)
}

/// Every absent record of a piece; those that `group` needs have their own turns, the others that of the soonest of them.
fn widened<R: Records>(
    records: &R,
    piece: &Run,
    group: &[Needed],
) -> Result<Vec<Needed>, R::Error> {
    let soonest = group.iter().map(|one| one.turn).min().unwrap_or(u64::MAX);
    let absent = records.are_absent(piece.samples.clone())?;
    let mut group = group.iter().peekable();
    let mut wide = Vec::new();
    for (sample, is_absent) in piece.samples.clone().zip(absent) {
        match group.next_if(|one| one.sample == sample) {
            Some(one) => wide.push(*one),
            None if is_absent => wide.push(Needed {
                sample,
                turn: soonest,
            }),
            None => {}
        }
    }
    Ok(wide)
}

/// The piece that a sample's record is in: all records that begin in it.
fn piece_of<R: Records>(records: &R, sample: u64) -> Result<Run, R::Error> {
    let own = records.range(sample)?;
    let piece = own.piece();
    let first = edge(records, sample, piece, Side::Before)?;
    let last = edge(records, sample, piece, Side::Behind)?;
    Ok(Run {
        samples: first..last + 1,
        shard: own.shard,
        bytes: records.range(first)?.start_bytes..records.range(last)?.end_bytes,
        turn: 0,
    })
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    Behind,
}

/// The sample furthest to one side of `sample` whose record is in the same piece; places grow with samples, so steps are doubled and then halved.
fn edge<R: Records>(
    records: &R,
    sample: u64,
    piece: (u32, u64),
    side: Side,
) -> Result<u64, R::Error> {
    let beside = |steps: u64| match side {
        Side::Before => sample.checked_sub(steps),
        Side::Behind => sample
            .checked_add(steps)
            .filter(|other| *other < records.sample_count()),
    };
    let is_inside = |steps: u64| match beside(steps) {
        Some(other) => Ok(records.range(other)?.piece() == piece),
        None => Ok(false),
    };
    let mut outside = 1;
    while is_inside(outside)? {
        outside = outside.saturating_mul(2);
    }
    let mut inside = outside / 2;
    while outside - inside > 1 {
        let middle = inside + (outside - inside) / 2;
        match is_inside(middle)? {
            true => inside = middle,
            false => outside = middle,
        }
    }
    Ok(beside(inside).unwrap_or(sample))
}

#[cfg(test)]
mod tests;

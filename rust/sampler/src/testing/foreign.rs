//! Fuzz target `tables`: sampling tables and an order of a cycle as foreign bytes.
//!
//! Owns what must hold whatever they are. Run by `rust/fuzz` and, over the saved corpus and seeded edits of it, by ordinary tests. Invariant: a draw from them is a
//! row of the table or an error; nothing panics, and nothing is allocated but what the bytes themselves fill.

use std::sync::Arc;

use arrow_buffer::{Buffer, ScalarBuffer};
use dataset_rt_format::snapshot::OrderSections;
use dataset_rt_format::{RowIndex, Seed};
use dataset_rt_sampler::{
    CycleOrder, DrawMode, DrawStream, RowSamples, SamplingTables, TableParts, WeightParts,
};

/// Most rows of a table that an order of its own is made of.
const ORDERED_ROWS: u64 = 1 << 12;

/// A head of 8 bytes (rows, samples, flags and the bytes of the tables, as `u16` each), the tables, and behind them the order of cycle 5.
pub fn tables(data: &[u8]) {
    let Some((head, rest)) = data.split_first_chunk::<8>() else {
        return;
    };
    let [rows, samples, flags, table_bytes] = [0, 2, 4, 6].map(|at| {
        let pair = [head[at], head[at + 1]];
        u16::from_le_bytes(pair)
    });
    let Some((tables, order)) = rest.split_at_checked(table_bytes.into()) else {
        return;
    };
    let Some(tables) = tables_of(u64::from(rows), u64::from(samples), flags, tables) else {
        return;
    };
    for mode in [
        DrawMode::Ordered,
        DrawMode::WithReplacement,
        DrawMode::EachOnce,
    ] {
        draw_everywhere(DrawStream::new(mode, Seed::new(7), tables.clone()), &tables);
    }
    let mut stream = DrawStream::new(DrawMode::EachOnce, Seed::new(7), tables.clone());
    if let Some(order) = order_of(tables.rows(), order)
        && stream.adopt_cycle_order(Arc::new(order)).is_ok()
    {
        draw_everywhere(stream, &tables);
    }
}

/// The sections as flags say: 1 row samples of 32 bits, 2 of 64 bits, 4 weights.
fn tables_of(rows: u64, samples: u64, flags: u16, bytes: &[u8]) -> Option<SamplingTables> {
    let mut at = 0;
    let row_samples = match flags & 3 {
        1 => RowSamples::Narrow(ScalarBuffer::from(section(bytes, &mut at, rows, 4)?)),
        2 => RowSamples::Wide(ScalarBuffer::from(section(bytes, &mut at, rows, 8)?)),
        _ => RowSamples::Identity,
    };
    let weights = if flags & 4 == 0 {
        None
    } else {
        let sums = ScalarBuffer::from(section(bytes, &mut at, rows, 8)?);
        let left = bytes.len().checked_sub(at.next_multiple_of(64))? / 4;
        let guide = ScalarBuffer::from(section(bytes, &mut at, left as u64, 4)?);
        Some(WeightParts { sums, guide })
    };
    SamplingTables::from_parts(TableParts {
        rows,
        samples,
        row_samples,
        weights,
    })
    .ok()
}

/// The next section; a copy, which is aligned like a mapped file is.
fn section(bytes: &[u8], at: &mut usize, entries: u64, width: u64) -> Option<Buffer> {
    let start = at.next_multiple_of(64);
    let end = start.checked_add(usize::try_from(entries.checked_mul(width)?).ok()?)?;
    *at = end;
    bytes.get(start..end).map(Buffer::from_slice_ref)
}

fn order_of(rows: u64, bytes: &[u8]) -> Option<CycleOrder> {
    let sections = OrderSections::locate(5, rows, bytes.len() as u64).ok()?;
    let part = |range| ScalarBuffer::from(Buffer::from_slice_ref(&bytes[range]));
    CycleOrder::from_parts(5, part(sections.rows), part(sections.run_ends)).ok()
}

/// Every row of two cycles, in pieces and one by one.
fn draw_everywhere(mut stream: DrawStream, tables: &SamplingTables) {
    let rows = tables.rows();
    if stream.ordered_cycle(0).is_some() && rows > ORDERED_ROWS {
        return;
    }
    let mut drawn = [RowIndex::new(0); 9];
    for start in (5 * rows..7 * rows).step_by(drawn.len()).take(256) {
        if stream.rows_at(start, 1, &mut drawn).is_ok() {
            for row in drawn {
                assert!(row.get() < rows);
                if let Ok(sample) = tables.sample_of(row) {
                    assert!(sample < tables.samples());
                }
            }
        }
        if let Ok(row) = stream.row_at(start) {
            assert!(row.get() < rows);
        }
    }
}

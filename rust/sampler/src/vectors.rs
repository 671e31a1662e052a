//! The draw vectors of `tests/golden/draws`: what the oracle drew, drawn again.
//!
//! Must not compute expectations itself. Text: `DRAWS.md`, "Vectors".

use std::path::Path;
use std::sync::Arc;

use dataset_rt_format::{Digest128, MetadataSchema, RowIndex, Seed};
use serde_json::Value;

use crate::draw::internals::{LOGARITHMS, SERIES, exponential, philox4x64_10};
use crate::testing::{Columns, table_of};
use crate::{
    DrawMode, DrawStream, Identity, Partition, Population, RowSamples, SamplingTables, StreamKey,
    StreamState, TableParts, Tail, WindowProgress, draw_seed,
};

/// Reads a file of vectors: from the root of the repository, or from this crate's folder.
fn vectors(name: &str) -> Value {
    let folders = ["tests/golden/draws", "../../tests/golden/draws"];
    let texts = folders.map(|folder| std::fs::read_to_string(Path::new(folder).join(name)));
    let text = texts
        .into_iter()
        .find_map(Result::ok)
        .expect("the vectors are among the test's data");
    serde_json::from_str(&text).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// A number, or a number as hexadecimal text.
fn number(value: &Value) -> u128 {
    match value.as_str() {
        Some(text) => u128::from_str_radix(text.trim_start_matches("0x"), 16).unwrap(),
        None => value.as_u64().unwrap().into(),
    }
}

fn word(value: &Value) -> u64 {
    number(value).try_into().unwrap()
}

fn words(value: &Value) -> Vec<u64> {
    list(value).iter().map(word).collect()
}

/// Reads `0x1.8p+3` and its like, as Python writes them.
fn hex_float(text: &str) -> f64 {
    let (digits, exponent) = text.trim_start_matches("0x").split_once('p').unwrap();
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = u64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap();
    let shift = exponent.parse::<i32>().unwrap() - 4 * i32::try_from(fraction.len()).unwrap();
    // Two exact steps: one power of two alone may lie outside the range of float64.
    mantissa as f64 * power_of_two(shift / 2) * power_of_two(shift - shift / 2)
}

/// Exact, which `powi` promises nowhere.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(u64::try_from(1023 + exponent).unwrap() << 52)
}

#[test]
fn philox_gives_the_golden_words() {
    for case in list(&vectors("philox.json")) {
        let key = words(&case["key"]).try_into().unwrap();
        let counter = words(&case["counter"]).try_into().unwrap();
        assert_eq!(
            philox4x64_10(key, counter).as_slice(),
            words(&case["words"])
        );
    }
}

#[test]
fn logarithm_gives_the_golden_values() {
    let golden = vectors("logarithm.json");
    assert_eq!(SERIES.as_slice(), words(&golden["A"]));
    assert_eq!(LOGARITHMS.as_slice(), words(&golden["B"]));
    for case in list(&golden["E"]) {
        assert_eq!(
            exponential(word(&case["word"])),
            number(&case["value"]),
            "{case}"
        );
    }
}

#[test]
fn draw_seeds_are_the_golden_ones() {
    for case in list(&vectors("draw_seeds.json")) {
        let seed = Seed::new(word(&case["seed"]));
        let drawn: Vec<_> = words(&case["positions"])
            .into_iter()
            .map(|at| draw_seed(seed, at))
            .collect();
        assert_eq!(drawn, words(&case["draw_seeds"]));
    }
}

/// The tables of a case, by way of a validated table where that is not too long.
fn tables(case: &Value) -> (SamplingTables, Option<Digest128>) {
    let caches = words(&case["caches"]);
    let identity = Identity::new(caches).unwrap();
    let rows = case["rows"].as_u64().unwrap_or_default();
    let samples = match case.get("samples") {
        Some(samples) => words(samples),
        None if rows <= 1 << 21 => (0..rows).collect(),
        None => {
            let samples = identity.samples();
            let row_samples = RowSamples::Identity;
            let parts = TableParts {
                rows,
                samples,
                row_samples,
                weights: None,
            };
            return (SamplingTables::from_parts(parts).unwrap(), None);
        }
    };
    let weights = match case.get("weights") {
        Some(Value::Array(weights)) => weights
            .iter()
            .map(|weight| hex_float(weight.as_str().unwrap()))
            .collect(),
        Some(rule) => {
            let (step, modulus) = (word(&rule["multiplier"]), word(&rule["modulus"]));
            (0..samples.len() as u64)
                .map(|row| (1 + row * step % modulus) as f64)
                .collect()
        }
        None => vec![1.0; samples.len()],
    };
    let columns = Columns::of_samples(&identity, &samples, weights);
    let table = table_of(&columns.batch(), 1000);
    let population =
        Population::from_table(Arc::new(identity), &MetadataSchema::default(), table).unwrap();
    (population.tables().clone(), Some(population.digest()))
}

#[test]
fn every_mode_draws_the_golden_rows() {
    for case in list(&vectors("rows.json")) {
        let (tables, digest) = tables(case);
        if let Some(digest) = digest.filter(|_| case.get("digest").is_some()) {
            assert_eq!(digest.to_string(), case["digest"], "{}", case["name"]);
        }
        if let Some(units) = case.get("units") {
            let sums = tables.parts().weights.unwrap().sums;
            let mut running = 0;
            let golden: Vec<_> = words(units)
                .into_iter()
                .map(|unit| (running += unit, running).1)
                .collect();
            assert_eq!(*sums, golden, "{}", case["name"]);
        }
        for golden in list(&case["streams"]) {
            let mode = DrawMode::from_name(golden["mode"].as_str().unwrap()).unwrap();
            let seed = Seed::new(word(&golden["seed"]));
            let mut stream = DrawStream::new(mode, seed, tables.clone());
            let rows = words(&golden["rows"]);
            for (position, row) in words(&case["positions"]).into_iter().zip(rows) {
                let drawn = stream.row_at(position).unwrap();
                assert_eq!(
                    drawn,
                    RowIndex::new(row),
                    "{} {mode:?} {position}",
                    case["name"]
                );
            }
        }
    }
}

#[test]
fn partitions_have_the_golden_positions() {
    for case in list(&vectors("partitions.json")) {
        let key = StreamKey {
            mode: DrawMode::Ordered,
            seed: Seed::new(0),
            caches_digest: Digest128::of(b""),
            table_digest: Digest128::of(b""),
        };
        let state = StreamState {
            version: crate::STATE_VERSION,
            key,
            epoch_length: word(&case["epoch_length"]),
            position: word(&case["start"]),
            window_end: word(&case["end"]),
            skipped: 0,
        };
        let tail = match case["tail"].as_str().unwrap() {
            "uneven" => Tail::Uneven,
            "drop" => Tail::Drop,
            _ => Tail::Pad,
        };
        let part = Partition::new(word(&case["index"]), word(&case["count"]), tail).unwrap();
        let progress = WindowProgress::new(state.window(&key).unwrap(), part);
        let golden = words(&case["positions"]);
        assert_eq!(progress.draws(), golden.len() as u64);
        for (local, position) in (0..).zip(golden) {
            assert_eq!(progress.run_at(local, 1).unwrap().start, position, "{case}");
        }
    }
}

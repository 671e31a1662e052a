//! Sources that between them use everything the format has; `tests/oracle/format_cases.py` has the same.
//!
//! Owns the content of the golden caches. Must never change a case that has a golden cache: add one.

use dataset_rt_format::{BatchLimits, Compression, MetadataValue};

use super::image::{ImageOptions, Row};

/// A signalling and a negative quiet NaN with payloads, both zeros, smallest and largest doubles.
const ODD_FLOATS: [u64; 11] = [
    0x7ff8_0000_0000_0000,
    0x7ff4_0000_dead_beef,
    0xfff8_0000_0000_0001,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0,
    0x8000_0000_0000_0000,
    1,
    0x7fef_ffff_ffff_ffff,
    0x3fb9_9999_9999_999a,
    0x3e7a_d7f2_9abc_af48,
];

const TEXTS: [&str; 7] = [
    "",
    "plain",
    "naïve",
    "日本語",
    "🧪\u{200d}🔬",
    "quote \" \\ \n \0 end",
    "\u{10ffff}",
];

/// All four types, odd floats and texts, payloads that compress and payloads that do not.
pub fn typed_rows(count: u64) -> Vec<Row> {
    (0..count).map(typed_row).collect()
}

fn typed_row(number: u64) -> Row {
    let noise = (0..number * 3 % 64).map(|k| (number * 73 + k * k * 31 + k / 7) % 251);
    let mut payload: Vec<u8> = noise.map(|byte| u8::try_from(byte).unwrap_or(0)).collect();
    for _ in 0..(number % 9) * (number % 5) {
        payload.extend_from_slice(b"abcd");
    }
    if number % 11 == 5 {
        payload.clear();
    }
    let pick = |count: usize| usize::try_from(number).unwrap_or(0) % count;
    let score = ODD_FLOATS.get(pick(ODD_FLOATS.len())).copied().unwrap_or(0);
    let text = TEXTS.get(pick(TEXTS.len())).copied().unwrap_or("");
    let product = number.wrapping_sub(7).wrapping_mul(0x0102_0304_0506_0708);
    let count = product.wrapping_sub(1 << 63).cast_signed();
    let fields = vec![
        ("text".to_owned(), MetadataValue::String(text.to_owned())),
        (
            "flag".to_owned(),
            MetadataValue::Bool(number.is_multiple_of(3)),
        ),
        (
            "score".to_owned(),
            MetadataValue::Float64(f64::from_bits(score)),
        ),
        ("count".to_owned(), MetadataValue::Int64(count)),
        (
            "Ünïcode ключ".to_owned(),
            MetadataValue::String(number.to_string()),
        ),
    ];
    (payload, fields)
}

/// Small rows without metadata.
pub fn plain_rows(count: u32) -> Vec<Row> {
    (0..count)
        .map(|number| (number.to_be_bytes().to_vec(), Vec::new()))
        .collect()
}

/// A golden cache: its folder, its rows and how it is written.
pub struct Case {
    /// Folder below `tests/golden/caches/v1`.
    pub folder: &'static str,
    /// Its rows.
    pub rows: Vec<Row>,
    /// How it is written.
    pub options: ImageOptions,
}

/// The golden caches that this crate writes.
pub fn golden_cases() -> Vec<Case> {
    let typed = |compression| ImageOptions {
        name: "typed".to_owned(),
        version: Some("v 1 ✓".to_owned()),
        compression,
        max_shard_bytes: 200,
        limits: BatchLimits {
            rows: 7,
            ..BatchLimits::default()
        },
    };
    let plain = ImageOptions {
        name: "plain".to_owned(),
        limits: BatchLimits {
            rows: 2,
            ..BatchLimits::default()
        },
        ..ImageOptions::default()
    };
    let empty = ImageOptions {
        name: "empty".to_owned(),
        compression: Compression::Lz4,
        ..ImageOptions::default()
    };
    vec![
        Case {
            folder: "typed-none",
            rows: typed_rows(40),
            options: typed(Compression::None),
        },
        Case {
            folder: "typed-lz4",
            rows: typed_rows(40),
            options: typed(Compression::Lz4),
        },
        Case {
            folder: "plain-none",
            rows: plain_rows(5),
            options: plain,
        },
        Case {
            folder: "empty-lz4",
            rows: vec![(Vec::new(), Vec::new())],
            options: empty,
        },
    ]
}

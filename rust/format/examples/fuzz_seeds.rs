//! Writes the first inputs of each fuzz target: `fuzz_seeds FOLDER`, by habit `rust/fuzz/corpus`, from the root of the repository.
//!
//! Inputs that fuzzing found are saved beside them and are never removed.

#[path = "../src/testing/cases.rs"]
mod cases;
#[path = "../src/testing/image.rs"]
mod image;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use dataset_rt_format::snapshot::{HANDLE_FILE, RowSampleWidth, TABLES_FILE, decode_handle};
use dataset_rt_format::{BlockTable, CacheFile, Compression, SampleId, encode_record};

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::args().nth(1).ok_or("the folder is missing")?);
    for case in cases::golden_cases() {
        let files = image::build(&case.rows, &case.options)?;
        let file = |name: &str| files.get(name).cloned().unwrap_or_default();
        save(&root, "manifest", case.folder, &file("manifest.json"))?;
        save(&root, "origin", case.folder, &file("origin.json"))?;
        save(&root, "blocks", case.folder, &file("blocks.bin"))?;
        save(&root, "index", case.folder, &file("index.bin"))?;
        save(&root, "metadata", case.folder, &metadata_input(case)?)?;
    }
    let payloads = cases::typed_rows(40).into_iter().map(|row| row.0);
    for (number, payload) in payloads.enumerate() {
        let mut block = Vec::new();
        let head = encode_record(&payload, Compression::Lz4, SampleId::new(7), &mut block)?;
        let raw = u16::try_from(payload.len())?.to_le_bytes();
        let input = [&raw, head.stored(&payload, &block)].concat();
        save(&root, "record_lz4", &format!("typed-{number:02}"), &input)?;
    }
    for case in ["untouched", "weighted", "each-once", "wide"] {
        let folder = Path::new("tests/golden/snapshots/v1").join(case);
        let text = fs::read(folder.join(HANDLE_FILE))?;
        save(&root, "snapshot", case, &text)?;
        save(&root, "tables", case, &tables_input(&folder, &text)?)?;
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/caches");
    for (case, code) in [
        ("original-v2/typed-none", Some(0_u8)),
        ("original-v2/typed-lz4", None),
        ("original-v3/typed-none", None),
        ("original-v3/typed-lz4", Some(1)),
    ] {
        let name = case.replace('/', "-");
        let cache = golden.join(case);
        save(
            &root,
            "original_manifest",
            &name,
            &fs::read(cache.join("manifest.json"))?,
        )?;
        // Both versions have the same records.
        let Some(code) = code else { continue };
        let index = fs::read(cache.join("index.bin"))?;
        // Every third sample; the only shard of the target is number 0.
        for (number, row) in index.chunks_exact(24).enumerate().step_by(3) {
            let (shard, place) = row.split_at(8);
            let shard = u64::from_le_bytes(shard.try_into()?);
            let records = fs::read(cache.join(format!("shards/{shard:06}.bin")))?;
            let input = [&[code][..], &[0; 8], place, &records].concat();
            save(
                &root,
                "original_record",
                &format!("{name}-{number:02}"),
                &input,
            )?;
        }
    }
    Ok(())
}

/// Tables and order of a snapshot behind the head of the target, which has no more than 16 bits for a number.
fn tables_input(folder: &Path, text: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let handle = decode_handle(text)?;
    let file = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
    let (tables, order) = (file(TABLES_FILE), file(&CacheFile::SnapshotOrder(5).path()));
    let width = match handle.row_samples {
        RowSampleWidth::Identity => 0,
        RowSampleWidth::Narrow => 1,
        RowSampleWidth::Wide => 2,
    };
    let numbers = [
        u16::try_from(handle.rows)?,
        u16::try_from(handle.samples).unwrap_or(u16::MAX),
        width | u16::from(handle.weighted) << 2,
        u16::try_from(tables.len())?,
    ];
    let mut input: Vec<u8> = numbers.into_iter().flat_map(u16::to_le_bytes).collect();
    input.extend(tables);
    input.extend(order);
    Ok(input)
}

/// Columns get the names of the target, whose head says types and rows of batches.
fn metadata_input(mut case: cases::Case) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut types = Vec::new();
    for row in &mut case.rows {
        row.1.sort_by(|left, right| left.0.cmp(&right.0));
        types.clear();
        for (number, field) in row.1.iter_mut().enumerate() {
            field.0 = format!("c{number:03}");
            types.push(field.1.value_type() as u8);
        }
    }
    let files = image::build(&case.rows, &case.options)?;
    let table = BlockTable::decode(files.get("blocks.bin").ok_or("blocks.bin")?)?;
    let mut input = vec![u8::try_from(types.len())?];
    input.extend(types);
    input.push(u8::try_from(table.batch_ends().len())?);
    let mut first = 0;
    for end in table.batch_ends() {
        input.extend(u16::try_from(end - first)?.to_le_bytes());
        first = *end;
    }
    input.extend(files.get("metadata.arrow").ok_or("metadata.arrow")?);
    Ok(input)
}

fn save(root: &Path, target: &str, name: &str, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let folder = root.join(target);
    fs::create_dir_all(&folder)?;
    Ok(fs::write(folder.join(format!("seed-{name}")), bytes)?)
}

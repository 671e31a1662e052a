//! Writes the golden caches of this crate that are not there yet: `golden_caches FOLDER`.
//!
//! A cache that exists is never written again; a change of the format gets a folder of its own.

#[path = "../src/testing/cases.rs"]
mod cases;
#[path = "../src/testing/image.rs"]
mod image;

use std::error::Error;
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::args().nth(1).ok_or("the folder is missing")?);
    for case in cases::golden_cases() {
        let folder = root.join(case.folder);
        if folder.exists() {
            continue;
        }
        for (path, bytes) in image::build(&case.rows, &case.options)? {
            let target = folder.join(path);
            fs::create_dir_all(target.parent().ok_or("a file has a folder")?)?;
            fs::write(target, bytes)?;
        }
    }
    Ok(())
}

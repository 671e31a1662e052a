//! Fuzz target `original_record`: see `rust/format/src/testing/targets.rs`.
#![no_main]

#[path = "../../format/src/testing/targets.rs"]
#[allow(dead_code, reason = "each target uses one of the functions")]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::original_record(data));

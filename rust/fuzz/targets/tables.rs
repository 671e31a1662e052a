//! Fuzz target `tables`: see `rust/sampler/src/testing/foreign.rs`.
#![no_main]

#[path = "../../sampler/src/testing/foreign.rs"]
mod foreign;

libfuzzer_sys::fuzz_target!(|data: &[u8]| foreign::tables(data));

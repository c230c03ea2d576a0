//! libFuzzer on [`ferry_fuzz`]'s target of this name.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ferry_fuzz::run("usage_page", data));

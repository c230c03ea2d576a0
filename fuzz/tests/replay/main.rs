//! Every target on its seeds and on a bounded number of changed seeds: what `make test`
//! runs of the fuzzers. A failure prints the input and how to run it again; `FUZZ_SEED`
//! and `FUZZ_ROUNDS` look elsewhere and for longer.

mod mutate;

use ferry_fuzz::{ALL, Target};
use mutate::Mutator;
use std::path::{Path, PathBuf};

/// The same inputs in every run, unless somebody asks for others.
const SEED: u64 = 20_260_504;
/// Enough to find what is shallow, in a second or two without optimization.
const ROUNDS: u64 = 4_000;
/// Longer inputs only make a round slower.
const MAX_LENGTH: usize = 4_096;

fn check(name: &str) {
    let target = ALL.iter().find(|target| target.name == name).expect("a target");
    let seeds = seeds(name);
    for (file, seed) in &seeds {
        attempt(target, seed, &format!("seed {}", file.display()));
    }
    let start = number("FUZZ_SEED").unwrap_or(SEED);
    let seeds: Vec<Vec<u8>> = seeds.into_iter().map(|(_, seed)| seed).collect();
    let mut mutator = Mutator::new(start, &seeds);
    for round in 0..number("FUZZ_ROUNDS").unwrap_or(ROUNDS) {
        let input = mutator.next(MAX_LENGTH);
        attempt(target, &input, &format!("round {round} of FUZZ_SEED={start}"));
    }
}

fn attempt(target: &Target, input: &[u8], what: &str) {
    // A process that dies of its stack tells nothing; the last line of this does.
    if std::env::var_os("FUZZ_TRACE").is_some() {
        eprintln!("{what}: {}", input.escape_ascii());
    }
    if let Err(panic) = std::panic::catch_unwind(|| (target.check)(input)) {
        eprintln!("target {}, {what}, input:\n{}", target.name, input.escape_ascii());
        std::panic::resume_unwind(panic);
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn seeds(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<PathBuf> = list(&root().join("corpus").join(name));
    files.sort();
    assert!(files.len() >= 3, "{name} has too few seeds");
    files.into_iter().map(|file| (file.clone(), std::fs::read(&file).expect("a seed"))).collect()
}

fn list(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

macro_rules! targets {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*
    };
}

targets! {
    json json_object yaml protobuf_object protobuf_envelope metadata
    patch_json patch_merge patch_strategic patch_apply managed_fields
    label_selector field_selector quantity time usage_page
    request_info continue_token
    spdy websocket
    cel crd_schema json_path
}

#[test]
fn every_target_is_run_here_and_by_libfuzzer() {
    let all: Vec<&str> = ALL.iter().map(|target| target.name).collect();
    assert_eq!(NAMES, all);
    let mut binaries: Vec<String> = list(&root().join("fuzz_targets"))
        .iter()
        .map(|file| file.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    binaries.sort();
    let mut sorted = all.clone();
    sorted.sort_unstable();
    assert_eq!(binaries, sorted);
    for name in all {
        let text = std::fs::read_to_string(root().join(format!("fuzz_targets/{name}.rs"))).expect("a binary");
        assert!(text.contains(&format!("run({name:?}, data)")), "{name}");
    }
}

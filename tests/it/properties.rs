//! The properties of the fuzz targets, here on their corpora, on changed copies of them and on random bytes.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

/// How many inputs each property is tried on (`PROPERTY_CASES`).
fn cases() -> u32 {
    std::env::var("PROPERTY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// A change of an input: where, how much of it goes, and what comes there.
type Change = (prop::sample::Index, usize, Vec<u8>);

fn changed(mut input: Vec<u8>, changes: Vec<Change>) -> Vec<u8> {
    for (at, length, new) in changes {
        let start = at.index(input.len() + 1);
        let end = (start + length).min(input.len());
        input.splice(start..end, new);
    }
    input
}

#[test]
fn every_property_holds_for_random_changes() {
    // Words that mean something to one of the readers, so that changes get past the first characters.
    const WORDS: [&str; 20] = [
        "\"", "{", "}", "[", "]", ":", ",", "\n", "null", "true", "1e9", "-", "k:{}", "f:", "v:1", ".", "*", "Ki",
        "&a ", "\u{202e}",
    ];
    for (name, property) in fuzz::ALL {
        let corpus = corpus(name);
        assert!(corpus.len() >= 3, "{name}: {} inputs", corpus.len());
        for input in &corpus {
            property(input);
        }
        let new = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..4),
            prop::sample::select(&WORDS[..]).prop_map(|word| word.as_bytes().to_vec()),
        ];
        let change = (any::<prop::sample::Index>(), 0_usize..12, new);
        let changed_input = (prop::sample::select(corpus), prop::collection::vec(change, 1..4))
            .prop_map(|(input, changes)| changed(input, changes));
        let strategy = prop_oneof![8 => changed_input, 1 => prop::collection::vec(any::<u8>(), 0..200)];
        let config = Config { cases: cases(), failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
        let result = TestRunner::new_with_rng(config, rng).run(&strategy, |input| {
            property(&input);
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

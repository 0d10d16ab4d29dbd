//! Random changes to the cases of the table and to a manifest: nothing panics, and the results are consistent.
//!
//! `YAML_MUTATIONS=1000000 cargo test -p kube-yaml mutations` tries more than the few seconds' worth of a plain run.

use std::path::Path;
use std::time::{Duration, Instant};

use kube_yaml::{Document, Mark, Step, Validation};
use serde_json::Value;

/// Pieces that are inserted into a text: indicators of YAML and JSON, and bytes that break encodings.
const PIECES: &[&[u8]] = &[
    b"\n",
    b" ",
    b"  ",
    b"\t",
    b"\r",
    b"\r\n",
    b"- ",
    b"-",
    b": ",
    b":",
    b"? ",
    b"?",
    b",",
    b"[",
    b"]",
    b"{",
    b"}",
    b"#",
    b" #",
    b"&a ",
    b"*a",
    b"<<: *a\n",
    b"!!int ",
    b"!!binary ",
    b"! ",
    b"|",
    b"|2-\n",
    b">+\n",
    b"'",
    b"\"",
    b"\\",
    b"\\'",
    b"\\u",
    b"%",
    b"@",
    b"`",
    b"---",
    b"\n---\n",
    b"...",
    b"\n...\n",
    b"0x",
    b"1e9",
    b".5",
    b"~",
    b"yes",
    b"\xff",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xfe\xff\0a",
    "\u{85}".as_bytes(),
    "\u{2028}".as_bytes(),
    "é".as_bytes(),
    b"{{ x }}",
    b"{\"a\":1}",
];

/// A small random number generator; it has to be repeatable, not strong.
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound.max(1) as u64).unwrap()
    }
}

pub(super) fn mutate(input: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(5) {
        let at = random.below(input.len() + 1);
        let end = (at + random.below(12)).min(input.len());
        match random.below(5) {
            0 => drop(input.drain(at..end)),
            1 => {
                let copy = input[at..end].to_vec();
                let to = random.below(input.len() + 1);
                input.splice(to..to, copy);
            }
            2 if at < input.len() => input[at] = u8::try_from(random.below(256)).unwrap(),
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                input.splice(at..at, piece.iter().copied());
            }
        }
    }
}

/// Checks that every value has a position inside the input.
fn check_positions<'a>(document: &Document, value: &'a Value, path: &mut Vec<Step<'a>>, last: u32) {
    let mark = document.positions.value_at(path).unwrap_or_else(|| panic!("no place for {path:?}"));
    assert!(mark.line >= 1 && mark.column >= 1 && mark.line <= last, "{mark:?} of {path:?}");
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                path.push(Step::Key(key));
                check_positions(document, value, path, last);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                path.push(Step::Index(index));
                check_positions(document, value, path, last);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The number of changed inputs of a test: its own, so that every machine tries the same ones, or that of `YAML_MUTATIONS`.
pub(super) fn count(of_test: usize) -> usize {
    std::env::var("YAML_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(of_test)
}

/// The inputs of the table.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let tables = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let inputs = tables.flat_map(|table| {
        let text = String::from_utf8(table).unwrap();
        text.split("=== ").skip(1).map(|case| case.split_once('\n').unwrap().1.into()).collect::<Vec<Vec<u8>>>()
    });
    inputs.filter(|seed| seed.len() < 2000).collect()
}

fn check(input: &[u8]) {
    let start = Instant::now();
    let warn = kube_yaml::read(input, Validation::Warn);
    assert!(start.elapsed() < Duration::from_secs(5), "{} bytes took {:?}", input.len(), start.elapsed());
    // Lone carriage returns are line breaks as well.
    let last = u32::try_from(input.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count()).unwrap() + 2;
    for diagnostic in &warn.diagnostics {
        for Mark { line, column } in [Some(diagnostic.mark), diagnostic.also].into_iter().flatten() {
            assert!(line >= 1 && column >= 1 && line <= last, "{diagnostic:?}");
        }
        assert!(!diagnostic.message.ends_with('.') && !diagnostic.message.is_empty(), "{diagnostic:?}");
    }
    for document in &warn.documents {
        check_positions(document, &document.value, &mut Vec::new(), last);
    }
    let strict = kube_yaml::read(input, Validation::Strict);
    assert!(strict.documents.len() <= warn.documents.len());
    assert_eq!(strict.diagnostics, warn.diagnostics);
    super::chunks::check(input, &warn);
}

#[test]
fn mutations_never_panic_and_stay_within_bounds() {
    let seeds = seeds();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..count(10_000) {
        let mut input = seeds[random.below(seeds.len())].clone();
        mutate(&mut input, &mut random);
        let copy = input.clone();
        if let Err(panic) = std::panic::catch_unwind(|| check(&copy)) {
            panic!("{panic:?} for {:?}", String::from_utf8_lossy(&input));
        }
    }
}

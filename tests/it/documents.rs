//! The documents for contributors name files and folders that exist, so that a recipe cannot go out of date unnoticed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const DOCUMENTS: [&str; 5] = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/architecture.md",
    "docs/decisions/connection.md",
    "docs/decisions/yaml-reader.md",
];

/// The folders at the root whose paths are checked.
const FOLDERS: [&str; 7] = ["src/", "crates/", "tests/", "docs/", "testdata/", "completions/", "benches/"];

#[test]
fn paths_in_documents_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut checked = BTreeSet::new();
    for document in DOCUMENTS {
        let text = fs::read_to_string(root.join(document)).expect("the document");
        for path in text.split('`').skip(1).step_by(2).filter(|code| is_path(code)) {
            assert!(root.join(path).exists(), "{document} names `{path}`, which does not exist");
            checked.insert(path.to_owned());
        }
    }
    assert!(checked.len() > 30, "{checked:?}");
}

/// Returns true for a path without placeholders: `crates/reconcile-report/src/formats/NAME.rs` is one to be written.
fn is_path(code: &str) -> bool {
    let is_plain = code.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "/._-".contains(c));
    is_plain && FOLDERS.iter().any(|folder| code.starts_with(folder))
}

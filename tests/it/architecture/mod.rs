//! The house keeps its shape: modules import one way, the pure ones do no I/O, and one module alone writes to the terminal.

mod paths;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use paths::{paths_in, without_tests};

/// Each module and what it may import, from the bottom up: a row names rows above it, so that there is no circle.
const MAY_IMPORT: [(&str, &[&str]); 15] = [
    ("program", &[]),
    ("text", &[]),
    ("object", &[]),
    ("schema", &["object"]),
    ("desired", &["program", "text", "object", "schema"]),
    ("cluster", &["program", "text", "object", "desired"]),
    ("live", &["object", "schema", "desired", "cluster"]),
    ("compare", &["object", "schema", "desired", "live"]),
    ("plan", &["object", "schema", "desired", "live", "compare"]),
    ("apply", &["object", "schema", "desired", "cluster", "live", "compare", "plan"]),
    ("wait", &["object", "schema", "cluster", "live"]),
    ("report", &["text", "object", "desired", "live", "compare", "plan", "apply", "wait"]),
    ("terminal", &["text", "report"]),
    ("cli", &["object", "desired", "cluster", "report", "terminal"]),
    (
        "commands",
        &[
            "text", "object", "schema", "desired", "cluster", "live", "compare", "plan", "apply", "wait", "report",
            "terminal", "cli",
        ],
    ),
];

/// Modules that only compute: the same input always gives the same output.
const PURE: [&str; 7] = ["text", "object", "schema", "desired", "compare", "plan", "report"];

/// What computes only in modules that otherwise reach outside, and may not import what does: the rules of readiness.
const PURE_PLACES: [&str; 2] = ["src/wait/rules", "src/wait/readiness"];

/// The modules through which the others reach outside.
const EDGES: [&str; 1] = ["crate::client"];

/// The places in pure modules that reach outside after all: finding and reading the files of the input.
const REACHING_OUT: [&str; 1] = ["src/desired/files"];

/// What a pure module has no use for: files, environment, sockets, processes, threads, clocks and the cluster.
const IMPURE: [&str; 13] = [
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::io::stdin",
    "tokio",
    "kube",
    "reqwest",
    "jiff::Timestamp::now",
    "jiff::Zoned::now",
];

/// The doors to standard output and standard error, which only `terminal` opens.
const DOORS: [&str; 9] = [
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "dbg!",
    "std::io::stdout",
    "std::io::stderr",
    "tokio::io::stdout",
    "tokio::io::stderr",
];

#[test]
fn modules_keep_to_the_architecture() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files);
    assert!(!files.is_empty());
    let violations: Vec<String> = files
        .iter()
        .flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            violations_of(&path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"), &text)
        })
        .collect();
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn the_table_of_imports_has_no_circles() {
    for (row, (module, imports)) in MAY_IMPORT.iter().enumerate() {
        for import in *imports {
            assert!(
                MAY_IMPORT[..row].iter().any(|(above, _)| above == import),
                "`{module}` imports `{import}` from below"
            );
        }
    }
}

#[test]
fn an_import_against_the_order_is_a_violation() {
    let import = "src/object/key.rs: `object` may not import `compare`";
    assert_eq!(violations_of("src/object/key.rs", "use crate::compare::Change;"), [import]);
    assert_eq!(violations_of("src/object/key.rs", "use crate::{self as us, compare::{Change, Class}};"), [import]);
    assert_eq!(violations_of("src/object/key.rs", "fn f() -> crate::compare::Change { todo!() }"), [import]);
    assert_eq!(violations_of("src/object/key.rs", "use super::super::compare;"), [import]);
    assert_eq!(
        violations_of("src/object/mod.rs", "pub use super::compare::Change;"),
        ["src/object/mod.rs: `object` may not import `compare`"]
    );
    assert_eq!(
        violations_of("src/compare.rs", "use crate::object::ObjectKey; use crate::compare::x; use super::plan;"),
        ["src/compare.rs: `compare` may not import `plan`"]
    );
    assert_eq!(
        violations_of("src/helpers/mod.rs", ""),
        ["src/helpers/mod.rs: the module `helpers` has no row in the table of imports"]
    );
}

#[test]
fn input_and_output_in_a_pure_module_is_a_violation() {
    let of = |text: &str| violations_of("src/plan/waves.rs", text);
    assert_eq!(of("use std::{fmt, fs::File};"), ["src/plan/waves.rs: a pure module may not use `std::fs::File`"]);
    assert_eq!(
        of("let now = std::time::Instant::now();"),
        ["src/plan/waves.rs: a pure module may not use `std::time::Instant::now`"]
    );
    assert_eq!(
        of("use jiff::Timestamp;\nlet now = Timestamp::now();"),
        ["src/plan/waves.rs: a pure module may not use `jiff::Timestamp::now`"]
    );
    assert_eq!(
        of("use std::io; fn f() { io::stdin(); }"),
        ["src/plan/waves.rs: a pure module may not use `std::io::stdin`"]
    );
    assert_eq!(of("use kube::Client;"), ["src/plan/waves.rs: a pure module may not use `kube::Client`"]);
    assert_eq!(of("use std::time::Duration; use kubernetes::x;"), [""; 0]);
    assert_eq!(violations_of("src/live/fetch.rs", "use kube::Client; use std::time::Instant;"), [""; 0]);
    assert_eq!(violations_of("src/desired/files.rs", "use std::fs;"), [""; 0]);
    assert_eq!(violations_of("src/desired/files/glob.rs", "use std::fs;"), [""; 0]);
    assert_eq!(violations_of("src/desired/yaml/mod.rs", "use std::fs;").len(), 1);
}

#[test]
fn the_rules_of_readiness_are_pure_and_the_loop_around_them_is_not() {
    let text = "use std::time::Instant; use crate::client::Cluster;";
    assert_eq!(violations_of("src/wait/observe.rs", text), [""; 0]);
    for file in ["src/wait/rules.rs", "src/wait/readiness.rs"] {
        assert_eq!(violations_of(file, text).len(), 2, "{file}");
    }
    assert_eq!(violations_of("src/wait/rules.rs", "use crate::object::ObjectKey;"), [""; 0]);
}

#[test]
fn printing_outside_of_the_terminal_is_a_violation() {
    let of = |text: &str| violations_of("src/commands/diff.rs", text);
    assert_eq!(of(r#"println!("hello");"#), ["src/commands/diff.rs: only `terminal` may use `println!`"]);
    assert_eq!(
        of("use std::io; fn f() { io::stdout().lock(); }"),
        ["src/commands/diff.rs: only `terminal` may use `std::io::stdout`"]
    );
    assert_eq!(
        of("use std::io::{self, Write, stderr};"),
        ["src/commands/diff.rs: only `terminal` may use `std::io::stderr`"]
    );
    assert_eq!(of("writeln!(out, \"x\"); let stdout = 1;"), [""; 0]);
    assert_eq!(violations_of("src/main.rs", "eprintln!()"), ["src/main.rs: only `terminal` may use `eprintln!`"]);
    assert_eq!(violations_of("src/terminal/mod.rs", "eprintln!()"), [""; 0]);
}

#[test]
fn comments_strings_and_tests_are_no_violations() {
    let text = r#"
        // use crate::compare::Change;
        /* use std::fs; /* nested */ println!() */
        /// See [`crate::compare`] and `println!`.
        const TEXT: &str = "crate::compare \" std::fs";
        const RAW: &str = r"crate::compare\";
        const QUOTE: char = '"';
        fn f<'a>(x: &'a str) {}
        #[cfg(test)]
        mod tests { use std::fs; use crate::compare::Change; fn f() { println!("{}"); } }
    "#;
    assert_eq!(violations_of("src/object/path.rs", text), [""; 0]);
    assert_eq!(violations_of("src/object/tests.rs", "use std::fs;"), [""; 0]);
    assert_eq!(violations_of("src/object/path.rs", &format!("{text} use std::fs;")).len(), 1);
}

/// All violations in a file of the library, given its path from the package's folder.
fn violations_of(file: &str, text: &str) -> Vec<String> {
    let places: Vec<&str> = file.trim_start_matches("src/").trim_end_matches(".rs").split('/').collect();
    if places.contains(&"tests") {
        return Vec::new();
    }
    // `src/lib.rs` and `src/main.rs` are the root; `mod.rs` is its folder.
    let module: Vec<&str> = places.into_iter().filter(|place| !["lib", "main", "mod"].contains(place)).collect();
    let mut found = BTreeSet::new();
    let row = match module.first() {
        None => None,
        Some(name) => match MAY_IMPORT.iter().find(|(module, _)| module == name) {
            Some(row) => Some(row),
            None => return vec![format!("{file}: the module `{name}` has no row in the table of imports")],
        },
    };
    let is_in = |places: &[&str]| {
        places.iter().any(|place| file.strip_prefix(place).is_some_and(|rest| rest.starts_with(['.', '/'])))
    };
    let (reaches_out, is_pure) = (is_in(&REACHING_OUT), is_in(&PURE_PLACES));
    for path in paths_in(&without_tests(text), &module) {
        let leads_to =
            |prefix: &&&str| path == **prefix || path.strip_prefix(**prefix).is_some_and(|rest| rest.starts_with("::"));
        if let Some((name, imports)) = row {
            let import = path.strip_prefix("crate::").map(|rest| rest.split("::").next().unwrap_or_default());
            let is_module = |import: &&str| MAY_IMPORT.iter().any(|(module, _)| module == import);
            if let Some(import) = import.filter(is_module).filter(|import| import != name && !imports.contains(import))
            {
                found.insert(format!("{file}: `{name}` may not import `{import}`"));
            }
            if is_pure && EDGES.iter().any(|prefix| leads_to(&prefix)) {
                found.insert(format!("{file}: a pure place may not import `{path}`"));
            }
            if (is_pure || PURE.contains(name)) && !reaches_out && IMPURE.iter().any(|prefix| leads_to(&prefix)) {
                found.insert(format!("{file}: a pure module may not use `{path}`"));
            }
        }
        if module.first() != Some(&"terminal") && DOORS.iter().any(|prefix| leads_to(&prefix)) {
            found.insert(format!("{file}: only `terminal` may use `{path}`"));
        }
    }
    found.into_iter().collect()
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

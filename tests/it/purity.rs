//! The crates are pure: values in, values out. They depend on nothing that reaches the network, and they read no file, no variable
//! of the environment and no clock.
//!
//! Clippy's `disallowed-methods` can name single functions only, and no modules: `std::fs` alone has thirty of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::circles::{code, paths};

/// The one crate that is there to do I/O: the tests' own control plane.
const HARNESS: &str = "test-control-plane";

/// Libraries for asynchronous I/O, the network and the operating system.
const FORBIDDEN: [&str; 22] = [
    "async-std",
    "http-body",
    "hyper",
    "hyper-rustls",
    "hyper-util",
    "kube",
    "kube-client",
    "kube-runtime",
    "mio",
    "native-tls",
    "nix",
    "openssl",
    "reqwest",
    "rustix",
    "rustls",
    "socket2",
    "tempfile",
    "tokio",
    "tokio-rustls",
    "tokio-util",
    "tower",
    "tower-http",
];

/// Modules of the standard library that reach beyond the values that are passed in.
const MODULES: [&str; 5] = ["env", "fs", "net", "os", "process"];

/// Items of these modules that do not: addresses, and the constants of the platform.
const VALUES: [&str; 4] = ["IpAddr", "Ipv4Addr", "Ipv6Addr", "consts"];

/// Functions that read a clock or lead to a terminal.
const FUNCTIONS: [[&str; 2]; 7] = [
    ["Instant", "now"],
    ["SystemTime", "now"],
    ["Timestamp", "now"],
    ["Zoned", "now"],
    ["io", "stderr"],
    ["io", "stdin"],
    ["io", "stdout"],
];

fn pure_crates() -> Vec<PathBuf> {
    let crates = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).unwrap();
    let mut crates: Vec<PathBuf> = crates.map(|entry| entry.unwrap().path()).collect();
    crates.retain(|folder| folder.file_name().unwrap() != HARNESS);
    crates.sort();
    for name in ["reconcile-core", "reconcile-report"] {
        assert!(crates.iter().any(|folder| folder.ends_with(name)), "there is no crate `{name}`");
    }
    crates
}

#[test]
fn pure_crates_depend_on_nothing_that_does_io() {
    for folder in pure_crates() {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let tree = Command::new(env!("CARGO"))
            .args(["tree", "--edges=normal", "--prefix=none", "--offline", "--locked", "--package", name])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
        let tree = String::from_utf8(tree.stdout).unwrap();
        let found: Vec<&str> =
            tree.lines().filter_map(|line| line.split(' ').next()).filter(|name| FORBIDDEN.contains(name)).collect();
        assert!(tree.starts_with(name) && found.is_empty(), "{name} depends on {found:?}");
    }
}

#[test]
fn pure_crates_read_no_files_environment_or_clock() {
    let mut findings = Vec::new();
    for folder in pure_crates() {
        let mut files = Vec::new();
        sources(&folder.join("src"), &mut files);
        assert!(!files.is_empty(), "{}", folder.display());
        for file in files {
            let text = code(&fs::read_to_string(&file).unwrap());
            for path in paths(&text).into_iter().filter(|path| is_impure(path)) {
                findings.push(format!("{}: {}", file.display(), path.join("::")));
            }
        }
    }
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

/// They make values of `reconcile-core`, of which `src/output` makes reports.
#[test]
fn stages_know_nothing_of_reports() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for stage in ["client", "desired", "engine", "live"] {
        let before = files.len();
        sources(&root.join(stage), &mut files);
        assert!(files.len() > before, "there are no files in `{stage}`");
    }
    let knows = |file: &PathBuf| {
        let text = code(&fs::read_to_string(file).unwrap());
        paths(&text).iter().any(|path| path.first().is_some_and(|name| name == "reconcile_report"))
    };
    files.retain(knows);
    assert!(files.is_empty(), "these files import `reconcile_report`: {files:#?}");
}

/// Types that a text cannot be mistaken for, and files whose readers make nothing else.
const EXACT_TYPES: [&str; 3] = ["Value", "String", "IgnoredAny"];
const EXACT_READERS: [&str; 5] = [
    "reconcile-core/src/exact.rs",
    "reconcile-core/src/object/projection.rs",
    "reconcile-core/src/text/yaml.rs",
    "src/live/list/sieve.rs",
    "src/live/openapi.rs",
];

/// A derived reader takes a list for a struct: what others wrote is read by `reconcile_core::exact`.
#[test]
fn json_of_others_is_read_as_exactly_its_types() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    for folder in pure_crates() {
        sources(&folder.join("src"), &mut files);
    }
    files.retain(|file| !EXACT_READERS.iter().any(|reader| file.ends_with(reader)));
    let mut findings = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        findings.extend(inexact(text).map(|call| format!("{}: {call}", file.display())));
    }
    assert!(findings.is_empty(), "read this with `reconcile_core::exact`:\n{}\n", findings.join("\n"));
}

/// The calls of `serde_json` that may read a struct.
fn inexact(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| {
        let is_call = ["from_slice", "from_str", "from_reader", "from_value", "Deserializer::from"]
            .iter()
            .any(|function| line.contains(&format!("serde_json::{function}")));
        let is_exact =
            EXACT_TYPES.iter().any(|name| line.contains(&format!("::<{name}>"))) || line.contains("Vec<String>");
        is_call && !is_exact && !line.contains("include_str!")
    })
}

#[test]
fn what_is_not_exact_is_seen() {
    let wrong = ["let a: User = serde_json::from_str(text)?;", "serde_json::from_value::<User>(value)"];
    assert_eq!(inexact(&wrong.join("\n")).collect::<Vec<_>>(), wrong);
    assert_eq!(inexact("serde_json::from_slice::<Value>(text)\nexact::from_str(text)").count(), 0);
}

fn is_impure(path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let is_module = matches!(path[..], ["std", module, ..] if MODULES.contains(&module));
    let is_value = path.get(2).is_some_and(|item| VALUES.contains(item));
    is_module && !is_value || path.windows(2).any(|pair| FUNCTIONS.iter().any(|function| function == pair))
}

/// The files of a crate, without those that are tests.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.file_stem().and_then(|name| name.to_str()) {
            Some("tests") => {}
            _ if path.is_dir() => sources(&path, files),
            _ if path.extension().is_some_and(|extension| extension == "rs") => files.push(path),
            _ => {}
        }
    }
}

#[test]
fn what_is_not_pure_is_seen() {
    let impure = |text: &str| paths(text).iter().any(|path| is_impure(path));
    for text in [
        "use std::fs;",
        "io::stdout().lock()",
        "use std::{env::var, fmt};",
        "let text = std::fs::read_to_string(path)?;",
        "use std::net::{IpAddr, TcpStream};",
        "let now = jiff::Timestamp::now();",
        "Instant::now()",
        "std::process::exit(1)",
    ] {
        assert!(impure(text), "{text}");
    }
    for text in
        ["use std::net::IpAddr;", "use std::io;", "std::env::consts::OS", "fn f(now: Timestamp) {}", "env!(\"X\")"]
    {
        assert!(!impure(text), "{text}");
    }
}

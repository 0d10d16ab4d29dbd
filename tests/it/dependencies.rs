//! The policy on dependencies that `deny.toml` states, as far as it can be checked without further tools.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

const EXPLAINED: &str = include_str!("../../docs/decisions/dependencies.md");
const POLICY: &str = include_str!("../../deny.toml");
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[test]
fn dependencies_come_from_crates_io_under_licences_that_are_allowed() {
    let mut violations = Vec::new();
    for package in packages() {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let Some(source) = package["source"].as_str() else { continue };
        let name = format!("{} {}", text("name"), text("version"));
        if source != CRATES_IO {
            violations.push(format!("{name} comes from {source}"));
        }
        let exception = POLICY.lines().find(|line| line.contains(&format!("crate = \"{}\"", text("name"))));
        let allowed: BTreeSet<&str> = licences().chain(exception.into_iter().flat_map(quoted)).collect();
        if !is_allowed(text("license"), &allowed) {
            violations.push(format!("{name} has the licence `{}`", text("license")));
        }
    }
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn only_listed_crates_run_code_while_they_are_built() {
    let lines = POLICY.lines().skip_while(|line| *line != "allow-build-scripts = [").take_while(|line| *line != "]");
    let listed: BTreeSet<&str> = lines.flat_map(quoted).collect();
    assert!(listed.contains("ring"));
    let is_script =
        |target: &Value| target["kind"].as_array().is_some_and(|kinds| kinds.contains(&"custom-build".into()));
    let has_script =
        |package: &&Value| package["targets"].as_array().is_some_and(|targets| targets.iter().any(is_script));
    let packages = packages();
    let others: Vec<&str> = packages
        .iter()
        .filter(has_script)
        .filter_map(|package| package["name"].as_str())
        .filter(|name| !listed.contains(name))
        .collect();
    assert!(others.is_empty(), "{others:?} are not in the list of `deny.toml`");
}

#[test]
fn the_program_has_no_unsafe_code_and_no_build_script() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"), "{manifest}");
    for package in packages().iter().filter(|package| package["source"].is_null() && package["publish"] != json!([])) {
        let path = Path::new(package["manifest_path"].as_str().unwrap());
        let manifest = std::fs::read_to_string(path).unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true\n"), "{}", path.display());
        assert!(!path.with_file_name("build.rs").exists(), "{}", path.display());
    }
}

/// Tests, benches and what is not published may use what they like.
#[test]
fn each_direct_dependency_is_explained() {
    let rows = EXPLAINED.lines().filter(|line| line.starts_with("| `"));
    let explained: BTreeSet<&str> = rows.filter_map(|row| row.split('|').nth(1)).flat_map(in_backticks).collect();
    let packages = packages();
    let ours = packages.iter().filter(|package| package["source"].is_null() && package["publish"] != json!([]));
    let dependencies = ours.flat_map(|package| package["dependencies"].as_array().into_iter().flatten());
    let foreign = dependencies.filter(|dependency| dependency["kind"].is_null() && dependency["path"].is_null());
    let direct: BTreeSet<&str> = foreign.filter_map(|dependency| dependency["name"].as_str()).collect();
    assert!(direct.contains("tokio"));
    assert_eq!(direct, explained);
}

fn in_backticks(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn a_licence_is_allowed_when_one_alternative_is_allowed_wholly() {
    let allowed = BTreeSet::from(["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]);
    for expression in
        ["MIT", "GPL-3.0 OR MIT", "MIT/GPL-3.0", "(GPL-3.0 OR MIT) AND ISC", "Apache-2.0 WITH LLVM-exception"]
    {
        assert!(is_allowed(expression, &allowed), "{expression}");
    }
    for expression in
        ["", "GPL-3.0", "Apache-2.0", "GPL-3.0 AND MIT", "(GPL-3.0 OR MIT) AND AGPL-3.0", "MIT AND GPL-3.0 OR X"]
    {
        assert!(!is_allowed(expression, &allowed), "{expression}");
    }
    assert!(licences().any(|licence| licence == "MIT"));
}

/// What the build on this platform consists of.
fn packages() -> Vec<Value> {
    let cargo = || Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let compiler = Command::new("rustc").arg("-vV").output().unwrap();
    let compiler = String::from_utf8(compiler.stdout).unwrap();
    let platform = compiler.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = cargo()
        .args(["metadata", "--format-version=1", "--locked", "--filter-platform", platform, "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(metadata["packages"].take()).unwrap()
}

/// The licences that `deny.toml` allows for every crate.
fn licences() -> impl Iterator<Item = &'static str> {
    let lines = POLICY.lines().skip_while(|line| *line != "[licenses]").skip_while(|line| *line != "allow = [");
    lines.take_while(|line| *line != "]").flat_map(quoted)
}

fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

/// Returns true if an SPDX expression can be satisfied with the allowed licences; `/` is an old spelling of `OR`.
fn is_allowed(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let expression = expression.trim().replace('/', " OR ");
    let alternatives = split(&expression, " OR ");
    if alternatives.len() > 1 {
        return alternatives.into_iter().any(|alternative| is_allowed(alternative, allowed));
    }
    let parts = split(&expression, " AND ");
    if parts.len() > 1 {
        return parts.into_iter().all(|part| is_allowed(part, allowed));
    }
    match expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => is_allowed(inner, allowed),
        None => allowed.contains(&*expression),
    }
}

/// Splits at an operator outside of parentheses.
fn split<'a>(expression: &'a str, operator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    for (position, sign) in expression.char_indices() {
        match sign {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && expression[position..].starts_with(operator) => {
                parts.push(&expression[start..position]);
                start = position + operator.len();
            }
            _ => {}
        }
    }
    parts.push(&expression[start..]);
    parts
}

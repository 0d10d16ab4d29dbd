//! What `docs/troubleshooting.md` explains are messages of the program, and `docs/security.md` names tests that exist.

use std::fs;
use std::path::Path;

use super::root;

fn sources(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            *all += &fs::read_to_string(path).expect("a source");
        }
    }
}

/// Code between double backticks, or else between single ones, at the beginning of a heading.
fn heading_code(line: &str) -> Option<&str> {
    let text = line.strip_prefix("### ")?;
    match text.strip_prefix("`` ") {
        Some(rest) => rest.split(" ``").next(),
        None => text.strip_prefix('`')?.split('`').next(),
    }
}

#[test]
fn messages_that_are_explained_are_messages_of_the_program() {
    let mut code = String::new();
    for folder in ["src", "crates"] {
        sources(&root().join(folder), &mut code);
    }
    // Long messages are written in several lines.
    let code = code.replace("\\\n", "").split_whitespace().collect::<Vec<_>>().join(" ");
    let text = fs::read_to_string(root().join("docs/troubleshooting.md")).expect("the document");
    let messages: Vec<&str> = text.lines().filter_map(heading_code).collect();
    assert!(messages.len() > 15, "{messages:?}");
    for message in messages {
        for part in message.split('…').map(str::trim).filter(|part| part.len() > 3) {
            assert!(code.contains(part), "the program does not say `{part}`: {message}");
        }
    }
}

/// A test is named as `path::name`.
#[test]
fn tests_that_documents_name_exist() {
    let text = fs::read_to_string(root().join("docs/security.md")).expect("the document");
    let mut code = String::new();
    for folder in ["src", "crates", "tests"] {
        sources(&root().join(folder), &mut code);
    }
    let named: Vec<&str> = text.split('`').skip(1).step_by(2).filter(|code| code.contains("::")).collect();
    assert!(named.len() > 20, "{named:?}");
    for test in named {
        let name = test.rsplit("::").next().unwrap_or_default();
        assert!(
            code.contains(&format!("fn {name}(")),
            "docs/security.md names the test `{test}`, which does not exist"
        );
    }
}

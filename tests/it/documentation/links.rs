//! Links of the documents: relative ones lead to a file that exists, and to a heading of it.

use std::fs;
use std::path::Path;

use super::{documents, root};

/// The documents that nobody runs have links, too.
fn all() -> Vec<String> {
    let more = ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(ToOwned::to_owned);
    documents().into_iter().chain(more).collect()
}

/// The targets of `[text](target)` and `![text](target)`, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        if in_block {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
        for rest in prose.split("](").skip(1) {
            if let Some((target, _)) = rest.split_once(')') {
                found.push(target.to_owned());
            }
        }
    }
    found
}

/// The anchors of headings, as GitHub makes them, and those that are written as HTML.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        if let Some(id) = line.split("<a id=\"").nth(1).and_then(|rest| rest.split('"').next()) {
            found.push(id.to_owned());
        }
        if in_block || !line.starts_with('#') {
            continue;
        }
        let heading = line.trim_start_matches('#').trim().to_lowercase().replace('`', "");
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-' || *c == '_');
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let earlier = found.iter().filter(|other| **other == anchor).count();
        found.push(if earlier == 0 { anchor } else { format!("{anchor}-{earlier}") });
    }
    found
}

#[test]
fn every_link_leads_somewhere() {
    let mut checked = 0;
    for document in all() {
        let text = fs::read_to_string(root().join(&document)).unwrap_or_else(|error| panic!("{document}: {error}"));
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                assert!(link.starts_with("https://"), "{document}: {link}");
                continue;
            }
            checked += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let here = root().join(&document);
            let target = if path.is_empty() { here } else { here.parent().expect("a folder").join(path) };
            assert!(target.exists(), "{document} links to {link}, which does not exist");
            if !anchor.is_empty() {
                let found = anchors(&fs::read_to_string(&target).expect("a document"));
                assert!(found.iter().any(|one| one == anchor), "{document} links to {link}; there are {found:?}");
            }
        }
    }
    assert!(checked > 30, "{checked}");
}

/// Every document can be found from the README.
#[test]
fn every_document_is_linked() {
    let all_documents = documents();
    let mut reached = vec!["README.md".to_owned()];
    let mut at = 0;
    while at < reached.len() {
        let document = reached[at].clone();
        at += 1;
        let text = fs::read_to_string(root().join(&document)).unwrap_or_default();
        for link in links(&text).iter().filter(|link| !link.contains("://")) {
            let path = link.split('#').next().unwrap_or_default();
            let Ok(target) = root().join(&document).parent().expect("a folder").join(path).canonicalize() else {
                continue;
            };
            // Of a folder, its README is shown.
            let target = if target.is_dir() { target.join("README.md") } else { target };
            let Ok(target) =
                target.strip_prefix(root().canonicalize().expect("the root")).map(|path| path.display().to_string())
            else {
                continue;
            };
            if Path::new(&target).extension().is_some_and(|extension| extension == "md") && !reached.contains(&target) {
                reached.push(target);
            }
        }
    }
    let lost: Vec<&String> = all_documents.iter().filter(|document| !reached.contains(document)).collect();
    assert!(lost.is_empty(), "no link leads to {lost:?}");
}

/// Paths of the source in backticks, as in the architecture and the recipes; `NAME` stands for the reader's own.
#[test]
fn paths_of_the_source_exist() {
    let mut checked = 0;
    for document in all() {
        let text = fs::read_to_string(root().join(&document)).unwrap();
        let in_backticks = text.split('`').skip(1).step_by(2);
        let is_path = |text: &&str| {
            let folders = ["src/", "crates/", "tests/it/", "testdata/", "examples/", "packaging/"];
            folders.iter().any(|folder| text.starts_with(folder)) && !text.contains([' ', '*', '{', '\n'])
        };
        for path in in_backticks.filter(is_path).filter(|path| !path.contains("NAME")) {
            checked += 1;
            assert!(root().join(path).exists(), "{document} names `{path}`, which does not exist");
        }
    }
    assert!(checked > 50, "{checked}");
}

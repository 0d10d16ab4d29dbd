//! The documentation is true: its commands run, what they print is what it says, and its links lead somewhere.

mod links;
mod markdown;
mod messages;
mod scene;

use std::fs;
use std::path::{Path, PathBuf};

use markdown::{Block, Language};
use scene::Scene;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The documents for users: the README, and everything below `docs/` and `packaging/` but what is for contributors.
fn documents() -> Vec<String> {
    let mut found = vec!["README.md".to_owned(), "packaging/README.md".to_owned()];
    let mut folders = vec![root().join("docs"), root().join("examples")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry of a folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path.strip_prefix(root()).expect("below the root").display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// Documents whose blocks are no commands for users, or are run by other tests.
const NOT_RUN: [&str; 4] = ["docs/cli.md", "docs/architecture.md", "docs/decisions/", "examples/"];

fn runs(document: &str) -> bool {
    !NOT_RUN.iter().any(|prefix| document.starts_with(prefix))
}

/// `UPDATE_DOCS=1 cargo test --test it documentation` writes what the commands print into the blocks that say something else, and
/// `UPDATE_DOCS=all` into all blocks: read the difference.
#[test]
fn commands_of_the_documentation_do_what_it_says() {
    let documents: Vec<String> = documents().into_iter().filter(|document| runs(document)).collect();
    let update = std::env::var("UPDATE_DOCS").ok();
    let mut problems = Vec::new();
    let mut run = 0;
    for document in &documents {
        let text = fs::read_to_string(root().join(document)).expect("a document");
        let blocks = markdown::blocks(&text);
        if !blocks.iter().any(Block::is_run) {
            continue;
        }
        let scene = Scene::new();
        let mut updated = text.clone();
        for block in blocks.iter().filter(|block| block.is_run()) {
            run += 1;
            match scene.play(block) {
                Ok(printed) if block.language == Language::Console => {
                    let agrees = markdown::agrees(&block.text, &printed);
                    if !agrees || update.as_deref() == Some("all") {
                        updated = updated.replacen(&block.text, &markdown::updated(&block.text, &printed), 1);
                    }
                    if !agrees {
                        let line = block.line;
                        let text = &block.text;
                        problems
                            .push(format!("{document}:{line}: not what is printed:\n{printed}--- expected\n{text}"));
                    }
                }
                Ok(_) => {}
                Err(problem) => problems.push(format!("{document}:{}: {problem}", block.line)),
            }
        }
        if update.is_some() && updated != text {
            fs::write(root().join(document), updated).expect("a document that can be written");
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    assert!(run > 20, "{run}");
}

/// A block that cannot run says why.
#[test]
fn blocks_that_are_not_run_say_why() {
    for document in documents().iter().filter(|document| runs(document)) {
        let text = fs::read_to_string(root().join(document)).expect("a document");
        for block in markdown::blocks(&text) {
            if let Some(reason) = &block.ignored {
                assert!(reason.len() > 5, "{document}:{}: why is the block not run?", block.line);
            }
        }
    }
}

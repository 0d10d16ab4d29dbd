//! What a reader of a change overlooks in texts and names: contractions, phrases that sound translated, doc comments that do not
//! begin with what the item is, and two types with one name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Contractions and phrases that no text for users and no comment has.
const REFUSED: [&str; 33] = [
    "aren't",
    "can't",
    "couldn't",
    "didn't",
    "doesn't",
    "don't",
    "hadn't",
    "hasn't",
    "haven't",
    "isn't",
    "it's",
    "mustn't",
    "shouldn't",
    "that's",
    "there's",
    "they're",
    "wasn't",
    "we're",
    "weren't",
    "what's",
    "won't",
    "wouldn't",
    "you'll",
    "you're",
    "you've",
    "anew",
    "beforehand",
    "comes by",
    "held against",
    "so many",
    "stands there",
    "tells of",
    "whoever",
];

/// First words of doc comments that describe a circumstance instead of the item.
const CIRCUMSTANCES: [&str; 6] = ["how", "that", "what", "where", "whether", "whose"];

#[test]
fn texts_have_no_contractions_and_no_phrases_that_sound_translated() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = sources();
    find(&root.join("docs"), "md", &mut files);
    find(&root.join("schemas"), "json", &mut files);
    for extension in ["md", "sh", "yaml", "yml"] {
        find(&root.join("examples"), extension, &mut files);
    }
    files.extend(["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "justfile"].map(|file| root.join(file)));
    let found: Vec<String> = files.iter().flat_map(|file| lines_with(file, refused)).collect();
    assert_eq!(found, [""; 0], "{found:#?}");
}

#[test]
fn doc_comments_begin_with_the_item() {
    let mut found = Vec::new();
    for file in &sources() {
        let mut is_inside = false;
        found.extend(lines_with(file, |line| {
            let comment = line.trim_start().strip_prefix("///").or_else(|| line.strip_prefix("//!"));
            let is_first = comment.is_some() && !is_inside;
            is_inside = comment.is_some();
            comment
                .filter(|comment| is_first && CIRCUMSTANCES.contains(&first_word(comment).as_str()))
                .map(str::to_owned)
        }));
    }
    assert_eq!(found, [""; 0], "{found:#?}");
}

/// A public type has a name of its own in its crate.
#[test]
fn each_public_type_of_a_crate_has_its_own_name() {
    let mut files: BTreeMap<(PathBuf, String), BTreeSet<PathBuf>> = BTreeMap::new();
    for file in sources() {
        let of_crate = file.ancestors().find(|folder| folder.ends_with("src")).expect("a crate").to_owned();
        for name in public_types(&fs::read_to_string(&file).unwrap()) {
            files.entry((of_crate.clone(), name)).or_default().insert(file.clone());
        }
    }
    files.retain(|_, files| files.len() > 1);
    assert!(files.is_empty(), "{files:#?}");
}

/// The first refused phrase of a line.
fn refused(line: &str) -> Option<String> {
    let words: Vec<String> = line
        .replace('’', "'")
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let line = format!(" {} ", words.join(" "));
    REFUSED.iter().find(|phrase| line.contains(&format!(" {phrase} "))).map(|phrase| (*phrase).to_owned())
}

fn first_word(text: &str) -> String {
    text.trim_start().chars().take_while(|c| c.is_alphabetic()).collect::<String>().to_lowercase()
}

/// The names of the types that a text declares for others, outside of functions and modules in it.
fn public_types(text: &str) -> Vec<String> {
    let declared = text.lines().filter_map(|line| {
        let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) "))?;
        let (keyword, rest) = line.split_once(' ')?;
        let name = rest.split(|c: char| !c.is_alphanumeric()).next()?;
        ["struct", "enum", "trait", "type"].contains(&keyword).then(|| name.to_owned())
    });
    declared.collect()
}

/// What `check` finds in the lines of a file, with its place.
fn lines_with(file: &Path, mut check: impl FnMut(&str) -> Option<String>) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().enumerate();
    lines.filter_map(|(at, line)| Some(format!("{}:{}: {}", file.display(), at + 1, check(line)?))).collect()
}

/// The source files of the program and of all crates.
fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    find(&root.join("src"), "rs", &mut files);
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        find(&entry.unwrap().path().join("src"), "rs", &mut files);
    }
    files.sort();
    files
}

fn find(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, extension, files);
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
}

#[test]
fn contractions_and_first_words_are_found() {
    assert_eq!(refused("/// It doesn’t matter"), Some("doesn't".to_owned()));
    assert_eq!(refused("/// This comes by, post."), Some("comes by".to_owned()));
    assert_eq!(refused("/// It does not matter"), None);
    assert_eq!(first_word(" That a file is read."), "that");
    assert_eq!(first_word(" `That` of a list."), "");
}

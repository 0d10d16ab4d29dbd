//! The words of the project are those of its field: names that only its authors know are refused in identifiers, comments, messages
//! and documents. There is no list of exceptions.

mod scan;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use scan::{Kind, Token, tokens};

/// A part of a source file or a document in which words are refused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The words of identifiers: `our_hand` and `OurHand` are two words each.
    Identifier,
    /// Whole identifiers.
    WholeIdentifier,
    /// Names of parameters and variables.
    Binding,
    /// The first word of a doc comment.
    DocStart,
    /// The same, but for the help of flags, which may be a question.
    DocStartOfCode,
    /// Comments, messages and documents.
    Prose,
    /// Messages and documents: what users read.
    Message,
}

struct Rule {
    scope: Scope,
    words: &'static [&'static str],
    instead: &'static str,
}

const RULES: [Rule; 19] = [
    rule(Scope::Identifier, &["trouble", "troubles", "problem", "problems"], "diagnostic"),
    rule(Scope::Identifier, &["catalog", "catalogs"], "discovery"),
    rule(Scope::Identifier, &["feed", "feeds"], "the event or stream that it is"),
    rule(Scope::Identifier, &["scene", "scenes"], "tracker"),
    rule(Scope::Identifier, &["news"], "event"),
    rule(Scope::Identifier, &["hand", "hands"], "manager, or what is meant"),
    rule(Scope::Identifier, &["setting"], "context"),
    rule(Scope::Identifier, &["standing"], "state"),
    rule(Scope::Identifier, &["elsewhere"], "other shard, or where it is"),
    rule(Scope::WholeIdentifier, &["InPart", "in_part"], "InShard"),
    rule(Scope::Binding, &["of"], "schema, or what it is"),
    rule(Scope::DocStart, &["what", "whose", "how", "where", "whether", "that"], "begin with what the item is or does"),
    rule(Scope::DocStartOfCode, &["which", "when", "why", "who"], "begin with what the item is or does"),
    rule(Scope::Identifier, &["told"], "reported, shown"),
    rule(Scope::Prose, &["told", "held against"], "reported, shown, compared with"),
    rule(Scope::Prose, &["problem", "problems"], "error, failure, diagnostic"),
    rule(
        Scope::Prose,
        &[
            "come by",
            "comes by",
            "came by",
            "come of it",
            "comes of it",
            "stand there",
            "stands there",
            "tell of",
            "tells of",
            "is held against",
            "are held against",
            "held against",
            "anew",
            "whoever",
            "beforehand",
            "so many",
            "all the same",
        ],
        "plain words",
    ),
    rule(
        Scope::Prose,
        &["beside the manifests", "left to a controller", "leave it to a controller"],
        "`next to the manifests`, `set by a controller`",
    ),
    rule(
        Scope::Message,
        &[
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
            "needn't",
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
        ],
        "both words in full",
    ),
];

const fn rule(scope: Scope, words: &'static [&'static str], instead: &'static str) -> Rule {
    Rule { scope, words, instead }
}

/// One refused word at its place.
struct Finding {
    file: String,
    line: usize,
    rule: usize,
    text: String,
}

#[test]
fn words_are_those_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut findings = Vec::new();
    let mut files = Vec::new();
    for crate_ in fs::read_dir(root.join("crates")).unwrap() {
        find(&crate_.unwrap().path().join("src"), "rs", &mut files);
    }
    find(&root.join("src"), "rs", &mut files);
    find(&root.join("docs"), "md", &mut files);
    find(&root.join("schemas"), "json", &mut files);
    for extension in ["md", "sh", "yaml", "yml"] {
        find(&root.join("examples"), extension, &mut files);
    }
    files.extend(["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "justfile"].map(|file| root.join(file)));
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let tokens = match file.extension().and_then(OsStr::to_str) {
            Some("md") => scan::document(&text),
            Some("rs" | "json") => tokens(&text),
            _ => scan::document(&scan::only_comments(&text)),
        };
        let is_test = file.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs");
        findings.extend(check(&name, &tokens, is_test));
    }
    assert!(findings.is_empty(), "{}", listed(&findings));
}

/// A public type has a name of its own in its crate.
#[test]
fn each_public_type_of_a_crate_has_its_own_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src"));
    let mut shared = Vec::new();
    for folder in crates.chain([root.join("src")]) {
        let mut files = Vec::new();
        find(&folder, "rs", &mut files);
        let mut types: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
        for file in files {
            for name in public_types(&fs::read_to_string(&file).unwrap()) {
                types.entry(name).or_default().insert(file.clone());
            }
        }
        shared.extend(types.into_iter().filter(|(_, files)| files.len() > 1));
    }
    assert!(shared.is_empty(), "{shared:#?}");
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

/// The findings of each rule with their places, and their number at the end.
fn listed(findings: &[Finding]) -> String {
    let mut numbers = BTreeMap::new();
    let mut text = String::from("\n");
    for finding in findings {
        let instead = RULES[finding.rule].instead;
        let _ = writeln!(text, "{}:{}: {} (rather: {instead})", finding.file, finding.line, finding.text);
        *numbers.entry(finding.rule).or_insert(0) += 1;
    }
    for (rule, number) in numbers {
        let _ = writeln!(text, "{number:5}  {}", RULES[rule].words.join(", "));
    }
    text
}

fn check(file: &str, tokens: &[Token], is_test: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for token in tokens {
        for (rule, found) in RULES.iter().enumerate().filter(|(_, rule)| rule.scope.covers(token, is_test)) {
            if found.scope == Scope::DocStartOfCode
                && (file.starts_with("src/cli/") || file.starts_with("src/commands/"))
            {
                continue;
            }
            let refused = found.refused(token).into_iter();
            findings.extend(refused.map(|(line, text)| Finding { file: file.to_owned(), line, rule, text }));
        }
    }
    findings.sort_by_key(|finding| finding.line);
    findings
}

impl Scope {
    /// Returns true if words of this scope are looked for in the token.
    fn covers(self, token: &Token, is_test: bool) -> bool {
        let is_message = !is_test && !token.is_test;
        match self {
            Self::Identifier | Self::WholeIdentifier => matches!(token.kind, Kind::Identifier | Kind::Binding),
            Self::Binding => token.kind == Kind::Binding,
            Self::DocStart | Self::DocStartOfCode => token.kind == Kind::Doc,
            Self::Prose => {
                matches!(token.kind, Kind::Doc | Kind::Comment | Kind::Document)
                    || token.kind == Kind::Text && is_message
            }
            Self::Message => token.kind == Kind::Document || token.kind == Kind::Text && is_message,
        }
    }
}

impl Rule {
    /// The refused words of a token, with their lines.
    fn refused(&self, token: &Token) -> Vec<(usize, String)> {
        let whole = |text: &str| vec![(token.line, text.to_owned())];
        match self.scope {
            Scope::Identifier => {
                let words = scan::words_of_identifier(&token.text);
                if words.iter().any(|word| self.words.contains(&word.as_str())) { whole(&token.text) } else { vec![] }
            }
            Scope::WholeIdentifier | Scope::Binding => {
                if self.words.contains(&token.text.as_str()) {
                    whole(&token.text)
                } else {
                    vec![]
                }
            }
            Scope::DocStart | Scope::DocStartOfCode => {
                let first = token.text.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty());
                let starts_with_word = token.text.trim_start().starts_with(char::is_alphabetic);
                let refused = first.filter(|word| starts_with_word && self.words.contains(&&*word.to_lowercase()));
                refused.map_or_else(Vec::new, |_| whole(token.text.lines().next().unwrap_or_default().trim()))
            }
            Scope::Prose | Scope::Message => self.phrases(token),
        }
    }

    fn phrases(&self, token: &Token) -> Vec<(usize, String)> {
        let words = scan::words_of_prose(token);
        let mut found = Vec::new();
        for phrase in self.words {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            let places = words
                .windows(phrase.len())
                .filter(|window| window.iter().map(|(_, word)| word.as_str()).eq(phrase.iter().copied()));
            found.extend(places.map(|window| (window[0].0, phrase.join(" "))));
        }
        found
    }
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
fn refused_words_are_found_at_their_lines() {
    let found = |file: &str, tokens: &[Token]| -> Vec<String> {
        check(file, tokens, false).iter().map(|found| format!("{}: {}", found.line, found.text)).collect()
    };
    let source = "//! That a file is read.

/// Whoever `asks`
/// comes
/// by it.
fn our_hand(of: &Type, is_of: u8) {
    // All the
    // same.
    let s = \"it doesn't {problem}\";
    Type::of(of.news);
}
";
    assert_eq!(
        found("a.rs", &tokens(source)),
        [
            "1: That a file is read.",
            "3: whoever",
            "4: comes by",
            "6: our_hand",
            "6: of",
            "7: all the same",
            "9: doesn't",
            "10: of",
            "10: news",
        ]
    );
    let document = "It is read\nbeforehand.\n\n```sh\ndon't\n```\n`don't` don't\n";
    assert_eq!(found("a.md", &scan::document(document)), ["2: beforehand", "7: don't"]);
}

//! Readers of the formats: each fails the test if a document is not what others expect.

use std::collections::{BTreeMap, BTreeSet};

use kube_yaml::{Validation, read};
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::Value;

use super::schema;

/// Reads a document of a format.
pub fn of(format: &str) -> fn(&str) {
    match format {
        "json" => |text| schema::check_report(&serde_json::from_str(text).unwrap()),
        "yaml" => |text| schema::check_report(&yaml(text)),
        "jsonl" => |text| assert!(!lines(text).is_empty()),
        "unified" => |text| drop(patch(text)),
        "markdown" => |text| drop(markdown(text)),
        "junit" => |text| drop(junit(text)),
        "sarif" => |text| schema::check_sarif(&serde_json::from_str(text).unwrap()),
        "github" => |text| drop(commands(text)),
        "gitlab" => |text| drop(issues(text)),
        "prometheus" => |text| drop(metrics(text)),
        "name" => |text| assert!(names(text) < 1_000),
        "text" | "html" => |text| assert!(!text.is_empty()),
        other => panic!("`{other}` has no reader"),
    }
}

/// The structure of a document, without its texts.
pub fn shape(format: &str) -> fn(&str) -> String {
    match format {
        "json" | "sarif" | "gitlab" => |text| keys(&serde_json::from_str(text).unwrap()),
        "yaml" => |text| keys(&yaml(text)),
        "jsonl" => |text| lines(text).iter().map(keys).collect(),
        "unified" => |text| patch(text).join(" "),
        "markdown" => |text| markdown(text).join(" "),
        "junit" => |text| {
            let junit = junit(text);
            format!("{} {} {}", junit.tests, junit.failures, junit.errors)
        },
        "github" => |text| commands(text).join(" "),
        "prometheus" => |text| metrics(text).join(" "),
        "name" => |text| names(text).to_string(),
        other => panic!("`{other}` has no reader: add one, which tests hostile values as well"),
    }
}

/// The number of names, one on each line.
fn names(text: &str) -> usize {
    text.lines().inspect(|line| assert!(line.contains('/'), "{line}")).count()
}

/// The nesting of objects, lists and scalars. Keys may be hostile, too.
fn keys(value: &Value) -> String {
    match value {
        Value::Object(map) => format!("{{{}}}", map.len()) + &map.values().map(keys).collect::<String>(),
        Value::Array(items) => format!("[{}]", items.len()) + &items.iter().map(keys).collect::<String>(),
        _ => "_".to_owned(),
    }
}

pub fn yaml(text: &str) -> Value {
    let stream = read(text.as_bytes(), Validation::Strict);
    assert!(stream.diagnostics.is_empty(), "{:?} in {text}", stream.diagnostics);
    stream.documents.into_iter().next().unwrap().value
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn junit(text: &str) -> quick_junit::Report {
    quick_junit::Report::deserialize_from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The kinds of elements of a comment. Only tags of ours are in it, and no link, image or mention.
pub fn markdown(text: &str) -> Vec<String> {
    assert!(text.chars().count() <= 65_536);
    let mut open = 0;
    let mut kinds = Vec::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                let allowed = ["<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"];
                let rest = allowed.iter().fold(html.to_string(), |rest, tag| rest.replace(tag, ""));
                assert!(!rest.contains(['<', '@']), "{html}");
                open += html.matches("<details>").count();
                open -= html.matches("</details>").count();
            }
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => panic!("a link in {text}"),
            Event::Text(text) => {
                let is_code = kinds.last().is_some_and(|kind| kind == "code");
                assert!(is_code || !text.contains("@team"), "{text}");
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                assert!(matches!(kind, pulldown_cmark::CodeBlockKind::Fenced(language) if &*language == "diff"));
                kinds.push("code".to_owned());
            }
            Event::Start(Tag::TableRow) => kinds.push("row".to_owned()),
            Event::Start(Tag::TableCell) => kinds.push("cell".to_owned()),
            Event::Start(Tag::Heading { .. }) => kinds.push("heading".to_owned()),
            Event::Start(Tag::List(_)) => kinds.push("list".to_owned()),
            _ => {}
        }
    }
    assert_eq!(open, 0, "every fold is closed");
    kinds
}

/// The levels of workflow commands, read as the runner does (actions/runner `ActionCommand.TryParseV2`).
fn commands(text: &str) -> Vec<String> {
    let mut levels = Vec::new();
    for line in text.lines() {
        let (command, message) = line.strip_prefix("::").and_then(|rest| rest.split_once("::")).expect(line);
        let (level, properties) = command.split_once(' ').expect(command);
        assert!(["error", "warning", "notice"].contains(&level), "{line}");
        let mut names = Vec::new();
        for property in properties.split(',') {
            let (name, value) = property.split_once('=').expect(property);
            assert!(!value.contains([':', '\r', '\n']), "{property}");
            names.push(name);
        }
        let known = ["file", "line", "col", "title"];
        assert!(names.iter().all(|name| known.contains(name)) && names.contains(&"title"), "{line}");
        assert!(!message.is_empty(), "{line}");
        levels.push(level.to_owned());
    }
    for level in ["error", "warning", "notice"] {
        assert!(levels.iter().filter(|one| *one == level).count() <= 10);
    }
    levels
}

/// The issues of a Code Quality report (GitLab, "Code Quality report format").
fn issues(text: &str) -> Vec<Value> {
    let issues: Vec<Value> = serde_json::from_str(text).unwrap();
    let mut fingerprints = BTreeSet::new();
    for issue in &issues {
        let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        assert!(
            is_text(&issue["description"]) && is_text(&issue["check_name"]) && is_text(&issue["location"]["path"]),
            "{issue}"
        );
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&issue["severity"].as_str().unwrap()));
        assert!(issue["location"]["lines"]["begin"].as_u64().is_some_and(|line| line > 0), "{issue}");
        assert!(!issue["location"]["path"].as_str().unwrap().starts_with("./"), "{issue}");
        assert!(fingerprints.insert(issue["fingerprint"].as_str().unwrap().to_owned()), "{issue}");
    }
    issues
}

/// The names of the files and the numbers of lines of a patch, whose hunks are as long as they say.
fn patch(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest: (usize, usize) = (0, 0);
    for line in text.lines() {
        if rest == (0, 0) {
            if let Some(range) = line.strip_prefix("@@ -").and_then(|line| line.strip_suffix(" @@")) {
                let length = |range: &str| range.split_once(',').map_or(1, |(_, length)| length.parse().unwrap());
                let (old, new) = range.split_once(" +").expect(line);
                rest = (length(old), length(new));
                continue;
            }
            let is_head = ["--- LIVE/", "+++ MERGED/", "--- /dev/null", "+++ /dev/null", "diff -u -N LIVE/"];
            let is_remark = line.starts_with("# ");
            assert!(is_remark || is_head.iter().any(|head| line.starts_with(head)), "{line:?} in {text}");
            if !is_remark {
                found.push(line.split(' ').next().unwrap().to_owned());
            }
            continue;
        }
        match line.chars().next() {
            Some('-') => rest.0 -= 1,
            Some('+') => rest.1 -= 1,
            Some(' ') => rest = (rest.0 - 1, rest.1 - 1),
            _ => panic!("{line:?} in a hunk of {text}"),
        }
    }
    assert_eq!(rest, (0, 0), "{text}");
    found
}

/// The names of the series, checked as `promtool check metrics` does: help and type before the samples of a metric, which stand
/// together, no series twice, and names in snake case.
fn metrics(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut typed: BTreeMap<String, bool> = BTreeMap::new();
    let mut series = BTreeSet::new();
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(is_name(name) && !help.is_empty() && help.ends_with('.'), "{line}");
            assert!(typed.insert(name.to_owned(), false).is_none(), "{line} twice");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let name = rest.strip_suffix(" gauge").expect(line);
            assert_eq!(typed.insert(name.to_owned(), true), Some(false), "{line}");
            // A gauge is no counter, and the unit comes last.
            assert!(!["_total", "_count", "_sum", "_bucket"].iter().any(|end| name.ends_with(end)), "{line}");
            names.push(name.to_owned());
        } else {
            let (name, rest) = line.split_once('{').expect(line);
            assert_eq!(names.last().map(String::as_str), Some(name), "{line}: its samples stand together");
            let (labels, value) = rest.rsplit_once("} ").expect(line);
            value.parse::<f64>().expect(line);
            assert!(series.insert((name.to_owned(), labels.to_owned())), "{line} twice");
            for (label, _) in labels_of(labels) {
                assert!(is_name(&label) && !label.starts_with("__"), "{line}");
            }
            names.push(name.to_owned());
        }
    }
    assert!(typed.values().all(|typed| *typed));
    names
}

/// Reads `a="b",c="d\"e"`.
fn labels_of(text: &str) -> Vec<(String, String)> {
    let mut labels = Vec::new();
    let mut chars = text.chars().peekable();
    while chars.peek().is_some() {
        let name: String = chars.by_ref().take_while(|c| *c != '=').collect();
        assert_eq!(chars.next(), Some('"'), "{text}");
        let mut value = String::new();
        loop {
            match chars.next().expect(text) {
                '"' => break,
                '\\' => {
                    let escaped = chars.next().expect(text);
                    assert!(['"', '\\', 'n'].contains(&escaped), "{text}");
                    value.push(escaped);
                }
                c => value.push(c),
            }
        }
        labels.push((name, value));
        assert!(matches!(chars.next(), None | Some(',')), "{text}");
    }
    labels
}

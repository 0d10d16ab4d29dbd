//! Just enough of Rust's grammar to see which paths a file names.

use std::collections::BTreeMap;

/// A file without the modules and functions under `#[cfg(test)]`, which may do what they like.
pub fn without_tests(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut kept = Vec::new();
    let mut position = 0;
    while position < tokens.len() {
        if tokens[position..].iter().take(7).map(String::as_str).eq(["#", "[", "cfg", "(", "test", ")", "]"]) {
            position = end_of_item(&tokens, position + 7);
        } else {
            kept.push(tokens[position].clone());
            position += 1;
        }
    }
    kept
}

/// The position after the item that starts at `start`: behind its block, or behind a semicolon before any block.
fn end_of_item(tokens: &[String], start: usize) -> usize {
    let mut depth = 0;
    for (position, token) in tokens.iter().enumerate().skip(start) {
        match token.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => return position + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return position + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// The paths that are named, as they read from the root: `use` groups are taken apart, `super` and what `use` brought in are
/// resolved (`io::stdout` after `use std::io` is `std::io::stdout`), and a macro keeps its `!`.
pub fn paths_in(tokens: &[String], module: &[&str]) -> Vec<String> {
    let mut paths = Vec::new();
    let mut imported = BTreeMap::new();
    let mut position = 0;
    while position < tokens.len() {
        let is_import = tokens[position] == "use";
        let mut found = Vec::new();
        let end = read_path(tokens, position + usize::from(is_import), &[], &mut found);
        for (path, name) in found {
            let path = from_root(path, module);
            if is_import {
                imported.insert(name, path.clone());
            }
            paths.push(path);
        }
        position = end.max(position + 1);
    }
    paths.into_iter().map(|path| resolve(path, &imported).join("::")).collect()
}

/// Reads one path, or a group of them, and returns the position behind it. Each path comes with the name that it has here.
fn read_path(tokens: &[String], start: usize, before: &[String], found: &mut Vec<(Vec<String>, String)>) -> usize {
    let mut path = before.to_vec();
    let mut position = start;
    while let Some(token) = tokens.get(position) {
        if token == "{" && !path.is_empty() && tokens[position - 1] == "::" {
            position += 1;
            while tokens.get(position).is_some_and(|token| token != "}") {
                position = read_path(tokens, position, &path, found).max(position + 1);
                while tokens.get(position).is_some_and(|token| token == ",") {
                    position += 1;
                }
            }
            return position + 1;
        }
        if token == "::" {
            position += 1;
            continue;
        }
        if !is_name(token) || (position > start && tokens[position - 1] != "::") {
            break;
        }
        if token != "self" || path.is_empty() {
            path.push(token.clone());
        }
        position += 1;
    }
    if path.len() > before.len() || (position > start && !path.is_empty()) {
        if before.is_empty() && tokens.get(position).is_some_and(|token| token == "!") {
            path.last_mut().into_iter().for_each(|name| name.push('!'));
        }
        let mut name = path.last().cloned().unwrap_or_default();
        if tokens.get(position).is_some_and(|token| token == "as") {
            name = tokens.get(position + 1).cloned().unwrap_or_default();
            position += 2;
        }
        found.push((path, name));
    }
    position
}

/// `self::x` and `super::x` as `crate::…::x`.
fn from_root(path: Vec<String>, module: &[&str]) -> Vec<String> {
    let ups = path.iter().take_while(|name| *name == "super" || *name == "self").count();
    if ups == 0 {
        return path;
    }
    let supers = path[..ups].iter().filter(|name| *name == "super").count();
    let base = &module[..module.len().saturating_sub(supers)];
    let names = std::iter::once("crate").chain(base.iter().copied()).map(str::to_owned);
    names.chain(path[ups..].iter().cloned()).collect()
}

fn resolve(path: Vec<String>, imported: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    match imported.get(&path[0]) {
        Some(origin) if *origin != path => origin.iter().chain(&path[1..]).cloned().collect(),
        _ => path,
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Names, `::` and single signs; comments, strings, characters and lifetimes are left out.
fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = raw_string(rest) {
            length
        } else if first == '"' {
            quoted(rest)
        } else if first == '\'' {
            character_or_lifetime(rest)
        } else if is_name(rest) {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            found.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                found.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut position) = (0, 0);
    while position < text.len() {
        let rest = &text.as_bytes()[position..];
        if rest.starts_with(b"/*") {
            depth += 1;
            position += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            position += 2;
        } else {
            position += 1;
        }
        if depth == 0 {
            return position;
        }
    }
    text.len()
}

/// The length of a raw string (with its prefix) at the start of `text`.
fn raw_string(text: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| text.starts_with(prefix))?;
    let hashes = text[prefix.len()..].len() - text[prefix.len()..].trim_start_matches('#').len();
    let body = text[prefix.len() + hashes..].strip_prefix('"')?;
    let closing = format!("\"{}", "#".repeat(hashes));
    let end = body.find(&closing)?;
    Some(prefix.len() + hashes + 1 + end + closing.len())
}

fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (position, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return position + 1,
            _ => {}
        }
    }
    text.len()
}

fn character_or_lifetime(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), _) => text[3.min(text.len())..].find('\'').map_or(text.len(), |end| end + 4),
        (Some(_), Some((second, '\''))) => second + 1,
        _ => 1,
    }
}

//! The lines of a file that are never shown.

use std::collections::BTreeSet;

use kube_yaml::{Validation, read};
use serde_json::Value;
use structured_merge::GroupVersionKind;

use crate::object::holds_secrets;

/// The numbers of the lines, from 0, that belong to documents with Secrets. A document that may be one counts as well, also as a comment.
pub fn secret_lines(text: &str) -> BTreeSet<usize> {
    let content = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let documents = read(content.as_bytes(), Validation::Warn).documents;
    let mut secret = BTreeSet::new();
    let mut at = 0;
    let mut line = 0_usize;
    let mut pass = |to: usize, is_secret: bool, at: &mut usize| {
        let part = content.get(*at..to).unwrap_or_default();
        let count = part.matches('\n').count();
        if is_secret || may_be_secret(part) {
            // The last line of the part ends in it, or with the text.
            secret.extend(line..line.saturating_add(count.max(part.lines().count())));
        }
        line = line.saturating_add(count);
        *at = to;
    };
    for document in &documents {
        pass(document.text.start, false, &mut at);
        pass(document.text.end, has_secret(&document.value), &mut at);
    }
    pass(content.len(), false, &mut at);
    secret
}

/// The numbers of the lines, from 0, of a file of a kustomization that may show values of Secrets: those of documents with Secrets and of
/// `secretGenerator`, and all if a patch in it is one of a Secret.
pub fn secret_lines_of_kustomization(text: &str) -> BTreeSet<usize> {
    let mut secret = secret_lines(text);
    let lines: Vec<&str> = text.lines().collect();
    let is_hidden = |line: &&str| {
        let words = words_of(line);
        words.contains("kind:Secret") || (words.contains("secretGenerator") && !line.starts_with("secretGenerator:"))
    };
    if lines.iter().any(is_hidden) {
        secret.extend(0..lines.len());
    }
    let mut is_in = false;
    for (number, line) in lines.iter().enumerate() {
        let is_key = line.starts_with(|c: char| !c.is_whitespace() && !['-', '#'].contains(&c));
        if is_key {
            is_in = line.starts_with("secretGenerator:");
        }
        if is_in {
            secret.insert(number);
        }
    }
    secret
}

/// Returns true if an object, or an item of a list, has secret values.
fn has_secret(value: &Value) -> bool {
    let items = value.get("items").and_then(Value::as_array);
    holds_secrets(&GroupVersionKind::of(value), value) || items.is_some_and(|items| items.iter().any(has_secret))
}

/// Returns true if a text may have values of Secrets, in whatever form it is: as a manifest, a patch or a generator.
pub fn may_hold_secrets(text: &str) -> bool {
    may_be_secret(text) || text.contains("secretGenerator")
}

fn may_be_secret(text: &str) -> bool {
    let words = words_of(text);
    ["kind:Secret", "stringData", "kind:secret"].iter().any(|word| words.contains(word))
}

/// The letters, digits and colons of a text, whatever quotes and spaces are between them.
fn words_of(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric() || *character == ':').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_with_secrets_are_found_by_their_lines() {
        let text = "a: 1\n---\nkind: Secret\napiVersion: v1\ndata: {a: Yg==}\n---\nb: 1\n---\n# kind: \"Secret\"\n# data: {}\n---\nc: 1";
        let lines = secret_lines(text);
        assert!([2, 3, 4, 8, 9].iter().all(|line| lines.contains(line)), "{lines:?}");
        // The separators around a comment may go with it.
        assert!(![0, 6, 11].iter().any(|line| lines.contains(line)), "{lines:?}");
        let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, data: {a: Yg==}}";
        assert_eq!(secret_lines(list).len(), 4);
        assert_eq!(secret_lines("{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"data\": {}}").len(), 1);
    }
}

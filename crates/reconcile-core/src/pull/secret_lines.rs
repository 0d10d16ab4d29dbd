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
/// `secretGenerator`, and all if a patch in it is one of a Secret, or may be.
pub fn secret_lines_of_kustomization(text: &str) -> BTreeSet<usize> {
    let mut secret = secret_lines(text);
    let lines: Vec<&str> = text.lines().collect();
    let is_hidden = |line: &&str| {
        let words = words_of(line);
        words.contains("kind:Secret") || (words.contains("secretGenerator") && !line.starts_with("secretGenerator:"))
    };
    let documents = read(text.strip_prefix('\u{FEFF}').unwrap_or(text).as_bytes(), Validation::Warn).documents;
    if lines.iter().any(is_hidden) || documents.iter().any(|document| may_patch_secret(&document.value)) {
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

/// Returns true if a kustomization has a patch of data for objects that it chooses by a name, a label or a pattern: they may be Secrets. So
/// is a file of JSON patches of data, whose objects only the kustomization knows.
fn may_patch_secret(document: &Value) -> bool {
    let items = |name: &str| document.get(name).and_then(Value::as_array).into_iter().flatten();
    let mut patches = ["patches", "patchesJson6902"].into_iter().flat_map(items);
    patches.any(|item| {
        let Some(target) = item.get("target") else { return false };
        let kind = target.get("kind").and_then(Value::as_str).unwrap_or_default();
        let is_other = !kind.is_empty() && kind.chars().all(char::is_alphanumeric) && kind != "Secret";
        !is_other && item.get("patch").and_then(Value::as_str).is_some_and(is_patch_of_data)
    }) || is_json_patch_of_data(document)
}

/// Returns true for the text of a patch that changes data, or cannot be read.
fn is_patch_of_data(patch: &str) -> bool {
    let stream = read(patch.as_bytes(), Validation::Warn);
    let has_data = |value: &Value| is_data(value) || is_json_patch_of_data(value);
    !stream.diagnostics.is_empty() || stream.documents.iter().any(|document| has_data(&document.value))
}

fn is_data(value: &Value) -> bool {
    value.as_object().is_some_and(|map| map.keys().any(|key| DATA.contains(&&**key)))
}

/// Returns true for a list of operations (RFC 6902) of which one changes data, or a whole object.
fn is_json_patch_of_data(value: &Value) -> bool {
    let path = |operation: &Value| Some(operation.get("path")?.as_str()?.to_owned());
    let mut paths = value.as_array().into_iter().flatten().filter_map(path);
    paths.any(|path| DATA.contains(&path.split('/').nth(1).unwrap_or_default()) || path.is_empty())
}

/// The fields of a Secret that hold its values.
const DATA: [&str; 2] = ["data", "stringData"];

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

    #[test]
    fn a_patch_of_what_may_be_a_secret_hides_its_kustomization() {
        let patched = |target: &str, patch: &str| {
            let text = format!("patches:\n- target: {target}\n  patch: |-\n    {patch}\nimages: []\n");
            secret_lines_of_kustomization(&text).len()
        };
        let of_data = "- {op: replace, path: /data/password, value: Q0FOQVJZ}";
        for target in
            ["{labelSelector: tier=db}", "{name: s}", "{kind: Secre.*}", "{kind: Secret}", "{kind: \"Sec\\u0072et\"}"]
        {
            assert_eq!(patched(target, of_data), 5, "{target}");
        }
        for patch in ["- {op: add, path: '', value: {}}", "{stringData: {password: x}}", "- {op: [, path"] {
            assert_eq!(patched("{name: s}", patch), 5, "{patch}");
        }
        assert_eq!(patched("{kind: ConfigMap}", of_data), 0);
        assert_eq!(patched("{name: web}", "- {op: replace, path: /spec/replicas, value: 3}"), 0);
        assert_eq!(secret_lines_of_kustomization(&format!("{of_data}\n")).len(), 1);
    }
}

//! A mapping while it is read: keys as JSON has them, duplicates, and merges in go-yaml's order.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::collector::Collector;
use super::positions::{Keys, Nodes};
use super::scalar::KeyKind;
use super::{Mark, Severity, SyntaxDiagnostic};

/// The kinds of the keys of a mapping that are not text in YAML (`1`, `yes`).
pub(super) type Kinds = HashMap<String, KeyKind>;

/// Role of the next node of the mapping.
pub(super) enum Pending {
    Key,
    Value {
        text: String,
        kind: KeyKind,
        mark: Mark,
    },
    Merge {
        mark: Mark,
    },
    /// The value of a key that cannot be used.
    Dropped,
}

/// A mapping that is still open.
pub(super) struct Open {
    pub node: u32,
    pub anchor: usize,
    pub pending: Pending,
    pub entries: Map<String, Value>,
    pub kinds: Kinds,
    /// The keys that a merge added and that have not been written since.
    merged: HashSet<String>,
}

impl Open {
    pub(super) fn new(node: u32, anchor: usize) -> Self {
        Self { node, anchor, pending: Pending::Key, entries: Map::new(), kinds: Kinds::new(), merged: HashSet::new() }
    }

    /// Checks a key against the earlier ones, before its value is read.
    pub(super) fn check(
        &mut self,
        text: &str,
        kind: KeyKind,
        mark: Mark,
        (nodes, keys): (&Nodes, &Keys),
        diagnostics: &mut Collector,
    ) {
        if !self.entries.contains_key(text) {
            return;
        }
        let present = self.kind(text);
        // A key behind a merge intentionally overrides the merged one.
        if self.merged.remove(text) && present == kind || !diagnostics.has_room(Severity::Lossy) {
            return;
        }
        let first = nodes.key_in(keys, self.node, text);
        diagnostics.add(if present == kind { duplicate(mark, first, text) } else { confused(mark, first, text) });
    }

    /// Adds the value of a key.
    pub(super) fn insert(&mut self, text: String, kind: KeyKind, value: Value) {
        if kind == KeyKind::Text {
            if !self.kinds.is_empty() {
                self.kinds.remove(&text);
            }
        } else {
            self.kinds.insert(text.clone(), kind);
        }
        self.entries.insert(text, value);
    }

    /// Adds the entries of a merged mapping, which override earlier ones (go-yaml decodes it into the same map).
    pub(super) fn merge(
        &mut self,
        value: Value,
        kinds: &Kinds,
        mark: Mark,
        (nodes, keys): (&Nodes, &Keys),
        diagnostics: &mut Collector,
    ) {
        let Some(merged) = merged_entries(value) else {
            return diagnostics.add(not_mergeable(mark));
        };
        // One diagnostic is enough.
        let mut overrides = false;
        for (key, value) in merged {
            let kind = kinds.get(&key).copied().unwrap_or(KeyKind::Text);
            if self.entries.contains_key(&key) && !overrides && diagnostics.has_room(Severity::Lossy) {
                overrides = true;
                let first = nodes.key_in(keys, self.node, &key);
                diagnostics.add(
                    SyntaxDiagnostic::lossy(
                        mark,
                        format!("this merge overrides the key `{key}`, which is set before it"),
                    )
                    .also(first)
                    .hint("move `<<` to the top of the mapping, so that the keys after it override what it brings"),
                );
            }
            self.merged.insert(key.clone());
            self.insert(key, kind, value);
        }
    }

    fn kind(&self, text: &str) -> KeyKind {
        self.kinds.get(text).copied().unwrap_or(KeyKind::Text)
    }
}

/// The entries that the value of a merge key adds; if several mappings have a key, the first one wins.
fn merged_entries(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(entries) => Some(entries),
        Value::Array(items) => {
            let mut all = Map::new();
            for item in items.into_iter().rev() {
                let Value::Object(mut entries) = item else { return None };
                all.append(&mut entries);
            }
            Some(all)
        }
        _ => None,
    }
}

/// Diagnostic for two equal keys in one mapping.
pub(super) fn duplicate(mark: Mark, first: Option<Mark>, key: &str) -> SyntaxDiagnostic {
    SyntaxDiagnostic::lossy(mark, format!("the key `{key}` is set twice in this mapping"))
        .also(first)
        .hint("kubectl silently uses the last one: keep one of them")
}

fn confused(mark: Mark, first: Option<Mark>, key: &str) -> SyntaxDiagnostic {
    SyntaxDiagnostic::lossy(
        mark,
        format!("two keys of this mapping both become `{key}`, although they are different keys in YAML"),
    )
    .also(first)
    .hint("kubectl picks one of them at random: keep one, and quote it")
}

/// Diagnostic for a merge of anything else than mappings, aliases of mappings and sequences of both.
fn not_mergeable(mark: Mark) -> SyntaxDiagnostic {
    SyntaxDiagnostic::refused(mark, "the value of the merge key `<<` is not a mapping or a sequence of mappings")
        .hint("merge an alias of a mapping, such as `<<: *name`, or quote the key to use it as such")
}

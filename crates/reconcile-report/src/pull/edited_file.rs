//! A file that is edited, and its patch.

use std::collections::BTreeSet;

use crate::view::View;
use crate::words::styled::{Role, Styled};
use crate::words::value::line_diff::{MATCHED, grouped};
use crate::words::value::number::counted;
use crate::words::why::why_in_full;
use reconcile_core::compare::FieldChange;
use reconcile_core::pull::kustomize::BuildChange;
use reconcile_core::pull::{secret_lines, secret_lines_of_kustomization};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use similar::ChangeTag;
use structured_merge::ObjectKey;

/// Lines of context, as in `diff -u`.
const CONTEXT: usize = 3;
/// The text in the place of a line that belongs to a Secret.
const WITHHELD: &str = "(a line of a document with secret values)";
/// The most values of one overlay that the text shows.
const SHOWN: usize = 20;

/// A file that is edited.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditedFile {
    /// The file as it was named.
    pub file: String,
    /// True if it was written.
    pub written: bool,
    /// Its former text.
    #[serde(skip)]
    pub before: String,
    /// Its new text.
    #[serde(skip)]
    pub after: String,
    /// The content of the file.
    #[serde(skip)]
    pub content: FileContent,
}

/// The content of a file that is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// Manifests. Lines of documents with Secrets are not shown.
    Manifests,
    /// A file of a kustomization. Lines of documents with Secrets are not shown, nor those of generators of Secrets.
    Kustomization,
    /// Values of Secrets. No line is shown.
    Secret,
    /// The configuration.
    Configuration,
}

impl EditedFile {
    /// The edits of the file as a patch, without the lines of Secrets.
    pub fn patch(&self) -> Styled {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (self.before.split_inclusive('\n').collect(), self.after.split_inclusive('\n').collect());
        let hidden = |text: &str| match self.content {
            FileContent::Manifests => secret_lines(text),
            FileContent::Kustomization => secret_lines_of_kustomization(text),
            FileContent::Secret => (0..text.lines().count()).collect(),
            FileContent::Configuration => BTreeSet::new(),
        };
        let secret_old = hidden(&self.before);
        let secret_new = hidden(&self.after);
        let mut text = Styled::new();
        text.line(Role::Name, format!("--- {}", self.file));
        text.line(Role::Name, format!("+++ {}", self.file));
        for group in grouped((MATCHED, CONTEXT), &old, &new) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let range = |start: usize, end: usize| format!("{},{}", start + usize::from(end > start), end - start);
            let header = format!(
                "@@ -{} +{} @@",
                range(first.old_range().start, last.old_range().end),
                range(first.new_range().start, last.new_range().end)
            );
            text.line(Role::Note, header);
            for change in group.iter().flat_map(|op| op.iter_changes(&old, &new)) {
                let is_secret = match (change.old_index(), change.new_index()) {
                    (Some(index), _) => secret_old.contains(&index),
                    (None, Some(index)) => secret_new.contains(&index),
                    (None, None) => false,
                };
                line(&mut text, change.tag(), change.value(), is_secret);
            }
        }
        text
    }
}

fn line(text: &mut Styled, tag: ChangeTag, value: &str, is_secret: bool) {
    let (sign, role) = match tag {
        ChangeTag::Delete => ('-', Role::Remove),
        ChangeTag::Insert => ('+', Role::Add),
        ChangeTag::Equal => (' ', Role::Plain),
    };
    let shown = value.strip_suffix('\n').unwrap_or(value);
    let shown = shown.strip_suffix('\r').unwrap_or(shown);
    text.line(role, format!("{sign}{}", if is_secret { WITHHELD } else { shown }));
    if !value.ends_with('\n') {
        text.line(Role::Note, "\\ No newline at end of file");
    }
}

/// The question whether to write a change into its manifest, with the lines that change in the file.
pub fn question(key: &ObjectKey, change: &FieldChange, file: &EditedFile, view: &View) -> Styled {
    let mut text = Styled::new().with(Role::Name, key.to_string()).with(Role::Plain, format!(" {}", change.path));
    text.line(Role::Note, format!("  {}", why_in_full(change, view)).trim_end());
    text.append(file.patch());
    text.with(Role::Name, format!("Write this into {}? [y,n,a,d,q,?] ", file.file))
}

/// Another overlay that an edited base is a part of.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtherOverlay {
    /// Its directory; empty if it is not known.
    pub directory: String,
    /// The values that the edit changes in its build.
    pub changes: Vec<OverlayChange>,
    /// The reason why they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A value that an edit changes in the build of another overlay.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverlayChange {
    /// The kind and the name of the object, with the namespace where it is written.
    pub object: String,
    /// The field.
    pub path: String,
    /// The former value; absent if there was none, or if it is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The new value; absent if there is none, or if it is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl OtherOverlay {
    /// An overlay with the values that change.
    pub fn of(directory: String, changes: Vec<BuildChange>) -> Self {
        let change = |BuildChange { object, path, before, after }| OverlayChange { object, path, before, after };
        Self { directory, changes: changes.into_iter().map(change).collect(), error: None }
    }

    /// An overlay of which it is not known what changes.
    pub fn unknown(directory: String, reason: &str) -> Self {
        Self { directory, changes: Vec::new(), error: Some(reason.to_owned()) }
    }

    /// One line for the overlay, and one for each value.
    pub fn text(&self, dry_run: bool) -> Styled {
        let mut text = Styled::new();
        let Self { directory, changes, error } = self;
        let verb = if dry_run { "would also change" } else { "also changed" };
        let head = match error {
            Some(reason) if directory.is_empty() => format!("{verb} others perhaps: {reason}"),
            Some(reason) => format!("{verb} {directory} perhaps: {reason}"),
            None if changes.is_empty() => format!("{directory} has the file as well, and its build stays as it is"),
            None => format!("{verb} {directory}: {}", counted(changes.len(), "value", "values")),
        };
        text.line(Role::Note, head);
        for OverlayChange { object, path, before, after } in changes.iter().take(SHOWN) {
            let shown = |value: &Option<Value>| value.as_ref().map_or_else(|| "none".to_owned(), Value::to_string);
            let values = match (before, after) {
                (None, None) => "differs".to_owned(),
                _ => format!("{} → {}", shown(before), shown(after)),
            };
            text.line(Role::Plain, format!("  {object} {path}: {values}"));
        }
        if changes.len() > SHOWN {
            text.line(Role::Note, format!("  and {} more", changes.len().saturating_sub(SHOWN)));
        }
        text
    }
}

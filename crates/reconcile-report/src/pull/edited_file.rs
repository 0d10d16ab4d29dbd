//! A file that is edited, and its patch.

use std::collections::BTreeSet;

use reconcile_core::pull::{secret_lines, secret_lines_of_kustomization};
use schemars::JsonSchema;
use serde::Serialize;
use similar::ChangeTag;
use structured_merge::ObjectKey;

use crate::model::ChangeReport;
use crate::view::View;
use crate::words::styled::{Role, Styled};
use crate::words::value::line_diff::{MATCHED, grouped};
use crate::words::why::why_in_full;

/// Lines of context, as in `diff -u`.
const CONTEXT: usize = 3;
/// The text in the place of a line that belongs to a Secret.
const WITHHELD: &str = "(a line of a document with a Secret)";

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
        let mut text = Styled::new().with(Role::Name, format!("--- {}", self.file));
        text.line_end();
        text.push(Role::Name, format!("+++ {}", self.file));
        text.line_end();
        for group in grouped((MATCHED, CONTEXT), &old, &new) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let range = |start: usize, end: usize| format!("{},{}", start + usize::from(end > start), end - start);
            let header = format!(
                "@@ -{} +{} @@",
                range(first.old_range().start, last.old_range().end),
                range(first.new_range().start, last.new_range().end)
            );
            text.push(Role::Note, header);
            text.line_end();
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
    text.push(role, format!("{sign}{}", if is_secret { WITHHELD } else { shown }));
    text.line_end();
    if !value.ends_with('\n') {
        text.push(Role::Note, "\\ No newline at end of file");
        text.line_end();
    }
}

/// The question whether to write a change into its manifest, with the lines that change in the file.
pub fn question(key: &ObjectKey, change: &ChangeReport, file: &EditedFile, view: &View) -> Styled {
    let mut text = Styled::new().with(Role::Name, key.to_string()).with(Role::Plain, format!(" {}", change.path));
    text.push(Role::Note, format!("  {}", why_in_full(change, view)).trim_end());
    text.line_end();
    text.append(file.patch());
    text.with(Role::Name, format!("Write this into {}? [y,n,a,d,q,?] ", file.file))
}

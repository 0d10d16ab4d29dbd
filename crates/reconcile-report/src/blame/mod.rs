//! The report of `blame`: the fields of live objects with their managers, as YAML with the managers at the left, or as JSON.

use reconcile_core::blame::{BlamedField, InManifest, Step};
use reconcile_core::compare::REDACTED;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::owners::{ObjectTimes, Owner, Reach};
use reconcile_core::text::{middle_cut, width, yaml};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use structured_merge::{ObjectKey, Ownership};

use crate::model::identity::KeyFields;
use crate::model::{Audited, AuditedItem, Verdict};
use crate::view::View;
use crate::words::styled::{Role, Styled};
use crate::words::value::inline;
use crate::words::why::{owner_text, owner_within};

/// The sign of a field without an owner.
const NOBODY: &str = "-";
/// The columns in which an owner has room for its operation, its time and a part of its name, where they are at most half of all.
const SHORTEST_OWNER: usize = 38;
/// One line in this many may be longer than the columns beside the owners.
const FEW_LONG: usize = 10;
/// The narrowest column for the text of the document.
const NARROWEST: usize = 24;

/// A live object and the managers of its fields.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlamedObject {
    /// The context, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    api_version: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    name: String,
    /// The fields in the order of the YAML document; none if the object could not be read.
    fields: Vec<BlamedField>,
    /// The reason why the object could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<BlameError>,
    #[serde(skip)]
    key: ObjectKey,
    #[serde(skip)]
    times: ObjectTimes,
}

/// The reason why an object could not be read.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BlameError {
    /// The reason as one word, such as `NotFound`.
    reason: String,
    message: String,
}

impl BlamedObject {
    /// An object with its fields, or with the reason why they are not known.
    pub fn new(key: &ObjectKey, fields: Result<Vec<BlamedField>, &Diagnostic>) -> Self {
        let (fields, error) = match fields {
            Ok(fields) => (fields, None),
            Err(diagnostic) => {
                let reason = diagnostic.code.to_string();
                let message = diagnostic.message.clone();
                (Vec::new(), Some(BlameError { reason, message }))
            }
        };
        let KeyFields { api_version, kind, namespace, name } = key.into();
        let times = ObjectTimes::default();
        Self { context: None, api_version, kind, namespace, name, fields, error, key: key.clone(), times }
    }

    /// Sets the name of its context.
    pub fn of_context(self, context: &str) -> Self {
        Self { context: Some(context.to_owned()), ..self }
    }

    /// Adds the times that the live object has; `manager` is our own.
    pub fn with_times(mut self, live: &Value, manager: &str) -> Self {
        let ours = Ownership::of(live, manager).ours;
        self.times = ObjectTimes::of(live, ours.and_then(|ours| ours.time).as_deref());
        self
    }

    /// Keeps the fields of some owners alone.
    pub fn of_owners(mut self, mut is_wanted: impl FnMut(&Owner) -> bool) -> Self {
        self.fields.retain(|field| {
            // Each owner is asked about: the caller may note which of them it found.
            let mut wanted = false;
            for owner in &field.managers {
                wanted |= is_wanted(owner);
            }
            wanted
        });
        self
    }
}

/// The owners of all fields. A field of the manifest that another manager owns was ours at our last apply; any other may be older.
impl Audited for BlamedObject {
    fn visit(&mut self, visit: &mut dyn FnMut(AuditedItem<'_>)) {
        for field in &mut self.fields {
            let is_taken = field.manifest == Some(InManifest::Differs);
            let reach = if is_taken { Reach::LastApply } else { Reach::Creation };
            let BlamedField { managers, path, .. } = field;
            for owner in managers {
                visit(AuditedItem::Owner(owner, path, reach));
            }
        }
    }

    fn live_key(&self) -> ObjectKey {
        self.key.clone()
    }

    fn times(&self) -> ObjectTimes {
        self.times
    }
}

/// `-o text`: a YAML document for each object that could be read.
pub fn text(objects: &[BlamedObject], view: &View) -> Styled {
    let shown: Vec<&BlamedObject> = objects.iter().filter(|object| !object.fields.is_empty()).collect();
    let mut text = Styled::new();
    for (at, object) in shown.iter().enumerate() {
        if at > 0 {
            text.line(Role::Note, "---");
        }
        text.append(lines(&object.fields, view));
    }
    text
}

/// The result: incomplete if an object could not be read.
pub fn verdict(objects: &[BlamedObject]) -> Verdict {
    if objects.iter().any(|object| object.error.is_some()) { Verdict::Incomplete } else { Verdict::InSync }
}

/// A line of the document.
struct Line<'f> {
    /// The field that the line begins; none for a parent of fields, and for the further lines of a value.
    field: Option<&'f BlamedField>,
    manifest: Option<InManifest>,
    text: String,
}

/// The document of these fields. Parents of no field are left out.
fn lines(fields: &[BlamedField], view: &View) -> Styled {
    let document = document(fields);
    let column = owner_column(fields, &document, view);
    let owners = |field: &BlamedField| -> Vec<String> {
        let names: Vec<String> = field.managers.iter().map(|owner| owner_within(owner, view, column)).collect();
        if names.is_empty() { vec![NOBODY.to_owned()] } else { names }
    };
    let mut text = Styled::new();
    for line in document {
        let mut names = line.field.map(owners).unwrap_or_default().into_iter();
        let first = names.next().unwrap_or_default();
        let row = |owner: &str, content: &str| row(line.manifest, owner, content, column, view);
        text.append(row(&first, &line.text));
        // Further owners of the same field.
        names.for_each(|name| text.append(row(&name, "")));
    }
    text
}

/// The columns for the owners: as many as the longest one needs, unless the lines of the document need them.
fn owner_column(fields: &[BlamedField], document: &[Line<'_>], view: &View) -> usize {
    let managers = || fields.iter().flat_map(|field| &field.managers);
    let widest = managers().map(|owner| width(&owner_text(owner, view))).max();
    let widest = widest.unwrap_or_default().max(width(NOBODY));
    let has_users = managers().any(|owner| !owner.users.is_empty());
    let half = view.width / 2;
    let share = if has_users { half } else { (view.width.saturating_mul(2) / 5).max(SHORTEST_OWNER.min(half)) };
    if view.full { widest } else { widest.min(share.max(room_beside(document, view))) }
}

/// The columns that most lines of the document leave free; a few long lines do not count.
fn room_beside(document: &[Line<'_>], view: &View) -> usize {
    let margin = |line: &Line<'_>| if line.manifest.is_some() { 4 } else { 2 };
    let mut widths: Vec<usize> = document.iter().map(|line| width(&line.text).saturating_add(margin(line))).collect();
    widths.sort_unstable_by(|a, b| b.cmp(a));
    let usual = widths.get(widths.len() / FEW_LONG).copied().unwrap_or_default();
    view.width.saturating_sub(usual.max(NARROWEST.saturating_add(4)))
}

/// A line: its sign, an owner, and the content from this column on.
fn row(manifest: Option<InManifest>, owner: &str, content: &str, column: usize, view: &View) -> Styled {
    let mut text = Styled::new();
    let padding = if content.is_empty() { 0 } else { column.saturating_sub(width(owner)).saturating_add(2) };
    let mut taken = column.saturating_add(2);
    if let Some((role, sign)) = manifest.map(sign) {
        text.push(role, format!("{sign} "));
        taken = taken.saturating_add(2);
    }
    text.push(Role::Note, format!("{owner}{}", " ".repeat(padding)));
    let most = view.most(view.width.saturating_sub(taken).max(NARROWEST));
    text.line(Role::Plain, if width(content) > most { middle_cut(content, most) } else { content.to_owned() });
    text
}

fn sign(manifest: InManifest) -> (Role, &'static str) {
    match manifest {
        InManifest::Same => (Role::Note, "="),
        InManifest::Differs => (Role::Change, "~"),
        InManifest::Absent => (Role::Add, "+"),
        InManifest::Unknown => (Role::Note, "?"),
    }
}

fn document(fields: &[BlamedField]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut before: &[Step] = &[];
    for (at, field) in fields.iter().enumerate() {
        let steps = field.steps.as_slice();
        let common = steps.iter().zip(before).take_while(|(one, other)| one == other).count();
        // The dash of an item is on the line of its first field.
        let mut dashes = String::new();
        for (depth, step) in steps.iter().enumerate().skip(common) {
            let margin = if dashes.is_empty() { " ".repeat(indent(steps, depth)) } else { std::mem::take(&mut dashes) };
            let is_last = depth.saturating_add(1) == steps.len();
            match step {
                Step::Item(_) if is_last => leaf(&mut lines, field, &format!("{margin}-"), indent(steps, depth)),
                Step::Item(_) => dashes = format!("{margin}- "),
                Step::Key(name) if is_last => {
                    leaf(&mut lines, field, &format!("{margin}{}:", key(name)), indent(steps, depth));
                }
                Step::Key(name) => {
                    let manifest =
                        of_parent(fields.get(at..).unwrap_or_default(), steps.get(..=depth).unwrap_or_default());
                    lines.push(Line { field: None, manifest, text: format!("{margin}{}:", key(name)) });
                }
            }
        }
        before = steps;
    }
    lines
}

/// The columns before a step: two for each key with keys below it, and for each item.
fn indent(steps: &[Step], depth: usize) -> usize {
    let above = steps.iter().zip(steps.iter().skip(1)).take(depth);
    above.map(|(step, next)| if matches!((step, next), (Step::Key(_), Step::Item(_))) { 0 } else { 2 }).sum()
}

/// The sign of a parent: the manifest has it if it has a field in it.
fn of_parent(fields: &[BlamedField], parent: &[Step]) -> Option<InManifest> {
    let mut below = fields.iter().take_while(|field| field.steps.starts_with(parent)).peekable();
    below.peek()?.manifest?;
    let is_in_manifest = below.any(|field| field.manifest != Some(InManifest::Absent));
    Some(if is_in_manifest { InManifest::Same } else { InManifest::Absent })
}

/// The line of a field, and the further lines of its value.
fn leaf<'f>(lines: &mut Vec<Line<'f>>, field: &'f BlamedField, start: &str, margin: usize) {
    let value = shown(&field.value);
    let mut parts = value.lines();
    let first = parts.next().unwrap_or_default();
    lines.push(Line { field: Some(field), manifest: field.manifest, text: format!("{start} {first}") });
    for part in parts {
        let margin = if part.is_empty() { String::new() } else { " ".repeat(margin) };
        lines.push(Line { field: None, manifest: field.manifest, text: format!("{margin}{part}") });
    }
}

/// A value as YAML; a redacted one as in other texts.
fn shown(value: &Value) -> String {
    let is_redacted = value.as_object().is_some_and(|map| map.contains_key(REDACTED));
    if is_redacted { inline(value) } else { yaml(value) }
}

fn key(name: &str) -> String {
    if name.contains('\n') {
        return Value::from(name).to_string();
    }
    yaml(&name.into()).trim_end_matches('\n').to_owned()
}

#[cfg(test)]
mod tests;

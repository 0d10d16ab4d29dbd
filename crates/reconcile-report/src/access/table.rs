//! The permissions of `access -o text`: one line for each resource, and the missing ones last.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::object::Permission;
use reconcile_core::plan::access::{Purpose, verbs_in_order};
use reconcile_core::text::{listed, width};
use serde::{Serialize, Serializer};

use crate::words::styled::{Role, Styled};

/// The widest column that others are aligned to.
const WIDEST: usize = 44;
/// The largest number of object names on a line.
const MOST_NAMES: usize = 5;

/// The answer of the server for a permission, in the order of the words on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Missing,
    Unknown,
    Allowed,
}

/// The verbs of a resource that have the same answer and that the same commands need.
type Verbs<'r> = BTreeMap<(Answer, &'r [Purpose]), BTreeSet<&'r str>>;

/// The permissions for one resource in one scope, perhaps for some of its objects only.
struct Line {
    answer: Answer,
    resource: String,
    scope: String,
    verbs: String,
}

/// The permissions, a line for each resource: the answer, the resource, its scope, and its verbs with the commands that need them.
pub(super) fn table(permissions: &[Reviewed]) -> Styled {
    let mut lines = lines(permissions);
    lines.sort_by_key(|line| std::cmp::Reverse(line.answer));
    let widest = |column: fn(&Line) -> &str| {
        lines.iter().map(|line| width(column(line))).filter(|columns| *columns <= WIDEST).max().unwrap_or_default()
    };
    let resources = widest(|line| &line.resource);
    let scopes = widest(|line| &line.scope);
    let mut text = Styled::new();
    for line in &lines {
        let style = if line.answer == Answer::Allowed { Role::Plain } else { Role::Error };
        text.push(style, format!("{}  ", line.answer.word()));
        text.push(Role::Name, padded(&line.resource, resources));
        text.push(Role::Note, padded(&line.scope, scopes));
        text.push(Role::Plain, line.verbs.clone());
        text.line_end();
    }
    text
}

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}  ", " ".repeat(columns.saturating_sub(width(text))))
}

fn lines(permissions: &[Reviewed]) -> Vec<Line> {
    let mut by_object: BTreeMap<_, (&Permission, Verbs<'_>)> = BTreeMap::new();
    for Reviewed { purposes, permission, allowed } in permissions {
        let Permission { namespace, group, resource, name, verb } = permission;
        let object = (namespace, group, resource, name.as_deref());
        let (_, verbs) = by_object.entry(object).or_insert_with(|| (permission, Verbs::new()));
        verbs.entry((Answer::of(*allowed), purposes)).or_default().insert(verb);
    }
    // Objects with the same permissions share a line.
    let mut by_verbs: BTreeMap<_, (&Permission, Vec<&str>)> = BTreeMap::new();
    for ((namespace, group, resource, name), (permission, verbs)) in by_object {
        let entry = by_verbs.entry((namespace, group, resource, name.is_some(), verbs));
        entry.or_insert_with(|| (permission, Vec::new())).1.extend(name);
    }
    let mut lines = Vec::with_capacity(by_verbs.len());
    for ((namespace, .., verbs), (permission, names)) in by_verbs {
        let answer = verbs.keys().next().map_or(Answer::Allowed, |(answer, _)| *answer);
        let scope = namespace.as_ref().map_or_else(|| "in the cluster".to_owned(), |name| format!("in {name}"));
        let names = if names.is_empty() { String::new() } else { format!(" {}", listed(names, MOST_NAMES)) };
        let resource = format!("{}{names}", permission.qualified_resource());
        lines.push(Line { answer, resource, scope, verbs: sentence(answer, verbs) });
    }
    lines
}

/// `delete for apply; allowed: get, patch for diff and apply`
fn sentence(answer: Answer, verbs: Verbs<'_>) -> String {
    let part = |((own, purposes), verbs): ((Answer, &[Purpose]), BTreeSet<&str>)| {
        let word = if own == answer { String::new() } else { format!("{}: ", own.word()) };
        format!("{word}{} for {}", verbs_in_order(verbs).join(", "), Purpose::listed(purposes))
    };
    verbs.into_iter().map(part).collect::<Vec<_>>().join("; ")
}

impl Answer {
    fn of(allowed: Option<bool>) -> Self {
        match allowed {
            Some(true) => Self::Allowed,
            Some(false) => Self::Missing,
            None => Self::Unknown,
        }
    }

    /// The word for it; all have the same width.
    fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unknown => "unknown",
            Self::Allowed => "allowed",
        }
    }
}

/// A permission, and whether the user has it.
#[derive(Clone, Debug, Serialize)]
pub struct Reviewed {
    /// The commands that need it.
    #[serde(rename = "for", serialize_with = "names")]
    pub purposes: Vec<Purpose>,
    /// The verb and the resources that it allows.
    #[serde(flatten, serialize_with = "fields")]
    pub permission: Permission,
    /// True if the user has it; `None` if that could not be determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<bool>,
}

fn names<S: Serializer>(purposes: &[Purpose], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(purposes.iter().map(|purpose| purpose.name()))
}

fn fields<S: Serializer>(permission: &Permission, serializer: S) -> Result<S::Ok, S::Error> {
    fields_of(permission).serialize(serializer)
}

/// A permission as an access review names it.
#[expect(clippy::indexing_slicing, reason = "the value was made with `json!` here: it is an object")]
pub(super) fn fields_of(permission: &Permission) -> serde_json::Value {
    let Permission { namespace, group, resource, name, verb } = permission;
    let mut fields = serde_json::json!({"verb": verb, "group": group, "resource": resource});
    for (key, value) in [("namespace", namespace), ("name", name)] {
        if let Some(value) = value {
            fields[key] = value.as_str().into();
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::plain;

    fn one(
        namespace: &str,
        resource: &str,
        name: &str,
        verb: &str,
        purposes: &[Purpose],
        allowed: Option<bool>,
    ) -> Reviewed {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let group = "apps".to_owned();
        let resource = resource.to_owned();
        let verb = verb.to_owned();
        let permission = Permission { namespace: some(namespace), group, resource, name: some(name), verb };
        Reviewed { purposes: purposes.to_vec(), permission, allowed }
    }

    const BOTH: &[Purpose] = &[Purpose::Diff, Purpose::Apply];

    #[test]
    fn a_resource_has_one_line_with_its_verbs_and_who_needs_them() {
        let permissions = [
            one("", "widgets", "", "get", BOTH, Some(true)),
            one("shop", "deployments", "", "delete", &[Purpose::Apply], Some(false)),
            one("shop", "deployments", "", "get", BOTH, Some(true)),
            one("shop", "deployments", "", "patch", BOTH, None),
            one("shop", "deployments", "", "list", BOTH, Some(true)),
            one("shop", "jobs", "", "create", &[Purpose::Apply], None),
        ];
        let expected = "\
allowed  widgets.apps      in the cluster  get for diff and apply
unknown  jobs.apps         in shop         create for apply
missing  deployments.apps  in shop         delete for apply; unknown: patch for diff and apply; allowed: get, list for diff and apply
";
        assert_eq!(plain(&table(&permissions)), expected);
    }

    #[test]
    fn objects_with_the_same_verbs_share_a_line() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let mut permissions: Vec<Reviewed> =
            names.iter().map(|name| one("shop", "jobs", name, "get", BOTH, Some(true))).collect();
        permissions.push(one("shop", "jobs", "z", "get", BOTH, Some(false)));
        permissions.push(one("shop", "jobs", "", "create", BOTH, Some(true)));
        let text = plain(&table(&permissions));
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            lines,
            [
                "allowed jobs.apps in shop create for diff and apply",
                "allowed jobs.apps `a`, `b`, `c`, `d`, `e` and 2 more in shop get for diff and apply",
                "missing jobs.apps `z` in shop get for diff and apply",
            ]
        );
    }
}

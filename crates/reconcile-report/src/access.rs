//! The report of `access`: roles, and the permissions of them that the user has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::object::Permission;
use reconcile_core::plan::access::{BindingFor, Purpose, RoleFor, Subject, verbs_in_order};
use reconcile_core::text::{listed, padded, visible, width, yaml_in_order};
use serde::{Serialize, Serializer};
use structured_merge::ObjectKey;

use crate::model::diagnostic::of_run;
use crate::model::{ClusterInfo, EXIT_DRIFT, EXIT_INCOMPLETE, EXIT_SUCCESS, Failure};
use crate::words::styled::{Role, Styled};

/// The widest column that others are aligned to.
const WIDEST: usize = 44;
/// The largest number of object names on a line.
const MOST_NAMES: usize = 5;

/// The report of `access`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessReport {
    api_version: &'static str,
    kind: &'static str,
    command: &'static str,
    /// The exit code.
    pub exit_code: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<ClusterInfo>,
    roles: Vec<RoleFor>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bindings: Vec<BindingFor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    withheld: Option<Withheld>,
    permissions: Vec<Reviewed>,
    #[serde(serialize_with = "sentences")]
    optional: Vec<Permission>,
    /// The errors of the run.
    #[serde(serialize_with = "of_run")]
    pub errors: Vec<Diagnostic>,
}

/// Roles that are not granted, because others may have written the record that asks for them.
#[derive(Debug, Serialize)]
struct Withheld {
    /// The record: of a release, or the parent of an apply set.
    record: String,
    /// The reason not to grant them, as lines of a comment.
    #[serde(skip)]
    reason: &'static str,
    roles: Vec<RoleFor>,
}

const OF_RELEASE: &str = "names objects outside of that namespace. Its record is not proof that they belong to it,\n\
     # because everybody who may write Secrets and ConfigMaps there may write it. These roles would let them be read:";
const OF_LIST: &str = "lists kinds and namespaces that no manifest has. Its list is not proof that the set has\n\
     # such members, because everybody who may write the parent may write it. To prune them, these roles are needed:";

impl AccessReport {
    /// The report, with the exit code that follows from it.
    pub fn new(
        roles: Vec<RoleFor>,
        permissions: Vec<Reviewed>,
        optional: Vec<Permission>,
        errors: Vec<Diagnostic>,
    ) -> Self {
        let is = |allowed: Option<bool>| permissions.iter().any(|reviewed| reviewed.allowed == allowed);
        let exit_code = if !errors.is_empty() || is(None) {
            EXIT_INCOMPLETE
        } else if is(Some(false)) {
            EXIT_DRIFT
        } else {
            EXIT_SUCCESS
        };
        Self {
            api_version: "kubectl-reconcile/v1",
            kind: "AccessReport",
            command: "access",
            exit_code,
            cluster: None,
            roles,
            bindings: Vec::new(),
            withheld: None,
            permissions,
            optional,
            errors,
        }
    }

    /// The report of a run that ended before it had a result.
    pub fn stopped(Failure { verdict, diagnostics }: Failure) -> Self {
        Self { exit_code: verdict.exit_code(false), ..Self::new(Vec::new(), Vec::new(), Vec::new(), diagnostics) }
    }

    /// Sets the cluster that was asked.
    pub fn of(self, cluster: ClusterInfo) -> Self {
        Self { cluster: Some(cluster), ..self }
    }

    /// Adds bindings of all roles to these subjects.
    pub fn binding(self, subjects: &[Subject]) -> Self {
        let bound = self.roles.iter().filter(|_| !subjects.is_empty());
        Self { bindings: bound.map(|role| BindingFor::of(role, subjects)).collect(), ..self }
    }

    /// Adds roles for objects that a record of others names and that are elsewhere. They are shown, and not granted.
    pub fn withholding(self, record: String, roles: Vec<RoleFor>) -> Self {
        let withheld = (!roles.is_empty()).then_some(Withheld { record, reason: OF_RELEASE, roles });
        Self { withheld, ..self }
    }

    /// Adds roles that only the list of an apply set's parent asks for. They are shown, and not granted.
    pub fn withholding_list(self, parent: &ObjectKey, roles: Vec<RoleFor>) -> Self {
        if roles.is_empty() {
            return self;
        }
        let record = format!("the parent {parent} of the apply set");
        Self { withheld: Some(Withheld { record, reason: OF_LIST, roles }), ..self }
    }

    /// `-o yaml`: the roles, each after a comment with its purpose, and their bindings.
    pub fn yaml(&self) -> String {
        let mut text = String::new();
        for role in &self.roles {
            document_of_role(role, &mut text);
        }
        for binding in &self.bindings {
            text.push_str("---\n");
            text.push_str(&yaml_in_order(binding));
        }
        for permission in &self.optional {
            let effect = match (permission.group.as_str(), permission.verb.as_str()) {
                (_, "patch") => "the server itself says what the next `helm upgrade` would refuse",
                ("", "list") => "a newer revision of the release is named",
                ("", _) => "plans and baselines know the cluster behind another URL",
                _ => "webhooks and policies that may change objects are named",
            };
            let _ = writeln!(text, "# Optional: with {permission}, {effect}.");
        }
        if let Some(Withheld { record, reason, roles }) = &self.withheld {
            let _ = writeln!(text, "# Not granted: {} {reason}", visible(record));
            let mut withheld = String::new();
            for role in roles {
                document_of_role(role, &mut withheld);
            }
            for line in withheld.split_inclusive(['\n', '\r']) {
                text.extend(["# ", line]);
            }
        }
        text
    }

    /// `-o text`: the allowed and the missing permissions, one line for each resource, and the count.
    pub fn text(&self) -> Styled {
        let mut text = table(&self.permissions);
        text.append(self.summary());
        text
    }

    /// The missing permissions, one per line, and the count: for standard error when the text is not shown.
    pub fn missing(&self) -> Styled {
        let mut text = Styled::new();
        for reviewed in self.permissions.iter().filter(|reviewed| reviewed.allowed == Some(false)) {
            let purposes = Purpose::listed(&reviewed.purposes);
            text.line(Role::Error, format!("missing for {purposes}: {}", reviewed.permission));
        }
        text.append(self.summary());
        text
    }

    fn summary(&self) -> Styled {
        let all = self.permissions.len();
        let count = |allowed| self.permissions.iter().filter(|reviewed| reviewed.allowed == allowed).count();
        let permissions = if all == 1 { "1 permission".to_owned() } else { format!("{all} permissions") };
        let mut sentence = match (count(Some(false)), all) {
            (0, _) if count(None) == 0 => format!("the user has all {permissions}"),
            (0, _) => permissions,
            (1, _) => format!("1 of {permissions} is missing"),
            (missing, _) => format!("{missing} of {permissions} are missing"),
        };
        if count(None) > 0 {
            let _ = write!(sentence, ", {} unknown", count(None));
        }
        let mut text = Styled::new();
        text.line(Role::Plain, sentence);
        text
    }
}

/// Adds the document of a role, after a comment with its purpose.
fn document_of_role(role: &RoleFor, text: &mut String) {
    let place = match &role.namespace {
        Some(namespace) => format!("in the namespace {}", visible(namespace)),
        None => "in the cluster".to_owned(),
    };
    let _ = writeln!(text, "---\n# What `kubectl reconcile {}` needs {place}.", role.purpose.command());
    if role.has_verb("escalate") {
        text.push_str("# `escalate` lets its holder put any permission into the roles that it names.\n");
    }
    if role.purpose == Purpose::Diff && role.has_verb("patch") {
        text.push_str("# A dry run needs the permissions of the write; `--evidence=read-only` does without.\n");
    }
    text.push_str(&yaml_in_order(role));
}

fn sentences<S: Serializer>(permissions: &[Permission], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(permissions.iter().map(fields_of))
}

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
fn table(permissions: &[Reviewed]) -> Styled {
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
        text.push(Role::Name, format!("{}  ", padded(&line.resource, resources)));
        text.push(Role::Note, format!("{}  ", padded(&line.scope, scopes)));
        text.line(Role::Plain, line.verbs.clone());
    }
    text
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
fn fields_of(permission: &Permission) -> serde_json::Value {
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

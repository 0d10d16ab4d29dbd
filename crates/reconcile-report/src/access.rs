//! The report of `access`: roles, and the permissions of them that the user has.

mod table;

use std::fmt::Write as _;

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::object::Permission;
use reconcile_core::plan::access::{BindingFor, Purpose, RoleFor, Subject};
use reconcile_core::text::{visible, yaml_in_order};
use serde::{Serialize, Serializer};
use structured_merge::ObjectKey;

pub use table::Reviewed;
use table::fields_of;

use crate::formats::json::document;
use crate::model::diagnostic::of_run;
use crate::model::{ClusterInfo, EXIT_DRIFT, EXIT_INCOMPLETE, EXIT_SUCCESS, Failure};
use crate::words::styled::{Role, Styled};

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
    #[serde(serialize_with = "of_run")]
    errors: Vec<Diagnostic>,
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
        let exit_code = match () {
            () if !errors.is_empty() || is(None) => EXIT_INCOMPLETE,
            () if is(Some(false)) => EXIT_DRIFT,
            () => EXIT_SUCCESS,
        };
        let api_version = "kubectl-reconcile/v1";
        let kind = "AccessReport";
        let command = "access";
        Self {
            api_version,
            kind,
            command,
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

    /// The errors of the run.
    pub fn errors(&self) -> &[Diagnostic] {
        &self.errors
    }

    /// `-o json`
    pub fn json(&self) -> String {
        document(self)
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
        let mut text = table::table(&self.permissions);
        text.append(self.summary());
        text
    }

    /// The missing permissions, one per line, and the count: for standard error when the text is not shown.
    pub fn missing(&self) -> Styled {
        let mut text = Styled::new();
        for reviewed in self.permissions.iter().filter(|reviewed| reviewed.allowed == Some(false)) {
            let purposes = Purpose::listed(&reviewed.purposes);
            text.push(Role::Error, format!("missing for {purposes}: {}", reviewed.permission));
            text.line_end();
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
        let mut text = Styled::new().with(Role::Plain, sentence);
        text.line_end();
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

//! What a refusal of the server means: a field that cannot be changed asks for a replacement, everything else leaves the
//! object uncompared.

use serde_json::Value;
use structured_merge::TypeRef;

use super::rejection::{
    Blame, RejectedObject, and_more, blame, is_live_typed_wrongly, is_typed, mistakes, refused_result,
};
use super::replacement::outermost;
use super::secrecy::is_secret;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::Target;
use crate::live::discreet::Discreet;
use crate::object::granting;
use crate::request::StatusError;

/// What became of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The namespace that the object belongs to does not exist.
    NoNamespace(String),
    /// Only a replacement could bring the change; the text names the fields.
    Immutable(String),
    /// The server does not accept the object as it is written: unknown fields, wrong types.
    Typed(Diagnostic),
    /// The server cannot be asked: the user may not write, or a webhook does not take part in a dry-run.
    NotTried(Diagnostic),
    /// Anything else.
    Other(Diagnostic),
}

/// Final clauses of the API server's messages about fields that cannot be changed (`k8s.io/kubernetes`
/// `pkg/apis/*/validation/validation.go` and apimachinery `pkg/api/validation/objectmeta.go`). The reasons of the causes
/// (`FieldValueInvalid`, `FieldValueForbidden`) serve bad values too, so the text has to tell.
const IMMUTABLE: [&str; 14] = [
    "field is immutable",
    "is immutable after creation",
    "field can not be changed",
    "may not change once set",
    "may not be changed in an update",
    "field cannot be modified once set",
    "cannot change roleRef",
    "updates to statefulset spec for fields other than",
    "updates to parameters are forbidden",
    "updates to provisioner are forbidden",
    "updates to reclaimPolicy are forbidden",
    "updates to driverName are forbidden",
    "pod updates may not change fields other than",
    "is immutable when `immutable` is set",
];

/// Reads a refusal of a manifest. Of a Secret, nothing is repeated that the server or a webhook wrote.
#[must_use]
pub fn refusal(target: &Target, live: Option<&Value>, of: TypeRef<'_>, status: &StatusError) -> Refusal {
    if is_secret(target, live) {
        return refusal_of_secret(target, live, of, status);
    }
    if is_without_namespace(status) {
        return Refusal::NoNamespace(status.details_name.clone().unwrap_or_default());
    }
    if is_about_immutable_fields(status) {
        return immutable(status.causes.iter().map(|cause| cause.field.clone()).collect());
    }
    let subject = RejectedObject::new(target, live, of);
    if blame(&subject, status) == Blame::Live {
        return Refusal::Other(refused_result(&subject, status));
    }
    let mistakes = mistakes(&subject, status);
    if !mistakes.is_empty() {
        return of_mistakes(mistakes, status);
    }
    let trouble = Diagnostic::new(status, one_sentence(status));
    if is_typed(status) {
        let hint = "compare the fields with `kubectl explain`: their names, their nesting and their types";
        return Refusal::Typed(Diagnostic { code: Code::Invalid, ..trouble }.with_hint(hint));
    }
    match hint(target, status) {
        Some(hint) => Refusal::NotTried(trouble.with_hint(hint)),
        None => Refusal::Other(Diagnostic { hint: remedy(status), ..trouble }),
    }
}

/// The same for a Secret: what the refusal means is told in our words.
fn refusal_of_secret(target: &Target, live: Option<&Value>, of: TypeRef<'_>, status: &StatusError) -> Refusal {
    if is_without_namespace(status) {
        return Refusal::NoNamespace(target.key.namespace.clone().unwrap_or_default());
    }
    let objects: Vec<&Value> = std::iter::once(target.desired.object()).chain(live).collect();
    let discreet = Discreet::of(&objects);
    if is_about_immutable_fields(status) {
        let fields = status.causes.iter().filter_map(|cause| discreet.field(&cause.field));
        let fields: Vec<String> = fields.map(|field| field.to_string()).collect();
        return if fields.is_empty() { immutable(vec!["a field".to_owned()]) } else { immutable(fields) };
    }
    let trouble = discreet.diagnostic(status);
    let mistakes = if Discreet::names_author(status) {
        Vec::new()
    } else {
        mistakes(&RejectedObject::new(target, live, of), status)
    };
    if !mistakes.is_empty() {
        return of_mistakes(mistakes, status);
    }
    match hint(target, status) {
        _ if is_typed(status) => Refusal::Typed(Diagnostic { code: Code::Invalid, ..trouble }),
        Some(hint) => Refusal::NotTried(trouble.with_hint(hint)),
        None => Refusal::Other(Diagnostic { hint: remedy(status), ..trouble }),
    }
}

/// What the mistakes of a manifest come to.
fn of_mistakes(mistakes: Vec<Diagnostic>, status: &StatusError) -> Refusal {
    let messages = mistakes.iter().map(|mistake| mistake.message.clone());
    let message = messages.chain(and_more(status)).collect::<Vec<_>>().join("; ");
    let trouble = Diagnostic::new(Code::Invalid, message).with_details(mistakes);
    if is_typed(status) { Refusal::Typed(trouble) } else { Refusal::Other(trouble) }
}

fn is_without_namespace(status: &StatusError) -> bool {
    status.code == 404 && status.details_kind.as_deref() == Some("namespaces")
}

fn is_about_immutable_fields(status: &StatusError) -> bool {
    status.code == 422 && !status.causes.is_empty() && status.causes.iter().all(|cause| is_immutable(&cause.message))
}

fn immutable(mut fields: Vec<String>) -> Refusal {
    fields.sort_unstable();
    fields.dedup();
    let verb = if fields.len() == 1 { "is" } else { "are" };
    Refusal::Immutable(format!("{} {verb} immutable", fields.join(", ")))
}

/// What cannot be changed, and what the server says of it: no more than the final clauses, as the values before them may be
/// whole pod specs.
#[must_use]
pub(super) fn unchangeable(target: &Target, live: &Value, status: &StatusError) -> String {
    if is_secret(target, Some(live)) {
        return Discreet::of(&[target.desired.object(), live]).sentence(status);
    }
    let clause = |message: &'_ str| message.rsplit_once(": ").map_or(message, |(_, clause)| clause).to_owned();
    let causes =
        outermost(status).map(|cause| format!("{} cannot be changed: {}", cause.field, clause(&cause.message)));
    causes.collect::<Vec<_>>().join("; ")
}

fn is_immutable(message: &str) -> bool {
    IMMUTABLE.iter().any(|clause| message.contains(clause))
}

/// The causes, where there are any: the message around them repeats them behind the whole object.
fn one_sentence(status: &StatusError) -> String {
    if is_typed(status) {
        // `failed to convert new object (…) to proper version: unable to convert unstructured object to apps/v1, Kind=…: …`
        let message = status.in_full();
        let detail = message.rsplit_once("Kind=").and_then(|(_, rest)| rest.split_once(": ")).map(|(_, detail)| detail);
        return format!("a value does not fit its field: {}", detail.unwrap_or(&message));
    }
    if status.code != 422 || status.causes.is_empty() {
        return status.in_full();
    }
    let causes: Vec<String> =
        status.causes.iter().map(|cause| format!("{}: {}", cause.field, final_clause(&cause.message))).collect();
    causes.join("; ")
}

/// `Invalid value: {a whole pod spec}: field is immutable` ends in what matters; a short message stays whole.
fn final_clause(message: &str) -> &str {
    const SHORT: usize = 300;
    if message.len() <= SHORT {
        return message;
    }
    message.rsplit_once(": ").map_or(message, |(_, clause)| clause)
}

/// What helps where the object itself stands in the way.
fn remedy(status: &StatusError) -> Option<String> {
    if is_live_typed_wrongly(status) {
        let hint = "the live object itself does not fit its type, so that the server refuses every apply: correct it with `kubectl edit`";
        return Some(hint.to_owned());
    }
    // The merge converts the object to each version that has a record of an owner (apiextensions-apiserver
    // `conversion/converter.go`); any other write drops the records that it cannot read.
    status.message.starts_with("request to convert CR to an invalid group/version").then(|| {
        "a record in `metadata.managedFields` is of a version that its CustomResourceDefinition no longer has: \
         `kubectl patch KIND NAME --type=merge -p '{\"metadata\":{\"managedFields\":[{}]}}'` removes all records"
            .to_owned()
    })
}

/// What to know where the server cannot be asked.
fn hint(target: &Target, status: &StatusError) -> Option<String> {
    if status.message.contains("does not support dry run") {
        return Some("the webhook declares side effects, so the server cannot try the change".to_owned());
    }
    // The same refusal of the API server for roles and for bindings (`escalation_check.go`).
    if status.code == 403 && status.message.contains(" is attempting to grant RBAC permissions not currently held") {
        let granting = granting(&target.key, target.desired.object())?;
        return Some(format!("the user needs {granting}, or all permissions that it grants, also for a dry run"));
    }
    // Who may not bind a role is asked for what it grants, and a role that does not exist yet grants nothing that can be compared.
    if status.code == 404 && status.details_name.as_deref() == Some(target.key.name.as_str()) {
        let binding = granting(&target.key, target.desired.object()).filter(|granting| granting.verb == "bind")?;
        return Some(format!("the user needs {binding}, or the role has to exist first, also for a dry run"));
    }
    let may_not_write =
        ["cannot patch resource", "cannot create resource"].iter().any(|text| status.message.contains(text));
    (status.code == 403 && may_not_write).then(|| match &status.missing {
        Some(missing) => {
            format!("the user needs {missing}, also for a dry run: `kubectl reconcile access` shows all that is needed")
        }
        None => "the user needs permissions to write, also for a dry run".to_owned(),
    })
}

//! Reads refusals of the server. An immutable field requires a replacement; after any other refusal, the object is not compared.

use serde_json::Value;
use structured_merge::{FieldSet, TypeRef, written_schema};

use super::{
    Blame, Patterns, RejectedObject, against_changed_definition, against_definition, and_more, blame, diagnostics,
    is_live_typed_wrongly, is_typed, is_unconvertible, of_wrong_type, refused_result,
};
use crate::compare::replacement::outermost;
use crate::compare::secrecy::refusal_may_quote;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::Target;
use crate::live::discreet::{Discreet, refused_by_policy};
use crate::manifest::yaml::Step;
use crate::object::granting;
use crate::request::{Cause, NO_FIELD, StatusError};

/// The reason why the server refused a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The namespace of the object does not exist.
    NoNamespace(String),
    /// Only a replacement can make the change; the text names the immutable fields.
    Immutable(String),
    /// The manifest does not fit the type: unknown fields, wrong types. Neither does a live object that the server cannot read by it.
    Typed(Diagnostic),
    /// The server cannot be asked: the user may not write, or a webhook does not support dry runs.
    NotTried(Diagnostic),
    /// The server was not asked, because the input changes the definition of the kind first.
    Early(Diagnostic),
    /// The server finds the values invalid, for these causes.
    Invalid(Diagnostic, Vec<Cause>),
    /// Anything else.
    Other(Diagnostic),
}

impl Refusal {
    /// The words of the server about the manifest, if it has tried it.
    pub(in crate::compare) fn reason(&self) -> Option<String> {
        match self {
            Self::Immutable(reason) => Some(reason.clone()),
            Self::Typed(diagnostic) | Self::Invalid(diagnostic, _) | Self::Other(diagnostic) => {
                Some(diagnostic.message.clone())
            }
            Self::NoNamespace(_) | Self::NotTried(_) | Self::Early(_) => None,
        }
    }

    /// The same refusal with more about invalid values, or about anything that has no kind of its own.
    pub(in crate::compare) fn with_diagnostic(self, change: impl FnOnce(Diagnostic) -> Diagnostic) -> Self {
        match self {
            Self::Invalid(diagnostic, causes) => Self::Invalid(change(diagnostic), causes),
            Self::Other(diagnostic) => Self::Other(change(diagnostic)),
            refusal => refusal,
        }
    }
}

/// The error for an object whose namespace does not exist.
pub fn missing_namespace(name: &str) -> Diagnostic {
    let message = format!("namespace `{name}` does not exist");
    Diagnostic::new(Code::NotFound, message).with_hint("add a manifest for it, or pass `--create-namespace`")
}

/// The error for an object whose namespace is being deleted.
fn terminating_namespace(name: &str) -> Diagnostic {
    let message = format!("namespace `{name}` is being deleted");
    Diagnostic::new(Code::Terminating, message).with_hint("run again when it is gone")
}

/// Final clauses of the API server's messages about immutable fields (`k8s.io/kubernetes`
/// `pkg/apis/*/validation/validation.go` and apimachinery `pkg/api/validation/objectmeta.go`). The server uses the reasons of these
/// causes (`FieldValueInvalid`, `FieldValueForbidden`) for invalid values too, so that only the text shows the difference.
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

/// Reads a refusal of a manifest. No text of the server or of a webhook is repeated about a Secret, or if it quotes one.
pub fn refusal(target: &Target, live: Option<&Value>, schema: TypeRef<'_>, status: &StatusError) -> Refusal {
    let subject = RejectedObject::new(target, live, schema, status);
    let known = too_large(&subject, status)
        .or_else(|| ephemeral_containers(target, status))
        .or_else(|| in_terminating_namespace(target, status));
    if let Some(diagnostic) = known {
        return Refusal::Other(diagnostic);
    }
    if subject.may_quote_secret {
        return discreet_refusal(&subject, status);
    }
    if let Some(message) = refused_by_policy(&status.message) {
        return Refusal::Other(Diagnostic::new(status, message));
    }
    if status.is_without_namespace() {
        return Refusal::NoNamespace(status.details_name.clone().unwrap_or_default());
    }
    if is_about_immutable_fields(status) {
        return immutable(status.causes.iter().map(|cause| cause.field.clone()).collect());
    }
    if blame(&subject, status) == Blame::Live {
        return Refusal::Invalid(refused_result(&subject, status, None), status.causes.clone());
    }
    let diagnostics = diagnostics(&subject, status);
    if !diagnostics.is_empty() {
        return invalid_manifest(diagnostics, status);
    }
    let diagnostic = missing_role(target, status).unwrap_or_else(|| Diagnostic::new(status, one_sentence(status)));
    if is_typed(status) {
        let hint = "compare the fields with `kubectl explain`: their names, their nesting and their types";
        return Refusal::Typed(Diagnostic { code: Code::Invalid, ..diagnostic }.with_hint(hint));
    }
    match hint(target, status) {
        Some(hint) => Refusal::NotTried(diagnostic.with_hint(hint)),
        None => unread(Diagnostic { hint: remedy(status), ..diagnostic }, status),
    }
}

/// Reads a refusal, and describes it without the server's text.
fn discreet_refusal(subject: &RejectedObject<'_>, status: &StatusError) -> Refusal {
    let RejectedObject { target, live, .. } = *subject;
    if status.is_without_namespace() {
        return Refusal::NoNamespace(target.key.namespace.clone().unwrap_or_default());
    }
    let objects: Vec<&Value> = std::iter::once(target.desired.object()).chain(live).collect();
    let discreet = Discreet::of(&objects);
    if is_about_immutable_fields(status) {
        let fields = status.causes.iter().filter_map(|cause| discreet.field(&cause.field));
        let fields: Vec<String> = fields.map(|field| field.to_string()).collect();
        return if fields.is_empty() { immutable(vec!["a field".to_owned()]) } else { immutable(fields) };
    }
    let diagnostic = discreet.diagnostic(status);
    let diagnostics = if Discreet::names_author(status) { Vec::new() } else { diagnostics(subject, status) };
    if !diagnostics.is_empty() {
        return invalid_manifest(diagnostics, status);
    }
    match hint(target, status) {
        _ if is_typed(status) => Refusal::Typed(Diagnostic { code: Code::Invalid, ..diagnostic }),
        Some(hint) => Refusal::NotTried(diagnostic.with_hint(hint)),
        None => unread(Diagnostic { hint: remedy(status), ..diagnostic }, status),
    }
}

/// A refusal that names nothing in the manifest. The live object may have values that do not fit its type.
fn unread(diagnostic: Diagnostic, status: &StatusError) -> Refusal {
    if is_live_typed_wrongly(status) || is_unconvertible(status) {
        Refusal::Typed(diagnostic)
    } else {
        Refusal::Other(diagnostic)
    }
}

/// The mistakes of a manifest that its type alone shows, found without asking the server. Values of ignored fields are not sent.
pub(crate) fn wrong_types(subject: &RejectedObject<'_>, ignored: &FieldSet) -> Option<Diagnostic> {
    let diagnostics = of_wrong_type(subject, ignored);
    (!diagnostics.is_empty()).then(|| of_mistakes(diagnostics, None))
}

/// The mistakes for which the server refuses a new object by its definition. The type is compiled from that.
pub(crate) fn refused_by_definition(
    subject: RejectedObject<'_>,
    definition: Option<&Value>,
    patterns: &Patterns,
) -> Option<Diagnostic> {
    let written = definition.and_then(|definition| written_schema(definition, &subject.target.key.gvk.version));
    let diagnostics = against_definition(subject, written, patterns);
    (!diagnostics.is_empty()).then(|| of_mistakes(diagnostics, None))
}

/// The mistakes for which the server refuses an object that exists by a definition that has changed. The type is compiled from that.
/// `after` is the object after an apply.
pub(crate) fn refused_by_changed_definition(
    subject: RejectedObject<'_>,
    after: &Value,
    ignored: &FieldSet,
    definition: &Value,
    patterns: &Patterns,
) -> Option<Diagnostic> {
    let written = written_schema(definition, &subject.target.key.gvk.version);
    let diagnostics = against_changed_definition(subject, after, ignored, written, patterns);
    match diagnostics.as_slice() {
        [] => None,
        // What is wrong with the live object is no mistake of the manifest.
        [one] if one.location.is_none() => Some(one.clone()),
        _ => Some(of_mistakes(diagnostics, None)),
    }
}

/// The diagnostic for an object with these mistakes, and with `more` that are not among them.
fn of_mistakes(diagnostics: Vec<Diagnostic>, more: Option<String>) -> Diagnostic {
    let messages = diagnostics.iter().map(|diagnostic| diagnostic.message.clone());
    let message = messages.chain(more).collect::<Vec<_>>().join("; ");
    Diagnostic::new(Code::Invalid, message).with_details(diagnostics)
}

/// The refusal of a manifest with these mistakes.
fn invalid_manifest(diagnostics: Vec<Diagnostic>, status: &StatusError) -> Refusal {
    let diagnostic = of_mistakes(diagnostics, and_more(status));
    if is_typed(status) { Refusal::Typed(diagnostic) } else { Refusal::Invalid(diagnostic, status.causes.clone()) }
}

/// The refusal of a new object in a namespace that is being deleted (`NamespaceLifecycle`, `corev1.NamespaceTerminatingCause`).
fn in_terminating_namespace(target: &Target, status: &StatusError) -> Option<Diagnostic> {
    let namespace = target.key.namespace.as_deref()?;
    let is_terminating = status.code == 403 && status.causes.iter().any(|cause| cause.reason == "NamespaceTerminating");
    is_terminating.then(|| terminating_namespace(namespace))
}

pub(crate) fn is_about_immutable_fields(status: &StatusError) -> bool {
    status.code == 422 && !status.causes.is_empty() && status.causes.iter().all(|cause| is_immutable(&cause.message))
}

/// The refusal of a change of immutable fields.
fn immutable(fields: Vec<String>) -> Refusal {
    Refusal::Immutable(are_immutable(fields))
}

/// The sentence about fields that cannot be changed.
pub(in crate::compare) fn are_immutable(mut fields: Vec<String>) -> String {
    fields.sort_unstable();
    fields.dedup();
    let verb = if fields.len() == 1 { "is" } else { "are" };
    format!("{} {verb} immutable", fields.join(", "))
}

/// The immutable fields, with the final clauses of the server's messages: the values before them may be whole pod specs.
pub(crate) fn unchangeable(target: &Target, live: &Value, status: &StatusError) -> String {
    if refusal_may_quote(target, Some(live), status) {
        return Discreet::of(&[target.desired.object(), live]).sentence(status);
    }
    let causes = outermost(status).map(|cause| unchangeable_for(&cause.field, final_clause(&cause.message)));
    causes.collect::<Vec<_>>().join("; ")
}

/// The sentence about a field that cannot be changed, with the final clause of the server's message.
pub(in crate::compare) fn unchangeable_for(field: &str, clause: &str) -> String {
    format!("{field} cannot be changed: {clause}")
}

fn is_immutable(message: &str) -> bool {
    IMMUTABLE.iter().any(|clause| message.contains(clause))
}

/// The causes, if there are any: the full message repeats them after a dump of the whole object.
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
        status.causes.iter().map(|cause| format!("{}: {}", cause.field, short_message(&cause.message))).collect();
    causes.join("; ")
}

/// The final clause of a long message. A short message stays whole.
fn short_message(message: &str) -> &str {
    const SHORT: usize = 300;
    if message.len() <= SHORT { message } else { final_clause(message) }
}

/// The final clause of a message such as `Invalid value: {a whole pod spec}: field is immutable`, without the differences between two
/// objects that may follow in more lines.
fn final_clause(message: &str) -> &str {
    let sentence = message.lines().next().unwrap_or_default();
    sentence.rsplit_once(": ").map_or(sentence, |(_, clause)| clause)
}

/// Advice if the live object itself is the reason for the refusal.
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

/// The diagnostic for a binding whose role does not exist, at its `roleRef`. The server's message has the name of the role with the
/// resource of the binding.
fn missing_role(target: &Target, status: &StatusError) -> Option<Diagnostic> {
    granting(&target.key, target.desired.object()).filter(|granting| status.code == 404 && granting.verb == "bind")?;
    let text = |pointer: &str| target.desired.object().pointer(pointer).and_then(Value::as_str);
    let kind = text("/roleRef/kind")?;
    let name = text("/roleRef/name").filter(|name| status.details_name.as_deref() == Some(*name))?;
    let at = [Step::Key("roleRef"), Step::Key("name")];
    let message = format!("the {kind} `{name}` of `roleRef` does not exist");
    let diagnostic = target.desired.origin.diagnostic_at_value(&at, message);
    Some(Diagnostic { code: Code::NotFound, ..diagnostic })
}

/// The diagnostic for a Pod whose manifest has ephemeral containers: neither a creation nor an update takes them
/// (`pkg/registry/core/pod/strategy.go`), so that a replacement would fail as well.
fn ephemeral_containers(target: &Target, status: &StatusError) -> Option<Diagnostic> {
    const FIELD: &str = "spec.ephemeralContainers";
    let gvk = &target.key.gvk;
    if status.code != 422 || !gvk.group.is_empty() || gvk.kind != "Pod" {
        return None;
    }
    let containers = target.desired.object().pointer("/spec/ephemeralContainers")?.as_array()?;
    let is_named = |cause: &Cause| cause.field.starts_with(FIELD) || is_immutable(&cause.message);
    (!containers.is_empty() && status.causes.iter().all(is_named)).then(|| {
        let at = [Step::Key("spec"), Step::Key("ephemeralContainers")];
        let message = format!("`{FIELD}` cannot be set by a manifest");
        let hint = "add the containers to the running Pod with `kubectl debug`, and remove the field from the manifest";
        target.desired.origin.diagnostic_at_key(&at, message).with_hint(hint)
    })
}

/// The diagnostic for an object that is too large for its kind, for a request, or for the server's storage. It quotes sizes alone.
fn too_large(subject: &RejectedObject<'_>, status: &StatusError) -> Option<Diagnostic> {
    let is_whole = |field: &str| ["", "[]", NO_FIELD, "data"].contains(&field);
    let of_data = status.causes.iter().find(|cause| cause.reason == "FieldValueTooLong" && is_whole(&cause.field));
    let merged = subject.merged();
    let (size, limit) = match of_data {
        Some(cause) => (data_size(&merged), first_number(&cause.message)),
        None if status.code == 413 => (merged.to_string().len(), first_number(&status.message)),
        // etcd, and the client of it that the server has.
        None if status.code >= 500
            && ["etcdserver: request is too large", "trying to send message larger than max"]
                .iter()
                .any(|text| status.message.contains(text)) =>
        {
            (merged.to_string().len(), None)
        }
        None => return None,
    };
    let most = limit.map(|limit| {
        if mebibytes(size) == mebibytes(limit) {
            format!(" of at most {limit} bytes")
        } else {
            format!(" of at most {}", mebibytes(limit))
        }
    });
    let is_close = limit.is_some_and(|limit| mebibytes(size) == mebibytes(limit));
    let is_small = size < SMALL;
    let size = if is_close || is_small { format!("{size} bytes") } else { mebibytes(size) };
    let message = format!("the object is too large: {size}{}", most.unwrap_or_default());
    let hint = if is_small {
        "the API server takes objects of this size: a proxy in front of it may have a limit of its own"
    } else {
        "split it into several objects, or keep its content somewhere else"
    };
    Some(Diagnostic::new(Code::Invalid, message).with_hint(hint))
}

/// The bytes in the data of a ConfigMap or a Secret, as the server counts them (`pkg/apis/core/validation`).
fn data_size(object: &Value) -> usize {
    let is_secret = object.get("kind").is_some_and(|kind| kind == "Secret");
    let decoded =
        |text: &str| text.bytes().filter(|byte| !matches!(byte, b'=' | b'\r' | b'\n')).count().saturating_mul(3) / 4;
    let sum = |name: &str, size: &dyn Fn(&str) -> usize| {
        let values = object.get(name).and_then(Value::as_object).into_iter().flat_map(serde_json::Map::values);
        values.filter_map(Value::as_str).map(size).fold(0_usize, usize::saturating_add)
    };
    let data = if is_secret { sum("data", &decoded) } else { sum("data", &str::len) };
    data.saturating_add(sum("binaryData", &decoded)).saturating_add(sum("stringData", &str::len))
}

/// The first number with at least four digits in a text.
fn first_number(text: &str) -> Option<usize> {
    text.split(|c: char| !c.is_ascii_digit()).find(|digits| digits.len() >= 4)?.parse().ok()
}

/// The size of an object below which no API server calls it too large, in bytes.
const SMALL: usize = 1 << 20;

/// `1.5 MiB`
fn mebibytes(bytes: usize) -> String {
    let tenths = bytes.saturating_mul(10) / (1 << 20);
    if tenths.is_multiple_of(10) {
        format!("{} MiB", tenths / 10)
    } else {
        format!("{}.{} MiB", tenths / 10, tenths % 10)
    }
}

/// Advice if the server cannot be asked.
fn hint(target: &Target, status: &StatusError) -> Option<String> {
    if status.message.contains("does not support dry run") {
        return Some("the webhook declares side effects, so the server cannot try the change".to_owned());
    }
    // The same refusal of the API server for roles and for bindings (`escalation_check.go`).
    if status.code == 403 && status.message.contains(" is attempting to grant RBAC permissions not currently held") {
        let granting = granting(&target.key, target.desired.object())?;
        return Some(format!("the user needs {granting}, or all permissions that it grants, also for a dry run"));
    }
    // A user who may not bind a role needs the permissions that it grants, and those of a role that does not exist yet are unknown.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_between_two_objects_are_no_clause() {
        let forbidden = "Forbidden: spec is immutable after creation except resources.requests";
        let of_go = "\n\u{a0}\u{a0}core.PersistentVolumeClaimSpec{\n\u{a0}\u{a0}\tSelector:    nil,\n\u{a0}\u{a0}}\n";
        let of_json = "\n@@ -6,11 +6,11 @@\n  \"Resources\": {\n-   \"storage\": \"2Gi\"\n";
        for differences in ["", of_go, of_json] {
            let clause = final_clause(&format!("{forbidden}{differences}")).to_owned();
            assert_eq!(clause, "spec is immutable after creation except resources.requests");
        }
        assert_eq!(final_clause(r#"Invalid value: {"a": "b"}: field is immutable"#), "field is immutable");
    }
}

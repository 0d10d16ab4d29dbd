//! Messages about refusals of a Secret, and of other objects with secret values. The text of a server, a webhook or a policy may quote the
//! values in any spelling, so none of that text is repeated. A message names the author of the refusal, the code, the reason and the fields.

use std::fmt::Write as _;

use serde_json::Value;
use structured_merge::{FieldPath, GroupVersionKind, is_dns_subdomain};

use super::known_path::known_path;
use super::resolve::Target;
use crate::diagnostic::Diagnostic;
use crate::object::{Permission, holds_secrets, inner_values, may_quote_secret};
use crate::request::{Cause, StatusError};

/// The hint that says where to read the text that is left out.
const HINT: &str = "the server's message is left out because it may quote a secret value; kubectl shows it";
/// Fields of a Secret, and of its metadata, that may be named without looking for them in an object.
const FIELDS: [&str; 7] = ["apiVersion", "data", "immutable", "kind", "metadata", "stringData", "type"];
const METADATA: [&str; 8] = [
    "annotations",
    "deletionGracePeriodSeconds",
    "finalizers",
    "generateName",
    "labels",
    "name",
    "namespace",
    "ownerReferences",
];
/// Keys that the types of Secrets require (`k8s.io/kubernetes` `pkg/apis/core/validation`, `ValidateSecret`).
const REQUIRED_KEYS: [&str; 8] = [
    ".dockercfg",
    ".dockerconfigjson",
    "kubernetes.io/service-account.name",
    "password",
    "ssh-privatekey",
    "tls.crt",
    "tls.key",
    "username",
];

/// Describes refusals of an object with secret values without repeating foreign text. The keys of these versions of the object may be named.
#[derive(Clone, Copy, Debug)]
pub struct Discreet<'a> {
    objects: &'a [&'a Value],
}

impl<'a> Discreet<'a> {
    /// Takes the known versions of the object, which may be none.
    pub fn of(objects: &'a [&'a Value]) -> Self {
        Self { objects }
    }

    /// Returns true if a refusal names its author: a webhook, a policy, a quota, or missing rights.
    pub fn names_author(status: &StatusError) -> bool {
        author(status, |_| true).is_some()
    }

    /// The diagnostic for a refused request.
    pub fn diagnostic(self, status: &StatusError) -> Diagnostic {
        Diagnostic::new(status, self.sentence(status)).with_hint(HINT)
    }

    /// `admission webhook "a.example.com" denied the request (400 BadRequest): data["tls.crt"] is required`
    pub fn sentence(self, status: &StatusError) -> String {
        let is_known = |resource: &str| resource == "secrets" || self.is_of_other_kind();
        let who = author(status, is_known).filter(|who| !self.has_inner_value(who));
        let who = who.unwrap_or_else(|| "the server refused the request".to_owned());
        let mut sentence = format!("{who} ({} {})", status.code, status.known_reason());
        let mut causes: Vec<String> = status.causes.iter().filter_map(|cause| self.cause(cause)).collect();
        causes.dedup();
        if !causes.is_empty() {
            let _ = write!(sentence, ": {}", causes.join("; "));
        }
        sentence
    }

    /// A single complaint: its field and its reason.
    fn cause(self, cause: &Cause) -> Option<String> {
        if cause.reason == "NamespaceTerminating" {
            return Some("the namespace is being deleted".to_owned());
        }
        let field = self.field(&cause.field)?;
        Some(format!("`{field}` {}", complaint(&cause.reason)))
    }

    /// Returns true if the object is known, and is no Secret itself.
    fn is_of_other_kind(self) -> bool {
        let is_other = |object: &&Value| {
            object.get("kind").is_some_and(Value::is_string) && !holds_secrets(&GroupVersionKind::of(object), object)
        };
        !self.objects.is_empty() && self.objects.iter().all(is_other)
    }

    /// Returns true if a name repeats a value of a Secret inside of the object.
    fn has_inner_value(self, name: &str) -> bool {
        self.is_of_other_kind() && inner_values(true, self.objects.iter().copied()).are_in(name)
    }

    /// Reads the leading part of a path that names fields of a Secret and keys that the object has. The remainder is dropped,
    /// because a webhook may write anything into a path.
    pub fn field(self, text: &str) -> Option<FieldPath> {
        if self.is_of_other_kind() {
            return Some(known_path(self.objects, text)).filter(|path| !path.elements().is_empty());
        }
        let text = text.strip_prefix('.').unwrap_or(text);
        let end = text.find(['.', '[']).unwrap_or(text.len());
        let (name, mut rest) = text.split_at(end);
        if !FIELDS.contains(&name) {
            return None;
        }
        let mut path = FieldPath::of(&[name]);
        if name == "metadata" {
            let below = rest.strip_prefix('.').unwrap_or_default();
            let end = below.find(['.', '[']).unwrap_or(below.len());
            let (name, further) = below.split_at(end);
            if !METADATA.contains(&name) {
                return Some(path);
            }
            path = path.field(name);
            rest = further;
        }
        Some(self.key(&path, rest).map_or_else(|| path.clone(), |key| path.field(&key)))
    }

    /// The key that `[KEY]…` or `.KEY…` names: the longest one that an object has there or that a type of Secret requires.
    fn key(self, map: &FieldPath, text: &str) -> Option<String> {
        let (text, closed) = match text.strip_prefix('[') {
            Some(text) => (text, true),
            None => (text.strip_prefix('.')?, false),
        };
        // The server moves `stringData` to `data` before it validates.
        let plain = (*map == FieldPath::of(&["data"])).then(|| FieldPath::of(&["stringData"]));
        let places: Vec<&FieldPath> = [Some(map), plain.as_ref()].into_iter().flatten().collect();
        let maps =
            self.objects.iter().flat_map(|object| places.iter().filter_map(|path| path.value_in(object)?.as_object()));
        let keys = maps.flat_map(serde_json::Map::keys).map(String::as_str).chain(REQUIRED_KEYS);
        let names = |key: &&str| {
            let rest = text.strip_prefix(*key);
            rest.is_some_and(|rest| {
                if closed { rest.starts_with(']') } else { rest.is_empty() || rest.starts_with(['.', '[']) }
            })
        };
        keys.filter(names).max_by_key(|key| key.len()).map(ToOwned::to_owned)
    }
}

/// The complaint of a cause about its field, in words of this program (apimachinery `CauseType`).
pub fn complaint(reason: &str) -> &'static str {
    match reason {
        "FieldValueRequired" => "is required",
        "FieldValueInvalid" => "is invalid",
        "FieldValueTypeInvalid" => "is of the wrong type",
        "FieldValueNotSupported" => "has a value that is not supported",
        "FieldValueDuplicate" => "is a duplicate",
        "FieldValueForbidden" => "is not allowed",
        "FieldValueTooLong" => "is too long",
        "FieldValueTooMany" => "has too many items",
        "FieldValueTooShort" => "is too short",
        "FieldValueTooFew" => "has too few items",
        "FieldValueNotFound" => "names something that does not exist",
        "FieldManagerConflict" => "has another owner",
        _ => "is refused",
    }
}

/// A refusal of a policy, in our words: ``refused by ValidatingAdmissionPolicy `p` (binding `b`): REASON``; `None` for any other refusal.
pub fn refused_by_policy(message: &str) -> Option<String> {
    denied_by_policy(message).map(|(policy, reason)| format!("refused by {policy}: {reason}"))
}

/// The policy that denied a request, in our words, and its reason.
pub fn denied_by_policy(message: &str) -> Option<(String, &str)> {
    let message = message.split_once(" is forbidden: ").map_or(message, |(_, rest)| rest);
    let (policy, rest) = policy(message)?;
    Some((policy, rest.strip_prefix(" denied request: ")?))
}

/// A warning of the server about objects as it may be shown: one that may quote a Secret, or values of an encrypted manifest, is reduced to
/// its author.
pub fn shown_warning(gvk: &GroupVersionKind, objects: &[&Value], is_encrypted: bool, text: String) -> String {
    if is_encrypted || may_quote_secret(gvk, objects, &text) { warning(&text) } else { text }
}

/// The same for the object of a target, of which the server has this version.
pub fn shown_warning_about(target: &Target, live: Option<&Value>, text: String) -> String {
    let objects: Vec<&Value> = std::iter::once(target.desired.object()).chain(live).collect();
    shown_warning(&target.key.gvk, &objects, target.desired.origin.is_encrypted, text)
}

/// Returns true if a warning stands for one of the server whose text is left out.
pub fn is_withheld(warning: &str) -> bool {
    warning.ends_with(WITHHELD)
}

/// The end of a warning whose text is left out.
const WITHHELD: &str = "the text is left out because it may quote a secret value";

/// A warning of the server about a Secret. It names the author of the warning and not its text.
fn warning(text: &str) -> String {
    let policy = text.strip_prefix("Validation failed for ").and_then(policy);
    let who = policy.map_or_else(|| "the server warns".to_owned(), |(policy, _)| format!("{policy} warns"));
    format!("{who}: {WITHHELD}")
}

/// The author of a refusal and what it did, read from the beginning of the message, which the API server itself writes. A resource is named only
/// if it `is_known`: the one of a Secret is, and another word in its place may be a value.
fn author(status: &StatusError, is_known: impl Fn(&str) -> bool) -> Option<String> {
    let message = status.message.strip_prefix("Internal error occurred: ").unwrap_or(&status.message);
    if let Some(webhook) = webhook(message) {
        return Some(webhook);
    }
    // `secrets "it" is forbidden: …`
    let forbidden = message.split_once(" is forbidden: ").filter(|(what, _)| match what.split_once(" \"") {
        Some((resource, name)) => is_dns_subdomain(resource) && name.strip_suffix('"').is_some_and(is_dns_subdomain),
        None => is_dns_subdomain(what),
    });
    let message = forbidden.map_or(message, |(_, rest)| rest);
    if let Some((policy, rest)) = policy(message)
        && rest.starts_with(" denied request")
    {
        return Some(format!("{policy} denied the request"));
    }
    if let Some(rest) = message.strip_prefix("exceeded quota: ") {
        let name = rest.split(',').next().unwrap_or_default();
        return is_dns_subdomain(name).then(|| format!("the quota `{name}` is exceeded"));
    }
    let (verb, resource) = rights(message).filter(|(_, resource)| is_known(resource))?;
    // The namespace is that of the request (`StatusError::answering`).
    let place = match status.missing.as_deref() {
        None => String::new(),
        Some(Permission { namespace: Some(namespace), .. }) => format!(" in the namespace \"{namespace}\""),
        Some(_) => " in the cluster".to_owned(),
    };
    Some(format!("the user cannot {verb} resource \"{resource}\"{place}"))
}

/// The actions of a webhook, by the words that follow its name (apiserver `pkg/admission/plugin/webhook`).
const DEEDS: [(&str, &str); 4] = [
    (" denied the request", "denied the request"),
    (" does not support dry run", "does not support dry run"),
    (" attempted to modify the object", "attempted to modify the object, which is not supported for this operation"),
    (": ", "could not be called"),
];

fn webhook(message: &str) -> Option<String> {
    let (text, deeds) = match message.strip_prefix("admission webhook \"") {
        Some(text) => (text, &DEEDS[..3]),
        None => (message.strip_prefix("failed calling webhook \"")?, &DEEDS[3..]),
    };
    let (name, rest) = text.split_once('"')?;
    let (_, deed) = deeds.iter().find(|(words, _)| rest.starts_with(words))?;
    is_dns_subdomain(name).then(|| format!("admission webhook `{name}` {deed}"))
}

/// `ValidatingAdmissionPolicy 'NAME' with binding 'NAME'`, in our words, and what follows it.
fn policy(message: &str) -> Option<(String, &str)> {
    let kinds = ["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"];
    let (kind, rest) = kinds.iter().find_map(|kind| Some((kind, message.strip_prefix(kind)?.strip_prefix(" '")?)))?;
    let (name, rest) = rest.split_once("' with binding '")?;
    let (binding, rest) = rest.split_once('\'')?;
    (is_dns_subdomain(name) && is_dns_subdomain(binding))
        .then(|| (format!("{kind} `{name}` (binding `{binding}`)"), rest))
}

/// `User "jane" cannot patch resource "secrets" in API group ""…`: the verb and the resource.
fn rights(message: &str) -> Option<(&str, &str)> {
    const VERBS: [&str; 9] =
        ["create", "delete", "deletecollection", "get", "impersonate", "list", "patch", "update", "watch"];
    let (_, rest) = message.strip_prefix("User \"")?.split_once("\" cannot ")?;
    let (verb, rest) = rest.split_once(" resource \"")?;
    let (resource, _) = rest.split_once("\" in API group ")?;
    let is_resource = resource.split('/').count() <= 2 && resource.split('/').all(is_dns_subdomain);
    (VERBS.contains(&verb) && is_resource).then_some((verb, resource))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::request::StatusError;

    #[test]
    fn fields_are_named_as_far_as_they_are_known() {
        let object = json!({"data": {"tls.crt.old": "eA==", "a b": "eA=="}, "metadata": {"labels": {"app": "x"}}});
        let objects = [&object];
        let shown = |text: &str| Discreet::of(&objects).field(text).map(|path| path.to_string()).unwrap_or_default();
        for (text, path) in [
            ("data", "data"),
            ("data[tls.crt]", r#"data["tls.crt"]"#),
            ("data[tls.crt.old]", r#"data["tls.crt.old"]"#),
            (".data.tls.crt.old", r#"data["tls.crt.old"]"#),
            ("data[a b]", r#"data["a b"]"#),
            ("data[hunter2]", "data"),
            ("data.hunter2", "data"),
            ("data[tls.crt]hunter2", r#"data["tls.crt"]"#),
            ("metadata.labels[app]", "metadata.labels.app"),
            ("metadata.labels[hunter2]", "metadata.labels"),
            (
                "metadata.annotations[kubernetes.io/service-account.name]",
                r#"metadata.annotations["kubernetes.io/service-account.name"]"#,
            ),
            ("metadata.hunter2", "metadata"),
            ("metadata.ownerReferences[0].hunter2", "metadata.ownerReferences"),
            ("hunter2", ""),
            ("hunter2.data", ""),
            ("<nil>", ""),
            ("", ""),
        ] {
            assert_eq!(shown(text), path, "{text}");
        }
    }

    #[test]
    fn causes_are_reported_by_field_and_reason() {
        let cause =
            |reason: &str, field: &str| Cause { reason: reason.into(), message: "hunter2".into(), field: field.into() };
        let causes = vec![
            cause("FieldValueRequired", "data[tls.crt]"),
            cause("hunter2", "type"),
            cause("FieldValueInvalid", "hunter2"),
            cause("NamespaceTerminating", "metadata.namespace"),
        ];
        let status =
            StatusError { causes, ..StatusError::refusal(422, "Invalid", "Secret \"it\" is invalid: hunter2") };
        assert_eq!(
            Discreet::of(&[]).sentence(&status),
            r#"the server refused the request (422 Invalid): `data["tls.crt"]` is required; `type` is refused; the namespace is being deleted"#
        );
    }

    #[test]
    fn a_refusal_of_a_secret_names_no_other_resource() {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "hunter2"}});
        for (resource, shown) in [
            ("secrets", "the user cannot patch resource \"secrets\" (403 Forbidden)"),
            ("hunter2", "the server refused the request (403 Forbidden)"),
        ] {
            let message = format!("User \"ann\" cannot patch resource \"{resource}\" in API group \"\"");
            let status = StatusError::refusal(403, "Forbidden", &message);
            assert_eq!(Discreet::of(&[&secret]).sentence(&status), shown);
        }
    }

    #[test]
    fn the_sender_and_the_fields_are_named_for_every_kind() {
        let inner =
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"a": "hunter2"}});
        let parcel = json!({"apiVersion": "example.com/v1", "kind": "Parcel", "spec": {"size": 1, "list": [inner]}});
        let cause =
            |field: &str| Cause { reason: "FieldValueInvalid".into(), message: "hunter2".into(), field: field.into() };
        for (message, fields, shown) in [
            (
                "parcels.example.com \"it\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: hunter2",
                vec![],
                "ValidatingAdmissionPolicy `p` (binding `b`) denied the request (422 Invalid)",
            ),
            (
                "Parcel \"it\" is invalid: hunter2",
                vec!["spec.size", "spec.list[0].stringData.a", "spec.hunter2", "hunter2"],
                "the server refused the request (422 Invalid): `spec.size` is invalid; `spec.list[0].stringData` is invalid; `spec` is invalid",
            ),
            (
                "admission webhook \"a.example.com\" denied the request: hunter2",
                vec!["spec.size"],
                "admission webhook `a.example.com` denied the request (422 Invalid): `spec.size` is invalid",
            ),
            (
                "admission webhook \"hunter2.example.com\" denied the request: hunter2",
                vec![],
                "the server refused the request (422 Invalid)",
            ),
            (
                "configmaps \"it\" is forbidden: User \"hunter2\" cannot patch resource \"configmaps\" in API group \"\" in the namespace \"shop\"",
                vec![],
                "the user cannot patch resource \"configmaps\" (422 Invalid)",
            ),
        ] {
            let causes = fields.into_iter().map(cause).collect();
            let status = StatusError { causes, ..StatusError::refusal(422, "Invalid", message) };
            assert_eq!(Discreet::of(&[&parcel]).sentence(&status), shown, "{message}");
        }
    }

    #[test]
    fn warnings_name_their_policy() {
        let left_out = "the text is left out because it may quote a secret value";
        for (text, who) in [
            (
                "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': hunter2",
                "ValidatingAdmissionPolicy `p` (binding `b`) warns",
            ),
            ("hunter2", "the server warns"),
            ("Validation failed for ValidatingAdmissionPolicy 'hunter 2' with binding 'b': x", "the server warns"),
        ] {
            assert_eq!(warning(text), format!("{who}: {left_out}"));
        }
    }

    #[test]
    fn who_refused_is_named_and_nothing_else() {
        for (code, reason, message, shown) in [
            (
                400,
                "",
                r#"admission webhook "a.example.com" denied the request: hunter2"#,
                "admission webhook `a.example.com` denied the request (400 BadRequest)",
            ),
            (
                403,
                "hunter2",
                r#"admission webhook "a.example.com" denied the request without explanation"#,
                "admission webhook `a.example.com` denied the request (403 Forbidden)",
            ),
            (
                400,
                "BadRequest",
                r#"admission webhook "a.example.com" does not support dry run"#,
                "admission webhook `a.example.com` does not support dry run (400 BadRequest)",
            ),
            (
                500,
                "InternalError",
                r#"Internal error occurred: failed calling webhook "a.example.com": failed to call webhook: hunter2"#,
                "admission webhook `a.example.com` could not be called (500 InternalError)",
            ),
            (
                422,
                "Invalid",
                r#"secrets "it" is forbidden: ValidatingAdmissionPolicy 'p.x' with binding 'b' denied request: hunter2"#,
                "ValidatingAdmissionPolicy `p.x` (binding `b`) denied the request (422 Invalid)",
            ),
            (
                403,
                "Forbidden",
                r#"secrets "it" is forbidden: exceeded quota: q, requested: hunter2=1"#,
                "the quota `q` is exceeded (403 Forbidden)",
            ),
            (
                403,
                "Forbidden",
                r#"secrets "it" is forbidden: User "hunter2" cannot patch resource "secrets" in API group "" in the namespace "shop""#,
                r#"the user cannot patch resource "secrets" (403 Forbidden)"#,
            ),
            (
                403,
                "Forbidden",
                r#"secrets is forbidden: User "jane" cannot list resource "secrets" in API group """#,
                r#"the user cannot list resource "secrets" (403 Forbidden)"#,
            ),
            (
                403,
                "Forbidden",
                r#"User "jane" cannot hunter2 resource "secrets""#,
                "the server refused the request (403 Forbidden)",
            ),
            (
                400,
                "",
                r#"admission webhook "hunter2 is it" denied the request: x"#,
                "the server refused the request (400 BadRequest)",
            ),
            (
                400,
                "",
                r#"admission webhook "Hunter2" denied the request: x"#,
                "the server refused the request (400 BadRequest)",
            ),
            (
                400,
                "",
                "hunter2: admission webhook \"a.example.com\" denied the request",
                "the server refused the request (400 BadRequest)",
            ),
            (
                422,
                "",
                "ValidatingAdmissionPolicy 'hunter2!' with binding 'b' denied request: x",
                "the server refused the request (422 Invalid)",
            ),
            (
                422,
                "",
                "ValidatingAdmissionPolicy 'p' with binding 'b\nhunter2' denied request: x",
                "the server refused the request (422 Invalid)",
            ),
            (599, "hunter2", "hunter2", "the server refused the request (599 Unknown)"),
        ] {
            let diagnostic = Discreet::of(&[]).diagnostic(&StatusError::refusal(code, reason, message));
            assert_eq!(diagnostic.message, shown, "{message}");
            assert!(!format!("{diagnostic:?}").to_lowercase().contains("hunter2"), "{diagnostic:?}");
        }
    }
}

//! The causes of a 422: validation errors of `apimachinery/pkg/util/validation/field`, a field path and a text each.

use serde_json::Value;
use structured_merge::{FieldPath, PathElement};

use super::cursor::{Cursor, follow_validation};
use super::rejected_object::RejectedObject;
use super::suggest::Described;
use crate::diagnostic::Diagnostic;
use crate::live::discreet::{Discreet, complaint};
use crate::manifest::yaml::Step;
use crate::request::{Cause, NO_FIELD};
use crate::text::{listed, similar};

/// Fields that the server's internal type has once for all versions of a definition if they are equal, with their paths in v1
/// (apiextensions-apiserver `pkg/apis/apiextensions/v1/conversion.go`).
const OF_ALL_VERSIONS: [(&str, &str); 4] = [
    ("spec.validation", "spec.versions[0].schema"),
    ("spec.subresources", "spec.versions[0].subresources"),
    ("spec.additionalPrinterColumns", "spec.versions[0].additionalPrinterColumns"),
    ("spec.selectableFields", "spec.versions[0].selectableFields"),
];
/// Titles of messages that say nothing beyond what follows them.
const PLAIN_TITLES: [&str; 5] = ["Forbidden", "Too long", "Too many", "Too short", "Too few"];
/// Maximum number of allowed values that a hint lists, and of those among which it looks for the one that was meant.
const MOST_LISTED: usize = 20;
const MOST_COMPARED: usize = 1_000;
/// Maximum length of the text of a complaint, in bytes; a message may have twice as many characters.
const LONGEST: usize = 300;

/// The hint about a map or list that the manifest empties: an empty one may mean something else than none.
const EMPTY_FIRST: &str =
    "delete the line; to keep an empty value, write it into the live object first, as with `kubectl edit`";
/// The hint about one that the type requires.
const EMPTY_REQUIRED: &str = "write the empty value into the live object first, as with `kubectl edit`";

/// The hint about a map or list of which the manifest has nothing.
pub(super) const TAKE_OUT: &str = "take it out of the live object first, as with `kubectl edit`";

pub(super) fn diagnostics(subject: &RejectedObject<'_>, causes: &[Cause]) -> Vec<Diagnostic> {
    if subject.may_quote_secret {
        return secret_diagnostics(subject, causes);
    }
    let has_field = |cause: &&Cause| !cause.field.is_empty() && cause.field != NO_FIELD;
    let merged = subject.merged();
    let cursor_of = |cause: &Cause| {
        let follow = |field: &str| follow_validation(Cursor::root(subject.manifest(), subject.schema), &merged, field);
        let cursor = match of_first_version(subject, &cause.field) {
            Some(field) => follow(&field),
            None => follow(&cause.field),
        };
        // The server checks the `stringData` of a Secret once it is in `data`.
        let given = if cursor.missing.is_empty() { None } else { cause.field.strip_prefix("data[") };
        let given = given.map(|key| follow(&format!("stringData[{key}")));
        given.filter(|given| given.missing.is_empty()).unwrap_or(cursor)
    };
    let cursors: Vec<_> = causes.iter().filter(has_field).map(|cause| (cursor_of(cause), cause)).collect();
    // The complaint about a field is repeated for a field that takes its default from it.
    let is_repeated = |cursor: &Cursor<'_>, cause: &Cause| {
        !cursor.missing.is_empty()
            && cause.reason == "FieldValueInvalid"
            && cursors
                .iter()
                .any(|(other, other_cause)| other.missing.is_empty() && other_cause.message == cause.message)
    };
    let own = cursors.iter().filter(|(cursor, cause)| !is_repeated(cursor, cause));
    let found: Vec<_> = own.map(|(cursor, cause)| diagnostic(subject, cursor.clone(), cause)).collect();
    if !found.is_empty() {
        return found;
    }
    // Causes without a field are about the whole object.
    let whole = Cursor::root(subject.manifest(), subject.schema);
    causes.iter().map(|cause| subject.diagnostic_at_value(&whole, capped(&cause.message))).collect()
}

/// The v1 path of a field of a definition that the server names by its internal path.
fn of_first_version(subject: &RejectedObject<'_>, field: &str) -> Option<String> {
    let is_definition = subject.target.key.gvk.is_crd();
    let (of_all, of_first) = OF_ALL_VERSIONS.iter().find(|(of_all, _)| is_definition && field.starts_with(of_all))?;
    Some(field.replacen(of_all, of_first, 1))
}

/// The message of a cause about a value, which need not be in the manifest.
pub(super) fn message_of(cursor: Cursor<'_>, cause: &Cause) -> String {
    let complaint = Complaint::read(cause);
    let (cursor, is_key) = complaint.narrowed(cursor);
    capped(&worded(&cursor, is_key, &complaint).0)
}

fn diagnostic(subject: &RejectedObject<'_>, cursor: Cursor<'_>, cause: &Cause) -> Diagnostic {
    if is_emptied(&cursor, cause) {
        let message = would_be_null(&cursor);
        let hint = match cursor.missing.as_str() {
            "" if cursor.is_required() => EMPTY_REQUIRED,
            "" => EMPTY_FIRST,
            _ => TAKE_OUT,
        };
        return subject.diagnostic_at_value(&cursor, message).with_hint(hint);
    }
    let complaint = Complaint::read(cause);
    let (cursor, is_key) = complaint.narrowed(cursor);
    let (message, hint) = worded(&cursor, is_key, &complaint);
    let diagnostic = if is_key || !cursor.missing.is_empty() {
        subject.diagnostic_at_key(&cursor, capped(&message))
    } else {
        subject.diagnostic_at_value(&cursor, capped(&message))
    };
    let of_live_only = |path| subject.lost(path, cause).or_else(|| subject.clash(path));
    let hint = hint.or_else(|| cursor.live_only.as_ref().and_then(of_live_only));
    match hint {
        Some(hint) => diagnostic.with_hint(hint),
        None if complaint.kind == ComplaintKind::Required && !cursor.missing.is_empty() => {
            diagnostic.with_hint(format!("see what belongs there {}", described(subject, &cursor)))
        }
        None => diagnostic,
    }
}

/// Returns true if the server has found null where the manifest has an empty map or list, or nothing of what the live object has: a value
/// from which an apply removes the last entries (structured-merge-diff `typed/remove.go`).
fn is_emptied(cursor: &Cursor<'_>, cause: &Cause) -> bool {
    let is_empty = match cursor.here().0 {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    is_about_null(cause) && (is_empty || cursor.live_only.is_some())
}

/// Returns true if the server has found null where the type does not allow it.
pub(super) fn is_about_null(cause: &Cause) -> bool {
    cause.reason == "FieldValueTypeInvalid" && cause.message.ends_with(": \"null\"")
}

/// The message about a map or list from which an apply removes the last entries.
pub(super) fn would_be_null(cursor: &Cursor<'_>) -> String {
    let name = cursor.full_path();
    format!("`{name}` would be null, which its type does not allow: the apply removes all that was in it")
}

/// The diagnostics for an object with secret values, from the fields and reasons of the causes alone: their text may quote secret values.
fn secret_diagnostics(subject: &RejectedObject<'_>, causes: &[Cause]) -> Vec<Diagnostic> {
    let objects: Vec<&Value> = std::iter::once(subject.manifest()).chain(subject.live).collect();
    let discreet = Discreet::of(&objects);
    let fields = causes.iter().filter_map(|cause| Some((discreet.field(&cause.field)?, cause)));
    let diagnostics = fields.map(|(mut field, cause)| {
        // The server checks the `stringData` of a Secret once it is in `data`.
        if let [PathElement::Field(part), PathElement::Field(key)] = field.elements()
            && part == "data"
        {
            let plain = FieldPath::of(&["stringData", key]);
            if field.value_in(subject.manifest()).is_none() && plain.value_in(subject.manifest()).is_some() {
                field = plain;
            }
        }
        let names: Vec<&str> = field.elements().iter().filter_map(field_name).collect();
        let message = match names.as_slice() {
            ["data" | "stringData", key] if !is_data_key(key) => format!("`{field}`: {BAD_KEY}"),
            _ => format!("`{field}` {}", complaint(&cause.reason)),
        };
        let steps: Vec<Step<'_>> = field.elements().iter().filter_map(step).collect();
        subject.target.desired.origin.diagnostic_at_key(&steps, message)
    });
    diagnostics.collect()
}

fn field_name(element: &PathElement) -> Option<&str> {
    if let PathElement::Field(name) = element { Some(name) } else { None }
}

fn step(element: &PathElement) -> Option<Step<'_>> {
    match element {
        PathElement::Field(name) => Some(Step::Key(name)),
        PathElement::Index(index) => usize::try_from(*index).ok().map(Step::Index),
        PathElement::Key(_) | PathElement::Member(_) => None,
    }
}

/// The server's message about an invalid key of a Secret (apimachinery `validation.IsConfigMapKey`).
const BAD_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name' or \
                       'KEY_NAME' or 'key-name')";

/// Returns true if all characters are valid in a key of a Secret; the length is not checked.
fn is_data_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// The message of a complaint, with a hint if the complaint itself holds advice.
fn worded(cursor: &Cursor<'_>, is_key: bool, complaint: &Complaint) -> (String, Option<String>) {
    let name = format!("`{}`", cursor.full_path());
    let detail = &complaint.detail;
    match (complaint.kind, complaint.value.as_ref()) {
        (ComplaintKind::Required, _) => {
            let what = if cursor.missing.is_empty() { "needs a value" } else { "is missing" };
            (with_detail(&format!("{name} {what}"), detail), None)
        }
        (ComplaintKind::Unsupported, Some(Value::String(value))) => {
            (format!("{name} cannot be `{value}`"), Some(supported(value, detail)))
        }
        (ComplaintKind::Unsupported, _) => (with_detail(&format!("{name} has an unsupported value"), detail), None),
        (ComplaintKind::Duplicate, Some(value)) => (format!("{name}: `{}` is used twice", short(value)), None),
        (ComplaintKind::Duplicate, None) => (format!("{name} is used twice"), None),
        (ComplaintKind::NotFound, Some(value)) => {
            (format!("{name}: not found: `{}`", short(value)), value.as_str().and_then(|value| declared(cursor, value)))
        }
        (ComplaintKind::NotFound, None) => (with_detail(&format!("{name}: not found"), detail), None),
        (ComplaintKind::Invalid, Some(value)) if is_key => {
            (format!("{name}: a key cannot be `{}`: {detail}", short(value)), None)
        }
        (ComplaintKind::Invalid, Some(value))
            if cursor.missing.is_empty() && cursor.here().0 == value && is_short(value) =>
        {
            (format!("{name} cannot be `{}`: {detail}", short(value)), None)
        }
        (ComplaintKind::Invalid | ComplaintKind::Other, _) => (format!("{name}: {detail}"), None),
    }
}

/// The place that describes a field; `kubectl explain` does not know entries of maps and items of lists.
fn described(subject: &RejectedObject<'_>, cursor: &Cursor<'_>) -> String {
    let fields = cursor.missing.split('[').next().unwrap_or_default();
    let path =
        fields.split('.').filter(|name| !name.is_empty()).fold(cursor.path.clone(), |path, name| path.field(name));
    Described::of(subject).at(&path)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ComplaintKind {
    Required,
    Unsupported,
    Duplicate,
    NotFound,
    Invalid,
    Other,
}

/// The parts of a message such as `Invalid value: 800000: must be between 1 and 65535, inclusive`.
struct Complaint {
    kind: ComplaintKind,
    /// The value, if the message has it in JSON form.
    value: Option<Value>,
    detail: String,
}

impl Complaint {
    fn read(cause: &Cause) -> Self {
        let (title, mut rest) = cause.message.split_once(": ").unwrap_or((&cause.message, ""));
        let kind = match title {
            "Required value" => ComplaintKind::Required,
            "Unsupported value" => ComplaintKind::Unsupported,
            "Duplicate value" => ComplaintKind::Duplicate,
            "Not found" => ComplaintKind::NotFound,
            "Invalid value" => ComplaintKind::Invalid,
            _ => ComplaintKind::Other,
        };
        // A webhook has words of its own.
        if kind == ComplaintKind::Other && !rest.is_empty() && !PLAIN_TITLES.contains(&title) {
            rest = &cause.message;
        }
        let has_value = matches!(
            kind,
            ComplaintKind::Unsupported | ComplaintKind::Duplicate | ComplaintKind::NotFound | ComplaintKind::Invalid
        );
        let (value, detail) = if has_value { value_and_detail(rest) } else { (None, rest) };
        let detail = if detail.is_empty() && !has_value { title.to_lowercase() } else { detail.to_owned() };
        let detail = if kind == ComplaintKind::Required && rest.is_empty() { String::new() } else { detail };
        let mut detail = detail.replace(&format!("{} in body ", cause.field), "");
        // `must be of type integer: "number"` repeats the type that it found.
        if cause.reason == "FieldValueTypeInvalid"
            && let Some((before, _)) = detail.rsplit_once(": \"")
        {
            detail = before.to_owned();
        }
        Self { kind, value, detail: without_pattern(without_difference(&detail)) }
    }

    /// Narrows a map to the entry that the complaint means: a cause names `metadata.labels`, and its value is the key or value of the
    /// label. Returns true as well if the complaint is about the key.
    fn narrowed<'a>(&self, cursor: Cursor<'a>) -> (Cursor<'a>, bool) {
        let Some(Value::String(text)) = &self.value else { return (cursor, false) };
        if !cursor.missing.is_empty() {
            return (cursor, false);
        }
        let (here, _) = cursor.here();
        let Value::Object(map) = here else {
            // `data[a b]: Invalid value: "a b"` is about the key.
            let is_its_key = cursor.steps.last() == Some(&Step::Key(text)) && here.as_str() != Some(text);
            return (cursor, self.kind == ComplaintKind::Invalid && is_its_key);
        };
        let as_key = map.contains_key(text).then_some(text);
        let mut with_value = map.iter().filter(|(_, value)| value.as_str() == Some(text)).map(|(key, _)| key);
        let key = as_key.or_else(|| with_value.next().filter(|_| with_value.next().is_none()));
        let mut narrow = cursor.clone();
        match key {
            Some(key) if narrow.enter_key(key) => (narrow, as_key.is_some()),
            _ => (cursor, false),
        }
    }
}

/// Splits a text into a value in JSON form and its detail. A dump of a struct, or a text that only looks like a value, is no value.
/// Before Kubernetes 1.34, the dumps are in the syntax of Go.
fn value_and_detail(text: &str) -> (Option<Value>, &str) {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let Some(Ok(value)) = values.next().filter(|_| !is_go(text)) else {
        let is_dump = text.starts_with(['{', '[']) || is_go(text) || text.len() > LONGEST;
        let last = text.rsplit_once(": ").map_or(text, |(_, detail)| detail);
        return (None, if is_dump { last } else { text });
    };
    let rest = text.get(values.byte_offset()..).unwrap_or_default();
    match rest.strip_prefix(": ") {
        Some(detail) => (Some(value), detail),
        None if rest.is_empty() => (Some(value), ""),
        None => (None, text),
    }
}

/// Returns true if a text begins with a value in the syntax of Go: `map[string]string{…}` or `intstr.IntOrString{…}`.
fn is_go(text: &str) -> bool {
    let Some((name, _)) = text.split_once('{') else { return false };
    name.contains(['.', '['])
        && name.ends_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ".[]*_".contains(c))
}

/// Removes the difference of two Go values that follows on lines of its own (`k8s.io/kubernetes` `pkg/apis/core/validation`).
fn without_difference(detail: &str) -> &str {
    let is_dump = |(at, _): &(usize, &str)| {
        let rest = detail.get(*at..).unwrap_or_default().trim_start();
        rest.starts_with("@@ ") || rest.starts_with("core.")
    };
    let dump = detail.match_indices('\n').find(is_dump);
    dump.and_then(|(at, _)| detail.get(..at)).unwrap_or(detail).trim_end()
}

/// Removes the regular expression, which repeats the sentence before it.
fn without_pattern(detail: &str) -> String {
    const PATTERN: &str = ", regex used for validation is '";
    let Some((before, rest)) = detail.split_once(PATTERN) else { return detail.to_owned() };
    let after = rest.split_once("')").map(|(_, after)| after).unwrap_or_default();
    format!("{})", before.replace(",  or ", " or ")) + after
}

/// The hint for a detail such as `supported values: "Always", "IfNotPresent", "Never"`.
fn supported(value: &str, detail: &str) -> String {
    let Some(list) = detail.strip_prefix("supported values: ") else { return detail.to_owned() };
    offered(value, list.split(", ").map(|name| name.trim_matches('"')), "the server takes")
}

/// The hint for a value that is none of these names.
fn offered<'n>(value: &str, names: impl Iterator<Item = &'n str> + Clone, what: &str) -> String {
    let meant = similar(value, names.clone().take(MOST_COMPARED)).map(|name| format!("did you mean `{name}`? "));
    format!("{}{what} {}", meant.unwrap_or_default(), listed(names, MOST_LISTED))
}

/// The lists of a Pod whose items name items of another list of it (`k8s.io/kubernetes` `pkg/apis/core/validation`).
const REFERRING: [(&str, &str); 3] =
    [("volumeMounts", "volumes"), ("volumeDevices", "volumes"), ("claims", "resourceClaims")];

/// The hint for a name that is not among those that the Pod declares; the volumes of a StatefulSet may be templates of claims.
fn declared(cursor: &Cursor<'_>, value: &str) -> Option<String> {
    let (_, list) = REFERRING.iter().find(|(referring, _)| cursor.steps.contains(&Step::Key(referring)))?;
    let lists = cursor.trail.iter().flat_map(|(value, _)| {
        let templates = value.get("volumeClaimTemplates").filter(|_| *list == "volumes");
        value.get(list).into_iter().chain(templates).filter_map(Value::as_array).flatten()
    });
    let names = lists.filter_map(|item| item.get("name").or_else(|| item.pointer("/metadata/name"))?.as_str());
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return Some(format!("the Pod has no `{list}`"));
    }
    Some(offered(value, names.iter().copied(), "the Pod has"))
}

fn with_detail(text: &str, detail: &str) -> String {
    if detail.is_empty() { text.to_owned() } else { format!("{text}: {detail}") }
}

fn is_short(value: &Value) -> bool {
    !value.is_object() && !value.is_array() && value.to_string().len() <= 80
}

fn short(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

fn capped(text: &str) -> String {
    if text.chars().count() <= LONGEST * 2 {
        return text.to_owned();
    }
    text.chars().take(LONGEST * 2).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_complaint_is_read_in_its_parts() {
        let read = |reason: &str, message: &str| {
            let cause = Cause { reason: reason.into(), message: message.into(), field: "spec.size".into() };
            let complaint = Complaint::read(&cause);
            (complaint.value, complaint.detail)
        };
        for (reason, message, value, detail) in [
            ("FieldValueInvalid", "Invalid value: 80000: must be below", Some(json!(80000)), "must be below"),
            ("FieldValueInvalid", r#"Invalid value: "a: b": no"#, Some(json!("a: b")), "no"),
            ("FieldValueInvalid", "Invalid value: size must be below 100", None, "size must be below 100"),
            (
                "FieldValueInvalid",
                r#"Invalid value: {"a":{"b":1}}: is wrong"#,
                Some(json!({"a": {"b": 1}})),
                "is wrong",
            ),
            ("FieldValueInvalid", "Invalid value: {A:1 B:map[]}: is wrong", None, "is wrong"),
            ("FieldValueInvalid", r#"Invalid value: map[string]string{"a":"b"}: is wrong"#, None, "is wrong"),
            (
                "FieldValueInvalid",
                r#"Invalid value: intstr.IntOrString{Type:1, StrVal:"b"}: is wrong"#,
                None,
                "is wrong",
            ),
            ("FieldValueInvalid", "Invalid value: []core.Port{}: is wrong", None, "is wrong"),
            ("FieldValueInvalid", "Invalid value: size {a} is: wrong", None, "size {a} is: wrong"),
            (
                "FieldValueTypeInvalid",
                r#"Invalid value: "number": spec.size in body must be of type integer: "number""#,
                Some(json!("number")),
                "must be of type integer",
            ),
            ("FieldValueRequired", "Required value", None, ""),
            ("FieldValueRequired", "Required value: at least one is needed", None, "at least one is needed"),
            ("FieldValueForbidden", "Forbidden: not with this type", None, "not with this type"),
            (
                "FieldValueForbidden",
                "Forbidden: pod updates may not change fields other than `a`\n@@ -1,7 +1,7 @@\n {\n-  \"Volumes\": null",
                None,
                "pod updates may not change fields other than `a`",
            ),
            ("FieldValueForbidden", "Forbidden: not this\n  core.PodSpec{\n- \tVolumes: nil", None, "not this"),
            ("FieldValueForbidden", "Forbidden: one line\nand another", None, "one line\nand another"),
            ("FieldValueDuplicate", r#"Duplicate value: "a""#, Some(json!("a")), ""),
            ("FieldValueNotFound", r#"Not found: "a""#, Some(json!("a")), ""),
            ("FieldValueInvalid", "size: must be odd", None, "size: must be odd"),
            ("FieldValueTooMany", "Too many: 3: must have at most 2 items", None, "3: must have at most 2 items"),
        ] {
            assert_eq!(read(reason, message), (value, detail.to_owned()), "{message}");
        }
    }

    #[test]
    fn patterns_go_and_supported_values_are_offered() {
        assert_eq!(
            without_pattern("must fit (e.g. 'a',  or '1', regex used for validation is '[a-z]+') and have a '/'"),
            "must fit (e.g. 'a' or '1') and have a '/'"
        );
        assert_eq!(
            without_pattern("must start right (e.g. 'a', regex used for validation is '[a-z]+')"),
            "must start right (e.g. 'a')"
        );
        assert_eq!(
            supported("nodeport", r#"supported values: "ClusterIP", "NodePort""#),
            "did you mean `NodePort`? the server takes `ClusterIP`, `NodePort`"
        );
        assert_eq!(supported("x", r#"supported values: "ClusterIP""#), "the server takes `ClusterIP`");
        let many: Vec<String> = (0..20_000).map(|at| format!("\"v{at}\"")).collect();
        let hint = supported("v700x", &format!("supported values: {}", many.join(", ")));
        assert!(hint.starts_with("did you mean `v700`? the server takes `v0`, `v1`, "), "{hint}");
        assert!(hint.ends_with(", `v18`, `v19` and 19,980 more"), "{hint}");
    }
}

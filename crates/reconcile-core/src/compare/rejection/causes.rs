//! The causes of a 422: validation errors of `apimachinery/pkg/util/validation/field`, a field path and a text each.

use serde_json::Value;
use structured_merge::{FieldPath, PathElement};

use super::cursor::{Place, follow_validation};
use super::rejected_object::RejectedObject;
use super::suggest;
use crate::diagnostic::Diagnostic;
use crate::live::discreet::{Discreet, complaint};
use crate::manifest::yaml::Step;
use crate::request::Cause;
use crate::text::similar;

/// What the server validates for all versions of a definition at once, where they have it alike, and where v1 has it
/// (apiextensions-apiserver `pkg/apis/apiextensions/v1/conversion.go`).
const OF_ALL_VERSIONS: [(&str, &str); 4] = [
    ("spec.validation", "spec.versions[0].schema"),
    ("spec.subresources", "spec.versions[0].subresources"),
    ("spec.additionalPrinterColumns", "spec.versions[0].additionalPrinterColumns"),
    ("spec.selectableFields", "spec.versions[0].selectableFields"),
];
/// What a cause without a field has in its place.
const NO_FIELD: &str = "<nil>";
/// Longest text of a complaint.
const LONGEST: usize = 300;

pub(super) fn mistakes(subject: &RejectedObject<'_>, causes: &[Cause]) -> Vec<Diagnostic> {
    if subject.is_secret() {
        return of_secret(subject, causes);
    }
    let has_field = |cause: &&Cause| !cause.field.is_empty() && cause.field != NO_FIELD;
    let merged = subject.merged();
    let place_of = |cause: &Cause| {
        let follow = |field: &str| follow_validation(Place::root(subject.manifest(), subject.of), &merged, field);
        let place = match of_first_version(subject, &cause.field) {
            Some(field) => follow(&field),
            None => follow(&cause.field),
        };
        // What a Secret has in `stringData` is checked once it is in `data`.
        let given = if place.missing.is_empty() { None } else { cause.field.strip_prefix("data[") };
        let given = given.map(|key| follow(&format!("stringData[{key}")));
        given.filter(|given| given.missing.is_empty()).unwrap_or(place)
    };
    let places: Vec<_> = causes.iter().filter(has_field).map(|cause| (place_of(cause), cause)).collect();
    // A field that takes its default from another repeats the complaint about that one.
    let is_echo = |place: &Place<'_>, cause: &Cause| {
        !place.missing.is_empty()
            && cause.reason == "FieldValueInvalid"
            && places.iter().any(|(other, of)| other.missing.is_empty() && of.message == cause.message)
    };
    let own = places.iter().filter(|(place, cause)| !is_echo(place, cause));
    let found: Vec<_> = own.map(|(place, cause)| mistake(subject, place.clone(), cause)).collect();
    if !found.is_empty() {
        return found;
    }
    // Without a field they still say what is wrong with the object.
    let whole = Place::root(subject.manifest(), subject.of);
    causes.iter().map(|cause| subject.of_value(&whole, capped(&cause.message))).collect()
}

/// What a definition has in its first version and the server names as if it were that of all.
fn of_first_version(subject: &RejectedObject<'_>, field: &str) -> Option<String> {
    let is_definition = subject.target.key.gvk.is_crd();
    let (of_all, of_first) = OF_ALL_VERSIONS.iter().find(|(of_all, _)| is_definition && field.starts_with(of_all))?;
    Some(field.replacen(of_all, of_first, 1))
}

/// What a cause says of a place, which need not be in the manifest.
pub(super) fn message_of(place: Place<'_>, cause: &Cause) -> String {
    let complaint = Complaint::read(cause);
    let (place, is_key) = complaint.narrowed(place);
    capped(&worded(&place, is_key, &complaint).0)
}

fn mistake(subject: &RejectedObject<'_>, place: Place<'_>, cause: &Cause) -> Diagnostic {
    let complaint = Complaint::read(cause);
    let (place, is_key) = complaint.narrowed(place);
    let (message, hint) = worded(&place, is_key, &complaint);
    let problem = if is_key || !place.missing.is_empty() {
        subject.of_key(&place, capped(&message))
    } else {
        subject.of_value(&place, capped(&message))
    };
    let hint = hint.or_else(|| subject.clash(place.kept.as_ref()?));
    match hint {
        Some(hint) => problem.with_hint(hint),
        None if complaint.kind == Kind::Required && !place.missing.is_empty() => {
            problem.with_hint(format!("see what belongs there with `{}`", explain(subject, &place)))
        }
        None => problem,
    }
}

/// Of a Secret, the field and what the cause's reason says: the text of a cause may quote its values.
fn of_secret(subject: &RejectedObject<'_>, causes: &[Cause]) -> Vec<Diagnostic> {
    let objects: Vec<&Value> = std::iter::once(subject.manifest()).chain(subject.live).collect();
    let discreet = Discreet::of(&objects);
    let fields = causes.iter().filter_map(|cause| Some((discreet.field(&cause.field)?, cause)));
    let problems = fields.map(|(mut field, cause)| {
        // What a Secret has in `stringData` is checked when it is in `data`.
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
        let steps: Vec<Step<'_>> = names.into_iter().map(Step::Key).collect();
        subject.target.desired.origin.diagnostic_at_key(&steps, message)
    });
    problems.collect()
}

fn field_name(element: &PathElement) -> Option<&str> {
    if let PathElement::Field(name) = element { Some(name) } else { None }
}

/// What the server says of a key that no Secret can have (apimachinery `validation.IsConfigMapKey`).
const BAD_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name' or \
                       'KEY_NAME' or 'key-name')";

/// Returns true if something may be a key of a Secret, but for its length.
fn is_data_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// A complaint in words, and what to do where the complaint itself says so.
fn worded(place: &Place<'_>, is_key: bool, complaint: &Complaint) -> (String, Option<String>) {
    let name = format!("`{}`", place.full_path());
    let detail = &complaint.detail;
    match (complaint.kind, complaint.value.as_ref()) {
        (Kind::Required, _) => {
            let what = if place.missing.is_empty() { "needs a value" } else { "is missing" };
            (with_detail(&format!("{name} {what}"), detail), None)
        }
        (Kind::Unsupported, Some(Value::String(value))) => {
            (format!("{name} cannot be `{value}`"), Some(supported(value, detail)))
        }
        (Kind::Unsupported, _) => (with_detail(&format!("{name} has an unsupported value"), detail), None),
        (Kind::Duplicate, Some(value)) => (format!("{name}: `{}` is used twice", short(value)), None),
        (Kind::Duplicate, None) => (format!("{name} is used twice"), None),
        (Kind::Invalid, Some(value)) if is_key => {
            (format!("{name}: a key cannot be `{}`: {detail}", short(value)), None)
        }
        (Kind::Invalid, Some(value)) if place.missing.is_empty() && place.here().0 == value && is_short(value) => {
            (format!("{name} cannot be `{}`: {detail}", short(value)), None)
        }
        (Kind::Invalid | Kind::Other, _) => (format!("{name}: {detail}"), None),
    }
}

/// How to look a field up; entries of maps and items of lists have no explanation of their own.
fn explain(subject: &RejectedObject<'_>, place: &Place<'_>) -> String {
    let fields = place.missing.split('[').next().unwrap_or_default();
    let path =
        fields.split('.').filter(|name| !name.is_empty()).fold(place.path.clone(), |path, name| path.field(name));
    suggest::explain(&subject.target.key.gvk, &path)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Required,
    Unsupported,
    Duplicate,
    Invalid,
    Other,
}

/// `Invalid value: 800000: must be between 1 and 65535, inclusive`, in its parts.
struct Complaint {
    kind: Kind,
    /// The value, where it is a scalar in JSON form.
    value: Option<Value>,
    detail: String,
}

impl Complaint {
    fn read(cause: &Cause) -> Self {
        let (title, rest) = cause.message.split_once(": ").unwrap_or((&cause.message, ""));
        let kind = match title {
            "Required value" => Kind::Required,
            "Unsupported value" => Kind::Unsupported,
            "Duplicate value" => Kind::Duplicate,
            "Invalid value" => Kind::Invalid,
            _ => Kind::Other,
        };
        let has_value = matches!(kind, Kind::Unsupported | Kind::Duplicate | Kind::Invalid);
        let (value, detail) = if has_value { value_and_detail(rest) } else { (None, rest) };
        let detail = if detail.is_empty() && !has_value { title.to_lowercase() } else { detail.to_owned() };
        let detail = if kind == Kind::Required && rest.is_empty() { String::new() } else { detail };
        let mut detail = detail.replace(&format!("{} in body ", cause.field), "");
        // `must be of type integer: "number"` repeats the type that it found.
        if cause.reason == "FieldValueTypeInvalid"
            && let Some((before, _)) = detail.rsplit_once(": \"")
        {
            detail = before.to_owned();
        }
        Self { kind, value, detail: without_pattern(&detail) }
    }

    /// The cause names `metadata.labels` and its value the label: the entry that has it, as key or as value.
    fn narrowed<'a>(&self, place: Place<'a>) -> (Place<'a>, bool) {
        let Some(Value::String(text)) = &self.value else { return (place, false) };
        if !place.missing.is_empty() {
            return (place, false);
        }
        let (here, _) = place.here();
        let Value::Object(map) = here else {
            // `data[a b]: Invalid value: "a b"` is about the key.
            let is_its_key = place.steps.last() == Some(&Step::Key(text)) && here.as_str() != Some(text);
            return (place, self.kind == Kind::Invalid && is_its_key);
        };
        let as_key = map.contains_key(text).then_some(text);
        let mut with_value = map.iter().filter(|(_, value)| value.as_str() == Some(text)).map(|(key, _)| key);
        let key = as_key.or_else(|| with_value.next().filter(|_| with_value.next().is_none()));
        let mut narrow = place.clone();
        match key {
            Some(key) if narrow.enter_key(key) => (narrow, as_key.is_some()),
            _ => (place, false),
        }
    }
}

/// A value in JSON form and what is said of it. A whole struct, or a text that only looks like a value, is left out.
fn value_and_detail(text: &str) -> (Option<Value>, &str) {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let Some(Ok(value)) = values.next() else {
        let is_dump = text.starts_with('{') || text.starts_with('[') || text.len() > LONGEST;
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

/// Without the regular expression, which repeats the sentence before it.
fn without_pattern(detail: &str) -> String {
    const PATTERN: &str = ", regex used for validation is '";
    let Some((before, rest)) = detail.split_once(PATTERN) else { return detail.to_owned() };
    let after = rest.split_once("')").map(|(_, after)| after).unwrap_or_default();
    format!("{})", before.replace(",  or ", " or ")) + after
}

/// `supported values: "Always", "IfNotPresent", "Never"`
fn supported(value: &str, detail: &str) -> String {
    let Some(list) = detail.strip_prefix("supported values: ") else { return detail.to_owned() };
    let names: Vec<&str> = list.split(", ").map(|name| name.trim_matches('"')).collect();
    let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let meant = similar(value, names.iter().copied()).map(|name| format!("did you mean `{name}`? "));
    format!("{}the server takes {}", meant.unwrap_or_default(), listed.join(", "))
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
            (
                "FieldValueTypeInvalid",
                r#"Invalid value: "number": spec.size in body must be of type integer: "number""#,
                Some(json!("number")),
                "must be of type integer",
            ),
            ("FieldValueRequired", "Required value", None, ""),
            ("FieldValueRequired", "Required value: at least one is needed", None, "at least one is needed"),
            ("FieldValueForbidden", "Forbidden: not with this type", None, "not with this type"),
            ("FieldValueDuplicate", r#"Duplicate value: "a""#, Some(json!("a")), ""),
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
    }
}

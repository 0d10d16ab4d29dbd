//! Validates documents with a JSON Schema (draft 7): as much of it as the schemas use. A keyword that is not known here fails the
//! test, so that nothing passes unseen.

use std::path::Path;
use std::sync::LazyLock;

use reconcile_core::plan::deletion::DeletionKind;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, RestrictFormats, Transform as _};
use schemars::{Schema, json_schema};
use serde_json::{Value, json};

use crate::blame::BlamedObject;
use crate::formats::json::document;
use crate::model::{Report, Reports};
use crate::pull::PullReport;
use crate::saved_plan::{ManifestDigest, PlanBase, PlanFlags, SavedPlan, SecretCoverage};

static REPORT: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(&derived()).unwrap());
static SARIF: LazyLock<Value> = LazyLock::new(|| load("testdata/formats/sarif-schema-2.1.0.json"));

fn load(file: &str) -> Value {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The document of `-o json`. A field that the schema does not name fails the test as well: it has to be documented.
#[track_caller]
pub fn check_report(document: &Value) {
    let schema = Validator { root: &REPORT, is_complete: true };
    schema.check(&REPORT, document).unwrap_or_else(|violation| panic!("{violation}"));
}

/// A SARIF log. The schema of OASIS refuses unknown fields itself.
#[track_caller]
pub fn check_sarif(document: &Value) {
    let schema = Validator { root: &SARIF, is_complete: false };
    schema.check(&SARIF, document).unwrap_or_else(|violation| panic!("{violation}"));
    for result in document["runs"].as_array().unwrap().iter().flat_map(|run| run["results"].as_array().unwrap()) {
        let physical = &result["locations"][0]["physicalLocation"];
        let uri = physical["artifactLocation"]["uri"].as_str().unwrap_or_default();
        assert!(!uri.starts_with("./") && !uri.contains(' '), "{uri}");
        assert!(result["partialFingerprints"]["kubectlReconcile/v1"].is_string(), "{result}");
    }
}

/// The document of `blame -o json`.
#[track_caller]
pub fn check_blame(document: &Value) {
    let root: Value = serde_json::from_str(&derived_blame()).unwrap();
    let schema = Validator { root: &root, is_complete: true };
    schema.check(&root, document).unwrap_or_else(|violation| panic!("{violation}"));
}

/// The document of `pull -o json`.
#[track_caller]
pub fn check_pull(document: &Value) {
    let root: Value = serde_json::from_str(&derived_pull()).unwrap();
    let schema = Validator { root: &root, is_complete: true };
    schema.check(&root, document).unwrap_or_else(|violation| panic!("{violation}"));
}

#[test]
fn a_plan_follows_its_schema() {
    let flags = PlanFlags {
        field_manager: "kubectl-reconcile".to_owned(),
        force_conflicts: "manual".to_owned(),
        replace: "never".to_owned(),
        adopt: vec!["helm".to_owned()],
        only: ["cluster".to_owned()].into(),
        remove_added: Some(["kubectl-*".to_owned()].into()),
        applyset: Some("shop".to_owned()),
        prune_allow: [DeletionKind::Namespaces, DeletionKind::Most].into(),
        applyset_recover: false,
        leave_applyset: false,
        create_namespace: true,
        shard: None,
        base: Some(PlanBase { from: "main".to_owned(), digest: Some("00ff".to_owned()) }),
    };
    let report = super::scenario::diff("plain");
    let digests = report.objects.iter().map(|object| ManifestDigest::new(&object.key, "00ff".to_owned())).collect();
    let cluster = report.cluster.clone().unwrap();
    let plan = SavedPlan::of(&report, cluster, flags, SecretCoverage::NotCovered, digests);
    let document: Value = serde_json::from_str(&document(&plan)).unwrap();
    assert!(!document["objects"].as_array().unwrap().is_empty());
    let root: Value = serde_json::from_str(&derived_plan()).unwrap();
    let schema = Validator { root: &root, is_complete: true };
    schema.check(&root, &document).unwrap_or_else(|violation| panic!("{violation}"));
}

struct Validator<'s> {
    root: &'s Value,
    /// True if only the properties that the schema names are allowed.
    is_complete: bool,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        if schema == &Value::Bool(true) {
            return Ok(());
        }
        let keywords = schema.as_object().unwrap_or_else(|| panic!("{schema} is no schema"));
        for (keyword, with) in keywords {
            let holds = match keyword.as_str() {
                "$schema" | "$id" | "$comment" | "title" | "description" | "default" | "definitions" => true,
                "$ref" => {
                    let pointer = with.as_str().unwrap().strip_prefix('#').unwrap();
                    self.check(self.root.pointer(pointer).unwrap(), value)?;
                    true
                }
                "properties" => {
                    for (key, below) in with.as_object().unwrap() {
                        let Some(value) = value.get(key) else { continue };
                        self.check(below, value).map_err(|violation| format!("{key}: {violation}"))?;
                    }
                    let known = with.as_object().unwrap();
                    !self.is_complete
                        || value.as_object().is_none_or(|map| map.keys().all(|key| known.contains_key(key)))
                }
                "additionalProperties" => self.additional(schema, with, value)?,
                "items" => {
                    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(with, item).map_err(|violation| format!("[{at}] {violation}"))?;
                    }
                    true
                }
                "allOf" => {
                    with.as_array().unwrap().iter().try_for_each(|one| self.check(one, value))?;
                    true
                }
                "anyOf" => with.as_array().unwrap().iter().any(|one| self.check(one, value).is_ok()),
                "oneOf" => {
                    let violations: Vec<String> =
                        with.as_array().unwrap().iter().filter_map(|one| self.check(one, value).err()).collect();
                    if violations.len() == with.as_array().unwrap().len() {
                        return Err(violations.join(" | "));
                    }
                    violations.len() + 1 == with.as_array().unwrap().len()
                }
                _ => holds(keyword, with, value),
            };
            if !holds {
                let shown: String = value.to_string().chars().take(300).collect();
                return Err(format!("`{keyword}` does not hold of {shown}"));
            }
        }
        Ok(())
    }

    fn additional(&self, schema: &Value, with: &Value, value: &Value) -> Result<bool, String> {
        let is_known = |key: &String| schema["properties"].get(key).is_some();
        for (_, value) in value.as_object().into_iter().flatten().filter(|(key, _)| !is_known(key)) {
            match with {
                Value::Bool(allowed) if !allowed => return Ok(false),
                Value::Bool(_) => {}
                schema => self.check(schema, value)?,
            }
        }
        Ok(true)
    }
}

/// The keywords that look at nothing below.
fn holds(keyword: &str, with: &Value, value: &Value) -> bool {
    let length = |value: &Value| value.as_array().map(|items| items.len() as u64);
    match keyword {
        "type" => match with {
            Value::Array(types) => types.iter().any(|one| is_of(value, one)),
            one => is_of(value, one),
        },
        "const" => value == with,
        "enum" => with.as_array().unwrap().contains(value),
        "required" => {
            let keys = with.as_array().unwrap();
            !value.is_object() || keys.iter().all(|key| value.get(key.as_str().unwrap()).is_some())
        }
        "minItems" => length(value).is_none_or(|length| length >= with.as_u64().unwrap()),
        "uniqueItems" => value.as_array().is_none_or(|items| {
            with != &Value::Bool(true) || items.iter().enumerate().all(|(at, item)| !items[..at].contains(item))
        }),
        "minimum" => value.as_f64().is_none_or(|number| number >= with.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= with.as_f64().unwrap()),
        "format" => value.as_str().is_none_or(|text| is_formatted(with.as_str().unwrap(), text)),
        "pattern" => value.as_str().is_none_or(|text| match with.as_str().unwrap() {
            "[^/]+/.+" => text.find('/').is_some_and(|at| at > 0 && at + 1 < text.len()),
            other => panic!("the pattern `{other}` is not known to the test"),
        }),
        other => panic!("`{other}` is not known to the test"),
    }
}

fn is_of(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    }
}

fn is_formatted(format: &str, text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    match format {
        "uri" => text.contains(':') && text.chars().all(allowed),
        // A relative reference has no colon in its first part (RFC 3986, 4.2).
        "uri-reference" => {
            text.chars().all(allowed)
                && (text.contains("://") || !text.split('/').next().unwrap_or_default().contains(':'))
        }
        "date-time" => text.contains('T'),
        other => panic!("the format `{other}` is not known to the test"),
    }
}

/// The JSON Schema of reports, derived from their types. Within `v1`, fields may be added, so that other fields are allowed; what
/// has no value is left out, and never null.
fn derived() -> String {
    let mut generator = SchemaSettings::draft07().for_serialize().into_generator();
    let reports = [generator.subschema_for::<Report>(), generator.subschema_for::<Reports>()];
    finished(json_schema!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Report of kubectl reconcile",
        "description": "The document that `diff`, `apply` and `status` print with `-o json` and `-o yaml`. Within `v1`, fields may be \
            added; none changes its meaning.",
        "oneOf": reports,
        "definitions": generator.take_definitions(true),
    }))
}

/// The JSON Schema of the document of `blame`.
fn derived_blame() -> String {
    let mut generator = SchemaSettings::draft07().for_serialize().into_generator();
    let object = generator.subschema_for::<BlamedObject>();
    finished(json_schema!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Owners of fields, of kubectl reconcile",
        "description": "The document that `blame` prints with `-o json`: objects, with the managers of their fields. Fields may be added; \
            none changes its meaning.",
        "type": "array",
        "items": object,
        "definitions": generator.take_definitions(true),
    }))
}

/// The JSON Schema of the report of `pull`.
fn derived_pull() -> String {
    let mut generator = SchemaSettings::draft07().for_serialize().into_generator();
    let report = generator.subschema_for::<PullReport>();
    finished(json_schema!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Report of kubectl reconcile pull",
        "description": "The document that `pull` prints with `-o json`. Within `v1`, fields may be added; none changes its meaning.",
        "allOf": [report],
        "definitions": generator.take_definitions(true),
    }))
}

/// The JSON Schema of a saved plan.
fn derived_plan() -> String {
    let mut generator = SchemaSettings::draft07().for_serialize().into_generator();
    let plan = generator.subschema_for::<SavedPlan>();
    finished(json_schema!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Saved plan of kubectl reconcile",
        "description": "The document that `diff --save-plan` writes and `apply --plan` reads. Within `v1`, fields may be added; none changes \
            its meaning.",
        "allOf": [plan],
        "definitions": generator.take_definitions(true),
    }))
}

fn finished(mut schema: Schema) -> String {
    RestrictFormats::default().transform(&mut schema);
    RecursiveTransform(open_and_never_null).transform(&mut schema);
    format!("{}\n", serde_json::to_string_pretty(&schema).unwrap())
}

fn open_and_never_null(schema: &mut Schema) {
    if schema.get("additionalProperties").is_some_and(|allowed| allowed == false) {
        schema.remove("additionalProperties");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        let only = types[0].clone();
        schema.insert("type".to_owned(), only);
    }
    if let Some(Value::Array(mut alternatives)) = schema.remove("anyOf") {
        alternatives.retain(|one| *one != json!({"type": "null"}));
        schema.insert("allOf".to_owned(), alternatives.into());
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("\n\n", "\0").replace('\n', " ").replace('\0', "\n\n");
    }
}

/// `UPDATE_SCHEMAS=1 cargo test -p reconcile-report schema` rewrites the file.
#[test]
fn the_schema_in_the_repository_is_derived_from_the_types() {
    let all = [("report", derived()), ("blame", derived_blame()), ("pull", derived_pull()), ("plan", derived_plan())];
    for (name, derived) in all {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../schemas/{name}.json"));
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            std::fs::write(&file, &derived).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            kept == derived,
            "schemas/{name}.json is out of date: run `UPDATE_SCHEMAS=1 cargo test -p reconcile-report schema`"
        );
    }
}

#[test]
fn each_class_of_the_schema_is_a_rule() {
    let classes = REPORT["definitions"]["Class"]["oneOf"].as_array().unwrap();
    assert!(classes.len() > 10);
    for class in classes {
        assert!(crate::words::findings::rules().any(|rule| class["const"] == rule.id), "{class}");
    }
}

#[test]
fn a_wrong_document_is_refused() {
    let mut document = serde_json::to_value(super::scenario::diff("plain")).unwrap();
    let schema = Validator { root: &REPORT, is_complete: true };
    assert_eq!(schema.check(&REPORT, &document), Ok(()));
    document["objects"][0]["acton"] = "create".into();
    assert!(schema.check(&REPORT, &document).is_err());
    document["objects"][0].as_object_mut().unwrap().remove("acton");
    document["verdict"] = "ok".into();
    assert!(schema.check(&REPORT, &document).is_err());
}

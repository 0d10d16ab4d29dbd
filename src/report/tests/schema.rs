//! Validates documents with a JSON Schema (draft 7): as much of it as the schemas use. A keyword that is not known here fails the
//! test, so that nothing passes unseen.

use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;

use crate::report::{FAIL_CLASSES, Verdict};

static REPORT: LazyLock<Value> = LazyLock::new(|| load("schemas/report.json"));
static SARIF: LazyLock<Value> = LazyLock::new(|| load("testdata/formats/sarif-schema-2.1.0.json"));

fn load(file: &str) -> Value {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The document of `-o json`. A field that the schema does not name fails the test as well: it has to be documented.
#[track_caller]
pub fn check_report(document: &Value) {
    let schema = Schema { root: &REPORT, is_complete: true };
    schema.check(&REPORT, document).unwrap_or_else(|problem| panic!("{problem}"));
}

/// A SARIF log. The schema of OASIS refuses unknown fields itself.
#[track_caller]
pub fn check_sarif(document: &Value) {
    let schema = Schema { root: &SARIF, is_complete: false };
    schema.check(&SARIF, document).unwrap_or_else(|problem| panic!("{problem}"));
    for result in document["runs"].as_array().unwrap().iter().flat_map(|run| run["results"].as_array().unwrap()) {
        let physical = &result["locations"][0]["physicalLocation"];
        let uri = physical["artifactLocation"]["uri"].as_str().unwrap_or_default();
        assert!(!uri.starts_with("./") && !uri.contains(' '), "{uri}");
        assert!(result["partialFingerprints"]["kubectlReconcile/v1"].is_string(), "{result}");
    }
}

struct Schema<'s> {
    root: &'s Value,
    /// Whether the properties that the schema names are all that there may be.
    is_complete: bool,
}

impl Schema<'_> {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
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
                        self.check(below, value).map_err(|problem| format!("{key}: {problem}"))?;
                    }
                    let known = with.as_object().unwrap();
                    !self.is_complete
                        || value.as_object().is_none_or(|map| map.keys().all(|key| known.contains_key(key)))
                }
                "additionalProperties" => self.additional(schema, with, value)?,
                "items" => {
                    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(with, item).map_err(|problem| format!("[{at}] {problem}"))?;
                    }
                    true
                }
                "anyOf" => with.as_array().unwrap().iter().any(|one| self.check(one, value).is_ok()),
                "oneOf" => {
                    let problems: Vec<String> =
                        with.as_array().unwrap().iter().filter_map(|one| self.check(one, value).err()).collect();
                    if problems.len() == with.as_array().unwrap().len() {
                        return Err(problems.join(" | "));
                    }
                    problems.len() + 1 == with.as_array().unwrap().len()
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

#[test]
fn the_schema_knows_all_words_of_the_report() {
    use Verdict::{Applied, Drift, InSync, Incomplete, Interrupted, Invalid, NotReady, Unreachable};
    let words = |pointer: &str| -> Vec<String> {
        let words = REPORT.pointer(pointer).and_then(Value::as_array).unwrap();
        words.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let written = |verdict: &Verdict| serde_json::to_value(verdict).unwrap().as_str().unwrap().to_owned();
    let verdicts = [InSync, Applied, Drift, NotReady, Unreachable, Incomplete, Invalid, Interrupted];
    assert_eq!(words("/definitions/verdict/enum"), verdicts.iter().map(written).collect::<Vec<_>>());
    let classes: Vec<&str> = FAIL_CLASSES.iter().map(|class| class.name()).collect();
    assert_eq!(words("/definitions/report/properties/failOn/items/enum"), classes);
    let classes = words("/definitions/change/properties/class/enum");
    assert!(
        crate::report::words::findings::rules().filter(|rule| classes.iter().any(|class| class == rule.id)).count()
            == classes.len()
    );
    // The reasons are those of the documentation.
    let documented = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/json.md")).unwrap();
    let reasons = words("/definitions/object/properties/error/properties/reason/enum");
    assert!(reasons.len() > 25);
    for reason in reasons {
        assert!(documented.contains(&format!("| `{reason}` |")), "{reason}");
    }
}

#[test]
fn a_wrong_document_is_refused() {
    let mut document = serde_json::to_value(super::scenario::diff("plain")).unwrap();
    let schema = Schema { root: &REPORT, is_complete: true };
    assert_eq!(schema.check(&REPORT, &document), Ok(()));
    document["objects"][0]["acton"] = "create".into();
    assert!(schema.check(&REPORT, &document).is_err());
    document["objects"][0].as_object_mut().unwrap().remove("acton");
    document["verdict"] = "ok".into();
    assert!(schema.check(&REPORT, &document).is_err());
}

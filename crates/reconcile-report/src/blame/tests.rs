use reconcile_core::blame::{Blame, InManifest, Step};
use reconcile_core::compare::Redactor;
use reconcile_core::text::width;
use serde_json::{Value, json};
use structured_merge::{GroupVersionKind, builtin, builtin_kind};

use super::*;
use crate::formats::json;
use crate::model::{EXIT_INCOMPLETE, EXIT_SUCCESS};
use crate::theme::plain;

fn live(value: &str, manager: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "labels": {"app": "web"}, "managedFields": [
            {"manager": manager, "operation": "Apply", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
             "fieldsV1": {"f:metadata": {"f:labels": {"f:app": {}}}, "f:spec": {"f:containers": {r#"k:{"name":"web"}"#:
                {".": {}, "f:name": {}, "f:image": {}, "f:args": {}}}}}},
            {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "subresource": "status", "fieldsType": "FieldsV1",
             "fieldsV1": {"f:metadata": {"f:labels": {"f:app": {}}}}},
        ]},
        "spec": {"containers": [{"name": "web", "image": value, "args": ["-v", "a\nb\n"]}], "hostAliases": []},
    })
}

fn blamed(live: &Value, manifest: Option<&Value>) -> BlamedObject {
    let gvk = GroupVersionKind::of(live);
    let kind = builtin_kind(&gvk);
    let schema = builtin().object(&gvk).unwrap();
    let fields = Blame { gvk: &gvk, kind, live, schema, manifest, is_encrypted: false, with_status: false }
        .fields(&Redactor::default());
    let key = ObjectKey { gvk, namespace: Some("shop".to_owned()), name: "web".to_owned() };
    BlamedObject::new(&key, Ok(fields))
}

#[test]
fn the_document_has_the_owners_at_the_left_and_several_below_each_other() {
    let text = plain(&text(&[blamed(&live("shop/web:1", "ci"), None)], &View::default()));
    let ci = "ci (Apply) 2026-01-01T00:00:00Z";
    let expected = [
        ("-", "apiVersion: v1"),
        ("-", "kind: Pod"),
        ("", "metadata:"),
        ("", "  labels:"),
        ("kubelet (status)", "    app: web"),
        (ci, ""),
        ("-", "  name: web"),
        ("", "spec:"),
        ("", "  containers:"),
        ("", "  - args:"),
        (ci, "    - \"-v\""),
        (ci, "    - |"),
        ("", "      a"),
        ("", "      b"),
        (ci, "    image: shop/web:1"),
        (ci, "    name: web"),
        ("-", "  hostAliases: []"),
    ];
    let expected: Vec<String> =
        expected.iter().map(|(owner, content)| format!("{owner:<33}{content}").trim_end().to_owned()).collect();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(lines, expected, "{text}");
}

#[test]
fn a_long_name_is_cut_rather_than_the_time() {
    let objects = [blamed(&live("shop/web:1", "configuration-management"), None)];
    let shown = |width: usize| plain(&text(&objects, &View { width, ..View::default() }));
    for line in ["configuration-management (Apply) 2026-01-01T00:00:00Z      - \"-v\"", "  containers:"] {
        assert!(shown(200).contains(line), "{}", shown(200));
    }
    assert!(shown(80).contains(" (Apply) 2026-01-01T00:00:00Z  "), "{}", shown(80));
    assert!(shown(80).lines().all(|line| width(line) <= 80), "{}", shown(80));
}

/// Without the columns at the left, the document is the object.
#[test]
fn the_document_is_the_live_object() {
    let mut object = live("shop/web:1", "ci");
    let view = View { full: true, ..View::default() };
    let mut kept = blamed(&object, None);
    kept.fields.iter_mut().for_each(|field| field.managers.clear());
    let text = plain(&text(&[kept], &view));
    let document: Vec<&str> = text.lines().map(|line| line.get(3..).unwrap_or_default()).collect();
    object["metadata"].as_object_mut().unwrap().remove("managedFields");
    assert_eq!(document.join("\n") + "\n", reconcile_core::text::yaml(&object));
}

#[test]
fn signs_say_what_the_manifest_has() {
    let manifest = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
        "spec": {"containers": [{"name": "web", "image": "shop/web:2"}]}});
    let text = plain(&text(&[blamed(&live("shop/web:1", "ci"), Some(&manifest))], &View::default()));
    for (sign, content) in [
        ('=', "kind: Pod"),
        ('=', "spec:"),
        ('~', "image: shop/web:1"),
        ('+', "labels:"),
        ('+', "app: web"),
        ('+', "- \"-v\""),
    ] {
        let line = text.lines().find(|line| line.ends_with(content)).unwrap_or_else(|| panic!("{content}: {text}"));
        assert!(line.starts_with(sign), "{line}");
    }
}

#[test]
fn one_manager_keeps_its_fields_and_their_parents() {
    let object = blamed(&live("shop/web:1", "ci"), None).of_owners(|owner| owner.manager.starts_with("kube"));
    let text = plain(&text(&[object], &View::default()));
    let contents: Vec<&str> = text.lines().map(|line| line.trim_start_matches("kubelet (status)").trim()).collect();
    assert_eq!(contents, ["metadata:", "labels:", "app: web", "ci (Apply) 2026-01-01T00:00:00Z"]);
}

#[test]
fn wide_values_and_names_fit_the_width_and_hostile_ones_are_visible() {
    for columns in [60, 100] {
        let hostile = live(&format!("\u{1b}[2J\u{202e}{}", "x".repeat(500)), &"m\u{1b}]0;x\u{7}".repeat(12));
        let view = View { width: columns, ..View::default() };
        let text = plain(&text(&[blamed(&hostile, None)], &view));
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
        let widest = text.lines().map(width).max().unwrap();
        assert!(widest <= columns, "{widest} of {columns}: {text}");
    }
}

#[test]
fn an_object_that_cannot_be_read_is_in_the_array_with_its_error() {
    let key = ObjectKey { gvk: GroupVersionKind::new("v1", "Pod"), namespace: None, name: "gone".to_owned() };
    let diagnostic = Diagnostic::general("it does not exist");
    let objects = [BlamedObject::new(&key, Err(&diagnostic)), blamed(&live("a", "b"), None)];
    assert_eq!(verdict(&objects).exit_code(false), EXIT_INCOMPLETE);
    assert_eq!(verdict(&objects[1..]).exit_code(false), EXIT_SUCCESS);
    let array: Value = serde_json::from_str(&json::document(&objects)).unwrap();
    crate::tests::schema::check_blame(&array);
    assert_eq!(array[0]["error"]["message"], "it does not exist");
    assert_eq!(array[0]["fields"], json!([]));
    let field =
        array[1]["fields"].as_array().unwrap().iter().find(|field| field["path"] == "metadata.labels.app").unwrap();
    assert_eq!(field["managers"][1]["manager"], "b");
    assert!(field.get("manifest").is_none() && field.get("steps").is_none(), "{field}");
    let [first, _] = objects;
    let named = serde_json::to_value(first.of_context("eu")).unwrap();
    assert_eq!(named["context"], "eu");
}

#[test]
fn steps_are_enough_for_nested_lists() {
    let field = |steps: Vec<Step>, value: Value| BlamedField {
        path: structured_merge::FieldPath::root(),
        value,
        managers: Vec::new(),
        manifest: Some(InManifest::Same),
        steps,
    };
    let (key, item) = (|name: &str| Step::Key(name.to_owned()), Step::Item);
    let fields = [
        field(vec![key("a"), item(0), item(0)], json!(1)),
        field(vec![key("a"), item(0), item(1)], json!({})),
        field(vec![key("a"), item(1), key("b"), item(0), key("c")], json!("x")),
    ];
    let text = plain(&lines(&fields, &View::default()));
    let contents: Vec<&str> = text.lines().map(|line| line.trim_start_matches("= ").trim_start_matches('-')).collect();
    assert_eq!(contents, ["   a:", "  - - 1", "    - {}", "   - b:", "    - c: x"]);
}

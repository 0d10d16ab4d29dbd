//! Checks the embedded new objects against the Go types.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use structured_merge::{GroupVersionKind, builtin_kind};

use crate::differential::Reference;

const EMBEDDED: &str = "src/schema/new_objects.json";

/// `UPDATE_TYPES=1 cargo test -p structured-merge --test it new_objects` rewrites the file.
#[test]
fn new_objects_are_those_of_the_go_types() {
    let mut reference = Reference::start(&test_control_plane::structured_merge());
    let mut lines = BTreeMap::new();
    for (api_version, kinds) in reference.new_objects().as_object().expect("objects by apiVersion") {
        for (kind, object) in kinds.as_object().expect("objects by kind") {
            let mut object = object.as_object().expect("an object").clone();
            object.remove("metadata");
            if builtin_kind(&GroupVersionKind::new(api_version, kind)).is_some() && !object.is_empty() {
                lines.insert(format!("{api_version}/{kind}"), Value::Object(object));
            }
        }
    }
    let lines: Vec<_> = lines.iter().map(|(name, object)| format!("  \"{name}\": {object}")).collect();
    let text = format!("{{\n{}\n}}\n", lines.join(",\n"));

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(EMBEDDED);
    if std::env::var_os("UPDATE_TYPES").is_some() {
        fs::write(&path, &text).expect("the file is written");
    }
    let embedded = fs::read_to_string(&path).expect("the file");
    assert!(
        text == embedded,
        "{EMBEDDED} is out of date: run `UPDATE_TYPES=1 cargo test -p structured-merge --test it new_objects`"
    );
}

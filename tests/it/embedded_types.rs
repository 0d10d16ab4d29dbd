//! The types of built-in kinds that the program carries are those of the API server that the tests run against.

use std::path::Path;

use serde_json::Value;
use structured_merge::{Origin, compile};

use crate::control_plane::{ControlPlane, is_before};

const EMBEDDED: &str = "crates/structured-merge/src/schema/builtin.json";

/// `UPDATE_TYPES=1 cargo test --test it embedded_types` rewrites the table.
#[test]
fn embedded_types_are_those_of_the_api_server() {
    if is_before(36, "the embedded types are those of the newest version") {
        return;
    }
    let plane = ControlPlane::shared();
    let get = |path: &str| plane.api().find(path).unwrap_or_else(|| panic!("{path} is served"));
    let index = get("/openapi/v3");
    let group_versions = index["paths"].as_object().expect("an index of documents");
    let documents: Vec<Value> = group_versions
        .iter()
        .filter(|(path, _)| is_built_in(path))
        .map(|(_, entry)| get(entry["serverRelativeURL"].as_str().expect("a URL")))
        .filter(|document| document.pointer("/components/schemas").is_some())
        .collect();
    let table = compile(&documents, Origin::BuiltIn).expect("a table of types").to_text();

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(EMBEDDED);
    if std::env::var_os("UPDATE_TYPES").is_some() {
        std::fs::write(&path, &table).expect("the table is written");
    }
    let embedded = std::fs::read_to_string(&path).expect("the table");
    assert!(table == embedded, "{EMBEDDED} is out of date: run `UPDATE_TYPES=1 cargo test --test it embedded_types`");
}

/// Custom resources of other tests may be there at the same time: their groups are made-up domains.
fn is_built_in(path: &str) -> bool {
    let group = path.strip_prefix("apis/").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    path == "api/v1" || path.starts_with("apis/") && (!group.contains('.') || group.ends_with(".k8s.io"))
}

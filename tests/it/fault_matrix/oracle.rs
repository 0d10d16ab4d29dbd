//! What has to hold after any run, whatever went wrong during it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::control_plane::{Request, Run, Workspace};

/// What each ConfigMap is to be: its `data.v`, or absent.
pub type Wanted = BTreeMap<String, Option<String>>;

/// What the server holds of them, asked directly.
pub fn held(ws: &Workspace) -> Wanted {
    let list = ws.plane().api().find(&format!("/api/v1/namespaces/{}/configmaps", ws.namespace())).expect("a list");
    let items = list["items"].as_array().expect("items").iter();
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    items.map(|item| (text(&item["metadata"]["name"]).expect("a name"), text(&item["data"]["v"]))).collect()
}

/// The run ended by itself, with an exit code that is documented and is that of its report, and without a panic.
#[track_caller]
pub fn ended_well(what: &str, run: &Run) {
    assert!([0, 1, 3, 4, 5].contains(&run.code), "{what}: {run}");
    assert!(!run.stderr.contains("panicked"), "{what}: {run}");
    let report = run.report.as_ref().unwrap_or_else(|| panic!("{what}: no report from {run}"));
    assert_eq!(report["exitCode"], run.code, "{what}: {run}");
    let verdict = report["verdict"].as_str().unwrap_or_default();
    let codes = match verdict {
        "inSync" | "ready" | "applied" => 0,
        "drift" => 1,
        "unreachable" => 3,
        "incomplete" => 4,
        "notReady" => 5,
        _ => -1,
    };
    assert_eq!(codes, run.code, "{what}: {verdict}: {run}");
    // Who reads the text alone has to learn that something is unknown.
    assert!(run.code < 3 || !(run.stdout.is_empty() && run.stderr.is_empty()), "{what}: {run}");
}

/// What the report says of each object is true by what the server holds now; a run that ends with 0 or 1 knows all of them.
#[track_caller]
pub fn is_truthful(what: &str, run: &Run, wanted: &Wanted, held: &Wanted) {
    let mut is_complete = true;
    for (name, wanted) in wanted {
        let is_it = |object: &&Value| object["kind"] == "ConfigMap" && object["name"] == name.as_str();
        let Some(object) = run.objects().iter().find(is_it) else {
            // What is to be absent and is absent need not be mentioned.
            let is_settled = wanted.is_none() && !held.contains_key(name);
            assert!(run.code == 3 || run.code == 4 || is_settled, "{what}: {name} is not reported: {run}");
            continue;
        };
        let is_right =
            held.get(name).and_then(Option::as_ref) == wanted.as_ref() && held.contains_key(name) == wanted.is_some();
        let action = object["action"].as_str().unwrap_or_default();
        let outcome = object["outcome"].as_str();
        let says_right = match outcome {
            Some("created" | "updated" | "adopted" | "replaced" | "deleted" | "unchanged") => Some(true),
            Some("failed" | "skipped" | "terminating" | "conflict") => None,
            Some(other) => panic!("{what}: {name}: outcome {other}"),
            None if action == "none" => Some(true),
            None if action == "unknown" => None,
            None => Some(false),
        };
        let Some(says_right) = says_right else {
            is_complete = false;
            let why = [&object["error"]["message"], &object["skipped"]["reason"], &object["reason"]];
            assert!(why.iter().any(|text| text.as_str().is_some_and(|text| !text.is_empty())), "{what}: {object}");
            continue;
        };
        assert_eq!(says_right, is_right, "{what}: {name} is {object}: {run}");
    }
    assert!(is_complete || run.code >= 3, "{what}: something is unknown: {run}");
    if run.code == 0 {
        assert!(
            wanted.iter().all(|(name, value)| held.get(name).is_some() == value.is_some()),
            "{what}: {held:?}: {run}"
        );
    }
}

/// Nothing was written twice, by the server's own audit log, and no write is missing in the report.
#[track_caller]
pub fn wrote_once(what: &str, run: &Run, requests: &[Request]) {
    let writes: Vec<&Request> = requests.iter().filter(|request| request.is_write()).collect();
    let mut done: BTreeMap<(&str, &str), Vec<u64>> = BTreeMap::new();
    for write in writes.iter().filter(|write| (200..300).contains(&write.code)) {
        done.entry((&write.verb, &write.uri)).or_default().push(write.code);
    }
    for ((verb, uri), codes) in done {
        // Each creation has the same address.
        if verb == "create" || !uri.contains("configmaps/") {
            continue;
        }
        // An apply for what is new, the only one without a lock on a version, finds what it left when its answer was lost.
        let is_one = codes.len() == 1 || uri.contains("force=false") && codes[1..].iter().all(|code| *code == 200);
        assert!(is_one, "{what}: {verb} {uri} was done {codes:?}: {run}");
    }
    let reported = run.writes();
    assert!(
        reported >= writes.len() as u64,
        "{what}: {reported} writes are reported, and the server saw {}: {run}",
        writes.len()
    );
}

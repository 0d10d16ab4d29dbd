//! Redirects of an API server and of manifests: where the program goes, and what it says.

use serde_json::json;

use crate::control_plane::Workspace;
use crate::control_plane::scripted::{Act, Seen, answer};
use crate::inputs::{config_map, messages, names};
use crate::odd_servers::{Odd, body, legacy, path};

fn redirect(to: &str) -> Act {
    answer("307 Temporary Redirect", &[&format!("location: {to}")], "")
}

/// A server that must not be asked.
fn other() -> Odd {
    Odd::new(|_| Some(body(&json!({}))))
}

#[test]
fn a_server_that_redirects_everything_cannot_be_used() {
    let ws = Workspace::new();
    ws.write("a.yaml", &config_map("a"));
    let other = other();
    let to = other.url();
    let odd = Odd::new(move |seen| Some(redirect(&format!("{to}{}", path(seen)))));
    for command in ["diff", "apply", "status"] {
        let run = ws.through(&odd.url()).reconcile([command, "-f", "a.yaml"]).exits_with(3);
        assert!(run.stderr.contains("is not followed") && run.stderr.contains(&other.url()), "{run}");
    }
    assert_eq!(other.asked(""), [""; 0]);
}

#[test]
fn a_redirected_read_or_write_fails_for_its_object() {
    let ws = Workspace::new();
    ws.write("a.yaml", &config_map("a"));
    let other = other();
    for redirects in [|seen: &Seen| seen.line.starts_with("PATCH"), |seen: &Seen| seen.line.contains("configmaps")] {
        let to = other.url();
        let odd = Odd::new(move |seen| match path(seen) {
            _ if redirects(seen) => Some(redirect(&format!("{to}{}", path(seen)))),
            path if path.contains("/configmaps") => None,
            path => legacy(path, 1).as_ref().map(body),
        });
        let run = ws.through(&odd.url()).reconcile(["apply", "-f", "a.yaml"]).exits_with(4);
        let error = &run.object("ConfigMap", "a")["error"]["message"];
        assert!(error.as_str().unwrap().contains("is not followed"), "{run}");
    }
    assert_eq!(other.asked(""), [""; 0]);
}

#[test]
fn a_manifest_is_fetched_from_where_its_server_redirects_to() {
    let ws = Workspace::new();
    let manifest = config_map("a");
    let there = Odd::new(move |_| Some(answer("200 OK", &[], &manifest)));
    let to = there.url();
    let odd = Odd::new(move |_| Some(redirect(&format!("{to}/a.yaml"))));
    let run = ws.reconcile(["diff", "-f", &format!("{}/it.yaml", odd.url())]).exits_with(1);
    assert_eq!(names(&run), ["a"]);
    let loops = Odd::new(|seen| Some(redirect(path(seen))));
    let url = format!("{}/it.yaml", loops.url());
    let run = ws.reconcile(["diff", "-f", &url]).exits_with(2);
    assert_eq!(messages(&run), [format!("{url}: cannot be read: it redirects more than 10 times")]);
    assert_eq!(loops.asked("").len(), 11);
}

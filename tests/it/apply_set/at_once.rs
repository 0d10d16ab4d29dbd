//! Somebody else changes the set while a run is under way.

use std::sync::Arc;

use serde_json::json;

use super::{PART_OF, ROLE, applied, label, lists, record, remove, run, run_allowed, through};
use crate::control_plane::{Fault, Proxy, Replaced, Run, Workspace};

#[test]
fn a_list_that_somebody_else_makes_longer_meanwhile_stays_as_long() {
    let ws = Arc::new(applied());
    remove(&ws, "b");
    ws.write("role.yaml", "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: []}");
    run(&ws, "apply").exits_with(0);
    remove(&ws, "role");
    let proxy = Proxy::new(&ws);
    let other = Arc::clone(&ws);
    // Another run lists a kind that it is about to add members of.
    let list = json!({"metadata": {"annotations": {"applyset.kubernetes.io/contains-group-kinds": "ConfigMap,Role.rbac.authorization.k8s.io,Service"}}});
    let event = move || other.patch_as("kubectl-reconcile-applyset", "secret/set", &list);
    proxy.inject(1, "DELETE", "roles/r", Fault::After(Arc::new(event)));
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", ".", "--prune", "--applyset=set"]).exits_with(0);
    assert!(apply.stderr.contains("somebody else changed the apply set"), "{apply}");
    lists(&ws, "ConfigMap,Role.rbac.authorization.k8s.io,Service", "");

    // Somebody who changes something else is no hindrance.
    let other = Arc::clone(&ws);
    let event = move || other.patch_as("gitops", "secret/set", &json!({"metadata": {"labels": {"seen": "yes"}}}));
    proxy.inject(1, "PATCH", "secrets/set", Fault::After(Arc::new(event)));
    ws.through(&proxy.url()).reconcile(["apply", "-f", ".", "--prune", "--applyset=set"]).exits_with(0);
    lists(&ws, "ConfigMap", "");
    assert_eq!(record(&ws)[2], format!("kubectl-reconcile/v{}", env!("CARGO_PKG_VERSION")));
}

/// A workspace with two ConfigMaps and the Role `r` in the set `set`.
fn with_role() -> Arc<Workspace> {
    let ws = applied();
    ws.write("role.yaml", ROLE);
    run(&ws, "apply").exits_with(0);
    Arc::new(ws)
}

/// An apply, and what happens after one of its requests.
fn apply_while(
    ws: &Arc<Workspace>,
    method: &str,
    path: &str,
    event: impl Fn(&Workspace) + Send + Sync + 'static,
) -> Run {
    let proxy = Proxy::new(ws);
    let other = Arc::clone(ws);
    proxy.inject(1, method, path, Fault::After(Arc::new(move || event(&other))));
    let apply = through(ws, &proxy, "apply");
    assert_eq!(proxy.clear(), [""; 0], "{apply}");
    apply
}

/// The other run saw the old list, which has the kind of its new member.
#[test]
fn a_member_that_another_run_adds_while_its_kind_leaves_the_list_is_listed() {
    let ws = with_role();
    remove(&ws, "role");
    let id = label(&ws.get("ConfigMap", "a")).as_str().unwrap().to_owned();
    let late = ROLE.replaced("name: r}", &format!("name: late, labels: {{{PART_OF}: {id}}}}}"));
    apply_while(&ws, "DELETE", "roles/r", move |ws| ws.apply_as("kubectl-reconcile", &late)).exits_with(0);
    assert!(ws.find("Role", "late").is_some());
    lists(&ws, "ConfigMap,Role.rbac.authorization.k8s.io", "");
    // The next run finds it.
    run(&ws, "apply").exits_with(0);
    assert_eq!(ws.find("Role", "late"), None);
    lists(&ws, "ConfigMap", "");
}

/// The kind of the new member is new to this run, and its namespace leaves the list.
#[test]
fn a_member_that_another_run_adds_while_its_namespace_leaves_the_list_is_listed() {
    let ws = applied();
    let other = ws.fill_in("$NS-other");
    ws.kubectl(["create", "namespace", &other]).exits_with(0);
    let id = label(&ws.get("ConfigMap", "a")).as_str().unwrap().to_owned();
    let object = |kind: &str, metadata: &str| format!("{{apiVersion: v1, kind: {kind}, metadata: {{{metadata}}}}}");
    ws.write("old.yaml", &object("ConfigMap", &format!("name: old, namespace: {other}")));
    run(&ws, "apply").exits_with(0);
    lists(&ws, "ConfigMap", &other);
    remove(&ws, "old");
    ws.write("account.yaml", &object("ServiceAccount", "name: new"));
    let late = object("ServiceAccount", &format!("name: late, namespace: {other}, labels: {{{PART_OF}: {id}}}"));
    let ws = Arc::new(ws);
    apply_while(&ws, "DELETE", "configmaps/old", move |ws| ws.apply_as("kubectl-reconcile", &late)).exits_with(0);
    lists(&ws, "ConfigMap,ServiceAccount", &other);
    run_allowed(&ws, "apply").exits_with(0);
    lists(&ws, "ConfigMap,ServiceAccount", "");
    ws.kubectl(["get", "serviceaccount", "late", "-n", &other]).exits_with(1);
}

/// The other run took the kind off the list before it could see the new member.
#[test]
fn a_new_member_is_listed_although_another_run_takes_its_kind_off_the_list() {
    let ws = with_role();
    for (name, code) in [("new", 0), ("newer", 4)] {
        ws.write(format!("{name}.yaml"), &ROLE.replaced("name: r", &format!("name: {name}")));
        if code != 0 {
            ws.write("invalid.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: Invalid}}");
        }
        let list = json!({"metadata": {"annotations": {"applyset.kubernetes.io/contains-group-kinds": "ConfigMap"}}});
        let event = move |ws: &Workspace| ws.patch_as("kubectl-reconcile-applyset", "secret/set", &list);
        apply_while(&ws, "PATCH", "roles/ !dryRun", event).exits_with(code);
        assert!(ws.find("Role", name).is_some());
        lists(&ws, "ConfigMap,Role.rbac.authorization.k8s.io", "");
    }
}

//! kubectl and we, on the same sets.

use super::{PART_OF, applied, config_map, lists, record, remove, run};
use crate::control_plane::{Run, Workspace};

/// `kubectl apply` with the set `set`.
fn kubectl(ws: &Workspace) -> Run {
    let flags = ["apply", "--server-side", "-f", ".", "-n", "$NS", "--prune", "--applyset=set"];
    ws.env("KUBECTL_APPLYSET", "true").kubectl(flags)
}

fn adopting(ws: &Workspace, command: &str) -> Run {
    ws.reconcile([command, "-f", ".", "--prune", "--applyset=set", "--adopt=kubectl"])
}

#[test]
fn a_set_of_kubectl_is_refused_unless_it_is_to_be_continued() {
    let ws = Workspace::new();
    config_map(&ws, "a");
    config_map(&ws, "b");
    kubectl(&ws).exits_with(0);
    remove(&ws, "b");
    for command in ["diff", "apply"] {
        let refused = run(&ws, command).exits_with(2);
        assert!(
            refused.stderr.contains("is managed by `kubectl`") && refused.stderr.contains("--adopt=kubectl"),
            "{refused}"
        );
    }
    assert!(ws.find("ConfigMap", "b").is_some());

    let diff = adopting(&ws, "diff").exits_with(1);
    assert_eq!(diff.object("ConfigMap", "b")["action"], "delete");
    assert_eq!(diff.object("ConfigMap", "a")["action"], "none");
    adopting(&ws, "apply").exits_with(0);
    assert_eq!(ws.find("ConfigMap", "b"), None);
    assert_eq!(adopting(&ws, "apply").exits_with(0).writes(), 0);
}

#[test]
fn kubectl_goes_on_where_we_continued_and_we_go_on_after_it() {
    let ws = Workspace::new();
    config_map(&ws, "a");
    config_map(&ws, "b");
    kubectl(&ws).exits_with(0);
    let tooling = record(&ws)[2].clone();
    assert!(tooling.as_str().unwrap().starts_with("kubectl/v"), "{tooling}");

    // We add a kind and drop a member.
    remove(&ws, "b");
    ws.write("role.yaml", "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: []}");
    adopting(&ws, "apply").exits_with(0);
    lists(&ws, "ConfigMap,Role.rbac.authorization.k8s.io", "");
    assert_eq!(record(&ws)[2], tooling, "the set stays kubectl's");
    let managers = |ws: &Workspace| {
        let entries = ws.get("Secret", "set")["metadata"]["managedFields"].clone();
        entries.as_array().unwrap().iter().map(|entry| entry["manager"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(managers(&ws), ["kubectl-applyset"]);

    // kubectl finds nothing odd, and prunes what we added.
    remove(&ws, "role");
    config_map(&ws, "c");
    let by_kubectl = kubectl(&ws).exits_with(0);
    assert_eq!(by_kubectl.stderr, "", "no conflict with fields of ours");
    assert!(by_kubectl.stdout.contains("role.rbac.authorization.k8s.io/r pruned"), "{by_kubectl}");
    assert_eq!(ws.find("Role", "r"), None);
    lists(&ws, "ConfigMap", "");

    // And we prune what kubectl added.
    remove(&ws, "c");
    let apply = adopting(&ws, "apply").exits_with(0);
    assert_eq!(apply.object("ConfigMap", "c")["outcome"], "deleted");
    let again = kubectl(&ws).exits_with(0);
    assert!(!again.stdout.contains("pruned"), "{again}");
    // Its claims pass to us once more, and then nothing is left to do.
    adopting(&ws, "apply").exits_with(0);
    assert_eq!(adopting(&ws, "apply").exits_with(0).writes(), 0);
}

#[test]
fn kubectl_refuses_a_set_of_ours() {
    let ws = applied();
    let refused = kubectl(&ws);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("kubectl-reconcile"), "{refused}");
}

#[test]
fn a_list_of_resources_as_kubectl_once_wrote_it_is_read_and_replaced() {
    let ws = applied();
    let name = "applyset.kubernetes.io/contains-group";
    ws.kubectl(["annotate", "secret", "set", &format!("{name}-kinds-"), &format!("{name}-resources=configmaps")])
        .exits_with(0);
    remove(&ws, "b");
    let diff = run(&ws, "diff").exits_with(1);
    assert_eq!(diff.object("ConfigMap", "b")["action"], "delete");
    run(&ws, "apply").exits_with(0);
    lists(&ws, "ConfigMap", "");
    assert_eq!(run(&ws, "apply").exits_with(0).writes(), 0);
}

#[test]
fn members_that_client_side_apply_made_are_pruned_too() {
    let ws = Workspace::new();
    config_map(&ws, "a");
    config_map(&ws, "b");
    let flags = ["apply", "-f", ".", "-n", "$NS", "--prune", "--applyset=set"];
    ws.env("KUBECTL_APPLYSET", "true").kubectl(flags).exits_with(0);
    assert!(ws.get("ConfigMap", "b")["metadata"]["labels"][PART_OF].is_string());
    remove(&ws, "b");
    let apply = adopting(&ws, "apply").exits_with(0);
    assert_eq!(apply.object("ConfigMap", "b")["outcome"], "deleted");
    adopting(&ws, "diff").exits_with(0);
}

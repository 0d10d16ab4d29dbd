//! One pass from nothing to in sync, and nothing to do after it.

use crate::control_plane::{Replaced, Request, Workspace};
use crate::manifests::{SHOP, WEB};

#[test]
fn a_fresh_namespace_is_in_sync_after_one_pass_and_a_second_pass_writes_nothing() {
    let ws = Workspace::new();
    ws.write("shop.yaml", SHOP);
    ws.write("web.yaml", WEB);
    let before = ws.all_resource_versions();
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert!(diff.each("action").iter().all(|action| action.ends_with(": create")), "{diff}");
    assert_eq!(ws.all_resource_versions(), before, "a diff creates nothing");

    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert!(apply.each("outcome").iter().all(|outcome| outcome.ends_with(": created")), "{apply}");
    assert_eq!(apply.report()["verdict"], "applied");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert!(diff.each("action").iter().all(|action| action.ends_with(": none")), "{diff}");
    assert_eq!(diff.report()["verdict"], "inSync");

    let before = ws.all_resource_versions();
    let (apply, requests) = ws.requests_during(|| ws.reconcile(["apply", "-f", "."]).exits_with(0));
    assert_eq!(apply.writes(), 0, "{apply}");
    assert!(!requests.iter().any(Request::is_write), "{requests:#?}");
    assert!(apply.each("outcome").iter().all(|outcome| outcome.ends_with(": unchanged")), "{apply}");
    assert_eq!(ws.all_resource_versions(), before);
}

#[test]
fn kubectl_agrees_that_nothing_is_left_to_do() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.write("shop.yaml", SHOP);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let manager = "--field-manager=kubectl-reconcile";
    ws.kubectl(["diff", "--server-side", manager, "-f", "."]).exits_with(0);
}

#[test]
fn looking_never_writes() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.write("shop.yaml", SHOP);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 5);
    ws.delete("configmap/settings");
    ws.kubectl(["label", "deployment/web", "tier=back", "--overwrite"]).exits_with(0);
    let before = ws.all_resource_versions();
    for command in [
        &["diff"][..],
        &["diff", "--show-unmanaged"],
        &["diff", "--force-conflicts"],
        &["apply", "--dry-run"],
        &["apply", "--dry-run=server"],
        &["apply", "--dry-run=client"],
    ] {
        let command = [command, &["-f", "."]].concat();
        let (run, requests) = ws.requests_during(|| ws.reconcile(&command).exits_with(1));
        assert!(!requests.iter().any(Request::is_write), "{requests:#?}");
        let asks_nothing = command.contains(&"--dry-run=client");
        assert_eq!(requests.iter().any(Request::is_dry_run), !asks_nothing, "{requests:#?}");
        assert_eq!(run.writes(), 0, "{run}");
        assert_eq!(ws.all_resource_versions(), before, "{run}");
    }
    let (_, requests) = ws.requests_during(|| ws.reconcile(["snapshot", "-f", "."]).exits_with(0));
    assert!(!requests.iter().any(Request::is_write), "{requests:#?}");
}

#[test]
fn diff_with_apply_is_apply() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    let run = ws.reconcile(["diff", "--apply", "-f", "web.yaml"]).exits_with(0);
    assert_eq!(run.report()["command"], "apply");
    assert_eq!(run.each("outcome"), ["Deployment web: created"]);
    let again = ws.reconcile(["diff", "--apply", "-f", "web.yaml"]).exits_with(0);
    assert_eq!((again.writes(), again.each("outcome")), (0, vec!["Deployment web: unchanged".to_owned()]));
}

#[test]
fn only_what_differs_is_written() {
    let ws = Workspace::new();
    ws.write("shop.yaml", SHOP);
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let before = ws.all_resource_versions();
    ws.write("web.yaml", &WEB.replaced("shop/web:1.2", "shop/web:1.3"));
    let (apply, requests) = ws.requests_during(|| ws.reconcile(["apply", "-f", "."]).exits_with(0));
    let writes: Vec<_> = requests.iter().filter(|request| request.is_write()).map(|r| r.uri.clone()).collect();
    assert_eq!(writes.len(), 1, "{writes:#?}");
    assert!(writes[0].contains("/deployments/web"), "{writes:#?}");
    assert_eq!(apply.writes(), 1);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "updated");
    let after = ws.all_resource_versions();
    let moved: Vec<_> = after.iter().filter(|(name, version)| before.get(*name) != Some(version)).collect();
    assert_eq!(moved.len(), 1, "{moved:?}");
}

#[test]
fn the_counts_of_requests_are_those_of_the_server() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.write("shop.yaml", SHOP);
    for (command, code) in [("diff", 1), ("apply", 0), ("diff", 0), ("apply", 0)] {
        let (run, mut requests) = ws.requests_during(|| ws.reconcile([command, "-f", "."]).exits_with(code));
        // The server asks itself about quotas and the like.
        requests.retain(|request| !request.user.starts_with("system:"));
        let counted = &run.report()["requests"];
        let seen = |test: &dyn Fn(&Request) -> bool| {
            u64::try_from(requests.iter().filter(|request| test(request)).count()).unwrap()
        };
        assert_eq!(counted["write"], seen(&|request| request.is_write()), "{run}");
        assert_eq!(counted["dryRun"], seen(&|request| request.is_dry_run()), "{run}");
        // Autoscalers count as `other`, as a run is not about them.
        let is_list = |request: &Request| {
            let uri = &request.uri;
            request.verb == "list" && uri.contains(ws.namespace()) && !uri.contains("horizontalpodautoscalers")
        };
        assert_eq!(counted["list"], seen(&is_list), "{run}");
        let kinds = ["get", "list", "dryRun", "write", "other"];
        let all: u64 = kinds.iter().filter_map(|kind| counted[kind].as_u64()).sum();
        assert_eq!(all, u64::try_from(requests.len()).unwrap(), "{run}{requests:#?}");
    }
}

#[test]
fn a_selector_picks_manifests() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.write("shop.yaml", SHOP);
    let apply = ws.reconcile(["apply", "-f", ".", "-l", "tier=front"]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["Deployment web: created"]);
    assert_eq!(ws.find("ConfigMap", "settings"), None);
    ws.reconcile(["diff", "-f", ".", "-l", "tier=back"]).exits_with(2);
    ws.reconcile(["diff", "-f", ".", "-l", "tier=back", "--allow-empty"]).exits_with(0);
}

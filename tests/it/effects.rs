//! Effects of an apply beyond the fields that it writes: what is said before, and what real controllers do then.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Replaced, Rng, Run, Workspace, is_before, wait_until};

/// The kind, the number of Pods and the words of each effect of an object.
#[track_caller]
fn effects(run: &Run, kind: &str, name: &str) -> Vec<String> {
    let effects = run.object(kind, name)["effects"].as_array().cloned().unwrap_or_default();
    let text = |effect: &Value| {
        let pods = effect["pods"].as_u64().map(|pods| format!(" {pods}")).unwrap_or_default();
        format!("{}{pods}: {}", effect["kind"].as_str().unwrap(), effect["message"].as_str().unwrap())
    };
    effects.iter().map(text).collect()
}

/// A workload with a template of labels `app`, and `more` in its specification.
fn workload(kind: &str, name: &str, replicas: Option<u64>, image: &str, more: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "it", "image": image}], "terminationGracePeriodSeconds": 1}
            }
        }
    });
    let spec = object["spec"].as_object_mut().unwrap();
    spec.extend(replicas.map(|count| ("replicas".to_owned(), json!(count))));
    spec.extend(more.as_object().cloned().unwrap_or_default());
    object
}

/// The Pods of a workload that are not being deleted, by uid; `None` while some are.
fn uids(ws: &Workspace, app: &str) -> Option<BTreeSet<String>> {
    let run = ws.kubectl(["get", "pods", "-l", &format!("app={app}"), "-o", "json"]).exits_with(0);
    let list: Value = serde_json::from_str(&run.stdout).unwrap();
    let pods = list["items"].as_array().unwrap();
    let is_going = |pod: &Value| pod["metadata"].get("deletionTimestamp").is_some();
    let uid = |pod: &Value| pod["metadata"]["uid"].as_str().unwrap().to_owned();
    (!pods.iter().any(is_going)).then(|| pods.iter().map(uid).collect())
}

/// The Pods of a workload once it has this many, and its controller has done everything that its specification says.
fn settled(ws: &Workspace, kind: &str, name: &str, expected: Option<u64>) -> BTreeSet<String> {
    let found = std::cell::RefCell::new(BTreeSet::new());
    wait_until("the controllers are done", || {
        let live = ws.get(kind, name);
        let (spec, status) = (&live["spec"], &live["status"]);
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let expected = expected.unwrap_or_else(|| number(&status["desiredNumberScheduled"]));
        let partition = number(&spec["updateStrategy"]["rollingUpdate"]["partition"]);
        let is_held = spec["paused"] == true || spec["updateStrategy"]["type"] == "OnDelete";
        let updated = number(&status["updatedReplicas"]).max(number(&status["updatedNumberScheduled"]));
        let is_done = status["observedGeneration"] == live["metadata"]["generation"]
            && (is_held || updated >= expected.saturating_sub(partition));
        let pods = uids(ws, name).filter(|pods| is_done && pods.len() as u64 == expected);
        pods.map(|pods| found.replace(pods)).is_some()
    });
    found.into_inner()
}

/// A workload of the test, as it is in the manifests.
#[derive(Clone)]
struct Wanted {
    kind: &'static str,
    name: &'static str,
    replicas: Option<u64>,
    version: usize,
    label: usize,
    more: Value,
}

impl Wanted {
    fn manifest(&self) -> Value {
        let image = format!("shop/it:{}", self.version);
        let mut object = workload(self.kind, self.name, self.replicas, &image, &self.more);
        object["metadata"]["labels"] = json!({"round": self.label.to_string()});
        object
    }

    fn has_rollout(&self) -> bool {
        let strategy = &self.more["updateStrategy"]["type"];
        self.more["paused"] != true && strategy != "OnDelete"
    }
}

/// Random changes: the Pods that were said to restart or to stop are those whose uids are gone afterwards.
#[test]
fn pods_that_are_said_to_restart_are_those_that_do() {
    let ws = Workspace::on(&ControlPlane::full());
    let rounds = std::env::var("EFFECT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(6);
    let mut rng = Rng::new(17);
    let one = |kind, name, replicas, more: Value| Wanted { kind, name, replicas, version: 0, label: 0, more };
    let mut all = vec![
        one("Deployment", "rolling", Some(3), json!({})),
        one("Deployment", "at-once", Some(2), json!({"strategy": {"type": "Recreate"}})),
        one("Deployment", "paused", Some(2), json!({})),
        one("StatefulSet", "ordered", Some(3), json!({"serviceName": "ordered"})),
        one("StatefulSet", "canary", Some(3), json!({"updateStrategy": {"rollingUpdate": {"partition": 2}}})),
        one("StatefulSet", "by-hand", Some(2), json!({"updateStrategy": {"type": "OnDelete"}})),
        one("DaemonSet", "agent", None, json!({})),
    ];
    let write = |all: &[Wanted]| {
        let items: Vec<Value> = all.iter().map(Wanted::manifest).collect();
        ws.write("all.json", &json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string());
    };
    write(&all);
    ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(0);
    // One that is paused from the start has no Pods.
    all[2].more = json!({"paused": true});
    write(&all);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let (mut restarted, mut stopped) = (0, 0);
    for round in 1..=rounds {
        let before: Vec<BTreeSet<String>> =
            all.iter().map(|one| settled(&ws, one.kind, one.name, one.replicas)).collect();
        for one in &mut all {
            match rng.below(5) {
                0 | 1 => one.version = round,
                2 => one.label = round,
                _ => {}
            }
            if let (Some(replicas), true) = (&mut one.replicas, rng.chance(40)) {
                *replicas = rng.below(4) as u64;
            }
        }
        write(&all);
        let diff = ws.reconcile(["diff", "-f", ".", "--exit-zero"]).exits_with(0);
        let applied = ws.reconcile(["apply", "-f", "."]).exits_with(0);
        for (one, before) in all.iter().zip(&before) {
            let effects = diff.object(one.kind, one.name)["effects"].as_array().cloned().unwrap_or_default();
            let shown = applied.object(one.kind, one.name)["effects"].as_array().cloned().unwrap_or_default();
            assert_eq!(effects, shown, "{diff}\n{applied}");
            let pods = |kinds: &[&str]| -> u64 {
                let is_it = |effect: &&Value| kinds.iter().any(|kind| effect["kind"] == *kind);
                effects.iter().filter(is_it).filter_map(|effect| effect["pods"].as_u64()).sum()
            };
            let restarts = pods(&["rollout", "recreate"]);
            let is_stop =
                |effect: &&Value| effect["kind"] == "scale" && effect["message"].as_str().unwrap().contains(" stop");
            let stops: u64 = effects.iter().filter(is_stop).filter_map(|effect| effect["pods"].as_u64()).sum();
            let after = settled(&ws, one.kind, one.name, one.replicas);
            let expected = restarts + stops;
            let gone = before.difference(&after).count() as u64;
            assert_eq!(gone, expected, "round {round}: {} {}: {effects:?}\n{diff}", one.kind, one.name);
            assert!(one.has_rollout() || restarts == 0, "{effects:?}");
            restarted += restarts;
            stopped += stops;
        }
    }
    assert!(restarted > 0 && stopped > 0);
}

/// The files of `testdata` with workloads that roll out.
const WITH_WORKLOADS: [&str; 14] = [
    "docs/deploy/web.yaml",
    "helm/certs-1.4.0.yaml",
    "helm/pay-2.4.0.yaml",
    "helm/store-19.6.4.yaml",
    "installs/flat/apps.yaml",
    "installs/flat/shared.yaml",
    "installs/monitoring/exporters.yaml",
    "installs/monitoring/grafana.yaml",
    "installs/monitoring/prometheus.yaml",
    "installs/operator/operator.yaml",
    "installs/shop/redis.yaml",
    "installs/shop/services.yaml",
    "kinds/apps.yaml",
    "shop/orders.yaml",
];

/// The workloads of `testdata`, without what keeps their Pods from starting here: names of accounts, classes, volumes and nodes.
fn real_workloads(ws: &Workspace) -> Vec<Value> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut found = Vec::new();
    for file in WITH_WORKLOADS {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let text = text.replace("$NAME", "shop").replace("$NS", "shop").replace("$I", "1");
        let read = ["create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-"];
        let printed = ws.stdin(&text).kubectl(read);
        for object in serde_json::Deserializer::from_str(&printed.stdout).into_iter::<Value>() {
            let object = object.unwrap();
            let items = object["items"].as_array().cloned().unwrap_or_else(|| vec![object]);
            let rolls =
                |item: &Value| ["Deployment", "StatefulSet", "DaemonSet"].iter().any(|kind| item["kind"] == *kind);
            found.extend(items.into_iter().filter(rolls));
        }
    }
    for (number, workload) in found.iter_mut().enumerate() {
        let name = format!("w{number}");
        workload["metadata"] = json!({"name": name});
        let spec = &mut workload["spec"];
        spec["selector"] = json!({"matchLabels": {"app": name}});
        spec["template"]["metadata"] = json!({"labels": {"app": name}});
        spec.as_object_mut().unwrap().remove("volumeClaimTemplates");
        let pod = spec["template"]["spec"].as_object_mut().unwrap();
        for field in ["serviceAccountName", "serviceAccount", "priorityClassName", "nodeSelector", "affinity"] {
            pod.remove(field);
        }
        pod.retain(|field, _| !["hostNetwork", "volumes", "topologySpreadConstraints"].contains(&field.as_str()));
        pod.insert("terminationGracePeriodSeconds".to_owned(), json!(1));
        for list in ["containers", "initContainers"] {
            for container in pod.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                let container = container.as_object_mut().unwrap();
                container.retain(|field, _| ["name", "image", "command", "args", "env"].contains(&field.as_str()));
            }
        }
    }
    found
}

/// A change of the image of each workload of `testdata`, as a release is: the Pods that were said to restart are gone afterwards.
#[test]
fn a_release_of_all_workloads_restarts_the_pods_that_were_named() {
    let ws = Workspace::on(&ControlPlane::full());
    let mut all = real_workloads(&ws);
    let write = |all: &[Value]| {
        ws.write("all.json", &json!({"apiVersion": "v1", "kind": "List", "items": all}).to_string());
    };
    let settled = |workload: &Value| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (kind, name) = (text(&workload["kind"]), text(&workload["metadata"]["name"]));
        let replicas = (kind != "DaemonSet").then(|| workload["spec"]["replicas"].as_u64().unwrap_or(1));
        self::settled(&ws, &kind, &name, replicas)
    };
    write(&all);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let before: Vec<BTreeSet<String>> = all.iter().map(settled).collect();
    for (number, workload) in all.iter_mut().enumerate() {
        if number % 5 == 4 {
            workload["metadata"]["labels"] = json!({"round": "2"});
        } else {
            workload["spec"]["template"]["spec"]["containers"][0]["image"] = json!("shop/next:2");
        }
    }
    write(&all);
    let diff = ws.reconcile(["diff", "-f", ".", "--exit-zero"]).exits_with(0);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let mut restarted = 0;
    for (workload, before) in all.iter().zip(&before) {
        let object = diff.object(workload["kind"].as_str().unwrap(), workload["metadata"]["name"].as_str().unwrap());
        let effects = object["effects"].as_array().cloned().unwrap_or_default();
        let said: u64 = effects.iter().filter_map(|effect| effect["pods"].as_u64()).sum();
        let gone = before.difference(&settled(workload)).count() as u64;
        assert_eq!(gone, said, "{workload}: {effects:?}");
        restarted += gone;
    }
    assert!(all.len() >= 20 && restarted >= 20, "{} workloads, {restarted} Pods", all.len());
}

/// Two workloads that end and begin again: by a replacement, and by pruning; and one whose pause ends.
#[test]
fn replaced_pruned_and_resumed_workloads_lose_their_pods() {
    let ws = Workspace::on(&ControlPlane::full());
    let web = workload("Deployment", "web", Some(2), "shop/it:1", &json!({"paused": false}));
    let next = web.to_string().replaced("shop/it:1", "shop/it:2");
    ws.write("web.json", &web.to_string());
    ws.write("old.json", &workload("Deployment", "old", Some(3), "shop/it:1", &json!({})).to_string());
    ws.write("new.json", &workload("StatefulSet", "new", Some(2), "shop/it:1", &json!({})).to_string());
    let set = ["-f", ".", "--prune", "--applyset", "shop"];
    ws.reconcile([&["apply"], &set[..], &["--wait"]].concat()).exits_with(0);
    let before = settled(&ws, "Deployment", "web", Some(2));
    ws.write("web.json", &next.replaced("\"paused\":false", "\"paused\":true"));
    let diff = ws.reconcile([&["diff"], &set[..]].concat()).exits_with(1);
    assert_eq!(effects(&diff, "Deployment", "web"), ["rollout 0: no rollout: paused"]);
    ws.reconcile([&["diff"], &set[..], &["--fail-on", "restart"]].concat()).exits_with(0);
    ws.reconcile([&["apply"], &set[..]].concat()).exits_with(0);
    assert_eq!(settled(&ws, "Deployment", "web", Some(2)), before);

    ws.write("web.json", &next);
    std::fs::remove_file(ws.folder().join("old.json")).unwrap();
    ws.write(
        "new.json",
        &workload("StatefulSet", "new", Some(2), "shop/it:1", &json!({"serviceName": "other"})).to_string(),
    );
    let set = [&set[..], &["--replace=immutable", "--prune-allow", "most"]].concat();
    let diff = ws.reconcile([&["diff"], &set[..], &["--fail-on", "restart"]].concat()).exits_with(1);
    let rollout = "rollout 2: restarts 2 Pods: rolling update, at most 25 % unavailable";
    assert_eq!(effects(&diff, "Deployment", "web"), [rollout]);
    assert_eq!(effects(&diff, "Deployment", "old"), ["delete 3: 3 Pods are deleted"]);
    assert_eq!(effects(&diff, "StatefulSet", "new"), ["delete 2: 2 Pods are deleted"]);
    assert!(diff.stdout.contains("    ↳ 3 Pods are deleted\n"), "{diff}");
    let summary = "an apply restarts 4 Pods of 2 workloads and deletes 3 Pods of 1 workload\n";
    assert!(diff.stdout.contains(summary), "{diff}");
    let former = settled(&ws, "StatefulSet", "new", Some(2));
    ws.reconcile([&["apply"], &set[..], &["--wait"]].concat()).exits_with(0);
    assert!(settled(&ws, "Deployment", "web", Some(2)).is_disjoint(&before));
    assert!(settled(&ws, "StatefulSet", "new", Some(2)).is_disjoint(&former));
    wait_until("the Pods of the pruned workload are gone", || uids(&ws, "old").is_some_and(|pods| pods.is_empty()));
}

/// The template of a Job is immutable: a changed one is replaced, and its Pods go with it. A changed `CronJob` stops nothing.
#[test]
fn the_pods_of_a_replaced_job_are_deleted() {
    let ws = Workspace::on(&ControlPlane::full());
    let template = json!({"template": {"metadata": {"labels": {"app": "load"}}, "spec": {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [{"name": "main", "image": "shop/it:1"}],
        // On no node, so that none of them ends.
        "nodeSelector": {"kubernetes.io/os": "none"},
    }}});
    let mut job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "load"}, "spec": template});
    job["spec"]["completions"] = json!(3);
    job["spec"]["parallelism"] = json!(3);
    let cron = json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "yearly"},
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": template}}});
    ws.write("job.json", &job.to_string());
    ws.write("cron.json", &cron.to_string());
    // The server gives the new Pods the label as well.
    ws.write(
        "service.yaml",
        "{apiVersion: v1, kind: Service, metadata: {name: load}, spec: {clusterIP: None, selector: {job-name: load}}}",
    );
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let pods = || uids(&ws, "load").filter(|pods| pods.len() == 3);
    let counted = || {
        let status = &ws.get("Job", "load")["status"];
        ["active", "succeeded", "failed"].iter().filter_map(|name| status[name].as_u64()).sum::<u64>()
    };
    wait_until("the Job has its Pods", || pods().is_some() && counted() == 3);
    let before = pods().unwrap();
    for (name, object) in [("job.json", &job), ("cron.json", &cron)] {
        ws.write(name, &object.to_string().replaced("shop/it:1", "shop/it:2"));
    }
    // Without the flag, nothing is replaced.
    let held = ws.reconcile(["diff", "-f", ".", "--fail-on", "restart"]);
    assert!(effects(&held, "Job", "load").is_empty(), "{held}");
    let diff = ws.reconcile(["diff", "-f", ".", "--replace=immutable", "--fail-on", "restart"]).exits_with(1);
    assert_eq!(effects(&diff, "Job", "load"), ["delete 3: 3 Pods are deleted"], "{diff}");
    assert!(effects(&diff, "CronJob", "yearly").is_empty(), "{diff}");
    ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(0);
    wait_until("the Job has other Pods", || pods().is_some_and(|pods| pods.is_disjoint(&before)));
}

/// A Pod that has ended is no running one.
#[test]
fn finished_pods_that_go_are_no_restart() {
    if is_before(31, "a Job succeeds without the condition `SuccessCriteriaMet`") {
        return;
    }
    let ws = Workspace::new();
    let job = "{apiVersion: batch/v1, kind: Job, metadata: {name: load}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'shop/it:1'}]}}}}";
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: once}, spec: {restartPolicy: Never, containers: [{name: a, image: 'shop/it:1', env: [{name: A, value: one}]}]}}";
    ws.write("job.yaml", job);
    ws.write("pod.yaml", pod);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let flags = ["diff", "-f", ".", "--replace=immutable", "--fail-on", "restart"];
    let status = |object: &str, status: Value| {
        let patch = json!({"status": status}).to_string();
        ws.kubectl(["patch", object, "--subresource=status", "--type=merge", "-p", &patch]).exits_with(0);
    };
    status("job/load", json!({"startTime": "2026-01-01T00:00:00Z", "active": 1, "failed": 2}));
    ws.write("job.yaml", &job.replaced("it:1", "it:2"));
    ws.write("pod.yaml", &pod.replaced("value: one", "value: two"));
    let active = ws.reconcile(flags).exits_with(1);
    assert_eq!(effects(&active, "Job", "load"), ["delete 1: 1 Pod is deleted, 2 finished Pods go"], "{active}");
    assert_eq!(effects(&active, "Pod", "once"), ["delete 1: 1 Pod is deleted"], "{active}");

    status(
        "job/load",
        json!({"active": null, "succeeded": 1, "completionTime": "2026-01-01T00:01:00Z", "conditions": [
            {"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"}]}),
    );
    status("pod/once", json!({"phase": "Succeeded"}));
    let finished = ws.reconcile(flags).exits_with(0);
    assert_eq!(effects(&finished, "Job", "load"), ["delete 0: 3 finished Pods go"], "{finished}");
    assert_eq!(effects(&finished, "Pod", "once"), ["delete 0: 1 finished Pod goes"], "{finished}");
    assert!(finished.stdout.contains("    ↳ 1 finished Pod goes\n"), "{finished}");
    assert!(!finished.stdout.contains("an apply deletes"), "{finished}");
    let apply = ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(0);
    assert_eq!(effects(&apply, "Job", "load"), ["delete 0: 3 finished Pods go"], "{apply}");
}

/// Compares manifests with live objects in a file: what no controller has to be asked for.
fn offline(live: &[Value], desired: &[Value], flags: &[&str], code: i32) -> Run {
    let ws = Workspace::new();
    let list = |items: &[Value]| json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let namespaced = |object: &Value| {
        let mut object = object.clone();
        object["metadata"]["namespace"] = "shop".into();
        object
    };
    ws.write("live.json", &list(&live.iter().map(namespaced).collect::<Vec<_>>()));
    ws.write("in/it.json", &list(&desired.iter().map(namespaced).collect::<Vec<_>>()));
    ws.reconcile([&["diff", "-f", "in", "--live", "live.json"], flags].concat()).exits_with(code)
}

fn config_map(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

/// A Deployment whose container and volumes are these.
fn using(name: &str, container: &Value, volumes: &Value) -> Value {
    let mut object = workload("Deployment", name, Some(2), "shop/it:1", &json!({}));
    let spec = &mut object["spec"]["template"]["spec"];
    let own = spec["containers"][0].as_object_mut().unwrap();
    own.extend(container.as_object().cloned().unwrap());
    spec["volumes"] = volumes.clone();
    object
}

#[test]
fn workloads_that_use_a_changed_value_keep_it_or_see_the_new_one() {
    let volume = json!([{"name": "c", "configMap": {"name": "c"}}]);
    let items = json!([{"name": "c", "projected": {"sources": [{"configMap": {"name": "c", "items": [{"key": "other", "path": "x"}]}}]}}]);
    let mount = |more: Value| {
        let mut mount = json!({"name": "c", "mountPath": "/c"});
        mount.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        json!({"volumeMounts": [mount]})
    };
    let env = |key: &str| json!({"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": key}}}]});
    let users = [
        using("all", &json!({"envFrom": [{"configMapRef": {"name": "c"}}]}), &json!([])),
        using("one", &env("a"), &json!([])),
        using("other-key", &env("other"), &json!([])),
        using("file", &mount(json!({})), &volume),
        using("sub-path", &mount(json!({"subPath": "a"})), &volume),
        using("other-sub-path", &mount(json!({"subPath": "other"})), &volume),
        using("other-items", &mount(json!({})), &items),
        using("not-mounted", &json!({}), &volume),
        using("other-map", &json!({"envFrom": [{"configMapRef": {"name": "d"}}]}), &json!([])),
    ];
    let former = [&[config_map("c", &json!({"a": "1", "other": "1"}))], &users[..]].concat();
    let mut changed = former.clone();
    changed[0] = config_map("c", &json!({"a": "2", "other": "1"}));
    let run = offline(&former, &changed, &[], 1);
    assert_eq!(
        effects(&run, "ConfigMap", "c"),
        [
            "stale: 3 Deployments keep the old value until they restart",
            "refresh: updated within a minute or so in the volumes of 1 Deployment"
        ]
    );
    let by = &run.object("ConfigMap", "c")["effects"][0]["by"];
    assert_eq!(*by, json!(["Deployment shop/all", "Deployment shop/one", "Deployment shop/sub-path"]));
    assert!(run.stdout.contains("    ↳ 3 Deployments keep the old value until they restart: "), "{run}");
    // What restarts in the same apply, has no Pods or is new takes the new value.
    changed[1]["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/it:2".into();
    changed[2]["spec"]["replicas"] = 0.into();
    let without_sub_path: Vec<Value> =
        former.iter().filter(|one| one["metadata"]["name"] != "sub-path").cloned().collect();
    let run = offline(&without_sub_path, &changed, &[], 1);
    assert_eq!(effects(&run, "ConfigMap", "c").len(), 1, "{run}");
    // A paused workload does not restart.
    changed[1]["spec"]["paused"] = true.into();
    let run = offline(&without_sub_path, &changed, &[], 1);
    assert_eq!(effects(&run, "ConfigMap", "c")[0], "stale: 1 Deployment keeps the old value until it restarts");
}

#[test]
fn a_service_that_loses_its_pods_is_named_at_the_object_that_causes_it() {
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}});
    let web = workload("Deployment", "web", Some(2), "shop/it:1", &json!({}));
    let mut labelled = web.clone();
    labelled["spec"]["template"]["metadata"]["labels"]["tier"] = "front".into();
    let mut moved = service.clone();
    moved["spec"]["selector"] = json!({"app": "web", "tier": "back"});
    let run = offline(&[service.clone(), labelled.clone()], &[moved.clone(), labelled.clone()], &[], 1);
    assert_eq!(
        effects(&run, "Service", "web"),
        ["unselected: its selector matches no Pod template of the manifests any more"]
    );
    assert_eq!(run.object("Service", "web")["effects"][0]["by"], json!(["Deployment shop/web"]));
    // The template goes from the label that the Service wants.
    let mut front = service.clone();
    front["spec"]["selector"] = json!({"tier": "front"});
    let mut back = labelled.clone();
    back["spec"]["template"]["metadata"]["labels"]["tier"] = "back".into();
    let run = offline(&[front.clone(), labelled.clone()], &[front.clone(), back.clone()], &[], 1);
    let words = "unselected: Service shop/web no longer selects its Pods, nor any others of the manifests";
    assert!(effects(&run, "Deployment", "web").contains(&words.to_owned()), "{run}");
    assert!(effects(&run, "Service", "web").is_empty());
    // Another workload has the label, or nothing was selected before.
    let other = workload("Deployment", "other", Some(1), "shop/it:1", &json!({}));
    let mut other_front = other.clone();
    other_front["spec"]["template"]["metadata"]["labels"]["tier"] = "front".into();
    let run = offline(&[front.clone(), labelled, other.clone()], &[front.clone(), back, other_front], &[], 1);
    assert!(!run.stdout.contains("no longer selects"), "{run}");
    let run = offline(&[service, web.clone()], &[front, web], &[], 1);
    assert!(!effects(&run, "Service", "web").is_empty(), "it matched before: {run}");
}

#[test]
fn the_gate_fails_for_pods_that_end_and_for_nothing_else() {
    let web = workload("Deployment", "web", Some(3), "shop/it:1", &json!({}));
    let mut scaled = web.clone();
    scaled["spec"]["replicas"] = 1.into();
    let run = offline(std::slice::from_ref(&web), std::slice::from_ref(&scaled), &["--fail-on", "restart"], 0);
    assert_eq!(effects(&run, "Deployment", "web"), ["scale 2: 2 Pods stop"]);
    scaled["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/it:2".into();
    let run = offline(std::slice::from_ref(&web), std::slice::from_ref(&scaled), &["--fail-on", "restart"], 1);
    let rollout = "rollout 1: restarts 1 Pod: rolling update, at most 25 % unavailable";
    assert_eq!(effects(&run, "Deployment", "web"), [rollout, "scale 2: 2 Pods stop"]);
    assert!(run.stdout.contains("an apply restarts 1 Pod of 1 workload\n"), "{run}");
    // Three with the same change are told together.
    let name = |object: &Value, name: &str| {
        let mut object = object.clone();
        object["metadata"]["name"] = name.into();
        object
    };
    let live: Vec<Value> = ["a", "b", "c"].iter().map(|one| name(&web, one)).collect();
    let mut changed = web.clone();
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/it:2".into();
    let desired: Vec<Value> = ["a", "b", "c"].iter().map(|one| name(&changed, one)).collect();
    let run = offline(&live, &desired, &[], 1);
    assert!(run.stdout.contains("~ 3 Deployments"), "{run}");
    assert_eq!(run.stdout.matches("restarts 9 Pods of 3 workloads\n").count(), 2, "the group and the summary: {run}");
    // Left out.
    let run = offline(&live, &desired, &["--no-effects"], 1);
    assert!(run.objects().iter().all(|object| object.get("effects").is_none()) && !run.stdout.contains('↳'), "{run}");
    let run = offline(&live, &desired, &["--no-effects", "--fail-on", "restart"], 2);
    assert!(run.stderr.contains("`--fail-on restart` and `--no-effects` cannot be combined"), "{run}");
}

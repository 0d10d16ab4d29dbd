//! Objects under a new name are one object in everything that is made of a run: its baselines, the reports of its shards, its consent, and
//! the references to it.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::control_plane::{Run, Workspace};

const A: &str = "84c9dfhgtd";
const B: &str = "h56kmt2b4c";

/// Flags of a run over a set.
const SET: [&str; 3] = ["--prune", "--applyset", "web"];

fn run(ws: &Workspace, command: &str, flags: &[&str]) -> Run {
    ws.reconcile([&[command, "-f", "new"], flags].concat())
}

fn document(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
}

fn config(stem: &str, hash: &str, value: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {stem}-{hash}}}, data: {{a: '{value}', same: s}}}}\n---\n"
    )
}

fn secret(stem: &str, hash: &str, value: &str) -> String {
    format!("{{apiVersion: v1, kind: Secret, metadata: {{name: {stem}-{hash}}}, data: {{a: {value}}}}}\n---\n")
}

/// A DaemonSet that uses ConfigMaps in the environment, and a Secret to pull its images.
fn workload(configs: &[String], secret: &str) -> String {
    let sources: Vec<String> = configs.iter().map(|name| format!("{{configMapRef: {{name: {name}}}}}")).collect();
    format!(
        "{{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: agent}}, spec: {{selector: {{matchLabels: {{app: agent}}}}, \
         template: {{metadata: {{labels: {{app: agent}}}}, spec: {{imagePullSecrets: [{{name: {secret}}}], \
         containers: [{{name: agent, image: shop/agent:1, envFrom: [{}]}}]}}}}}}}}\n---\n",
        sources.join(", ")
    )
}

/// The counts that pairs decide.
fn counts(report: &Value) -> [&Value; 6] {
    ["objects", "create", "update", "delete", "sides", "dropped"].map(|name| &report["summary"][name])
}

/// The objects with their actions, their former names, and what their changes follow.
fn objects(report: &Value) -> BTreeSet<String> {
    let of = |object: &Value| {
        let follows: Vec<&Value> =
            object["changes"].as_array().into_iter().flatten().map(|change| &change["follows"]).collect();
        format!("{} {} {} {follows:?}", object["name"], object["action"], object["renamedFrom"])
    };
    report["objects"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn a_baseline_knows_an_object_under_a_new_name() {
    for flags in [&SET[..], &[]] {
        let ws = Workspace::new();
        let write = |hash: &str, timeout: &str| {
            let uses = workload(&[format!("web-{hash}")], "pull");
            ws.write("new/all.yaml", &[config("web", hash, timeout), uses].concat());
        };
        write(A, "30s");
        run(&ws, "apply", flags).exits_with(0);
        write(B, "45s");
        let json = ["-q", "-o", "json=baseline.json"];
        run(&ws, "diff", &[flags, &json].concat()).exits_with(1);
        let against = |more: &[&str]| run(&ws, "diff", &[flags, &["--baseline", "baseline.json"], more].concat());
        let same = against(&[]).exits_with(0);
        let summary = &same.report()["summary"];
        assert_eq!((&summary["resolved"], &summary["delete"]), (&json!(0), &json!(0)), "{same}");
        assert!(summary["known"].as_u64().unwrap() >= 2, "{same}");
        assert_eq!(same.object("ConfigMap", &format!("web-{B}"))["renamedFrom"], format!("web-{A}"), "{same}");
        // A report beside a baseline is a baseline as well.
        against(&["-q", "-o", "json=baseline.json"]).exits_with(0);
        against(&[]).exits_with(0);
        // Each shard knows its own.
        for shard in ["--shard=0/3", "--shard=1/3", "--shard=2/3"] {
            let part = against(&[shard]).exits_with(0);
            assert_eq!(part.report()["summary"]["resolved"], 0, "{part}");
        }
        // Another content is another difference.
        write("2222222222", "60s");
        let other = against(&[]).exits_with(1);
        assert_eq!(other.object("ConfigMap", "web-2222222222")["renamedFrom"], format!("web-{A}"), "{other}");
        // Somebody changes the former one.
        write(B, "45s");
        ws.patch_as("kubectl-edit", &format!("configmap/web-{A}"), &json!({"data": {"a": "31s"}}));
        against(&[]).exits_with(1);
        // What is done is gone.
        run(&ws, "apply", flags).exits_with(0);
        let done = against(&[]).exits_with(0);
        assert!(done.report()["summary"]["resolved"].as_u64().unwrap() >= 2, "{done}");
    }
}

/// The cluster is behind: nothing about the new object, or about the references to it, is a change of the manifests.
#[test]
fn an_object_that_the_base_has_under_the_new_name_is_a_change_of_the_cluster() {
    for flags in [&SET[..], &[]] {
        let ws = Workspace::new();
        let write = |folder: &str, hash: &str, timeout: &str| {
            let uses = workload(&[format!("web-{hash}")], "pull");
            ws.write(format!("{folder}/all.yaml"), &[config("web", hash, timeout), uses].concat());
        };
        write("new", A, "30s");
        run(&ws, "apply", flags).exits_with(0);
        write("new", B, "45s");
        write("base", B, "45s");
        let against = |command: &str, more: &[&str]| run(&ws, command, &[flags, &["--base", "base"], more].concat());
        let diff = against("diff", &[]).exits_with(1);
        let object = diff.object("ConfigMap", &format!("web-{B}"));
        assert_eq!((&object["base"], &object["side"]), (&json!("same"), &json!("cluster")), "{diff}");
        assert_eq!(counts(diff.report())[4]["cluster"], 2, "{diff}");
        against("diff", &["--fail-on", "manifest,either,both"]).exits_with(0);
        assert_eq!(against("apply", &["--only", "manifest"]).exits_with(0).writes(), 0);
        against("apply", &["--only", "cluster"]).exits_with(0);
        against("diff", &[]).exits_with(0);
    }
}

#[test]
fn shards_whose_reports_are_merged_have_the_pairs_of_one_run() {
    let ws = Workspace::new();
    let stems: Vec<String> = (0..8).map(|number| format!("web{number}")).collect();
    let write = |hash: &str, value: &str| {
        let maps: String = stems.iter().map(|stem| config(stem, hash, value)).collect();
        let names: Vec<String> = stems.iter().map(|stem| format!("{stem}-{hash}")).collect();
        ws.write("new/all.yaml", &[maps, workload(&names[..4], "pull")].concat());
    };
    let merged = |command: &str, code: i32| {
        let mut words = vec!["report".to_owned(), "merge".to_owned(), "-o".to_owned(), "json".to_owned()];
        for shard in 0..3 {
            let part = run(&ws, command, &[&SET[..], &["--shard", &format!("{shard}/3")]].concat());
            let path = ws.home().join(format!("part-{shard}.json"));
            fs::write(&path, part.report().to_string()).unwrap();
            words.push(path.display().to_string());
        }
        document(&ws.reconcile(words).exits_with(code))
    };
    write(A, "1");
    run(&ws, "apply", &SET).exits_with(0);
    write(B, "2");
    let whole = run(&ws, "diff", &SET).exits_with(1);
    assert_eq!(whole.report()["summary"]["update"], 9, "{whole}");
    let together = merged("diff", 1);
    assert_eq!(counts(&together), counts(whole.report()));
    assert_eq!(objects(&together), objects(whole.report()));
}

#[test]
fn a_deletion_that_is_allowed_is_part_of_its_pair() {
    let ws = Workspace::new();
    let write = |hash: &str, value: &str| {
        let text: String = (0..12).map(|number| config(&format!("web{number}"), hash, value)).collect();
        ws.write("new/all.yaml", &text);
    };
    write(A, "1");
    run(&ws, "apply", &SET).exits_with(0);
    write(B, "2");
    let refused = run(&ws, "apply", &[&SET[..], &["--dry-run"]].concat()).exits_with(1);
    assert!(refused.stdout.contains("--prune-allow=most"), "{refused}");
    let allowed = [&SET[..], &["--prune-allow", "most"]].concat();
    let diff = run(&ws, "diff", &allowed).exits_with(1);
    let expected = [json!(12), json!(0), json!(12), json!(0)];
    assert_eq!(counts(diff.report())[..4], expected.each_ref(), "{diff}");
    let object = diff.object("ConfigMap", &format!("web0-{B}"));
    assert_eq!(object["deletion"], json!({"needs": ["most"], "allowed": true}), "{object}");
    let apply = run(&ws, "apply", &allowed).exits_with(0);
    assert_eq!(counts(apply.report())[..4], expected.each_ref(), "{apply}");
    assert!(apply.objects().iter().all(|object| object["outcome"] == "updated"), "{apply}");
    assert!(
        ws.find("ConfigMap", &format!("web3-{A}")).is_none() && ws.find("ConfigMap", &format!("web3-{B}")).is_some()
    );
}

#[test]
fn references_of_all_kinds_follow_the_new_name() {
    for flags in [&SET[..], &[]] {
        let ws = Workspace::new();
        let write = |hash: &str, value: &str| {
            let name = format!("pull-{hash}");
            let account = format!(
                "{{apiVersion: v1, kind: ServiceAccount, metadata: {{name: agent}}, imagePullSecrets: [{{name: other}}, {{name: {name}}}]}}\n---\n"
            );
            let ingress = format!(
                "{{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {{name: shop}}, spec: {{tls: [{{hosts: [shop.example], \
                 secretName: {name}}}], defaultBackend: {{service: {{name: shop, port: {{number: 80}}}}}}}}}}\n---\n"
            );
            let text = [secret("pull", hash, value), account, ingress, workload(&[], &name)].concat();
            ws.write("new/all.yaml", &text);
        };
        write(A, "YS0xLW5ldmVyLXNob3du");
        run(&ws, "apply", flags).exits_with(0);
        write(B, "Yi0yLW5ldmVyLXNob3du");
        let diff = run(&ws, "diff", flags).exits_with(1);
        let name = format!("pull-{B}");
        assert_eq!(diff.object("Secret", &name)["renamedFrom"], format!("pull-{A}"), "{diff}");
        let follows = json!([ws.fill_in(&format!("Secret $NS/{name}"))]);
        for (kind, object) in [("DaemonSet", "agent"), ("ServiceAccount", "agent"), ("Ingress", "shop")] {
            let changes = diff.object(kind, object)["changes"].as_array().unwrap().clone();
            assert_eq!(changes.len(), 1, "{kind}: {changes:#?}");
            assert_eq!(
                (&changes[0]["follows"], &changes[0]["op"]),
                (&follows, &json!("change")),
                "{kind}: {changes:#?}"
            );
        }
        assert_eq!(diff.stdout.matches(&format!("pull-{A}")).count(), 1, "{diff}");
        run(&ws, "apply", flags).exits_with(0);
        run(&ws, "diff", flags).exits_with(0);
    }
}

#[test]
fn what_a_chosen_reference_needs_is_chosen_with_it() {
    let ws = Workspace::new();
    let write = |hash: &str, value: &str| {
        let text =
            [config("web", hash, value), config("alone", hash, value), workload(&[format!("web-{hash}")], "pull")];
        ws.write("new/all.yaml", &text.concat());
    };
    write(A, "1");
    run(&ws, "apply", &[]).exits_with(0);
    write(B, "2");
    let cluster = run(&ws, "apply", &["--only", "cluster"]).exits_with(0);
    assert!(ws.find("ConfigMap", &format!("web-{B}")).is_none(), "{cluster}");
    let diff = run(&ws, "diff", &["--only", "manifest"]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", &format!("web-{B}"))["renamedFrom"], format!("web-{A}"), "{diff}");
    let apply = run(&ws, "apply", &["--only", "manifest"]).exits_with(0);
    // Nothing tells of a former one.
    assert_eq!(apply.report()["summary"]["left"], 1, "{apply}");
    assert!(ws.find("ConfigMap", &format!("alone-{B}")).is_none(), "{apply}");
    assert!(ws.find("ConfigMap", &format!("web-{B}")).is_some() && ws.find("ConfigMap", &format!("web-{A}")).is_some());
}

/// The former object is deleted only if everything else can be applied, as any other member of the set.
#[test]
fn a_former_object_that_would_stay_is_told() {
    let ws = Workspace::new();
    let write = |hash: &str, protocol: &str| {
        let port = format!("ports: [{{port: 80, protocol: {protocol}}}]");
        let service = format!("{{apiVersion: v1, kind: Service, metadata: {{name: web}}, spec: {{{port}}}}}\n");
        ws.write("new/all.yaml", &(config("web", hash, hash) + &service));
    };
    write(A, "TCP");
    run(&ws, "apply", &SET).exits_with(0);
    write(B, "XXX");
    let diff = run(&ws, "diff", &SET).exits_with(4);
    assert_eq!(diff.object("ConfigMap", &format!("web-{B}"))["renamedFrom"], format!("web-{A}"), "{diff}");
    assert!(diff.stderr.contains(&ws.fill_in("`apply` would prune nothing until Service $NS/web")), "{diff}");
    run(&ws, "apply", &SET).exits_with(4);
    assert!(ws.find("ConfigMap", &format!("web-{A}")).is_some());
}

//! `--base helm`: the deployed revision of the release that the live objects name.

use serde_json::{Value, json};

use crate::control_plane::{Replaced as _, Run, Workspace};
use crate::helm::{rendered, without_hooks};
use crate::stored::{stored, stored_release};

/// A namespace with a release as Helm 3 (which creates) or Helm 4 (which applies) leaves it.
fn installed(applies: bool) -> Workspace {
    let ws = Workspace::new();
    for value in ["value-of-the-chart", "value-of-the-user", "cmVkaXMtb2YtcGF5LTEyMw==", "redis-of-pay-123"] {
        ws.secret(value);
    }
    let manifest = ws.fill_in(&without_hooks(&rendered("2.4.0")));
    stored(&ws, "Secret", "pay", 1, "deployed", &manifest);
    if applies {
        ws.apply_as("helm", &manifest);
    } else {
        ws.stdin(&manifest).kubectl(["create", "--field-manager", "helm", "-f", "-"]).exits_with(0);
    }
    let marks = ["meta.helm.sh/release-name=pay", "meta.helm.sh/release-namespace=$NS"];
    let annotate = ["annotate", "--field-manager", "helm", "-f", "-"];
    ws.stdin(&manifest).kubectl([&annotate[..], &marks].concat()).exits_with(0);
    ws
}

fn upgraded(ws: &Workspace, arguments: &[&str]) -> Run {
    let manifest = ws.fill_in(&without_hooks(&rendered("2.4.1")));
    ws.stdin(&manifest).reconcile([&["diff", "-f", "-", "--base", "helm"], arguments].concat())
}

/// The sides of all objects, without those in sync.
fn sides(run: &Run) -> Vec<(String, String)> {
    let side = |object: &Value| Some((object["name"].as_str()?.to_owned(), object["side"].as_str()?.to_owned()));
    run.objects().iter().filter_map(side).collect()
}

#[test]
fn the_upgrade_of_an_untouched_release_is_all_of_the_manifests_and_a_hand_edit_among_it_is_found() {
    for applies in [false, true] {
        let ws = installed(applies);
        let diff = upgraded(&ws, &[]).exits_with(1);
        let found = sides(&diff);
        assert!(!found.is_empty() && found.iter().all(|(_, side)| side == "manifest"), "{applies}: {found:?} {diff}");
        assert_eq!(diff.report()["base"], json!({"from": "helm"}));
        upgraded(&ws, &["--fail-on", "cluster,either"]).exits_with(0);

        ws.patch_as("kubectl-edit", "deployment/pay", &json!({"spec": {"replicas": 7}}));
        let diff = upgraded(&ws, &["--fail-on", "cluster"]).exits_with(1);
        let change = diff.change("Deployment", "pay", "spec.replicas");
        assert!(["cluster", "both"].contains(&change["side"].as_str().unwrap()), "{diff}");
        assert_eq!(change["managers"][0]["manager"], "kubectl-edit", "{diff}");
        let others = sides(&diff).into_iter().filter(|(name, _)| name != "pay");
        assert!(others.clone().all(|(_, side)| side == "manifest"), "{:?}", others.collect::<Vec<_>>());
        // An object that somebody deleted carries no annotation, and the release has it.
        ws.kubectl(["delete", "service/pay"]).exits_with(0);
        let diff = upgraded(&ws, &[]).exits_with(1);
        assert!(["cluster", "both"].contains(&diff.object("Service", "pay")["side"].as_str().unwrap()), "{diff}");
    }
}

/// Who may write Secrets in one namespace may write a record there that names objects of others.
#[test]
fn a_record_speaks_only_for_objects_that_name_its_release() {
    let ws = Workspace::new();
    let tenant = format!("{}-tenant", ws.namespace());
    ws.kubectl(["create", "namespace", &tenant]).exits_with(0);
    let map = |namespace: &str, name: &str, level: &str| {
        format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, namespace: {namespace}}}, data: {{level: {level}}}}}\n---\n"
        )
    };
    let all = map("$NS", "settings", "info") + &map(&tenant, "own", "info");
    ws.write("all.yaml", &all);
    ws.write("hidden.yaml", &map("$NS", "hidden", "info"));
    ws.reconcile(["apply", "-f", "all.yaml"]).exits_with(0);
    ws.reconcile(["apply", "-f", "hidden.yaml"]).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"level": "debug"}}));
    let gate = ["diff", "-f", "all.yaml", "--base", "helm", "--fail-on", "both,cluster,either"];
    ws.reconcile(gate).exits_with(1);

    let record =
        ws.fill_in(&(map(&tenant, "own", "info") + &map("$NS", "settings", "debug") + &map("$NS", "hidden", "info")));
    let record = stored_release("a", &record).to_string();
    ws.stdin(&record).kubectl(["create", "-n", &tenant, "-f", "-"]).exits_with(0);
    for mark in ["meta.helm.sh/release-name=a".to_owned(), format!("meta.helm.sh/release-namespace={tenant}")] {
        ws.kubectl(["annotate", "-n", &tenant, "configmap/own", &mark]).exits_with(0);
    }
    let diff = ws.reconcile(gate).exits_with(1);
    assert_eq!(diff.change("ConfigMap", "settings", "data.level")["side"], "cluster", "{diff}");
    assert_eq!(diff.object("ConfigMap", "own")["base"], "same", "{diff}");
    assert_eq!(diff.report().get("dropped"), None, "{diff}");
    let apply = ws.reconcile(["apply", "-f", "all.yaml", "--base", "helm", "--only", "manifest"]).exits_with(0);
    assert_eq!(apply.object("ConfigMap", "settings")["outcome"], "unchanged", "{apply}");

    // An object that names a release without it has no base.
    ws.write("all.yaml", &(map("$NS", "stranger", "info") + &all));
    ws.stdin(&map("$NS", "stranger", "debug")).kubectl(["create", "-f", "-"]).exits_with(0);
    for mark in ["meta.helm.sh/release-name=a".to_owned(), format!("meta.helm.sh/release-namespace={tenant}")] {
        ws.kubectl(["annotate", "configmap/stranger", &mark]).exits_with(0);
    }
    let diff = ws.reconcile(gate);
    let told = ws.fill_in(&format!("ConfigMap $NS/stranger names the release {tenant}/a in its annotations"));
    assert!(diff.report()["warnings"].to_string().contains(&told), "{diff}");

    // A release that does not exist makes nothing unknown where no object names it.
    ws.kubectl(["annotate", "-n", &tenant, "configmap/own", "--overwrite", "meta.helm.sh/release-name=nope"])
        .exits_with(0);
    ws.write(
        "new.yaml",
        &(map("$NS", "brandnew", "info") + &map(&tenant, "own", "info") + &map(&tenant, "other", "info")),
    );
    let diff = ws.reconcile(["diff", "-f", "new.yaml", "--base", "helm"]).exits_with(1);
    let side = |name: &str| diff.object("ConfigMap", name)["side"].clone();
    assert_eq!((side("brandnew"), side("other")), (json!("manifest"), json!("either")), "{diff}");
}

/// As with the manifests of the release as the base.
#[test]
fn an_object_that_the_chart_dropped_is_told() {
    for applies in [false, true] {
        let ws = installed(applies);
        let rendered = ws.fill_in(&without_hooks(&rendered("2.4.0")));
        ws.write("base.yaml", &rendered);
        let left: Vec<&str> =
            rendered.split("\n---\n").filter(|document| !document.contains("\nkind: Service\n")).collect();
        ws.write("new.yaml", &left.join("\n---\n"));
        let dropped = |base: &str, flags: &[&str]| {
            let run = ws.reconcile([&["diff", "-f", "new.yaml", "--base", base, "--exit-zero"], flags].concat());
            let dropped = run.exits_with(0).report()["dropped"].as_array().cloned().unwrap_or_default();
            dropped.iter().map(|one| format!("{} {}", one["kind"], one["name"])).collect::<Vec<_>>()
        };
        let told = dropped("base.yaml", &[]);
        assert_eq!((told.len(), dropped("helm", &[])), (1, told.clone()), "{applies}");
        let of_shards = ["0/2", "1/2"].map(|shard| dropped("helm", &["--shard", shard]));
        assert_eq!(of_shards.concat(), told, "{applies}");
        let text = ws.reconcile(["diff", "-f", "new.yaml", "--base", "helm", "--exit-zero"]).stdout;
        assert!(text.contains("no longer in the manifests; stays without --prune"), "{text}");
        ws.kubectl(["delete", "service/pay"]).exits_with(0);
        assert_eq!(dropped("helm", &[]), [""; 0], "{applies}");
    }
}

/// A chart leaves an empty map behind, or a key without a value, where a value file sets nothing any more.
#[test]
fn what_an_empty_map_of_the_chart_had_is_told_with_its_owner() {
    let ws = Workspace::new();
    let map = |annotations: &str, data: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: it, annotations: {annotations}}}, data: {data}}}")
    };
    ws.write("base.yaml", &map("{a: '1'}", "{b: '2'}"));
    ws.kubectl(["apply", "--server-side", "--field-manager=helm", "-f", "base.yaml"]).exits_with(0);
    for (annotations, data) in [("{}", "{}"), ("null", "null"), ("{}", "")] {
        ws.write("new.yaml", &map(annotations, data));
        let diff = ws.reconcile(["diff", "-f", "new.yaml", "--base", "base.yaml"]).exits_with(0);
        let told = diff.object("ConfigMap", "it")["warnings"].clone();
        let what = "`data.b`, `metadata.annotations.a` are no longer in the manifest and stay: owned by `helm`";
        assert_eq!(told, json!([what]), "{diff}");
    }
}

/// An apply leaves them to Helm, which would remove them.
#[test]
fn a_field_that_the_chart_dropped_is_told_with_its_owner() {
    for applies in [false, true] {
        let ws = installed(applies);
        let rendered = ws.fill_in(&without_hooks(&rendered("2.4.0")));
        let new = rendered.replaced("  replicas: 2\n", "");
        ws.write("new.yaml", &new);
        ws.write("base.yaml", &rendered);
        let warnings = |base: &str| {
            let diff = ws.reconcile(["diff", "-f", "new.yaml", "--base", base]).exits_with(0);
            let told = diff.objects().iter().filter(|object| object["kind"] == "Deployment");
            told.flat_map(|object| object["warnings"].as_array().cloned().unwrap()).collect::<Vec<_>>()
        };
        let expected = [json!("`spec.replicas` is no longer in the manifest and stays: owned by `helm`")];
        assert_eq!((warnings("helm"), warnings("base.yaml")), (expected.to_vec(), expected.to_vec()), "{applies}");
        let before = ws.get("deployment", "pay")["spec"].clone();
        ws.reconcile(["apply", "-f", "new.yaml", "--base", "helm"]).exits_with(0);
        assert_eq!(ws.get("deployment", "pay")["spec"], before);
        assert_eq!(warnings("helm"), expected);
        // It stays whoever changed it since.
        ws.kubectl(["scale", "deployment/pay", "--replicas=3"]).exits_with(0);
        assert_eq!(
            warnings("helm"),
            [json!("`spec.replicas` is no longer in the manifest and stays: owned by `kubectl`")]
        );
    }
}

/// Anybody may write an annotation.
#[test]
fn an_object_that_names_a_release_without_it_says_nothing_about_the_others() {
    let ws = installed(true);
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: stranger}}");
    ws.kubectl(["create", "-f", "it.yaml"]).exits_with(0);
    let marks = ["meta.helm.sh/release-name=pay", "meta.helm.sh/release-namespace=$NS"].map(|mark| ws.fill_in(mark));
    ws.kubectl(["annotate", "configmap/stranger", &marks[0], &marks[1]]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "it.yaml", "--base", "helm", "--exit-zero"]).exits_with(0);
    assert_eq!(diff.report().get("dropped"), None, "{diff}");
}

#[test]
fn a_release_that_cannot_be_read_is_named_once() {
    let ws = installed(false);
    let manifest = ws.fill_in(&without_hooks(&rendered("2.4.1")));
    ws.allow("reader", "get,list,watch,patch,create", "*.*");
    ws.kubectl(["delete", "secret", "sh.helm.release.v1.pay.v1"]).exits_with(0);
    let diff = ws.stdin(&manifest).reconcile(["diff", "-f", "-", "--base", "helm"]).exits_with(1);
    assert_eq!(diff.stderr.matches("cannot be read as a base").count(), 1, "{diff}");
    // The owner of a field tells that the cluster changed it, and not that the manifests did not.
    assert!(!diff.stdout.contains("leaves it alone"), "{diff}");
}

/// A user with the roles that `access` prints reads the releases, and one without may not.
#[test]
fn access_has_what_the_releases_need() {
    let ws = installed(true);
    let manifest = ws.fill_in(&without_hooks(&rendered("2.4.1")));
    let access = |more: &[&str]| {
        let flags = ["access", "-f", "-", "--for", "diff", "--subject", "User:limited", "--name", "pipeline"];
        ws.stdin(&manifest).reconcile([&flags[..], more].concat()).exits_with(0).stdout
    };
    let diff = || ws.as_user("limited").stdin(&manifest).reconcile(["diff", "-f", "-", "--base", "helm"]);
    let until = |is_readable: bool| {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while diff().stderr.contains("cannot be read as a base") == is_readable {
            assert!(std::time::Instant::now() < end, "{}", diff());
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    };
    ws.stdin(&access(&["--base", "helm"])).kubectl(["apply", "-f", "-"]).exits_with(0);
    until(true);
    let found = sides(&diff());
    assert!(!found.is_empty() && found.iter().all(|(_, side)| side == "manifest"), "{found:?}");
    for command in ["apply", "resolve", "pull"] {
        let flags = ["access", "-f", "-", "--for", command, "--base", "helm", "-o", "text"];
        let text = ws.stdin(&manifest).reconcile(flags).exits_with(0).stdout;
        assert!(text.lines().any(|line| line.contains("secrets") && line.contains("get, list")), "{command}: {text}");
    }
}

#[test]
fn releases_are_the_only_base_and_need_a_cluster() {
    let ws = Workspace::new();
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
    for flags in
        [&["--base", "helm,a.yaml"][..], &["--base", "helm", "--live", "a.yaml"], &["--base", "helm", "--changed-only"]]
    {
        ws.reconcile([&["diff", "-f", "a.yaml"], flags].concat()).exits_with(2);
    }
}

/// Who may write Secrets in one namespace may write records that need much memory to read.
#[test]
fn records_of_many_objects_are_read_one_after_the_other_and_up_to_a_bound() {
    let ws = Workspace::new();
    let object =
        |kind: &str, name: &str| format!("---\n{{apiVersion: v1, kind: {kind}, metadata: {{name: {name}}}}}\n");
    let many: String = (0..30_000).map(|number| object("Secret", &format!("n{number}"))).collect();
    let releases = ["a", "b", "c", "d", "e"];
    for release in releases {
        // None of them has the object that names it, but for the first and the last.
        let own = if ["a", "e"].contains(&release) { object("ConfigMap", release) } else { String::new() };
        let record = stored_release(release, &(own + &many)).to_string();
        ws.stdin(&record).kubectl(["create", "-f", "-"]).exits_with(0);
    }
    let marked = |release: &str| {
        format!(
            "---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {release}, annotations: \
             {{meta.helm.sh/release-name: {release}, meta.helm.sh/release-namespace: $NS}}}}}}\n"
        )
    };
    let manifests: String = releases.map(marked).concat();
    ws.write("all.yaml", &manifests);
    ws.kubectl(["create", "-f", "."]).exits_with(0);
    let (diff, memory) = ws.start_reconcile(["diff", "-f", ".", "--base", "helm"]).finish_measured();
    let diff = diff.exits_with(0);
    let bases = ["a", "e"].map(|name| diff.object("ConfigMap", name)["base"].clone());
    assert_eq!(bases, [json!("differs"), json!(null)], "{diff}");
    let warning = "all releases together have more than 100,000 objects";
    assert!(diff.stderr.contains(warning), "{diff}");
    assert!(memory < 250, "{memory} MiB");
}

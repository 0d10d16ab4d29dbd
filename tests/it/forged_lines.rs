//! Quoted text is one line: whatever others wrote into names, values, messages, warnings, annotations, names of field managers and
//! records, no command prints a line that they made up, or a character that a terminal acts on or hides. Every text here tries both.

use std::fs;
use std::sync::Arc;

use reconcile_core::text::is_hidden;
use reconcile_report::formats::FORMATS;
use serde_json::{Value, json};

use crate::control_plane::{Caller, Fault, Proxy, Run, Workspace, gzip};
use crate::stored::store;

/// The beginning of each line that is made up.
const FORGED: &str = "FORGED-LINE";

/// The least indentation of a value that is shown as a block.
const BLOCK: usize = 6;

/// A text with every kind of line end, and with characters that a terminal acts on or hides.
fn hostile(text: &str) -> String {
    let ends = [
        "\n",
        "\r\n",
        "\r",
        "\u{b}",
        "\u{c}",
        "\u{85}",
        "\u{2028}",
        "\u{2029}",
        "\n\n  ",
        "\u{1b}[2J\u{1b}[1;1H",
        "\u{9b}1A\n",
    ];
    let lines = ends.map(|end| format!("{end}{FORGED}-3-in-sync"));
    format!("{text}\u{202e}\u{200b}{}\u{0}", lines.concat())
}

/// The same without what may not be in a name of a file or in a header.
fn hostile_on_one_line(text: &str) -> String {
    format!("{text}\u{202e}\u{2066}\u{2028}{FORGED}-3-in-sync\u{2029}{FORGED}\u{200b}")
}

/// Fails if a run prints a line that others made up, or a character that cannot be seen.
#[track_caller]
fn is_honest(run: &Run) {
    assert!((0..=5).contains(&run.code), "{run}");
    for (name, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        visible(&format!("{name} of {run}"), text);
        // Values of several lines are blocks below their fields, further in than any sentence.
        let is_forged = |line: &&str| {
            let sentence = line.trim_start();
            sentence.starts_with(FORGED) && line.len() - sentence.len() < BLOCK
        };
        let forged = text.lines().find(is_forged);
        assert_eq!(forged, None, "{name} of {run}");
    }
}

#[track_caller]
fn visible(what: &str, text: &str) {
    let hidden = text.chars().find(|c| !matches!(c, '\n' | '\t') && is_hidden(*c));
    assert_eq!(hidden, None, "{what}");
}

/// A wide terminal, so that no line is wrapped in the middle of a text.
fn wide(ws: &Workspace) -> Caller<'_> {
    ws.env("COLUMNS", "5000")
}

/// Runs every command that reads these manifests, in text and in the formats of one line.
fn every_command(ws: &Workspace, through: Option<&str>, input: &[&str]) {
    let call = || match through {
        Some(url) => wide(ws).through(url),
        None => wide(ws),
    };
    let run = |words: &[&str]| is_honest(&call().reconcile([words, input].concat()));
    for words in [
        &["diff"][..],
        &["diff", "-v", "9", "--show-unmanaged", "--explain-ignores", "--full"],
        &["diff", "--evidence=read-only"],
        &["diff", "--report-unmanaged", "--base", "helm"],
        &["diff", "--suggest-ignores"],
        &["diff", "--prune", "--applyset=set"],
        &["apply", "--dry-run"],
        &["apply", "--prune", "--applyset=set", "-v", "2"],
        &["apply", "--force-conflicts", "--wait", "--timeout=1s"],
        &["status"],
        &["blame"],
        &["snapshot"],
        &["pull", "--dry-run", "--class=changedByOther,conflict,unmanaged"],
        &["own", "--dry-run"],
        &["access", "-o", "text", "--prune", "--applyset=set"],
        &["access", "--subject=User:ci"],
    ] {
        run(words);
    }
    for format in FORMATS {
        let output = call().reconcile([&["diff", "--show-unmanaged", "-o", format.name], input].concat());
        if ["text", "name", "json", "jsonl", "github", "prometheus"].contains(&format.name) {
            is_honest(&output);
        } else {
            visible(&output.to_string(), &output.stdout);
        }
    }
}

/// Every text of a manifest, wherever a mistake may quote it.
#[test]
fn mistakes_in_manifests_quote_on_one_line() {
    let ws = Workspace::new();
    let x = hostile("x");
    let map =
        |metadata: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}});
    let annotated = |name: &str| map(json!({"name": "a", "annotations": {name: x}}));
    let wrong = [
        map(json!({"name": x})),
        map(json!({"name": "a", "namespace": x})),
        map(json!({"name": "a", "labels": {x.as_str(): "a"}})),
        map(json!({"name": "a", "labels": {"a": x}})),
        map(json!({"name": "a", "annotations": {x.as_str(): "a"}})),
        map(json!({"name": "a", "finalizers": [x]})),
        map(json!({"name": "a", "ownerReferences": [{"apiVersion": "v1", "kind": x, "name": x, "uid": "1"}]})),
        map(json!({"generateName": x})),
        map(json!({"name": "a", x.as_str(): 1})),
        annotated("kubectl-reconcile/ignore"),
        annotated("kubectl-reconcile/replace"),
        annotated("kubectl-reconcile/prune"),
        annotated("config.kubernetes.io/depends-on"),
        json!({"apiVersion": "v1", "kind": x, "metadata": {"name": "a"}}),
        json!({"apiVersion": x, "kind": "ConfigMap", "metadata": {"name": "a"}}),
        json!({"apiVersion": format!("a/{x}"), "kind": "Any", "metadata": {"name": "a"}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, x.as_str(): {"a": "b"}}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"ports": [{"port": x}], "type": 5}}),
        json!({"apiVersion": "v1", "kind": "List", "items": [x, {"kind": x}]}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "a"},
               "roleRef": {"apiGroup": x, "kind": x, "name": x}, "subjects": [{"kind": x, "name": x}]}),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"a": x}}),
    ];
    for (number, object) in wrong.iter().enumerate() {
        let file = hostile_on_one_line(&format!("{number}")).replace('/', "-");
        ws.write(format!("one/{file}.json"), &object.to_string());
        let yaml = format!("# Source: {}\n{}\n", hostile_on_one_line("chart/templates/a"), object);
        let folder = format!("each-{number}");
        ws.write(format!("{folder}/a.yaml"), &yaml);
        for command in [&["diff"][..], &["apply", "--validate=strict"], &["status"]] {
            is_honest(&wide(&ws).reconcile([command, &["-f", &folder]].concat()));
        }
    }
    every_command(&ws, None, &["-f", "one"]);
    // What is no YAML at all, and arguments.
    ws.write("broken.yaml", &format!("a: [1\nb: \"{x}\n{FORGED}: &x *y\n"));
    ws.write("twice.yaml", &format!("{{\"{0}\": 1, \"{0}\": 2}}", x.replace(['\0', '\n', '\r'], "")));
    for file in ["broken.yaml", "twice.yaml", &hostile_on_one_line("none")] {
        is_honest(&wide(&ws).reconcile(["diff", "-f", file]));
        is_honest(&wide(&ws).reconcile(["diff", "-k", file]));
    }
}

/// What tenants may write into live objects, and what controllers say.
#[test]
fn live_objects_are_shown_on_one_line() {
    let ws = Workspace::new();
    let x = hostile("x").replace('\0', "");
    let map = |value: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map", "annotations": {"note": value}}, "data": {"a": value}});
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "claim"},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "none", "resources": {"requests": {"storage": "1Gi"}}}});
    let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "a", "image": "a", "args": ["--a"]}]}}}});
    ws.write("m/map.json", &map("ours").to_string());
    ws.write("m/claim.json", &claim.to_string());
    ws.write("m/web.json", &web.to_string());
    ws.write("m/new.json", &map(&x).to_string().replace("\"map\"", "\"new\""));
    ws.reconcile(["apply", "-f", "m", "--prune", "--applyset=set"]).exits_with(0);
    let mut more = map(&x);
    more["metadata"]["annotations"]["kubectl-reconcile/ignore"] = json!(x);
    more["metadata"]["annotations"]["more"] = json!(x);
    more["data"]["more"] = json!(x);
    let manager = format!("kubectl-edit, {FORGED} by alice ::error::x");
    ws.patch_as(&manager, "configmap/map", &more);
    ws.patch_as(
        "kubectl-edit",
        "deployment/web",
        &json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "a", "args": ["--a", x], "command": [x]}]}}}}),
    );
    let condition = json!({"type": "Available", "status": "False", "reason": "A", "message": x});
    let status = json!({"status": {"phase": "Pending", "conditions": [{"type": "Resizing", "status": "True", "reason": x, "message": x}]}});
    ws.kubectl(["patch", "pvc", "claim", "--subresource=status", "--type=merge", "-p", &status.to_string()])
        .exits_with(0);
    let status = json!({"status": {"observedGeneration": 9, "conditions": [condition, {"type": "ReplicaFailure", "status": "True", "reason": "B", "message": x}]}});
    ws.kubectl(["patch", "deployment", "web", "--subresource=status", "--type=merge", "-p", &status.to_string()])
        .exits_with(0);
    // The parent of the set, and a member that no manifest has.
    let set = ws.get("Secret", "set");
    let id = set["metadata"]["labels"]["applyset.kubernetes.io/id"].as_str().unwrap();
    let member = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "member", "labels": {"applyset.kubernetes.io/part-of": id}, "annotations": {"kubectl-reconcile/prune": x}, "finalizers": ["example.com/f"]}});
    ws.stdin(&member.to_string()).kubectl(["create", "-f", "-"]).exits_with(0);
    let lists = json!({"metadata": {"annotations": {"applyset.kubernetes.io/contains-group-kinds": format!("ConfigMap,{x}"),
        "applyset.kubernetes.io/additional-namespaces": x, "applyset.kubernetes.io/tooling": x}}});
    every_command(&ws, None, &["-f", "m"]);
    ws.kubectl(["patch", "secret", "set", "--type=merge", "-p", &lists.to_string()]).exits_with(0);
    ws.patch_as(&manager, "configmap/map", &more);
    every_command(&ws, None, &["-f", "m"]);
    ws.kubectl(["patch", "configmap", "member", "--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#]);
}

/// What the server, a webhook or a proxy before it answers.
#[test]
fn answers_of_servers_are_quoted_on_one_line() {
    let ws = Workspace::new();
    let x = hostile("x");
    ws.write(
        "m/map.json",
        r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}, "data": {"a": "b"}}"#,
    );
    ws.write(
        "m/new.json",
        r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}, "data": {"a": "b"}}"#,
    );
    ws.kubectl(["create", "configmap", "map", "--from-literal=a=c"]).exits_with(0);
    let cause = json!({"reason": x, "message": x, "field": x});
    let known = json!({"reason": "FieldValueInvalid", "message": x, "field": format!("data[{x}]")});
    let status = |code: u16, reason: &str| {
        let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
            "message": format!("admission webhook \"{x}\" denied the request: {x}"),
            "details": {"name": x, "kind": x, "group": x, "causes": [cause, known]}});
        Fault::Answer(code, vec![("Content-Type", "application/json".to_owned())], body.to_string())
    };
    let page = Fault::Answer(502, vec![("Content-Type", "text/html".to_owned())], format!("<html>{x}</html>"));
    let redirect = Fault::Answer(302, vec![("Location", hostile_on_one_line("https://other/"))], x.clone());
    let faults = [
        status(403, "Forbidden"),
        status(422, "Invalid"),
        status(400, &x),
        status(409, "Conflict"),
        status(500, "InternalError"),
        page,
        redirect,
    ];
    let places = [
        ("PATCH", "configmaps"),
        ("GET", "configmaps"),
        ("GET", "secrets"),
        ("POST", "selfsubjectaccessreviews"),
        ("GET", "/apis?"),
        ("GET", "openapi"),
    ];
    for (number, fault) in faults.iter().enumerate() {
        // A selection, as each has many runs; each fault meets each of the first two places.
        for (method, pattern) in places
            .iter()
            .enumerate()
            .filter(|(place, _)| *place < 2 || place % 3 == number % 3)
            .map(|(_, place)| *place)
        {
            let proxy = Proxy::new(&ws);
            proxy.inject(99, method, pattern, fault.clone());
            let all = [
                &["diff", "--prune", "--applyset=set"][..],
                &["apply", "--dry-run"],
                &["status"],
                &["blame"],
                &["snapshot"],
                &["own", "--dry-run"],
                &["access", "-o", "text"],
                &["diff", "-o", "github"],
            ];
            let some = if number == 0 || !pattern.contains("configmaps") { &all[..] } else { &all[..2] };
            for words in some {
                is_honest(&wide(&ws).through(&proxy.url()).reconcile([*words, &["-f", "m"]].concat()));
            }
        }
    }
    // Warnings, and live objects that no server would store.
    let warning = format!("299 - \"{}\"", hostile_on_one_line("w"));
    let hostile_object = x.clone();
    let rewrite = Fault::Rewritten(Arc::new(move |head, body| {
        if let Ok(value) = http::HeaderValue::from_bytes(warning.as_bytes()) {
            head.headers.append("Warning", value);
        }
        let Ok(mut answer) = serde_json::from_slice::<Value>(body) else { return body.to_vec() };
        let objects = match answer.get_mut("items").and_then(Value::as_array_mut) {
            Some(items) => items.iter_mut().collect(),
            None => vec![&mut answer],
        };
        for object in objects.into_iter().filter(|object| object["metadata"]["name"] == "map") {
            object["metadata"]["deletionTimestamp"] = json!("2026-11-20T10:00:00Z");
            object["metadata"]["finalizers"] = json!([hostile_object]);
            object["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": hostile_object, "name": hostile_object, "uid": "1", "controller": true}]);
            object["metadata"]["annotations"] = json!({hostile_object.as_str(): hostile_object});
            object["metadata"]["managedFields"] = json!([{"manager": hostile_object, "operation": "Update", "apiVersion": hostile_object,
                "time": hostile_object, "subresource": hostile_object, "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}, format!("f:{hostile_object}"): {}}}}]);
        }
        answer.to_string().into_bytes()
    }));
    for (method, pattern) in [("GET", "configmaps"), ("PATCH", "configmaps")] {
        let proxy = Proxy::new(&ws);
        proxy.inject(9999, method, pattern, rewrite.clone());
        every_command(&ws, Some(&proxy.url()), &["-f", "m"]);
    }
}

/// Records of Helm and of `kubectl apply`.
#[test]
fn records_that_the_cluster_keeps_are_quoted_on_one_line() {
    let ws = Workspace::new();
    let x = hostile("x");
    let record = |name: &str, revision: u32, status: &str, manifest: &str| {
        json!({"name": name, "namespace": x, "version": revision, "info": {"status": status, "last_deployed": x, "description": x},
            "chart": {"metadata": {"name": x, "version": x}}, "manifest": manifest, "apply_method": x})
    };
    let manifest = format!(
        "---\n# Source: {}\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map}}\ndata: {{a: {}}}\n",
        hostile_on_one_line("chart/templates/a"),
        Value::from(x.as_str())
    );
    let about = |name: &'static str, revision, status| (name, revision, status);
    store(
        &ws,
        "Secret",
        about("app", 1, "deployed"),
        &gzip(record("app", 1, "deployed", &manifest).to_string().as_bytes()),
    );
    store(&ws, "Secret", about("app", 2, "failed"), &gzip(record("app", 2, &x, &manifest).to_string().as_bytes()));
    store(&ws, "ConfigMap", about("other", 1, "failed"), &gzip(record(&x, 1, &x, &manifest).to_string().as_bytes()));
    let broken = manifest.replace("name: map", &format!("name: {}", Value::from(x.as_str())));
    store(
        &ws,
        "Secret",
        about("broken", 1, "deployed"),
        &gzip(record("broken", 1, "deployed", &broken).to_string().as_bytes()),
    );
    let annotated = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept", "annotations": {
        "kubectl.kubernetes.io/last-applied-configuration": json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept", "labels": {"a": x}}, "data": {"a": x}}).to_string()}}, "data": {"a": "b"}});
    ws.stdin(&annotated.to_string()).kubectl(["create", "-f", "-"]).exits_with(0);
    for source in ["helm/app", "helm/app@2", "helm/other", "helm/broken", "helm", "last-applied", "helm/none"] {
        for words in [
            &["diff"][..],
            &["diff", "-v", "9"],
            &["diff", "-o", "github"],
            &["diff", "-o", "name"],
            &["status"],
            &["blame"],
            &["snapshot"],
            &["access", "-o", "text"],
            &["access"],
            &["apply", "--dry-run"],
        ] {
            is_honest(&wide(&ws).reconcile([words, &["--from", source]].concat()));
        }
    }
    is_honest(&wide(&ws).reconcile(["own", "--dry-run", "--from", "helm/app"]));
}

/// Files that are read back, and configurations.
#[test]
fn files_of_others_are_quoted_on_one_line() {
    let ws = Workspace::new();
    let x = hostile("x");
    let map = |value: &str| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}, "data": {"a": value}}).to_string()
    };
    ws.write("m/map.json", &map("a"));
    ws.reconcile(["apply", "-f", "m"]).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/map", &json!({"data": {"a": "b"}}));
    let home = ws.home().display().to_string();
    let report = format!("{home}/report.json");
    ws.reconcile(["diff", "-f", "m", "-o", &format!("json={report}"), "--save-plan", &format!("{home}/plan.json")])
        .exits_with(1);
    // Each text of a report, one after the other, is replaced.
    for (file, word) in [("report.json", "merge"), ("report.json", "baseline"), ("plan.json", "plan")] {
        let original: Value = serde_json::from_str(&fs::read_to_string(format!("{home}/{file}")).unwrap()).unwrap();
        let mut pointers = Vec::new();
        texts(&original, &mut String::new(), &mut pointers);
        for pointer in pointers {
            let mut changed = original.clone();
            *changed.pointer_mut(&pointer).unwrap() = json!(x);
            let path = format!("{home}/changed.json");
            fs::write(&path, changed.to_string()).unwrap();
            let words: &[&str] = match word {
                "merge" => &["report", "merge", &path],
                "baseline" => &["diff", "-f", "m", "--baseline", &path],
                _ => &["apply", "-f", "m", "--plan", &path, "--dry-run"],
            };
            is_honest(&wide(&ws).reconcile(words));
            if word == "merge" {
                is_honest(&wide(&ws).reconcile([words, &["-o", "github"]].concat()));
            }
        }
    }
    let rules =
        |rule: Value| json!({"apiVersion": "kubectl-reconcile/v1", "kind": "Config", "ignore": [rule]}).to_string();
    let target = json!({"kind": "ConfigMap"});
    for (number, configuration) in [
        rules(json!({"target": target, "fields": ["data.a"], "reason": x})),
        rules(json!({"target": target, "fields": [x], "reason": "a"})),
        rules(json!({"target": {"kind": x, "name": x}, "fields": ["data.a"], "reason": "a"})),
        rules(json!({"target": target, "fields": ["data.a"], "managers": [x], "reason": "a", "expires": x})),
        json!({"apiVersion": "kubectl-reconcile/v1", "kind": "Config", x.as_str(): 1}).to_string(),
        json!({"apiVersion": "kubectl-reconcile/v1", "kind": "Config", "expect": {"context": x, "namespaces": [x]}})
            .to_string(),
        json!({"apiVersion": "kubectl-reconcile/v1", "kind": "Config", "manualManagers": [x]}).to_string(),
        json!({"apiVersion": x, "kind": x}).to_string(),
    ]
    .iter()
    .enumerate()
    {
        let file = format!("{number}-config.yaml");
        ws.write(&file, configuration);
        for words in [
            &["diff", "-f", "m", "--explain-ignores", "-v", "9"][..],
            &["apply", "-f", "m", "--dry-run"],
            &["config", "view"],
            &["status", "-f", "m"],
        ] {
            is_honest(&wide(&ws).reconcile([words, &["--config", &file]].concat()));
        }
    }
    // A log of others.
    let event = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": x, "stage": "ResponseComplete",
        "requestURI": format!("/api/v1/namespaces/{}/configmaps/map?fieldManager=kubectl-edit", ws.namespace()), "verb": "patch",
        "user": {"username": x, "groups": [x]}, "impersonatedUser": {"username": x}, "sourceIPs": [x], "userAgent": x,
        "objectRef": {"resource": "configmaps", "namespace": ws.namespace(), "name": "map", "apiVersion": "v1"}, "responseStatus": {"code": 200},
        "requestReceivedTimestamp": "2026-11-20T10:00:00.000000Z", "stageTimestamp": "2026-11-20T10:00:00.000000Z"});
    let mut lines = String::new();
    for time in ["2020", "2026"] {
        lines += &event.to_string().replace("2026-11-20", &format!("{time}-11-26"));
        lines.push('\n');
    }
    let log = ws.write("audit.log", &format!("{lines}{x}\n"));
    let log = log.display().to_string();
    for words in [&["diff"][..], &["blame"], &["diff", "-o", "github"]] {
        is_honest(&wide(&ws).reconcile([words, &["-f", "m", "--audit-log", &log]].concat()));
    }
    for configuration in [
        json!({"apiVersion": "v1", "kind": "Config", "current-context": x, "contexts": [], "clusters": []}),
        json!({"apiVersion": "v1", "kind": "Config", "current-context": x, "contexts": [{"name": x, "context": {"cluster": x, "user": x, "namespace": x}}],
            "clusters": [{"name": x, "cluster": {"server": format!("https://127.0.0.1:1/{x}")}}], "users": [{"name": x, "user": {"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": x, "installHint": x}}}]}),
        json!({"apiVersion": x, "kind": x}),
    ] {
        let path = ws.write("kubeconfig.json", &configuration.to_string());
        for words in [&["diff", "-f", "m"][..], &["version"], &["status", "-f", "m", "--context", "a"]] {
            let caller = wide(&ws).env("KUBECONFIG", &path.display().to_string());
            is_honest(&caller.reconcile(words));
        }
    }
}

/// The places of all texts.
fn texts(value: &Value, at: &mut String, found: &mut Vec<String>) {
    let length = at.len();
    match value {
        Value::String(_) => found.push(at.clone()),
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                at.extend(["/", &number.to_string()]);
                texts(item, at, found);
                at.truncate(length);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                at.extend(["/", &name.replace('~', "~0").replace('/', "~1")]);
                texts(field, at, found);
                at.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A name that ends the code around it could go on as words of this program, or as a command that it offers.
#[test]
fn names_of_others_end_no_code_and_are_in_no_command() {
    let ws = Workspace::new();
    let map = |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}, "data": data});
    ws.write("base.json", &map(json!({"a": "b", "kept": "x"})).to_string());
    ws.write("m.json", &map(json!({"a": "b"})).to_string());
    ws.apply_as("m`x, run `rm", &map(json!({"a": "b", "kept": "x"})).to_string());
    let diff = wide(&ws).reconcile(["diff", "-f", "m.json", "--base", "base.json", "--exit-zero"]).exits_with(0);
    let told = r#"`data.kept` is no longer in the manifest and stays: owned by "m\u0060x, run \u0060rm""#;
    assert!(diff.stdout.contains(told) && !diff.to_string().contains("m`x"), "{diff}");

    ws.reconcile(["apply", "-f", "m.json", "--prune", "--applyset=set"]).exits_with(0);
    for (tooling, is_offered) in [
        ("$(touch it)` is broken; run `kubectl delete ns shop/v1", false),
        ("$(touch it)/v1", false),
        ("--force-conflicts/v1", false),
        ("other-tool/v1", true),
    ] {
        let annotation = format!("applyset.kubernetes.io/tooling={tooling}");
        ws.kubectl(["annotate", "--overwrite", "secret", "set", &annotation]).exits_with(0);
        let run = wide(&ws).reconcile(["diff", "-f", "m.json", "--prune", "--applyset=set"]).exits_with(2);
        assert!(run.stderr.contains("is managed by"), "{run}");
        assert_eq!(run.stderr.contains("--adopt="), is_offered, "{run}");
        assert!(!run.stderr.contains("`kubectl delete"), "{run}");
    }
}

//! What differs can be seen in every format and at every width.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, DnType, KeyPair};
use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace, wait_until};

/// The formats that show values for people, one line for each difference first.
const FORMATS: [&str; 6] = ["github", "gitlab", "junit", "sarif", "markdown", "html"];
const WIDTHS: [&str; 4] = ["60", "80", "100", "200"];

/// The text at each width, whose lines fit.
fn texts<'w>(ws: &'w Workspace, flags: &'w [&'w str]) -> impl Iterator<Item = String> + 'w {
    WIDTHS.into_iter().map(move |columns| {
        let run =
            ws.stdin("").env("COLUMNS", columns).reconcile([&["diff", "-f", "."][..], flags].concat()).exits_with(1);
        let (lines, _) = run.stdout.trim_end().rsplit_once('\n').unwrap_or_else(|| panic!("{run}"));
        let columns: usize = columns.parse().unwrap();
        for line in lines.lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
        run.stdout
    })
}

/// What a format prints, with its quotes as they are read.
fn shown(ws: &Workspace, format: &str) -> (Run, String) {
    let run = ws.reconcile(["diff", "-f", ".", "-o", format]).exits_with(1);
    let text = run.stdout.replace("&quot;", "\"").replace("\\\"", "\"").replace("<b>", "").replace("</b>", "");
    (run, text)
}

fn config_map(key: &str, text: &str) -> String {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "it"}, "data": {key: text}}).to_string()
}

#[test]
fn the_line_that_differs_is_shown_in_every_format() {
    let ws = Workspace::new();
    let padding = "add_header X-Frame-Options DENY; ".repeat(8);
    let conf = |timeout: &str| {
        format!(
            "worker_processes auto;\nevents {{\n}}\nhttp {{\n  keepalive 32;\n  server {{\n    {padding}proxy_read_timeout {timeout}; {padding}\n  }}\n}}\n"
        )
    };
    ws.write("it.yaml", &config_map("nginx.conf", &conf("90s")));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &config_map("nginx.conf", &conf("30s")));
    for text in texts(&ws, &[]) {
        assert!(text.contains("(1 of 9 lines)") && text.contains("90s") && text.contains("30s"), "{text}");
    }
    for format in FORMATS {
        let (run, text) = shown(&ws, format);
        assert!(text.contains("90s;") && text.contains("30s;"), "{run}");
        if !["markdown", "html"].contains(&format) {
            assert!(text.contains("data[\"nginx.conf\"] line 7: …"), "{run}");
        }
    }
}

#[test]
fn fields_inside_of_texts_are_shown_and_layout_is_not() {
    let ws = Workspace::new();
    let json_of = |burst: u16| json!({"rate": {"burst": burst, "per": "second"}, "hosts": "h".repeat(200)});
    ws.write("it.yaml", &config_map("app.json", &json_of(500).to_string()));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &config_map("app.json", &format!("{:#}\n", json_of(200))));
    for text in texts(&ws, &[]) {
        assert!(text.contains("data[\"app.json\"] (JSON)") && text.contains("rate.burst: 500 → 200"), "{text}");
    }
    for format in FORMATS {
        let (run, text) = shown(&ws, format);
        assert!(!text.contains("hhhh") && text.contains("rate.burst: 500"), "{run}");
        if !["markdown", "html"].contains(&format) {
            assert!(text.contains("data[\"app.json\"] rate.burst: 500 → 200"), "{run}");
        }
    }

    ws.write("it.yaml", &config_map("app.json", &format!("{:#}\n", json_of(500))));
    let layout = "only the layout of the JSON differs";
    for text in texts(&ws, &["--full"]) {
        assert!(text.contains(layout) && !text.contains("second"), "{text}");
    }
    for format in FORMATS {
        let (run, text) = shown(&ws, format);
        assert!(text.contains(layout) && !text.contains("hhhh") && !text.contains("second"), "{run}");
    }
    for format in ["json", "yaml", "unified"] {
        let (run, text) = shown(&ws, format);
        assert!(!text.contains(layout) && text.contains("second"), "{run}");
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn characters_that_look_alike_are_shown_as_escapes() {
    let ws = Workspace::new();
    ws.write("it.yaml", &config_map("a", "gr\u{fc}n\nb \n"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &config_map("a", "gru\u{308}n\nb\n"));
    for text in texts(&ws, &[]) {
        for line in ["- gr\\u{fc}n", "+ gru\\u{308}n", "- b\\u{20}", "+ b\n"] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
    for format in FORMATS {
        let (run, text) = shown(&ws, format);
        let text = text.replace("\\\\", "\\");
        assert!(text.contains("gr\\u{fc}n") && text.contains("gru\\u{308}n"), "{run}");
    }
}

#[test]
fn certificates_of_secrets_are_shown_and_keys_are_not() {
    let ws = Workspace::new();
    let issue = |year: i32, names: &[&str]| {
        let mut params = CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "shop");
        params.not_before = rcgen::date_time_ymd(2025, 1, 1);
        params.not_after = rcgen::date_time_ymd(year, 12, 1);
        let key = KeyPair::generate().unwrap();
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    };
    let write = |(certificate, key): &(String, String)| {
        // The harness searches every output for these.
        for line in [certificate, key]
            .into_iter()
            .flat_map(|text| text.lines())
            .filter(|line| line.len() > 20 && !line.starts_with('-'))
        {
            ws.secret(line);
        }
        let both = ws.secret(&STANDARD.encode(format!("{certificate}{key}")));
        let certificate = ws.secret(&STANDARD.encode(certificate));
        let key = ws.secret(&STANDARD.encode(key));
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "tls"}, "type": "kubernetes.io/tls",
            "data": {"tls.crt": certificate, "tls.key": key, "both.pem": both},
        });
        ws.write("tls.yaml", &object.to_string());
    };
    write(&issue(2026, &["shop.example.com"]));
    ws.reconcile(["diff", "-f", ".", "-o", "json", "--full"]).exits_with(1);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let blame = ws.reconcile(["blame", "-f", ".", "-o", "json"]).exits_with(0);
    let blame: Value = serde_json::from_str(&blame.stdout).unwrap();
    let is_of_certificate = |field: &&Value| field["path"].as_str().unwrap().starts_with("data[\"tls.crt\"]");
    let fields: Vec<&Value> = blame[0]["fields"].as_array().unwrap().iter().filter(is_of_certificate).collect();
    assert!(fields.len() > 5, "{blame}");
    for field in fields {
        // A certificate is one value, however it is shown.
        assert_eq!(
            (&field["managers"][0]["manager"], &field["manifest"]),
            (&json!("kubectl-reconcile"), &json!("same"))
        );
    }
    write(&issue(2027, &["shop.example.com", "www.shop.example.com"]));
    for text in texts(&ws, &[]) {
        assert!(text.contains("data[\"tls.crt\"] (certificate)"), "{text}");
        assert!(text.contains("expires: 2026-12-01T00:00:00Z → 2027-12-01T00:00:00Z"), "{text}");
        assert!(text.contains("www.shop.example.com"), "{text}");
        assert!(
            text.contains("data[\"tls.key\"]: (secret #") && text.contains("data[\"both.pem\"]: (secret #"),
            "{text}"
        );
    }
    for format in FORMATS.into_iter().chain(["json", "yaml", "unified"]) {
        let (run, text) = shown(&ws, format);
        let is_named = text.contains("2027-12-01T00:00:00Z") && text.contains("www.shop.example.com");
        assert_eq!(is_named, format != "unified", "{run}");
    }
    let run = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let changes = run.object("Secret", "tls")["changes"].as_array().unwrap();
    let change_of =
        |path: &str| changes.iter().find(|change| change["path"] == path).unwrap_or_else(|| panic!("{run}"));
    let certificate = &change_of("data[\"tls.crt\"]")["desired"];
    assert_eq!(certificate["certificates"][0]["names"], json!(["shop.example.com", "www.shop.example.com"]));
    assert!(certificate["redacted"].is_string(), "{certificate}");
    for path in ["data[\"tls.key\"]", "data[\"both.pem\"]"] {
        assert_eq!(change_of(path)["live"].as_object().unwrap().len(), 1, "{path}");
    }
    ws.write("report.json", &run.report().to_string());
    let merged = ws.reconcile(["report", "merge", "report.json", "-o", "markdown"]);
    assert!(merged.stdout.contains("2027-12-01T00:00:00Z"), "{merged}");
    ws.reconcile(["snapshot", "-f", "."]);
}

/// One rule as YAML, one item a line.
fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> String {
    let list = |texts: &[&str]| texts.iter().map(|text| format!("  - '{text}'\n")).collect::<Vec<_>>().concat();
    format!("- apiGroups:\n{}  resources:\n{}  verbs:\n{}", list(&[group]), list(resources), list(verbs))
}

fn role(rules: &[String]) -> String {
    let head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: $NS-operator\nrules:\n";
    format!("{head}{}", rules.concat())
}

const ALL: [&str; 7] = ["create", "delete", "get", "list", "patch", "update", "watch"];
const READ: [&str; 3] = ["get", "list", "watch"];

/// The rules of an operator before and after an upgrade, which writes most of them otherwise: 327 lines.
fn upgrade() -> (String, String) {
    let resource = |at: usize| format!("things{at:02}");
    let each = |at: usize, verbs: &[&str]| {
        let one = resource(at);
        let status = format!("{}/status", resource(at));
        [
            rule("example.com", &[one.as_str()], verbs),
            rule("example.com", &[status.as_str()], &["get", "patch", "update"]),
        ]
    };
    let mut old: Vec<String> = (0..14).flat_map(|at| each(at, &ALL)).collect();
    old.extend([
        rule("", &["pods", "services"], &ALL),
        rule("", &["persistentvolumeclaims"], &["delete", "get"]),
        rule("apps", &["deployments", "statefulsets"], &READ),
        rule("coordination.k8s.io", &["leases"], &ALL),
    ]);
    let names: Vec<String> = (0..14).map(resource).collect();
    let statuses: Vec<String> = names.iter().map(|name| format!("{name}/status")).collect();
    let (names, statuses): (Vec<&str>, Vec<&str>) =
        (names.iter().rev().map(String::as_str).collect(), statuses.iter().map(String::as_str).collect());
    let new = [
        rule("", &["services", "pods", "secrets"], &ALL),
        rule("", &["persistentvolumeclaims"], &["get"]),
        rule("", &["pods/exec"], &["create"]),
        rule("apps", &["deployments"], &READ),
        rule("apps", &["statefulsets"], &["watch", "list", "get", "patch"]),
        rule("example.com", &names, &ALL),
        rule("example.com", &statuses, &["update", "patch", "get"]),
        rule("example.com", &["widgets"], &["*"]),
        rule("coordination.k8s.io", &["leases"], &["create", "get", "list", "patch", "update", "watch"]),
    ];
    (role(&old), role(&new))
}

#[test]
fn the_upgrade_of_a_role_is_shown_by_what_it_grants() {
    let ws = Workspace::new();
    let (old, new) = upgrade();
    assert!((320..340).contains(&old.lines().count()), "{}", old.lines().count());
    let role = format!("{}-operator", ws.namespace());
    let user = format!("{}-user", ws.namespace());
    ws.write("role.yaml", &old);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.kubectl(["create", "clusterrolebinding", &role, "--clusterrole", &role, "--user", &user]).exits_with(0);
    // The authorizer decides what the lines have to say.
    let may = |verb: &str, resource: &str| {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let subresource = format!("--subresource={subresource}");
        ws.kubectl(["auth", "can-i", verb, resource, &subresource, "--as", &user]).stdout.trim().ends_with("yes")
    };
    let added = [("create", "secrets"), ("create", "pods/exec"), ("patch", "statefulsets.apps")];
    let removed = [("delete", "persistentvolumeclaims"), ("delete", "leases.coordination.k8s.io")];
    let kept = [("watch", "services"), ("list", "deployments.apps")];
    wait_until("the binding is in force", || may("list", "deployments.apps"));
    assert!(added.iter().all(|(verb, resource)| !may(verb, resource)));
    for (verb, resource) in removed.iter().chain(&kept) {
        assert!(may(verb, resource), "{verb} {resource}");
    }

    ws.write("role.yaml", &new);
    for text in texts(&ws, &[]) {
        assert!(text.lines().count() <= 13, "{text}");
        assert!(text.contains("    rules (grants)\n") && !text.contains("things"), "{text}");
        for line in [
            "      + pods/exec: create (core) ⚠ pods/exec\n",
            "      + widgets: * (example.com) ⚠ *\n",
            "      + statefulsets: patch (apps)\n",
            "      - leases: delete (coordination.k8s.io)\n",
            "      - persistentvolumeclaims: delete (core)\n",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(
            text.contains("      + secrets: create, delete, get,") && text.contains(" (core) ⚠ secrets\n"),
            "{text}"
        );
    }
    for format in FORMATS {
        let (run, text) = shown(&ws, format);
        assert!(text.contains("pods/exec: create (core) ⚠ pods/exec") && !text.contains("things"), "{run}");
    }
    let (run, text) = shown(&ws, "unified");
    assert!(text.contains("things07") && !text.contains("⚠"), "{run}");
    let full = ws.reconcile(["diff", "-f", ".", "--full"]).exits_with(1);
    assert!(full.stdout.contains("- things07/status") && !full.stdout.contains("(grants)"), "{full}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    wait_until("the role is in force", || added.iter().all(|(verb, resource)| may(verb, resource)));
    assert!(removed.iter().all(|(verb, resource)| !may(verb, resource)));
    assert!(kept.iter().all(|(verb, resource)| may(verb, resource)));

    let rules: Vec<&str> = new.split("- apiGroups:").collect();
    let turned =
        rules.first().into_iter().chain(rules.iter().skip(1).rev()).copied().collect::<Vec<_>>().join("- apiGroups:");
    ws.write("role.yaml", &turned);
    for text in texts(&ws, &[]) {
        assert!(text.contains("rules (the same grants, written otherwise)\n") && text.lines().count() <= 5, "{text}");
    }
    // As many rules as before, of which one has another verb.
    ws.write(
        "role.yaml",
        &new.replaced("  - 'pods/exec'\n  verbs:\n  - 'create'\n", "  - 'pods/exec'\n  verbs:\n  - 'get'\n"),
    );
    for text in texts(&ws, &[]) {
        let lines = "      + pods/exec: get (core) ⚠ pods/exec\n      - pods/exec: create (core)\n";
        assert!(text.contains(lines) && !text.contains("statefulsets"), "{text}");
    }
    let run = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let changes = run.object("ClusterRole", &role)["changes"].as_array().unwrap();
    assert!(changes.len() == 1 && changes[0]["path"] == "rules", "{run}");
    ws.kubectl(["delete", "clusterrolebinding", &role]).exits_with(0);
}

//! Which permissions `diff` and `apply` need, and what is said when one is missing.

use serde_json::{Value, json};

use crate::control_plane::{ANY_FIELDS, ControlPlane, Run, Workspace, definition, is_before, wait_until};
use crate::manifests::WEB;

/// Objects in the namespace and beside it, many of one kind, and those that grant permissions themselves.
fn manifests(ws: &Workspace) {
    for number in 0..6 {
        let map = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number}}}, data: {{a: b}}}}");
        ws.write(format!("m-{number}.yaml"), &map);
    }
    ws.write("web.yaml", WEB);
    ws.write("key.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: key}, stringData: {a: b}}");
    ws.write("class.yaml", "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: $NS}, value: 7}");
    ws.write(
        "role.yaml",
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: look}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}",
    );
    ws.write(
        "binding.yaml",
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: look}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: look}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}]}",
    );
}

/// A user with the roles that `access` prints with these flags, and with no other permission.
struct User<'w> {
    ws: &'w Workspace,
    name: String,
    purpose: &'static str,
    flags: Vec<&'static str>,
    by_name: bool,
    roles: Vec<Value>,
}

impl<'w> User<'w> {
    fn new(ws: &'w Workspace, purpose: &'static str, flags: &[&'static str]) -> Self {
        let name = ws.fill_in(&format!("$NS-{purpose}"));
        Self { ws, name, purpose, flags: flags.to_vec(), by_name: false, roles: Vec::new() }.with_roles()
    }

    /// The same, for the objects of the manifests alone.
    fn by_name(ws: &'w Workspace, purpose: &'static str, flags: &[&'static str]) -> Self {
        let name = ws.fill_in(&format!("$NS-{purpose}"));
        Self { ws, name, purpose, flags: flags.to_vec(), by_name: true, roles: Vec::new() }.with_roles()
    }

    fn with_roles(self) -> Self {
        let ws = self.ws;
        let user = self;
        let report: Value = serde_json::from_str(&user.access(&["-o", "json"], false).exits_with(0).stdout).unwrap();
        let roles = report["roles"].as_array().unwrap().clone();
        let user = Self { roles, ..user };
        user.restore();
        for role in &user.roles {
            let kind = role["kind"].as_str().unwrap();
            let named = role["metadata"]["name"].as_str().unwrap();
            let binding = match kind {
                "Role" => ["create", "rolebinding", named, "--role", named, "--user", &user.name],
                _ => ["create", "clusterrolebinding", named, "--clusterrole", named, "--user", &user.name],
            };
            ws.kubectl(binding).exits_with(0);
        }
        user.wait_until_complete(true);
        user
    }

    fn access(&self, more: &[&str], as_user: bool) -> Run {
        let mut words = vec!["access", "-f", ".", "--for", self.purpose, "--name", "$NS"];
        words.extend(self.flags.iter().copied());
        words.extend(self.by_name.then_some("--by-name"));
        words.extend(more);
        if as_user {
            words.extend(["--as", &self.name]);
        }
        self.ws.reconcile(words)
    }

    fn run(&self, more: &[&str]) -> Run {
        let mut words = vec![self.purpose, "-f", "."];
        words.extend(self.flags.iter().copied());
        words.extend(more);
        words.extend(["--as", &self.name]);
        self.ws.reconcile(words)
    }

    fn restore(&self) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": self.roles}).to_string();
        self.ws.stdin(&list).kubectl(["apply", "--server-side", "--force-conflicts", "-f", "-"]).exits_with(0);
    }

    /// The server learns of a changed role a moment later.
    fn wait_until_complete(&self, is_complete: bool) {
        wait_until("the server knows the roles", || (self.access(&[], true).code == 0) == is_complete);
    }

    /// Takes one rule away after the other, and gives it back.
    fn without_each_rule(&self, check: impl Fn(&Self, &[String])) {
        for role in &self.roles {
            for (index, rule) in role["rules"].as_array().unwrap().iter().enumerate() {
                // Missed only where replicas differ (`autoscalers.rs`).
                if rule["resources"] == json!(["horizontalpodautoscalers"]) {
                    continue;
                }
                let mut lesser = role.clone();
                lesser["rules"].as_array_mut().unwrap().remove(index);
                self.ws.stdin(&lesser.to_string()).kubectl(["replace", "-f", "-"]).exits_with(0);
                self.wait_until_complete(false);
                check(self, &permissions(rule, &role["metadata"]["namespace"]));
                self.restore();
                self.wait_until_complete(true);
            }
        }
    }
}

/// What a rule allows, as messages name it.
fn permissions(rule: &Value, namespace: &Value) -> Vec<String> {
    let texts = |name: &str| -> Vec<String> {
        let values = rule[name].as_array().into_iter().flatten();
        values.map(|value| value.as_str().unwrap().to_owned()).collect()
    };
    let group = &texts("apiGroups")[0];
    let place = namespace.as_str().map_or("in the cluster".to_owned(), |name| format!("in the namespace `{name}`"));
    let mut all = Vec::new();
    for resource in texts("resources") {
        let resource = if group.is_empty() { resource } else { format!("{resource}.{group}") };
        for verb in texts("verbs") {
            let names = texts("resourceNames");
            let names = if names.is_empty() {
                vec![String::new()]
            } else {
                names.iter().map(|name| format!(" named `{name}`")).collect()
            };
            all.extend(names.iter().map(|name| format!("`{verb}` on `{resource}`{name} {place}")));
        }
    }
    all
}

fn clear(ws: &Workspace) {
    ws.kubectl(["delete", "-f", ".", "--ignore-not-found", "--wait"]).exits_with(0);
}

/// Fails if anything was forbidden but what is optional.
#[track_caller]
fn nothing_is_forbidden(ws: &Workspace, action: impl FnOnce() -> Run) -> Run {
    let (run, requests) = ws.requests_during(action);
    let refused = requests.iter().filter(|request| request.code == 403);
    let refused: Vec<&str> = refused.map(|request| request.uri.as_str()).filter(|uri| !is_optional(uri)).collect();
    assert_eq!(refused, [""; 0], "{run}");
    run
}

/// Returns true for requests whose refusal no run depends on.
fn is_optional(uri: &str) -> bool {
    uri.contains("/mutating") || uri.ends_with("/namespaces/kube-system")
}

#[track_caller]
fn names_one_of(run: &Run, permissions: &[String]) {
    let said = format!("{}{}{}", run.report(), run.stdout, run.stderr);
    // The server names verb, resource and namespace; which object it is about is said before.
    let named = |permission: &String| match permission.split_once(" named `") {
        Some((what, rest)) if !what.starts_with("`bind`") && !what.starts_with("`escalate`") => {
            format!("{what}{}", rest.split_once('`').map_or("", |(_, place)| place))
        }
        _ => permission.clone(),
    };
    let permissions: Vec<String> = permissions.iter().map(named).collect();
    assert!(
        permissions.iter().any(|permission| said.contains(permission.as_str())),
        "none of {permissions:#?} in {run}\n{}",
        run.report()
    );
}

#[test]
fn apply_works_with_exactly_its_roles_and_names_the_rule_that_is_missing() {
    let ws = Workspace::new();
    manifests(&ws);
    let user = User::new(&ws, "apply", &[]);
    assert_eq!(user.roles.len(), 2, "a Role and a ClusterRole");
    let apply = nothing_is_forbidden(&ws, || user.run(&[]).exits_with(0));
    assert_eq!(apply.writes(), 11, "{apply}");
    ws.patch_as("kubectl-edit", "configmap/m-1", &json!({"data": {"a": "c"}}));
    ws.patch_as("kubectl-edit", "role/look", &json!({"rules": []}));
    nothing_is_forbidden(&ws, || user.run(&[]).exits_with(0));
    assert_eq!(user.run(&[]).exits_with(0).writes(), 0);
    user.without_each_rule(|user, permissions| {
        clear(user.ws);
        names_one_of(&user.run(&[]).exits_with(4), permissions);
    });
    clear(&ws);
}

#[test]
fn diff_works_with_exactly_its_roles_and_names_the_rule_that_is_missing() {
    let ws = Workspace::new();
    manifests(&ws);
    let user = User::new(&ws, "diff", &[]);
    let verbs = user.roles.iter().flat_map(|role| role["rules"].as_array().unwrap());
    assert!(
        !verbs.clone().any(|rule| rule["verbs"].to_string().contains("escalate")),
        "nobody grants for a comparison"
    );
    let diff = user.run(&[]).exits_with(1);
    // Roles and bindings alone are compared locally, as a dry run would need to grant.
    for object in diff.report()["objects"].as_array().unwrap() {
        let grants = ["Role", "RoleBinding"].contains(&object["kind"].as_str().unwrap());
        assert_eq!(object["evidence"], if grants { "local" } else { "server" }, "{object}");
        let warnings = object["warnings"].to_string();
        assert_eq!(warnings.contains("compared locally"), grants, "{warnings}");
    }
    user.without_each_rule(|user, permissions| names_one_of(&user.run(&[]).exits_with(4), permissions));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 7);
    nothing_is_forbidden(&ws, || user.run(&[]).exits_with(1));
    clear(&ws);
}

#[test]
fn a_drift_check_without_patch_needs_no_permission_to_write() {
    let ws = Workspace::new();
    manifests(&ws);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 7);
    let user = User::new(&ws, "diff", &["--evidence=read-only"]);
    for rule in user.roles.iter().flat_map(|role| role["rules"].as_array().unwrap()) {
        let verbs = rule["verbs"].as_array().unwrap();
        assert!(verbs.iter().all(|verb| verb == "get" || verb == "list"), "{rule}");
    }
    let diff = nothing_is_forbidden(&ws, || user.run(&[]).exits_with(1));
    assert_eq!(diff.object("Deployment", "web")["action"], "update");
    clear(&ws);
}

#[test]
fn looking_for_unmanaged_objects_needs_to_list_all_kinds_and_nothing_else() {
    // A server of its own: elsewhere the kinds change meanwhile.
    let ws = Workspace::on(&ControlPlane::private());
    manifests(&ws);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.kubectl(["create", "configmap", "stray"]).exits_with(0);
    let user = User::new(&ws, "diff", &["--report-unmanaged"]);
    let run = nothing_is_forbidden(&ws, || user.run(&["--fail-on=unmanagedObjects"]));
    let found = run.exits_with(1).report()["unmanaged"].as_array().unwrap().clone();
    assert!(found.iter().any(|object| object["name"] == "stray"), "{found:?}");
    let texts = |role: &Value| role["rules"].as_array().unwrap().clone();
    let rules: Vec<Value> = user.roles.iter().flat_map(texts).collect();
    let only_lists = |rule: &&Value| rule["verbs"] == json!(["list"]);
    assert!(rules.iter().filter(only_lists).count() > 5, "{rules:?}");
}

#[test]
fn roles_by_name_open_nothing_but_the_objects_of_the_manifests() {
    if is_before(33, "the server does not say which permission a creation by PATCH needs") {
        return;
    }
    let ws = Workspace::new();
    manifests(&ws);
    let user = User::by_name(&ws, "apply", &["--replace=immutable"]);
    let apply = user.run(&[]).exits_with(0);
    assert_eq!(apply.writes(), 11, "{apply}");
    ws.patch_as("kubectl-edit", "configmap/m-1", &json!({"data": {"a": "c"}}));
    user.run(&[]).exits_with(0);
    assert_eq!(user.run(&[]).exits_with(0).writes(), 0);
    let other = "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}";
    ws.stdin(other).kubectl(["create", "-f", "-"]).exits_with(0);
    let other = ws.stdin(other).reconcile(["diff", "-f", "-", "--as", &user.name]).exits_with(4);
    assert!(other.stdout.contains("cannot get resource \"configmaps\""), "{other}");
    user.without_each_rule(|user, permissions| {
        clear(user.ws);
        names_one_of(&user.run(&[]).exits_with(4), permissions);
    });
    clear(&ws);
}

#[test]
fn pruning_and_replacing_need_to_list_and_delete() {
    let ws = Workspace::new();
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}");
    ws.write("b.yaml", "{apiVersion: v1, kind: Service, metadata: {name: b}, spec: {ports: [{port: 80}]}}");
    let flags = ["--prune", "--applyset=set", "--replace=immutable"];
    ws.reconcile([&["apply", "-f", "."][..], &flags].concat()).exits_with(0);
    // The roles are made of all manifests that the set had: what only its parent lists gives no rights.
    let user = User::new(&ws, "apply", &flags);
    std::fs::remove_file(ws.folder().join("b.yaml")).unwrap();
    user.without_each_rule(|user, permissions| {
        // The parent exists.
        if permissions.iter().all(|one| one.starts_with("`create` on `secrets`")) {
            return;
        }
        ws.patch_as("kubectl-edit", "configmap/a", &json!({"data": {"a": "c"}}));
        names_one_of(&user.run(&[]).exits_with(4), permissions);
        assert!(ws.find("Service", "b").is_some());
    });
    let apply = nothing_is_forbidden(&ws, || user.run(&[]).exits_with(0));
    assert!(apply.each("outcome").contains(&"Service b: deleted".to_owned()), "{apply}");
    let refused = ws.reconcile(["access", "-f", ".", "--prune", "--applyset=set", "--applyset-recover"]);
    assert!(refused.exits_with(2).stderr.contains("`--applyset-recover`"));
}

/// Everybody who may write the parent of an apply set may write its list, and any object.
#[test]
fn what_the_parent_of_an_apply_set_lists_gives_no_rights() {
    let ws = Workspace::new();
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}");
    let flags = ["-f", ".", "--prune", "--applyset=set"];
    let roles = |more: &[&str]| {
        let run = ws.reconcile([&["access", "-o", "json", "--for=diff,apply"][..], &flags, more].concat());
        serde_json::from_str::<Value>(&run.exits_with(0).stdout).unwrap()
    };
    let before = roles(&[]);
    assert_eq!(before.get("withheld"), None, "{before}");
    // The parent is a Secret: no other one may be read.
    let granted = before["roles"].as_array().unwrap().iter().flat_map(|role| role["rules"].as_array().unwrap());
    let of_secrets: Vec<&Value> = granted.filter(|rule| rule["resources"] == json!(["secrets"])).collect();
    assert_eq!(of_secrets.len(), 3, "{before}");
    for rule in of_secrets.into_iter().filter(|rule| rule["verbs"] != json!(["create"])) {
        assert_eq!(rule["resourceNames"], json!(["set"]), "{before}");
    }
    ws.reconcile([&["apply"][..], &flags].concat()).exits_with(0);
    let kinds = "ClusterRole.rbac.authorization.k8s.io,ConfigMap,Secret,Namespace,Role.rbac.authorization.k8s.io";
    let (kinds, namespaces) = (
        format!("applyset.kubernetes.io/contains-group-kinds={kinds}"),
        "applyset.kubernetes.io/additional-namespaces=kube-system,other".to_owned(),
    );
    ws.kubectl(["annotate", "--overwrite", "secret", "set", &kinds, &namespaces]).exits_with(0);
    // Members, autoscalers and owners of others widen nothing either.
    let parent = ws.get("Secret", "set");
    let part_of = format!(
        "applyset.kubernetes.io/part-of={}",
        parent["metadata"]["labels"]["applyset.kubernetes.io/id"].as_str().unwrap()
    );
    ws.kubectl(["create", "role", "member", "--verb=get", "--resource=pods"]).exits_with(0);
    ws.kubectl(["label", "role", "member", &part_of]).exits_with(0);
    for more in
        [&[][..], &["--by-name"], &["--wait", "--create-namespace", "--replace=immutable"], &["--report-unmanaged"]]
    {
        let (granted, report) = (before["roles"].clone(), roles(more));
        if more.is_empty() {
            assert_eq!(report["roles"], granted);
        }
        let granted = report["roles"].to_string();
        for word in ["kube-system", "\"other\"", "bind\"", "escalate"] {
            assert!(!granted.contains(word), "{word}: {report}");
        }
        let withheld = &report["withheld"];
        assert!(withheld["record"].as_str().unwrap().starts_with("the parent Secret "), "{report}");
        assert!(withheld["roles"].to_string().contains("kube-system"), "{report}");
    }
    let yaml = ws.reconcile([&["access", "--subject=User:ci"][..], &flags].concat()).exits_with(0);
    let granted: String = yaml.stdout.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(!granted.contains("kube-system") && !granted.contains("-listed"), "{yaml}");
    assert!(
        yaml.stdout.contains("# Not granted: the parent Secret ") && yaml.stdout.contains("#   namespace: kube-system"),
        "{yaml}"
    );
    // A user with the printed roles lacks what the list asks for: the gate says so.
    let user = ws.fill_in("gate-$NS");
    ws.allow(&user, "get", "secrets");
    let gate = ws.reconcile([&["access", "--as", &user, "-o", "text"][..], &flags].concat()).exits_with(1);
    assert!(gate.stdout.contains("kube-system"), "{gate}");
    let refused = ws.reconcile(["access", "--from=last-applied", "--prune", "--applyset=set"]).exits_with(2);
    assert!(refused.stderr.contains("`access --from` prints no roles for pruning"), "{refused}");
}

#[test]
fn waiting_needs_to_watch_and_to_read_pods() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    let user = User::new(&ws, "apply", &["--wait"]);
    let apply = nothing_is_forbidden(&ws, || user.run(&["--timeout=1s"]).exits_with(5));
    assert!(
        !apply.object("Deployment", "web")["readiness"]["message"].to_string().contains("cannot be read"),
        "{apply}"
    );
    user.without_each_rule(|user, permissions| {
        // What is in sync already is only waited for.
        let run = user.run(&["--timeout=3s"]);
        assert!([4, 5].contains(&run.code), "{run}");
        let said = run.report().to_string().replace("\\\"", "\"");
        let named = |permission: &String| {
            let mut words = permission.split('`');
            let verb = words.nth(1).unwrap();
            let resource = words.nth(1).unwrap().split('.').next().unwrap();
            said.contains(&format!("cannot {verb} resource \"{resource}\""))
        };
        assert!(permissions.iter().any(named), "none of {permissions:#?} in {said}");
    });
}

#[test]
fn access_is_a_gate_and_says_what_is_missing_in_every_format() {
    let ws = Workspace::new();
    manifests(&ws);
    let words = |more: &[&'static str]| [&["access", "-f", ".", "--as", "nobody-$NS"][..], more].concat();
    let yaml = ws.reconcile(words(&[])).exits_with(1);
    assert!(
        yaml.stderr.contains(&ws.fill_in("missing for diff and apply: `get` on `configmaps` in the namespace `$NS`\n")),
        "{yaml}"
    );
    assert!(
        yaml.stderr.contains("missing for apply: `escalate` on `roles.rbac.authorization.k8s.io` named `look`"),
        "{yaml}"
    );
    assert!(yaml.stderr.trim_end().ends_with(" are missing"), "{yaml}");
    ws.stdin(&yaml.stdout).kubectl(["apply", "--dry-run=server", "-f", "-"]).exits_with(0);
    assert_eq!(yaml.stdout.matches("kind: Role\n").count(), 2);
    assert_eq!(yaml.stdout.matches("kind: ClusterRole\n").count(), 2);
    assert!(yaml.stdout.contains("# `escalate` lets its holder"), "{yaml}");

    let text = ws.reconcile(words(&["-o", "text", "--for=apply"])).exits_with(1);
    assert!(
        text.stdout.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.join(" ") == ws.fill_in("missing configmaps in $NS get, list, create, patch for apply")
        }),
        "{text}"
    );
    let configmaps = text.stdout.lines().filter(|line| line.contains(" configmaps "));
    assert_eq!(configmaps.count(), 1, "a line for each resource: {text}");
    assert_eq!(text.stderr, "");
    let all = ws.reconcile(["access", "-f", ".", "-o", "text"]).exits_with(0);
    assert!(all.stdout.contains("allowed  configmaps ") && all.stdout.contains("the user has all "), "{all}");

    let json = ws.reconcile(words(&["-o", "json"])).exits_with(1);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (&report["kind"], &report["command"], &report["exitCode"]),
        (&json!("AccessReport"), &json!("access"), &json!(1))
    );
    let patch = report["permissions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["resource"] == "deployments" && one["verb"] == "patch");
    let expected = json!({"for": ["diff", "apply"], "verb": "patch", "group": "apps", "resource": "deployments", "namespace": ws.namespace(), "allowed": false});
    assert_eq!(patch, Some(&expected));
}

#[test]
fn kinds_that_the_input_defines_have_permissions_and_unknown_ones_are_named() {
    let ws = Workspace::new();
    ws.write("crd.yaml", &definition("Jug", ANY_FIELDS));
    ws.write("jug.yaml", "{apiVersion: $NS.example.com/v1, kind: Jug, metadata: {name: a}}");
    let known = ws.reconcile(["access", "-f", "."]).exits_with(0);
    assert!(known.stdout.contains("- jugs\n") && known.stdout.contains("- customresourcedefinitions\n"), "{known}");
    let user = User::new(&ws, "apply", &[]);
    nothing_is_forbidden(&ws, || user.run(&[]).exits_with(0));

    ws.write("unknown.yaml", "{apiVersion: example.com/v1, kind: Nothing, metadata: {name: a}}");
    let unknown = ws.reconcile(["access", "-f", ".", "-o", "json"]).exits_with(4);
    assert!(unknown.stderr.contains("the permissions for Nothing"), "{unknown}");
    let report: Value = serde_json::from_str(&unknown.stdout).unwrap();
    assert_eq!((&report["exitCode"], report["errors"].as_array().unwrap().len()), (&json!(4), 1));

    let bad = ws.reconcile(["access", "-f", "none.yaml", "-o", "json"]).exits_with(2);
    let report: Value = serde_json::from_str(&bad.stdout).unwrap();
    assert_eq!(report["exitCode"], 2);
}

#[test]
fn a_refusal_about_a_secret_names_the_permission() {
    let ws = Workspace::new();
    ws.write("key.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: key}, stringData: {a: b}}");
    let diff = ws.as_user("limited").reconcile(["diff", "-f", "."]).exits_with(4);
    let error = &diff.object("Secret", "key")["error"];
    let place = ws.fill_in("in the namespace \"$NS\" (403 Forbidden)");
    assert_eq!(error["message"], format!("the user cannot get resource \"secrets\" {place}"));
    let hint = ws.fill_in(
        "the user needs `get` on `secrets` in the namespace `$NS`: `kubectl reconcile access` shows all that is needed",
    );
    assert_eq!(error["hint"], hint);
    ws.allow("limited", "get", "secrets");
    let diff = ws.as_user("limited").reconcile(["diff", "-f", "."]).exits_with(1);
    let warnings = diff.object("Secret", "key")["warnings"].to_string();
    assert!(warnings.contains("the user cannot patch resource") && warnings.contains(ws.namespace()), "{warnings}");
}

#[test]
fn bindings_give_each_kind_of_subject_the_permissions_of_the_roles() {
    let ws = Workspace::new();
    manifests(&ws);
    // A dry run of these would grant.
    for granting in ["role.yaml", "binding.yaml"] {
        std::fs::remove_file(ws.folder().join(granting)).unwrap();
    }
    let subjects = ["User:$NS-jane", "Group:$NS-devs", "ServiceAccount:$NS/ci"];
    let mut words = vec!["access", "-f", ".", "--for", "diff", "--name", "$NS"];
    words.extend(subjects.iter().flat_map(|subject| ["--subject", subject]));
    let yaml = ws.reconcile(&words).exits_with(0);
    assert_eq!(yaml.stdout.matches("kind: RoleBinding\n").count(), 1, "{yaml}");
    assert_eq!(yaml.stdout.matches("kind: ClusterRoleBinding\n").count(), 1, "{yaml}");
    ws.stdin(&yaml.stdout).kubectl(["apply", "-f", "-"]).exits_with(0);
    for bound in [
        &["--as", "$NS-jane"][..],
        &["--as", "$NS-joe", "--as-group", "$NS-devs"],
        &["--as", "system:serviceaccount:$NS:ci"],
    ] {
        let check = [&["access", "-f", ".", "--for", "diff"][..], bound].concat();
        wait_until("the server knows the bindings", || ws.reconcile(&check).code == 0);
        nothing_is_forbidden(&ws, || ws.reconcile([&["diff", "-f", "."][..], bound].concat()).exits_with(1));
    }
    ws.reconcile(["diff", "-f", ".", "--as", "$NS-joe"]).exits_with(4);
    let json = ws.reconcile([&words[..], &["-o", "json"]].concat()).exits_with(0);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    let bindings = report["bindings"].as_array().unwrap();
    assert_eq!(bindings.len(), report["roles"].as_array().unwrap().len());
    for (role, binding) in report["roles"].as_array().unwrap().iter().zip(bindings) {
        assert_eq!(role["metadata"], binding["metadata"]);
        assert_eq!(binding["subjects"].as_array().unwrap().len(), subjects.len());
        assert_eq!(binding["roleRef"]["kind"], role["kind"]);
    }
    ws.stdin(&yaml.stdout).kubectl(["delete", "-f", "-"]).exits_with(0);
}

#[test]
fn subjects_that_rbac_would_not_find_are_refused() {
    let ws = Workspace::new();
    manifests(&ws);
    for (subject, named) in [
        ("ci", "has no kind"),
        ("Robot:ci", "`Robot` is not a kind of subject"),
        ("ServiceAccount:ci", "write `ServiceAccount:NAMESPACE/NAME`"),
        ("ServiceAccount:shop/CI", "is not a ServiceAccount"),
        ("User:", "an empty name"),
        ("User:a\nb", "hidden characters"),
    ] {
        let refused = ws.reconcile(["access", "-f", ".", "--subject", subject]).exits_with(2);
        assert!(refused.stderr.contains(named) && refused.stdout.is_empty(), "{refused}");
    }
    let text = ws.reconcile(["access", "-f", ".", "--subject", "User:ci", "-o", "text"]).exits_with(2);
    assert!(text.stderr.contains("`-o text`"), "{text}");
}

#[test]
fn creating_namespaces_needs_permissions_on_them() {
    let ws = Workspace::new();
    let name = format!("{}-new", ws.namespace());
    ws.write("a.yaml", &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, namespace: {name}}}}}"));
    let user = format!("{name}-user");
    let access = |more: &[&str]| {
        let all = ["access", "-f", ".", "--for", "apply", "--name", "$NS", "--create-namespace"];
        ws.reconcile([&all[..], more].concat())
    };
    let subject = format!("User:{user}");
    let report: Value =
        serde_json::from_str(&access(&["--subject", &subject, "-o", "json"]).exits_with(0).stdout).unwrap();
    let apply = |item: &Value| {
        ws.stdin(&item.to_string()).kubectl(["apply", "-f", "-"]).exits_with(0);
    };
    let in_cluster = |item: &&Value| item["metadata"]["namespace"].is_null();
    let items = || report["roles"].as_array().unwrap().iter().chain(report["bindings"].as_array().unwrap());
    items().filter(in_cluster).for_each(apply);
    let run = || ws.reconcile(["apply", "-f", ".", "--create-namespace", "--as", &user]);
    let bound = ["get", "create", "patch"].map(|verb| ["auth", "can-i", verb, "namespaces", "--as", &user]);
    wait_until("the server knows the binding", || bound.iter().all(|can| ws.kubectl(can).code == 0));
    let first = run().exits_with(4);
    assert_eq!(first.object("Namespace", &name)["outcome"], "created", "{first}");
    items().filter(|item| !in_cluster(item)).for_each(apply);
    wait_until("the server knows the role", || access(&["--as", &user]).code == 0);
    let second = nothing_is_forbidden(&ws, || run().exits_with(0));
    assert_eq!(second.object("ConfigMap", "a")["outcome"], "created", "{second}");
    let without = ws.reconcile(["access", "-f", ".", "--for", "apply", "-o", "json"]).exits_with(0);
    let report: Value = serde_json::from_str(&without.stdout).unwrap();
    assert!(report["roles"].is_array() && !report["roles"].to_string().contains("\"namespaces\""), "{without}");
    items().filter(in_cluster).for_each(|item| {
        ws.stdin(&item.to_string()).kubectl(["delete", "-f", "-"]).exits_with(0);
    });
}

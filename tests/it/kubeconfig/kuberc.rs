//! The policy for credential plugins in kubectl's preferences holds here as in kubectl.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::world::{Case, World, case};
use crate::control_plane::ControlPlane;

/// `named` is found on `PATH`, the others have a path.
const CONFIG: &str = "
clusters: [{name: a, cluster: {server: 'https://{a}', certificate-authority: ca.crt}}]
users:
- {name: path, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: '{dir}/plugin', interactiveMode: Never}}}
- {name: relative, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never}}}
- {name: named, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: ['{dir}/plugin'], interactiveMode: Never}}}
- {name: through, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: '{dir}/home/../plugin', interactiveMode: Never}}}
- {name: missing, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: '{dir}/none', interactiveMode: Never}}}
- {name: token, user: {token: sesame}}
contexts: [{name: c, context: {cluster: a, user: path}}]
current-context: c
";

/// The file in the home folder.
const USUAL: &str = "home/.kube/kuberc";

const VERSION: &str = "kubectl.config.k8s.io/v1beta1";

/// `DenyAll` in JSON, with this end.
fn json_preference(end: &str) -> String {
    format!("{{\"apiVersion\": \"{VERSION}\", \"kind\": \"Preference\", \"credentialPluginPolicy\": \"DenyAll\"{end}")
}

fn preferences(text: &str) -> &'static str {
    format!("apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n{text}\n").leak()
}

/// With these preferences in the home folder.
fn usual(name: &'static str, text: &'static str) -> Case {
    case(name).kubeconfig(CONFIG).file(USUAL, text)
}

fn policy(name: &'static str, text: &str) -> Case {
    usual(name, preferences(text))
}

/// With these preferences in the file that `KUBERC` names.
fn named(name: &'static str, text: &'static str) -> Case {
    case(name).kubeconfig(CONFIG).file("rc", text).env("KUBERC", "{dir}/rc")
}

fn cases() -> Vec<Case> {
    const DENY: &str = "credentialPluginPolicy: DenyAll";
    let deny = preferences(DENY);
    let list = |entry: &str| format!("credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{entry}]");
    let mut cases = vec![
        policy("no policy", "defaults: []"),
        policy("AllowAll", "credentialPluginPolicy: AllowAll"),
        policy("an empty policy", "credentialPluginPolicy: ''"),
        policy("null as policy", "credentialPluginPolicy: null"),
        policy("DenyAll", DENY),
        policy("DenyAll without a plugin", DENY).args(&["--user=token"]),
        policy("DenyAll with a plugin that is missing", DENY).args(&["--user=missing"]),
        policy("an unknown policy", "credentialPluginPolicy: Never"),
        policy("an unknown policy without a plugin", "credentialPluginPolicy: Never").args(&["--user=token"]),
        policy("a policy that is no text", "credentialPluginPolicy: 1"),
        policy("a misspelt key", "credentialPluginPolicies: DenyAll"),
        policy("a key in capitals", "CredentialPluginPolicy: DenyAll"),
        policy("an empty list", &list("")),
        policy("a list without the policy", "credentialPluginAllowlist: [{command: x}]"),
        policy("an empty list without the policy", "credentialPluginAllowlist: []"),
        policy("null as list", "credentialPluginPolicy: DenyAll\ncredentialPluginAllowlist: null"),
        policy("the policy without a list", "credentialPluginPolicy: Allowlist"),
        policy("an empty entry", &list("{}")),
        policy("null as entry", &list("null")),
        policy("a list of texts", &list("'{dir}/plugin'")),
        policy("two spellings that differ", &list("{name: a, command: '{dir}/plugin'}")),
        policy("two spellings that agree", &list("{name: '{dir}/plugin', command: '{dir}/plugin'}")),
        policy("a path that is not clean", &list("{command: '{dir}//plugin'}")),
        policy("a path through a parent", &list("{command: '{dir}/x/../plugin'}")),
        policy("an alias with a digit", &format!("{DENY}\naliases: [{{name: a1, command: get}}]"))
            .args(&["--user=token"]),
        policy("an alias twice", "aliases: [{name: aa, command: get}, {name: aa, command: get}]"),
        policy("an option with dashes", "defaults: [{command: get, options: [{name: --output, default: yaml}]}]"),
        policy(
            "an alias's option with dashes",
            "aliases: [{name: a, command: get, options: [{name: -o, default: x}]}]",
        ),
        policy("an option that is no text", "defaults: [{command: top, options: [{name: x, default: 1}]}]"),
        usual("no YAML", "a: [\n"),
        usual("an empty file", ""),
        usual("another kind", "apiVersion: v1\nkind: ConfigMap\n"),
        usual(
            "the older version has no policy",
            "apiVersion: kubectl.config.k8s.io/v1alpha1\nkind: Preference\ncredentialPluginPolicy: DenyAll\n",
        ),
        usual(
            "an unknown version",
            "apiVersion: kubectl.config.k8s.io/v9\nkind: Preference\ncredentialPluginPolicy: DenyAll\n",
        ),
        usual("the second document", format!("apiVersion: v1\nkind: ConfigMap\n---\n{deny}").leak()),
        usual("a broken document first", format!("a: [\n---\n{deny}").leak()),
        usual("the first of two", format!("{}---\n{deny}", preferences("defaults: []")).leak()),
        usual(
            "JSON",
            "{\"apiVersion\": \"kubectl.config.k8s.io/v1beta1\", \"kind\": \"Preference\", \"credentialPluginPolicy\": \"DenyAll\"}",
        ),
        named("KUBERC with DenyAll", deny),
        named("KUBERC without preferences", "a: 1\n"),
        named("KUBERC with an empty file", ""),
        named("KUBERC with a line end", "  \n"),
        named("KUBERC with a comment", "# nothing\n"),
        named("KUBERC with an empty document", "---\n"),
        named("KUBERC with null", "null\n"),
        usual("a comment", "# nothing\n"),
        named("KUBERC over the home folder", preferences("")).file(USUAL, deny),
        case("KUBERC that is missing").kubeconfig(CONFIG).env("KUBERC", "{dir}/none"),
        usual("KUBERC=off", deny).env("KUBERC", "off"),
        usual("KUBERC empty", deny).env("KUBERC", ""),
        usual("KUBERC=off with --kuberc", deny).env("KUBERC", "off").args(&["--kuberc={dir}/home/.kube/kuberc"]),
        usual("the feature is off", deny).env("KUBECTL_KUBERC", "false"),
        usual("the feature is off in capitals", deny).env("KUBECTL_KUBERC", "FALSE"),
        usual("the feature is on", deny).env("KUBECTL_KUBERC", "0"),
        usual("the feature is off with --kuberc", deny)
            .env("KUBECTL_KUBERC", "false")
            .args(&["--kuberc={dir}/home/.kube/kuberc"]),
        named("--kuberc over KUBERC", deny).file("other", preferences("")).args(&["--kuberc={dir}/other"]),
        named("--kuberc with the usual path", deny)
            .file(USUAL, preferences(""))
            .args(&["--kuberc={dir}/home/.kube/kuberc"]),
        case("--kuberc that is missing").kubeconfig(CONFIG).args(&["--kuberc={dir}/none"]),
        case("--kuberc without a file").kubeconfig(CONFIG).args(&["--kuberc="]),
    ];
    for user in ["path", "relative", "named", "through"] {
        for entry in ["{dir}/plugin", "plugin", "{dir}/home/../plugin", "sh", "{sh}", "none", "/none/sh", "./plugin"] {
            let case = policy("an allowlist", &list(&format!("{{command: '{entry}'}}")));
            cases.push(case.args(&[format!("--user={user}").leak()]));
            let case = policy("an allowlist of names", &list(&format!("{{name: x}}, {{name: '{entry}'}}")));
            cases.push(case.args(&[format!("--user={user}").leak()]));
        }
    }
    cases
}

/// Files in which it is not obvious whether they hold preferences.
fn odd_files() -> Vec<Case> {
    const DENY: &str = "credentialPluginPolicy: DenyAll";
    let deny = preferences(DENY);
    vec![
        usual("other cases of the type", format!("Kind: Preference\nAPIVersion: {VERSION}\n{DENY}\n").leak()),
        named(
            "KUBERC with other cases of the type",
            format!("KIND: Preference\napiversion: {VERSION}\n{DENY}\n").leak(),
        ),
        usual("letters that fold", format!("\u{212a}ind: Preference\napiVer\u{17f}ion: {VERSION}\n{DENY}\n").leak()),
        usual("the last case counts", format!("Kind: ConfigMap\n{deny}").leak()),
        usual("the first case does not", format!("{deny}kinD: Preference\nkind: ConfigMap\n").leak()),
        usual(
            "null does not count",
            format!("{}kinD: Preference\nkind: null\n", deny.replace("kind: Preference", "")).leak(),
        ),
        usual("a case that is no text", format!("KIND: 1\n{deny}").leak()),
        usual(
            "flow style in other cases",
            format!("{{\"Kind\": \"Preference\", apiVersion: {VERSION}, {DENY}}}").leak(),
        ),
        usual(
            "flow style behind a separator",
            format!("---\n{{kind: Preference, apiVersion: {VERSION}, {DENY}}}\n").leak(),
        ),
        named("KUBERC in flow style", format!("{{kind: Preference, apiVersion: {VERSION}, {DENY}}}\n").leak()),
        usual("JSON that ends with a comma", json_preference(",}").leak()),
        usual("JSON in order", json_preference(", \"Kind\": \"ConfigMap\"}").leak()),
        usual("JSON in the other order", format!("{{\"Kind\": \"ConfigMap\", {}", &json_preference("}")[1..]).leak()),
        usual("JSON and text", json_preference("} x").leak()),
        usual("JSON twice", json_preference("}\n").repeat(2).leak()),
        usual("JSON behind another document", format!("a: 1\n---\n{}", json_preference("}")).leak()),
        usual("JSON behind spaces", format!(" \n\u{a0}{}", json_preference("}")).leak()),
        named("KUBERC with JSON and text", json_preference("} x").leak()),
        named("KUBERC with JSON twice", json_preference("}\n").repeat(2).leak()),
        usual("text behind a separator", format!("--- x\n{deny}").leak()),
        usual("text behind the second separator", format!("a: 1\n--- x\n{deny}").leak()),
        usual("text behind a later separator", format!("{deny}--- x\n").leak()),
        named("KUBERC with text behind a separator", format!("a: 1\n--- x\n{deny}").leak()),
        named("KUBERC with a comment behind a separator", format!("a: 1\n--- # x\n{deny}").leak()),
        named("KUBERC with spaces that are not ASCII", "\u{a0}\n---\n"),
        usual("line ends of Windows", deny.replace('\n', "\r\n").leak()),
        usual("a byte order mark", format!("\u{feff}{deny}").leak()),
        usual("a byte order mark and JSON", format!("\u{feff}{}", json_preference("}")).leak()),
        usual("the end of a document", format!("{deny}...\n{{\n").leak()),
    ]
}

#[tokio::test]
async fn a_policy_of_plugins_is_that_of_kubectl() {
    let world = World::new().await;
    let plugin = world.folder.path().join("plugin");
    let answer = "{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": {\"token\": \"t\"}}";
    std::fs::write(&plugin, format!("#!/bin/sh\necho '{answer}'\n")).unwrap();
    std::fs::set_permissions(&plugin, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut differences = Vec::new();
    for case in cases().into_iter().chain(odd_files()) {
        if let Err(difference) = case.check(&world).await {
            differences.push(format!("{:?} {difference}", case.arguments()));
        }
    }
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
}

#[tokio::test]
async fn a_plugin_that_must_not_run_is_named_with_the_file() {
    let world = World::new().await;
    let case = policy("DenyAll", "credentialPluginPolicy: DenyAll");
    case.write(&world);
    let (_, message) = world.ours(&case).await;
    let file = world.folder.path().join(USUAL);
    assert_eq!(
        message,
        world.fill(&format!(
            "the kuberc `{}` does not allow the credential plugin `{{dir}}/plugin`: its policy is `DenyAll`",
            file.display()
        ))
    );
}

/// A call of both programs in a folder `work`, beside folders `a` and `b` that have the plugin, too.
struct Call {
    name: &'static str,
    /// `PATH`; `{dir}` is the folder above.
    path: &'static str,
    command: &'static str,
    usual: Vec<u8>,
    args: &'static [&'static str],
}

fn call(name: &'static str, usual: impl Into<Vec<u8>>) -> Call {
    Call { name, path: "{dir}/a", command: "{dir}/a/plug", usual: usual.into(), args: &[] }
}

/// With this entry in the allowlist.
fn listed(entry: &str, command: &'static str, path: &'static str) -> Call {
    let text = format!("credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{{command: '{entry}'}}]");
    let name = format!("command {command}, entry {entry}, PATH {path}").leak();
    Call { path, command, ..call(name, preferences(&text)) }
}

/// With `--kuberc` for files of the working directory: `deny`, `allow`, and those that kubectl refuses.
fn flagged(args: &'static [&'static str]) -> Call {
    Call { args, ..call(args.join(" ").leak(), preferences("")) }
}

impl Call {
    /// Whether the plugin ran, and the exit code.
    async fn run(&self, world: &World, program: &Path, command: &[&str]) -> (bool, Option<i32>, String) {
        let folder = world.folder.path();
        let home = folder.join("home/.kube");
        std::fs::create_dir_all(&home).unwrap();
        let fill = |text: &str| world.fill(text);
        let usual = String::from_utf8(self.usual.clone()).map(|text| fill(&text).into_bytes());
        std::fs::write(home.join("kuberc"), usual.unwrap_or_else(|_| self.usual.clone())).unwrap();
        std::fs::write(folder.join("config"), fill(&CONFIG.replace("'{dir}/plugin'", &format!("'{}'", self.command))))
            .unwrap();
        let mut process = tokio::process::Command::new(program);
        process.args(command).args(self.args).current_dir(folder.join("work")).env_clear();
        process.env("PATH", format!("{}:/usr/bin:/bin", fill(self.path))).env("HOME", folder.join("home"));
        process.env("KUBECONFIG", folder.join("config")).stdin(std::process::Stdio::null());
        let output = process.output().await.unwrap();
        let has_run = std::fs::remove_file(folder.join("ran")).is_ok();
        (has_run, output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A text in UTF-16.
fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect()
}

/// What depends on the working directory, on `PATH`, or on the bytes of the file.
#[tokio::test]
async fn a_plugin_runs_where_kubectl_runs_it() {
    let world = World::new().await;
    let kubectl = tokio::task::spawn_blocking(|| ControlPlane::shared().kubectl()).await.unwrap();
    let folder = world.folder.path();
    let trace = folder.join("ran").display().to_string();
    let answer = "{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": {\"token\": \"t\"}}";
    for name in ["a", "b", "work"] {
        let plugin = folder.join(name).join("plug");
        std::fs::create_dir(folder.join(name)).unwrap();
        std::fs::write(&plugin, format!("#!/bin/sh\ntouch '{trace}'\necho '{answer}'\n")).unwrap();
        std::fs::set_permissions(&plugin, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let deny = preferences("credentialPluginPolicy: DenyAll");
    let broken = [deny.as_bytes(), b"# \xff\n"].concat();
    for (name, text) in [
        ("deny", deny.into()),
        ("utf16", utf16(deny, u16::to_le_bytes)),
        ("allow", preferences("").into()),
        ("broken", broken.clone()),
    ] {
        std::fs::write(folder.join("work").join(name), text).unwrap();
    }
    std::fs::write(folder.join("work/json"), json_preference("} x")).unwrap();
    let mut calls = vec![
        call("a comment that is no UTF-8", broken),
        call("UTF-16 without a last byte", utf16(deny, u16::to_le_bytes)),
        call("UTF-16", utf16(deny, u16::to_be_bytes)),
        call("a key that is no UTF-8", [deny.as_bytes(), b"\xff: 1\n"].concat()),
        call("JSON with bytes that are no UTF-8", [json_preference(", \"x\": \"").as_bytes(), b"\xff\"}"].concat()),
        flagged(&["--kuberc=deny"]),
        flagged(&["--kuberc=broken"]),
        flagged(&["--kuberc=json"]),
        flagged(&["--kuberc=utf16"]),
        flagged(&["--kuberc", ""]),
        flagged(&["--kuberc="]),
        flagged(&["--kuberc", "", "--kuberc=deny"]),
        flagged(&["--kuberc=deny", "--kuberc="]),
        flagged(&["--kuberc=deny", "--kuberc=allow"]),
        flagged(&["--kuberc", "allow", "--kuberc", "deny"]),
    ];
    for command in ["plug", "{dir}/a/plug", "./a/plug"] {
        for entry in ["plug", "../a/plug", "a/plug", "{dir}/a/plug", "{dir}/b/plug"] {
            calls.push(listed(entry, command, "{dir}/a"));
        }
        for path in [".:{dir}/a", ":{dir}/a", "{dir}/a:.", "../b:{dir}/a", "../work:{dir}/b", "{dir}/a/", "{dir}/work"]
        {
            for entry in ["plug", "{dir}/a/plug", "{dir}/work/plug", "../b/plug"] {
                calls.push(listed(entry, command, path));
            }
        }
    }
    calls.push(Call { command: "plug", path: ".:{dir}/a", ..call("without a policy", "") });
    let mut differences = Vec::new();
    let mut ran = 0;
    for call in &calls {
        let theirs = call.run(&world, &kubectl, &["get", "--raw", "/probe"]).await;
        let ours = call.run(&world, env!("CARGO_BIN_EXE_kubectl-reconcile").as_ref(), &["version"]).await;
        ran += usize::from(theirs.0);
        // A file that kubectl refuses has to be corrected. Without a plugin that the policy does not allow, there are no credentials.
        let expected = if ours.2.contains("does not allow the credential plugin") { 3 } else { 2 };
        if theirs.0 != ours.0 || !theirs.0 && ours.1 != Some(expected) {
            differences.push(format!("{}:\n  kubectl: {theirs:?}\n  we:      {ours:?}", call.name));
        }
    }
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
    assert!(ran >= 20 && ran + 20 <= calls.len(), "both outcomes occur: {ran} of {}", calls.len());
}

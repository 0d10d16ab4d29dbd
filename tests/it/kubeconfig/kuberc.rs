//! The policy for credential plugins in kubectl's preferences holds here as in kubectl.

use std::os::unix::fs::PermissionsExt as _;

use super::world::{Case, World, case};

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

#[tokio::test]
async fn a_policy_of_plugins_is_that_of_kubectl() {
    let world = World::new().await;
    let plugin = world.folder.path().join("plugin");
    let answer = "{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": {\"token\": \"t\"}}";
    std::fs::write(&plugin, format!("#!/bin/sh\necho '{answer}'\n")).unwrap();
    std::fs::set_permissions(&plugin, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut differences = Vec::new();
    for case in cases() {
        if let Err(difference) = case.check(&world).await {
            differences.push(format!("{:?} {difference}", case.arguments()));
        }
    }
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
}

/// What a refusal says, and its exit code.
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

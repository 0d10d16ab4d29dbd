//! The same files, flags and environment lead to the same server, as the same user, as they do for kubectl.

mod keys;
mod kuberc;
mod trust;
mod world;

use std::os::unix::fs::PermissionsExt;

use self::world::{Case, Outcome, World, case};

async fn compare(cases: Vec<Case>) {
    let world = World::new().await;
    let mut differences = Vec::new();
    for case in cases {
        if let Err(difference) = case.check(&world).await {
            differences.push(difference);
        }
    }
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
}

/// Servers and users of most cases.
const BASE: &str = "
clusters:
- {name: a, cluster: {server: 'https://{a}', certificate-authority-data: '{ca}'}}
- {name: b, cluster: {server: 'https://{b}/prefix/', certificate-authority: ca.crt}}
- {name: named, cluster: {server: 'https://{a}', certificate-authority: ca.crt, tls-server-name: api.example.com}}
- {name: misnamed, cluster: {server: 'https://{a}', certificate-authority: ca.crt, tls-server-name: other.example.com}}
- {name: insecure, cluster: {server: 'https://{a}', insecure-skip-tls-verify: true}}
- {name: untrusted, cluster: {server: 'https://{a}'}}
- {name: plain, cluster: {server: 'http://{plain}'}}
- {name: bare, cluster: {server: '{plain}'}}
- {name: serverless, cluster: {certificate-authority: ca.crt}}
- {name: proxied, cluster: {server: 'https://api.example.com:6443', proxy-url: 'http://{proxy}'}}
- {name: odd-proxy, cluster: {server: 'https://{a}', proxy-url: 'ftp://{proxy}'}}
- {name: both, cluster: {server: 'https://{a}', insecure-skip-tls-verify: true, certificate-authority: ca.crt}}
- {name: twice, cluster: {server: 'https://{a}', certificate-authority-data: '{ca}', certificate-authority: ca.crt}}
users:
- {name: token, user: {token: sesame}}
- {name: certificate, user: {client-certificate: client.crt, client-key: client.key}}
- {name: keyless, user: {client-certificate: client.crt}}
- {name: certificate-and-token, user: {client-certificate: client.crt, client-key: client.key, token: sesame}}
- {name: jane, user: {token: sesame, as: jane, as-groups: [g1, g2], as-uid: '7', as-user-extra: {Scopes: [view]}}}
- {name: groups-only, user: {token: sesame, as-groups: [g1]}}
- {name: nobody, user: {}}
- {name: file, user: {tokenFile: secret/token}}
- {name: file-and-token, user: {tokenFile: secret/token, token: sesame}}
- {name: no-file, user: {tokenFile: secret/none}}
contexts:
- {name: a, context: {cluster: a, user: token}}
- {name: b, context: {cluster: b, user: certificate, namespace: shop}}
- {name: jane, context: {cluster: a, user: jane}}
- {name: stranger, context: {cluster: a, user: unheard-of}}
- {name: userless, context: {cluster: a}}
- {name: nowhere, context: {cluster: unheard-of, user: token}}
current-context: a
";

fn base(name: &'static str) -> Case {
    case(name).kubeconfig(BASE).file("secret/token", "from-file\n")
}

#[tokio::test]
async fn flags_choose_what_they_choose_for_kubectl() {
    compare(vec![
        base("the current context"),
        base("--context").args(&["--context=b"]),
        base("--context that does not exist").args(&["--context=c"]),
        base("an empty --context").args(&["--context="]),
        base("--cluster").args(&["--cluster=b"]),
        base("--cluster that does not exist").args(&["--cluster=c"]),
        base("--user").args(&["--user=certificate"]),
        base("--user that does not exist").args(&["--user=u"]),
        base("--server").args(&["--server=https://{b}"]),
        base("--server with a path and a query").args(&["--server=https://{b}/x/y/?q=1"]),
        base("--server of plain HTTP").args(&["--server=http://{plain}"]),
        base("--server without a scheme").args(&["--server={plain}"]),
        base("a cluster without a scheme").args(&["--cluster=bare"]),
        base("a plain cluster gets no token").args(&["--cluster=plain", "--token=t"]),
        base("--server beside --context").args(&["--context=jane", "--server=https://{b}"]),
        base("a context with an unknown user").args(&["--context=stranger", "--token=t"]),
        base("--token without --user").args(&["--context=userless", "--token=t"]),
    ])
    .await;
}

#[tokio::test]
async fn credentials_are_those_of_kubectl() {
    compare(vec![
        base("a certificate").args(&["--user=certificate"]),
        base("a certificate without key").args(&["--user=keyless"]),
        base("a certificate without key, with --client-key").args(&["--user=keyless", "--client-key={dir}/client.key"]),
        base("--client-certificate and --client-key")
            .args(&["--client-certificate={dir}/client.crt", "--client-key={dir}/client.key"]),
        base("a relative --client-certificate").args(&["--client-certificate=nowhere.crt", "--client-key=nowhere.key"]),
        base("a certificate and a token").args(&["--user=certificate-and-token"]),
        base("--token over a token").args(&["--token=t"]),
        base("--token over a certificate").args(&["--user=certificate", "--token=t"]),
        base("an empty --token").args(&["--token="]),
        base("a token file").args(&["--user=file"]),
        base("a token file that is missing").args(&["--user=no-file"]),
        base("no credentials but a flag").args(&["--user=nobody", "--token=t"]),
        base("a token beside its file").args(&["--user=file-and-token"]),
        base("impersonation").args(&["--user=jane"]),
        base("--as").args(&["--as=joe"]),
        base("--as over impersonation").args(&["--user=jane", "--as=joe"]),
        base("--as-group over impersonation").args(&["--user=jane", "--as-group=h1", "--as-group=h2"]),
        base("--as with everything").args(&[
            "--as=joe",
            "--as-uid=9",
            "--as-group=h",
            "--as-user-extra=Scopes=edit=all",
            "--as-user-extra=Scopes=x",
            "--as-user-extra=acme.com/x y=1",
        ]),
        base("--as-user-extra beside impersonation").args(&["--user=jane", "--as-user-extra=Scopes=edit"]),
        base("--as-group without --as").args(&["--as-group=h"]),
        base("--as-uid without --as").args(&["--as-uid=h"]),
        base("groups without a user").args(&["--user=groups-only"]),
    ])
    .await;
}

/// kubectl takes the flag only as long as the file cannot be read, which nobody means who gives a token.
#[tokio::test]
async fn a_token_flag_beats_a_token_file_unlike_with_kubectl() {
    let world = World::new().await;
    let case = base("--token over a token file").args(&["--user=file", "--token=typed"]);
    case.write(&world);
    let token = |outcome: Outcome| outcome.visits.first().unwrap().headers["authorization"].clone();
    assert_eq!(token(world.kubectl(&case).await.0), ["Bearer from-file"]);
    assert_eq!(token(world.ours(&case).await.0), ["Bearer typed"]);
}

/// What a plugin is given, and what its answer does.
#[tokio::test]
async fn plugins_are_given_what_kubectl_gives_them() {
    const SCRIPT: &str = "#!/bin/sh
printf '%s' \"$KUBERNETES_EXEC_INFO\" > {dir}/info.json
echo \"$0 $* $MODE $(wc -c)\" > {dir}/call
printf '{\"kind\": \"ExecCredential\", \"apiVersion\": \"%s\", \"status\": {\"token\": \"from-plugin\"}}' \"$API\"
";
    const CONFIG: &str = "
clusters:
- name: full
  cluster:
    server: https://{b}/prefix
    certificate-authority: ca.crt
    tls-server-name: api.example.com
    disable-compression: true
    extensions:
    - {name: other, extension: 1}
    - {name: client.authentication.k8s.io/exec, extension: {audience: [x, {y: 1}]}}
- name: insecure
  cluster: {server: 'https://{a}', insecure-skip-tls-verify: true}
users:
- name: v1
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sub/../plugin, interactiveMode: Never, args: [a, b c],
    env: [{name: MODE, value: m}, {name: API, value: client.authentication.k8s.io/v1}], provideClusterInfo: true}}
- name: v1beta1
  user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./plugin, provideClusterInfo: true,
    env: [{name: API, value: client.authentication.k8s.io/v1beta1}]}}
- name: uninformed
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: '{dir}/plugin', interactiveMode: IfAvailable,
    env: [{name: API, value: client.authentication.k8s.io/v1}]}}
- name: other-version
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never,
    env: [{name: API, value: client.authentication.k8s.io/v1beta1}]}}
- name: always
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Always}}
- name: certified
  user: {client-certificate: client.crt, client-key: client.key,
    exec: {apiVersion: client.authentication.k8s.io/v1, command: ./none, interactiveMode: Never}}
- name: missing
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./none, interactiveMode: Never}}
";
    let world = World::new().await;
    let plugin = world.folder.path().join("plugin");
    std::fs::write(&plugin, world.fill(SCRIPT)).unwrap();
    std::fs::set_permissions(&plugin, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut differences = Vec::new();
    for (cluster, user) in [
        ("full", "v1"),
        ("insecure", "v1"),
        ("full", "v1beta1"),
        ("full", "uninformed"),
        ("full", "other-version"),
        ("full", "always"),
        ("full", "certified"),
        ("full", "missing"),
    ] {
        let arguments = [format!("--cluster={cluster}"), format!("--user={user}")].map(|argument| &*argument.leak());
        let case = case(user).kubeconfig(CONFIG).args(&arguments);
        case.write(&world);
        let given = || {
            let info = std::fs::read(world.folder.path().join("info.json")).ok();
            let call = std::fs::read_to_string(world.folder.path().join("call")).ok();
            for file in ["info.json", "call"] {
                let _ = std::fs::remove_file(world.folder.path().join(file));
            }
            (info.map(|info| serde_json::from_slice::<serde_json::Value>(&info).unwrap()), call)
        };
        let theirs = (world.kubectl(&case).await.0, given());
        let ours = (world.ours(&case).await.0, given());
        if theirs != ours {
            differences.push(format!("{cluster}, {user}:\n  kubectl: {theirs:?}\n  we:      {ours:?}"));
        }
    }
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
}

#[tokio::test]
async fn trust_is_that_of_kubectl() {
    compare(vec![
        base("an unknown authority").args(&["--cluster=untrusted"]),
        base("--certificate-authority").args(&["--cluster=untrusted", "--certificate-authority={dir}/ca.crt"]),
        base("--certificate-authority that is missing").args(&["--certificate-authority={dir}/none.crt"]),
        base("--insecure-skip-tls-verify").args(&["--cluster=untrusted", "--insecure-skip-tls-verify=true"]),
        base("--insecure-skip-tls-verify over an authority").args(&["--insecure-skip-tls-verify=true"]),
        base("--insecure-skip-tls-verify with an authority")
            .args(&["--insecure-skip-tls-verify=true", "--certificate-authority={dir}/ca.crt"]),
        base("an insecure cluster").args(&["--cluster=insecure"]),
        base("--insecure-skip-tls-verify=false changes nothing")
            .args(&["--cluster=insecure", "--insecure-skip-tls-verify=false"]),
        base("--certificate-authority over insecure")
            .args(&["--cluster=insecure", "--certificate-authority={dir}/client.crt"]),
        base("insecure with an authority").args(&["--cluster=both"]),
        base("an authority twice").args(&["--cluster=twice"]),
        base("a server name").args(&["--cluster=named"]),
        base("a wrong server name").args(&["--cluster=misnamed"]),
        base("--tls-server-name").args(&["--cluster=misnamed", "--tls-server-name=api.example.com"]),
        base("an address as server name").args(&["--tls-server-name=127.0.0.1"]),
        base("an address in brackets as server name").args(&["--tls-server-name=[127.0.0.1]"]),
        base("another address in brackets as server name").args(&["--tls-server-name=[::1]"]),
        base("a name in brackets as server name").args(&["--tls-server-name=[api.example.com]"]),
        base("--server takes the server name away").args(&["--cluster=misnamed", "--server=https://{a}"]),
    ])
    .await;
}

#[tokio::test]
async fn files_are_found_and_merged_as_by_kubectl() {
    const ONE: &str = "
clusters: [{name: c, cluster: {server: 'https://{a}', certificate-authority: ca.crt}}]
users: [{name: u, user: {as: one}}]
contexts: [{name: x, context: {cluster: c}}]
";
    const TWO: &str = "
kind: Config
apiVersion: v1
clusters:
- {name: c, cluster: {server: 'https://{b}', certificate-authority: ca.crt}}
- {name: d, cluster: {server: 'https://{b}', certificate-authority: ../ca.crt}}
users: [{name: u, user: {token: two}}]
contexts: [{name: x, context: {cluster: d, user: u}}, {name: z, context: {cluster: d, user: u}}]
current-context: z
";
    let two = |name| case(name).file("one", ONE).file("sub/two", TWO);
    let list = "{dir}/one:{dir}/sub/two";
    compare(vec![
        two("the first that sets the current context").env("KUBECONFIG", list).args(&["--token=t"]),
        two("the first that has a context").env("KUBECONFIG", list).args(&["--context=x", "--user=u", "--token=t"]),
        two("the other way round").env("KUBECONFIG", "{dir}/sub/two:{dir}/one").args(&["--context=x"]),
        two("missing, empty and double entries")
            .env("KUBECONFIG", ":{dir}/none::{dir}/sub/two:{dir}/sub/two:{dir}/one:"),
        two("--kubeconfig alone").env("KUBECONFIG", "{dir}/one").args(&["--kubeconfig={dir}/sub/two"]),
        two("--kubeconfig that is missing").env("KUBECONFIG", list).args(&["--kubeconfig={dir}/none"]),
        two("an empty --kubeconfig").env("KUBECONFIG", list).args(&["--kubeconfig=", "--token=t"]),
        two("a folder").env("KUBECONFIG", "{dir}/sub:{dir}/sub/two"),
        two("no current context").env("KUBECONFIG", "{dir}/one").args(&["--cluster=c", "--token=t"]),
        case("the home folder").file("home/.kube/config", BASE_AT_HOME),
        case("an empty KUBECONFIG means the home folder").file("home/.kube/config", BASE_AT_HOME).env("KUBECONFIG", ""),
        case("KUBECONFIG instead of the home folder")
            .file("home/.kube/config", BASE_AT_HOME)
            .env("KUBECONFIG", "{dir}/none")
            .args(&["--context=h"]),
        case("a current context that does not exist")
            .kubeconfig("clusters: [{name: c, cluster: {server: 'https://{a}'}}]\ncurrent-context: none\n")
            .args(&["--cluster=c", "--insecure-skip-tls-verify=true"]),
    ])
    .await;
}

const BASE_AT_HOME: &str = "
clusters: [{name: c, cluster: {server: 'https://{a}', certificate-authority: ../../ca.crt}}]
users: [{name: u, user: {token: home}}]
contexts: [{name: h, context: {cluster: c, user: u}}]
current-context: h
";

#[tokio::test]
async fn files_are_read_as_by_kubectl() {
    const START: &str = "{\"clusters\": [{\"name\": \"c\", \"cluster\": {\"server\": \"https://{a}\", \
                         \"insecure-skip-tls-verify\": true}}], \"contexts\": [{\"name\": \"x\", \
                         \"context\": {\"cluster\": \"c\"}}], \"current-context\": \"x\"";
    let with =
        |name: &'static str, rest: &str| case(name).kubeconfig(format!("{START}{rest}").leak()).args(&["--token=t"]);
    compare(vec![
        with("JSON", "}"),
        with(
            "unknown fields and incomplete entries",
            ", \"odd\": 1, \"users\": [{\"name\": \"u\"}, {}], \"preferences\": {}}",
        ),
        with("null", ", \"users\": null, \"preferences\": null, \"extensions\": null}"),
        with("another kind", ", \"kind\": \"Deployment\"}"),
        with("another version", ", \"apiVersion\": \"v2\"}"),
        with("the kind alone", ", \"kind\": \"Config\"}"),
        with("a number for a string", ", \"users\": [{\"name\": \"u\", \"user\": {\"token\": 5}}]}"),
        with("a string for a list", ", \"users\": \"none\"}"),
        with("a name twice", ", \"users\": [{\"name\": \"u\"}, {\"name\": \"u\"}]}"),
        with(
            "a string for a boolean",
            ", \"users\": [{\"name\": \"u\", \"user\": {\"exec\": {\"provideClusterInfo\": \"yes\"}}}]}",
        ),
        with("data that is not base64", ", \"users\": [{\"name\": \"u\", \"user\": {\"client-key-data\": \"?\"}}]}"),
        with(
            "an unused plugin of an unknown kind",
            ", \"users\": [{\"name\": \"u\", \"user\": {\"exec\": {\"interactiveMode\": \"X\"}}}]}",
        ),
        with("a second document", "}\n---\ncurrent-context: other\n"),
        with("broken YAML", ", \"users\": [}"),
        case("a YAML 1.1 boolean")
            .kubeconfig("clusters: [{name: x, cluster: {server: 'https://{a}', insecure-skip-tls-verify: yes}}]")
            .args(&["--cluster=x", "--token=t"]),
        case("a key twice")
            .kubeconfig(
                "clusters: [{name: x, cluster: {server: 'https://{b}', server: 'https://{a}', insecure-skip-tls-verify: on}}]",
            )
            .args(&["--cluster=x", "--token=t"]),
        case("an empty file").file("empty", "").env("KUBECONFIG", "{dir}/empty").args(&["--server=http://{plain}"]),
        case("a comment")
            .file("empty", "# nothing\n")
            .env("KUBECONFIG", "{dir}/empty")
            .args(&["--server=http://{plain}"]),
    ])
    .await;
}

#[tokio::test]
async fn proxies_are_those_of_kubectl() {
    let to = |server: &'static str, no_proxy: &'static str| {
        case(format!("{server} with NO_PROXY={no_proxy}").leak())
            .env("HTTPS_PROXY", "http://user:p%40ss@{proxy}")
            .env("NO_PROXY", no_proxy)
            .args(&[format!("--server={server}").leak(), "--token=t"])
    };
    compare(vec![
        base("proxy-url").args(&["--cluster=proxied"]),
        base("proxy-url before the environment").args(&["--cluster=proxied"]).env("HTTPS_PROXY", "http://127.0.0.1:1"),
        base("proxy-url with NO_PROXY").args(&["--cluster=proxied"]).env("NO_PROXY", "*"),
        base("proxy-url of an unknown kind").args(&["--cluster=odd-proxy"]),
        base("a local server").env("HTTPS_PROXY", "http://{proxy}"),
        case("a proxy without scheme")
            .env("HTTPS_PROXY", "{proxy}")
            .args(&["--server=https://api.invalid", "--token=t"]),
        to("https://api.invalid", ""),
        to("https://api.invalid:6443", "invalid:6443"),
        to("https://api.invalid:6443", "invalid:443"),
        to("https://api.invalid", "invalid"),
        to("https://api.invalid", ".invalid"),
        to("https://invalid", ".invalid"),
        to("https://api.invalid", "*.invalid"),
        to("https://api.invalid", "other, api.invalid ,"),
        to("https://api.invalid", "*"),
        to("https://api.invalid", "nvalid"),
        to("https://240.1.2.3", "240.0.0.0/8"),
        to("https://240.1.2.3", "241.0.0.0/8"),
        to("https://240.1.2.3", "240.1.2.3:443"),
        to("https://240.1.2.3", "240.1.2.3:6443"),
        to("https://240.1.2.3", "2.3"),
    ])
    .await;
}

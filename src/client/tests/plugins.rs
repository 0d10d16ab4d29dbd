//! Credential plugins, played by shell scripts.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::secure::Authority;
use super::server::{Act, Seen, Server, answer, ok};
use super::*;

/// A script, a kubeconfig that names it, and a folder for both.
struct Stage {
    authority: Authority,
}

impl Stage {
    /// `script` is what the plugin does; `exec` are further lines of its entry in the kubeconfig.
    fn new(script: &str, exec: &str) -> Self {
        let authority = Authority::new();
        let plugin = authority.file("login");
        std::fs::write(
            &plugin,
            format!("#!/bin/sh\ncd '{}'\necho run >> runs\n{script}\n", authority.folder.path().display()),
        )
        .unwrap();
        std::fs::set_permissions(&plugin, std::fs::Permissions::from_mode(0o755)).unwrap();
        let kubeconfig = format!(
            "users:\n- name: u\n  user:\n    exec:\n      command: ./login\n      \
             apiVersion: client.authentication.k8s.io/v1\n      interactiveMode: Never\n{exec}\n\
             contexts: [{{name: c, context: {{user: u}}}}]\ncurrent-context: c\n"
        );
        std::fs::write(authority.file("config"), kubeconfig).unwrap();
        Self { authority }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.authority.file(name)
    }

    fn runs(&self) -> usize {
        std::fs::read_to_string(self.file("runs")).unwrap_or_default().lines().count()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    async fn server(&self, script: impl Fn(usize, &Seen) -> Act + Send + Sync + 'static) -> Server {
        Server::start_tls(self.authority.server("127.0.0.1", false), script).await
    }

    fn options(&self, server: &str) -> ConnectOptions {
        ConnectOptions {
            kubeconfig: Some(self.file("config")),
            certificate_authority: Some(self.file("ca.crt")),
            ..to(server)
        }
    }

    async fn connect(&self, server: &Server) -> Cluster {
        let options = self.options(&format!("https://{}", server.address()));
        connect(&options, &Environment::default()).await.unwrap()
    }

    async fn error(&self) -> Diagnostic {
        connect(&self.options("https://127.0.0.1:1"), &Environment::default()).await.unwrap_err()
    }
}

/// A script that answers with the token in the file `token`.
const TOKEN: &str = r#"cat <<END
{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "$(cat token)"}}
END"#;

/// A script that answers with `status`.
fn printing(status: &str) -> String {
    format!(
        "cat <<'END'\n{{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": {status}}}\nEND"
    )
}

fn guarded(_: usize, seen: &Seen) -> Act {
    if seen.header("authorization") == ["Bearer good"] { ok() } else { answer("401 Unauthorized", &[], "") }
}

#[tokio::test]
async fn a_plugin_runs_once_for_many_requests() {
    let stage = Stage::new(TOKEN, "");
    std::fs::write(stage.file("token"), "good").unwrap();
    let server = stage.server(guarded).await;
    let cluster = stage.connect(&server).await;
    let requests = (0..10).map(|_| cluster.send(Request::get("/")));
    assert!(futures::future::join_all(requests).await.iter().all(Result::is_ok));
    assert_eq!(stage.runs(), 1);
}

#[tokio::test]
async fn a_refused_token_is_renewed_once_for_all_requests_in_flight() {
    let stage = Stage::new(TOKEN, "");
    std::fs::write(stage.file("token"), "stale").unwrap();
    let server = stage.server(guarded).await;
    let cluster = stage.connect(&server).await;
    std::fs::write(stage.file("token"), "good").unwrap();
    let requests = (0..10).map(|_| cluster.send(write("/")));
    assert!(futures::future::join_all(requests).await.iter().all(Result::is_ok));
    assert_eq!(stage.runs(), 2);
}

#[tokio::test]
async fn a_plugin_that_gives_refused_tokens_only_is_not_asked_for_ever() {
    let stage = Stage::new(TOKEN, "");
    std::fs::write(stage.file("token"), "bad").unwrap();
    let server = stage.server(guarded).await;
    let cluster = stage.connect(&server).await;
    for _ in 0..3 {
        let error = cluster.send(Request::get("/")).await.unwrap_err();
        assert!(matches!(error, RequestError::Unauthorized { .. }), "{error:?}");
    }
    assert_eq!(stage.runs(), 2);
}

#[tokio::test]
async fn a_token_that_ran_out_is_replaced_but_not_for_every_request() {
    let stage = Stage::new(&printing(r#"{"token": "good", "expirationTimestamp": "2020-01-01T00:00:00Z"}"#), "");
    let server = stage.server(guarded).await;
    let start = Instant::now();
    let cluster = stage.connect(&server).await;
    for _ in 0..5 {
        cluster.send(Request::get("/")).await.unwrap();
    }
    let runs = stage.runs();
    let most = 1 + start.elapsed().as_secs();
    assert!(runs >= 1 && runs as u64 <= most, "its clock may be wrong: {runs} runs, of {most}");
    tokio::time::sleep(Duration::from_millis(1100)).await;
    cluster.send(Request::get("/")).await.unwrap();
    assert_eq!((stage.runs(), server.lines().len()), (runs + 1, 6));
}

#[tokio::test]
async fn a_certificate_of_a_plugin_is_shown() {
    let script = format!(
        "line() {{ awk '{{printf \"%s\\\\n\", $0}}' \"$1\"; }}\n{}",
        printing(r#"{"clientCertificateData": "$(line client.crt)", "clientKeyData": "$(line client.key)"}"#)
            .replace("<<'END'", "<<END")
    );
    let stage = Stage::new(&script, "");
    stage.authority.issue_client();
    let server = Server::start_tls(stage.authority.server("127.0.0.1", true), |_, _| ok()).await;
    stage.connect(&server).await.send(Request::get("/")).await.unwrap();
    assert!(server.seen()[0].tls.unwrap().certified);
}

#[tokio::test]
async fn a_plugin_learns_what_client_go_would_tell_it_and_gets_no_input() {
    let exec = "      args: [one, two words]\n      env: [{name: MODE, value: test}]\n      provideClusterInfo: true";
    let script =
        format!("printf %s \"$KUBERNETES_EXEC_INFO\" > info\necho \"$MODE:$1:$2:$(cat | wc -c)\" > seen\n{TOKEN}");
    let stage = Stage::new(&script, exec);
    std::fs::write(stage.file("token"), "good").unwrap();
    let server = stage.server(guarded).await;
    stage.connect(&server).await.send(Request::get("/")).await.unwrap();

    assert_eq!(stage.read("seen").trim(), "test:one:two words:0");
    let info: serde_json::Value = serde_json::from_str(&stage.read("info")).unwrap();
    let authority = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, stage.read("ca.crt"));
    assert_eq!(
        info,
        serde_json::json!({
            "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
            "spec": {
                "cluster": {
                    "server": format!("https://{}", server.address()),
                    "certificate-authority-data": authority,
                    "config": null,
                },
                "interactive": false,
            },
        })
    );
}

#[tokio::test]
async fn input_is_asked_for_only_where_there_is_a_person() {
    let stage = Stage::new(TOKEN, "");
    let config = stage.read("config").replace("Never", "Always");
    std::fs::write(stage.file("config"), config).unwrap();
    let error = stage.error().await;
    assert!(error.to_string().ends_with("has to prompt for input, but standard input is not a terminal"), "{error}");
    let terminal = Environment { stdin_is_terminal: true, ..Environment::default() };
    let error = connect(&stage.options("https://127.0.0.1:1"), &terminal).await.unwrap_err();
    assert!(error.to_string().ends_with("but the manifests are read from standard input"), "{error}");
    assert_eq!(stage.runs(), 0);
}

#[tokio::test]
async fn answers_that_cannot_be_used_are_explained_and_not_shown() {
    for (script, expected) in [
        ("echo hunter2".to_owned(), "it is not an `ExecCredential`"),
        ("printf 'kind: hunter2\\n'".to_owned(), "it is not an `ExecCredential`"),
        (printing("null"), "it has no `status`"),
        (printing("{}"), "it has neither a token nor a certificate with its key"),
        (printing(r#"{"clientKeyData": "hunter2"}"#), "it has a certificate or a key, but not both"),
        (printing(r#"{"token": "hunter2", "expirationTimestamp": "soon"}"#), "its `expirationTimestamp` is not a time"),
        (printing(r#"{"token": "a\nb"}"#), "its token is not text"),
        (printing(r#"{"clientKeyData": "hunter2", "clientCertificateData": "x"}"#), "the certificates cannot be used"),
        (
            printing(r#"{"token": "x"}"#).replace("/v1", "/v1beta1"),
            "the kubeconfig asks for `client.authentication.k8s.io/v1`, and it is `client.authentication.k8s.io/v1beta1`",
        ),
        ("head -c 2000000 /dev/zero".to_owned(), "it is longer than 1024 KiB"),
    ] {
        let error = Stage::new(&script, "").error().await;
        let text = error.to_string();
        assert!(text.contains(expected) && !text.contains("hunter2"), "{text}");
        assert!(error.code == Code::Unauthorized);
    }
}

#[tokio::test]
async fn yaml_is_an_answer_too() {
    let script =
        "printf 'kind: ExecCredential\\napiVersion: client.authentication.k8s.io/v1\\nstatus: {token: good}\\n'";
    let stage = Stage::new(script, "");
    let server = stage.server(guarded).await;
    stage.connect(&server).await.send(Request::get("/")).await.unwrap();
}

#[tokio::test]
async fn a_plugin_that_fails_or_is_missing_is_named() {
    let error = Stage::new("exit 3", "").error().await;
    assert!(error.to_string().ends_with("/login` failed (exit code 3)"), "{error}");
    assert!(error.code == Code::Unauthorized);
    assert!(error.hint.unwrap().starts_with("logging in again often helps"));

    let stage = Stage::new(TOKEN, "      installHint: \"get it at example.com\\e[31m\"");
    std::fs::remove_file(stage.file("login")).unwrap();
    let error = stage.error().await;
    assert!(error.to_string().ends_with("/login` is not installed"), "{error}");
    assert!(error.code == Code::Invalid);
    assert_eq!(error.hint.as_deref(), Some("get it at example.com\\u{1b}[31m"));

    let stage = Stage::new(TOKEN, "");
    std::fs::remove_file(stage.file("login")).unwrap();
    assert!(stage.error().await.hint.unwrap().starts_with("the kubeconfig names this path"));
    let config = stage.read("config").replace("./login", "no-such-plugin");
    std::fs::write(stage.file("config"), config).unwrap();
    assert_eq!(stage.error().await.hint.as_deref(), Some("the kubeconfig names it; it must be on PATH"));
}

#[tokio::test]
async fn a_plugin_that_the_policy_does_not_allow_is_refused_with_what_would_allow_it() {
    let stage = Stage::new(TOKEN, "");
    for (policy, hint) in [
        ("DenyAll", "if you trust the plugin, set `credentialPluginPolicy: Allowlist` in that file, and add"),
        ("Allowlist\ncredentialPluginAllowlist: [{command: other}]", "if you trust the plugin, add its `command`"),
    ] {
        let text =
            format!("apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\ncredentialPluginPolicy: {policy}\n");
        std::fs::write(stage.file("kuberc"), text).unwrap();
        let options = ConnectOptions { kuberc: Some(stage.file("kuberc")), ..stage.options("https://127.0.0.1:1") };
        let error = connect(&options, &Environment::default()).await.unwrap_err();
        assert!(error.message.contains("does not allow the credential plugin"), "{error}");
        assert!(error.code == Code::Unauthorized && error.hint.unwrap().starts_with(hint), "{policy}");
    }
    assert_eq!(stage.runs(), 0);
}

#[tokio::test]
async fn entries_that_kubectl_refuses_are_refused() {
    for (from, to, expected) in [
        ("      command: ./login\n", "", "has no `command`"),
        ("client.authentication.k8s.io/v1\n", "''\n", "has no `apiVersion`"),
        ("k8s.io/v1\n", "k8s.io/v1alpha1\n", "supported are `v1` and `v1beta1`"),
        ("      interactiveMode: Never\n", "", "has no `interactiveMode`"),
        ("Never", "Sometimes", "has an `interactiveMode` that is not"),
        ("Never\n", "Never\n      env: [{value: x}]\n", "has an `env` entry without a name"),
    ] {
        let stage = Stage::new(TOKEN, "");
        let config = stage.read("config");
        assert!(config.contains(from));
        std::fs::write(stage.file("config"), config.replacen(from, to, 1)).unwrap();
        let error = stage.error().await;
        assert!(error.to_string().contains(expected) && error.code == Code::Invalid, "{error}");
        assert_eq!(stage.runs(), 0);
    }
}

#[tokio::test]
async fn a_redirect_neither_takes_the_token_of_a_plugin_along_nor_asks_for_another() {
    let stage = Stage::new(TOKEN, "");
    std::fs::write(stage.file("token"), "good").unwrap();
    let other = stage.server(|_, _| ok()).await;
    let login = format!("location: https://{}/login", other.address());
    let server = stage.server(move |_, _| answer("302 Found", &[&login], "")).await;
    let cluster = stage.connect(&server).await;
    for _ in 0..2 {
        let error = cluster.send(Request::get("/api")).await.unwrap_err();
        assert!(error.in_full().contains("is not followed"), "{}", error.in_full());
    }
    assert_eq!((stage.runs(), server.lines().len(), other.lines().len()), (1, 2, 0));
}

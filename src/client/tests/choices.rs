//! Results of flags, kubeconfig and environment that no other test covers.

use std::path::Path;

use super::*;

/// A kubeconfig in a folder of its own.
fn kubeconfig(text: &str) -> (tempfile::TempDir, ConnectOptions) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    std::fs::write(&file, text).unwrap();
    (folder, ConnectOptions { kubeconfig: Some(file), ..ConnectOptions::default() })
}

/// The environment of a pod whose service account lies in `folder`.
fn pod(folder: &Path) -> Environment {
    std::fs::write(folder.join("token"), "account\n").unwrap();
    std::fs::write(folder.join("namespace"), "team\n").unwrap();
    Environment {
        service_host: Some("10.0.0.1".into()),
        service_port: Some("443".into()),
        service_account: folder.to_owned(),
        ..Environment::default()
    }
}

async fn refused(options: &ConnectOptions, environment: &Environment) -> Diagnostic {
    connect(options, environment).await.unwrap_err()
}

const TWO: &str = "
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:6443/'}}, {name: empty}]
contexts: [{name: one, context: {cluster: c, namespace: shop}}, {name: two, context: {cluster: empty}},
  {name: three, context: {cluster: gone}}, {name: four, context: {namespace: shop}}]
current-context: one
";

#[tokio::test]
async fn a_connection_knows_where_it_leads() {
    let (_folder, options) = kubeconfig(TWO);
    let cluster = connect(&options, &Environment::default()).await.unwrap();
    assert_eq!(cluster.context(), Some("one"));
    assert_eq!(cluster.server(), "https://127.0.0.1:6443");
    assert_eq!(cluster.default_namespace(), "shop");

    for (flag, expected) in [("dev", "dev"), ("ns/dev", "dev"), ("Namespaces/dev", "dev"), ("", "shop")] {
        let options = ConnectOptions { namespace: Some(flag.into()), ..options.clone() };
        let cluster = connect(&options, &Environment::default()).await.unwrap();
        assert_eq!(cluster.default_namespace(), expected, "--namespace={flag}");
    }
}

#[tokio::test]
async fn a_context_that_does_not_exist_is_a_configuration_error_that_names_those_that_do() {
    let (_folder, options) = kubeconfig(TWO);
    let file = options.kubeconfig.clone().unwrap();
    let error = refused(&ConnectOptions { context: Some("on".into()), ..options }, &Environment::default()).await;
    assert_eq!(error.to_string(), "context `on` does not exist in the kubeconfig");
    let hint = format!("did you mean `one`? the contexts in `{}`: `four`, `one`, `three`, `two`", file.display());
    assert_eq!(error.hint.as_deref(), Some(hint.as_str()));
    assert!(error.code == Code::Invalid);
}

#[tokio::test]
async fn clusters_that_lead_nowhere_are_reported_instead_of_trying_localhost() {
    let (_folder, options) = kubeconfig(TWO);
    let to = |context: &str| ConnectOptions { context: Some(context.into()), ..options.clone() };
    let error = refused(&to("two"), &Environment::default()).await;
    assert_eq!(error.to_string(), "cluster `empty` has no `server` in the kubeconfig");
    let error = refused(&to("three"), &Environment::default()).await;
    assert_eq!(error.to_string(), "cluster `gone` does not exist in the kubeconfig");
    let error = refused(&to("four"), &Environment::default()).await;
    assert_eq!(error.to_string(), "context `four` names no cluster");
    assert!(error.hint.unwrap().starts_with("set its `cluster` in `"));

    let environment = Environment { home: Some("/nonexistent".into()), ..Environment::default() };
    let error = refused(&ConnectOptions::default(), &environment).await;
    assert_eq!(error.to_string(), "no cluster is configured: there is no kubeconfig and `--server` is not given");
    assert!(error.hint.unwrap().contains("`/nonexistent/.kube/config`"));
    for server in ["ftp://x", "https://", "https:// x", "http://x:port"] {
        let error = refused(&to_server(server), &Environment::default()).await;
        assert_eq!(error.to_string(), format!("`{server}` is not the address of a server"));
    }
}

#[tokio::test]
async fn a_password_in_the_address_of_a_server_is_neither_used_nor_shown() {
    let to = |server: &str| to_server(server);
    for server in ["https://admin:hunter2@127.0.0.1:1", "https://hunter2@127.0.0.1:1/", "admin:hunter2@127.0.0.1:1"] {
        let cluster = connect(&to(server), &Environment::default()).await.unwrap();
        assert!(cluster.server().ends_with("://127.0.0.1:1"), "{}", cluster.server());
        let error = cluster.send(crate::client::Request::read("/version")).await.unwrap_err();
        assert!(!format!("{error} {}", error.in_full()).contains("hunter2"), "{error}");
    }
    for server in
        ["ftp://admin:hunter2@x", "https://admin:hunter2@", "https://admin:hun/ter2@x", "https://a:b@x:hunter2@y:z"]
    {
        let error = refused(&to(server), &Environment::default()).await;
        assert!(!error.to_string().contains("ter2"), "{error}");
    }
}

fn to_server(server: &str) -> ConnectOptions {
    ConnectOptions { server: Some(server.to_owned()), ..ConnectOptions::default() }
}

#[tokio::test]
async fn a_pod_without_kubeconfig_talks_to_its_own_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let environment = pod(folder.path());
    let cluster = connect(&ConnectOptions::default(), &environment).await.unwrap();
    assert_eq!((cluster.context(), cluster.server()), (None, "https://10.0.0.1:443"));
    assert_eq!(cluster.default_namespace(), "team");

    let named = Environment { pod_namespace: Some("named".into()), ..environment.clone() };
    assert_eq!(connect(&ConnectOptions::default(), &named).await.unwrap().default_namespace(), "named");
    let odd = Environment { pod_namespace: Some("a/b".into()), ..environment.clone() };
    let error = connect(&ConnectOptions::default(), &odd).await.unwrap_err();
    assert_eq!(error.to_string(), "`POD_NAMESPACE`: `a/b` cannot be a namespace");
    std::fs::write(folder.path().join("namespace"), "../team\n").unwrap();
    let error = connect(&ConnectOptions::default(), &environment).await.unwrap_err().to_string();
    assert!(error.ends_with("/namespace: `../team` cannot be a namespace") && error.starts_with('/'), "{error}");
    std::fs::write(folder.path().join("namespace"), "team\n").unwrap();
    let v6 = Environment { service_host: Some("fd00::1".into()), ..environment.clone() };
    assert_eq!(connect(&ConnectOptions::default(), &v6).await.unwrap().server(), "https://[fd00::1]:443");
    let explicit = connect(&to_server("https://127.0.0.1:1"), &environment).await.unwrap();
    assert_eq!(explicit.server(), "https://127.0.0.1:1");

    let (_folder, options) = kubeconfig(TWO);
    let outside = connect(&options, &environment).await.unwrap();
    assert_eq!((outside.server(), outside.default_namespace()), ("https://127.0.0.1:6443", "shop"));

    let token = folder.path().join("token");
    std::fs::remove_file(&token).unwrap();
    let error = refused(&ConnectOptions::default(), &environment).await;
    let missing = format!("this pod has no token for its cluster: `{}` is missing", token.display());
    assert!(error.message.ends_with(&missing) && error.hint.unwrap().contains("--kubeconfig"), "{missing}");
}

#[tokio::test]
async fn ways_to_log_in_that_are_gone_are_reported() {
    let start = "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n\
                 contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\nusers: [{name: u, user: ";
    let (_folder, options) =
        kubeconfig(&format!("{start}{{auth-provider: {{name: gcp, config: {{access-token: hunter2}}}}}}}}]"));
    let error = refused(&options, &Environment::default()).await;
    assert_eq!(error.to_string(), "user `u` logs in by the auth provider `gcp`, which Kubernetes dropped");

    let (log, lines) = log();
    let (_folder, options) = kubeconfig(&format!("{start}{{username: jane, password: hunter2}}}}]"));
    connect(&ConnectOptions { log, ..options }, &Environment::default()).await.unwrap();
    assert_eq!(
        *lines.lock().unwrap(),
        ["the user name and password of user `u` are not used: the API server no longer accepts them"]
    );
}

#[tokio::test]
async fn a_user_that_the_kubeconfig_lacks_is_reported() {
    let (log, lines) = log();
    let (_folder, options) = kubeconfig(
        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n\
         contexts: [{name: x, context: {cluster: c, user: gone}}]\ncurrent-context: x\n",
    );
    connect(&ConnectOptions { log, ..options }, &Environment::default()).await.unwrap();
    assert_eq!(
        *lines.lock().unwrap(),
        ["user `gone` of the context does not exist in the kubeconfig: requests are anonymous"]
    );
}

/// The warnings about the user `u` of a plain server.
async fn notes_about(user: &str) -> Vec<String> {
    let (log, lines) = log();
    let (_folder, options) = kubeconfig(&format!(
        "clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:1'}}}}]\n\
         contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\nusers: [{{name: u, user: {user}}}]\n"
    ));
    connect(&ConnectOptions { log, ..options }, &Environment::default()).await.unwrap();
    let lines = lines.lock().unwrap();
    lines.clone()
}

#[tokio::test]
async fn credentials_of_the_kubeconfig_that_are_kept_from_a_plain_server_are_mentioned() {
    for user in [
        "{token: sesame}",
        "{tokenFile: /none}",
        "{client-certificate: /none, client-key: /none}",
        "{exec: {command: /none, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}",
    ] {
        let note = "credentials are not sent, because the server's address is plain `http://`";
        assert_eq!(notes_about(user).await, [note], "{user}");
    }
    assert_eq!(notes_about("{}").await, Vec::<String>::new());
    assert_eq!(notes_about("{as: jane}").await, Vec::<String>::new());
}

#[tokio::test]
async fn a_file_without_the_certificate_or_key_that_it_should_hold_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "none\n").unwrap();
    let options = to_server("https://127.0.0.1:1");
    let authority = ConnectOptions { certificate_authority: Some(empty.clone()), ..options.clone() };
    let client = ConnectOptions {
        client_certificate: Some(empty.clone()),
        client_key: Some(empty.clone()),
        insecure_skip_tls_verify: Some(true),
        ..options
    };
    for options in [authority, client] {
        let error = refused(&options, &Environment::default()).await;
        assert!(error.message.contains(&format!("`{}`", empty.display())), "{error}");
    }
}

#[tokio::test]
async fn extra_values_have_a_key() {
    for pair in ["scopes", "=view"] {
        let options = ConnectOptions {
            as_user: Some("jane".into()),
            as_user_extra: vec![pair.into()],
            ..to_server("https://127.0.0.1:1")
        };
        let error = refused(&options, &Environment::default()).await;
        assert_eq!(error.to_string(), format!("`--as-user-extra={pair}` is not `key=value`"));
    }
}

//! Servers that write down who comes, and the two programs that visit them: kubectl and ours.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use kubectl_reconcile::client::{ConnectOptions, Environment, Request, connect};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::process::Command;
use tokio_rustls::rustls::{
    RootCertStore, ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    server::WebPkiClientVerifier,
};

use crate::control_plane::ControlPlane;
use test_control_plane::scripted::{Server, answer, ok};

/// Two servers, a proxy that refuses everybody, and a folder with certificates and kubeconfig files.
pub(super) struct World {
    pub(super) folder: tempfile::TempDir,
    servers: [(&'static str, Server); 4],
    authority: String,
    /// The path of `sh`.
    shell: String,
    kubectl: PathBuf,
}

/// What a server saw of somebody.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Visit {
    server: &'static str,
    line: String,
    certified: bool,
    pub(super) headers: BTreeMap<&'static str, Vec<String>>,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) visits: BTreeSet<Visit>,
    success: bool,
}

const HEADERS: [&str; 7] = [
    "authorization",
    "impersonate-user",
    "impersonate-uid",
    "impersonate-group",
    "impersonate-extra-scopes",
    "impersonate-extra-acme.com%2fx%20y",
    "proxy-authorization",
];

impl World {
    pub(super) async fn new() -> Self {
        let kubectl = tokio::task::spawn_blocking(|| ControlPlane::shared().kubectl()).await.unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let issue = |names: &[&str]| {
            let key = KeyPair::generate().unwrap();
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
            (certificate, key)
        };
        let config = || {
            let (certificate, key) = issue(&["127.0.0.1", "api.example.com"]);
            let mut roots = RootCertStore::empty();
            roots.add(issuer.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).allow_unauthenticated().build().unwrap();
            let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
            ServerConfig::builder()
                .with_client_cert_verifier(verifier)
                .with_single_cert(vec![certificate.der().clone()], key)
                .unwrap()
        };
        let servers = [
            ("a", Server::start_tls(config(), |_, _| ok()).await),
            ("b", Server::start_tls(config(), |_, _| ok()).await),
            ("plain", Server::start(|_, _| ok()).await),
            ("proxy", Server::start(|_, _| answer("403 Forbidden", &[], "")).await),
        ];
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = issue(&["client"]);
        std::fs::write(folder.path().join("ca.crt"), issuer.pem()).unwrap();
        std::fs::write(folder.path().join("client.crt"), certificate.pem()).unwrap();
        std::fs::write(folder.path().join("client.key"), key.serialize_pem()).unwrap();
        let authority = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, issuer.pem());
        let folders = std::env::var_os("PATH").unwrap();
        let shell = std::env::split_paths(&folders).map(|folder| folder.join("sh")).find(|file| file.exists()).unwrap();
        Self { folder, servers, authority, shell: shell.display().to_string(), kubectl }
    }

    /// Replaces `{a}`, `{b}`, `{plain}`, `{proxy}` by addresses, `{ca}` by the authority in base64 and `{dir}` by the folder.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut text = text
            .replace("{ca}", &self.authority)
            .replace("{sh}", &self.shell)
            .replace("{dir}", &self.folder.path().display().to_string());
        for (name, server) in &self.servers {
            text = text.replace(&format!("{{{name}}}"), &server.address());
        }
        text
    }

    fn visits(&self) -> Vec<usize> {
        self.servers.iter().map(|(_, server)| server.seen().len()).collect()
    }

    fn visits_since(&self, before: &[usize]) -> BTreeSet<Visit> {
        let mut visits = BTreeSet::new();
        for ((name, server), before) in self.servers.iter().zip(before) {
            for seen in server.seen().split_off(*before) {
                let headers = HEADERS
                    .into_iter()
                    .map(|header| (header, seen.header(header).into_iter().map(str::to_owned).collect::<Vec<_>>()))
                    .filter(|(_, values)| !values.is_empty())
                    .collect();
                visits.insert(Visit {
                    server: name,
                    line: seen.line.clone(),
                    certified: seen.tls.is_some_and(|tls| tls.certified),
                    headers,
                });
            }
        }
        visits
    }

    pub(super) async fn kubectl(&self, case: &Case) -> (Outcome, String) {
        let before = self.visits();
        let mut command = Command::new(&self.kubectl);
        command.args(["get", "--raw", "/probe"]).args(case.args.iter().map(|argument| self.fill(argument)));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.folder.path().join("home"))
            .current_dir(self.folder.path());
        for (name, value) in &case.env {
            command.env(name, self.fill(value));
        }
        command.stdin(std::process::Stdio::null());
        let output = tokio::time::timeout(Duration::from_secs(30), command.output()).await.unwrap().unwrap();
        let outcome = Outcome { visits: self.visits_since(&before), success: output.status.success() };
        (outcome, String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }

    pub(super) async fn ours(&self, case: &Case) -> (Outcome, String) {
        let before = self.visits();
        let options = options(case.args.iter().map(|argument| self.fill(argument)));
        let variable = |name: &str| case.env.iter().find(|(key, _)| *key == name).map(|(_, value)| self.fill(value));
        let environment = Environment {
            kubeconfig: variable("KUBECONFIG").filter(|value| !value.is_empty()).map(OsString::from),
            kuberc: variable("KUBERC").filter(|value| !value.is_empty()).map(OsString::from),
            kuberc_is_disabled: variable("KUBECTL_KUBERC").is_some_and(|value| value.eq_ignore_ascii_case("false")),
            home: Some(self.folder.path().join("home")),
            https_proxy: variable("HTTPS_PROXY"),
            http_proxy: variable("HTTP_PROXY"),
            no_proxy: variable("NO_PROXY"),
            ..Environment::default()
        };
        let outcome = match connect(&options, &environment).await {
            Ok(cluster) => cluster.send(Request::read("/probe")).await.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let message = outcome.as_ref().err().cloned().unwrap_or_default();
        (Outcome { visits: self.visits_since(&before), success: outcome.is_ok() }, message)
    }
}

/// Our options for kubectl's arguments.
fn options(arguments: impl Iterator<Item = String>) -> ConnectOptions {
    let mut options = ConnectOptions::default();
    for argument in arguments {
        let (name, value) = argument.split_once('=').expect("arguments are written with `=`");
        let value = value.to_owned();
        match name {
            "--kubeconfig" => options.kubeconfig = Some(value.into()),
            "--kuberc" => options.kuberc = Some(value.into()),
            "--context" => options.context = Some(value),
            "--cluster" => options.cluster = Some(value),
            "--user" => options.user = Some(value),
            "--server" => options.server = Some(value),
            "--token" => options.token = Some(value.into()),
            "--as" => options.as_user = Some(value),
            "--as-uid" => options.as_uid = Some(value),
            "--as-group" => options.as_group.push(value),
            "--as-user-extra" => options.as_user_extra.push(value),
            "--certificate-authority" => options.certificate_authority = Some(value.into()),
            "--client-certificate" => options.client_certificate = Some(value.into()),
            "--client-key" => options.client_key = Some(value.into()),
            "--insecure-skip-tls-verify" => options.insecure_skip_tls_verify = Some(value == "true"),
            "--tls-server-name" => options.tls_server_name = Some(value),
            other => panic!("no field for {other}"),
        }
    }
    options
}

/// Files, arguments and environment.
pub(super) struct Case {
    pub(super) name: &'static str,
    files: Vec<(&'static str, &'static str)>,
    env: Vec<(&'static str, &'static str)>,
    args: Vec<&'static str>,
}

pub(super) fn case(name: &'static str) -> Case {
    Case { name, files: Vec::new(), env: Vec::new(), args: Vec::new() }
}

impl Case {
    pub(super) fn file(mut self, name: &'static str, text: &'static str) -> Self {
        self.files.push((name, text));
        self
    }

    /// A file that `KUBECONFIG` names.
    pub(super) fn kubeconfig(self, text: &'static str) -> Self {
        self.file("config", text).env("KUBECONFIG", "{dir}/config")
    }

    pub(super) fn env(mut self, name: &'static str, value: &'static str) -> Self {
        self.env.push((name, value));
        self
    }

    pub(super) fn args(mut self, args: &[&'static str]) -> Self {
        self.args.extend(args);
        self
    }

    pub(super) fn arguments(&self) -> &[&'static str] {
        &self.args
    }

    pub(super) fn write(&self, world: &World) {
        for (name, text) in &self.files {
            let path = world.folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, world.fill(text)).unwrap();
        }
    }

    pub(super) async fn check(&self, world: &World) -> Result<(), String> {
        self.write(world);
        let (theirs, their_message) = world.kubectl(self).await;
        let (ours, our_message) = world.ours(self).await;
        for (name, _) in &self.files {
            std::fs::remove_file(world.folder.path().join(name)).unwrap();
        }
        if theirs == ours {
            return Ok(());
        }
        Err(format!("{}:\n  kubectl: {theirs:?} {their_message}\n  we:      {ours:?} {our_message}", self.name))
    }
}

//! A bundle of certificates is trusted as kubectl, which is Go, trusts it.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use kubectl_reconcile::client::{ConnectOptions, Environment, Request, connect};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CustomExtension, DnType, ExtendedKeyUsagePurpose, GeneralSubtree,
    IsCa, Issuer, KeyPair, KeyUsagePurpose, NameConstraints, SanType, date_time_ymd,
};
use test_control_plane::scripted::{Server, ok};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::sign::any_supported_type;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};

use crate::control_plane::ControlPlane;

const AUTHORITY: IsCa = IsCa::Ca(BasicConstraints::Unconstrained);

/// A certificate with its key, which may sign others.
struct Holder {
    params: CertificateParams,
    key: KeyPair,
    certificate: Certificate,
}

/// What a certificate says, for the address of the tests.
fn params(name: &str, is_ca: IsCa) -> CertificateParams {
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = is_ca;
    params
}

impl Holder {
    fn own(params: CertificateParams) -> Self {
        let key = KeyPair::generate().unwrap();
        Self { certificate: params.self_signed(&key).unwrap(), params, key }
    }

    fn issue(&self, params: CertificateParams) -> Self {
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::from_params(&self.params, &self.key);
        Self { certificate: params.signed_by(&key, &issuer).unwrap(), params, key }
    }

    /// Another certificate of the same key.
    fn renewed(&self, params: CertificateParams) -> Self {
        let key = KeyPair::from_pem(&self.key.serialize_pem()).unwrap();
        Self { certificate: params.self_signed(&key).unwrap(), params, key }
    }

    fn pem(&self) -> String {
        self.certificate.pem()
    }
}

/// A server with what it presents, and the bundle that is trusted.
struct Trial {
    name: &'static str,
    server: Holder,
    between: Vec<Certificate>,
    bundle: String,
}

fn trial(name: &'static str, server: Holder, bundle: impl Into<String>) -> Trial {
    Trial { name, server, between: Vec::new(), bundle: bundle.into() }
}

impl Trial {
    fn between(mut self, certificate: Certificate) -> Self {
        self.between.push(certificate);
        self
    }

    async fn serve(&self) -> Server {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.server.key.serialize_der()));
        let presented = [&self.server.certificate].into_iter().chain(&self.between);
        let presented = presented.map(|certificate| certificate.der().clone()).collect();
        // rustls would refuse to present some of them.
        let identity = CertifiedKey::new(presented, any_supported_type(&key).unwrap());
        let identity = Arc::new(SingleCertAndKey::from(identity));
        let config = ServerConfig::builder().with_no_client_auth().with_cert_resolver(identity);
        Server::start_tls(config, |_, _| ok()).await
    }

    /// Whether kubectl and this program trust the server, and what they say.
    async fn run(&self, kubectl: &Path) -> [(bool, String); 2] {
        ask(kubectl, &self.serve().await, &self.bundle, None).await
    }
}

/// Whether kubectl and this program get an answer of a server if they trust this bundle and present the certificate of a file, which also
/// has its key; and what they say.
pub(super) async fn ask(kubectl: &Path, server: &Server, bundle: &str, client: Option<&Path>) -> [(bool, String); 2] {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.crt");
    std::fs::write(&file, bundle).unwrap();
    let address = format!("https://{}", server.address());
    let mut command = tokio::process::Command::new(kubectl);
    command.args(["get", "--raw", "/probe", "--token=t", "--server", &address, "--certificate-authority"]).arg(&file);
    if let Some(client) = client {
        command.arg("--client-certificate").arg(client).arg("--client-key").arg(client);
    }
    command.env_clear().env("HOME", folder.path()).stdin(Stdio::null());
    let output = command.output().await.unwrap();
    let theirs = (output.status.success(), String::from_utf8_lossy(&output.stderr).trim().to_owned());
    let options = ConnectOptions {
        server: Some(address),
        certificate_authority: Some(file),
        client_certificate: client.map(Path::to_owned),
        client_key: client.map(Path::to_owned),
        ..ConnectOptions::default()
    };
    let environment = Environment { home: Some(folder.path().into()), ..Environment::default() };
    let answer = match connect(&options, &environment).await {
        Ok(cluster) => cluster.send(Request::read("/probe")).await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    [theirs, (answer.is_ok(), answer.err().unwrap_or_default())]
}

fn usual() -> CertificateParams {
    params("server", IsCa::NoCa)
}

fn root(change: impl FnOnce(&mut CertificateParams)) -> Holder {
    let mut params = params("root", AUTHORITY);
    change(&mut params);
    Holder::own(params)
}

/// Certificates of servers and authorities that say other things than usual.
fn of_certificates(authority: &Holder) -> Vec<Trial> {
    let changed = |change: fn(&mut CertificateParams)| {
        let mut params = usual();
        change(&mut params);
        params
    };
    let long_ago = |params: &mut CertificateParams| params.not_after = date_time_ymd(2001, 1, 1);
    let for_clients = |params: &mut CertificateParams| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    };
    let elsewhere = |params: &mut CertificateParams| {
        params.subject_alt_names = CertificateParams::new(vec!["example.com".to_owned()]).unwrap().subject_alt_names;
    };
    let unheard_of = |params: &mut CertificateParams| {
        let mut extension = CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0]);
        extension.set_criticality(true);
        params.custom_extensions.push(extension);
    };
    let mut trials = Vec::new();

    trials.push(trial("the authority", authority.issue(usual()), authority.pem()));
    let server = authority.issue(usual());
    trials.push(trial("the server's own certificate, issued by an authority", server, ""));
    let own = trials.last_mut().unwrap();
    own.bundle = own.server.pem();
    for (name, params) in [
        ("a self-signed certificate", usual()),
        ("a self-signed certificate with CA:FALSE", params("server", IsCa::ExplicitNoCa)),
        ("a self-signed certificate with CA:TRUE", params("server", AUTHORITY)),
        ("a self-signed certificate that expired", changed(long_ago)),
        ("a self-signed certificate for another host", changed(elsewhere)),
        ("a self-signed certificate for clients", changed(for_clients)),
        ("a self-signed certificate with an unknown critical extension", changed(unheard_of)),
    ] {
        let server = Holder::own(params);
        let bundle = server.pem();
        trials.push(trial(name, server, bundle));
    }
    let any_purpose = |params: &mut CertificateParams| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::Any];
    trials.push(trial("a server for any purpose", authority.issue(changed(any_purpose)), authority.pem()));
    let nameless = |params: &mut CertificateParams| params.subject_alt_names = Vec::new();
    trials.push(trial("a server without alternative names", authority.issue(changed(nameless)), authority.pem()));
    let as_name = |params: &mut CertificateParams| {
        params.subject_alt_names = vec![SanType::DnsName("127.0.0.1".try_into().unwrap())];
    };
    trials.push(trial("a server whose address is a DNS name", authority.issue(changed(as_name)), authority.pem()));
    for (name, is_ca) in [("no authority", IsCa::NoCa), ("an authority", AUTHORITY)] {
        let older = Holder::own(params("server", is_ca));
        let mut newer = params("server", is_ca);
        newer.not_after = date_time_ymd(3000, 1, 1);
        let label = if name == "no authority" {
            "an older self-signed certificate of the same key"
        } else {
            "an older self-signed certificate of the same key that is an authority"
        };
        trials.push(trial(label, older.renewed(newer), older.pem()));
    }
    for (name, root) in [
        ("an authority that expired", root(long_ago)),
        ("an authority for clients", root(for_clients)),
        ("an authority with an unknown critical extension", root(unheard_of)),
        ("a root without CA:TRUE", Holder::own(params("root", IsCa::NoCa))),
        ("a root with CA:FALSE", Holder::own(params("root", IsCa::ExplicitNoCa))),
        ("an authority that may not sign", root(|params| params.key_usages = vec![KeyUsagePurpose::DigitalSignature])),
        ("an authority that may sign", root(|params| params.key_usages = vec![KeyUsagePurpose::KeyCertSign])),
        (
            "an authority for another network",
            root(|params| {
                let subtrees = vec![GeneralSubtree::DnsName("example.com".to_owned()), network([10, 0, 0, 0])];
                params.name_constraints =
                    Some(NameConstraints { permitted_subtrees: subtrees, excluded_subtrees: Vec::new() });
            }),
        ),
    ] {
        let server = root.issue(usual());
        let bundle = root.pem();
        trials.push(trial(name, server, bundle));
    }
    trials.push(trial("a server that is an authority", authority.issue(params("server", AUTHORITY)), authority.pem()));
    trials.push(trial("a server for clients", authority.issue(changed(for_clients)), authority.pem()));
    trials.push(trial("another authority of the same name", root(|_| ()).issue(usual()), authority.pem()));
    let both = format!("{}{}", root(|_| ()).pem(), authority.pem());
    trials.push(trial("two authorities of one name", authority.issue(usual()), both));
    trials.push(trial("the authority twice", authority.issue(usual()), authority.pem().repeat(2)));
    trials
}

/// Paths over other certificates.
fn of_paths(authority: &Holder) -> Vec<Trial> {
    let mut trials = Vec::new();
    let middle = authority.issue(params("middle", AUTHORITY));
    let through = |name, bundle: String| {
        trial(name, middle.issue(usual()), bundle).between(Certificate::clone(&middle.certificate))
    };
    trials.push(through("an intermediate that is presented", authority.pem()));
    trials.push(through("an intermediate in the bundle alone", middle.pem()));
    trials.push(trial("an intermediate that nobody presents", middle.issue(usual()), authority.pem()));
    trials.push(
        trial(
            "a server that is an authority, through an intermediate",
            middle.issue(params("server", AUTHORITY)),
            authority.pem(),
        )
        .between(middle.certificate.clone()),
    );
    let narrow = root(|params| params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0)));
    let below = narrow.issue(params("middle", AUTHORITY));
    let server = below.issue(usual());
    trials.push(
        trial("a path that is longer than the authority allows", server, narrow.pem()).between(below.certificate),
    );
    let plain = authority.issue(params("middle", IsCa::NoCa));
    let server = plain.issue(usual());
    trials.push(trial("an intermediate that is no authority", server, authority.pem()).between(plain.certificate));
    trials
}

/// Files that are written in other ways.
fn of_blocks(authority: &Holder) -> Vec<Trial> {
    let block = |label: &str, body: &str| format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n");
    let good = authority.pem();
    let body: String = good.lines().filter(|line| !line.starts_with('-')).collect();
    let files = [
        ("text around the certificate", format!("our root\n{good}\nend")),
        ("line ends of Windows", good.replace('\n', "\r\n")),
        ("a broken block first", format!("{}{good}", block("CERTIFICATE", "!!!!"))),
        ("a block that is no certificate first", format!("{}{good}", block("CERTIFICATE", "AAAA"))),
        ("a block with bytes too many", block("CERTIFICATE", &format!("{}AAAA", body.trim_end_matches('=')))),
        ("a block of another type first", format!("{}{good}", block("TRUSTED CERTIFICATE", &body))),
        ("only a block of another type", block("TRUSTED CERTIFICATE", &body)),
        ("a block with headers", block("CERTIFICATE", &format!("Proc-Type: 4,ENCRYPTED\n\n{body}"))),
        ("nothing that can be read", block("CERTIFICATE", "AAAA")),
        ("nothing", String::new()),
    ];
    files.into_iter().map(|(name, bundle)| trial(name, authority.issue(usual()), bundle)).collect()
}

/// A network of addresses, of which the first three numbers count.
fn network(address: [u8; 4]) -> GeneralSubtree {
    GeneralSubtree::IpAddress(rcgen::CidrSubnet::V4(address, [255, 255, 255, 0]))
}

#[tokio::test]
async fn a_bundle_is_trusted_as_kubectl_trusts_it() {
    let kubectl = tokio::task::spawn_blocking(|| ControlPlane::shared().kubectl()).await.unwrap();
    let mut differences = Vec::new();
    let mut trusted = 0;
    let authority = root(|_| ());
    for trial in [of_certificates(&authority), of_paths(&authority), of_blocks(&authority)].into_iter().flatten() {
        let [theirs, ours] = trial.run(&kubectl).await;
        trusted += usize::from(theirs.0);
        if theirs.0 != ours.0 {
            differences.push(format!("{}:\n  kubectl: {theirs:?}\n  we:      {ours:?}", trial.name));
        }
    }
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
    assert!(trusted >= 12, "both answers occur: {trusted}");
}

/// Without an authority in the kubeconfig, the bundle of the system decides; on Linux, two variables name it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_bundle_of_the_system_is_trusted_as_kubectl_trusts_it() {
    let kubectl = tokio::task::spawn_blocking(|| ControlPlane::shared().kubectl()).await.unwrap();
    let own = Holder::own(params("server", AUTHORITY));
    let older = Holder::own(params("server", AUTHORITY));
    let mut newer = params("server", AUTHORITY);
    newer.not_after = date_time_ymd(3000, 1, 1);
    let authority = Holder::own(params("root", AUTHORITY));
    for (trial, is_trusted) in [
        (trial("the authority", authority.issue(params("server", IsCa::NoCa)), authority.pem()), true),
        (trial("the server's own certificate", own.renewed(own.params.clone()), ""), true),
        (trial("an older one of the same key", older.renewed(newer), older.pem()), false),
        (trial("another one", own, older.pem()), false),
    ] {
        let server = trial.serve().await;
        let folder = tempfile::tempdir().unwrap();
        let bundle = folder.path().join("system.crt");
        let trusted = if trial.bundle.is_empty() { trial.server.pem() } else { trial.bundle.clone() };
        std::fs::write(&bundle, trusted).unwrap();
        let address = format!("https://{}", server.address());
        for program in [kubectl.clone(), env!("CARGO_BIN_EXE_kubectl-reconcile").into()] {
            let mut command = tokio::process::Command::new(&program);
            let read: &[&str] = if program == kubectl { &["get", "--raw", "/version"] } else { &["version"] };
            command.args(read).args(["--token=t", "--server", &address]);
            command.env_clear().env("HOME", folder.path()).stdin(Stdio::null());
            command.env("SSL_CERT_FILE", &bundle).env("SSL_CERT_DIR", folder.path().join("none"));
            let before = server.seen().len();
            let output = command.output().await.unwrap();
            let came = server.seen().len() > before;
            assert_eq!(came, is_trusted, "{}: {} {output:?}", trial.name, program.display());
        }
    }
}

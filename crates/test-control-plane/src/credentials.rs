//! Credentials for the API server: a certificate authority, tokens and kubeconfigs, generated for one run.

use std::fs;
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, Error, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use serde_json::{Value, json};

use super::secrets;

/// Users with tokens. They have no permissions until a workspace allows some.
const USERS: [&str; 3] = ["reader", "editor", "limited"];
/// The administrator: has a client certificate, with another name in each namespace.
pub const ADMIN: &str = "admin";

/// The secrets of one control plane.
pub struct Credentials {
    authority: CertifiedIssuer<'static, KeyPair>,
    /// The server's certificate and key.
    server: (String, String),
}

impl Credentials {
    /// Generates the certificate authority and writes the files that the components read into `folder`: `ca.crt`,
    /// `server.crt`, `server.key`, `service-accounts.key`, `service-accounts.pub` and `tokens.csv`.
    pub fn write(folder: &Path) -> Result<Credentials, String> {
        let failed = |error: Error| format!("failed to make a certificate: {error}");
        let authority = make_authority().map_err(failed)?;
        let server = server_certificate(&authority).map_err(failed)?;
        let service_accounts = KeyPair::generate().map_err(failed)?;
        let tokens = USERS.map(|user| format!("{},{user},{user},people", token(user))).join("\n");
        for (name, text) in [
            ("ca.crt", authority.pem()),
            ("server.crt", server.0.clone()),
            ("server.key", server.1.clone()),
            ("service-accounts.key", service_accounts.serialize_pem()),
            ("service-accounts.pub", service_accounts.public_key_pem()),
            ("tokens.csv", tokens),
        ] {
            fs::write(folder.join(name), text).map_err(|error| format!("failed to write {name}: {error}"))?;
        }
        Ok(Credentials { authority, server })
    }

    /// A kubeconfig (JSON, which is YAML) with one context for `user`, at `server`, in `namespace`.
    pub fn kubeconfig(&self, user: &str, server: &str, namespace: &str) -> String {
        let credential = if user == ADMIN {
            let (certificate, key) = self.client_certificate(&admin_of(namespace)).expect("a client certificate");
            json!({
                "client-certificate-data": secrets::base64(certificate.as_bytes()),
                "client-key-data": secrets::base64(key.as_bytes()),
            })
        } else {
            assert!(USERS.contains(&user), "the API server of the tests does not know the user `{user}`");
            json!({"token": token(user)})
        };
        self.kubeconfig_with(&credential, user, server, namespace)
    }

    /// The certificate and the key of the server, for a proxy in front of it.
    pub fn server_identity(&self) -> (&str, &str) {
        (&self.server.0, &self.server.1)
    }

    /// A kubeconfig that trusts the server but has no credentials.
    pub fn anonymous_kubeconfig(&self, server: &str) -> String {
        self.kubeconfig_with(&json!({}), "anonymous", server, "default")
    }

    fn kubeconfig_with(&self, credential: &Value, user: &str, server: &str, namespace: &str) -> String {
        let authority = secrets::base64(self.authority.pem().as_bytes());
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "tests",
            "clusters": [{"name": "tests", "cluster": {"server": server, "certificate-authority-data": authority}}],
            "users": [{"name": user, "user": credential}],
            "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": user, "namespace": namespace}}],
        })
        .to_string()
    }

    /// A certificate and its key for `user` in `system:masters`.
    fn client_certificate(&self, user: &str) -> Result<(String, String), Error> {
        let key = KeyPair::generate()?;
        let mut parameters = CertificateParams::default();
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        parameters.distinguished_name.push(DnType::CommonName, user);
        parameters.distinguished_name.push(DnType::OrganizationName, "system:masters");
        Ok((parameters.signed_by(&key, &self.authority)?.pem(), key.serialize_pem()))
    }
}

/// The name of the administrator in a namespace, so that the audit log can tell the requests of scenarios apart.
pub fn admin_of(namespace: &str) -> String {
    format!("{ADMIN}@{namespace}")
}

fn make_authority() -> Result<CertifiedIssuer<'static, KeyPair>, Error> {
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.distinguished_name.push(DnType::CommonName, "control plane of the tests");
    CertifiedIssuer::self_signed(parameters, KeyPair::generate()?)
}

fn server_certificate(authority: &CertifiedIssuer<'static, KeyPair>) -> Result<(String, String), Error> {
    let key = KeyPair::generate()?;
    let mut parameters = CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()])?;
    parameters.distinguished_name.push(DnType::CommonName, "kube-apiserver");
    Ok((parameters.signed_by(&key, authority)?.pem(), key.serialize_pem()))
}

/// The token of a user, which is registered as a secret.
fn token(user: &str) -> String {
    secrets::register(&format!("bearer-token-of-{user}"))
}

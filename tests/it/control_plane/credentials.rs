//! Who may talk to the API server: a certificate authority, tokens and kubeconfigs, all made up for one run.

use std::fs;
use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair};
use serde_json::json;

use super::secrets;

/// The users that the server knows by token. All but `admin` may do nothing until a workspace allows it.
const USERS: [&str; 4] = [ADMIN, "reader", "editor", "limited"];
/// A member of `system:masters`, who may do everything.
pub const ADMIN: &str = "admin";

/// The secrets of one control plane.
pub struct Credentials {
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Credentials {
    /// Makes the certificate authority and writes the files that the components read into `folder`:
    /// `ca.crt`, `server.crt`, `server.key`, `service-accounts.key`, `service-accounts.pub` and `tokens.csv`.
    pub fn write(folder: &Path) -> Result<Credentials, String> {
        let failed = |error: rcgen::Error| format!("failed to make a certificate: {error}");
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.distinguished_name = named("control plane of the tests");
        let authority =
            CertifiedIssuer::self_signed(parameters, KeyPair::generate().map_err(failed)?).map_err(failed)?;

        let key = KeyPair::generate().map_err(failed)?;
        let mut parameters =
            CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).map_err(failed)?;
        parameters.distinguished_name = named("kube-apiserver");
        let certificate = parameters.signed_by(&key, &authority).map_err(failed)?;
        let service_accounts = KeyPair::generate().map_err(failed)?;

        let group = |user: &str| if user == ADMIN { "system:masters" } else { "people" };
        let tokens = USERS.map(|user| format!("{},{user},{user},{}", token(user), group(user))).join("\n");
        for (name, text) in [
            ("ca.crt", authority.pem()),
            ("server.crt", certificate.pem()),
            ("server.key", key.serialize_pem()),
            ("service-accounts.key", service_accounts.serialize_pem()),
            ("service-accounts.pub", service_accounts.public_key_pem()),
            ("tokens.csv", tokens),
        ] {
            fs::write(folder.join(name), text).map_err(|error| format!("failed to write {name}: {error}"))?;
        }
        Ok(Credentials { authority })
    }

    /// A kubeconfig (JSON, which is YAML) with one context for `user`, at `server`, in `namespace`.
    pub fn kubeconfig(&self, user: &str, server: &str, namespace: &str) -> String {
        assert!(USERS.contains(&user), "the API server of the tests does not know the user `{user}`");
        let authority = secrets::base64(self.authority.pem().as_bytes());
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "tests",
            "clusters": [{"name": "tests", "cluster": {"server": server, "certificate-authority-data": authority}}],
            "users": [{"name": user, "user": {"token": token(user)}}],
            "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": user, "namespace": namespace}}],
        })
        .to_string()
    }
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

/// The token of a user, which no output may show either.
fn token(user: &str) -> String {
    secrets::register(&format!("bearer-token-of-{user}"))
}

//! The certificate that is presented to the server, with its key.

use std::fmt::Display;
use std::sync::Arc;

use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer};
use rustls::sign::{CertifiedKey, SigningKey, SingleCertAndKey};
use secrecy::ExposeSecret as _;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::spki::{SubjectPublicKeyInfoOwned, SubjectPublicKeyInfoRef};

use super::public_key::{NamedKey, SIGNING, with_article};
use crate::client::kubeconfig::credentials::ClientCertificate;
use reconcile_core::diagnostic::Diagnostic;

/// The marks in the text of a key that a passphrase protects: the label of PKCS#8, and the header of older forms (RFC 1421).
const ENCRYPTED: [&[u8]; 2] = [b"BEGIN ENCRYPTED PRIVATE KEY", b"4,ENCRYPTED"];

/// Reads the certificates and the first key, without the other blocks of the files, which Go ignores as well (`tls.X509KeyPair`). As in
/// Go, the certificate may be of the first version of X.509, which rustls would not present: `openssl x509 -req` makes such ones.
pub(super) fn identity(
    ClientCertificate { certificate, key, places: [place, place_of_key] }: &ClientCertificate,
) -> Result<SingleCertAndKey, Diagnostic> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificate).flatten().collect();
    let Some(own) = chain.first() else {
        return Err(unusable(format_args!("the client certificate in {place} is not in PEM form")));
    };
    let own = Certificate::from_der(own)
        .map_err(|_| unusable(format_args!("the client certificate in {place} is malformed")))?;
    let public_key = own.tbs_certificate().subject_public_key_info();
    let key = signing_key(key.expose_secret(), place_of_key, public_key)?;
    if !is_pair(key.as_ref(), public_key) {
        let message = "the key of the client certificate belongs to another certificate";
        return Err(unusable(message).with_hint("`client-certificate` and `client-key` of the user have to be a pair"));
    }
    Ok(CertifiedKey::new(chain, key).into())
}

/// Reads a key in any of the three forms, whatever its label says, as Go does (`parsePrivateKey`).
fn signing_key(
    pem: &[u8],
    place: &str,
    public_key: &SubjectPublicKeyInfoOwned,
) -> Result<Arc<dyn SigningKey>, Diagnostic> {
    let Some(key) = PrivateKeyDer::pem_slice_iter(pem).flatten().next() else {
        if ENCRYPTED.iter().any(|mark| pem.windows(mark.len()).any(|part| part == *mark)) {
            let hint = "kubectl takes no such key either: `openssl pkey -in KEY -out NEW` decrypts it into a file, which nobody \
                        else should be able to read";
            return Err(unusable("the key of the client certificate is protected with a passphrase").with_hint(hint));
        }
        return Err(unusable(format_args!("the key of the client certificate, in {place}, is not in PEM form")));
    };
    let der = key.secret_der();
    let forms = [
        PrivateKeyDer::from(PrivatePkcs8KeyDer::from(der)),
        PrivateKeyDer::from(PrivatePkcs1KeyDer::from(der)),
        PrivateKeyDer::from(PrivateSec1KeyDer::from(der)),
    ];
    let read = forms.iter().find_map(|form| any_supported_type(form).ok());
    read.ok_or_else(|| {
        let NamedKey { name, is_usable } = NamedKey::of(public_key, &SIGNING);
        if is_usable {
            return unusable(format_args!("the key of the client certificate, in {place}, cannot be read"));
        }
        let message = format!("the client certificate has {}, which cannot be used here", with_article(&name));
        unusable(message).with_hint(
            "issue it with an RSA key of 2048 to 4096 bits, or with a P-256, P-384 or Ed25519 key; kubectl takes \
             some others",
        )
    })
}

/// The diagnostic for certificates that are given and cannot be used.
pub(super) fn unusable(reason: impl Display) -> Diagnostic {
    Diagnostic::general(format!("the certificates cannot be used: {reason}"))
}

/// Returns true if a key is that of a certificate.
fn is_pair(key: &dyn SigningKey, public_key: &SubjectPublicKeyInfoOwned) -> bool {
    let Some(own) = key.public_key() else { return true };
    SubjectPublicKeyInfoRef::from_der(own.as_ref()).is_ok_and(|own| {
        own.algorithm.oid == public_key.algorithm.oid
            && own.subject_public_key.as_bytes() == public_key.subject_public_key.as_bytes()
    })
}

//! Decides whether a server is trusted by a bundle of certificates, as Go's `crypto/x509` does, and so as kubectl does.
//!
//! webpki alone decides otherwise for bundles that are in use: it wants an authority where the bundle has the certificate of the server
//! itself, and looks at nothing but the name and the key of a certificate in the bundle. Here, the path is found by the rules of Go
//! (`Certificate.Verify` and `buildChains` in `crypto/x509/verify.go`), and webpki has to confirm it. Only what webpki never takes goes
//! without its word: a server's certificate that may itself sign others, and certificates that are for any purpose.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme};
use thiserror::Error as ThisError;
use x509_cert::Certificate;
use x509_cert::certificate::Version;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::oid::db::rfc5280;
use x509_cert::der::{Decode as _, Encode as _, Reader as _, SliceReader};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage};
use x509_cert::spki::SubjectPublicKeyInfoOwned;

use super::public_key::{NamedKey, VERIFIED, signature_name, with_article};

/// Go's `maxChainSignatureChecks`: candidates that are looked at for one server.
const MOST_CANDIDATES: usize = 100;

/// Critical extensions of an authority that Go understands (`processExtensions` in `crypto/x509/parser.go`).
const UNDERSTOOD: [ObjectIdentifier; 11] = [
    rfc5280::ID_CE_BASIC_CONSTRAINTS,
    rfc5280::ID_CE_KEY_USAGE,
    rfc5280::ID_CE_EXT_KEY_USAGE,
    rfc5280::ID_CE_SUBJECT_ALT_NAME,
    rfc5280::ID_CE_NAME_CONSTRAINTS,
    rfc5280::ID_CE_CRL_DISTRIBUTION_POINTS,
    rfc5280::ID_CE_CERTIFICATE_POLICIES,
    rfc5280::ID_CE_POLICY_MAPPINGS,
    rfc5280::ID_CE_POLICY_CONSTRAINTS,
    rfc5280::ID_CE_INHIBIT_ANY_POLICY,
    rfc5280::ID_CE_SUBJECT_KEY_IDENTIFIER,
];

/// The key or the signature of a certificate is of a kind that cannot be verified here. The text continues "the server's certificate
/// cannot be verified: ".
#[derive(Debug, ThisError)]
#[error("{0}")]
pub struct Unverifiable(String);

impl Unverifiable {
    fn error(reason: String) -> Error {
        CertificateError::Other(OtherError(Arc::new(Self(reason)))).into()
    }
}

/// A verifier of servers that trusts the certificates of one bundle.
#[derive(Debug)]
pub struct Bundle {
    certificates: Vec<CertificateDer<'static>>,
    /// The parts that webpki needs of each of them.
    anchors: RootCertStore,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Bundle {
    /// Trusts these certificates. What cannot be read as one is left out, as in Go; `None` if nothing remains.
    pub fn new(certificates: impl IntoIterator<Item = CertificateDer<'static>>) -> Option<Self> {
        let mut bundle = Self {
            certificates: Vec::new(),
            anchors: RootCertStore::empty(),
            algorithms: rustls::crypto::ring::default_provider().signature_verification_algorithms,
        };
        for certificate in certificates {
            if bundle.anchors.add(certificate.clone()).is_ok() {
                bundle.certificates.push(certificate);
            }
        }
        (!bundle.certificates.is_empty()).then_some(bundle)
    }

    /// The certificates of the bundle whose name is that of the issuer of `child`.
    fn issuers(&self, child: &Read<'_>) -> impl Iterator<Item = (usize, Read<'_>)> {
        let issuer = child.content.tbs_certificate().issuer().clone();
        let named = issuer.to_der().unwrap_or_default();
        let candidates = self.certificates.iter().zip(&self.anchors.roots).enumerate();
        // The anchor has the name without the tag and the length of its sequence.
        let candidates = candidates.filter(move |(_, (_, anchor))| named.ends_with(anchor.subject.as_ref()));
        let candidates = candidates.filter_map(|(at, (certificate, _))| Some((at, Read::new(certificate)?)));
        candidates.filter(move |(_, read)| *read.content.tbs_certificate().subject() == issuer)
    }
}

impl ServerCertVerifier for Bundle {
    fn verify_server_cert(
        &self,
        server: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        // Refuses critical extensions that are not understood.
        let parsed = ParsedCertificate::try_from(server)?;
        let leaf = Read::new(server).ok_or(CertificateError::BadEncoding)?;
        leaf.check_time(now)?;
        verify_server_name(&parsed, name)?;
        if self.certificates.iter().any(|trusted| trusted == server) {
            return if leaf.may_serve() {
                leaf.with_usable_key()
            } else {
                Err(CertificateError::InvalidPurpose.into())
            };
        }
        let intermediates: Vec<_> = intermediates.iter().filter_map(|der| Read::new(der)).collect();
        let mut search = Search {
            bundle: self,
            parsed: &parsed,
            intermediates: &intermediates,
            now,
            candidates: 0,
            refusal: CertificateError::UnknownIssuer.into(),
        };
        if search.leads_to_trust(&[&leaf]) { leaf.with_usable_key() } else { Err(search.refusal) }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// The search for a path from the certificate of a server to the bundle.
struct Search<'a> {
    bundle: &'a Bundle,
    parsed: &'a ParsedCertificate<'a>,
    intermediates: &'a [Read<'a>],
    now: UnixTime,
    candidates: usize,
    /// The reason to give if no path is found.
    refusal: Error,
}

impl Search<'_> {
    /// Returns true if `chain`, which begins with the server's certificate, can be continued to a certificate of the bundle.
    fn leads_to_trust(&mut self, chain: &[&Read<'_>]) -> bool {
        let Some(child) = chain.last() else { return false };
        let bundle = self.bundle;
        for (at, root) in bundle.issuers(child) {
            if self.is_issuer(&root, false, chain) && self.is_accepted(chain, at, &root) {
                return true;
            }
        }
        for intermediate in self.intermediates {
            if self.is_issuer(intermediate, true, chain) {
                let longer: Vec<_> = chain.iter().copied().chain([intermediate]).collect();
                if self.leads_to_trust(&longer) {
                    return true;
                }
            }
        }
        false
    }

    /// Returns true if `candidate` may have issued the last certificate of `chain`, and did. A root of the first version has no constraints.
    fn is_issuer(&mut self, candidate: &Read<'_>, is_intermediate: bool, chain: &[&Read<'_>]) -> bool {
        let Some(child) = chain.last() else { return false };
        let is_named = candidate.content.tbs_certificate().subject() == child.content.tbs_certificate().issuer();
        if !is_named || self.candidates >= MOST_CANDIDATES {
            return false;
        }
        self.candidates = self.candidates.saturating_add(1);
        let may_sign = match &candidate.constraints {
            Some(constraints) => {
                let room = constraints.path_len_constraint.map(usize::from);
                constraints.ca && room.is_none_or(|room| chain.len() <= room.saturating_add(1))
            }
            None => !is_intermediate && candidate.content.tbs_certificate().version() != Version::V3,
        };
        may_sign
            && candidate.may_sign_certificates
            && !candidate.has_unknown_critical_extension()
            && candidate.check_time(self.now).is_ok()
            && !chain.iter().any(|certificate| certificate.is_same_holder(candidate))
            && match candidate.signed(child, &self.bundle.algorithms) {
                Signature::Valid => true,
                Signature::Invalid => false,
                Signature::Unverifiable(reason) => {
                    self.refusal = Unverifiable::error(reason);
                    false
                }
            }
    }

    /// Returns true if a whole path may be used for a server, and webpki agrees.
    fn is_accepted(&mut self, chain: &[&Read<'_>], root_at: usize, root: &Read<'_>) -> bool {
        let path = || chain.iter().copied().chain([root]);
        if !path().all(Read::may_serve) {
            self.refusal = CertificateError::InvalidPurpose.into();
            return false;
        }
        let is_authority = |leaf: &&Read<'_>| leaf.constraints.as_ref().is_some_and(|constraints| constraints.ca);
        if chain.first().is_some_and(is_authority) || chain.iter().any(|certificate| certificate.serves_by_any_usage())
        {
            // webpki takes no such certificate. Nobody else would check constraints of names.
            return !path().any(|certificate| certificate.extension(rfc5280::ID_CE_NAME_CONSTRAINTS).is_some());
        }
        let roots = RootCertStore { roots: self.bundle.anchors.roots.get(root_at).cloned().into_iter().collect() };
        let intermediates: Vec<_> =
            chain.iter().skip(1).map(|certificate| CertificateDer::from(certificate.der)).collect();
        let algorithms = self.bundle.algorithms.all;
        match verify_server_cert_signed_by_trust_anchor(self.parsed, &roots, &intermediates, self.now, algorithms) {
            Ok(()) => true,
            Err(error) => {
                self.refusal = error;
                false
            }
        }
    }
}

/// A certificate, with what decides about it.
struct Read<'a> {
    der: &'a [u8],
    /// The part that is signed.
    signed: &'a [u8],
    content: Certificate,
    constraints: Option<BasicConstraints>,
    may_sign_certificates: bool,
    usages: Vec<ObjectIdentifier>,
}

impl<'a> Read<'a> {
    fn new(der: &'a [u8]) -> Option<Self> {
        let content = Certificate::from_der(der).ok()?;
        let outer = SliceReader::new(der).ok()?.sequence(|inside| {
            let signed = inside.tlv_bytes()?;
            inside.tlv_bytes()?;
            inside.tlv_bytes()?;
            Ok::<_, x509_cert::der::Error>(signed)
        });
        let part = content.tbs_certificate();
        // Go reads no such certificate (`x509negativeserial`).
        if part.serial_number().as_bytes().first().is_some_and(|first| first & 0x80 != 0) {
            return None;
        }
        let constraints = part.get_extension::<BasicConstraints>().ok()?.map(|(_, constraints)| constraints);
        let usage = part.get_extension::<KeyUsage>().ok()?.map(|(_, usage)| usage);
        let usages = part.get_extension::<ExtendedKeyUsage>().ok()?.map(|(_, usages)| usages.0);
        Some(Self {
            der,
            signed: outer.ok()?,
            constraints,
            may_sign_certificates: usage.is_none_or(|usage| usage.0.is_empty() || usage.key_cert_sign()),
            usages: usages.unwrap_or_default(),
            content,
        })
    }

    fn extension(&self, id: ObjectIdentifier) -> Option<&Extension> {
        self.content.tbs_certificate().extensions()?.iter().find(|extension| extension.extn_id == id)
    }

    fn has_unknown_critical_extension(&self) -> bool {
        let extensions = self.content.tbs_certificate().extensions().into_iter().flatten();
        extensions.into_iter().any(|extension| extension.critical && !UNDERSTOOD.contains(&extension.extn_id))
    }

    fn check_time(&self, now: UnixTime) -> Result<(), CertificateError> {
        let validity = self.content.tbs_certificate().validity();
        let not_before = UnixTime::since_unix_epoch(validity.not_before.to_unix_duration());
        let not_after = UnixTime::since_unix_epoch(validity.not_after.to_unix_duration());
        if now < not_before {
            Err(CertificateError::NotValidYetContext { time: now, not_before })
        } else if now > not_after {
            Err(CertificateError::ExpiredContext { time: now, not_after })
        } else {
            Ok(())
        }
    }

    /// Returns true if the certificate and what it signs may be used for servers (`checkChainForKeyUsage`).
    fn may_serve(&self) -> bool {
        let for_servers = [rfc5280::ID_KP_SERVER_AUTH, rfc5280::ANY_EXTENDED_KEY_USAGE];
        self.usages.is_empty() || self.usages.iter().any(|usage| for_servers.contains(usage))
    }

    /// Returns true if both are certificates of one key under one name (`alreadyInChain`): one never vouches for the other.
    fn is_same_holder(&self, other: &Read<'_>) -> bool {
        let names = |read: &Read<'_>| {
            read.extension(rfc5280::ID_CE_SUBJECT_ALT_NAME).map(|extension| extension.extn_value.clone())
        };
        let part = self.content.tbs_certificate();
        let other_part = other.content.tbs_certificate();
        part.subject() == other_part.subject()
            && part.subject_public_key_info() == other_part.subject_public_key_info()
            && names(self) == names(other)
    }

    /// Returns true if only the usage for any purpose makes it one of a server.
    fn serves_by_any_usage(&self) -> bool {
        !self.usages.is_empty() && !self.usages.contains(&rfc5280::ID_KP_SERVER_AUTH)
    }

    fn key(&self) -> &SubjectPublicKeyInfoOwned {
        self.content.tbs_certificate().subject_public_key_info()
    }

    /// Accepts the certificate of a server whose signature in the handshake can be verified. The library would call it a wrong one.
    fn with_usable_key(&self) -> Result<ServerCertVerified, Error> {
        let NamedKey { name, is_usable } = NamedKey::of(self.key(), &VERIFIED);
        if is_usable {
            return Ok(ServerCertVerified::assertion());
        }
        Err(Unverifiable::error(format!("it has {}", with_article(&name))))
    }

    /// Checks if `child` has a signature of this certificate's key.
    fn signed(&self, child: &Read<'_>, algorithms: &WebPkiSupportedAlgorithms) -> Signature {
        let key = self.key();
        let key_bits = key.subject_public_key.as_bytes();
        let signature = child.content.signature().as_bytes();
        let key_algorithm = key.algorithm.to_der();
        let signature_algorithm = child.content.signature_algorithm().to_der();
        let (Some(key_bits), Some(signature), Ok(key_algorithm), Ok(signature_algorithm)) =
            (key_bits, signature, key_algorithm, signature_algorithm)
        else {
            return Signature::Invalid;
        };
        let NamedKey { name, is_usable } = NamedKey::of(key, &VERIFIED);
        // Those of rustls are without the tag and the length of their sequence.
        let mut fitting = algorithms.all.iter().filter(|algorithm| {
            key_algorithm.get(2..) == Some(algorithm.public_key_alg_id().as_ref())
                && signature_algorithm.get(2..) == Some(algorithm.signature_alg_id().as_ref())
        });
        let mut is_known = false;
        let is_valid = fitting.any(|algorithm| {
            is_known = true;
            algorithm.verify_signature(key_bits, child.signed, signature).is_ok()
        });
        if is_valid {
            Signature::Valid
        } else if is_usable && is_known {
            Signature::Invalid
        } else if is_usable {
            let algorithm = signature_name(child.content.signature_algorithm().oid);
            Signature::Unverifiable(format!("it is signed with {algorithm} by {}", with_article(&name)))
        } else {
            Signature::Unverifiable(format!("it is signed by {}", with_article(&name)))
        }
    }
}

/// The result of checking the signature of a certificate.
enum Signature {
    Valid,
    Invalid,
    /// Nobody knows, for this reason.
    Unverifiable(String),
}

//! The validity that credentials state themselves, which explains a refusal for which the server gives no reason.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde::Deserialize;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::time::Time;

use crate::client::kubeconfig::credentials::ClientCertificate;

/// The longest token that is parsed, in bytes.
const LONGEST_TOKEN: usize = 64 << 10;

/// The period in which a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    begins: Timestamp,
    ends: Timestamp,
}

impl Validity {
    /// Reads the validity of the first certificate in a PEM file.
    pub fn of(certificate: &ClientCertificate) -> Option<Self> {
        let certificate = CertificateDer::pem_slice_iter(&certificate.certificate).next()?.ok()?;
        Self::of_der(&certificate)
    }

    fn of_der(der: &[u8]) -> Option<Self> {
        let certificate = Certificate::from_der(der).ok()?;
        let validity = certificate.tbs_certificate().validity();
        Some(Self { begins: timestamp(validity.not_before), ends: timestamp(validity.not_after) })
    }

    /// Returns the reason why the certificate is not valid at this time, if it is not.
    fn broken_at(self, now: Timestamp) -> Option<String> {
        if now > self.ends {
            Some(format!("the client certificate expired at {}", self.ends))
        } else if now < self.begins {
            Some(format!("the client certificate is not valid before {}", self.begins))
        } else {
            None
        }
    }
}

/// Returns the reason why a server whose clock shows `now` refused these credentials, if they have expired or are not valid yet.
pub fn why_refused(
    authorization: Option<&HeaderValue>,
    certificate: Option<Validity>,
    now: Timestamp,
) -> Option<String> {
    let Some(authorization) = authorization else { return certificate?.broken_at(now) };
    let ends = end_of_token(authorization.as_bytes())?;
    (now > ends).then(|| format!("the token expired at {ends}"))
}

/// The `exp` claim of a JSON Web Token (RFC 7519, section 4.1.4). The signature is not checked: that is the server's task.
fn end_of_token(authorization: &[u8]) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct Claims {
        exp: f64,
    }
    let token = authorization.strip_prefix(b"Bearer ").filter(|token| token.len() <= LONGEST_TOKEN)?;
    let claims = token.split(|byte| *byte == b'.').nth(1)?;
    let claims: Claims = serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    Timestamp::from_duration(SignedDuration::try_from_secs_f64(claims.exp).ok()?).ok()
}

/// Converts a time, and clamps it: the last representable day stands for "no end", and is later than any `Timestamp`.
fn timestamp(time: Time) -> Timestamp {
    let seconds = i64::try_from(time.to_unix_duration().as_secs()).ok();
    seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_times_are_read() {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::default();
        for (begins, ends, expected) in [
            ((1975, 1, 1), (2049, 12, 31), ["1975-01-01T00:00:00Z", "2049-12-31T00:00:00Z"]),
            ((2050, 1, 1), (9999, 12, 31), ["2050-01-01T00:00:00Z", "9999-12-30T22:00:00.999999999Z"]),
        ] {
            params.not_before = rcgen::date_time_ymd(begins.0, begins.1, begins.2);
            params.not_after = rcgen::date_time_ymd(ends.0, ends.1, ends.2);
            let certificate = params.clone().self_signed(&key).unwrap();
            let validity = Validity::of_der(certificate.der()).unwrap();
            assert_eq!([validity.begins, validity.ends].map(|time| time.to_string()), expected);
        }
    }

    #[test]
    fn what_is_no_certificate_has_no_validity() {
        let key = rcgen::KeyPair::generate().unwrap();
        let whole = rcgen::CertificateParams::default().self_signed(&key).unwrap().der().to_vec();
        assert!(Validity::of_der(&whole).is_some());
        for length in 0..whole.len() {
            assert_eq!(Validity::of_der(&whole[..length]), None);
        }
        // Any single byte may be anything.
        for at in 0..whole.len() {
            for byte in [0, 1, 0x7f, 0x80, 0x84, 0x85, 0xff] {
                let mut other = whole.clone();
                other[at] = byte;
                let _ = Validity::of_der(&other);
            }
        }
        assert_eq!(Validity::of_der(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}

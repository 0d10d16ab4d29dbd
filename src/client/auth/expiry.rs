//! How long credentials hold, as they say themselves: for the reason of a refusal that the server does not explain.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::HeaderValue;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde::Deserialize;

use crate::client::kubeconfig::credentials::ClientCertificate;

/// The longest token that is looked into, in bytes.
const LONGEST_TOKEN: usize = 64 << 10;

/// From when until when a certificate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    begins: Timestamp,
    ends: Timestamp,
}

impl Validity {
    /// What the first certificate of a file in PEM says.
    pub fn of(certificate: &ClientCertificate) -> Option<Self> {
        let certificate = CertificateDer::pem_slice_iter(&certificate.certificate).next()?.ok()?;
        Self::of_der(&certificate)
    }

    /// RFC 5280, section 4.1: version, serial number, signature and issuer come before the validity.
    fn of_der(der: &[u8]) -> Option<Self> {
        let mut certificate = Elements(Elements(der).next_of(SEQUENCE)?);
        let mut fields = Elements(certificate.next_of(SEQUENCE)?);
        let (tag, _) = fields.next()?;
        if tag == VERSION {
            fields.next_of(INTEGER)?;
        }
        fields.next_of(SEQUENCE)?;
        fields.next_of(SEQUENCE)?;
        let mut times = Elements(fields.next_of(SEQUENCE)?);
        Some(Self { begins: time(times.next()?)?, ends: time(times.next()?)? })
    }

    /// Why it does not hold at this time, if it does not.
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

/// Why a server whose clock shows `now` refused these credentials, as far as they say it themselves.
pub fn why_refused(
    authorization: Option<&HeaderValue>,
    certificate: Option<Validity>,
    now: Timestamp,
) -> Option<String> {
    let Some(authorization) = authorization else { return certificate?.broken_at(now) };
    let ends = end_of_token(authorization.as_bytes())?;
    (now > ends).then(|| format!("the token expired at {ends}"))
}

/// The claim of a JSON Web Token (RFC 7519, section 4.1.4) that says when it ends. The signature is the server's business.
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

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
/// `[0]`, which only a version other than the first has.
const VERSION: u8 = 0xa0;

/// Elements in DER, one after another: a tag, a length and a content.
struct Elements<'d>(&'d [u8]);

impl<'d> Elements<'d> {
    fn next(&mut self) -> Option<(u8, &'d [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(*first), rest),
            // In a longer form, the lower bits count the bytes of the length.
            0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, content))
    }

    fn next_of(&mut self, tag: u8) -> Option<&'d [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }
}

/// `YYMMDDHHMMSSZ`, of 1950 to 2049, or `YYYYMMDDHHMMSSZ` (RFC 5280, section 4.1.2.5).
fn time((tag, text): (u8, &[u8])) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match tag {
        UTC_TIME => text.split_at_checked(2)?,
        GENERALIZED_TIME => text.split_at_checked(4)?,
        _ => return None,
    };
    let year: i16 = year.parse().ok()?;
    let year = match tag {
        UTC_TIME if year < 50 => year.checked_add(2000)?,
        UTC_TIME => year.checked_add(1900)?,
        _ => year,
    };
    let number = |at: usize| rest.get(at..)?.get(..2)?.parse::<i8>().ok();
    let time = DateTime::new(year, number(0)?, number(2)?, number(4)?, number(6)?, number(8)?, 0).ok()?;
    // The last day of all stands for no end, and is beyond the last time that can be computed with.
    Some(time.to_zoned(TimeZone::UTC).map_or(Timestamp::MAX, |time| time.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_times_are_read() {
        let read = |tag: u8, text: &str| time((tag, text.as_bytes())).map(|time| time.to_string());
        assert_eq!(read(UTC_TIME, "491231235959Z").as_deref(), Some("2049-12-31T23:59:59Z"));
        assert_eq!(read(UTC_TIME, "500101000000Z").as_deref(), Some("1950-01-01T00:00:00Z"));
        assert_eq!(read(GENERALIZED_TIME, "99991231235959Z").as_deref(), Some(Timestamp::MAX.to_string().as_str()));
        assert_eq!(read(GENERALIZED_TIME, "20500101000000Z").as_deref(), Some("2050-01-01T00:00:00Z"));
        for (tag, text) in [
            (UTC_TIME, "491331235959Z"),
            (UTC_TIME, "4912312359Z"),
            (UTC_TIME, "491231235959"),
            (UTC_TIME, "Z"),
            (UTC_TIME, "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}Z"),
            (GENERALIZED_TIME, "-9990101000000Z"),
            (INTEGER, "491231235959Z"),
        ] {
            assert_eq!(read(tag, text), None, "{text}");
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
        assert_eq!(Validity::of_der(&[SEQUENCE, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}

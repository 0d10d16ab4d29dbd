//! Public certificates (RFC 5280) in texts, with the fields that people ask for.
//!
//! The library's own type for a certificate refuses times before 1970, and Go programs write the year 1 if no time was set. So
//! times, names of hosts and the serial number are taken as they are written.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::DateTime;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use x509_cert::der::asn1::AnyRef;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::oid::db::rfc4519;
use x509_cert::der::oid::db::rfc5280::ID_CE_SUBJECT_ALT_NAME;
use x509_cert::der::{Decode as _, Tag, TagNumber, Tagged as _};
use x509_cert::ext::Extensions;
use x509_cert::name::Name;

use crate::text::hex;

/// The field of a redacted value that has its certificates.
pub const CERTIFICATES: &str = "certificates";

/// Most certificates of one text that are read, and its longest size in bytes.
const MOST: usize = 256;
const LONGEST: usize = 1 << 20;
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The certificates of a text in PEM, or in PEM in base64, that contains nothing else: no key, no comment, no byte around them.
pub fn certificates(text: &str) -> Option<Vec<Certificate>> {
    if text.len() > LONGEST {
        return None;
    }
    let decoded;
    let text = if text.contains(BEGIN) {
        text
    } else {
        let bytes = STANDARD.decode(text.split_whitespace().collect::<String>()).ok()?;
        decoded = String::from_utf8(bytes).ok()?;
        &decoded
    };
    let mut rest = text.trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (body, after) = rest.strip_prefix(BEGIN)?.split_once(END)?;
        let der = STANDARD.decode(body.split_whitespace().collect::<String>()).ok()?;
        found.push(Certificate::read(&der)?);
        rest = after.trim_start();
        if found.len() > MOST {
            return None;
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The certificates of a value: a text, or the public part of a redacted value.
pub fn certificates_in(value: &Value) -> Option<Vec<Certificate>> {
    match value {
        Value::String(text) => certificates(text),
        Value::Object(fields) => {
            let found: Vec<Certificate> = Vec::deserialize(fields.get(CERTIFICATES)?).ok()?;
            (!found.is_empty() && found.len() <= MOST).then_some(found)
        }
        _ => None,
    }
}

/// The attributes of a name that are shown, as RFC 4514 calls them.
const ATTRIBUTES: [(ObjectIdentifier, &str); 6] = [
    (rfc4519::COMMON_NAME, "CN"),
    (rfc4519::COUNTRY_NAME, "C"),
    (rfc4519::LOCALITY_NAME, "L"),
    (rfc4519::ST, "ST"),
    (rfc4519::ORGANIZATION_NAME, "O"),
    (rfc4519::ORGANIZATIONAL_UNIT_NAME, "OU"),
];
/// Most names of one certificate, and most characters of a text of it.
const NAMES: usize = 100;
const TEXT: usize = 256;

/// The public facts of a certificate that people ask for. Its texts come from the one who requested it, and are bounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Certificate {
    /// The subject: `CN=shop, O=Shop`.
    pub subject: String,
    /// The issuer, in the same form.
    pub issuer: String,
    /// The time from which on it is valid (RFC 3339).
    pub not_before: String,
    /// The time until which it is valid (RFC 3339).
    pub not_after: String,
    /// The names and addresses that it is for, at most 100.
    pub names: Vec<String>,
    /// The serial number, in hexadecimal digits.
    pub serial: String,
    /// The SHA-256 fingerprint of the whole certificate, in hexadecimal digits.
    pub sha256: String,
}

impl Certificate {
    /// Reads a certificate in DER; `None` if the bytes are anything else.
    fn read(der: &[u8]) -> Option<Self> {
        let parts = Vec::<AnyRef<'_>>::from_der(der).ok()?;
        let [fields, _algorithm, signature] = parts.as_slice() else { return None };
        if signature.tag() != Tag::BitString {
            return None;
        }
        let fields = sequence(fields)?;
        let fields = match fields.as_slice() {
            [version, fields @ ..] if is_explicit(version, TagNumber(0)) => fields,
            fields => fields,
        };
        let [serial, _algorithm, issuer, validity, subject, others @ ..] = fields else { return None };
        let validity = sequence(validity)?;
        let extensions = others.iter().find(|field| is_explicit(field, TagNumber(3)));
        Some(Self {
            subject: name(subject)?,
            issuer: name(issuer)?,
            not_before: time(validity.first()?)?,
            not_after: time(validity.get(1)?)?,
            names: extensions.map_or(Some(Vec::new()), alternative_names)?,
            serial: serial_number(serial)?,
            sha256: hex(digest(&SHA256, der).as_ref()),
        })
    }
}

fn sequence<'d>(field: &AnyRef<'d>) -> Option<Vec<AnyRef<'d>>> {
    field.decode_as().ok()
}

fn is_explicit(field: &AnyRef<'_>, number: TagNumber) -> bool {
    field.tag() == Tag::ContextSpecific { constructed: true, number }
}

/// The first 20 bytes, in hexadecimal digits.
fn serial_number(field: &AnyRef<'_>) -> Option<String> {
    let bytes = (field.tag() == Tag::Integer).then(|| field.value())?;
    Some(hex(bytes.get(..20).unwrap_or(bytes)))
}

/// The start of a text from a certificate.
fn bounded(text: &str) -> String {
    match text.char_indices().nth(TEXT) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// `CN=shop, O=Shop`
fn name(field: &AnyRef<'_>) -> Option<String> {
    let name: Name = field.decode_as().ok()?;
    let attributes = name.iter().filter_map(|attribute| {
        let (_, name) = ATTRIBUTES.iter().find(|(id, _)| *id == attribute.oid)?;
        Some(format!("{name}={}", String::from_utf8_lossy(attribute.value.value()).replace(',', "\\,")))
    });
    Some(bounded(&attributes.take(NAMES).collect::<Vec<_>>().join(", ")))
}

/// `2026-12-01T00:00:00Z`
fn time(field: &AnyRef<'_>) -> Option<String> {
    let text = std::str::from_utf8(field.value()).ok()?;
    let century = match field.tag() {
        // Two digits mean 1950 to 2049.
        Tag::UtcTime if text < "50" => "20",
        Tag::UtcTime => "19",
        Tag::GeneralizedTime => "",
        _ => return None,
    };
    let digits = format!("{century}{}", text.strip_suffix('Z')?);
    // Beside digits, the library reads blanks and signs.
    if digits.len() != 14 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(format!("{}Z", DateTime::strptime("%Y%m%d%H%M%S", digits).ok()?))
}

/// The names and addresses that a certificate is for.
fn alternative_names(field: &AnyRef<'_>) -> Option<Vec<String>> {
    let extensions = Extensions::from_der(field.value()).ok()?;
    let Some(extension) = extensions.iter().find(|extension| extension.extn_id == ID_CE_SUBJECT_ALT_NAME) else {
        return Some(Vec::new());
    };
    let names = Vec::<AnyRef<'_>>::from_der(extension.extn_value.as_bytes()).ok()?;
    let mut texts = Vec::new();
    for name in names {
        let Tag::ContextSpecific { constructed: false, number } = name.tag() else { continue };
        match number.value() {
            _ if texts.len() == NAMES => break,
            // A mail address, a name in DNS, a URI.
            1 | 2 | 6 => texts.push(bounded(&String::from_utf8_lossy(name.value()))),
            7 => texts.push(address(name.value())?.to_string()),
            _ => {}
        }
    }
    Some(texts)
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};

    fn certificate(name: &str) -> String {
        let mut params = CertificateParams::new(["shop.example.com".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
    }

    fn der(pem: &str) -> Vec<u8> {
        STANDARD.decode(pem.lines().filter(|line| !line.starts_with('-')).collect::<String>()).unwrap()
    }

    #[test]
    fn all_times_and_kinds_of_names_are_shown() {
        let mut params = CertificateParams::new(["10.0.0.1".to_owned(), "2001:db8::1".to_owned()]).unwrap();
        params.subject_alt_names.push(SanType::DnsName("shop.example.com".try_into().unwrap()));
        params.subject_alt_names.push(SanType::URI("spiffe://shop/web".try_into().unwrap()));
        params.subject_alt_names.push(SanType::Rfc822Name("web@example.com".try_into().unwrap()));
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CountryName, "DE");
        params.distinguished_name.push(DnType::CommonName, "größe");
        let key = KeyPair::generate().unwrap();
        for (year, until) in [
            (1, "0001-01-02T00:00:00Z"),
            (1949, "1949-01-02T00:00:00Z"),
            (1950, "1950-01-02T00:00:00Z"),
            (1969, "1969-01-02T00:00:00Z"),
            (2049, "2049-01-02T00:00:00Z"),
            (9999, "9999-01-02T00:00:00Z"),
        ] {
            params.not_after = rcgen::date_time_ymd(year, 1, 2);
            let certificate = params.clone().self_signed(&key).unwrap().pem();
            let names = ["10.0.0.1", "2001:db8::1", "shop.example.com", "spiffe://shop/web", "web@example.com"];
            let [read] = <[Certificate; 1]>::try_from(certificates(&certificate).unwrap()).unwrap();
            assert_eq!((read.subject.as_str(), read.not_after.as_str()), ("C=DE, CN=größe", until));
            assert_eq!(read.names, names);
        }
    }

    #[test]
    fn what_is_no_certificate_alone_is_none() {
        let one = certificate("shop");
        let key = KeyPair::generate().unwrap().serialize_pem();
        let as_certificate = key.replace("PRIVATE KEY", "CERTIFICATE");
        let longer = STANDARD.encode([der(&one), b"hunter2".to_vec()].concat());
        for other in [
            "",
            "plain",
            "Zm9v",
            &key,
            &as_certificate,
            &format!("{one}{key}"),
            &format!("{key}{one}"),
            &format!("# mine\n{one}"),
            &format!("{one}hunter2"),
            &format!("{BEGIN}\n{longer}\n{END}"),
            &one.replacen('\n', "\nComment: hunter2\n\n", 1),
            &one.repeat(MOST + 2),
            BEGIN,
            &format!("{BEGIN}\nAAAA\n{END}"),
        ] {
            assert_eq!(certificates(other), None, "{other}");
        }
        assert_eq!(certificates(&format!("\n{one}\r\n\n{one}")).unwrap().len(), 2);
        assert_eq!(certificates(&STANDARD.encode(&one)), certificates(&one));
    }

    #[test]
    fn texts_of_a_certificate_are_bounded() {
        let mut params = CertificateParams::new(vec![format!("{}.example.com", "a".repeat(1_000)); 300]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "b".repeat(10_000));
        let pem = params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem();
        let [read] = <[Certificate; 1]>::try_from(certificates(&pem).unwrap()).unwrap();
        assert_eq!(read.names.len(), 100);
        assert!(read.names.iter().chain([&read.subject]).all(|text| text.chars().count() <= 257), "{read:?}");
    }

    #[test]
    fn damaged_certificates_are_refused_without_harm() {
        let one = certificate("shop");
        let der = der(&one);
        for at in 0..der.len() {
            let _ = Certificate::read(&der[..at]);
            for bit in [0x01, 0x80, 0xff] {
                let mut damaged = der.clone();
                damaged[at] ^= bit;
                let _ = Certificate::read(&damaged);
            }
        }
    }
}

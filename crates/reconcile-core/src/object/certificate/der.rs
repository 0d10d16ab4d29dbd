//! The fields of a certificate (RFC 5280, in DER) that people ask for.
//!
//! The library's own type for a certificate refuses times before 1970, and Go programs write the year 1 if no time was set. So
//! times, names of hosts and the serial number are taken as they are written.

use std::fmt::Write as _;
use std::net::IpAddr;

use jiff::civil::DateTime;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use x509_cert::der::asn1::AnyRef;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::oid::db::rfc4519;
use x509_cert::der::oid::db::rfc5280::ID_CE_SUBJECT_ALT_NAME;
use x509_cert::der::{Decode as _, Tag, TagNumber, Tagged as _};
use x509_cert::ext::Extensions;
use x509_cert::name::Name;

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
    pub(super) fn read(der: &[u8]) -> Option<Self> {
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
            sha256: hexadecimal(digest(&SHA256, der).as_ref()),
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
    Some(hexadecimal(bytes.get(..20).unwrap_or(bytes)))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
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

//! Certificates in texts: subject, issuer and expiry instead of base64.
//!
//! Only public data is read: certificates (RFC 5280), as PEM or as PEM in base64. The values of Secrets never come here, as they
//! are numbers in the model.

mod der;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reconcile_core::compare::FieldChange;
use serde_json::Value;
use structured_merge::{FieldPath, Op, PathElement};

use super::difference::difference;
use der::Certificate;

/// Most certificates of one text that are read.
const MOST: usize = 64;
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The differences of the certificates in two texts, if both are nothing but certificates.
pub(super) fn differences(live: &str, desired: &str) -> Option<Vec<FieldChange>> {
    let (old, new) = (certificates(live)?, certificates(desired)?);
    let mut changes = Vec::new();
    for at in 0..old.len().max(new.len()) {
        let base = if old.len().max(new.len()) == 1 {
            FieldPath::root()
        } else {
            FieldPath::of(&["certificates"]).child(PathElement::index(at))
        };
        match (old.get(at), new.get(at)) {
            (Some(old), Some(new)) => changes.extend(of_pair(&base, old, new)),
            (Some(old), None) => changes.push(difference(&base, Op::Remove, Some(&Value::from(old.sentence())), None)),
            (None, Some(new)) => changes.push(difference(&base, Op::Add, None, Some(&Value::from(new.sentence())))),
            (None, None) => {}
        }
    }
    (!changes.is_empty()).then_some(changes)
}

/// Describes each certificate of a text in a sentence; `None` if the text is anything else.
pub(super) fn sentences(text: &str) -> Option<Vec<String>> {
    Some(certificates(text)?.iter().map(Certificate::sentence).collect())
}

/// Reads one field.
type Reading = fn(&Certificate) -> &String;

fn of_pair(base: &FieldPath, old: &Certificate, new: &Certificate) -> Vec<FieldChange> {
    let fields: [(&str, Reading); 6] = [
        ("subject", |certificate| &certificate.subject),
        ("issuer", |certificate| &certificate.issuer),
        ("notBefore", |certificate| &certificate.not_before),
        ("expires", |certificate| &certificate.not_after),
        ("names", |certificate| &certificate.names),
        ("serial", |certificate| &certificate.serial),
    ];
    let differing = fields.iter().filter(|(_, read)| read(old) != read(new));
    let change = |(name, read): &(&str, Reading)| {
        let (live, desired) = (Value::from(read(old).as_str()), Value::from(read(new).as_str()));
        difference(&base.field(name), Op::Change, Some(&live), Some(&desired))
    };
    differing.map(change).collect()
}

/// The certificates of a text that contains nothing else.
fn certificates(text: &str) -> Option<Vec<Certificate>> {
    let decoded;
    let text = if text.contains(BEGIN) {
        text
    } else {
        let bytes = STANDARD.decode(text.split_whitespace().collect::<String>()).ok()?;
        decoded = String::from_utf8(bytes).ok()?;
        &decoded
    };
    // A text that also has a private key is not shown in this form.
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

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};

    fn certificate(name: &str, names: &[&str], year: i32) -> String {
        let mut params = CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.distinguished_name.push(DnType::OrganizationName, "Shop, Inc.");
        params.not_before = rcgen::date_time_ymd(2025, 1, 2);
        params.not_after = rcgen::date_time_ymd(year, 12, 1);
        params.serial_number = Some(vec![1, 2, 3].into());
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
    }

    fn shown(live: &str, desired: &str) -> Option<Vec<String>> {
        let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).unwrap_or("-").to_owned();
        let change =
            |change: &FieldChange| format!("{}: {} → {}", change.path, text(&change.live), text(&change.desired));
        differences(live, desired).map(|changes| changes.iter().map(change).collect())
    }

    #[test]
    fn what_differs_is_told_in_words() {
        let old = certificate("shop", &["shop.example.com"], 2026);
        let new = certificate("shop", &["shop.example.com", "10.0.0.1"], 2051);
        let expected = [
            "expires: 2026-12-01T00:00:00Z → 2051-12-01T00:00:00Z",
            "names: shop.example.com → shop.example.com, 10.0.0.1",
        ];
        assert_eq!(shown(&old, &new).unwrap(), expected);
        assert_eq!(shown(&STANDARD.encode(&old), &STANDARD.encode(&new)).unwrap(), expected);
        let other = certificate("other", &["shop.example.com"], 2026);
        let told = shown(&old, &other).unwrap();
        assert!(
            told[0].starts_with("subject: ") && told[0].contains("CN=shop") && told[0].contains("CN=other"),
            "{told:?}"
        );
        assert!(told[0].contains("O=Shop\\, Inc."), "{told:?}");
        let two = shown(&old, &format!("{old}{new}")).unwrap();
        assert!(
            two[0].starts_with("certificates[1]: - → ") && two[0].contains("until 2051-12-01T00:00:00Z"),
            "{two:?}"
        );
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
            let names = "10.0.0.1, 2001:db8::1, shop.example.com, spiffe://shop/web, web@example.com";
            let expected = format!("C=DE, CN=größe by C=DE, CN=größe, until {until}, for {names}");
            assert_eq!(sentences(&certificate).unwrap(), [expected]);
        }
    }

    #[test]
    fn what_is_no_certificate_alone_is_text() {
        let one = certificate("shop", &[], 2026);
        let key = KeyPair::generate().unwrap().serialize_pem();
        for other in [
            "",
            "plain",
            "Zm9v",
            &format!("{one}{key}"),
            &format!("# mine\n{one}"),
            BEGIN,
            &format!("{BEGIN}\nAAAA\n{END}"),
        ] {
            assert_eq!(shown(&one, other), None, "{other}");
        }
        assert_eq!(shown(&one, &one), None);
    }

    #[test]
    fn damaged_certificates_are_refused_without_harm() {
        let one = certificate("shop", &["shop.example.com"], 2026);
        let der = STANDARD.decode(one.lines().filter(|line| !line.starts_with('-')).collect::<String>()).unwrap();
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

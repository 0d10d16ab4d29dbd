//! Public certificates (RFC 5280) in texts.

mod der;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize as _;
use serde_json::Value;

pub use der::Certificate;

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

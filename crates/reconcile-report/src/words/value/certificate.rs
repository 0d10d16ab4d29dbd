//! Certificates in words: subject, names, issuer and expiry instead of base64.

use reconcile_core::compare::{FieldChange, secret_number};
use reconcile_core::object::{Certificate, certificates_in};
use serde_json::Value;
use structured_merge::{FieldPath, Op, PathElement};

/// The differences of the certificates in two values, if both are nothing but certificates; empty if they are the same.
pub(crate) fn differences(live: &Value, desired: &Value) -> Option<Vec<FieldChange>> {
    let old = certificates(live)?;
    let new = certificates(desired)?;
    let mut changes = Vec::new();
    for at in 0..old.len().max(new.len()) {
        let base = if old.len().max(new.len()) == 1 {
            FieldPath::root()
        } else {
            FieldPath::of(&["certificates"]).child(PathElement::index(at))
        };
        match (old.get(at), new.get(at)) {
            (Some(old), Some(new)) => changes.extend(of_pair(&base, old, new)),
            (Some(old), None) => {
                changes.push(FieldChange::within(&base, Op::Remove, Some(&Value::from(sentence(old))), None));
            }
            (None, Some(new)) => {
                changes.push(FieldChange::within(&base, Op::Add, None, Some(&Value::from(sentence(new)))));
            }
            (None, None) => {}
        }
    }
    Some(changes)
}

/// Describes each certificate of a value in a sentence; `None` if the value is anything else.
pub(crate) fn sentences(value: &Value) -> Option<Vec<String>> {
    Some(certificates(value)?.iter().map(sentence).collect())
}

/// A value in which certificates are replaced by their sentences, for people: `certificate CN=shop by CN=ca, until …`.
pub(crate) fn summarised(value: &Value) -> Value {
    if let Some(found) = certificates(value) {
        let mut sentences = found.iter().map(|one| Value::from(format!("certificate {}", sentence(one))));
        return match (sentences.next(), found.len()) {
            (Some(only), 1) => only,
            (first, _) => first.into_iter().chain(sentences).collect(),
        };
    }
    match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), summarised(value))).collect(),
        Value::Array(items) => items.iter().map(summarised).collect(),
        other => other.clone(),
    }
}

/// The certificates of a text or of a redacted value. Other objects only look like one.
fn certificates(value: &Value) -> Option<Vec<Certificate>> {
    certificates_in(value).filter(|_| value.is_string() || secret_number(value).is_some())
}

/// `CN=shop by CN=ca, until 2026-12-01T00:00:00Z, for shop.example.com`
fn sentence(certificate: &Certificate) -> String {
    let Certificate { subject, issuer, not_after, names, .. } = certificate;
    let names = if names.is_empty() { String::new() } else { format!(", for {}", names.join(", ")) };
    format!("{subject} by {issuer}, until {not_after}{names}")
}

/// Reads one field.
type Reading = fn(&Certificate) -> String;

fn of_pair(base: &FieldPath, old: &Certificate, new: &Certificate) -> Vec<FieldChange> {
    let fields: [(&str, Reading); 6] = [
        ("subject", |certificate| certificate.subject.clone()),
        ("issuer", |certificate| certificate.issuer.clone()),
        ("notBefore", |certificate| certificate.not_before.clone()),
        ("expires", |certificate| certificate.not_after.clone()),
        ("names", |certificate| certificate.names.join(", ")),
        ("serial", |certificate| certificate.serial.clone()),
    ];
    let change = |name: &str, live: String, desired: String| {
        FieldChange::within(&base.field(name), Op::Change, Some(&live.into()), Some(&desired.into()))
    };
    let differing = fields.iter().filter(|(_, read)| read(old) != read(new));
    let mut changes: Vec<FieldChange> = differing.map(|(name, read)| change(name, read(old), read(new))).collect();
    // A certificate for another key, or with other extensions.
    if changes.is_empty() && old != new {
        changes.push(change("sha256", old.sha256.clone(), new.sha256.clone()));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use rcgen::{CertificateParams, DnType, KeyPair};
    use serde_json::json;

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
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("-").to_owned();
        let change = |change: &FieldChange| {
            format!("{}: {} → {}", change.path, text(change.live.as_deref()), text(change.desired.as_deref()))
        };
        differences(&json!(live), &json!(desired)).map(|changes| changes.iter().map(change).collect())
    }

    #[test]
    fn what_differs_is_reported_in_words() {
        let old = certificate("shop", &["shop.example.com"], 2026);
        let new = certificate("shop", &["shop.example.com", "10.0.0.1"], 2051);
        let expected = [
            "expires: 2026-12-01T00:00:00Z → 2051-12-01T00:00:00Z",
            "names: shop.example.com → shop.example.com, 10.0.0.1",
        ];
        assert_eq!(shown(&old, &new).unwrap(), expected);
        assert_eq!(shown(&STANDARD.encode(&old), &STANDARD.encode(&new)).unwrap(), expected);
        let other = certificate("other", &["shop.example.com"], 2026);
        let reported = shown(&old, &other).unwrap();
        assert!(
            reported[0].starts_with("subject: ") && reported[0].contains("CN=shop") && reported[0].contains("CN=other"),
            "{reported:?}"
        );
        assert!(reported[0].contains("O=Shop\\, Inc."), "{reported:?}");
        let two = shown(&old, &format!("{old}{new}")).unwrap();
        assert!(
            two[0].starts_with("certificates[1]: - → ") && two[0].contains("until 2051-12-01T00:00:00Z"),
            "{two:?}"
        );
    }

    #[test]
    fn what_is_no_certificate_is_text_and_another_key_is_a_difference() {
        let one = certificate("shop", &[], 2026);
        assert_eq!(shown(&one, "plain"), None);
        assert_eq!(shown(&one, &one).unwrap(), [""; 0]);
        let reported = shown(&one, &certificate("shop", &[], 2026)).unwrap();
        assert!(reported.len() == 1 && reported[0].starts_with("sha256: "), "{reported:?}");
    }
}

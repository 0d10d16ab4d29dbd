//! The keys and signatures of certificates, by name, and those that the library for cryptography (ring) cannot use. Go, and so kubectl,
//! takes some of them: `docs/connection.md` lists them.

use std::ops::RangeInclusive;

use x509_cert::der::asn1::UintRef;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{Reader as _, SliceReader};
use x509_cert::spki::SubjectPublicKeyInfoOwned;

/// Sizes of RSA keys in bits whose signatures are verified.
pub const VERIFIED: RangeInclusive<usize> = 2048..=8192;
/// Sizes of RSA keys in bits that make signatures.
pub const SIGNING: RangeInclusive<usize> = 2048..=4096;

const RSA: &str = "1.2.840.113549.1.1.1";
const ELLIPTIC_CURVE: &str = "1.2.840.10045.2.1";

/// The algorithms of keys that are no RSA keys and have no curve. The last field tells if they can be used.
const ALGORITHMS: [(&str, &str, bool); 4] = [
    ("1.3.101.112", "Ed25519 key", true),
    ("1.3.101.113", "Ed448 key", false),
    ("1.2.840.10040.4.1", "DSA key", false),
    ("1.2.840.113549.1.1.10", "RSA-PSS key", false),
];

/// The curves of keys. The last field tells if they can be used.
const CURVES: [(&str, &str, bool); 5] = [
    ("1.2.840.10045.3.1.7", "P-256 key", true),
    ("1.3.132.0.34", "P-384 key", true),
    ("1.3.132.0.33", "P-224 key", false),
    ("1.3.132.0.35", "P-521 key", false),
    ("1.3.132.0.10", "secp256k1 key", false),
];

/// The algorithms of signatures (RFC 3279, 4055, 5758 and 8410).
const SIGNATURES: [(&str, &str); 14] = [
    ("1.2.840.113549.1.1.4", "RSA and MD5"),
    ("1.2.840.113549.1.1.5", "RSA and SHA-1"),
    ("1.2.840.113549.1.1.10", "RSA-PSS"),
    ("1.2.840.113549.1.1.11", "RSA and SHA-256"),
    ("1.2.840.113549.1.1.12", "RSA and SHA-384"),
    ("1.2.840.113549.1.1.13", "RSA and SHA-512"),
    ("1.2.840.113549.1.1.14", "RSA and SHA-224"),
    ("1.2.840.10045.4.1", "ECDSA and SHA-1"),
    ("1.2.840.10045.4.3.1", "ECDSA and SHA-224"),
    ("1.2.840.10045.4.3.2", "ECDSA and SHA-256"),
    ("1.2.840.10045.4.3.3", "ECDSA and SHA-384"),
    ("1.2.840.10045.4.3.4", "ECDSA and SHA-512"),
    ("1.3.101.112", "Ed25519"),
    ("1.3.101.113", "Ed448"),
];

/// A key, as far as it decides whether it can be used.
#[derive(Debug, PartialEq, Eq)]
pub struct NamedKey {
    /// Its kind, such as `P-521 key` or `RSA key of 1024 bits`.
    pub name: String,
    /// True if it can be used.
    pub is_usable: bool,
}

impl NamedKey {
    /// Reads the kind of a key, of which RSA keys of these sizes can be used.
    pub fn of(key: &SubjectPublicKeyInfoOwned, sizes: &RangeInclusive<usize>) -> Self {
        let algorithm = key.algorithm.oid.to_string();
        if algorithm == RSA {
            let Some(bits) = modulus_bits(key) else {
                return Self { name: "RSA key that cannot be read".to_owned(), is_usable: false };
            };
            return Self { name: format!("RSA key of {bits} bits"), is_usable: sizes.contains(&bits) };
        }
        let curve = || key.algorithm.parameters.as_ref()?.decode_as::<ObjectIdentifier>().ok();
        let (known, oid) = if algorithm == ELLIPTIC_CURVE {
            (&CURVES[..], curve().map(|oid| oid.to_string()).unwrap_or_default())
        } else {
            (&ALGORITHMS[..], algorithm)
        };
        match known.iter().find(|(known, ..)| *known == oid) {
            Some((_, name, is_usable)) => Self { name: (*name).to_owned(), is_usable: *is_usable },
            None => Self { name: format!("key of the algorithm {oid}"), is_usable: false },
        }
    }
}

/// The number of bits of the modulus in an RSA key (RFC 8017, `RSAPublicKey`).
fn modulus_bits(key: &SubjectPublicKeyInfoOwned) -> Option<usize> {
    let bytes = key.subject_public_key.as_bytes()?;
    let bits = SliceReader::new(bytes).ok()?.sequence(|inside| {
        let modulus: UintRef<'_> = inside.decode()?;
        let _exponent: UintRef<'_> = inside.decode()?;
        let bytes = modulus.as_bytes();
        let unused = bytes.first().map_or(0, |first| first.leading_zeros());
        let unused = usize::try_from(unused).unwrap_or_default();
        Ok::<_, x509_cert::der::Error>(bytes.len().saturating_mul(8).saturating_sub(unused))
    });
    bits.ok()
}

/// `ECDSA and SHA-512`
pub fn signature_name(algorithm: ObjectIdentifier) -> String {
    let oid = algorithm.to_string();
    let known = SIGNATURES.iter().find(|(known, _)| *known == oid);
    known.map_or_else(|| format!("the algorithm {oid}"), |(_, name)| (*name).to_owned())
}

/// Writes `a` or `an` before the name of a key, as it is spoken.
pub fn with_article(name: &str) -> String {
    let article = if name.starts_with("RSA") || name.starts_with("Ed") { "an" } else { "a" };
    format!("{article} {name}")
}

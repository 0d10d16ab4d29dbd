//! The names that kustomize generates for ConfigMaps and Secrets: they end in a hash of the content.

/// The length of the hash.
const LENGTH: usize = 10;
/// The characters of the hash: hexadecimal digits, without those that could make up words (kustomize `api/hasher`, `encode`).
const ALPHABET: &str = "2456789bcdfghkmt";

/// The name without the hash of the content; `None` if it has none.
pub fn stem(name: &str) -> Option<&str> {
    let (stem, hash) = name.rsplit_once('-')?;
    let is_hash = hash.len() == LENGTH && hash.chars().all(|c| ALPHABET.contains(c));
    (is_hash && !stem.is_empty()).then_some(stem)
}

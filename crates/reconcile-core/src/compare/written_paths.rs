//! Field paths as reports write them: as text.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};
use structured_merge::FieldPath;

/// Writes a path as text.
pub(super) fn as_text<S: Serializer>(path: &FieldPath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(path)
}

/// Writes paths as text.
pub(super) fn as_texts<S: Serializer>(paths: &[FieldPath], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(ToString::to_string))
}

/// Reads a path as reports write it.
pub fn path_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FieldPath, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// Reads paths as reports write them.
pub fn paths_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FieldPath>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
}

//! The fields of a live object with the managers that own them.
//!
//! ```text
//! live object, its type ─▶ Blame ─▶ BlamedField…   one for each scalar and each empty map or list
//! manifest ──────────────────┘
//! ```
//! Values are redacted here, so that no later stage can print a Secret.

mod walk;

#[cfg(test)]
mod tests;

use serde_json::Value;
use structured_merge::{Claimants, FieldPath, GroupVersionKind, KindInfo, TypeRef, managed_fields, with_string_data};

use crate::compare::{Redactor, Secrecy};
pub use walk::{BlamedField, InManifest, Step};
use walk::{Walk, WantedFields};

/// Most entries of a Secret whose `stringData` is taken for `data`, as each of them is compared with all others.
const MOST_WITH_TEXTS: usize = 100;

/// The live object whose fields are blamed.
#[derive(Clone, Copy, Debug)]
pub struct Blame<'a> {
    /// Its kind.
    pub gvk: &'a GroupVersionKind,
    /// Its kind as the server serves it, if it does.
    pub kind: Option<&'a KindInfo>,
    /// The object.
    pub live: &'a Value,
    /// The type of its fields.
    pub schema: TypeRef<'a>,
    /// The manifest, if there is one.
    pub manifest: Option<&'a Value>,
    /// True if the manifest is encrypted, so that all values are secret.
    pub is_encrypted: bool,
    /// True if `status` is shown.
    pub with_status: bool,
}

impl Blame<'_> {
    /// The fields in the order of the YAML document, without `metadata.managedFields`.
    pub fn fields(self, redactor: &Redactor) -> Vec<BlamedField> {
        let Self { gvk, kind, live, schema, manifest, is_encrypted, with_status } = self;
        let secrecy = Secrecy::of(gvk, manifest, Some(live)).of_encrypted(is_encrypted);
        let mut shown = redactor.value(&secrecy, &FieldPath::root(), live);
        if let Some(fields) = shown.as_object_mut() {
            if !with_status {
                fields.remove("status");
            }
            if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
                metadata.remove("managedFields");
            }
        }
        let mut entries = managed_fields(live);
        if gvk.is_secret() {
            let all = entries.clone();
            let text = FieldPath::of(&["stringData"]);
            let texts = entries.iter_mut().filter(|entry| entry.fields.contains_at_or_below(&text));
            for entry in texts.take(MOST_WITH_TEXTS) {
                entry.fields = with_string_data(gvk, std::mem::take(&mut entry.fields), &all);
            }
        }
        let claimants = Claimants::of(&entries);
        let wanted = manifest.map(|manifest| WantedFields::of(manifest, live, schema, kind));
        let mut walk = Walk { claimants, root: schema, wanted, steps: Vec::new(), fields: Vec::new() };
        walk.value((live, &shown), schema, (&FieldPath::root(), &FieldPath::root()));
        walk.fields
    }
}

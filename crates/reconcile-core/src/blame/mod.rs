//! The fields of a live object with the managers that own them.
//!
//! ```text
//! live object, its type ─▶ Blame ─▶ BlamedField…   one for each scalar and each empty map or list
//! manifest ──────────────────┘
//! ```
//! Values are redacted here, so that no later stage can print a Secret.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use structured_merge::{
    ClaimStrength, Claimants, FieldPath, FieldSet, GroupVersionKind, KindInfo, ManagedObject, PathElement, TypeRef,
    changes, claim_strength, fields_of, item_element, managed_fields, owners_with_string_data, predict,
    with_string_data_folded,
};

use crate::compare::{FIELD_MANAGER, REDACTED, Redactor, Secrecy, holds_redacted};
use crate::owners::Owner;

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
        let entries = managed_fields(live);
        let entries = owners_with_string_data(gvk, &entries);
        let claimants = Claimants::of(&entries);
        let wanted = manifest.map(|manifest| WantedFields::of(manifest, live, schema, kind));
        let mut walk = Walk { claimants, root: schema, wanted, steps: Vec::new(), fields: Vec::new() };
        walk.value((live, &shown), schema, (&FieldPath::root(), &FieldPath::root()));
        walk.fields
    }
}

/// A walk over the fields of a live object, in the order of its YAML document.
struct Walk<'a> {
    pub claimants: Claimants<'a>,
    pub root: TypeRef<'a>,
    pub wanted: Option<WantedFields<'a>>,
    pub steps: Vec<Step>,
    pub fields: Vec<BlamedField>,
}

impl Walk<'_> {
    /// Visits a value, live and as it may be shown. It has two paths as well: one by which owners and manifests know it, and one that
    /// may be shown.
    pub fn value(&mut self, value: (&Value, &Value), schema: TypeRef<'_>, paths: (&FieldPath, &FieldPath)) {
        let (live, shown) = value;
        // A certificate is shown as what it says, and is one value to owners and manifests.
        let is_one = live.is_string() && (shown.is_object() || shown.is_array());
        match shown {
            Value::Object(map) if !map.is_empty() && !is_redacted(shown) => {
                for (name, shown) in map {
                    let below = if is_one { paths.0.clone() } else { paths.0.field(name) };
                    let live = if is_one { live } else { live.get(name).unwrap_or(&Value::Null) };
                    self.steps.push(Step::Key(name.clone()));
                    self.value((live, shown), schema.field(name), (&below, &paths.1.field(name)));
                    self.steps.pop();
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (position, shown) in items.iter().enumerate() {
                    let item = if is_one { live } else { live.get(position).unwrap_or(&Value::Null) };
                    let index = PathElement::index(position);
                    let element = item_element(item, schema).unwrap_or_else(|| index.clone());
                    let open = if names_a_secret(&element, shown) { index } else { element.clone() };
                    let below = if is_one { paths.0.clone() } else { paths.0.child(element) };
                    self.steps.push(Step::Item(position));
                    self.value((item, shown), schema.item(), (&below, &paths.1.child(open)));
                    self.steps.pop();
                }
            }
            leaf => self.leaf((live, leaf), paths),
        }
    }

    fn leaf(&mut self, (live, shown): (&Value, &Value), (path, open): (&FieldPath, &FieldPath)) {
        let compared = |wanted: &WantedFields<'_>| wanted.compared(path);
        let is_known = |found: InManifest| found == InManifest::Absent || !holds_redacted(live);
        let (strength, owners) = self.claimants.best(path, self.root);
        let owners = owners.into_iter().filter(|_| strength == ClaimStrength::Own);
        self.fields.push(BlamedField {
            path: open.clone(),
            value: shown.clone(),
            managers: owners.map(Owner::from).collect(),
            manifest: self
                .wanted
                .as_ref()
                .map(compared)
                .map(|found| if is_known(found) { found } else { InManifest::Unknown }),
            steps: self.steps.clone(),
        });
    }
}

/// Returns true if the path of a list item would show what is redacted in the item.
fn names_a_secret(element: &PathElement, shown: &Value) -> bool {
    match element {
        PathElement::Member(_) => is_redacted(shown),
        PathElement::Key(keys) => {
            is_redacted(shown) || keys.iter().any(|(key, _)| shown.get(key).is_some_and(is_redacted))
        }
        PathElement::Field(_) | PathElement::Index(_) => false,
    }
}

fn is_redacted(value: &Value) -> bool {
    value.as_object().is_some_and(|map| map.len() == 1 && map.contains_key(REDACTED))
}

/// The fields that a manifest has, and those of them that an apply would change.
struct WantedFields<'a> {
    fields: FieldSet,
    changed: FieldSet,
    schema: TypeRef<'a>,
}

impl<'a> WantedFields<'a> {
    /// Reads the fields of the manifest. Values that mean the same do not differ, as for an apply.
    fn of(manifest: &Value, live: &Value, schema: TypeRef<'a>, kind: Option<&KindInfo>) -> Self {
        let manifest = with_string_data_folded(manifest);
        let before = ManagedObject::new(live.clone(), FIELD_MANAGER);
        let after = predict(&manifest, &before, schema, kind, FIELD_MANAGER);
        let status_is_apart = kind.is_none_or(|kind| kind.status);
        let mut changed = FieldSet::new();
        for change in changes(live, &after.object, schema, status_is_apart) {
            changed.insert(&change.path);
        }
        Self { fields: fields_of(&manifest, schema), changed, schema }
    }

    /// Compares a field of the live object.
    fn compared(&self, path: &FieldPath) -> InManifest {
        if claim_strength(&self.fields, path, self.schema) != ClaimStrength::Own {
            return InManifest::Absent;
        }
        if self.changed.overlaps(path) { InManifest::Differs } else { InManifest::Same }
    }
}

/// A field of a live object, and its owners.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlamedField {
    /// The path of the field.
    pub path: FieldPath,
    /// The live value: a scalar, or an empty map or list. A value of a Secret is an object with the one field `redacted`.
    pub value: Value,
    /// The field managers that own the field; none if nobody does.
    pub managers: Vec<Owner>,
    /// The comparison with the manifest, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<InManifest>,
    /// The steps from the object to the field, as YAML shows them.
    #[serde(skip)]
    pub steps: Vec<Step>,
}

/// A step in a YAML document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the value of a key.
    Key(String),
    /// To the item at a position.
    Item(usize),
}

/// A live field, compared with the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InManifest {
    /// The manifest has the same value.
    Same,
    /// The manifest has another value.
    Differs,
    /// The manifest does not have the field.
    Absent,
    /// The manifest has the field, and the snapshot withholds its live value.
    Unknown,
}

use serde_json::Value;
use structured_merge::{ClaimStrength, Claimants, FieldPath, ManagedFieldsEntry, PathElement, TypeRef, item_element};

use super::field::{BlamedField, Step};
use super::in_manifest::WantedFields;
use crate::compare::REDACTED;
use crate::owners::{AuditAnswer, Owner};

/// A walk over the fields of a live object, in the order of its YAML document.
pub(super) struct Walk<'a> {
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
        match shown {
            Value::Object(map) if !map.is_empty() && !is_redacted(shown) => {
                for (name, shown) in map {
                    let live = live.get(name).unwrap_or(&Value::Null);
                    self.steps.push(Step::Key(name.clone()));
                    self.value((live, shown), schema.field(name), (&paths.0.field(name), &paths.1.field(name)));
                    self.steps.pop();
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (position, shown) in items.iter().enumerate() {
                    let live = live.get(position).unwrap_or(&Value::Null);
                    let index = PathElement::index(position);
                    let element = item_element(live, schema).unwrap_or_else(|| index.clone());
                    let open = if names_a_secret(&element, shown) { index } else { element.clone() };
                    self.steps.push(Step::Item(position));
                    self.value((live, shown), schema.item(), (&paths.0.child(element), &paths.1.child(open)));
                    self.steps.pop();
                }
            }
            leaf => self.leaf(leaf, paths),
        }
    }

    fn leaf(&mut self, value: &Value, (path, open): (&FieldPath, &FieldPath)) {
        let (strength, owners) = self.claimants.best(path, self.root);
        let owners = owners.into_iter().filter(|_| strength == ClaimStrength::Own);
        self.fields.push(BlamedField {
            path: open.clone(),
            value: value.clone(),
            managers: owners.map(owner).collect(),
            manifest: self.wanted.as_ref().map(|wanted| wanted.compared(path)),
            steps: self.steps.clone(),
        });
    }
}

fn owner(entry: &ManagedFieldsEntry) -> Owner {
    Owner {
        manager: entry.manager.clone(),
        operation: entry.operation,
        subresource: entry.subresource.clone(),
        time: entry.time.clone(),
        manual: false,
        users: AuditAnswer::default(),
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

//! Whole objects before and after an apply, with their secrets masked, for reports that show all fields.

use serde_json::Value;
use structured_merge::{FieldPath, LAST_APPLIED, SERVER_METADATA};

use super::Secrecy;
use super::redact::{Redactor, secret_number};

/// The mask of a secret value that is equal in both versions, or exists in only one of them (kubectl `pkg/cmd/diff`).
const MASK: &str = "***";
/// The mask of a secret value that differs, in the live version.
const BEFORE: &str = "*** (before)";
/// The mask of a secret value that differs, in the desired version.
const AFTER: &str = "*** (after)";

/// An object in the cluster and as an apply would leave it, without the metadata that only the server writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Versions {
    /// The live object.
    pub live: Value,
    /// The object after the apply.
    pub desired: Value,
}

impl Versions {
    /// Both versions, with secret values masked as `kubectl diff` does.
    pub(crate) fn of(live: &Value, desired: &Value, secrecy: &Secrecy<'_>, status_is_apart: bool) -> Self {
        // The numbers only show which values are equal. They are not those of the run.
        let numbers = Redactor::default();
        let [live, desired] = [live, desired].map(|object| numbers.value(secrecy, &FieldPath::root(), object));
        Self::masked(live, desired, status_is_apart)
    }

    /// Two versions whose secret values are numbered already, masked in the same way.
    pub fn of_redacted(live: &Value, desired: &Value) -> Self {
        Self::masked(live.clone(), desired.clone(), true)
    }

    fn masked(mut live: Value, mut desired: Value, status_is_apart: bool) -> Self {
        leave_out_bookkeeping(&mut live, status_is_apart);
        leave_out_bookkeeping(&mut desired, status_is_apart);
        mask(&mut live, &mut desired);
        Self { live, desired }
    }
}

/// Replaces the numbers of a redacted object by a mask, for an object that exists in one version only.
pub fn masked(object: &Value) -> Value {
    let mut object = object.clone();
    mask_all(&mut object);
    object
}

/// An object that is to be deleted, without the metadata that only the server writes and without its status.
pub fn without_server_fields(object: &Value) -> Value {
    let mut object = object.clone();
    leave_out_bookkeeping(&mut object, true);
    object
}

fn leave_out_bookkeeping(object: &mut Value, status_is_apart: bool) {
    let Value::Object(fields) = object else { return };
    if status_is_apart {
        fields.remove("status");
    }
    let Some(Value::Object(metadata)) = fields.get_mut("metadata") else { return };
    metadata.retain(|name, _| !SERVER_METADATA.contains(&name.as_str()));
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.remove(LAST_APPLIED);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

fn mask(live: &mut Value, desired: &mut Value) {
    match (secret_number(live), secret_number(desired)) {
        (Some(one), Some(other)) => {
            let (before, after) = if one == other { (MASK, MASK) } else { (BEFORE, AFTER) };
            *live = before.into();
            *desired = after.into();
        }
        (Some(_), None) | (None, Some(_)) => {
            mask_all(live);
            mask_all(desired);
        }
        (None, None) => match (live, desired) {
            (Value::Object(live), Value::Object(desired)) => {
                for (name, value) in live.iter_mut() {
                    match desired.get_mut(name) {
                        Some(counterpart) => mask(value, counterpart),
                        None => mask_all(value),
                    }
                }
                desired.iter_mut().filter(|(name, _)| !live.contains_key(*name)).for_each(|(_, value)| mask_all(value));
            }
            (Value::Array(live), Value::Array(desired)) => {
                let both = live.len().min(desired.len());
                live.iter_mut().zip(desired.iter_mut()).for_each(|(one, other)| mask(one, other));
                live.iter_mut().skip(both).for_each(mask_all);
                desired.iter_mut().skip(both).for_each(mask_all);
            }
            (live, desired) => {
                mask_all(live);
                mask_all(desired);
            }
        },
    }
}

fn mask_all(value: &mut Value) {
    if secret_number(value).is_some() {
        *value = MASK.into();
        return;
    }
    match value {
        Value::Object(map) => map.values_mut().for_each(mask_all),
        Value::Array(items) => items.iter_mut().for_each(mask_all),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::GroupVersionKind;

    use super::*;

    #[test]
    fn secrets_are_masked_as_kubectl_does_and_the_servers_own_is_left_out() {
        let gvk = GroupVersionKind::new("v1", "Secret");
        let secret = |data: Value, generation: u32| {
            json!({
                "metadata": {
                    "name": "it", "generation": generation, "resourceVersion": "7", "managedFields": [{}],
                    "annotations": {LAST_APPLIED: "{\"data\": {\"a\": \"aGVsbG8=\"}}"},
                },
                "data": data, "type": "Opaque",
            })
        };
        let live = secret(json!({"same": "aGVsbG8=", "other": "aGVsbG8=", "gone": "aGVsbG8="}), 1);
        let desired = secret(json!({"same": "aGVsbG8=", "other": "d29ybGQ=", "new": "d29ybGQ="}), 2);
        let versions = Versions::of(&live, &desired, &Secrecy::of(&gvk, Some(&desired), Some(&live)), true);
        assert_eq!(
            versions.live,
            json!({
                "metadata": {"name": "it"}, "type": "Opaque",
                "data": {"same": "***", "other": "*** (before)", "gone": "***"},
            })
        );
        assert_eq!(versions.desired["data"], json!({"same": "***", "other": "*** (after)", "new": "***"}));
        assert_eq!(versions.desired["metadata"], json!({"name": "it"}));
    }

    #[test]
    fn the_status_stays_where_it_is_a_field_like_any_other() {
        let gvk = GroupVersionKind::new("example.com/v1", "Widget");
        let object = json!({"status": {"phase": "Done"}, "spec": {"list": [{"stringData": {"a": "x"}}]}});
        let secrecy = Secrecy::of(&gvk, Some(&object), Some(&object));
        let versions = Versions::of(&object, &object, &secrecy, false);
        assert_eq!(
            versions.live,
            json!({"status": {"phase": "Done"}, "spec": {"list": [{"stringData": {"a": "***"}}]}})
        );
    }
}

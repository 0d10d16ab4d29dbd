//! The entries of `managedFields`, and their format `FieldsV1` (structured-merge-diff, `fieldpath/serialize.go` and `serialize-pe.go`):
//! `f:<name>`, `k:<json keys>`, `v:<json scalar>`, `i:<index>`, and `.` for "this path itself".

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{FieldPath, FieldSet, ObjectMeta as _, PathElement, Scalar};

/// The annotation in which client-side apply stores the manifest that it applied last.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Operation by which a field manager wrote its fields. An operation of another name is read as [`Operation::Update`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Operation {
    /// Server-side apply.
    Apply,
    /// Any other write: create, update, patch.
    #[serde(other)]
    Update,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        })
    }
}

/// One entry of `metadata.managedFields`: a field manager and the fields that it owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedFieldsEntry {
    /// Name of the field manager.
    pub manager: String,
    /// Apply or Update. The Apply and Update entries of one manager are different owners.
    pub operation: Operation,
    /// The API version in which the fields are named.
    pub api_version: String,
    /// The subresource that was written; empty for the object itself.
    pub subresource: String,
    /// Time of the last change (RFC 3339), if the API recorded it.
    pub time: Option<String>,
    /// The fields owned.
    pub fields: FieldSet,
}

impl ManagedFieldsEntry {
    /// An entry for writes to the object itself, without a time.
    pub(crate) fn new(manager: &str, operation: Operation, api_version: &str, fields: FieldSet) -> Self {
        Self {
            manager: manager.to_owned(),
            operation,
            api_version: api_version.to_owned(),
            subresource: String::new(),
            time: None,
            fields,
        }
    }

    fn from_json(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
        Some(Self {
            manager: text("manager").unwrap_or_default(),
            operation: if text("operation")? == "Apply" { Operation::Apply } else { Operation::Update },
            api_version: text("apiVersion").unwrap_or_default(),
            subresource: text("subresource").unwrap_or_default(),
            time: text("time"),
            fields: FieldSet::from_fields_v1(value.get("fieldsV1").unwrap_or(&json!({}))).ok()?,
        })
    }

    /// Writes the entry as the API server reads it.
    pub fn to_json(&self) -> Value {
        let mut entry = Map::new();
        entry.insert("manager".into(), self.manager.as_str().into());
        entry.insert("operation".into(), self.operation.to_string().into());
        entry.insert("apiVersion".into(), self.api_version.as_str().into());
        if !self.subresource.is_empty() {
            entry.insert("subresource".into(), self.subresource.as_str().into());
        }
        if let Some(time) = &self.time {
            entry.insert("time".into(), time.as_str().into());
        }
        entry.insert("fieldsType".into(), "FieldsV1".into());
        entry.insert("fieldsV1".into(), self.fields.to_fields_v1());
        Value::Object(entry)
    }

    /// Identity of the owner (apimachinery `managedfields.BuildManagerIdentifier`). Update entries of different
    /// versions are different owners; one Apply entry serves all versions.
    pub fn identity(&self) -> (&str, Operation, &str, Option<&str>) {
        let version = (self.operation == Operation::Update).then_some(self.api_version.as_str());
        (&self.manager, self.operation, &self.subresource, version)
    }
}

/// The entries of an object's `metadata.managedFields`. Entries that cannot be read are left out: `read_managed_fields`
/// names them.
pub fn managed_fields(object: &Value) -> Vec<ManagedFieldsEntry> {
    read_managed_fields(object).0
}

/// The entries of an object's `metadata.managedFields`, and the managers of entries that cannot be read: the fields
/// that those own are unknown.
pub fn read_managed_fields(object: &Value) -> (Vec<ManagedFieldsEntry>, Vec<String>) {
    let mut entries = Vec::new();
    let mut unreadable = Vec::new();
    for (entry, value) in raw_entries(object) {
        match entry {
            Some(entry) => entries.push(entry),
            None => unreadable.push(value.get("manager").and_then(Value::as_str).unwrap_or_default().to_owned()),
        }
    }
    (entries, unreadable)
}

/// Writes entries as `metadata.managedFields` for an update of an object. An entry that the object already has is
/// repeated exactly as it is there, so that reading and writing loses nothing.
pub fn managed_fields_for<'e>(object: &Value, entries: impl Iterator<Item = &'e ManagedFieldsEntry>) -> Value {
    let written: Vec<(Option<ManagedFieldsEntry>, &Value)> = raw_entries(object).collect();
    let as_written = |entry: &ManagedFieldsEntry| {
        let same = written.iter().find(|(other, _)| other.as_ref() == Some(entry));
        same.map_or_else(|| entry.to_json(), |(_, value)| (*value).clone())
    };
    entries.map(as_written).collect()
}

fn raw_entries(object: &Value) -> impl Iterator<Item = (Option<ManagedFieldsEntry>, &Value)> {
    object.raw_managed_fields().iter().map(|value| (ManagedFieldsEntry::from_json(value), value))
}

/// Error for a `fieldsV1` value that cannot be read: it is not an object, or the text of a path element is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`fieldsV1` cannot be read")]
pub struct FieldsV1Error;

impl FieldSet {
    /// Reads `fieldsV1`. Elements with an unknown prefix are dropped, as the API server does.
    pub fn from_fields_v1(value: &Value) -> Result<Self, FieldsV1Error> {
        let object = value.as_object().ok_or(FieldsV1Error)?;
        let mut set = Self::new();
        for (name, below) in object {
            if name == "." {
                continue;
            }
            let Some(element) = element_from(name)? else { continue };
            let children = Self::from_fields_v1(below)?;
            let below = below.as_object().ok_or(FieldsV1Error)?;
            let member = children.is_empty() || below.contains_key(".");
            set.graft(element, member, children);
        }
        Ok(set)
    }

    /// Writes `fieldsV1`, as the API server reads it.
    pub fn to_fields_v1(&self) -> Value {
        let mut object = Map::new();
        for (element, member, below) in self.nodes() {
            let Value::Object(mut children) = below.to_fields_v1() else { continue };
            if member && !children.is_empty() {
                children.insert(".".to_owned(), Value::Object(Map::new()));
            }
            object.insert(element_to(element), Value::Object(children));
        }
        Value::Object(object)
    }
}

/// A copy of `fieldsV1` with other elements in the place of those that `shown` replaces; it takes each with the path that ends with it. What is
/// not replaced is repeated as it is written. Nothing is left of the value in an element that cannot be read.
pub fn with_elements(fields: &Value, shown: &dyn Fn(&FieldPath, &PathElement) -> PathElement) -> Value {
    with_elements_at(&FieldPath::root(), fields, shown)
}

fn with_elements_at(at: &FieldPath, fields: &Value, shown: &dyn Fn(&FieldPath, &PathElement) -> PathElement) -> Value {
    let Value::Object(map) = fields else { return fields.clone() };
    let mut copy = Map::new();
    for (name, below) in map {
        let (name, below) = match element_from(name) {
            Ok(Some(element)) => {
                let at = at.child(element);
                let below = with_elements_at(&at, below, shown);
                let replaced = at.elements().last().map(|element| (shown(&at, element), element));
                let replaced = replaced.filter(|(new, old)| new != *old).map(|(new, _)| element_to(&new));
                (replaced.unwrap_or_else(|| name.clone()), below)
            }
            Err(_) if name.starts_with(['v', 'k']) => (name.chars().take(2).collect(), below.clone()),
            Ok(None) | Err(_) => (name.clone(), below.clone()),
        };
        match copy.get_mut(&name) {
            Some(other) => join(other, below),
            None => _ = copy.insert(name, below),
        }
    }
    Value::Object(copy)
}

fn join(one: &mut Value, other: Value) {
    if let (Value::Object(one), Value::Object(other)) = (one, other) {
        for (name, below) in other {
            match one.get_mut(&name) {
                Some(known) => join(known, below),
                None => _ = one.insert(name, below),
            }
        }
    }
}

fn element_from(text: &str) -> Result<Option<PathElement>, FieldsV1Error> {
    let (prefix, rest) = text.split_at_checked(2).ok_or(FieldsV1Error)?;
    let json = || serde_json::from_str::<Value>(rest).map_err(|_| FieldsV1Error);
    Ok(Some(match prefix {
        "f:" => PathElement::Field(rest.to_owned()),
        "v:" => PathElement::Member(Scalar::from_json(&json()?)),
        "i:" => PathElement::Index(rest.parse().map_err(|_| FieldsV1Error)?),
        "k:" => match json()? {
            Value::Object(keys) => {
                PathElement::key(keys.iter().map(|(name, value)| (name.clone(), Scalar::from_json(value))))
            }
            _ => return Err(FieldsV1Error),
        },
        _ => return Ok(None),
    }))
}

fn element_to(element: &PathElement) -> String {
    match element {
        PathElement::Field(name) => format!("f:{name}"),
        PathElement::Member(member) => format!("v:{}", member.to_json()),
        PathElement::Index(index) => format!("i:{index}"),
        PathElement::Key(keys) => {
            let keys: Map<_, _> = keys.iter().map(|(name, value)| (name.clone(), value.to_json())).collect();
            format!("k:{}", Value::Object(keys))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_that_cannot_be_read_is_named() {
        let entry = |manager: &str, fields: Value| json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsV1": fields});
        let entries = [entry("a", json!({"f:spec": {}})), entry("b", json!({"k:{": {}})), json!({"manager": "c"})];
        let (readable, unreadable) = read_managed_fields(&json!({"metadata": {"managedFields": entries}}));
        assert_eq!(readable.iter().map(|entry| entry.manager.as_str()).collect::<Vec<_>>(), ["a"]);
        assert_eq!(unreadable, ["b", "c"]);
    }

    #[test]
    fn an_entry_that_stays_is_repeated_as_it_is_written() {
        let odd = json!({"manager": "a", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"v:1.0": {}, "i:-1": {}, "x:later": {}}}});
        let object = json!({"metadata": {"managedFields": [odd]}});
        let entries = managed_fields(&object);
        assert_eq!(managed_fields_for(&object, entries.iter()), json!([odd]));
        let other = ManagedFieldsEntry { manager: "b".to_owned(), ..entries[0].clone() };
        assert_eq!(managed_fields_for(&object, std::iter::once(&other)), json!([other.to_json()]));
    }

    #[test]
    fn reading_and_writing_agree() {
        let fields = json!({
            "f:metadata": {"f:finalizers": {".": {}, "v:\"example.com/guard\"": {}}, "f:labels": {"f:app": {}}},
            "f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}, "f:args": {}},
        });
        let set = FieldSet::from_fields_v1(&fields).unwrap();
        assert_eq!(set.to_fields_v1(), fields);
        let paths: Vec<_> = set.paths().iter().map(ToString::to_string).collect();
        assert!(paths.contains(&"spec.ports[port=80,protocol=TCP].port".to_owned()));
        assert!(paths.contains(&r#"metadata.finalizers[="example.com/guard"]"#.to_owned()));
        assert!(!paths.contains(&"spec.ports".to_owned()));
    }

    #[test]
    fn elements_are_replaced_and_the_others_stay_as_they_are_written() {
        let fields = json!({"f:spec": {".": {}, "v:\"x\"": {}, "v:\"y\"": {}, "v:1.0": {}, "x:later": {},
            "k:{\"n\":\"x\"}": {"f:a": {}}, "k:{\"n\":\"y\"}": {"f:b": {}}, "k:{broken": {}}});
        let withheld = |_: &FieldPath, element: &PathElement| match element {
            PathElement::Member(Scalar::Text(_)) => PathElement::Member(Scalar::Text("-".to_owned())),
            PathElement::Key(_) => PathElement::key([("n".to_owned(), Scalar::Text("-".to_owned()))]),
            other => other.clone(),
        };
        let expected = json!({"f:spec": {".": {}, "v:\"-\"": {}, "v:1.0": {}, "x:later": {},
            "k:{\"n\":\"-\"}": {"f:a": {}, "f:b": {}}, "k:": {}}});
        assert_eq!(with_elements(&fields, &withheld), expected);
    }

    /// Needs the feature `float_roundtrip` of `serde_json`; without it, some floats are read one unit off.
    #[test]
    fn floats_are_read_as_they_are_written() {
        let fields = json!({"f:a": {"v:222222222222222222222222": {}, "v:null": {}, "v:99.99999999999999": {}}});
        let set = FieldSet::from_fields_v1(&fields).unwrap();
        let again = FieldSet::from_fields_v1(&set.to_fields_v1()).unwrap();
        assert_eq!(again, set);
        assert!(set.to_fields_v1().to_string().contains("v:99.99999999999999\""), "{}", set.to_fields_v1());
    }

    #[test]
    fn negative_positions_are_read_as_the_server_reads_them() {
        let fields = json!({"f:spec": {"f:args": {"i:-1": {}}, "f:replicas": {}}});
        let set = FieldSet::from_fields_v1(&fields).unwrap();
        assert_eq!(set.to_fields_v1(), fields);
        assert!(set.covers(&crate::object::FieldPath::of(&["spec", "replicas"])));
        // An element whose children were all dropped is a path of its own.
        let odd = FieldSet::from_fields_v1(&json!({"f:a": {"x:future": {}}})).unwrap();
        assert_eq!(odd.to_fields_v1(), json!({"f:a": {}}));
    }

    #[test]
    fn unknown_prefixes_are_dropped_and_broken_elements_are_errors() {
        let set = FieldSet::from_fields_v1(&json!({"x:future": {}, "f:a": {}})).unwrap();
        assert_eq!(set.paths().len(), 1);
        for broken in [json!({"k:{": {}}), json!({"i:x": {}}), json!({"f": {}}), json!({"f:a": 1}), json!([])] {
            assert!(FieldSet::from_fields_v1(&broken).is_err(), "{broken}");
        }
        // Since structured-merge-diff 6.4, text behind a value is an error there as well.
        for behind in
            [json!({"v:1 2": {}}), json!({"v:\"a\"b": {}}), json!({"k:{\"a\":1}{}": {}}), json!({"k:{\"a\":1},": {}})]
        {
            assert!(FieldSet::from_fields_v1(&behind).is_err(), "{behind}");
        }
        assert!(FieldSet::from_fields_v1(&json!({"v: 1 ": {}, "k:{\"a\":1} ": {}})).is_ok());
    }
}

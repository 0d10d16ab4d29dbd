//! The `FieldsV1` format of `managedFields` (structured-merge-diff, `fieldpath/serialize.go` and `serialize-pe.go`):
//! `f:<name>`, `k:<json keys>`, `v:<json scalar>`, `i:<index>`, and `.` for "this path itself".

use serde_json::{Map, Value};

use super::{FieldSet, PathElement, Scalar};

/// A `fieldsV1` value that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldsV1Error {
    /// Not a JSON object.
    #[error("`fieldsV1` is not an object")]
    NotAnObject,
    /// A path element whose text cannot be read.
    #[error("`fieldsV1` has an unreadable path element")]
    BadElement,
}

impl FieldSet {
    /// Reads `fieldsV1`. Elements with an unknown prefix are dropped, as the API server does.
    pub fn from_fields_v1(value: &Value) -> Result<Self, FieldsV1Error> {
        let object = value.as_object().ok_or(FieldsV1Error::NotAnObject)?;
        let mut set = Self::new();
        for (name, below) in object {
            if name == "." {
                continue;
            }
            let Some(element) = element_from(name)? else { continue };
            let children = Self::from_fields_v1(below)?;
            let below = below.as_object().ok_or(FieldsV1Error::NotAnObject)?;
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

fn element_from(text: &str) -> Result<Option<PathElement>, FieldsV1Error> {
    let (prefix, rest) = text.split_at_checked(2).ok_or(FieldsV1Error::BadElement)?;
    let json = || serde_json::from_str::<Value>(rest).map_err(|_| FieldsV1Error::BadElement);
    Ok(Some(match prefix {
        "f:" => PathElement::Field(rest.to_owned()),
        "v:" => PathElement::Member(Scalar::from_json(&json()?)),
        "i:" => PathElement::Index(rest.parse().map_err(|_| FieldsV1Error::BadElement)?),
        "k:" => match json()? {
            Value::Object(keys) => {
                PathElement::key(keys.iter().map(|(name, value)| (name.clone(), Scalar::from_json(value))))
            }
            _ => return Err(FieldsV1Error::BadElement),
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
    use super::*;
    use serde_json::json;

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

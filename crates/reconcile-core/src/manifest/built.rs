//! The files that the objects of a build come from.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_yaml::{Positions, Step};
use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, GroupKind, GroupVersionKind, ObjectMeta as _, PathElement};

use super::source::SourceText;
use crate::object::generated::stem;

/// The place of a resource of a kustomization.
#[derive(Clone, Debug)]
pub struct BuiltPlace {
    /// The file as messages name it.
    pub file: Arc<str>,
    /// The namespace that is written in it.
    pub namespace: Option<String>,
    /// Its document; `None` for an object that the kustomization of this file generates.
    pub document: Option<BuiltDocument>,
}

/// The document of a resource.
#[derive(Clone, Debug)]
pub struct BuiltDocument {
    /// Its first line.
    pub line: u32,
    /// The object that is written in it.
    pub object: Arc<Value>,
    /// The positions of its fields.
    pub positions: Positions,
    /// The template that Helm rendered it from.
    pub template: Option<Arc<str>>,
    /// The text of its file.
    pub text: SourceText,
}

/// Files by their absolute paths.
pub type Files = BTreeMap<String, Arc<[u8]>>;

/// The files that the objects of a build come from, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct BuiltFrom {
    /// By the kind and the name in the build, without the namespace.
    places: BTreeMap<(GroupKind, String), Vec<BuiltPlace>>,
    /// All files of the build, as they were read.
    pub files: Arc<Files>,
}

/// The text that an object is written in, and what of the object is not in it.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub text: SourceText,
    /// The fields that the kustomization of this file sets, with a patch or an entry of its own.
    pub elsewhere: Option<Arc<Elsewhere>>,
}

/// Fields of a built object that its resource does not have, or with another value.
#[derive(Debug)]
pub(super) struct Elsewhere {
    /// The kustomization that was built.
    file: Arc<str>,
    fields: FieldSet,
}

impl From<SourceText> for Written {
    fn from(text: SourceText) -> Self {
        Self { text, elsewhere: None }
    }
}

impl Elsewhere {
    /// Compares a built object with its resource; `None` if all that it has is in the resource.
    pub fn of(built: &Value, resource: &Value, file: &Arc<str>) -> Option<Arc<Self>> {
        let mut fields = FieldSet::new();
        differing(built, resource, &FieldPath::root(), &mut fields);
        (!fields.is_empty()).then(|| Arc::new(Self { file: Arc::clone(file), fields }))
    }

    /// The kustomization, if it sets the value at a path.
    pub fn of_path(&self, path: &[Step<'_>]) -> Option<&Arc<str>> {
        let elements = path.iter().map(|step| match step {
            Step::Key(key) => PathElement::Field((*key).to_owned()),
            Step::Index(index) => PathElement::index(*index),
        });
        self.fields.contains_at_or_above(&FieldPath::from(elements.collect::<Vec<_>>())).then_some(&self.file)
    }
}

fn differing(built: &Value, resource: &Value, path: &FieldPath, found: &mut FieldSet) {
    match (built, resource) {
        (Value::Object(built), Value::Object(resource)) => {
            for (name, value) in built {
                differing(value, resource.get(name).unwrap_or(&Value::Null), &path.field(name), found);
            }
        }
        (Value::Array(built), Value::Array(resource)) => {
            for (index, value) in built.iter().enumerate() {
                let place = path.child(PathElement::index(index));
                differing(value, resource.get(index).unwrap_or(&Value::Null), &place, found);
            }
        }
        _ if built == resource => {}
        _ => found.insert(path),
    }
}

/// The build that an object was read from.
#[derive(Clone, Debug)]
pub struct Built {
    /// Its output.
    pub text: SourceText,
    /// Its files, as they were read.
    pub files: Arc<Files>,
}

impl BuiltFrom {
    /// No place yet, of a build of these files.
    pub fn of_files(files: Files) -> Self {
        Self { places: BTreeMap::new(), files: Arc::new(files) }
    }

    /// Adds the place of an object with a name in the build, without the hash of its content.
    pub fn add(&mut self, api_version: &str, kind: &str, name: String, place: BuiltPlace) {
        let kind = GroupKind::from(&GroupVersionKind::new(api_version, kind));
        self.places.entry((kind, name)).or_default().push(place);
    }

    /// The only place that an object of the build may come from.
    pub(super) fn of(&self, object: &Value) -> Option<&BuiltPlace> {
        let kind = GroupKind::from(&GroupVersionKind::of(object));
        let of_name = |name: &str| self.places.get(&(kind.clone(), name.to_owned()));
        let name = object.name().unwrap_or_default();
        let places = of_name(name).or_else(|| of_name(stem(name)?))?;
        let namespace = object.metadata("namespace").and_then(Value::as_str).filter(|namespace| !namespace.is_empty());
        match places.as_slice() {
            [only] => Some(only),
            // A generator that merges into another one is nearer, and the object comes from the last one.
            [.., last] if places.iter().all(|place| place.document.is_none()) => Some(last),
            _ => {
                let mut same = places.iter().filter(|place| place.namespace.as_deref() == namespace);
                same.next().filter(|_| same.next().is_none())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place(file: &str, namespace: Option<&str>) -> BuiltPlace {
        BuiltPlace { file: file.into(), namespace: namespace.map(ToOwned::to_owned), document: None }
    }

    fn document(text: &str) -> BuiltDocument {
        let document = kube_yaml::read(text.as_bytes(), kube_yaml::Validation::Warn).documents.remove(0);
        let (object, positions) = (Arc::new(document.value), document.positions);
        BuiltDocument { line: 1, object, positions, template: None, text: text.as_bytes().to_vec().into() }
    }

    #[test]
    fn an_object_has_the_place_that_only_it_may_have() {
        let mut from = BuiltFrom::default();
        from.add("v1", "ConfigMap", "settings".into(), place("a/kustomization.yaml", None));
        for (file, namespace) in [("a.yaml", "one"), ("b.yaml", "two")] {
            let place = BuiltPlace { document: Some(document("kind: Role\n")), ..place(file, Some(namespace)) };
            from.add("rbac.authorization.k8s.io/v1", "Role", "reader".into(), place);
        }
        let of = |object: Value| from.of(&object).map(|place| place.file.to_string());
        let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        assert_eq!(of(map("settings-4h2mbtbbt6")).as_deref(), Some("a/kustomization.yaml"));
        assert_eq!(of(map("settings-of-others")), None);
        let role = |namespace: &str| {
            let metadata = json!({"name": "reader", "namespace": namespace});
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata})
        };
        assert_eq!(of(role("two")).as_deref(), Some("b.yaml"));
        assert_eq!(of(role("three")), None, "it may come from both");
    }

    #[test]
    fn what_a_resource_does_not_have_is_in_the_kustomization() {
        let resource = json!({"spec": {"replicas": 2, "list": [{"a": 1}, {"a": 2}]}, "metadata": {"name": "web"}});
        let built = json!({"spec": {"replicas": "three", "list": [{"a": 1}, {"a": 3, "b": {"c": 1}}]}, "metadata": {"name": "web"}});
        let file = Arc::from("prod/kustomization.yaml");
        let elsewhere = Elsewhere::of(&built, &resource, &file).unwrap();
        let (spec, list) = (Step::Key("spec"), Step::Key("list"));
        for path in [
            &[spec, Step::Key("replicas")][..],
            &[spec, list, Step::Index(1), Step::Key("a")],
            &[spec, list, Step::Index(1), Step::Key("b"), Step::Key("c")],
        ] {
            assert_eq!(elsewhere.of_path(path), Some(&file), "{path:?}");
        }
        for path in [&[spec][..], &[spec, list, Step::Index(0), Step::Key("a")], &[Step::Key("metadata")]] {
            assert_eq!(elsewhere.of_path(path), None, "{path:?}");
        }
        assert!(Elsewhere::of(&resource, &resource, &file).is_none());
    }
}

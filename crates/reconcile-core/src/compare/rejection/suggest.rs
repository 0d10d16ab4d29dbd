//! Suggestions for fields that do not exist.

use structured_merge::{FieldPath, GroupVersionKind, PathElement, TypeRef};

use super::cursor::Cursor;
use super::rejected_object::RejectedObject;
use crate::text::similar;

/// The place where the fields of a kind are described.
pub(super) enum Described<'a> {
    /// The server has the kind, so that `kubectl explain` describes it.
    ByServer(&'a GroupVersionKind),
    /// The server will have the kind, or this type of it, once this CustomResourceDefinition of the input is applied; until then,
    /// `kubectl explain` fails or shows the former type.
    ByDefinition(String),
}

impl<'a> Described<'a> {
    pub fn of(subject: &RejectedObject<'a>) -> Self {
        let gvk = &subject.target.key.gvk;
        match subject.target.resource.as_deref() {
            Ok(resource) if resource.pending || subject.is_coming => {
                Self::ByDefinition(format!("{}.{}", resource.plural, gvk.group))
            }
            _ => Self::ByServer(gvk),
        }
    }

    /// The end of a sentence: with the command that explains the fields at this path, or in the definition that has them.
    pub fn at(&self, path: &FieldPath) -> String {
        let fields = path.elements().iter().filter_map(|element| match element {
            PathElement::Field(name) => Some(format!(".{name}")),
            _ => None,
        });
        match self {
            Self::ByServer(gvk) => {
                format!("with `kubectl explain {}{}`", gvk.kind.to_lowercase(), fields.collect::<String>())
            }
            Self::ByDefinition(name) => format!("in the CustomResourceDefinition `{name}` of the input"),
        }
    }
}

/// Advice about a key that the type at `parent` does not have: the level above or below that has the field, or a similar name, or
/// the place that lists the fields. `named` is the name of a path in a message.
pub(super) fn field(
    described: &Described<'_>,
    parent: &Cursor<'_>,
    name: &str,
    named: &dyn Fn(&FieldPath) -> String,
) -> String {
    let (map, schema) = parent.here();
    let is_there = |schema: TypeRef<'_>| schema.declares(name) || schema.item().declares(name);
    // Indented too much: the type of an outer level has the field, and the manifest does not have it there.
    let outer = parent.trail.split_last().map_or(&[][..], |(_, outer)| outer);
    if let Some(depth) = outer.iter().rposition(|(value, schema)| schema.declares(name) && value.get(name).is_none()) {
        let outer = FieldPath::from(parent.path.elements().iter().take(depth).cloned().collect::<Vec<_>>());
        return if depth == 0 {
            format!("`{name}` belongs to the top level of the object: indent it less")
        } else {
            format!("`{name}` belongs to {}: indent it less", named(&outer))
        };
    }
    // Indented too little: a key of the same level has the field.
    let siblings = map.as_object().into_iter().flat_map(serde_json::Map::keys);
    if let Some(sibling) = siblings.filter(|key| key.as_str() != name).find(|key| is_there(schema.field(key))) {
        return format!("`{name}` belongs to {}: indent it more", named(&parent.path.field(sibling)));
    }
    match similar(name, schema.field_names()) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => format!("see the fields there {}", described.at(&parent.path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use structured_merge::builtin;

    #[test]
    fn names_are_similar_by_edits_whatever_their_case() {
        let names = ["image", "imagePullPolicy", "name", "env", "envFrom", "args"];
        let nearest = |name: &str| similar(name, names.into_iter());
        assert_eq!(nearest("imagee"), Some("image"));
        assert_eq!(nearest("iamge"), Some("image"));
        assert_eq!(nearest("imagepullpolicy"), Some("imagePullPolicy"));
        assert_eq!(nearest("nmae"), Some("name"));
        assert_eq!(nearest("arg"), Some("args"));
        assert_eq!(nearest("replicas"), None);
    }

    fn named(path: &FieldPath) -> String {
        format!("`{path}`")
    }

    #[test]
    fn a_field_on_the_wrong_level_is_sent_where_it_belongs() {
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        let schema = builtin().object(&gvk).unwrap();
        let manifest = json!({"metadata": {}, "template": {}, "spec": {"template": {"replicas": 2, "spec": {
            "containers": [{"name": "web"}], "image": "x"}}}});
        let advice = |path: &[&str], name: &str| {
            let mut cursor = Cursor::root(&manifest, schema);
            for key in path {
                assert!(cursor.enter_key(key));
            }
            field(&Described::ByServer(&gvk), &cursor, name, &named)
        };
        assert_eq!(advice(&[], "template"), "`template` belongs to `spec`: indent it more");
        assert_eq!(advice(&["spec", "template"], "replicas"), "`replicas` belongs to `spec`: indent it less");
        assert_eq!(
            advice(&["spec", "template", "spec"], "image"),
            "`image` belongs to `spec.template.spec.containers`: indent it more"
        );
        // The outer level has it already.
        assert!(advice(&["spec", "template", "spec"], "template").starts_with("see the fields there"));
        assert_eq!(advice(&["spec", "template"], "sepc"), "did you mean `spec`?");
        assert_eq!(
            advice(&["spec", "template"], "nonsense"),
            "see the fields there with `kubectl explain deployment.spec.template`"
        );
        assert_eq!(advice(&["spec"], "kind"), "`kind` belongs to the top level of the object: indent it less");
        let coming = Described::ByDefinition("widgets.example.com".to_owned());
        assert_eq!(
            field(&coming, &Cursor::root(&manifest, schema), "nonsense", &named),
            "see the fields there in the CustomResourceDefinition `widgets.example.com` of the input"
        );
    }
}

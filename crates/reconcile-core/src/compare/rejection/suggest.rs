//! Suggestions for fields that do not exist.

use structured_merge::{FieldPath, GroupVersionKind, PathElement, TypeRef};

use super::cursor::Cursor;
use crate::text::similar;

/// Advice about a key that the type at `parent` does not have: the level above or below that has the field, or a similar name, or
/// the command that lists the fields.
pub(super) fn field(gvk: &GroupVersionKind, parent: &Cursor<'_>, name: &str) -> String {
    let (map, schema) = parent.here();
    let is_there = |schema: TypeRef<'_>| schema.declares(name) || schema.item().declares(name);
    // Indented too much: an outer level has the field.
    let outer = parent.trail.split_last().map_or(&[][..], |(_, outer)| outer);
    if let Some(depth) = outer.iter().rposition(|(_, schema)| schema.declares(name)) {
        let outer = FieldPath::from(parent.path.elements().iter().take(depth).cloned().collect::<Vec<_>>());
        return if depth == 0 {
            format!("`{name}` belongs to the top level of the object: indent it less")
        } else {
            format!("`{name}` belongs to `{outer}`: indent it less")
        };
    }
    // Indented too little: a key of the same level has the field.
    let siblings = map.as_object().into_iter().flat_map(serde_json::Map::keys);
    if let Some(sibling) = siblings.filter(|key| key.as_str() != name).find(|key| is_there(schema.field(key))) {
        return format!("`{name}` belongs to `{}`: indent it more", parent.path.field(sibling));
    }
    match similar(name, schema.field_names()) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => format!("see the fields there with `{}`", explain(gvk, &parent.path)),
    }
}

/// `kubectl explain deployment.spec.template`
pub(super) fn explain(gvk: &GroupVersionKind, path: &FieldPath) -> String {
    let fields = path.elements().iter().filter_map(|element| match element {
        PathElement::Field(name) => Some(format!(".{name}")),
        _ => None,
    });
    format!("kubectl explain {}{}", gvk.kind.to_lowercase(), fields.collect::<String>())
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
            field(&gvk, &cursor, name)
        };
        assert_eq!(advice(&[], "template"), "`template` belongs to `spec`: indent it more");
        assert_eq!(advice(&["spec", "template"], "replicas"), "`replicas` belongs to `spec`: indent it less");
        assert_eq!(
            advice(&["spec", "template", "spec"], "image"),
            "`image` belongs to `spec.template.spec.containers`: indent it more"
        );
        assert_eq!(advice(&["spec", "template"], "sepc"), "did you mean `spec`?");
        assert_eq!(
            advice(&["spec", "template"], "nonsense"),
            "see the fields there with `kubectl explain deployment.spec.template`"
        );
        assert_eq!(advice(&["spec"], "kind"), "`kind` belongs to the top level of the object: indent it less");
    }
}

//! What a field that does not exist was meant to be.

use structured_merge::{FieldPath, GroupVersionKind, PathElement, TypeRef};

use super::cursor::Place;
use crate::text::similar;

/// Advice about a key that the type at `parent` does not have: a place near by where it belongs, else a name like it, else
/// where to look.
pub(super) fn field(gvk: &GroupVersionKind, parent: &Place<'_>, name: &str) -> String {
    let (map, of) = parent.here();
    let is_there = |of: TypeRef<'_>| of.declares(name) || of.item().declares(name);
    // Written too deep: an outer level has it.
    let outer = parent.trail.split_last().map_or(&[][..], |(_, outer)| outer);
    if let Some(depth) = outer.iter().rposition(|(_, of)| of.declares(name)) {
        let outer = FieldPath::from(parent.path.elements().iter().take(depth).cloned().collect::<Vec<_>>());
        return if depth == 0 {
            format!("`{name}` belongs to the top level of the object: indent it less")
        } else {
            format!("`{name}` belongs to `{outer}`: indent it less")
        };
    }
    // Not deep enough: a key beside it has it.
    let siblings = map.as_object().into_iter().flat_map(serde_json::Map::keys);
    if let Some(sibling) = siblings.filter(|key| key.as_str() != name).find(|key| is_there(of.field(key))) {
        return format!("`{name}` belongs to `{}`: indent it more", parent.path.field(sibling));
    }
    match similar(name, of.field_names()) {
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
        let of = builtin().object(&gvk).unwrap();
        let manifest = json!({"metadata": {}, "template": {}, "spec": {"template": {"replicas": 2, "spec": {
            "containers": [{"name": "web"}], "image": "x"}}}});
        let advice = |path: &[&str], name: &str| {
            let mut place = Place::root(&manifest, of);
            for key in path {
                assert!(place.enter_key(key));
            }
            field(&gvk, &place, name)
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

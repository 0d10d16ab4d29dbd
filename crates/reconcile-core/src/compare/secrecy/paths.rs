//! Paths as they may be shown: the keys of list items and the members of sets are values, too.

use structured_merge::{FieldPath, PathElement, Scalar};

use super::Secrecy;
use super::redact::{Redactor, holds_redacted};
use crate::compare::diff::IgnoredFields;
use crate::compare::object_diff::ObjectDiff;
use crate::object::is_secret_text;
use crate::text::listed;

/// The text in a path in the place of a secret key or member.
const WITHHELD: &str = "(secret)";

/// Returns true if a path has a key or a member, which may be secret.
pub(crate) fn has_values(path: &FieldPath) -> bool {
    path.elements().iter().any(|element| matches!(element, PathElement::Key(_) | PathElement::Member(_)))
}

/// Returns true if a key or a member is the text of a Secret, whichever object it is in.
pub(crate) fn is_secret_element(element: &PathElement) -> bool {
    let is_secret = |scalar: &Scalar| matches!(scalar, Scalar::Text(text) if is_secret_text(text));
    match element {
        PathElement::Member(member) => is_secret(member),
        PathElement::Key(pairs) => pairs.iter().any(|(_, scalar)| is_secret(scalar)),
        PathElement::Field(_) | PathElement::Index(_) => false,
    }
}

/// Returns true if a key or a member was left out of a path, which then is none of the object.
pub(crate) fn is_withheld(path: &FieldPath) -> bool {
    let is_withheld = |scalar: &Scalar| matches!(scalar, Scalar::Text(text) if text == WITHHELD);
    path.elements().iter().any(|element| match element {
        PathElement::Member(member) => is_withheld(member),
        PathElement::Key(pairs) => pairs.iter().any(|(_, scalar)| is_withheld(scalar)),
        PathElement::Field(_) | PathElement::Index(_) => false,
    })
}

/// Most fields that a message names.
const NAMED: usize = 3;

impl Secrecy<'_> {
    /// The first of some paths as they may be shown, for a message; empty if there are none.
    pub(crate) fn listed<'p>(&self, paths: impl IntoIterator<Item = &'p FieldPath>) -> String {
        let shown: Vec<String> = paths.into_iter().map(|path| self.shown_path(path).to_string()).collect();
        listed(shown.iter().map(String::as_str), NAMED)
    }

    /// The path as it may be shown: without the keys and members that are redacted as values.
    pub fn shown_path(&self, path: &FieldPath) -> FieldPath {
        if !has_values(path) {
            return path.clone();
        }
        let mut above = FieldPath::root();
        let mut shown = Vec::with_capacity(path.elements().len());
        for element in path.elements() {
            let at = above.child(element.clone());
            shown.push(self.shown_element(&at, element));
            above = at;
        }
        FieldPath::from(shown)
    }

    /// The last element of a path as it may be shown.
    pub(crate) fn shown_element(&self, at: &FieldPath, element: &PathElement) -> PathElement {
        let shown = |path: &FieldPath, scalar: &Scalar| {
            let value = Redactor::default().value(self, path, &scalar.to_json());
            if holds_redacted(&value) { Scalar::Text(WITHHELD.to_owned()) } else { scalar.clone() }
        };
        match element {
            PathElement::Member(member) => PathElement::Member(shown(at, member)),
            PathElement::Key(pairs) => {
                let pairs = pairs.iter().map(|(name, scalar)| (name.clone(), shown(&at.field(name), scalar)));
                PathElement::Key(pairs.collect())
            }
            PathElement::Field(_) | PathElement::Index(_) => element.clone(),
        }
    }
}

impl ObjectDiff {
    /// Leaves secret keys and members out of all paths.
    pub fn withhold_keys(&mut self, secrecy: &Secrecy<'_>) {
        self.paths_mut(&mut |path| {
            if has_values(path) {
                *path = secrecy.shown_path(path);
            }
        });
        for IgnoredFields { managers, .. } in &mut self.ignored {
            let named = std::mem::take(managers).into_iter();
            let shown = |text: &str| text.parse().map(|path| secrecy.shown_path(&path).to_string());
            // Those of equal paths are joined.
            for (path, names) in named {
                let all = managers.entry(shown(&path).unwrap_or_else(|_| WITHHELD.to_owned())).or_default();
                all.extend(names);
                all.sort();
                all.dedup();
            }
        }
    }

    /// Returns true if one of its paths has a key or a member.
    pub fn has_values_in_paths(&self) -> bool {
        let Self { changes, conflicts, transfers, added_items, ignored, left, .. } = self;
        let paths = changes.iter().map(|change| &change.path);
        let paths = paths.chain(conflicts.iter().map(|conflict| &conflict.path)).chain(added_items);
        let paths = paths.chain(ignored.iter().flat_map(|ignored| &ignored.paths));
        let paths = paths.chain(left.iter().map(|left| &left.path));
        let mut paths = paths.chain(transfers.iter().flatten().map(|transfer| &transfer.path));
        paths.any(has_values)
    }

    fn paths_mut(&mut self, each: &mut dyn FnMut(&mut FieldPath)) {
        let Self { changes, conflicts, transfers, added_items, ignored, left, .. } = self;
        let paths = changes.iter_mut().map(|change| &mut change.path);
        let paths = paths.chain(conflicts.iter_mut().map(|conflict| &mut conflict.path)).chain(added_items);
        let paths = paths.chain(ignored.iter_mut().flat_map(|ignored| &mut ignored.paths));
        let paths = paths.chain(left.iter_mut().map(|left| &mut left.path));
        paths.chain(transfers.iter_mut().flatten().map(|transfer| &mut transfer.path)).for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::GroupVersionKind;

    use super::*;

    #[test]
    fn what_is_redacted_as_a_value_is_left_out_of_paths() {
        let manifest = json!({"spec": {"secret": {"kind": "Secret", "data": [{"name": "x"}]}}});
        let gvk = GroupVersionKind::new("example.com/v1", "Widget");
        let secrecy = Secrecy::of(&gvk, Some(&manifest), None);
        let text = json!("kind: Secret\nstringData: {a: b}");
        for (path, shown) in [
            (format!("spec.set[={text}]"), "spec.set[=\"(secret)\"]"),
            (format!("spec.list[k={text},name=web].v"), "spec.list[k=\"(secret)\",name=web].v"),
            ("spec.secret.data[name=x]".to_owned(), "spec.secret.data[name=\"(secret)\"]"),
            ("spec.stringData[=\"x\"]".to_owned(), "spec.stringData[=\"(secret)\"]"),
            ("spec.other[name=x][0][=\"y\"]".to_owned(), "spec.other[name=x][0][=\"y\"]"),
        ] {
            let path: FieldPath = path.parse().unwrap();
            assert_eq!(secrecy.shown_path(&path).to_string(), shown);
            assert_eq!(is_withheld(&secrecy.shown_path(&path)), shown.contains("(secret)"), "{shown}");
        }
        let encrypted = secrecy.of_encrypted(true);
        let path: FieldPath = "spec.containers[name=web].args[0]".parse().unwrap();
        assert_eq!(encrypted.shown_path(&path).to_string(), "spec.containers[name=\"(secret)\"].args[0]");
    }
}

//! The place of a field in its document.

use manifest_edit::Step;
use serde_json::Value;
use structured_merge::{FieldPath, PathElement, Scalar};

/// The steps to a field of an object; `None` if the object has no such place. An item that a list does not have is behind its end.
pub(super) fn steps(path: &FieldPath, object: &Value) -> Option<Vec<Step>> {
    let (mut steps, mut at) = (Vec::new(), Some(object));
    for element in path.elements() {
        let step = match element {
            PathElement::Field(name) => Step::Key(name.clone()),
            PathElement::Index(index) => Step::Index(usize::try_from(*index).ok()?),
            PathElement::Member(member) => item(at, |item| Scalar::from_json(item) == *member)?,
            PathElement::Key(keys) => item(at, |item| is_item(item, keys))?,
        };
        at = at.and_then(|value| match &step {
            Step::Key(name) => value.get(name),
            Step::Index(index) => value.get(*index),
        });
        steps.push(step);
    }
    Some(steps)
}

/// The only item of a list for which a condition holds, or the place behind its end.
fn item(list: Option<&Value>, is_it: impl Fn(&Value) -> bool) -> Option<Step> {
    let items = match list {
        None | Some(Value::Null) => return Some(Step::Index(usize::MAX)),
        Some(list) => list.as_array()?,
    };
    let mut found = items.iter().enumerate().filter(|(_, item)| is_it(item)).map(|(index, _)| index);
    let first = found.next().unwrap_or(usize::MAX);
    found.next().is_none().then_some(Step::Index(first))
}

/// Returns true if an item has these keys. Those that it leaves out are set by the server, as `protocol: TCP`.
fn is_item(item: &Value, keys: &[(String, Scalar)]) -> bool {
    let mut written = keys.iter().filter_map(|(name, key)| Some((item.get(name)?, key))).peekable();
    written.peek().is_some() && written.all(|(found, key)| Scalar::from_json(found) == *key)
}

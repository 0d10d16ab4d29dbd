use serde_json::Value;

use super::case::Case;
use super::fields::without_record;
use super::kinds::Kind;
use super::reference::Reference;
use super::tally::Tally;
use super::values::drop_empty;

/// A smaller case that still differs, and its difference.
pub fn shrunk(mut case: Case, mut difference: String, kind: &Kind, reference: &mut Reference) -> (Case, String) {
    let mut has_shrunk = true;
    while has_shrunk {
        has_shrunk = false;
        for of_live in [true, false] {
            let mut at = 0;
            loop {
                let mut smaller = case.clone();
                let value = if of_live { smaller.live.as_mut() } else { Some(&mut smaller.manifest) };
                let Some(value) = value else { break };
                let mut left = at;
                if !take_out(value, &mut left) {
                    break;
                }
                if kind.is_built_in && !is_normal(&smaller) {
                    at += 1;
                    continue;
                }
                match smaller.check(kind, reference, &mut Tally::default()) {
                    Err(other) => (case, difference, has_shrunk) = (smaller, other, true),
                    Ok(_) => at += 1,
                }
            }
        }
    }
    (case, difference)
}

/// Returns true if a case has no empty values, which Go types leave out.
fn is_normal(case: &Case) -> bool {
    let is_normal = |object: &Value| {
        let object = without_record(object);
        let mut normal = object.clone();
        drop_empty(&mut normal);
        normal == object
    };
    is_normal(&case.manifest) && case.live.as_ref().is_none_or(is_normal)
}

/// Removes a field or an item from a value, counted from its beginning; false if there are fewer.
fn take_out(value: &mut Value, left: &mut usize) -> bool {
    const KEPT: [&str; 5] = ["apiVersion", "kind", "metadata", "manager", "operation"];
    match value {
        Value::Object(map) => {
            let is_kept = |name: &str| KEPT.contains(&name) || map.get(name).is_some_and(|value| value == "it");
            let names: Vec<String> = map.keys().filter(|name| !is_kept(name)).cloned().collect();
            for name in names {
                if *left == 0 {
                    map.remove(&name);
                    return true;
                }
                *left -= 1;
            }
            map.values_mut().any(|child| take_out(child, left))
        }
        Value::Array(items) => {
            if *left < items.len() {
                items.remove(*left);
                return true;
            }
            *left -= items.len();
            items.iter_mut().any(|child| take_out(child, left))
        }
        _ => false,
    }
}

//! List items that were added by hand, in one clause of the summary.

use structured_merge::{FieldPath, PathElement};

use crate::Report;
use crate::model::tally::tally;

/// `1 container added by hand`; `None` if there are none.
pub(crate) fn clause(report: &Report) -> Option<String> {
    let counts = tally(report.objects.iter().flat_map(|object| &object.diff.added_items).map(list_of));
    let items: Vec<String> = counts.iter().map(|(list, count)| named(list, *count)).collect();
    (!items.is_empty()).then(|| format!("{} added by hand", items.join(", ")))
}

/// The list that an item belongs to.
fn list_of(path: &FieldPath) -> &str {
    let names = path.elements().iter().rev().filter_map(|element| match element {
        PathElement::Field(name) => Some(name.as_str()),
        _ => None,
    });
    names.into_iter().next().unwrap_or("items")
}

/// `2 containers`, from the name of the list.
fn named(list: &str, count: usize) -> String {
    let singular = match list {
        "env" => return format!("{count} environment variable{}", if count == 1 { "" } else { "s" }),
        "hostAliases" => "hostAlias",
        _ => list.strip_suffix('s').unwrap_or(list),
    };
    format!("{count} {}", if count == 1 { singular } else { list })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_named_after_their_list() {
        assert_eq!(named("containers", 1), "1 container");
        assert_eq!(named("volumeMounts", 2), "2 volumeMounts");
        assert_eq!(named("env", 1), "1 environment variable");
        assert_eq!(named("webhooks", 1), "1 webhook");
    }
}

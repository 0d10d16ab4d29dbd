//! Items that manual changes added beside those of the manifests, in one clause of the summary.

use structured_merge::{FieldPath, PathElement};

use crate::report::Report;
use crate::report::model::tally::tally;

/// `1 container beside the manifest: --show-unmanaged`; nothing where there is none.
#[must_use]
pub(crate) fn clause(report: &Report) -> Option<String> {
    let counts = tally(report.objects.iter().flat_map(|object| &object.beside).map(list_of));
    let items: Vec<String> = counts.iter().map(|(list, count)| named(list, *count)).collect();
    let manifests = match report.objects.iter().filter(|object| !object.beside.is_empty()).count() {
        0 => return None,
        1 => "manifest",
        _ => "manifests",
    };
    Some(format!("{} beside the {manifests}: --show-unmanaged", items.join(", ")))
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

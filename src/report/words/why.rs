//! Why a field differs, and by whom.

use crate::compare::{Class, FieldChange, Owner};
use crate::report::View;

/// Who changed it, or what else there is to know, beside a value.
pub(crate) fn note(change: &FieldChange, view: &View) -> String {
    match change.class {
        Class::ChangedByOther => format!("by {}", owners(change, view)),
        Class::Conflict if !change.managers.is_empty() => format!("conflict with {}", owners(change, view)),
        // The sign says that it is missing, and the line above who added it.
        Class::Absent | Class::Unmanaged => String::new(),
        _ => why(change, view),
    }
}

/// Why a field differs.
pub(crate) fn why(change: &FieldChange, view: &View) -> String {
    match change.class {
        Class::ChangedByOther => format!("changed by {}", owners(change, view)),
        Class::Conflict => "conflict".to_owned(),
        Class::Absent => "not in the cluster: new in the manifest or removed there".to_owned(),
        Class::Pruned => "no longer in the manifest".to_owned(),
        Class::Released => format!("no longer in the manifest, kept by {}", owners(change, view)),
        Class::Reordered => "order only".to_owned(),
        Class::Overridden => "the cluster keeps its own value".to_owned(),
        Class::Unmanaged | Class::Pending | Class::Missing | Class::Adopted => String::new(),
    }
}

fn owners(change: &FieldChange, view: &View) -> String {
    change.managers.iter().map(|owner| owner_text(owner, view)).collect::<Vec<_>>().join(", ")
}

/// `kubectl (scale) 2026-11-20T10:00:00Z`, `helm (Apply) …`
pub(crate) fn owner_text(owner: &Owner, view: &View) -> String {
    let way = match (owner.subresource.as_str(), owner.operation.as_str()) {
        ("", "Apply") => " (Apply)".to_owned(),
        ("", _) => String::new(),
        (subresource, _) => format!(" ({subresource})"),
    };
    let time = owner.time.as_ref().map(|time| format!(" {}", view.time(time))).unwrap_or_default();
    format!("{}{way}{time}", owner.manager)
}

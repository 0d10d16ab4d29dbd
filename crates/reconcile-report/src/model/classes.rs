//! The classes of changes: one row for each, with the words that reports, formats and the command line have for it.

use reconcile_core::compare::{Class, FieldChange};

/// The classes, the first in rules and lists the ones that matter most.
pub static CLASSES: [ClassInfo; 13] = [
    ClassInfo {
        class: Class::Missing,
        id: "missing",
        level: Level::Warning,
        help: "The object does not exist in the cluster",
        fields: "Objects that do not exist",
        why: Why::Nothing,
        note: Why::Nothing,
    },
    ClassInfo {
        class: Class::Pending,
        id: "pending",
        level: Level::Warning,
        help: "The field changed in the manifest",
        fields: "Fields that changed in the manifest",
        why: Why::Nothing,
        note: Why::Nothing,
    },
    ClassInfo {
        class: Class::Unrecorded,
        id: "unrecorded",
        level: Level::Warning,
        help: "The field differs, and no record says which side changed",
        fields: "Fields that differ, without a record of the side that changed",
        why: Why::Text("no record says which side changed"),
        // The summary says so.
        note: Why::Nothing,
    },
    ClassInfo {
        class: Class::ChangedByOther,
        id: "changedByOther",
        level: Level::Warning,
        help: "Another manager changed the field",
        fields: "Fields that another manager changed",
        why: Why::By("changed by"),
        note: Why::By("by"),
    },
    ClassInfo {
        class: Class::Absent,
        id: "absent",
        level: Level::Warning,
        help: "The field is not in the cluster: it is new in the manifest or was removed there",
        fields: "Fields that are not in the cluster",
        why: Why::Text("not in the cluster: new in the manifest or removed there"),
        // The sign says so.
        note: Why::Nothing,
    },
    ClassInfo {
        class: Class::Pruned,
        id: "pruned",
        level: Level::Warning,
        help: "The field or the object is no longer in the manifests",
        fields: "Fields and objects that are no longer in the manifests",
        why: Why::Text("no longer in the manifest"),
        note: Why::Text("no longer in the manifest"),
    },
    ClassInfo {
        class: Class::Reordered,
        id: "reordered",
        level: Level::Warning,
        help: "The list has another order",
        fields: "Lists in another order",
        why: Why::Text("order only"),
        note: Why::Text("order only"),
    },
    ClassInfo {
        class: Class::Conflict,
        id: "conflict",
        level: Level::Error,
        help: "Another applier or a controller owns the field",
        fields: "Fields that another applier or a controller owns",
        why: Why::By("owned by"),
        note: Why::By("conflict with"),
    },
    ClassInfo {
        class: Class::Consequence,
        id: "consequence",
        level: Level::Note,
        help: "The server changes the field because another field changes",
        fields: "Fields that the server changes because others change",
        why: Why::Text("follows from another change"),
        // The line above the fields says so.
        note: Why::Nothing,
    },
    ClassInfo {
        class: Class::Overridden,
        id: "overridden",
        level: Level::Note,
        help: "The cluster keeps its own value of the field",
        fields: "Fields where the cluster keeps its own value",
        why: Why::Text("the cluster keeps its own value"),
        note: Why::Text("the cluster keeps its own value"),
    },
    ClassInfo {
        class: Class::Released,
        id: "released",
        level: Level::Note,
        help: "The field is no longer in the manifest, and a co-owner keeps it",
        fields: "Fields that are no longer in the manifests, and that a co-owner keeps",
        why: Why::By("no longer in the manifest, kept by"),
        note: Why::By("no longer in the manifest, kept by"),
    },
    ClassInfo {
        class: Class::Unmanaged,
        id: "unmanaged",
        level: Level::Note,
        help: "Another manager added the field",
        fields: "Fields that other managers added",
        why: Why::By("added by"),
        // The line above the fields names the manager.
        note: Why::Nothing,
    },
    ClassInfo {
        class: Class::Adopted,
        id: "adopted",
        level: Level::Note,
        help: "The values match, but our field manager does not own all of them yet",
        fields: "Fields that are not yet owned by our field manager",
        why: Why::Nothing,
        note: Why::Nothing,
    },
];

/// A class of changes.
#[derive(Debug)]
pub struct ClassInfo {
    /// The class.
    pub class: Class,
    /// Its name in reports and on the command line.
    pub id: &'static str,
    /// The level of a change of this class, as long as it is not resolved.
    pub level: Level,
    /// A sentence about one change, for lists of rules.
    pub help: &'static str,
    /// A description of the matching changes, for the help of `--fail-on` and for filters.
    pub fields: &'static str,
    /// The reason why the field differs.
    pub why: Why,
    /// The reason in fewer words, for a note beside the value, its sign and its headline.
    pub note: Why,
}

/// The level of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing; nothing has to be done.
    Note,
    /// A difference that `apply` resolves.
    Warning,
    /// Requires somebody to act first.
    Error,
}

/// The reason why a field differs, in a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// No reason is given.
    Nothing,
    /// These words.
    Text(&'static str),
    /// These words, and the managers of the field.
    By(&'static str),
}

impl ClassInfo {
    /// The row of a class.
    pub fn of(class: Class) -> &'static Self {
        let [first, ..] = &CLASSES;
        CLASSES.iter().find(|row| row.class == class).unwrap_or(first)
    }

    /// The classes of differences of fields, which a manifest can take: drift, and what others added.
    pub fn pulled() -> impl Iterator<Item = &'static Self> {
        let of_fields = |row: &&Self| row.class.is_drift() && row.class != Class::Missing;
        CLASSES.iter().filter(move |row| of_fields(row) || row.class == Class::Unmanaged)
    }

    /// The level of a change. What others added is a difference only where an apply takes it out.
    pub(crate) fn level_of(change: &FieldChange) -> Level {
        if change.class == Class::Unmanaged && change.is_drift() {
            Level::Warning
        } else {
            Self::of(change.class).level
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_is_named_as_reports_write_it() {
        for row in &CLASSES {
            assert_eq!(serde_json::to_value(row.class).unwrap(), row.id);
            assert_eq!(ClassInfo::of(row.class).id, row.id);
        }
    }
}

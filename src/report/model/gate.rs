use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer};

use super::object::ObjectReport;
use crate::compare::{Action, Class, FieldChange};

/// A kind of difference that can make a `diff` fail, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailClass {
    /// The name; for a class of changes that of the report.
    pub name: &'static str,
    /// What it matches.
    pub help: &'static str,
    matches: Matches,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Matches {
    Drift,
    Manual,
    Replace,
    UnmanagedObjects,
    Of(Class),
}

/// All kinds of differences that can be named.
pub static FAIL_CLASSES: [FailClass; 15] = [
    FailClass {
        name: "drift",
        help: "Every object that does not match its manifest, conflicts included (the default)",
        matches: Matches::Drift,
    },
    FailClass {
        name: "manual",
        help: "Changes and additions by kubectl or a manager listed in `manualManagers`",
        matches: Matches::Manual,
    },
    of(Class::Missing, "missing", "Objects that do not exist"),
    of(Class::Pending, "pending", "Fields that changed in the manifest"),
    of(Class::ChangedByOther, "changedByOther", "Fields that another manager changed"),
    of(Class::Absent, "absent", "Fields that are not in the cluster"),
    of(Class::Pruned, "pruned", "Fields and objects that are no longer in the manifests"),
    of(Class::Reordered, "reordered", "Lists in another order"),
    of(Class::Conflict, "conflict", "Fields that another applier or a controller owns"),
    FailClass { name: "replace", help: "Objects that would have to be replaced", matches: Matches::Replace },
    of(Class::Unmanaged, "unmanaged", "Fields that other managers added"),
    FailClass {
        name: "unmanagedObjects",
        help: "Objects that `--report-unmanaged` finds",
        matches: Matches::UnmanagedObjects,
    },
    of(Class::Adopted, "adopted", "Fields that are not yet owned by our field manager"),
    of(Class::Released, "released", "Fields that are no longer in the manifests, and that a co-owner keeps"),
    of(Class::Overridden, "overridden", "Fields where the cluster keeps its own value"),
];

const fn of(class: Class, name: &'static str, help: &'static str) -> FailClass {
    FailClass { name, help, matches: Matches::Of(class) }
}

impl FailClass {
    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        FAIL_CLASSES.iter().find(|class| class.name == name).copied()
    }

    /// Returns true if it can be told only of fields that other managers added.
    #[must_use]
    pub fn needs_unmanaged(&self) -> bool {
        matches!(self.matches, Matches::Manual | Matches::Of(Class::Unmanaged))
    }

    /// Returns true if an object has such a difference.
    pub(crate) fn is_in(self, object: &ObjectReport) -> bool {
        match self.matches {
            Matches::Drift => object.action != Action::None,
            Matches::Manual => !object.beside.is_empty() || object.changes.iter().any(FieldChange::is_manual),
            Matches::Replace => object.action == Action::Replace,
            // They are no objects of the manifests.
            Matches::UnmanagedObjects => false,
            Matches::Of(class) => object.changes.iter().any(|change| change.class == class),
        }
    }
}

/// What makes a `diff` fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailOn {
    /// Nothing does (`--exit-zero`).
    pub exit_zero: bool,
    /// Fields that are not yet owned by our field manager do, too (`--strict-ownership`).
    pub strict_ownership: bool,
    /// Only these differences do (`--fail-on`); none for every drift.
    pub classes: Vec<FailClass>,
    /// Whether fields that other managers added are shown (`--show-unmanaged`), and not only looked at.
    pub show_unmanaged: bool,
}

impl FailOn {
    /// Returns true if an object makes the `diff` fail, but for `--exit-zero`.
    pub(crate) fn fails(&self, object: &ObjectReport) -> bool {
        let classes = if self.classes.is_empty() { &FAIL_CLASSES[..1] } else { &self.classes };
        classes.iter().any(|class| class.is_in(object)) || self.strict_ownership && object.is_ownership_only()
    }

    /// Returns true if objects that nothing explains make it fail.
    #[must_use]
    pub fn fails_on_unmanaged_objects(&self) -> bool {
        self.classes.iter().any(|class| class.matches == Matches::UnmanagedObjects)
    }

    /// Leaves out the fields that other managers added, where only those of manual changes were asked for.
    pub(crate) fn leave_out_unmanaged(&self, objects: &mut [ObjectReport]) {
        let all =
            self.show_unmanaged || self.classes.iter().any(|class| class.matches == Matches::Of(Class::Unmanaged));
        let manual = self.classes.iter().any(|class| class.matches == Matches::Manual);
        if manual && !all {
            for object in objects {
                object.changes.retain(|change| change.class != Class::Unmanaged || change.is_manual());
            }
        }
    }

    /// The names of the differences that make it fail, where they were chosen.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.classes.iter().map(|class| class.name).collect()
    }
}

/// Reads names of classes that make a run fail.
pub(crate) fn classes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<&'static str>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let class = |name: &String| {
        let class = FailClass::named(name).map(|class| class.name);
        class.ok_or_else(|| D::Error::custom(format!("`{name}` is no class of differences")))
    };
    names.iter().map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_the_report_can_be_named_as_it_is_written_there() {
        for class in FAIL_CLASSES {
            if let Matches::Of(of) = class.matches {
                assert_eq!(serde_json::to_value(of).unwrap(), class.name);
            }
            assert_eq!(FailClass::named(class.name), Some(class));
        }
        assert_eq!(FailClass::named("drft"), None);
    }
}

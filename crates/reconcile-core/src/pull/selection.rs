//! The changes that a run takes into the manifests.

use structured_merge::ObjectKey;

use crate::compare::{Class, FieldChange};
use crate::rules::{FieldPattern, Glob};

/// The classes that are taken unless others are chosen: those of values that somebody changed in the cluster.
pub const PULLED: [Class; 2] = [Class::ChangedByOther, Class::Conflict];

/// An object by its kind and its name, as `Deployment/web`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    /// As it was written.
    text: String,
    kind: String,
    name: Glob,
}

impl ObjectName {
    /// Reads `KIND/NAME` or `KIND.GROUP/NAME`; the kind in any case, the name with `*` and `?`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once('/')?;
        let is_whole = !kind.is_empty() && !name.is_empty() && !name.contains('/');
        is_whole.then(|| Glob::of_names(name).ok()).flatten().map(|name| Self {
            text: text.to_owned(),
            kind: kind.to_lowercase(),
            name,
        })
    }

    fn matches(&self, key: &ObjectKey) -> bool {
        let kind = key.gvk.kind.to_lowercase();
        (self.kind == kind || self.kind == format!("{kind}.{}", key.gvk.group)) && self.name.matches(&key.name)
    }
}

/// The changes that were chosen. An empty list chooses all.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The classes.
    pub classes: Vec<Class>,
    /// The managers, of which one has to own the field.
    pub managers: Vec<Glob>,
    /// The fields.
    pub fields: Vec<FieldPattern>,
    /// The objects.
    pub objects: Vec<ObjectName>,
}

impl Selection {
    /// Returns true if a change is to be taken.
    #[must_use]
    pub fn chooses(&self, key: &ObjectKey, change: &FieldChange) -> bool {
        let classes: &[Class] = if self.classes.is_empty() { &PULLED } else { &self.classes };
        let of_manager = |glob: &Glob| change.managers.iter().any(|owner| glob.matches(&owner.manager));
        classes.contains(&change.class)
            && (self.managers.is_empty() || self.managers.iter().any(of_manager))
            && (self.fields.is_empty() || self.fields.iter().any(|field| field.covers(&change.path)))
            && (self.objects.is_empty() || self.objects.iter().any(|object| object.matches(key)))
    }

    /// The names of objects that no object of the manifests has, as they were written.
    pub fn unmatched<'s>(&'s self, keys: &[&ObjectKey]) -> impl Iterator<Item = &'s str> {
        let unmatched = self.objects.iter().filter(|object| !keys.iter().any(|key| object.matches(key)));
        unmatched.map(|object| object.text.as_str())
    }

    /// Returns true if objects or fields are named, so that each that cannot be taken counts.
    #[must_use]
    pub fn names_some(&self) -> bool {
        !self.fields.is_empty() || !self.objects.is_empty()
    }
}

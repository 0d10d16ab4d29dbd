//! The changes that a run takes into the manifests.

use serde_json::Value;
use structured_merge::{ObjectKey, PathElement};

use crate::compare::{Class, FieldChange, Side};
use crate::live::Discovery;
use crate::rules::{FieldPattern, Glob};
use crate::text::is_word;

/// The classes that are taken unless others are chosen: those of values that somebody changed in the cluster.
pub const PULLED: [Class; 2] = [Class::ChangedByOther, Class::Conflict];

/// An object by its kind and its name, as `Deployment/web`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    /// As it was written.
    text: String,
    kind: String,
    name: Glob,
    /// The groups and kinds that the kind means as a type of the server: `deploy`, `deployments.apps`.
    types: Vec<(String, String)>,
}

impl ObjectName {
    /// Reads `KIND/NAME` or `KIND.GROUP/NAME`; the kind in any case, or as kubectl takes types; the name with `*` and `?`.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once('/')?;
        let is_whole = !kind.is_empty() && !name.is_empty() && !name.contains('/');
        is_whole.then(|| Glob::of_names(name).ok()).flatten().map(|name| Self {
            text: text.to_owned(),
            kind: kind.to_lowercase(),
            name,
            types: Vec::new(),
        })
    }

    fn matches(&self, key: &ObjectKey) -> bool {
        let kind = key.gvk.kind.to_lowercase();
        let is_kind = self.kind == kind || self.kind == format!("{kind}.{}", key.gvk.group);
        let is_type = || self.types.iter().any(|(group, kind)| *group == key.gvk.group && *kind == key.gvk.kind);
        (is_kind || is_type()) && self.name.matches(&key.name)
    }
}

/// The beginnings of labels and annotations by which a manifest decides what is compared, written, ordered and deleted. Somebody who may write
/// the live object must not decide that for the next runs.
const OBEYED: [&str; 10] = [
    "applyset.kubernetes.io/",
    "argocd.argoproj.io/hook",
    "cert-manager.io/inject-",
    "config.kubernetes.io/depends-on",
    "helm.sh/",
    "kubectl-reconcile/",
    "kubectl.kubernetes.io/last-applied-configuration",
    "meta.helm.sh/",
    "service.alpha.openshift.io/inject-cabundle",
    "service.beta.openshift.io/inject-cabundle",
];

/// The fields of the metadata by which an object decides when it is deleted.
const OF_DELETION: [&str; 2] = ["finalizers", "ownerReferences"];

/// Returns true if a change is of metadata that this program or the server obeys, or has some in its value.
pub fn is_obeyed(change: &FieldChange) -> bool {
    let is_one = |name: &str| OBEYED.iter().any(|beginning| name.starts_with(beginning));
    let names = |value: &Value| value.as_object().is_some_and(|entries| entries.keys().any(|name| is_one(name)));
    let parts: Vec<Option<&str>> = change.path.elements().iter().map(field_name).collect();
    match parts.as_slice() {
        [Some("metadata"), Some("labels" | "annotations"), Some(name), ..] => is_one(name),
        [Some("metadata"), Some("labels" | "annotations")] => change.values().any(names),
        [Some("metadata"), Some(field), ..] => OF_DELETION.contains(field),
        [Some("metadata")] => change.values().any(|value| {
            let is_of_deletion = OF_DELETION.iter().any(|field| value.get(field).is_some());
            is_of_deletion || ["labels", "annotations"].iter().filter_map(|part| value.get(part)).any(names)
        }),
        _ => false,
    }
}

fn field_name(element: &PathElement) -> Option<&str> {
    match element {
        PathElement::Field(name) => Some(name),
        PathElement::Key(_) | PathElement::Member(_) | PathElement::Index(_) => None,
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
    /// Looks the kinds of objects up as types of the server, by which plurals and short names are known.
    pub fn with_types(mut self, discovery: &Discovery) -> Self {
        for object in &mut self.objects {
            let meant = discovery.all_named(&object.kind);
            object.types = meant.map(|resource| (resource.gvk.group.clone(), resource.gvk.kind.clone())).collect();
        }
        self
    }

    /// Returns true if a change is to be taken.
    pub fn chooses(&self, key: &ObjectKey, change: &FieldChange) -> bool {
        // A field of another owner may still have the value that was applied last.
        let is_moved = !self.classes.is_empty() || change.side.is_none_or(Side::is_of_cluster);
        self.classes().contains(&change.class)
            && is_moved
            && self.chooses_owner(change)
            && (!is_obeyed(change) || self.fields.iter().any(|field| field.is_exactly(&change.path)))
            && self.covers(change)
            && self.chooses_object(key)
    }

    /// The class of a difference that is not chosen because classes are, and this one is not among them.
    pub(super) fn class_without(&self, change: &FieldChange) -> Option<Class> {
        let may_be_chosen = change.class.is_drift() || change.class == Class::Unmanaged;
        let is_other = may_be_chosen && !self.classes().contains(&change.class) && self.chooses_owner(change);
        is_other.then_some(change.class)
    }

    fn classes(&self) -> &[Class] {
        if self.classes.is_empty() { &PULLED } else { &self.classes }
    }

    /// Returns true if a removal is taken although its class is not chosen, as the other half of a change that is: unless classes or other
    /// fields are named, or the manifest may have changed as well.
    pub fn takes_along(&self, removal: &FieldChange) -> bool {
        self.classes.is_empty()
            && removal.class == Class::Absent
            && removal.side.is_none_or(|side| matches!(side, Side::Cluster | Side::Either))
            && !is_obeyed(removal)
            && self.covers(removal)
    }

    /// The flag with which a change and its other half are chosen.
    pub fn flag_for_both(&self, change: &FieldChange, removal: &FieldChange) -> String {
        if self.covers(removal) {
            self.flag_with(removal.class)
        } else {
            let paths = [change, removal].map(|one| one.path.to_string());
            // Names in the cluster may be anything, also what a shell runs.
            let is_plain =
                |path: &String| path.split(['[', ']']).all(|part| part.is_empty() || is_word(part.trim_matches('"')));
            if paths.iter().all(is_plain) { format!("`--field {}`", paths.join(",")) } else { "`--field`".to_owned() }
        }
    }

    /// The flag that chooses another class as well.
    pub fn flag_with(&self, class: Class) -> String {
        let more = (!self.classes().contains(&class)).then_some(class);
        let names: Vec<String> = self.classes().iter().copied().chain(more).map(Class::name).collect();
        format!("`--class {}`", names.join(","))
    }

    fn covers(&self, change: &FieldChange) -> bool {
        self.fields.is_empty() || self.fields.iter().any(|field| field.covers(&change.path))
    }

    /// Returns true if a change is of a manager that is chosen. Without one, what others added has to be added by hand: the fields
    /// that controllers add are theirs, and a manifest that had them would own them as well.
    pub fn chooses_owner(&self, change: &FieldChange) -> bool {
        if self.managers.is_empty() {
            let is_of_people = change.is_manual() && change.managers.iter().all(|owner| owner.manual);
            return change.class != Class::Unmanaged || is_of_people;
        }
        self.managers.iter().any(|glob| change.managers.iter().any(|owner| glob.matches(&owner.manager)))
    }

    /// Returns true if changes of an object may be chosen.
    pub fn chooses_object(&self, key: &ObjectKey) -> bool {
        self.objects.is_empty() || self.objects.iter().any(|object| object.matches(key))
    }

    /// The names of objects that no object of the manifests has, as they were written.
    pub fn unmatched<'s>(&'s self, keys: &[&ObjectKey]) -> impl Iterator<Item = &'s str> {
        let unmatched = self.objects.iter().filter(|object| !keys.iter().any(|key| object.matches(key)));
        unmatched.map(|object| object.text.as_str())
    }

    /// Returns true if objects or fields are named, so that each that cannot be taken counts.
    pub fn names_some(&self) -> bool {
        !self.fields.is_empty() || !self.objects.is_empty()
    }
}

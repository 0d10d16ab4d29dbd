use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;
use structured_merge::{FieldPath, GroupKind, ObjectKey, ObjectMeta as _, is_dns_label, managed_fields};

use crate::id::ApplySet;
use crate::member::Inventory;

/// The label of a parent: the id of its set.
pub const ID: &str = "applyset.kubernetes.io/id";
/// The annotation of a parent that names the tool that manages the set.
pub const TOOLING: &str = "applyset.kubernetes.io/tooling";
pub(crate) const KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";
/// The annotation that kubectl wrote before 1.28, and still reads.
pub(crate) const RESOURCES: &str = "applyset.kubernetes.io/contains-group-resources";
pub(crate) const NAMESPACES: &str = "applyset.kubernetes.io/additional-namespaces";

/// Kinds of the members that a parent lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListedKinds {
    /// A list of kinds.
    Kinds(BTreeSet<GroupKind>),
    /// A list of resources, as in `deployments.apps`.
    Resources(Vec<String>),
    /// No list: all kinds have to be searched.
    Unknown,
}

/// Error for an object that cannot be used as the parent of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentError {
    /// The object.
    pub parent: Box<ObjectKey>,
    /// Cause of the error.
    pub cause: ParentErrorCause,
}

/// Cause of a [`ParentError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParentErrorCause {
    /// The object is being deleted.
    Terminating,
    /// The label of the object has another id than that of its set.
    WrongId(String),
    /// The object is not a parent: this label or annotation is missing.
    NotAParent(Missing),
    /// Another tool manages the set.
    OtherTool(String),
    /// An item of its list of namespaces is not the name of a namespace.
    NotANamespace(String),
}

/// The label or annotation that an object lacks to be a parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The label [`ID`].
    Id,
    /// The annotation [`TOOLING`].
    Tooling,
}

impl fmt::Display for ParentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parent, cause } = self;
        match cause {
            ParentErrorCause::Terminating => write!(f, "{parent}, the parent of the apply set, is being deleted"),
            ParentErrorCause::WrongId(id) => {
                write!(f, "{parent} has the label `{ID}: {id}`, which is not the id of its apply set")
            }
            ParentErrorCause::NotAParent(missing) => {
                let missing = match missing {
                    Missing::Id => format!("label `{ID}`"),
                    Missing::Tooling => format!("annotation `{TOOLING}`"),
                };
                write!(f, "{parent} exists, but is not the parent of an apply set: it has no {missing}")
            }
            ParentErrorCause::OtherTool(tool) => write!(f, "the apply set of {parent} is managed by {}", coded(tool)),
            ParentErrorCause::NotANamespace(name) => {
                write!(
                    f,
                    "{parent} has the annotation `{NAMESPACES}` with {}, which is not the name of a namespace",
                    coded(name)
                )
            }
        }
    }
}

impl std::error::Error for ParentError {}

/// A parent as it is in the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ParentState {
    /// The uid of the parent.
    pub uid: String,
    /// The resource version that was read.
    pub resource_version: String,
    /// Kinds of the members.
    pub listed: ListedKinds,
    /// Namespaces of the members, including the parent's own.
    pub namespaces: BTreeSet<String>,
    /// The tool that manages the set.
    pub tooling: Tooling,
    /// The annotations, for comparison with the desired ones.
    kinds: Option<String>,
    additional: String,
    /// Manager that wrote the kinds, if it is not the tool.
    kinds_by: Option<String>,
    additional_by: Option<String>,
    /// The parent's own namespace.
    own_namespace: Option<String>,
}

impl ParentState {
    /// Reads a live parent. An object that is not a parent does not become one, as it may have another purpose. The
    /// parent of another tool than `own` is used, under the name of that tool, only if the tool is in `adopt`.
    pub fn of(set: &ApplySet, live: &Value, own: &Tooling, adopt: &BTreeSet<String>) -> Result<Self, ParentError> {
        let parent = &set.parent;
        let refused = |cause| ParentError { parent: Box::new(parent.clone()), cause };
        if live.is_terminating() {
            return Err(refused(ParentErrorCause::Terminating));
        }
        let id = live.label(ID);
        if let Some(id) = id.filter(|id| *id != set.id) {
            return Err(refused(ParentErrorCause::WrongId(id.to_owned())));
        }
        let tooling = match (id, live.annotation(TOOLING)) {
            (Some(_), Some(tooling)) => Tooling::new(tooling),
            (Some(_), None) => return Err(refused(ParentErrorCause::NotAParent(Missing::Tooling))),
            (None, _) => return Err(refused(ParentErrorCause::NotAParent(Missing::Id))),
        };
        let is_own = tooling.name() == own.name();
        if !is_own && !adopt.contains(tooling.name()) {
            return Err(refused(ParentErrorCause::OtherTool(tooling.name().to_owned())));
        }
        let additional = live.annotation(NAMESPACES).unwrap_or_default();
        let mut namespaces: BTreeSet<String> = items(additional).collect();
        if let Some(name) = namespaces.iter().find(|name| !is_dns_label(name)) {
            return Err(refused(ParentErrorCause::NotANamespace(name.clone())));
        }
        namespaces.extend(parent.namespace.clone());
        let kinds = live.annotation(KINDS);
        let author = |name: &str| live.annotation(name).and_then(|_| other_author(live, name, tooling.name()));
        Ok(Self {
            uid: live.uid().unwrap_or_default().to_owned(),
            resource_version: live.resource_version().unwrap_or_default().to_owned(),
            listed: listed_kinds(live),
            namespaces,
            kinds: kinds.map(ToOwned::to_owned),
            additional: additional.to_owned(),
            kinds_by: author(if kinds.is_some() { KINDS } else { RESOURCES }),
            additional_by: author(NAMESPACES),
            own_namespace: parent.namespace.clone(),
            tooling: if is_own { own.clone() } else { tooling },
        })
    }

    /// Returns true if it already has these annotations, and the tool wrote them. Another version of the tool is not a
    /// difference.
    pub fn has(&self, annotations: &ParentAnnotations) -> bool {
        let is_own = self.kinds_by.is_none() && self.additional_by.is_none();
        is_own && self.kinds.as_ref() == Some(&annotations.kinds) && self.additional == annotations.namespaces
    }

    /// Returns true if the list is trusted for this kind, so that its members may be pruned: the tool wrote the list,
    /// or the manifests name the kind as well. Anybody who may write to the parent could add other kinds.
    pub fn trusts_kind(&self, kind: &GroupKind, mentioned: &Inventory) -> bool {
        self.kinds_by.is_none() || mentioned.kinds.contains(kind)
    }

    /// The namespaces for which the list is trusted in the same way.
    pub fn trusted_namespaces(&self, mentioned: &Inventory) -> BTreeSet<String> {
        let is_own = |name: &&String| Some(*name) == self.own_namespace.as_ref();
        let counts =
            |name: &&String| self.additional_by.is_none() || is_own(name) || mentioned.namespaces.contains(*name);
        self.namespaces.iter().filter(counts).cloned().collect()
    }

    /// Manager that wrote one of the lists, if it is not the tool.
    pub fn other_author(&self) -> Option<&str> {
        self.additional_by.as_deref().or(self.kinds_by.as_deref())
    }

    /// The listed kinds and namespaces, as far as the lists are trusted.
    pub fn inventory(&self, mentioned: &Inventory) -> Inventory {
        let mut kinds = self.named().kinds;
        kinds.retain(|kind| self.trusts_kind(kind, mentioned));
        Inventory { kinds, namespaces: self.trusted_namespaces(mentioned) }
    }

    /// Returns true if the parent lists the kind and the namespace of a member, trusted or not.
    pub fn names(&self, member: &ObjectKey) -> bool {
        member.namespace.as_ref().is_none_or(|name| self.namespaces.contains(name))
            && match &self.listed {
                ListedKinds::Kinds(kinds) => kinds.contains(&GroupKind::from(&member.gvk)),
                ListedKinds::Resources(_) => true,
                ListedKinds::Unknown => false,
            }
    }

    /// The listed kinds and namespaces, trusted or not.
    pub fn named(&self) -> Inventory {
        let kinds = match &self.listed {
            ListedKinds::Kinds(kinds) => kinds.clone(),
            ListedKinds::Resources(_) | ListedKinds::Unknown => BTreeSet::new(),
        };
        Inventory { kinds, namespaces: self.namespaces.clone() }
    }
}

fn items(text: &str) -> impl Iterator<Item = String> {
    text.split(',').filter(|item| !item.is_empty()).map(ToOwned::to_owned)
}

fn listed_kinds(live: &Value) -> ListedKinds {
    match (live.annotation(KINDS), live.annotation(RESOURCES)) {
        (Some(kinds), _) => ListedKinds::Kinds(items(kinds).map(|kind| GroupKind::parse(&kind)).collect()),
        (None, Some(resources)) if !resources.is_empty() => ListedKinds::Resources(items(resources).collect()),
        (None, _) => ListedKinds::Unknown,
    }
}

/// A name that others chose, as code in a message: in backquotes, or in quotes and without its backquotes, which would end the code.
pub(crate) fn coded(name: &str) -> String {
    if name.contains('`') { Value::from(name).to_string().replace('`', "\\u0060") } else { format!("`{name}`") }
}

/// The manager that wrote an annotation of a parent, if it is not the tool that manages the set.
fn other_author(live: &Value, annotation: &str, tool: &str) -> Option<String> {
    let path = FieldPath::of(&["metadata", "annotations", annotation]);
    let mut owners = managed_fields(live).into_iter().filter(|entry| entry.fields.contains(&path)).peekable();
    let first = owners.peek().map_or_else(|| "an unknown manager".to_owned(), |entry| coded(&entry.manager));
    let is_own = owners.any(|entry| entry.manager.strip_suffix(MANAGER_SUFFIX) == Some(tool));
    (!is_own).then_some(first)
}

/// A tool that manages apply sets, and its version: `kubectl/v1.36.3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tooling(String);

impl Tooling {
    /// Creates the value from a tool and its version, as in `Tooling::new("kubectl/v1.36.3")`.
    pub fn new(tooling: &str) -> Self {
        Self(tooling.to_owned())
    }

    /// The name of the tool: everything before the last slash.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&*self.0, |(name, _)| name)
    }
}

impl fmt::Display for Tooling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The annotations that a parent should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentAnnotations {
    tooling: Tooling,
    pub(crate) kinds: String,
    pub(crate) namespaces: String,
}

impl ParentAnnotations {
    /// Lists the kinds and namespaces of the members in the form that kubectl writes: sorted, and without the parent's
    /// own namespace.
    pub fn of(set: &ApplySet, tooling: &Tooling, members: &Inventory) -> Self {
        let mut kinds: Vec<String> = members.kinds.iter().map(ToString::to_string).collect();
        kinds.sort();
        let others = members.namespaces.iter().filter(|name| Some(*name) != set.parent.namespace.as_ref());
        let namespaces: Vec<&str> = others.map(String::as_str).collect();
        Self { tooling: tooling.clone(), kinds: kinds.join(","), namespaces: namespaces.join(",") }
    }

    /// The field manager that writes them: that of the tool that manages the set, so that the tool can continue to
    /// manage it.
    pub fn manager(&self) -> String {
        format!("{}{MANAGER_SUFFIX}", self.tooling.name())
    }

    /// The annotations by their names, to be applied together with the label [`ID`].
    pub fn to_map(&self) -> BTreeMap<String, String> {
        let annotations = [(TOOLING, self.tooling.0.as_str()), (KINDS, &self.kinds), (NAMESPACES, &self.namespaces)];
        annotations.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

/// Suffix that a tool adds to its name as the field manager of a parent.
const MANAGER_SUFFIX: &str = "-applyset";

#[cfg(test)]
#[path = "tests/parent.rs"]
mod tests;

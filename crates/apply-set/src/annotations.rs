use std::collections::BTreeMap;
use std::fmt;

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
pub(crate) const MANAGER_SUFFIX: &str = "-applyset";

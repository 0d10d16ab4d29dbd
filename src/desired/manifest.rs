use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::yaml::Positions;
use crate::object::GroupVersionKind;

/// Where an object was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The file as it was named, `stdin` for standard input.
    pub file: Arc<str>,
    /// First line of the object, from 1.
    pub line: u32,
    /// Which document of the file, from 1.
    #[serde(skip)]
    pub document: usize,
}

/// `deploy/web.yaml:12`
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// One desired object as it was written: not yet resolved to a resource, so it can't be fetched.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Its type.
    pub gvk: GroupVersionKind,
    /// `metadata.namespace` as written.
    pub namespace: Option<String>,
    /// `metadata.name`.
    pub name: String,
    /// The whole object, without what only a server writes.
    pub value: Value,
    /// Where it stands.
    pub source: Source,
    /// Where its fields stand.
    pub positions: Positions,
    /// What its author should know.
    pub warnings: Vec<String>,
}

/// `Deployment web`, with the namespace where one is written.
impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.gvk.kind, self.name),
            None => write!(f, "{} {}", self.gvk.kind, self.name),
        }
    }
}

use std::fmt;

use serde::{Deserialize, Serialize};
use structured_merge::{GroupVersionKind, ObjectKey};

use super::styled::{Role, Styled};
use super::text::grouped;
use super::{Report, Verdict, View};

/// Most objects that the text names.
const SHOWN: usize = 100;

/// An object by its name, with nothing of what is in it: one that no manifest, owner or apply set explains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnmanagedObject {
    api_version: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    name: String,
}

impl From<&ObjectKey> for UnmanagedObject {
    fn from(ObjectKey { gvk, namespace, name }: &ObjectKey) -> Self {
        Self {
            api_version: gvk.api_version(),
            kind: gvk.kind.clone(),
            namespace: namespace.clone(),
            name: name.clone(),
        }
    }
}

impl UnmanagedObject {
    /// Its key.
    pub(super) fn key(&self) -> ObjectKey {
        let Self { api_version, kind, namespace, name } = self.clone();
        ObjectKey { gvk: GroupVersionKind::new(&api_version, &kind), namespace, name }
    }
}

/// `ConfigMap shop/web`
impl fmt::Display for UnmanagedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

impl Report {
    /// The same, with objects that nothing explains. They fail a `diff` only if that was chosen.
    #[must_use]
    pub fn with_unmanaged(mut self, objects: &[ObjectKey], fails: bool) -> Self {
        self.unmanaged = Some(objects.iter().map(UnmanagedObject::from).collect());
        if fails && !objects.is_empty() && matches!(self.verdict, Verdict::InSync | Verdict::Drift) {
            self.verdict = Verdict::Drift;
            self.exit_code = self.verdict.exit_code(false);
        }
        self
    }
}

/// A line for each object.
#[must_use]
pub(super) fn lines(report: &Report, view: &View) -> Styled {
    let most = if view.full { usize::MAX } else { SHOWN };
    let mut text = Styled::new();
    let objects = report.unmanaged.as_deref().unwrap_or_default();
    for UnmanagedObject { kind, namespace, name, .. } in objects.iter().take(most) {
        let name = namespace.as_ref().map_or_else(|| name.clone(), |namespace| format!("{namespace}/{name}"));
        text.push(Role::Note, "? ");
        text.push(Role::Name, format!("{kind} {name}"));
        text.push(Role::Note, "  no manifest, owner or apply set explains it");
        text.line_end();
    }
    if let Some(more @ 1..) = objects.len().checked_sub(most) {
        text.push(Role::Note, format!("… {} more objects: --full", grouped(more)));
        text.line_end();
    }
    text
}

/// `2 unmanaged objects`; nothing where they were not looked for.
pub(super) fn clause(report: &Report) -> Option<String> {
    match report.unmanaged.as_ref()?.len() {
        0 => Some("no unmanaged objects".to_owned()),
        1 => Some("1 unmanaged object".to_owned()),
        more => Some(format!("{} unmanaged objects", grouped(more))),
    }
}

use std::fmt;

use structured_merge::GroupVersionKind;

/// A kind in all versions. The group is empty for the core group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKind {
    /// Kind, such as `Deployment`.
    pub kind: String,
    /// API group, such as `apps`.
    pub group: String,
}

impl GroupKind {
    /// Parses the form in which an apply set lists a kind: everything behind the first dot is the group (apimachinery
    /// `schema.ParseGroupKind`).
    pub fn parse(text: &str) -> Self {
        let (kind, group) = text.split_once('.').unwrap_or((text, ""));
        Self { kind: kind.to_owned(), group: group.to_owned() }
    }
}

impl From<&GroupVersionKind> for GroupKind {
    fn from(gvk: &GroupVersionKind) -> Self {
        Self { kind: gvk.kind.clone(), group: gvk.group.clone() }
    }
}

/// `Deployment.apps`, or `ConfigMap` in the core group.
impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if self.group.is_empty() { Ok(()) } else { write!(f, ".{}", self.group) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_written_as_it_is_read() {
        for (text, kind, group) in
            [("ConfigMap", "ConfigMap", ""), ("Deployment.apps", "Deployment", "apps"), ("A.b.c", "A", "b.c")]
        {
            let parsed = GroupKind::parse(text);
            assert_eq!((parsed.kind.as_str(), parsed.group.as_str()), (kind, group));
            assert_eq!(parsed.to_string(), text);
        }
    }
}

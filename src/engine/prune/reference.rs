use reconcile_core::live::Resource;

/// The parent that `--applyset` names: `[RESOURCE[.GROUP]/]NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentReference {
    /// Resource and group as typed; `None` for a Secret.
    resource: Option<(String, Option<String>)>,
    /// Name of the parent object.
    pub name: String,
}

impl ParentReference {
    /// Parses the value of the flag. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (resource, name) = match text.split_once('/') {
            Some((resource, name)) => (Some(resource), name),
            None => (None, text),
        };
        if name.is_empty() || name.contains('/') || resource == Some("") {
            return Err(format!("`{text}` does not name an apply set"));
        }
        let resource = resource.map(|resource| match resource.split_once('.') {
            Some((resource, group)) => (resource.to_owned(), Some(group.to_owned())),
            None => (resource.to_owned(), None),
        });
        Ok(Self { resource, name: name.to_owned() })
    }

    /// Returns true if both name the same parent, as far as can be seen without the resources of a server: in the singular or in the
    /// plural, and a Secret with or without its resource.
    pub fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.singular() == other.singular()
    }

    /// The resource in the singular, and its group.
    fn singular(&self) -> (String, Option<&str>) {
        let (resource, group) = match &self.resource {
            None => ("secret", None),
            Some((resource, group)) => (resource.as_str(), group.as_deref()),
        };
        let resource = resource.to_lowercase();
        let singular = resource.strip_suffix('s').unwrap_or(&resource).to_owned();
        (singular, group.filter(|group| !group.is_empty()))
    }

    /// Picks the parent's resource from those of the server; the core group comes first. The error says what is wrong.
    pub fn pick<'r>(&self, served: impl Iterator<Item = &'r Resource>) -> Result<&'r Resource, String> {
        let (name, group) = match &self.resource {
            None => ("secrets", Some("")),
            Some((name, group)) => (name.as_str(), group.as_deref()),
        };
        let is_called = |resource: &&Resource| resource.plural == name || resource.gvk.kind.eq_ignore_ascii_case(name);
        let mut found: Vec<&Resource> =
            served.filter(is_called).filter(|resource| group.is_none_or(|group| resource.gvk.group == group)).collect();
        found.sort_by(|a, b| {
            let version = |resource: &Resource| std::cmp::Reverse(resource.gvk.version_priority());
            (&a.gvk.group, version(a)).cmp(&(&b.gvk.group, version(b)))
        });
        let written =
            group.filter(|group| !group.is_empty()).map_or(name.to_owned(), |group| format!("{name}.{group}"));
        let Some(first) = found.first() else { return Err(format!("the server has no resource `{written}`")) };
        let other = found.iter().find(|other| other.gvk.group != first.gvk.group);
        match other {
            Some(other) if !first.gvk.group.is_empty() => {
                Err(format!("`{name}` can be `{name}.{}` or `{name}.{}`", first.gvk.group, other.gvk.group))
            }
            _ => Ok(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use structured_merge::GroupVersionKind;

    fn resource(api_version: &str, kind: &str, plural: &str) -> Resource {
        let gvk = GroupVersionKind::new(api_version, kind);
        let plural = plural.to_owned();
        Resource { gvk, plural, namespaced: true, verbs: [].into(), status: false, pending: false }
    }

    #[test]
    fn a_name_alone_is_a_secret_and_a_type_comes_before_a_slash() {
        let served = [
            resource("v1", "ConfigMap", "configmaps"),
            resource("v1", "Secret", "secrets"),
            resource("one.example.com/v1", "Set", "sets"),
            resource("one.example.com/v1beta1", "Set", "sets"),
            resource("two.example.com/v1", "Set", "sets"),
            resource("two.example.com/v1", "Secret", "secrets"),
        ];
        let pick = |text: &str| {
            let reference = ParentReference::parse(text).unwrap();
            reference.pick(served.iter()).map(|found| (found.gvk.api_version(), reference.name.clone()))
        };
        let found = |api_version: &str, name: &str| Ok((api_version.to_owned(), name.to_owned()));
        assert_eq!(pick("web"), found("v1", "web"));
        assert_eq!(pick("secret/web"), found("v1", "web"));
        assert_eq!(pick("configmaps/web"), found("v1", "web"));
        assert_eq!(pick("secrets.two.example.com/web"), found("two.example.com/v1", "web"));
        assert_eq!(pick("sets.one.example.com/web"), found("one.example.com/v1", "web"));
        assert!(pick("sets/web").unwrap_err().contains("sets.two.example.com"));
        assert!(pick("things.x/web").unwrap_err().contains("things.x"));
        let is_same = |a, b| ParentReference::parse(a).unwrap().is_same(&ParentReference::parse(b).unwrap());
        for (a, b) in [("web", "secret/web"), ("Secrets/web", "web"), ("sets.example.com/web", "set.example.com/web")] {
            assert!(is_same(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("web", "db"),
            ("web", "configmap/web"),
            ("sets.a.com/web", "sets.b.com/web"),
            ("sets/web", "sets.a.com/web"),
        ] {
            assert!(!is_same(a, b), "{a} {b}");
        }
        for wrong in ["", "/web", "secrets/", "a/b/c"] {
            assert!(ParentReference::parse(wrong).is_err(), "{wrong}");
        }
    }
}

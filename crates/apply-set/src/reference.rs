/// The parent that `--applyset` names: `[RESOURCE[.GROUP]/]NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentReference {
    /// Resource and group as typed; `None` for a Secret.
    pub resource: Option<(String, Option<String>)>,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_parent_has_several_spellings() {
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

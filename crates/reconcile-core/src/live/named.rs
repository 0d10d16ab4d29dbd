//! Objects as a command line names them: `TYPE/NAME…`, or `TYPE NAME…`.

use structured_merge::GroupKind;

use super::discovery::Discovery;
use super::resource::Resource;
use crate::diagnostic::Diagnostic;
use crate::object::names::path_segment_refused;
use crate::object::usual_plural;
use crate::text::{one_line, similar};

/// An object by its type and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedObject {
    /// The type as it was typed: a resource, a kind or a short name, perhaps with its group.
    pub resource: String,
    /// The name.
    pub name: String,
}

/// Reads the words of a command line, as kubectl does: either each word is `TYPE/NAME`, or the first one is the type of all others.
pub fn named_objects(words: &[String]) -> Result<Vec<NamedObject>, Diagnostic> {
    let object = |resource: &str, name: &str| {
        let resource = resource.to_owned();
        let name = name.to_owned();
        if resource.is_empty() || name.is_empty() || path_segment_refused(&name).is_some() {
            let message = format!("`{}` does not name an object", one_line(&format!("{resource}/{name}"), 200));
            return Err(Diagnostic::general(message).with_hint("write `TYPE/NAME`, as in `deployment/web`"));
        }
        Ok(NamedObject { resource, name })
    };
    if words.iter().any(|word| word.contains('/')) {
        return words
            .iter()
            .map(|word| word.split_once('/').unwrap_or((word, "")))
            .map(|(one, name)| object(one, name))
            .collect();
    }
    match words.split_first() {
        Some((resource, names)) if !names.is_empty() => names.iter().map(|name| object(resource, name)).collect(),
        _ => {
            let word = words.first().map(|word| one_line(word, 200)).unwrap_or_default();
            let message = format!("`{word}` names no object");
            Err(Diagnostic::general(message).with_hint(format!("write its name as well, as in `{word}/NAME`")))
        }
    }
}

/// The short names of built-in kinds (`ShortNames` in `pkg/registry` of kube-apiserver).
const SHORT_NAMES: [(&str, &str, &str); 27] = [
    ("", "ConfigMap", "cm"),
    ("", "ComponentStatus", "cs"),
    ("", "Endpoints", "ep"),
    ("", "Event", "ev"),
    ("", "LimitRange", "limits"),
    ("", "Namespace", "ns"),
    ("", "Node", "no"),
    ("", "PersistentVolume", "pv"),
    ("", "PersistentVolumeClaim", "pvc"),
    ("", "Pod", "po"),
    ("", "ReplicationController", "rc"),
    ("", "ResourceQuota", "quota"),
    ("", "Service", "svc"),
    ("", "ServiceAccount", "sa"),
    ("apiextensions.k8s.io", "CustomResourceDefinition", "crd"),
    ("apiextensions.k8s.io", "CustomResourceDefinition", "crds"),
    ("apps", "DaemonSet", "ds"),
    ("apps", "Deployment", "deploy"),
    ("apps", "ReplicaSet", "rs"),
    ("apps", "StatefulSet", "sts"),
    ("autoscaling", "HorizontalPodAutoscaler", "hpa"),
    ("batch", "CronJob", "cj"),
    ("networking.k8s.io", "Ingress", "ing"),
    ("networking.k8s.io", "NetworkPolicy", "netpol"),
    ("policy", "PodDisruptionBudget", "pdb"),
    ("scheduling.k8s.io", "PriorityClass", "pc"),
    ("storage.k8s.io", "StorageClass", "sc"),
];

impl Discovery {
    /// Adds the usual plural names of all kinds and the short names of built-in ones, for names on a command line where no server was
    /// asked.
    pub fn with_usual_names(mut self) -> Self {
        let kinds: Vec<GroupKind> = self.resources().map(|resource| GroupKind::from(&resource.gvk)).collect();
        for kind in kinds {
            let plural = usual_plural(&kind.kind);
            self.add_alias(kind, plural);
        }
        for (group, kind, short) in SHORT_NAMES {
            self.add_alias(GroupKind { group: group.to_owned(), kind: kind.to_owned() }, short.to_owned());
        }
        self
    }

    /// The resource that a type on the command line means, in its preferred version: `deployments`, `deployment`, `Deployment`, `deploy`,
    /// `deployments.apps` or `deployments.v1.apps`. Where groups have the same name, those of Kubernetes come first.
    pub fn named(&self, text: &str) -> Result<&Resource, Diagnostic> {
        let name = text.split('.').next().unwrap_or_default();
        let mut found: Vec<&Resource> = self.all_named(text).collect();
        let rank = |resource: &Resource| (!Self::is_of_kubernetes(resource), !resource.gvk.group.is_empty());
        found.sort_by(|a, b| {
            let version = |resource: &Resource| std::cmp::Reverse(resource.gvk.version_priority());
            (rank(a), &a.gvk.group, version(a)).cmp(&(rank(b), &b.gvk.group, version(b)))
        });
        let Some(first) = found.first().copied() else { return Err(self.unnamed(name, text)) };
        let rival = found.iter().find(|other| other.gvk.group != first.gvk.group);
        match rival {
            Some(rival) if rank(first) == rank(rival) => {
                let full = |resource: &Resource| format!("`{}.{}`", resource.plural, resource.gvk.group);
                let message = format!("`{}` can be {} or {}", one_line(text, 100), full(first), full(rival));
                Err(Diagnostic::general(message).with_hint("write the one that is meant"))
            }
            _ => Ok(first),
        }
    }

    /// Returns true if a type may mean a resource.
    pub fn knows(&self, text: &str) -> bool {
        self.all_named(text).next().is_some()
    }

    /// The resources of all groups and versions that a type may mean.
    pub(crate) fn all_named(&self, text: &str) -> impl Iterator<Item = &Resource> {
        let (name, suffix) = text.split_once('.').map_or((text, None), |(name, suffix)| (name, Some(suffix)));
        self.resources().filter(move |resource| {
            let group = &resource.gvk.group;
            let version = &resource.gvk.version;
            let fits =
                |suffix: &str| suffix == group || suffix.strip_prefix(version.as_str()) == Some(&format!(".{group}"));
            self.is_called(resource, name) && suffix.is_none_or(fits) && !resource.pending
        })
    }

    fn is_called(&self, resource: &Resource, name: &str) -> bool {
        resource.plural == name || resource.gvk.kind.eq_ignore_ascii_case(name) || self.has_alias(&resource.gvk, name)
    }

    fn unnamed(&self, name: &str, text: &str) -> Diagnostic {
        let text = one_line(text, 100);
        if self.is_built_in {
            let message = format!("`{text}` is neither a built-in resource nor one of the file");
            return Diagnostic::general(message).with_hint("write a kind of the file, as in `deployment/web`");
        }
        let message = format!("the server has no resource `{text}`");
        let plurals = self.resources().map(|resource| resource.plural.as_str());
        Diagnostic::general(message).with_hint(match similar(&one_line(name, 100), plurals) {
            Some(meant) => format!("did you mean `{}`?", one_line(meant, 100)),
            None => "`kubectl api-resources` lists them".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn words(text: &str) -> Vec<String> {
        text.split(' ').filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
    }

    #[test]
    fn words_name_objects_as_for_kubectl() {
        let named = |text: &str| {
            let objects = named_objects(&words(text)).map_err(|diagnostic| diagnostic.message)?;
            Ok::<_, String>(objects.into_iter().map(|one| format!("{}|{}", one.resource, one.name)).collect::<Vec<_>>())
        };
        assert_eq!(named("deploy/web").unwrap(), ["deploy|web"]);
        assert_eq!(named("deploy/web svc/db").unwrap(), ["deploy|web", "svc|db"]);
        assert_eq!(named("deploy web api").unwrap(), ["deploy|web", "deploy|api"]);
        assert_eq!(named("clusterrole system:node").unwrap(), ["clusterrole|system:node"]);
        for wrong in ["deploy", "", "deploy/", "/web", "deploy/web api", "deploy/a/b", "deploy/..", "deploy/a%2fb"] {
            assert!(named(wrong).is_err(), "{wrong}");
        }
    }

    fn served(groups: &Value) -> Discovery {
        let read = |document: &Value| serde_json::from_value(document.clone()).unwrap();
        let none = json!({"kind": "APIGroupDiscoveryList", "items": []});
        Discovery::read(read(&none), read(&json!({"kind": "APIGroupDiscoveryList", "items": groups}))).unwrap().0
    }

    fn group(name: &str, version: &str, plural: &str, kind: &str, short: &[&str]) -> Value {
        json!({"metadata": {"name": name}, "versions": [{"version": version, "resources": [
            {"resource": plural, "responseKind": {"kind": kind}, "scope": "Namespaced", "verbs": ["get"],
             "singularResource": kind.to_lowercase(), "shortNames": short}]}]})
    }

    #[test]
    fn types_have_many_names_and_those_of_kubernetes_come_first() {
        let discovery = served(&json!([
            group("a.example.com", "v1", "deployments", "Deployment", &["deploy"]),
            group("apps", "v1beta1", "deployments", "Deployment", &["deploy"]),
            group("apps", "v1", "deployments", "Deployment", &["deploy"]),
            group("b.example.com", "v1", "sets", "Set", &["s"]),
            group("c.example.com", "v1", "sets", "Set", &[]),
        ]));
        let named = |text: &str| discovery.named(text).map(|one| one.gvk.api_version()).map_err(|error| error.message);
        for text in [
            "deployments",
            "deployment",
            "Deployment",
            "deploy",
            "deployments.apps",
            "deployments.v1.apps",
            "deploy.apps",
        ] {
            assert_eq!(named(text).unwrap(), "apps/v1", "{text}");
        }
        assert_eq!(named("deployments.v1beta1.apps").unwrap(), "apps/v1beta1");
        assert_eq!(named("deploy.a.example.com").unwrap(), "a.example.com/v1");
        assert_eq!(named("s").unwrap(), "b.example.com/v1");
        assert!(named("sets").unwrap_err().contains("`sets.b.example.com` or `sets.c.example.com`"));
        let unknown = discovery.named("deploymnts").unwrap_err();
        assert_eq!(unknown.message, "the server has no resource `deploymnts`");
        assert_eq!(unknown.hint.as_deref(), Some("did you mean `deployments`?"));
        assert!(named("deployments.x").is_err() && named("").is_err());
    }

    #[test]
    fn kinds_of_a_file_have_their_usual_names() {
        let mut discovery = Discovery::builtin();
        discovery.learn(&json!({"apiVersion": "example.com/v1", "kind": "Policy", "metadata": {"namespace": "shop"}}));
        let discovery = discovery.with_usual_names();
        let kind = |text: &str| discovery.named(text).map(|one| one.gvk.kind.clone()).map_err(|error| error.message);
        for (text, expected) in [
            ("deploy", "Deployment"),
            ("deployments", "Deployment"),
            ("deployments.apps", "Deployment"),
            ("ing", "Ingress"),
            ("svc", "Service"),
            ("policies", "Policy"),
            ("policy", "Policy"),
        ] {
            assert_eq!(kind(text).as_deref(), Ok(expected), "{text}");
        }
        assert!(kind("gear").unwrap_err().contains("`gear` is neither"));
    }
}

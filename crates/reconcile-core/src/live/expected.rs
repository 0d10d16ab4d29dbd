//! The objects that a run will read if the server serves the built-in kinds as it usually does. They can be requested while
//! discovery is under way, which has the last word.

use std::collections::{BTreeMap, BTreeSet};

use structured_merge::GroupVersionKind;

use super::discovery::{Discovery, Resolution, is_builtin_group};
use super::resolve::Namespaces;
use super::resource::Resource;
use crate::manifest::Manifest;

/// The names of the wanted objects of a resource, by namespace.
pub type ExpectedCollections<'m> = BTreeMap<Option<&'m str>, BTreeSet<&'m str>>;

/// The collections that manifests name, of the kinds in `expected`. Left out are objects that the API would refuse, and those whose
/// namespace contradicts `--namespace`.
pub fn expected_collections<'m>(
    manifests: impl Iterator<Item = &'m Manifest>,
    expected: &'m Discovery,
    namespaces: &'m Namespaces,
) -> Vec<(&'m Resource, ExpectedCollections<'m>)> {
    let mut resources: BTreeMap<&GroupVersionKind, (&Resource, ExpectedCollections<'_>)> = BTreeMap::new();
    for manifest in manifests.filter(|manifest| manifest.refused().is_empty()) {
        let Resolution::Known(resource) = expected.resolve(manifest.gvk()) else { continue };
        let namespace = manifest.namespace().unwrap_or(&namespaces.default);
        let namespace = Some(namespace).filter(|_| resource.namespaced);
        if namespaces.required.is_none() || namespace.is_none() || namespace == namespaces.required.as_deref() {
            let (_, wanted) = resources.entry(manifest.gvk()).or_insert_with(|| (resource, BTreeMap::new()));
            wanted.entry(namespace).or_default().insert(manifest.name());
        }
    }
    resources.into_values().collect()
}

/// Returns true if the server's documents are needed for the types of these manifests: for kinds in groups that are not built in, and
/// that the manifests themselves do not define.
pub fn reads_documents(manifests: &[Manifest]) -> bool {
    let defined: BTreeSet<&str> = manifests
        .iter()
        .filter(|manifest| manifest.gvk().is_crd())
        .filter_map(|manifest| manifest.object().pointer("/spec/group")?.as_str())
        .collect();
    manifests
        .iter()
        .map(Manifest::gvk)
        .any(|gvk| !is_builtin_group(&gvk.group) && !defined.contains(gvk.group.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::yaml::Validation;
    use crate::manifest::{Hooks, Input, ReadOptions, read};
    use crate::object::Selector;

    fn manifests(text: &str) -> Vec<Manifest> {
        let input = Input { name: "all.yaml".into(), text: text.as_bytes().to_vec().into() };
        let (validation, selector) = (Validation::Strict, Selector::default());
        let options = ReadOptions { validation, selector, hooks: Hooks::Skip, allow_empty: false };
        read(&[input], &options).unwrap().manifests
    }

    fn paths(manifests: &[Manifest], required: Option<&str>) -> Vec<String> {
        let namespaces = Namespaces { required: required.map(ToOwned::to_owned), default: "shop".to_owned() };
        let expected = Discovery::assumed();
        let found = expected_collections(manifests.iter(), &expected, &namespaces);
        let path = |resource: &Resource, namespace, name: &str| resource.object_path(namespace, name).text(false);
        let paths = found.iter().flat_map(|(resource, wanted)| {
            wanted
                .iter()
                .flat_map(move |(namespace, names)| names.iter().map(move |name| path(resource, *namespace, name)))
        });
        paths.collect()
    }

    const ALL: &str = "
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: b, namespace: bank}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: bank}}
---
{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: old}, spec: {}}
---
{apiVersion: example.com/v1, kind: ConfigMap, metadata: {name: other}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: refused, labels: {a: 'not a label'}}}
";

    #[test]
    fn only_kinds_in_their_own_version_and_group_are_expected() {
        let bank = "/apis/networking.k8s.io/v1/namespaces/bank/ingresses/b";
        let all = manifests(ALL);
        assert_eq!(paths(&all, None), ["/api/v1/namespaces/shop/configmaps/a", "/api/v1/namespaces/bank", bank]);
        assert_eq!(paths(&all, Some("bank")), ["/api/v1/namespaces/bank", bank]);
    }

    #[test]
    fn documents_are_read_for_custom_kinds_that_the_input_does_not_define() {
        let all = manifests(ALL);
        assert!(reads_documents(&all));
        assert!(!reads_documents(&all[..4]), "an old version of a built-in kind is no custom kind");
        let definition = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.example.com}, spec: {group: example.com}}";
        let custom = "{apiVersion: example.com/v1, kind: A, metadata: {name: other}}";
        assert!(!reads_documents(&manifests(&format!("{definition}\n---\n{custom}"))));
    }
}

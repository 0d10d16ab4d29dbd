//! The documents that list the API groups of a server, read part by part. Anybody who may define kinds decides how large they are, with
//! short names, categories and versions: only what a [`Resource`] has is kept, and a few other names of its kind; the number of resources is
//! bounded for each group.

use std::collections::BTreeSet;

use serde::de::{Deserialize, DeserializeSeed as _, Deserializer, IgnoredAny, MapAccess, SeqAccess};
use serde_json::Value;
use structured_merge::{GroupVersionKind, TypeNames};

use super::resource::Resource;
use crate::object::{InParts, MAX_LABEL, Parts, Projection};

/// The most resources of one group, in all of its versions. The kinds of a larger group are not read.
pub(super) const MOST_IN_GROUP: usize = 10_000;
/// The most short names of a resource.
const MOST_SHORT_NAMES: usize = 8;
/// The category of the kinds that `kubectl get all` shows.
const ALL: &str = "all";
/// The most resources of all groups, and the most group-versions that are described in separate documents.
const MOST: usize = 100_000;

/// The fields of a version of a group that are read (`apidiscovery.k8s.io`, `APIVersionDiscovery`).
const VERSION: Projection = {
    use Projection::{Fields, Whole};
    const RESOURCE: Projection = Fields(&[
        ("resource", Whole),
        ("responseKind", Fields(&[("kind", Whole)])),
        ("scope", Whole),
        ("verbs", Whole),
        ("subresources", Fields(&[("subresource", Whole)])),
        ("singularResource", Whole),
        ("shortNames", Whole),
        ("categories", Whole),
    ]);
    Fields(&[("version", Whole), ("freshness", Whole), ("resources", RESOURCE)])
};
const LEGACY_GROUP: Projection =
    Projection::Fields(&[("versions", Projection::Fields(&[("groupVersion", Projection::Whole)]))]);

/// The fields of the document of one group-version that are read (`APIResourceList`).
pub const LEGACY_FIELDS: Projection = {
    use Projection::{Fields, Whole};
    const RESOURCE: Projection = Fields(&[("name", Whole), ("kind", Whole), ("namespaced", Whole), ("verbs", Whole)]);
    Fields(&[("kind", Whole), ("resources", RESOURCE)])
};

/// The answer to `/api` or `/apis`, in the aggregated or in the legacy form (KEP-3352). Any other JSON is a document without a kind.
#[derive(Debug, Default)]
pub struct GroupDocument {
    pub(super) kind: String,
    /// The groups of the aggregated form.
    pub(super) groups: Vec<Group>,
    /// The group-versions of the legacy form.
    pub(super) group_versions: Vec<(String, String)>,
    resources: usize,
}

/// An API group.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub name: String,
    pub resources: Vec<Resource>,
    /// Other names of kinds: in the singular, and short ones.
    pub aliases: BTreeSet<(String, String)>,
    /// The kinds of the category `all`.
    pub in_all: BTreeSet<String>,
    /// Versions whose API service does not answer.
    pub stale: Vec<String>,
    /// True if it has more resources than are read.
    pub is_oversized: bool,
}

impl GroupDocument {
    fn add_group(&mut self, mut group: Group) {
        self.resources = self.resources.saturating_add(group.resources.len());
        if self.resources > MOST {
            self.resources = self.resources.saturating_sub(group.resources.len());
            group.is_oversized = true;
        }
        for resource in &mut group.resources {
            let TypeNames { version, kind, .. } = &*resource.gvk;
            resource.gvk = GroupVersionKind::in_group(&group.name, version, kind);
        }
        if group.is_oversized {
            group.resources = Vec::new();
            group.stale = Vec::new();
            group.aliases = BTreeSet::new();
            group.in_all = BTreeSet::new();
        }
        if self.groups.len() < MOST {
            self.groups.push(group);
        }
    }

    fn add_group_version(&mut self, group: &str, version: &str) {
        if self.group_versions.len() < MOST {
            self.group_versions.push((group.to_owned(), version.to_owned()));
        }
    }
}

impl Group {
    fn add_version(&mut self, version: &Value) {
        let resources = array(version, "resources");
        self.is_oversized |= self.resources.len().saturating_add(resources.len()) > MOST_IN_GROUP;
        if self.is_oversized || self.stale.len() == MOST_IN_GROUP {
            return;
        }
        let name = text(version, "version");
        if text(version, "freshness") == "Stale" {
            self.stale.push(name.to_owned());
        }
        for resource in resources {
            let kind = resource.get("responseKind").map(|kind| text(kind, "kind")).unwrap_or_default();
            let short = array(resource, "shortNames").iter().filter_map(Value::as_str).take(MOST_SHORT_NAMES);
            let names = short.chain([text(resource, "singularResource")]);
            let names = names.filter(|name| !name.is_empty() && name.len() <= MAX_LABEL && *name != kind);
            self.aliases.extend(names.map(|name| (name.to_owned(), kind.to_owned())));
            if array(resource, "categories").iter().any(|category| category.as_str() == Some(ALL)) {
                self.in_all.insert(kind.to_owned());
            }
        }
        self.resources.extend(resources.iter().map(|resource| {
            let kind = resource.get("responseKind").unwrap_or(&Value::Null);
            Resource {
                gvk: GroupVersionKind::in_group("", name, text(kind, "kind")),
                plural: text(resource, "resource").to_owned(),
                namespaced: text(resource, "scope") == "Namespaced",
                verbs: verbs(resource),
                status: array(resource, "subresources").iter().any(|sub| text(sub, "subresource") == "status"),
                pending: false,
            }
        }));
    }
}

impl<'de> Deserialize<'de> for GroupDocument {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut document = Self::default();
        InParts(&mut document).deserialize(from)?;
        Ok(document)
    }
}

impl Parts for GroupDocument {
    fn entry<'de, A: MapAccess<'de>>(&mut self, key: &str, entries: &mut A) -> Result<(), A::Error> {
        match key {
            "kind" => {
                let kind: Value = entries.next_value()?;
                kind.as_str().unwrap_or_default().clone_into(&mut self.kind);
                Ok(())
            }
            "items" => entries.next_value_seed(InParts(&mut Groups(self))),
            // The versions of the core group of the legacy form (`APIVersions`), and its groups (`APIGroup`).
            "versions" => entries.next_value_seed(InParts(&mut Each(Projection::Whole, |version: &Value| {
                version.as_str().into_iter().for_each(|version| self.add_group_version("", version));
            }))),
            "groups" => entries.next_value_seed(InParts(&mut Each(LEGACY_GROUP, |group: &Value| {
                let names = array(group, "versions").iter().map(|version| text(version, "groupVersion"));
                for (group, version) in names.filter_map(|name| name.split_once('/')) {
                    self.add_group_version(group, version);
                }
            }))),
            _ => entries.next_value::<IgnoredAny>().map(drop),
        }
    }
}

/// The groups of the aggregated form (`APIGroupDiscovery`).
struct Groups<'d>(&'d mut GroupDocument);

impl Parts for Groups<'_> {
    fn item<'de, A: SeqAccess<'de>>(&mut self, items: &mut A) -> Result<bool, A::Error> {
        let mut group = Group::default();
        let found = items.next_element_seed(InParts(&mut group))?.is_some();
        if found {
            self.0.add_group(group);
        }
        Ok(found)
    }
}

impl Parts for Group {
    fn entry<'de, A: MapAccess<'de>>(&mut self, key: &str, entries: &mut A) -> Result<(), A::Error> {
        match key {
            "metadata" => {
                let metadata = entries.next_value_seed(Projection::Fields(&[("name", Projection::Whole)]))?;
                text(&metadata, "name").clone_into(&mut self.name);
                Ok(())
            }
            "versions" => {
                entries.next_value_seed(InParts(&mut Each(VERSION, |version: &Value| self.add_version(version))))
            }
            _ => entries.next_value::<IgnoredAny>().map(drop),
        }
    }
}

/// A list whose items are taken one after the other, each with these fields.
struct Each<F>(Projection, F);

impl<F: FnMut(&Value)> Parts for Each<F> {
    fn item<'de, A: SeqAccess<'de>>(&mut self, items: &mut A) -> Result<bool, A::Error> {
        let Self(fields, take) = self;
        let item = items.next_element_seed(*fields)?;
        item.iter().for_each(take);
        Ok(item.is_some())
    }
}

/// The resources that the document of one group-version lists (`APIResourceList`). `None` if it is something else.
pub(super) fn legacy_resources(group: &str, version: &str, list: &Value) -> Option<Vec<Resource>> {
    if text(list, "kind") != "APIResourceList" {
        return None;
    }
    let resources = array(list, "resources");
    let names: BTreeSet<&str> = resources.iter().map(|resource| text(resource, "name")).collect();
    let own = resources.iter().filter(|resource| !text(resource, "name").contains('/'));
    let read = own.map(|resource| {
        let plural = text(resource, "name");
        Resource {
            gvk: GroupVersionKind::in_group(group, version, text(resource, "kind")),
            plural: plural.to_owned(),
            namespaced: resource.get("namespaced").and_then(Value::as_bool).unwrap_or(false),
            verbs: verbs(resource),
            status: names.contains(format!("{plural}/status").as_str()),
            pending: false,
        }
    });
    Some(read.collect())
}

fn array<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn verbs(resource: &Value) -> BTreeSet<String> {
    array(resource, "verbs").iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(document: &Value) -> GroupDocument {
        serde_json::from_reader(document.to_string().as_bytes()).unwrap()
    }

    fn group(name: &str, kinds: usize) -> Value {
        let resource = |number: usize| {
            json!({"resource": format!("r{number}"), "responseKind": {"kind": format!("K{number}")},
            "scope": "Namespaced", "verbs": ["get"], "shortNames": ["x"], "categories": ["all"], "subresources": [{"subresource": "status"}]})
        };
        let resources: Vec<Value> = (0..kinds).map(resource).collect();
        json!({"versions": [{"resources": resources, "version": "v1", "freshness": "Current"}], "metadata": {"name": name}})
    }

    #[test]
    fn what_is_no_list_of_groups_has_no_kind() {
        for document in
            [json!(null), json!([{"kind": "APIGroupList"}]), json!(7), json!("text"), json!({"kind": 7}), json!(true)]
        {
            assert_eq!(read(&document).kind, "", "{document}");
        }
    }

    #[test]
    fn parts_that_are_something_else_are_skipped() {
        let document = json!({"items": [null, 7, "x", {}, {"metadata": [], "versions": {}}, group("example.com", 1)], "kind": "X"});
        let groups = read(&document).groups;
        let kinds: Vec<(&str, usize)> =
            groups.iter().map(|group| (group.name.as_str(), group.resources.len())).collect();
        assert_eq!(kinds.last(), Some(&("example.com", 1)));
        assert!(groups.iter().rev().skip(1).all(|group| group.resources.is_empty()));
    }

    #[test]
    fn a_group_with_too_many_kinds_is_left_out_alone() {
        let document = json!({"items": [group("a.com", 2), group("b.com", MOST_IN_GROUP + 1), group("c.com", 1)]});
        let mut document = read(&document);
        let resource = document.groups[2].resources[0].clone();
        // As many as all groups may have, with the three above.
        for number in 0..10 {
            let resources = vec![Resource { plural: "x".to_owned(), ..resource.clone() }; MOST_IN_GROUP];
            document.add_group(Group { name: format!("g{number}"), resources, ..Group::default() });
        }
        let left_out = document.groups.iter().filter(|group| group.is_oversized);
        assert_eq!(left_out.map(|group| group.name.as_str()).collect::<Vec<_>>(), ["b.com", "g9"]);
        assert!(document.groups.iter().all(|group| group.resources.is_empty() == group.is_oversized));
    }
}

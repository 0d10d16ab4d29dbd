//! The choice of the requests that read the wanted objects of a resource: a LIST also reads unwanted objects, and a GET costs as much as
//! several items of a LIST, and more the longer a round trip takes. Costs are in bytes of a LIST, which take a time that depends on the
//! machine; their ratios depend on it less. `cargo bench --bench side_by_side -- costs` measures them.
//!
//! A field selector never comes first: the server has to look at the whole collection for it, and does not say how large that is. A page
//! without a selector says it. For the same reason, no selector leaves out names that every namespace has (`metadata.name!=kube-root-ca.crt`):
//! the page that shows that such objects are there has read half of them, or their number says that GETs are cheaper.
//!
//! The objects that a run will read if the server serves the built-in kinds as it usually does can be requested while discovery is
//! under way, which has the last word.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use structured_merge::{GroupVersionKind, ObjectKey};

use super::discovery::{Discovery, Resolution, is_builtin_group};
use super::resolve::{Namespaces, default_namespace};
use super::resource::Resource;
use crate::manifest::Manifest;

/// Up to this many wanted objects of a collection are read one by one: a GET costs the server a third of a
/// millisecond, and a LIST encodes the whole collection.
pub const FEW: usize = 4;
/// Beyond this many requests for the objects of one resource, a LIST over all namespaces is tried first.
const MANY_REQUESTS: usize = 8;
/// The cost of a GET with others under way, without latency: 405 µs, where a KiB of a LIST takes 4.6 µs.
const GET: usize = 88 << 10;
/// The cost of each millisecond of a round trip in a GET: with 20 ms, it took 1,465 µs.
const MILLISECOND: usize = (318 - 88) * (1 << 10) / 20;
/// The longest round trip that counts, in milliseconds.
const LONGEST_ROUND_TRIP: usize = 1_000;
/// The cost of an item of a LIST besides its bytes, also if a field selector leaves it out.
const ITEM: usize = 3 << 10;

/// Returns true if this number of wanted objects of one collection is read one by one.
pub fn is_read_by_name(resource: &Resource, wanted: usize) -> bool {
    wanted <= FEW || !resource.verbs.contains("list")
}

/// Returns true if reading by namespace would take many requests; `wanted` has the number of objects in each namespace.
pub fn is_spread(resource: &Resource, wanted: impl Iterator<Item = usize>) -> bool {
    let mut namespaces = 0_usize;
    let mut requests = 0_usize;
    for count in wanted {
        namespaces = namespaces.saturating_add(1);
        requests = requests.saturating_add(if is_read_by_name(resource, count) { count } else { 1 });
    }
    resource.verbs.contains("list") && namespaces > 1 && requests > MANY_REQUESTS
}

/// A list that was read in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartOfList {
    /// Number of items on the pages so far.
    pub seen: usize,
    /// Size of these pages, in bytes.
    pub bytes: usize,
    /// Number of items on later pages; `None` if the server does not say it.
    pub left: Option<usize>,
}

/// The missing objects of one namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissingObjects {
    /// Their number.
    pub wanted: usize,
    /// Number of other objects in the namespace, as far as they are known.
    pub others: usize,
}

/// The numbers of objects that other shards compare, by kind and namespace. A LIST of the namespace reads them, too.
#[derive(Clone, Debug, Default)]
pub struct ObjectsElsewhere(BTreeMap<GroupVersionKind, BTreeMap<String, usize>>);

impl ObjectsElsewhere {
    /// Counts these objects.
    pub fn of<'t>(keys: impl Iterator<Item = &'t ObjectKey>) -> Self {
        let mut counts: BTreeMap<GroupVersionKind, BTreeMap<String, usize>> = BTreeMap::new();
        for key in keys {
            let namespaces = counts.entry(key.gvk.clone()).or_default();
            let count = namespaces.entry(key.namespace.as_deref().unwrap_or_default().to_owned()).or_default();
            *count = count.saturating_add(1);
        }
        Self(counts)
    }

    /// Their number in a namespace.
    pub fn count(&self, kind: &GroupVersionKind, namespace: &str) -> usize {
        self.0.get(kind).and_then(|namespaces| namespaces.get(namespace)).copied().unwrap_or_default()
    }
}

/// The requests that read the missing objects of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// The rest of the list.
    Listed,
    /// A list of the objects of one name.
    Selected,
    /// A request for each namespace, or for each object.
    ByThemselves,
}

impl PartOfList {
    /// Returns true if the rest of the list costs less than one GET for each of the missing objects.
    pub fn is_worth_its_rest(&self, missing: usize, round_trip: Duration) -> bool {
        self.rest() <= missing.saturating_mul(get(round_trip))
    }

    /// The requests for the missing objects that cost least; `missing` has those of each namespace. If the server does not say how long
    /// the list is, its rest counts as long as its beginning, and nothing is selected.
    pub fn cheapest_rest(
        &self,
        missing: impl Iterator<Item = MissingObjects>,
        has_one_name: bool,
        round_trip: Duration,
    ) -> Rest {
        let item = self.item();
        let get = get(round_trip);
        let mut by_themselves = 0_usize;
        let mut selected = get;
        for MissingObjects { wanted, others } in missing {
            let listed = get.saturating_add(wanted.saturating_add(others).saturating_mul(item));
            let cost = if wanted <= FEW { wanted.saturating_mul(get) } else { listed };
            by_themselves = by_themselves.saturating_add(cost);
            selected = selected.saturating_add(wanted.saturating_mul(item));
        }
        let all = self.left.map(|left| left.saturating_add(self.seen).saturating_mul(ITEM));
        let selected = selected.saturating_add(all.filter(|_| has_one_name).unwrap_or(usize::MAX));
        match (self.rest(), by_themselves) {
            (rest, by_themselves) if rest <= by_themselves.min(selected) => Rest::Listed,
            (_, by_themselves) if selected < by_themselves => Rest::Selected,
            _ => Rest::ByThemselves,
        }
    }

    /// The cost of the rest of the list.
    fn rest(&self) -> usize {
        self.left.unwrap_or(self.seen).saturating_mul(self.item())
    }

    /// The cost of an item of the list.
    fn item(&self) -> usize {
        ITEM.saturating_add(self.bytes.checked_div(self.seen).unwrap_or_default())
    }
}

/// The cost of a GET over a connection with this round trip.
fn get(round_trip: Duration) -> usize {
    let millis = usize::try_from(round_trip.as_millis()).unwrap_or(usize::MAX).min(LONGEST_ROUND_TRIP);
    GET.saturating_add(millis.saturating_mul(MILLISECOND))
}

/// The only name of some objects, if all of them have the same. A field selector then leaves out all others.
pub fn only_name<'n>(mut names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let first = names.next()?;
    names.all(|name| name == first).then_some(first)
}

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
        let namespace = manifest.namespace().unwrap_or_else(|| default_namespace(manifest, namespaces));
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
    use structured_merge::GroupVersionKind;

    use super::*;
    use crate::manifest::yaml::Validation;
    use crate::manifest::{Hooks, Input, ReadOptions, read};
    use crate::object::Selector;

    fn resource(verbs: &[&str]) -> Resource {
        Resource {
            gvk: GroupVersionKind::new("v1", "ConfigMap"),
            plural: "configmaps".to_owned(),
            namespaced: true,
            verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
            status: false,
            pending: false,
        }
    }

    #[test]
    fn few_objects_are_read_by_name_and_those_of_many_namespaces_at_once() {
        let listed = resource(&["get", "list"]);
        let read = resource(&["get"]);
        assert!(is_read_by_name(&listed, 4) && !is_read_by_name(&listed, 5) && is_read_by_name(&read, 5));
        for (wanted, spread) in [
            (vec![100], false),
            (vec![4, 4], false),
            (vec![4, 4, 1], true),
            (vec![5, 4, 3], false),
            (vec![1; 8], false),
            (vec![1; 9], true),
            (vec![100; 9], true),
        ] {
            assert_eq!(is_spread(&listed, wanted.iter().copied()), spread, "{wanted:?}");
            assert!(!is_spread(&read, wanted.into_iter()));
        }
    }

    const LOOPBACK: Duration = Duration::ZERO;
    const FAR: Duration = Duration::from_millis(20);

    fn each_alone(missing: usize) -> impl Iterator<Item = MissingObjects> {
        std::iter::repeat_n(MissingObjects { wanted: 1, others: 0 }, missing)
    }

    #[test]
    fn a_list_goes_on_while_its_rest_costs_less_than_reading_the_missing_objects() {
        let small = |seen, left| PartOfList { seen, bytes: seen << 10, left };
        // A GET costs as much as 22 items of a KiB, and with 20 ms as much as 79.
        for (list, missing, round_trip, goes_on) in [
            (small(100, Some(2200)), 100, LOOPBACK, true),
            (small(100, Some(2201)), 100, LOOPBACK, false),
            (small(100, Some(7950)), 100, FAR, true),
            (small(100, Some(7951)), 100, FAR, false),
            (small(100, Some(usize::MAX)), 100, Duration::from_hours(1), false),
            (small(2200, None), 100, LOOPBACK, true),
            (small(2201, None), 100, LOOPBACK, false),
            (small(100, Some(0)), 1, LOOPBACK, true),
            (PartOfList::default(), 1, LOOPBACK, true),
            // Large items: releases of Helm among small Secrets.
            (PartOfList { seen: 100, bytes: 100 * (100 << 10), left: Some(85) }, 100, LOOPBACK, true),
            (PartOfList { seen: 100, bytes: 100 * (100 << 10), left: Some(86) }, 100, LOOPBACK, false),
        ] {
            assert_eq!(list.is_worth_its_rest(missing, round_trip), goes_on, "{list:?} for {missing}");
            let expected = if goes_on { Rest::Listed } else { Rest::ByThemselves };
            assert_eq!(list.cheapest_rest(each_alone(missing), false, round_trip), expected, "{list:?} for {missing}");
        }
    }

    /// 500 ConfigMaps in as many namespaces, each of which has `kube-root-ca.crt` as well, and a few namespaces more.
    #[test]
    fn what_every_namespace_has_is_read_rather_than_each_object_by_itself() {
        let list = PartOfList { seen: 500, bytes: 500 * 1500, left: Some(508) };
        assert_eq!(list.cheapest_rest(each_alone(250), false, LOOPBACK), Rest::Listed);
        let crowded = PartOfList { left: Some(50_000), ..list };
        assert_eq!(crowded.cheapest_rest(each_alone(250), false, LOOPBACK), Rest::ByThemselves);
    }

    #[test]
    fn many_missing_objects_of_one_namespace_are_one_list_of_all_that_is_known_there() {
        let list = PartOfList { seen: 100, bytes: 100 << 10, left: Some(1000) };
        let missing = |others| [MissingObjects { wanted: 500, others }; 2].into_iter();
        assert_eq!(list.cheapest_rest(missing(0), false, LOOPBACK), Rest::Listed);
        assert_eq!(list.cheapest_rest(missing(0).take(1), false, LOOPBACK), Rest::ByThemselves, "half of what is left");
        assert_eq!(list.cheapest_rest(missing(478).take(1), false, LOOPBACK), Rest::Listed, "there are others, too");
        assert_eq!(list.cheapest_rest(missing(477).take(1), false, LOOPBACK), Rest::ByThemselves);
    }

    #[test]
    fn one_name_is_selected_among_many_objects_only_if_that_costs_least() {
        // Each namespace has six objects of 20 KiB more.
        let list = PartOfList { seen: 12, bytes: 12 * (20 << 10), left: Some(72) };
        assert_eq!(list.cheapest_rest(each_alone(10), true, LOOPBACK), Rest::Selected);
        assert_eq!(list.cheapest_rest(each_alone(10), false, LOOPBACK), Rest::ByThemselves);
        // Nine of 20,000 objects: the server would have to look at all of them.
        let crowded = PartOfList { seen: 9, bytes: 9 << 10, left: Some(20_000) };
        assert_eq!(crowded.cheapest_rest(each_alone(9), true, LOOPBACK), Rest::ByThemselves);
        // 1,000 × 88 KiB are 22,000 items and 1,000 × 4 KiB, and the rest is larger.
        let most = 27_965;
        let more = 27_966;
        for (left, expected) in [(most, Rest::Selected), (more, Rest::ByThemselves)] {
            let list = PartOfList { seen: 5, bytes: 5 << 10, left: Some(left) };
            assert_eq!(list.cheapest_rest(each_alone(1_000), true, LOOPBACK), expected, "{left}");
        }
        let untold = PartOfList { left: None, ..crowded };
        assert_ne!(untold.cheapest_rest(each_alone(9), true, LOOPBACK), Rest::Selected);
    }

    #[test]
    fn one_name_is_selected_and_several_are_not() {
        assert_eq!(only_name(["default", "default"].into_iter()), Some("default"));
        assert_eq!(only_name(["default", "ci"].into_iter()), None);
        assert_eq!(only_name(std::iter::empty()), None);
    }

    fn manifests(text: &str) -> Vec<Manifest> {
        let input = Input::new("all.yaml", text.as_bytes().to_vec());
        let validation = Validation::Strict;
        let selector = Selector::default();
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

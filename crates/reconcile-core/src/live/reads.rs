//! The choice of the requests that read the wanted objects of a resource: a LIST also reads unwanted objects, and a GET costs as much as
//! several items of a LIST. Costs are in bytes of a LIST, which take a time that depends on the machine; their ratios depend on it less.
//! `cargo bench --bench side_by_side -- costs` measures them.

use super::resource::Resource;

/// Up to this many wanted objects of a collection are read one by one: a GET costs the server a third of a
/// millisecond, and a LIST encodes the whole collection.
pub const FEW: usize = 4;
/// Beyond this many requests for the objects of one resource, a LIST over all namespaces is tried first.
const MANY_REQUESTS: usize = 8;
/// The cost of a GET with others under way. With latency, it is higher.
const GET: usize = 64 << 10;
/// The cost of an item of a LIST besides its bytes.
const ITEM: usize = 3 << 10;

/// Returns true if this number of wanted objects of one collection is read one by one.
#[must_use]
pub fn is_read_by_name(resource: &Resource, wanted: usize) -> bool {
    wanted <= FEW || !resource.verbs.contains("list")
}

/// Returns true if reading by namespace would take many requests; `wanted` has the number of objects in each namespace.
pub fn is_spread(resource: &Resource, wanted: impl Iterator<Item = usize>) -> bool {
    let (mut namespaces, mut requests) = (0_usize, 0_usize);
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

impl PartOfList {
    /// Returns true if the rest of the list costs less than to read the missing objects by themselves; `missing` has their number in
    /// each namespace. If the server does not say how long the list is, its rest counts as long as its beginning.
    pub fn is_worth_its_rest(&self, missing: impl Iterator<Item = usize>) -> bool {
        let item = ITEM.saturating_add(self.bytes.checked_div(self.seen).unwrap_or_default());
        let by_themselves = missing.map(|count| {
            if count <= FEW { count.saturating_mul(GET) } else { GET.saturating_add(count.saturating_mul(item)) }
        });
        let left = self.left.unwrap_or(self.seen);
        left.saturating_mul(item) <= by_themselves.fold(0, usize::saturating_add)
    }
}

/// The only name of some objects, if all of them have the same. A field selector then leaves out all others.
pub fn only_name<'n>(mut names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let first = names.next()?;
    names.all(|name| name == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use structured_merge::GroupVersionKind;

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
        let (listed, read) = (resource(&["get", "list"]), resource(&["get"]));
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

    #[test]
    fn a_list_goes_on_while_its_rest_costs_less_than_reading_the_missing_objects() {
        let small = |seen, left| PartOfList { seen, bytes: seen << 10, left };
        // A GET costs as much as sixteen items of a KiB.
        for (list, missing, goes_on) in [
            (small(100, Some(1600)), 100, true),
            (small(100, Some(1601)), 100, false),
            (small(500, Some(80)), 5, true),
            (small(500, Some(81)), 5, false),
            (small(1600, None), 100, true),
            (small(1601, None), 100, false),
            (small(100, Some(usize::MAX)), 100, false),
            (small(100, Some(0)), 1, true),
            (PartOfList::default(), 1, true),
            // Large items: releases of Helm among small Secrets.
            (PartOfList { seen: 100, bytes: 100 * (100 << 10), left: Some(62) }, 100, true),
            (PartOfList { seen: 100, bytes: 100 * (100 << 10), left: Some(63) }, 100, false),
        ] {
            assert_eq!(list.is_worth_its_rest(std::iter::repeat_n(1, missing)), goes_on, "{list:?} for {missing}");
        }
    }

    /// 500 ConfigMaps in as many namespaces, each of which has `kube-root-ca.crt` as well, and a few namespaces more.
    #[test]
    fn what_every_namespace_has_is_read_rather_than_each_object_by_itself() {
        let list = PartOfList { seen: 500, bytes: 500 * 1500, left: Some(508) };
        assert!(list.is_worth_its_rest(std::iter::repeat_n(1, 250)));
        let crowded = PartOfList { left: Some(50_000), ..list };
        assert!(!crowded.is_worth_its_rest(std::iter::repeat_n(1, 250)));
    }

    #[test]
    fn many_missing_objects_of_one_namespace_are_one_list() {
        let list = PartOfList { seen: 100, bytes: 100 << 10, left: Some(1000) };
        assert!(!list.is_worth_its_rest([500].into_iter()), "they are half of what is left");
        assert!(list.is_worth_its_rest([500, 500].into_iter()));
    }

    #[test]
    fn one_name_is_selected_and_several_are_not() {
        assert_eq!(only_name(["default", "default"].into_iter()), Some("default"));
        assert_eq!(only_name(["default", "ci"].into_iter()), None);
        assert_eq!(only_name(std::iter::empty()), None);
    }
}

use std::collections::{BTreeMap, BTreeSet};

use kstatus::GroupKind;

use super::Purpose;
use crate::live::fetch::FEW;
use crate::live::{Discovery, Resolution, Resource, Target};
use crate::object::{Permission, granting};
use structured_merge::GroupVersionKind;

/// What the flags of a command add to what it does.
#[derive(Clone, Debug)]
pub struct Needs {
    /// Whether `diff` asks the server about what it cannot prove (`--evidence`).
    pub asks: bool,
    /// Whether `apply` deletes and recreates what cannot be changed (`--replace`).
    pub replaces: bool,
    /// Whether `apply` waits for readiness (`--wait`).
    pub waits: bool,
    /// What `--prune` looks at.
    pub prunes: Option<Pruned>,
}

/// What pruning looks at beside the manifests.
#[derive(Clone, Debug)]
pub struct Pruned {
    /// The resource of the apply set's parent.
    pub parent: Resource,
    /// The namespace of the parent; none where its kind has none.
    pub namespace: Option<String>,
    /// The resources that the parent lists.
    pub resources: Vec<Resource>,
    /// The namespaces that the parent lists.
    pub namespaces: BTreeSet<String>,
}

/// The objects of one resource in one place.
struct Collection<'t> {
    resource: &'t Resource,
    namespace: Option<&'t str>,
    count: usize,
}

/// The permissions that a command needs over these targets. A target whose resource is not known needs none that can be told.
#[must_use]
pub fn permissions(targets: &[&Target], purpose: Purpose, needs: &Needs) -> BTreeSet<Permission> {
    let mut needed = Needed::default();
    for Collection { resource, namespace, count } in collections(targets) {
        needed.add(resource, namespace, "get");
        if count > FEW && resource.verbs.contains("list") {
            needed.add(resource, namespace, "list");
        }
        if purpose == Purpose::Apply || needs.asks {
            // A server-side apply of what is missing is a patch that creates.
            needed.add(resource, namespace, "patch");
            needed.add(resource, namespace, "create");
        }
        if purpose == Purpose::Apply && needs.replaces {
            needed.add(resource, namespace, "delete");
        }
        if purpose == Purpose::Apply && needs.waits {
            needed.wait(resource, namespace);
        }
    }
    if let Some(pruned) = &needs.prunes {
        needed.prune(targets, pruned, purpose);
    }
    if purpose == Purpose::Apply {
        let granted = |target: &&Target| granting(&target.key, target.desired.object());
        needed.0.extend(targets.iter().filter_map(granted));
    }
    needed.0
}

/// What `diff` asks for to tell more: without it, the report leaves out which webhooks and policies may change objects.
#[must_use]
pub fn optional(catalog: &Discovery, purpose: Purpose) -> BTreeSet<Permission> {
    let mut needed = Needed::default();
    for kind in ["MutatingWebhookConfiguration", "MutatingAdmissionPolicy"].iter().filter(|_| purpose == Purpose::Diff)
    {
        let gvk = GroupVersionKind::new("admissionregistration.k8s.io/v1", kind);
        if let Resolution::Known(resource) = catalog.resolve(&gvk) {
            needed.add(resource, None, "list");
        }
    }
    needed.0
}

fn collections<'t>(targets: &[&'t Target]) -> impl Iterator<Item = Collection<'t>> {
    let mut collections: BTreeMap<_, Collection<'t>> = BTreeMap::new();
    for target in targets {
        let Ok(resource) = &target.resource else { continue };
        let namespace = target.key.namespace.as_deref();
        let empty = Collection { resource, namespace, count: 0 };
        collections.entry((&resource.gvk, &resource.plural, namespace)).or_insert(empty).count += 1;
    }
    collections.into_values()
}

#[derive(Default)]
struct Needed(BTreeSet<Permission>);

impl Needed {
    fn add(&mut self, resource: &Resource, namespace: Option<&str>, verb: &str) {
        self.named(&resource.gvk.group, &resource.plural, namespace.filter(|_| resource.namespaced), verb);
    }

    fn named(&mut self, group: &str, resource: &str, namespace: Option<&str>, verb: &str) {
        let namespace = namespace.map(ToOwned::to_owned);
        let (group, resource, verb) = (group.to_owned(), resource.to_owned(), verb.to_owned());
        self.0.insert(Permission { namespace, group, resource, name: None, verb });
    }

    /// Readiness is followed by a LIST and a stream of changes. What a workload that is not ready waits for is read from its Pods.
    fn wait(&mut self, resource: &Resource, namespace: Option<&str>) {
        let GroupVersionKind { group, kind, .. } = &resource.gvk;
        let can = |verb: &str| resource.pending || resource.verbs.contains(verb);
        let reports = structured_merge::builtin_kind(&resource.gvk).is_none_or(|kind| kind.status);
        if can("list") {
            self.add(resource, namespace, "list");
        }
        if can("list") && can("watch") && reports {
            self.add(resource, namespace, "watch");
        }
        if kstatus::has_pods(GroupKind::new(group, kind)) {
            for verb in ["list", "watch"] {
                self.named("", "pods", namespace, verb);
                if kind == "Deployment" {
                    self.named("apps", "replicasets", namespace, verb);
                }
            }
        }
    }

    /// Members are looked for among all kinds of the set, in all of its namespaces.
    fn prune(&mut self, targets: &[&Target], pruned: &Pruned, purpose: Purpose) {
        let namespace = pruned.namespace.as_deref();
        self.add(&pruned.parent, namespace, "get");
        if !pruned.parent.gvk.group.is_empty() {
            self.named("apiextensions.k8s.io", "customresourcedefinitions", None, "get");
        }
        if purpose == Purpose::Apply {
            self.add(&pruned.parent, namespace, "patch");
            self.add(&pruned.parent, namespace, "create");
        }
        let of_targets = targets.iter().filter_map(|target| target.resource.as_ref().ok());
        let mut namespaces: BTreeSet<&str> =
            targets.iter().filter_map(|target| target.key.namespace.as_deref()).collect();
        namespaces.extend(namespace);
        namespaces.extend(pruned.namespaces.iter().map(String::as_str));
        let verbs: &[&str] = if purpose == Purpose::Apply { &["get", "list", "delete"] } else { &["list"] };
        for resource in of_targets.chain(&pruned.resources) {
            let places = if resource.namespaced { namespaces.iter().copied().map(Some).collect() } else { vec![None] };
            for (place, verb) in places.iter().flat_map(|place| verbs.iter().map(move |verb| (place, verb))) {
                self.add(resource, *place, verb);
            }
        }
    }
}

//! The permissions of the requests that each command sends.

use std::collections::{BTreeMap, BTreeSet};

use structured_merge::{GroupVersionKind, ObjectKey};

use crate::live::{Discovery, FEW, Resolution, Resource, Target};
use crate::manifest::ReleaseName;
use crate::object::{Permission, granting};

/// The Namespace whose uid identifies a cluster.
const KUBE_SYSTEM: &str = "kube-system";

/// The flags of a command that add requests.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Needs {
    /// True if `diff` sends dry runs for what it cannot prove (`--evidence`).
    pub asks: bool,
    /// True if `apply` deletes and recreates objects that cannot be changed (`--replace`).
    pub replaces: bool,
    /// True if permissions are restricted to the names of the objects, where RBAC can do that (`--by-name`).
    pub by_name: bool,
    /// True if `apply` waits for readiness (`--wait`).
    pub waits: bool,
    /// The apply set of `--prune`.
    pub prunes: Option<Pruned>,
    /// The kinds of autoscalers that are listed, and their namespaces (`--autoscalers`).
    pub autoscalers: Vec<(Resource, BTreeSet<String>)>,
    /// The resources that `diff` lists to find unmanaged objects, and their namespaces (`--report-unmanaged`).
    pub unmanaged: (Vec<Resource>, BTreeSet<String>),
    /// The permissions to read the manifests that the cluster keeps (`--from`, `--base helm`).
    pub stored: BTreeSet<Permission>,
    /// The releases of Helm 4, of which `diff` asks the server what the next upgrade would refuse.
    pub upgraded: BTreeSet<ReleaseName>,
}

/// The apply set whose members are pruned.
#[derive(Clone, Debug)]
pub struct Pruned {
    /// The resource of the apply set's parent.
    pub parent: Resource,
    /// The namespace of the parent; `None` for a cluster-scoped parent.
    pub namespace: Option<String>,
    /// The name of the parent.
    pub name: String,
    /// The resources that the parent lists. Others may have written the list, so that no permission is made of it ([`listed`]).
    pub resources: Vec<Resource>,
    /// The namespaces that the parent lists, in the same way.
    pub namespaces: BTreeSet<String>,
}

impl Pruned {
    /// The identity of the parent.
    pub fn parent_key(&self) -> ObjectKey {
        ObjectKey { gvk: self.parent.gvk.clone(), namespace: self.namespace.clone(), name: self.name.clone() }
    }
}

impl Needs {
    /// The apply set that a command searches.
    fn prunes_for(&self, purpose: Purpose) -> Option<&Pruned> {
        self.prunes.as_ref().filter(|_| matches!(purpose, Purpose::Diff | Purpose::Apply))
    }
}

/// The wanted objects of one resource in one namespace.
struct Collection<'t> {
    resource: &'t Resource,
    namespace: Option<&'t str>,
    names: Vec<&'t str>,
}

/// The permissions that a command needs for these targets. Those of a target whose resource is not known are left out.
pub fn permissions(targets: &[&Target], purpose: Purpose, needs: &Needs) -> BTreeSet<Permission> {
    let mut needed = Needed::default();
    for collection in collections(targets) {
        for verb in verbs(&collection, purpose, needs) {
            // A creation has no name yet.
            if needs.by_name && verb != "create" {
                collection.names.iter().for_each(|name| needed.add(&collection, Some(name), verb));
            } else {
                needed.add(&collection, None, verb);
            }
        }
        if purpose.writes() && needs.waits {
            needed.pods(&collection);
        }
    }
    for (resource, namespaces) in needs.autoscalers.iter().filter(|_| purpose != Purpose::Blame) {
        for namespace in namespaces {
            needed.on(resource, Some(namespace), "list");
        }
    }
    if purpose == Purpose::Diff {
        let (resources, namespaces) = &needs.unmanaged;
        for namespace in namespaces {
            for resource in resources {
                needed.on(resource, Some(namespace), "list");
            }
        }
    }
    if let Some(pruned) = needs.prunes_for(purpose) {
        needed.prune(targets, pruned, purpose);
    }
    needed.0.extend(needs.stored.iter().cloned());
    if purpose == Purpose::Apply {
        let granted = |target: &&Target| granting(&target.key, target.desired.object());
        needed.0.extend(targets.iter().filter_map(granted));
    }
    needed.0
}

/// The permissions of pruning with what the parent of the apply set lists: all kinds in all namespaces, those of the manifests included.
pub fn listed(targets: &[&Target], purpose: Purpose, needs: &Needs) -> BTreeSet<Permission> {
    let mut needed = Needed::default();
    if let Some(Pruned { namespace, resources, namespaces, .. }) = needs.prunes_for(purpose) {
        let named = named_by(targets).chain(namespace.as_deref()).chain(namespaces.iter().map(String::as_str));
        needed.members(resources_of(targets).chain(resources), &named.collect(), purpose);
    }
    needed.0
}

/// Permissions that commands can do without. Without them, the report of `diff` leaves out the webhooks and policies that may change
/// objects, plans and baselines know a cluster by its URL alone, and the record of owners says what an upgrade by Helm would refuse.
pub fn optional(targets: &[&Target], purpose: Purpose, needs: &Needs, discovery: &Discovery) -> BTreeSet<Permission> {
    let mut needed = Needed::default();
    if purpose == Purpose::Diff {
        // The record of a revision is read by its name, and the newer ones are found by a list.
        let by_name = needs.stored.iter().filter(|read| read.name.is_some());
        needed.0.extend(by_name.map(|read| Permission { name: None, verb: "list".to_owned(), ..read.clone() }));
        let is_upgraded = |target: &&&Target| {
            let record = target.desired.origin.record.as_ref();
            record.and_then(|record| record.release()).is_some_and(|release| needs.upgraded.contains(&release))
        };
        let upgraded: Vec<&Target> = targets.iter().filter(is_upgraded).copied().collect();
        for collection in collections(&upgraded) {
            needed.add(&collection, None, "patch");
        }
    }
    if matches!(purpose, Purpose::Diff | Purpose::Apply) {
        let name = Some(KUBE_SYSTEM.to_owned());
        needed.0.insert(Permission { name, ..permission(("", "namespaces"), None, "get") });
    }
    for kind in ["MutatingWebhookConfiguration", "MutatingAdmissionPolicy"].iter().filter(|_| purpose == Purpose::Diff)
    {
        let gvk = GroupVersionKind::new("admissionregistration.k8s.io/v1", kind);
        if let Resolution::Known(resource) = discovery.resolve(&gvk) {
            needed.on(resource, None, "list");
        }
    }
    needed.0
}

fn collections<'t>(targets: &[&'t Target]) -> impl Iterator<Item = Collection<'t>> {
    let mut collections: BTreeMap<_, Collection<'t>> = BTreeMap::new();
    for target in targets {
        let Ok(resource) = &target.resource else { continue };
        let namespace = target.key.namespace.as_deref().filter(|_| resource.namespaced);
        let empty = Collection { resource, namespace, names: Vec::new() };
        let collection = collections.entry((&resource.gvk, &resource.plural, namespace)).or_insert(empty);
        collection.names.push(&target.key.name);
    }
    collections.into_values()
}

/// The verbs for the objects of one collection.
fn verbs(collection: &Collection<'_>, purpose: Purpose, needs: &Needs) -> BTreeSet<&'static str> {
    let can = |verb: &str| collection.resource.pending || collection.resource.verbs.contains(verb);
    let mut verbs = BTreeSet::from(["get"]);
    // A LIST shows all objects; if it is not allowed, each object is read by its name.
    if collection.names.len() > FEW && can("list") && !needs.by_name {
        verbs.insert("list");
    }
    if purpose.writes() || purpose == Purpose::Diff && needs.asks {
        // A server-side apply of a missing object is a patch that creates it.
        verbs.extend(["patch", "create"]);
    }
    // It creates nothing.
    if purpose == Purpose::Own {
        verbs.insert("patch");
    }
    if purpose.writes() && needs.replaces {
        verbs.insert("delete");
    }
    // Readiness needs a LIST and a watch, except for kinds whose objects are ready as soon as they exist.
    if purpose.writes() && needs.waits && can("list") {
        verbs.insert("list");
        if can("watch") && structured_merge::builtin_kind(&collection.resource.gvk).is_none_or(|kind| kind.status) {
            verbs.insert("watch");
        }
    }
    verbs
}

#[derive(Default)]
struct Needed(BTreeSet<Permission>);

impl Needed {
    fn add(&mut self, collection: &Collection<'_>, name: Option<&str>, verb: &str) {
        let permission =
            permission((&collection.resource.gvk.group, &collection.resource.plural), collection.namespace, verb);
        self.0.insert(Permission { name: name.map(ToOwned::to_owned), ..permission });
    }

    fn on(&mut self, resource: &Resource, namespace: Option<&str>, verb: &str) {
        let namespace = namespace.filter(|_| resource.namespaced);
        self.0.insert(permission((&resource.gvk.group, &resource.plural), namespace, verb));
    }

    /// Adds the permission for one object, unless it is there for all of them.
    fn named(&mut self, resource: &Resource, namespace: Option<&str>, name: &str, verb: &str) {
        let namespace = namespace.filter(|_| resource.namespaced);
        let all = permission((&resource.gvk.group, &resource.plural), namespace, verb);
        if !self.0.contains(&all) {
            self.0.insert(Permission { name: Some(name.to_owned()), ..all });
        }
    }

    /// Adds the Pods of a workload, which show why it is not ready.
    fn pods(&mut self, collection: &Collection<'_>) {
        let gvk = &collection.resource.gvk;
        if !kstatus::has_pods(gvk) {
            return;
        }
        for verb in ["list", "watch"] {
            self.0.insert(permission(("", "pods"), collection.namespace, verb));
            if gvk.kind == "Deployment" {
                self.0.insert(permission(("apps", "replicasets"), collection.namespace, verb));
            }
        }
    }

    /// Adds the requests of pruning, as far as the flags and the manifests name what is searched.
    fn prune(&mut self, targets: &[&Target], pruned: &Pruned, purpose: Purpose) {
        let Pruned { parent, namespace, name, .. } = pruned;
        let namespace = namespace.as_deref();
        self.members(resources_of(targets), &named_by(targets).chain(namespace).collect(), purpose);
        let verbs: &[&str] = if purpose == Purpose::Apply { &["get", "patch"] } else { &["get"] };
        for verb in verbs {
            self.named(parent, namespace, name, verb);
        }
        if purpose == Purpose::Apply {
            self.on(parent, namespace, "create");
        }
        if !parent.gvk.group.is_empty() {
            let name = Some(format!("{}.{}", parent.plural, parent.gvk.group));
            let definition = permission(("apiextensions.k8s.io", "customresourcedefinitions"), None, "get");
            self.0.insert(Permission { name, ..definition });
        }
    }

    /// Adds the lists and deletions of pruning, for these resources in all of these namespaces.
    fn members<'r>(
        &mut self,
        resources: impl Iterator<Item = &'r Resource>,
        namespaces: &BTreeSet<&str>,
        purpose: Purpose,
    ) {
        let verbs: &[&str] = if purpose == Purpose::Apply { &["get", "list", "delete"] } else { &["list"] };
        for resource in resources {
            let scopes = if resource.namespaced { namespaces.iter().copied().map(Some).collect() } else { vec![None] };
            for (scope, verb) in scopes.iter().flat_map(|scope| verbs.iter().map(move |verb| (*scope, verb))) {
                self.on(resource, scope, verb);
            }
        }
    }
}

fn resources_of<'t>(targets: &[&'t Target]) -> impl Iterator<Item = &'t Resource> {
    targets.iter().filter_map(|target| target.resource.as_deref().ok())
}

fn named_by<'t>(targets: &[&'t Target]) -> impl Iterator<Item = &'t str> {
    targets.iter().filter_map(|target| target.key.namespace.as_deref())
}

fn permission((group, resource): (&str, &str), namespace: Option<&str>, verb: &str) -> Permission {
    let namespace = namespace.map(ToOwned::to_owned);
    Permission { namespace, group: group.to_owned(), resource: resource.to_owned(), name: None, verb: verb.to_owned() }
}

/// A command that permissions are computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// `diff`
    Diff,
    /// `apply`
    Apply,
    /// `blame`
    Blame,
    /// `own`
    Own,
    /// `apply --from helm/RELEASE`. Nobody gets rights to grant others because of what a record names.
    Restore,
}

impl Purpose {
    /// Returns true if the command writes the objects.
    fn writes(self) -> bool {
        matches!(self, Self::Apply | Self::Restore)
    }

    /// The name of the command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diff => "diff",
            Self::Apply => "apply",
            Self::Blame => "blame",
            Self::Own => "own",
            Self::Restore => "restore",
        }
    }

    /// The command as it is typed.
    pub fn command(self) -> &'static str {
        match self {
            Self::Restore => "apply --from helm/RELEASE",
            Self::Diff | Self::Apply | Self::Blame | Self::Own => self.name(),
        }
    }

    /// Names commands in a sentence: `diff, apply and blame`.
    pub fn listed(purposes: &[Self]) -> String {
        let names: Vec<&str> = purposes.iter().map(|purpose| purpose.name()).collect();
        match names.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
            _ => names.concat(),
        }
    }
}

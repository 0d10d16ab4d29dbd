//! The first state: the parent is read, and the search for members is planned.

use std::collections::BTreeSet;

use apply_set::{ApplySet, Inventory, ListedKinds, Member, PART_OF, ParentReference, ParentState};
use structured_merge::{GroupKind, ObjectKey, ObjectMeta as _};

use super::ApplySetError;
use super::definitions::defined_kinds;
use super::judged::Notes;
use super::limits::Limits;
use super::parent::Parent;
use super::place::{Places, find_parent, places, resource_of_parent};
use super::search::{Coverage, ListedMember, MemberSearch, Scope, Unreadable, Unsearched, find, searchable};
use crate::client::Cluster;
use crate::live::discovery::{Server, served};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::resolve::key_of;
use reconcile_core::live::{Discovery, Resolution};
use reconcile_core::manifest::yaml::Step;
use reconcile_core::manifest::{DesiredSet, Manifest};
use reconcile_core::object::Shard;
use reconcile_core::plan::access::Pruned;
use reconcile_core::text::listed;

/// The apply set that the flags ask for.
pub(crate) struct Requested {
    /// The set, by its parent.
    pub reference: ParentReference,
    /// True if members that the parent does not list are pruned, too.
    pub recovers: bool,
    /// The shard of the run. Members are pruned by the shard to which the key of the parent belongs.
    pub shard: Option<Shard>,
    /// The limits of pruning.
    pub limits: Limits,
}

/// An apply set whose parent was read, but whose members are not listed yet.
pub(crate) struct Planned {
    pub(super) parent: Parent,
    pub(super) coverage: Coverage,
    pub(super) searches: Vec<MemberSearch>,
    /// Kinds that the parent lists and the server does not serve.
    unknown: Vec<GroupKind>,
    /// Kinds whose members cannot be listed, with the namespace if it is only one.
    pub(super) unseen: Vec<(GroupKind, Option<String>)>,
    pub(super) recovers: bool,
    /// The other shard whose run prunes.
    pub(super) pruned_by: Option<Shard>,
    /// The hooks that are left out: none of them is pruned.
    pub(super) hooks: Vec<ObjectKey>,
    pub(super) notes: Notes,
    pub(super) limits: Limits,
    /// The namespace that `--namespace` names.
    pub(super) required: Option<String>,
}

/// An apply set whose members are listed, but not judged yet.
pub(crate) struct Listed {
    pub(super) planned: Planned,
    pub(super) members: Vec<ListedMember>,
    /// Members that were listed and cannot be read.
    pub(super) unreadable: Vec<ObjectKey>,
    /// The objects of the manifests that are members of another set, and do not join this one.
    pub(super) outside: BTreeSet<ObjectKey>,
}

impl Listed {
    /// Sets the objects of the manifests that are members of another set.
    pub fn without(self, outside: BTreeSet<ObjectKey>) -> Self {
        Self { outside, ..self }
    }

    /// The members that can be read.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().map(|listed| &listed.member)
    }
}

impl Planned {
    /// Finds the parent, checks that no manifest names a set itself, and plans the search. Returns `None` without `--applyset`.
    pub async fn prepare(
        requested: Option<&Requested>,
        adopt: &BTreeSet<String>,
        server: &Server,
        desired: &DesiredSet,
    ) -> Result<Option<Self>, ApplySetError> {
        let Some(Requested { reference, recovers, shard, limits }) = requested else { return Ok(None) };
        let Server { discovery, namespaces, .. } = server;
        let places = places(desired, server);
        let only = places.only().map(ToOwned::to_owned);
        let mut parent = find_parent(reference, adopt, server, &places).await?;
        // Manifests in a namespace that is not expected are refused themselves, each at its line.
        if parent.set.parent.namespace != only
            && let Some(refusal) = limits.refused_parent(&parent.set.parent)
        {
            return Err(ApplySetError::Refused(vec![refusal]));
        }
        let notes = Notes { warnings: parent.remark.take().into_iter().collect(), ..Notes::default() };
        refuse_anonymous(&desired.manifests).map_err(ApplySetError::Refused)?;
        refuse_labelled(&desired.manifests, &parent.set, &namespaces.default).map_err(ApplySetError::Refused)?;
        let manifests = || desired.manifests.iter().chain(&desired.hooks);
        let places = manifests().filter_map(|manifest| manifest.namespace().map(ToOwned::to_owned));
        let mentioned = Inventory {
            kinds: manifests().map(|manifest| GroupKind::from(manifest.gvk())).collect(),
            namespaces: places.chain([namespaces.default.clone()]).collect(),
        };
        let mut planned = Self {
            parent,
            coverage: Coverage { mentioned, ..Coverage::default() },
            searches: Vec::new(),
            unknown: Vec::new(),
            unseen: Vec::new(),
            recovers: *recovers,
            pruned_by: None,
            hooks: desired.hooks.iter().map(|hook| key_of(hook, discovery, namespaces)).collect(),
            notes,
            limits: limits.clone(),
            required: namespaces.required.clone(),
        };
        let holder = shard.map(|shard| shard.holding(&planned.parent.set.parent));
        planned.pruned_by = holder.filter(|holder| Some(*holder) != *shard);
        let mut joining = Inventory::default();
        desired.manifests.iter().for_each(|manifest| joining.add(&key_of(manifest, discovery, namespaces)));
        planned.plan_search(discovery, &joining);
        if planned.pruned_by.is_some() {
            planned.leave_members_alone();
        }
        Ok(Some(planned))
    }

    /// The set that the objects of the manifests join.
    pub fn set(&self) -> &ApplySet {
        &self.parent.set
    }

    /// Drops the search and its errors, because another shard prunes.
    fn leave_members_alone(&mut self) {
        self.searches.clear();
        self.coverage.listed.kinds.extend(std::mem::take(&mut self.unknown));
        self.notes = Notes::default();
    }

    /// Plans the search: the kinds and namespaces that the parent lists. All kinds everywhere are searched if the parent has no list, if
    /// there is no parent (a deleted one leaves its members their labels), and with `--applyset-recover`. `joining` are the kinds and
    /// namespaces of the manifests' objects.
    fn plan_search(&mut self, discovery: &Discovery, joining: &Inventory) {
        let mut likely = self.coverage.mentioned.namespaces.clone();
        let mut is_known = false;
        if let Some(state) = self.parent.state.clone() {
            likely.extend(state.namespaces.iter().cloned());
            is_known = state.listed != ListedKinds::Unknown;
            self.plan_listed(discovery, &state, joining);
        }
        if self.recovers || !is_known {
            self.crawl(discovery, likely);
        }
    }

    fn plan_listed(&mut self, discovery: &Discovery, state: &ParentState, joining: &Inventory) {
        let Coverage { listed, mentioned } = &mut self.coverage;
        listed.namespaces = state.trusted_namespaces(mentioned);
        // What this run adds to the list, the next one searches: what has the label there already is shown now. A kind that moved to
        // another group has the same objects in both.
        let scope = Scope::Namespaces(state.namespaces.union(&joining.namespaces).cloned().collect());
        let kinds: BTreeSet<GroupKind> = match &state.listed {
            ListedKinds::Unknown => return,
            ListedKinds::Kinds(kinds) => kinds.clone(),
            ListedKinds::Resources(resources) => {
                resources.iter().map(|resource| kind_of(discovery, resource)).collect()
            }
        };
        for kind in &kinds {
            let counts = state.trusts_kind(kind, mentioned);
            match discovery.resolve_kind(kind) {
                // A kind that only the manifests define has no objects yet.
                Resolution::Known(resource) if resource.pending => {}
                Resolution::Known(resource) => {
                    self.searches.push(MemberSearch { resource: resource.clone(), scope: scope.clone() });
                }
                _ if !counts => continue,
                Resolution::Unavailable => {
                    let message =
                        format!("members of kind `{kind}` cannot be listed: the API service behind it does not answer");
                    let diagnostic = Diagnostic::new(Code::ServiceUnavailable, message);
                    self.notes.errors.push(diagnostic.with_hint("see `kubectl get apiservices`"));
                    self.unseen.push((kind.clone(), None));
                }
                Resolution::Oversized => {
                    let message = format!(
                        "members of kind `{kind}` cannot be listed: the server lists too many kinds in the group `{}`",
                        kind.group
                    );
                    self.notes.errors.push(Diagnostic::new(Code::Failed, message).with_hint(HELD));
                    self.unseen.push((kind.clone(), None));
                }
                Resolution::Unknown => {
                    self.unknown.push(kind.clone());
                    continue;
                }
            }
            if counts {
                listed.kinds.insert(kind.clone());
            }
        }
        let is_new = |kind: &&GroupKind| {
            !kinds.contains(*kind) && (joining.kinds.contains(*kind) || self.coverage.has_moved(kind))
        };
        let new = self.coverage.mentioned.kinds.iter().filter(is_new);
        let new = new.filter_map(|kind| served(discovery, kind)).cloned();
        self.searches.extend(new.map(|resource| MemberSearch { resource, scope: scope.clone() }));
    }

    /// Plans a search of all kinds everywhere, or in these namespaces if the user may not list all.
    fn crawl(&mut self, discovery: &Discovery, likely: BTreeSet<String>) {
        let scope = Scope::Everywhere(likely.into_iter().collect());
        let all = searchable(discovery);
        self.searches.retain(|search| !all.iter().any(|one| one.gvk == search.resource.gvk));
        self.searches.extend(all.into_iter().map(|resource| MemberSearch { resource, scope: scope.clone() }));
    }

    /// Lists the members.
    pub async fn list(mut self, cluster: &Cluster) -> Listed {
        let selector = format!("{PART_OF}={}", self.parent.set.id);
        let results = find(cluster, self.searches.clone(), &selector).await;
        self.unseen.extend(results.unsearched.iter().map(|one| (one.kind.clone(), one.namespace.clone())));
        self.notes.errors.extend(results.unreadable.iter().map(unreadable));
        let is_listed = |one: &&Unsearched| self.coverage.is_listed(&one.kind, one.namespace.as_deref());
        let (listed, beyond): (Vec<&Unsearched>, Vec<&Unsearched>) = results.unsearched.iter().partition(is_listed);
        self.notes.errors.extend(listed.into_iter().map(unsearched));
        self.notes.warnings.extend(uncrawled(&beyond));
        let members = results.objects.into_iter();
        let members =
            members.map(|(resource, object)| ListedMember::new(resource, object, &self.parent, &self.coverage));
        let members: Vec<ListedMember> = members.collect();
        self.look_for_definitions(cluster).await;
        if members.is_empty() && self.is_nowhere() {
            let parent = &self.parent.set.parent;
            self.notes.warnings.push(format!("there is no such apply set: {parent}, its parent, does not exist"));
        }
        let unreadable = results.unreadable.into_iter().map(|member| member.key).collect();
        Listed { planned: self, members, unreadable, outside: BTreeSet::new() }
    }

    /// Returns true if the set has no parent, and no manifest that would join it makes one: it may be that of another namespace.
    fn is_nowhere(&self) -> bool {
        self.parent.state.is_none() && self.coverage.mentioned.kinds.is_empty() && self.pruned_by.is_none()
    }

    /// Checks the definitions of kinds that are not served: their objects are gone only if the definition is gone as well.
    async fn look_for_definitions(&mut self, cluster: &Cluster) {
        if self.unknown.is_empty() {
            return;
        }
        let defined = defined_kinds(cluster).await;
        for kind in std::mem::take(&mut self.unknown) {
            let (code, reason) = match &defined {
                Ok(defined) if defined.contains(&kind) => {
                    (Code::UnknownKind, "its CustomResourceDefinition serves no version of it".to_owned())
                }
                Ok(_) => {
                    self.notes.warnings.push(format!(
                        "the apply set lists `{kind}`, which the server no longer knows, so its objects no longer exist"
                    ));
                    continue;
                }
                Err(error) => {
                    let reason =
                        format!("the server does not serve it, and the reason is unknown: {}", error.in_full());
                    (Code::from(error), reason)
                }
            };
            let diagnostic = Diagnostic::new(code, format!("members of kind `{kind}` cannot be listed: {reason}"));
            self.notes.errors.push(diagnostic.with_hint(HELD));
            self.unseen.push((kind.clone(), None));
            self.coverage.listed.kinds.insert(kind);
        }
    }
}

/// Most kinds that a warning names.
const NAMED: usize = 5;

/// The hint where members cannot be listed.
const HELD: &str = "none of them is pruned, and the set still lists the kind";

/// The kind of a resource such as `deployments.apps`; one that the server does not know keeps its name.
fn kind_of(discovery: &Discovery, resource: &str) -> GroupKind {
    let named = GroupKind::parse(resource);
    let found = discovery.resources().find(|found| found.plural == named.kind && found.gvk.group == named.group);
    found.map_or(named, |found| GroupKind::from(&found.gvk))
}

fn unsearched(unsearched: &Unsearched) -> Diagnostic {
    let Unsearched { kind, namespace, diagnostic } = unsearched;
    let within = namespace.as_ref().map(|name| format!(" in namespace `{name}`")).unwrap_or_default();
    let message = format!("members of kind `{kind}`{within} cannot be listed: {}", diagnostic.message);
    let hint = diagnostic.hint.as_deref().unwrap_or(HELD);
    Diagnostic::new(diagnostic.code, message).with_hint(hint)
}

fn unreadable(Unreadable { key, cause }: &Unreadable) -> Diagnostic {
    let message = format!("{key}, a member of the apply set, cannot be read: {cause}");
    Diagnostic::new(Code::Failed, message).with_hint("it is not pruned, and the set still lists it")
}

/// A warning if the search of all kinds fails, for example without the permission to list a kind that the set does not need.
fn uncrawled(unsearched: &[&Unsearched]) -> Option<String> {
    let kinds: BTreeSet<String> = unsearched.iter().map(|one| one.kind.to_string()).collect();
    let kinds = listed(kinds.iter().map(String::as_str), NAMED);
    let reason = &unsearched.first()?.diagnostic.code;
    Some(format!(
        "members that the apply set's parent does not list could not be looked for ({reason}) among {kinds}: such members \
         are not pruned"
    ))
}

/// Refuses manifests of which nobody knows which object they are about: it could be a member that would be pruned.
fn refuse_anonymous(manifests: &[Manifest]) -> Result<(), Vec<Diagnostic>> {
    let anonymous = manifests.iter().filter(|manifest| manifest.is_anonymous());
    let diagnostics: Vec<Diagnostic> = anonymous
        .map(|manifest| {
            let message = "its kind, name or namespace is encrypted, so that pruning could delete the object itself";
            let hint = "pass `--decrypt=sops`, or leave these fields readable when you encrypt the file, as with `sops \
                        --encrypt --encrypted-regex '^(data|stringData)$'`";
            Diagnostic::of_source(&manifest.origin().source, message).with_hint(hint)
        })
        .collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics) }
}

/// Refuses manifests that have the label of a set, because `--applyset` sets it. The parent is no member of its own set, and may have
/// any label. Manifests without a namespace belong to `default_namespace`.
fn refuse_labelled(manifests: &[Manifest], set: &ApplySet, default_namespace: &str) -> Result<(), Vec<Diagnostic>> {
    let is_parent = |manifest: &Manifest| {
        set.is_parent(manifest.gvk(), manifest.namespace().unwrap_or(default_namespace), manifest.name())
    };
    let is_labelled = |manifest: &Manifest| {
        manifest.with_object(|object| object.metadata("labels").is_some_and(|all| all.get(PART_OF).is_some()))
    };
    let labelled = manifests.iter().filter(|manifest| is_labelled(manifest) && !is_parent(manifest));
    let diagnostics: Vec<Diagnostic> = labelled
        .map(|manifest| {
            let at = [Step::Key("metadata"), Step::Key("labels"), Step::Key(PART_OF)];
            let message = format!("{manifest} already has the label `{PART_OF}`");
            let diagnostic = manifest.origin().diagnostic_at_key(&at, message);
            diagnostic.with_hint("leave it out of the manifest: `--applyset` sets it")
        })
        .collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics) }
}

/// Reads what pruning would read, from which `access` derives the permissions for it: the parent's resource, and the kinds and namespaces
/// that the parent lists. If the parent cannot be read, its list is unknown, and
/// the diagnostic says why.
pub(crate) async fn reach(
    Requested { reference, .. }: &Requested,
    server: &Server,
    places: &Places,
) -> Result<(Pruned, Option<Diagnostic>), ApplySetError> {
    let Server { discovery, namespaces, .. } = server;
    let parent = resource_of_parent(reference, discovery)?.clone();
    let namespace = parent.namespaced.then(|| places.only().unwrap_or(&namespaces.default).to_owned());
    let name = reference.name.clone();
    let mut pruned = Pruned { parent, namespace, name, resources: Vec::new(), namespaces: BTreeSet::new() };
    match find_parent(reference, &BTreeSet::new(), server, places).await {
        Ok(Parent { state, set, .. }) => {
            pruned.namespace = set.parent.namespace;
            if let Some(state) = state {
                add_listed(&mut pruned, state, discovery);
            }
        }
        Err(ApplySetError::Unreadable(diagnostic)) if diagnostic.code != Code::Interrupted => {
            return Ok((pruned, Some(diagnostic)));
        }
        Err(error) => return Err(error),
    }
    Ok((pruned, None))
}

fn add_listed(pruned: &mut Pruned, state: ParentState, discovery: &Discovery) {
    let kinds: BTreeSet<GroupKind> = match state.listed {
        ListedKinds::Unknown => BTreeSet::new(),
        ListedKinds::Kinds(kinds) => kinds,
        ListedKinds::Resources(resources) => resources.iter().map(|resource| kind_of(discovery, resource)).collect(),
    };
    pruned.resources = kinds.iter().filter_map(|kind| served(discovery, kind)).cloned().collect();
    pruned.namespaces = state.namespaces;
}

//! Where the members of a set are looked for.

use std::collections::BTreeSet;

use structured_merge::ObjectKey;

use super::Pruning;
use crate::client::Cluster;
use crate::diagnostic::Diagnostic;
use crate::live::apply_set::{Scope, Search, Unreadable, Unsearched, defined_kinds, find, searchable};
use crate::live::{Discovery, Resolution};
use crate::object::{GroupKind, PART_OF};
use crate::plan::apply_set::{Listed, Member, ParentState, Sight};

impl Pruning {
    /// Plans the search: the kinds and namespaces that the parent lists; and all kinds everywhere where it does not say, where
    /// there is no parent, as one may have been deleted, which leaves its members their labels, and where that is asked for.
    pub(super) fn plan_search(&mut self, catalog: &Discovery) {
        let mut likely = self.mentioned.namespaces.clone();
        let mut is_known = false;
        if let Some(standing) = self.standing.clone() {
            likely.extend(standing.namespaces.iter().cloned());
            is_known = standing.listed != Listed::Nothing;
            self.plan_listed(catalog, &standing);
        }
        if self.recovers || !is_known {
            self.crawl(catalog, likely);
        }
    }

    fn plan_listed(&mut self, catalog: &Discovery, standing: &ParentState) {
        self.listed.namespaces = standing.vouched_namespaces(&self.mentioned);
        let scope = Scope::Namespaces(standing.namespaces.iter().cloned().collect());
        let kinds: BTreeSet<GroupKind> = match &standing.listed {
            Listed::Nothing => return,
            Listed::Kinds(kinds) => kinds.clone(),
            Listed::Resources(resources) => resources.iter().map(|resource| kind_of(catalog, resource)).collect(),
        };
        for kind in kinds {
            let counts = standing.vouches_for_kind(&kind, &self.mentioned);
            match catalog.resolve_kind(&kind) {
                // A kind that only the input defines has no objects yet.
                Resolution::Known(resource) if resource.pending => {}
                Resolution::Known(resource) => {
                    self.searches.push(Search { resource: resource.clone(), scope: scope.clone() });
                }
                _ if !counts => continue,
                Resolution::Unavailable => {
                    let message =
                        format!("members of kind `{kind}` cannot be listed: the API service behind it does not answer");
                    self.errors.push(Diagnostic::general(message).with_hint("see `kubectl get apiservices`"));
                    self.unseen.push((kind.clone(), None));
                }
                Resolution::Unknown => {
                    self.unknown.push(kind);
                    continue;
                }
            }
            if counts {
                self.listed.kinds.insert(kind);
            }
        }
        // A kind that moved to another group has the same objects under both: they are known by the new one.
        let moved = self.mentioned.kinds.iter().filter(|kind| self.has_moved(kind));
        let resources = moved.filter_map(|kind| match catalog.resolve_kind(kind) {
            Resolution::Known(resource) if !resource.pending => Some(resource.clone()),
            _ => None,
        });
        let searches = resources.map(|resource| Search { resource, scope: scope.clone() });
        self.searches.extend(searches.collect::<Vec<_>>());
    }

    /// Returns true if the parent lists a kind of the manifests under another group.
    fn has_moved(&self, kind: &GroupKind) -> bool {
        !self.listed.kinds.contains(kind)
            && self.mentioned.kinds.contains(kind)
            && self.listed.kinds.iter().any(|listed| listed.kind == kind.kind)
    }

    /// Searches all kinds, in these namespaces where they may not be listed as a whole.
    fn crawl(&mut self, catalog: &Discovery, likely: BTreeSet<String>) {
        let scope = Scope::Everywhere(likely.into_iter().collect());
        let all = searchable(catalog);
        self.searches.retain(|search| !all.iter().any(|one| one.gvk == search.resource.gvk));
        self.searches.extend(all.into_iter().map(|resource| Search { resource, scope: scope.clone() }));
    }

    /// Lists the members.
    pub(super) async fn search(&mut self, cluster: &Cluster) {
        let selector = format!("{PART_OF}={}", self.set.id);
        let found = find(cluster, std::mem::take(&mut self.searches), &selector).await;
        self.unseen.extend(found.unsearched.iter().map(|one| (one.kind.clone(), one.namespace.clone())));
        self.errors.extend(found.unreadable.iter().map(unreadable));
        self.unreadable = found.unreadable.into_iter().map(|member| member.key).collect();
        let members = found.objects.into_iter().map(|(resource, object)| Member::new(&resource, object));
        self.found = members.map(|member| Member { sight: self.sight(&member), ..member }).collect();
        let is_listed = |one: &&Unsearched| self.is_listed(&one.kind, one.namespace.as_deref());
        let (listed, beyond): (Vec<&Unsearched>, Vec<&Unsearched>) = found.unsearched.iter().partition(is_listed);
        self.errors.extend(listed.into_iter().map(unsearched));
        self.warnings.extend(uncrawled(&beyond));
        self.look_for_definitions(cluster).await;
    }

    /// How the search came upon a member.
    fn sight(&self, member: &Member) -> Sight {
        let ObjectKey { gvk, namespace, .. } = &member.key;
        let kind = GroupKind::from(gvk);
        if self.is_listed(&kind, namespace.as_deref()) {
            return Sight::Listed;
        }
        let Some(standing) = &self.standing else {
            return Sight::Beyond("no parent of the apply set lists it".to_owned());
        };
        let is_named = namespace.as_ref().is_none_or(|name| standing.namespaces.contains(name))
            && match &standing.listed {
                Listed::Kinds(kinds) => kinds.contains(&kind),
                Listed::Resources(_) => true,
                Listed::Nothing => false,
            };
        Sight::Beyond(match standing.other_author().filter(|_| is_named) {
            Some(author) => format!("{author} changed what the apply set's parent lists"),
            None => "the apply set's parent does not list it".to_owned(),
        })
    }

    /// Returns true if the parent lists a kind, in a namespace or at all.
    fn is_listed(&self, kind: &GroupKind, namespace: Option<&str>) -> bool {
        namespace.is_none_or(|name| self.listed.namespaces.contains(name))
            && (self.listed.kinds.contains(kind) || self.has_moved(kind))
    }

    /// A kind that is not served took its objects along only if its definition is gone, too.
    async fn look_for_definitions(&mut self, cluster: &Cluster) {
        if self.unknown.is_empty() {
            return;
        }
        let defined = defined_kinds(cluster).await;
        for kind in std::mem::take(&mut self.unknown) {
            let reason = match &defined {
                Ok(defined) if defined.contains(&kind) => {
                    "its CustomResourceDefinition serves no version of it".to_owned()
                }
                Ok(_) => {
                    self.warnings.push(format!(
                        "the apply set lists `{kind}`, which the server no longer knows: its objects are gone, too"
                    ));
                    continue;
                }
                Err(error) => format!("the server does not serve it, and the reason is unknown: {}", error.in_full()),
            };
            let problem = Diagnostic::general(format!("members of kind `{kind}` cannot be listed: {reason}"));
            self.errors.push(problem.with_hint(HELD));
            self.unseen.push((kind.clone(), None));
            self.listed.kinds.insert(kind);
        }
    }
}

/// What becomes of members that nobody can see.
const HELD: &str = "none of them is pruned, and the set still lists the kind";

/// The kind of a resource such as `deployments.apps`; one that the server does not know keeps its name.
fn kind_of(catalog: &Discovery, resource: &str) -> GroupKind {
    let named = GroupKind::parse(resource);
    let found = catalog.resources().find(|found| found.plural == named.kind && found.gvk.group == named.group);
    found.map_or(named, |found| GroupKind::from(&found.gvk))
}

fn unsearched(unsearched: &Unsearched) -> Diagnostic {
    let Unsearched { kind, namespace, trouble } = unsearched;
    let place = namespace.as_ref().map(|name| format!(" in namespace `{name}`")).unwrap_or_default();
    let message = format!("members of kind `{kind}`{place} cannot be listed: {}", trouble.message);
    let hint = trouble.hint.as_deref().unwrap_or(HELD);
    Diagnostic::general(message).with_hint(hint)
}

fn unreadable(Unreadable { key, cause }: &Unreadable) -> Diagnostic {
    let message = format!("{key}, a member of the apply set, cannot be read: {cause}");
    Diagnostic::general(message).with_hint("it is not pruned, and the set still lists it")
}

/// The search of all kinds may fail for lack of rights that nobody needs for the set itself.
fn uncrawled(unsearched: &[&Unsearched]) -> Option<String> {
    let kinds: BTreeSet<String> = unsearched.iter().map(|one| one.kind.to_string()).collect();
    let kinds = kinds.into_iter().collect::<Vec<_>>().join(", ");
    let reason = &unsearched.first()?.trouble.code;
    Some(format!("members that the apply set's parent does not list could not be looked for ({reason}) among {kinds}"))
}

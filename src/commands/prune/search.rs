//! Where the members of a set are looked for.

use std::collections::BTreeSet;

use super::Pruning;
use crate::cluster::Cluster;
use crate::desired::InputProblem;
use crate::live::apply_set::{Scope, Search, Unreadable, Unsearched, defined_kinds, find, searchable};
use crate::live::{Catalog, Resolution};
use crate::object::{GroupKind, PART_OF};
use crate::plan::apply_set::{Contents, Listed, Member};

impl Pruning {
    /// Plans the search: the kinds and namespaces that the parent lists; all kinds where it doesn't say; and everywhere where
    /// there is no parent, as one may have been deleted, which leaves its members their labels. `wanted` is where the manifests
    /// put objects.
    pub(super) fn plan_search(&mut self, catalog: &Catalog, wanted: Contents) {
        let Some(standing) = &self.standing else {
            return self.crawl(catalog, &Scope::Everywhere(wanted.namespaces.into_iter().collect()));
        };
        self.listed.namespaces.clone_from(&standing.namespaces);
        let scope = Scope::Namespaces(standing.namespaces.iter().cloned().collect());
        let kinds: BTreeSet<GroupKind> = match &standing.listed {
            Listed::Nothing => {
                let likely = wanted.namespaces.union(&standing.namespaces).cloned().collect();
                return self.crawl(catalog, &Scope::Everywhere(likely));
            }
            Listed::Kinds(kinds) => kinds.clone(),
            Listed::Resources(resources) => resources.iter().map(|resource| kind_of(catalog, resource)).collect(),
        };
        for kind in kinds {
            match catalog.resolve_kind(&kind) {
                // A kind that only the input defines has no objects yet.
                Resolution::Known(resource) if resource.pending => {}
                Resolution::Known(resource) => {
                    self.searches.push(Search { resource: resource.clone(), scope: scope.clone() });
                }
                Resolution::Unavailable => {
                    let message =
                        format!("members of kind `{kind}` can't be listed: the API service behind it does not answer");
                    self.errors.push(InputProblem::general(message).with_hint("see `kubectl get apiservices`"));
                    self.unseen.push((kind.clone(), None));
                }
                Resolution::Unknown => {
                    self.unknown.push(kind);
                    continue;
                }
            }
            self.listed.kinds.insert(kind);
        }
        // A kind that moved to another group has the same objects under both: they are known by the new one.
        for moved in wanted.kinds.iter().filter(|kind| !self.listed.kinds.contains(kind)) {
            let has_moved = self.listed.kinds.iter().any(|listed| listed.kind == moved.kind);
            if let (true, Resolution::Known(resource)) = (has_moved, catalog.resolve_kind(moved))
                && !resource.pending
            {
                self.searches.push(Search { resource: resource.clone(), scope: scope.clone() });
            }
        }
    }

    /// Searches all kinds.
    fn crawl(&mut self, catalog: &Catalog, scope: &Scope) {
        self.is_crawl = true;
        let all = searchable(catalog).into_iter();
        self.searches = all.map(|resource| Search { resource, scope: scope.clone() }).collect();
    }

    /// Lists the members.
    pub(super) async fn search(&mut self, cluster: &Cluster) {
        let selector = format!("{PART_OF}={}", self.set.id);
        let found = find(cluster, std::mem::take(&mut self.searches), &selector).await;
        self.unseen.extend(found.unsearched.iter().map(|one| (one.kind.clone(), one.namespace.clone())));
        self.errors.extend(found.unreadable.iter().map(unreadable));
        self.unreadable = found.unreadable.into_iter().map(|member| member.key).collect();
        self.found = found.objects.into_iter().map(|(resource, object)| Member::new(&resource, object)).collect();
        if self.is_crawl {
            self.warnings.extend(uncrawled(&found.unsearched));
        } else {
            self.errors.extend(found.unsearched.iter().map(unsearched));
        }
        self.look_for_definitions(cluster).await;
    }

    /// A kind that isn't served took its objects along only if its definition is gone, too.
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
                        "the apply set lists `{kind}`, which the server doesn't know any more: its objects went with it"
                    ));
                    continue;
                }
                Err(error) => format!("the server doesn't serve it, and why can't be told: {error}"),
            };
            let problem = InputProblem::general(format!("members of kind `{kind}` can't be listed: {reason}"));
            self.errors.push(problem.with_hint(HELD));
            self.unseen.push((kind.clone(), None));
            self.listed.kinds.insert(kind);
        }
    }
}

/// What becomes of members that nobody can see.
const HELD: &str = "none of them is pruned, and the set goes on listing the kind";

/// The kind of a resource such as `deployments.apps`; one that the server doesn't know keeps its name.
fn kind_of(catalog: &Catalog, resource: &str) -> GroupKind {
    let named = GroupKind::parse(resource);
    let found = catalog.resources().find(|found| found.plural == named.kind && found.gvk.group == named.group);
    found.map_or(named, |found| GroupKind::from(&found.gvk))
}

fn unsearched(unsearched: &Unsearched) -> InputProblem {
    let Unsearched { kind, namespace, trouble } = unsearched;
    let place = namespace.as_ref().map(|name| format!(" in namespace `{name}`")).unwrap_or_default();
    let message = format!("members of kind `{kind}`{place} can't be listed: {}", trouble.message);
    let hint = trouble.hint.as_deref().unwrap_or(HELD);
    InputProblem::general(message).with_hint(hint)
}

fn unreadable(Unreadable { key, cause }: &Unreadable) -> InputProblem {
    let message = format!("{key}, a member of the apply set, can't be read: {cause}");
    InputProblem::general(message).with_hint("it is not pruned, and the set goes on listing it")
}

/// The search of all kinds may fail for lack of rights that nobody needs for the set itself.
fn uncrawled(unsearched: &[Unsearched]) -> Option<String> {
    let kinds: BTreeSet<String> = unsearched.iter().map(|one| one.kind.to_string()).collect();
    let kinds = kinds.into_iter().collect::<Vec<_>>().join(", ");
    let reason = &unsearched.first()?.trouble.reason;
    Some(format!("members that an earlier parent may have left could not be looked for ({reason}) among {kinds}"))
}

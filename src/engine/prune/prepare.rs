//! From what was asked for to the parent as it is.

use std::collections::BTreeSet;

use structured_merge::ObjectKey;

use super::Pruning;
use crate::client::Cluster;
use crate::desired::DesiredSet;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::apply_set::is_parent_type;
use crate::live::fetch::find;
use crate::live::resolve::Namespaces;
use crate::live::{Discovery, LiveState, Resource};
use crate::object::GroupKind;
use crate::plan::apply_set::{ApplySet, IS_PARENT_TYPE, Inventory, ParentState, Reference, Refusal, refuse_labelled};
use crate::report::{Failure, Verdict};

/// What is asked for.
pub(crate) struct Requested {
    /// The set, by its parent.
    pub reference: Reference,
    /// Whether members that the parent does not list are pruned, too.
    pub recovers: bool,
}

impl Pruning {
    /// Finds the parent, makes sure that the set is ours to change and that no manifest names another. A parent whose kind
    /// has namespaces lives where manifests without a namespace do.
    pub(super) async fn prepare(
        Requested { reference, recovers }: &Requested,
        adopt: &BTreeSet<String>,
        (cluster, catalog, namespaces): (&Cluster, &Discovery, &Namespaces),
        desired: &DesiredSet,
    ) -> Result<Self, Failure> {
        let served = catalog.resources().filter(|resource| !resource.pending);
        let resource = reference.pick(served).map_err(|message| {
            let hint = "a parent is a Secret, a ConfigMap, or a custom resource of a kind that allows it";
            Failure::refused(format!("`--applyset`: {message}"), hint)
        })?;
        let namespace = resource.namespaced.then(|| namespaces.default.clone());
        let set = ApplySet::of(ObjectKey { gvk: resource.gvk.clone(), namespace, name: reference.name.clone() });
        let standing = standing(cluster, &set, resource, adopt).await?;
        refuse_labelled(&desired.manifests, &set, &namespaces.default)?;
        let mut pruning = Self::new(set, resource.clone(), adopt.clone(), standing);
        pruning.recovers = *recovers;
        let manifests = || desired.manifests.iter();
        let places = manifests().filter_map(|manifest| manifest.namespace().map(ToOwned::to_owned));
        pruning.mentioned = Inventory {
            kinds: manifests().map(|manifest| GroupKind::from(manifest.gvk())).collect(),
            namespaces: places.chain([namespaces.default.clone()]).collect(),
        };
        pruning.plan_search(catalog);
        Ok(pruning)
    }
}

/// The parent as it is; none where it can be created.
async fn standing(
    cluster: &Cluster,
    set: &ApplySet,
    resource: &Resource,
    adopt: &BTreeSet<String>,
) -> Result<Option<ParentState>, Failure> {
    let parent = &set.parent;
    let gvk = &parent.gvk;
    let can_be_created = gvk.group.is_empty() && ["Secret", "ConfigMap"].contains(&gvk.kind.as_str());
    if !can_be_created {
        match is_parent_type(cluster, resource, IS_PARENT_TYPE).await {
            Ok(true) => {}
            Ok(false) => {
                let hint = format!(
                    "use a Secret or a ConfigMap, or label the kind's CustomResourceDefinition `{IS_PARENT_TYPE}=true`"
                );
                return Err(Failure::refused(
                    format!("`{}` cannot be the kind of an apply set's parent", gvk.kind),
                    hint,
                ));
            }
            Err(error) => return Err(unreadable(set, &Diagnostic::about(gvk, &error))),
        }
    }
    match find(cluster, resource, parent).await {
        LiveState::Present(live) => {
            let standing = ParentState::of(set, &live, adopt);
            standing.map(Some).map_err(|Refusal { message, hint }| Failure::refused(message, hint))
        }
        LiveState::Absent if can_be_created => Ok(None),
        LiveState::Absent => {
            let hint = "a custom resource has to exist before it can be a parent";
            Err(Failure::refused(format!("{parent}, the parent of the apply set, does not exist"), hint))
        }
        LiveState::Unreadable(trouble) => Err(unreadable(set, &trouble)),
    }
}

/// Without its parent nothing is known of a set: nothing is compared. An interrupted run says that it was interrupted.
fn unreadable(set: &ApplySet, trouble: &Diagnostic) -> Failure {
    let message = format!("{}, the parent of the apply set, cannot be read: {}", set.parent, trouble.message);
    let problem = Diagnostic { hint: trouble.hint.clone(), ..Diagnostic::general(message) };
    let verdict = if trouble.code == Code::Interrupted { Verdict::Interrupted } else { Verdict::Incomplete };
    Failure { verdict, problems: vec![problem] }
}

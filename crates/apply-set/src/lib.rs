//! Apply sets, as kubectl defines them (KEP-3659): the parent object, its annotations, the members, and the decisions
//! about pruning.
//!
//! Pure: it takes live objects as JSON values, and returns decisions. The caller lists, deletes and writes objects.
//!
//! ```
//! use std::collections::BTreeSet;
//!
//! use apply_set::{
//!     ApplySet, DesiredMembers, Member, PART_OF, ParentAnnotations, ParentState, PruneDecision, PruneRules, Tooling,
//! };
//! use serde_json::json;
//! use structured_merge::{GroupVersionKind, ObjectKey};
//!
//! let config_map = |name: &str| ObjectKey {
//!     gvk: GroupVersionKind::new("v1", "ConfigMap"), namespace: Some("shop".to_owned()), name: name.to_owned(),
//! };
//! let gvk = GroupVersionKind::new("v1", "Secret");
//! let set = ApplySet::of(ObjectKey { gvk, namespace: Some("shop".to_owned()), name: "web".to_owned() });
//!
//! // The parent says which kinds to list, by the label that all members have.
//! let own = Tooling::new("deployer/v1.0.0");
//! let parent = json!({"metadata": {
//!     "labels": {"applyset.kubernetes.io/id": set.id},
//!     "annotations": {
//!         "applyset.kubernetes.io/tooling": "deployer/v0.9.0",
//!         "applyset.kubernetes.io/contains-group-kinds": "ConfigMap,Deployment.apps",
//!     },
//! }});
//! let state = ParentState::of(&set, &parent, &own, &BTreeSet::new())?;
//! assert!(state.names(&config_map("old")));
//!
//! // A member was found that no manifest names; `deployer` set its label.
//! let found = json!({"metadata": {
//!     "name": "old", "namespace": "shop", "uid": "1-2-3", "resourceVersion": "42", "labels": {PART_OF: set.id},
//!     "managedFields": [{
//!         "manager": "deployer", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
//!         "fieldsV1": {"f:metadata": {"f:labels": {"f:applyset.kubernetes.io/part-of": {}}}},
//!     }],
//! }});
//! let members = [Member::new(GroupVersionKind::new("v1", "ConfigMap"), found)];
//!
//! let trust = Box::new(|entry: &structured_merge::ManagedFieldsEntry| entry.manager == "deployer");
//! let rules = PruneRules { trust, keep: |_| None, recover: false, unseen: Vec::new() };
//! let mut desired = DesiredMembers::new(&set, rules);
//! desired.add(&config_map("new"), true);
//! let [PruneDecision::Prune(prunable)] = &desired.decide_all(&members)[..] else { panic!("it is pruned") };
//! assert_eq!((prunable.uid(), prunable.resource_version()), ("1-2-3", "42")); // the preconditions of the DELETE
//!
//! // Afterwards, the parent lists the remaining members. It is written as `deployer-applyset`, by server-side apply.
//! let annotations = ParentAnnotations::of(&set, &state.tooling, desired.inventory());
//! assert!(!state.has(&annotations));
//! assert_eq!(annotations.manager(), "deployer-applyset");
//! assert_eq!(annotations.to_map()["applyset.kubernetes.io/contains-group-kinds"], "ConfigMap");
//! # Ok::<(), apply_set::ParentError>(())
//! ```
//!
//! # The order of a pass
//!
//! ```text
//! ApplySet ─(read the parent)─▶ ParentState ─(list its kinds)─▶ Member… ─DesiredMembers─▶ PruneDecision of each
//!              ▲                                                               │
//!              └────────────────────── ParentAnnotations ◀── Inventory ◀───────┘  a superset before the pass, exact after it
//! ```
//!
//! The parent is written twice: before anything else, with the kinds and namespaces of all old and new members, so that
//! none is lost if the pass fails; and at the end, with those of the remaining members.
//!
//! # Stricter than kubectl
//!
//! Anybody who may write to the objects can set the label and the annotations, so neither is trusted by itself:
//!
//! * An object is a member only if a manager that the caller trusts owns the label ([`PruneRules::trust`]).
//! * If another manager than the tool wrote a list, only kinds and namespaces that the manifests name as well are used
//!   ([`ParentState::inventory`]).
//! * A Namespace or a CustomResourceDefinition stays as long as an object that stays, or that could not be listed,
//!   would be deleted with it. An object that another one owns stays as well.
//! * An existing object does not become a parent: it must already have the label and the annotation of one.

// What others wrote is read here: a wrong index or sum must not end the program.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
#![cfg_attr(test, allow(clippy::unreachable, clippy::string_slice))]

mod decision;
mod desired;
mod id;
mod member;
mod parent;

pub use decision::{Prunable, PruneDecision, Reason, Trust};
pub use desired::{DesiredMembers, PruneRules};
pub use id::{ApplySet, PART_OF, ParentReference, label_path, part_of};
pub use member::{Inventory, Member, Unlisted};
pub use parent::{
    ID, ListedKinds, Missing, ParentAnnotations, ParentError, ParentErrorCause, ParentState, TOOLING, Tooling,
};

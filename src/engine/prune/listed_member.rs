//! A member of an apply set that the server listed.

use std::borrow::Borrow;

use apply_set::{GroupKind, Member, Unlisted};
use serde_json::Value;
use structured_merge::ObjectKey;

use super::coverage::Coverage;
use super::parent::Parent;
use reconcile_core::live::Resource;

/// A member that the server listed, and the resource that serves it.
#[derive(Clone, Debug)]
pub(super) struct ListedMember {
    pub member: Member,
    pub resource: Resource,
}

impl Borrow<Member> for ListedMember {
    fn borrow(&self) -> &Member {
        &self.member
    }
}

impl ListedMember {
    pub(super) fn new(resource: Resource, object: Value, parent: &Parent, coverage: &Coverage) -> Self {
        let mut member = Member::new(resource.gvk.clone(), object);
        member.unlisted = why_unlisted(&member.key, parent, coverage);
        Self { member, resource }
    }
}

/// The reason why the parent does not list a member; `None` if it lists it.
fn why_unlisted(key: &ObjectKey, parent: &Parent, coverage: &Coverage) -> Option<Unlisted> {
    if coverage.is_listed(&GroupKind::from(&key.gvk), key.namespace.as_deref()) {
        return None;
    }
    let Some(state) = &parent.state else { return Some(Unlisted::NoParent) };
    Some(match state.other_author().filter(|_| state.names(key)) {
        Some(author) => Unlisted::ChangedBy(author.to_owned()),
        None => Unlisted::NotNamed,
    })
}

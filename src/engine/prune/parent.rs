//! The parent of the set: reads and writes it.

use std::collections::BTreeSet;

use apply_set::{
    ApplySet, ID, Inventory, ParentAnnotations, ParentError, ParentErrorCause, ParentState, TOOLING, Tooling,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use super::ApplySetError;
use super::definitions::{IS_PARENT_TYPE, is_parent_type};
use crate::client::{Cluster, Retry, Warnings, WriteRequest};
use crate::live::answer::Asked;
use crate::live::fetch::find;
use reconcile_core::compare::missing_namespace;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::discreet::shown_warning;
use reconcile_core::live::{LiveState, Resource};
use reconcile_core::request::StatusError;
use reconcile_core::text::is_word;

/// The change that makes the parent list the kinds and namespaces of the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParentChange {
    /// Nothing.
    None,
    /// It has to be created.
    Create,
    /// Its list has to be changed.
    Update,
}

/// The parent of the set of this run.
pub(super) struct Parent {
    pub set: ApplySet,
    resource: Resource,
    adopt: BTreeSet<String>,
    /// The parent as it was read last; `None` if it does not exist yet.
    pub state: Option<ParentState>,
    /// The server's warnings about its writes.
    warnings: Vec<String>,
    /// A warning about its namespace.
    pub remark: Option<String>,
}

impl Parent {
    /// The parent of a set, before it is read.
    pub fn unread(set: ApplySet, resource: &Resource, adopt: &BTreeSet<String>) -> Self {
        let resource = resource.clone();
        Self { set, resource, adopt: adopt.clone(), state: None, remark: None, warnings: Vec::new() }
    }

    /// The change that makes it list these members.
    pub fn change(&self, members: &Inventory) -> ParentChange {
        match &self.state {
            // A set without members needs no parent.
            None if members.kinds.is_empty() => ParentChange::None,
            None => ParentChange::Create,
            Some(state) if state.has(&self.annotations(members)) => ParentChange::None,
            Some(_) => ParentChange::Update,
        }
    }

    fn annotations(&self, members: &Inventory) -> ParentAnnotations {
        let tooling = self.state.as_ref().map_or_else(own_tooling, |state| state.tooling.clone());
        ParentAnnotations::of(&self.set, &tooling, members)
    }

    /// Writes the kinds and namespaces of the members, unless the parent lists the same.
    pub async fn write(&mut self, cluster: &Cluster, members: &Inventory) -> Recorded {
        if self.change(members) == ParentChange::None {
            return Recorded::Written;
        }
        let annotations = self.annotations(members);
        let warnings = Warnings::default();
        let recorded = record(cluster, self, &annotations, &warnings).await;
        let parent = &self.set.parent;
        let live = recorded.as_ref().ok();
        // Without the object, nothing tells what the text may quote.
        let shown = |text| shown_warning(&parent.gvk, live.as_slice(), live.is_none(), text);
        let said = warnings.take().into_iter();
        self.warnings.extend(said.map(|text| format!("{parent}, the parent of the apply set: {}", shown(text))));
        match recorded {
            Ok(parent) => match ParentState::of(&self.set, &parent, &own_tooling(), &self.adopt) {
                Ok(state) => {
                    self.state = Some(state);
                    Recorded::Written
                }
                Err(error) => Recorded::Failed(unusable(&error, &self.set, Code::Conflict)),
            },
            Err(reason) => reason,
        }
    }

    /// The server's warnings about the writes so far, each once.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Reads it again, after somebody else changed it.
    pub async fn read_again(&mut self, cluster: &Cluster) -> Result<(), Diagnostic> {
        let read = read(cluster, &self.set, &self.resource, &self.adopt).await?;
        self.state = read.transpose().map_err(|error| unusable(&error, &self.set, Code::Conflict))?;
        Ok(())
    }
}

/// Reads the parent; `None` if it does not exist.
async fn read(
    cluster: &Cluster,
    set: &ApplySet,
    resource: &Resource,
    adopt: &BTreeSet<String>,
) -> Result<Option<Result<ParentState, ParentError>>, Diagnostic> {
    match find(cluster, resource, &set.parent).await {
        LiveState::Absent => Ok(None),
        LiveState::Unreadable(diagnostic) => Err(diagnostic),
        LiveState::Present(live) => Ok(Some(ParentState::of(set, &live, &own_tooling(), adopt))),
    }
}

/// Reads the parent; `None` if it does not exist and can be created.
pub(super) async fn state(
    cluster: &Cluster,
    set: &ApplySet,
    resource: &Resource,
    adopt: &BTreeSet<String>,
) -> Result<Option<ParentState>, ApplySetError> {
    let parent = &set.parent;
    let gvk = &parent.gvk;
    let can_be_created = gvk.group.is_empty() && ["Secret", "ConfigMap"].contains(&gvk.kind.as_str());
    if !can_be_created {
        match is_parent_type(cluster, resource).await {
            Ok(true) => {}
            Ok(false) => {
                let hint = format!(
                    "use a Secret or a ConfigMap, or label the kind's CustomResourceDefinition `{IS_PARENT_TYPE}=true`"
                );
                return Err(ApplySetError::refused(
                    format!("`{}` cannot be the kind of an apply set's parent", gvk.kind),
                    hint,
                ));
            }
            Err(error) => return Err(unreadable(set, &Diagnostic::about(gvk, &error))),
        }
    }
    match read(cluster, set, resource, adopt).await {
        Ok(Some(Ok(state))) => Ok(Some(state)),
        Ok(Some(Err(error))) => Err(ApplySetError::Refused(vec![unusable(&error, set, Code::Invalid)])),
        Ok(None) if can_be_created => Ok(None),
        Ok(None) => {
            let hint = "a custom resource has to exist before it can be a parent";
            Err(ApplySetError::refused(format!("{parent}, the parent of the apply set, does not exist"), hint))
        }
        Err(diagnostic) => Err(unreadable(set, &diagnostic)),
    }
}

/// Reads a parent that may exist; `None` if there is none, or if the user may not see it.
pub(super) async fn existing(cluster: &Cluster, parent: Parent) -> Result<Option<Parent>, ApplySetError> {
    let Parent { set, resource, adopt, .. } = &parent;
    match read(cluster, set, resource, adopt).await {
        Ok(Some(Err(ParentError { cause: ParentErrorCause::NotAParent(_), .. })) | None) => Ok(None),
        Ok(Some(Err(error))) => Err(ApplySetError::Refused(vec![unusable(&error, set, Code::Invalid)])),
        Ok(Some(Ok(state))) => Ok(Some(Parent { state: Some(state), ..parent })),
        Err(diagnostic) if diagnostic.code == Code::Forbidden => Ok(None),
        Err(diagnostic) => Err(unreadable(set, &diagnostic)),
    }
}

fn unreadable(set: &ApplySet, Diagnostic { code, message, hint, .. }: &Diagnostic) -> ApplySetError {
    let message = format!("{}, the parent of the apply set, cannot be read: {message}", set.parent);
    ApplySetError::Unreadable(Diagnostic { hint: hint.clone(), ..Diagnostic::new(*code, message) })
}

/// The name of this program in the sets that it manages.
fn own_tooling() -> Tooling {
    Tooling::new(concat!("kubectl-reconcile/v", env!("CARGO_PKG_VERSION")))
}

/// Returns true if this program manages the set.
pub(crate) fn is_own_tooling(tooling: &Tooling) -> bool {
    tooling.name() == own_tooling().name()
}

/// An error for a parent that cannot be used, with a hint.
fn unusable(error: &ParentError, set: &ApplySet, code: Code) -> Diagnostic {
    let id = &set.id;
    let hint = match &error.cause {
        ParentErrorCause::Terminating => "run again when it is gone".to_owned(),
        ParentErrorCause::WrongId(_) => format!("it has to be `{id}`, so correct or remove the label"),
        ParentErrorCause::NotAParent(_) => format!(
            "choose another name, or, if it is to be the parent, give it the label `{ID}: {id}` and the annotation \
             `{TOOLING}: {}`",
            own_tooling()
        ),
        // What others wrote is no part of a command that somebody may run.
        ParentErrorCause::OtherTool(tool) if !is_word(tool) => {
            "choose another parent, or correct its annotation, which is not the name of a tool".to_owned()
        }
        ParentErrorCause::OtherTool(tool) => {
            format!(
                "continue it with `--adopt={tool}` in every run, beside which the other tool can go on, or choose another parent"
            )
        }
        ParentErrorCause::NotANamespace(_) => "correct the annotation, a list separated by commas".to_owned(),
    };
    Diagnostic::new(code, error.to_string()).with_hint(hint)
}

/// A resource version that no object has, because etcd starts to count after it. An existing object refuses it with a conflict. If there is no
/// object, the server ignores it.
const NO_VERSION: &str = "1";

/// The result of a write of the parent.
#[derive(Clone, Debug)]
pub(super) enum Recorded {
    /// The parent lists them: it was written, unless it did before.
    Written,
    /// Somebody else changed the parent since it was read.
    Moved,
    /// It could not be written.
    Failed(Diagnostic),
}

/// Writes the annotations of the parent, which is created if it does not exist, and returns it. The apply is forced, because the annotations
/// belong to the set, no matter who owns them; the version that was read is the lock.
async fn record(
    cluster: &Cluster,
    Parent { set: ApplySet { parent, id }, resource, state, .. }: &Parent,
    annotations: &ParentAnnotations,
    warnings: &Warnings,
) -> Result<Value, Recorded> {
    let state = state.as_ref();
    let metadata = ObjectMeta {
        name: Some(parent.name.clone()),
        namespace: parent.namespace.clone(),
        labels: Some([(ID.to_owned(), id.clone())].into()),
        annotations: Some(annotations.to_map()),
        uid: state.map(|state| state.uid.clone()),
        // An object that somebody creates in the meantime does not become a parent.
        resource_version: Some(state.map_or_else(|| NO_VERSION.to_owned(), |state| state.resource_version.clone())),
        ..ObjectMeta::default()
    };
    let body = json!({"apiVersion": parent.gvk.api_version(), "kind": parent.gvk.kind, "metadata": metadata});
    // A write that was begun is finished, even if the run is interrupted.
    let cluster = &cluster.until_done();
    let path = resource.object_path(parent.namespace.as_deref(), &parent.name);
    let change = WriteRequest::apply(path, &annotations.manager(), true, &body);
    let answer = cluster.change(change.write(Retry::Safe), warnings).await;
    let answer = answer.and_then(|reply| Asked::key(parent).sent(&body).read(cluster, reply.body()));
    answer.map_err(|error| {
        if error.is_conflict() {
            return Recorded::Moved;
        }
        let is_missing = error.status().is_some_and(StatusError::is_without_namespace);
        let namespace = parent.namespace.as_deref().filter(|_| is_missing);
        Recorded::Failed(namespace.map_or_else(|| Diagnostic::about(&parent.gvk, &error), missing_namespace))
    })
}

#[cfg(test)]
mod tests {
    use apply_set::Missing;
    use structured_merge::{GroupVersionKind, ObjectKey};

    use super::*;

    #[test]
    fn hints_name_what_to_type() {
        let gvk = GroupVersionKind::new("v1", "Secret");
        let set = ApplySet::of(ObjectKey { gvk, namespace: Some("shop".into()), name: "web".into() });
        let hint = |cause| {
            let error = ParentError { parent: Box::new(set.parent.clone()), cause };
            unusable(&error, &set, Code::Conflict).hint.unwrap_or_default()
        };
        assert!(hint(ParentErrorCause::OtherTool("kubectl".into())).contains("--adopt=kubectl"));
        for cause in [ParentErrorCause::NotAParent(Missing::Id), ParentErrorCause::WrongId("applyset-other-v1".into())]
        {
            assert!(hint(cause).contains(&set.id));
        }
    }
}

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use structured_merge::ObjectKey;

use crate::rare::is_zero;

/// The kind of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EffectKind {
    /// Pods are replaced one after the other; none are if the workload does not roll out by itself.
    Rollout,
    /// All Pods stop before new ones start.
    Recreate,
    /// Pods stop or start, because the number of replicas changes.
    Scale,
    /// Pods are deleted with their workload, which may be created again.
    Delete,
    /// Running Pods keep the old value of a ConfigMap or a Secret.
    Stale,
    /// Running Pods see the new value of a ConfigMap or a Secret in a volume.
    Refresh,
    /// A Service no longer selects any Pods of the input.
    Unselected,
}

/// Most objects that are named where the number of effects and that of their objects could grow together.
pub(crate) const MOST_NAMED: usize = 20;

/// An effect of the apply of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Effect {
    /// The kind of the effect.
    pub kind: EffectKind,
    /// The number of Pods that stop, restart or start; absent if it is not known, or if the effect is not about a number of Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<u64>,
    /// The other objects that take part: the workloads that use a value, the Service that loses its Pods, or the workloads that it
    /// selected, of which at most 20 are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// The number of the others that take part, if not all of them are named; absent if they are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
    /// The effect in words.
    pub message: String,
}

impl Effect {
    /// An effect without other objects.
    pub(crate) fn new(kind: EffectKind, pods: Option<u64>, message: impl Into<String>) -> Self {
        Self { kind, pods, by: Vec::new(), more: 0, message: message.into() }
    }

    /// Leaves the number of Pods out, which is a value of an encrypted object.
    pub(crate) fn without_number(self) -> Self {
        let message = match self.kind {
            EffectKind::Delete if self.pods == Some(0) => {
                return Self { message: "its finished Pods go".to_owned(), ..self };
            }
            _ if self.pods.is_none_or(|pods| pods == 0) => return self,
            EffectKind::Rollout => "restarts its Pods",
            EffectKind::Recreate => "restarts its Pods: all stop first",
            EffectKind::Scale => "the number of its Pods changes",
            EffectKind::Delete => "its Pods are deleted",
            EffectKind::Stale | EffectKind::Refresh | EffectKind::Unselected => return self,
        };
        Self { pods: None, message: message.to_owned(), ..self }
    }

    /// Names the first of the other objects that take part, and counts the others.
    pub(crate) fn by_first<'k>(self, objects: impl IntoIterator<Item = &'k ObjectKey>) -> Self {
        let mut objects = objects.into_iter();
        let by = objects.by_ref().take(MOST_NAMED).map(ToString::to_string).collect();
        Self { by, more: objects.count(), ..self }
    }

    /// Names the other objects that take part.
    pub(crate) fn by(self, objects: impl IntoIterator<Item = String>) -> Self {
        Self { by: objects.into_iter().collect(), ..self }
    }

    /// Returns true if running Pods end: they restart, or are deleted.
    pub fn is_restart(&self) -> bool {
        let ends = matches!(self.kind, EffectKind::Rollout | EffectKind::Recreate | EffectKind::Delete);
        ends && self.pods != Some(0)
    }
}

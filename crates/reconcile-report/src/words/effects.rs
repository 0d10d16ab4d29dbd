//! The effects of an apply beyond the fields that it writes, in words.

use std::collections::BTreeMap;

use reconcile_core::compare::{Action, Effect};

use super::value::number::{counted, first_and_others, first_of, grouped, some};
use crate::model::{Command, ObjectReport, Report};

/// Most objects that take part in an effect and are named.
const NAMED: usize = 3;

/// `2 Deployments keep the old value until they restart: Deployment shop/api, Deployment shop/web`
pub(crate) fn effect(effect: &Effect) -> String {
    let Effect { by, more, message, .. } = effect;
    let is_named = by.iter().all(|name| message.contains(name.as_str()));
    if is_named {
        return message.clone();
    }
    format!("{message}: {}", first_and_others(by.iter().cloned(), NAMED, *more).join(", "))
}

/// The effects of several objects with equal changes: `restarts 90 Pods of 30 workloads`, and the others in their own words, with the
/// objects that have them unless all do.
pub(crate) fn of_group(objects: &[&ObjectReport]) -> Vec<String> {
    if let [object] = objects {
        return object.diff.effects.iter().map(effect).collect();
    }
    let mut lines: Vec<String> = Ended::of(objects.iter().copied()).sentence("restarts").into_iter().collect();
    let mut others: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for object in objects {
        for other in object.diff.effects.iter().filter(|effect| !effect.is_restart()) {
            others.entry(effect(other)).or_default().push(object.key.to_string());
        }
    }
    lines.extend(others.into_iter().map(|(words, names)| match names.len() {
        all if all == objects.len() => format!("{words} (each of {})", grouped(all)),
        _ => format!("{words} ({})", first_of(names, NAMED).join(", ")),
    }));
    lines
}

/// The last lines of a report about restarts: `an apply restarts 14 Pods of 3 workloads`. `None` if there are none.
pub(crate) fn summary(report: &Report) -> Option<String> {
    if report.command == Command::Apply && report.objects.iter().any(|object| object.run.outcome.is_some()) {
        let done = report.objects.iter().filter(|object| object.is_changed());
        return Ended::of(done).sentence("this apply restarts");
    }
    Ended::of(report.objects.iter()).sentence("an apply restarts")
}

/// The Pods that end, and their workloads.
#[derive(Default)]
struct Ended {
    restarted: Counts,
    deleted: Counts,
}

#[derive(Default)]
struct Counts {
    pods: u64,
    workloads: usize,
    /// True if the Pods of a workload are not known.
    is_open: bool,
}

impl Counts {
    fn add(&mut self, effect: &Effect) {
        self.pods = self.pods.saturating_add(effect.pods.unwrap_or(0));
        self.workloads = self.workloads.saturating_add(1);
        self.is_open |= effect.pods.is_none();
    }

    /// `14 Pods of 3 workloads`; `None` if there are none.
    fn words(&self) -> Option<String> {
        let workloads = some(self.workloads, "workload", "workloads")?;
        let pods = counted(usize::try_from(self.pods).unwrap_or(usize::MAX), "Pod", "Pods");
        Some(format!("{} of {workloads}", if self.is_open { "the Pods" } else { &pods }))
    }
}

impl Ended {
    fn of<'r>(objects: impl Iterator<Item = &'r ObjectReport>) -> Self {
        let mut ended = Self::default();
        for object in objects {
            let counts = if object.diff.action == Action::Delete { &mut ended.deleted } else { &mut ended.restarted };
            object.diff.effects.iter().filter(|effect| effect.is_restart()).for_each(|effect| counts.add(effect));
        }
        ended
    }

    fn sentence(&self, restarts: &str) -> Option<String> {
        let deletes = |pods: &str| format!("{} {pods}", restarts.replace("restarts", "deletes"));
        match (self.restarted.words(), self.deleted.words()) {
            (None, None) => None,
            (Some(pods), None) => Some(format!("{restarts} {pods}")),
            (None, Some(pods)) => Some(deletes(&pods)),
            (Some(pods), Some(others)) => Some(format!("{restarts} {pods} and deletes {others}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use reconcile_core::compare::EffectKind;

    use super::*;

    #[test]
    fn objects_that_are_not_named_are_counted() {
        let shown = |names: &[&str], more: usize| {
            let by = names.iter().map(|name| (*name).to_owned()).collect();
            effect(&Effect {
                kind: EffectKind::Unselected,
                pods: None,
                by,
                more,
                message: "it selects nothing".to_owned(),
            })
        };
        assert_eq!(shown(&["a"], 0), "it selects nothing: a");
        assert_eq!(shown(&["a", "b", "c"], 0), "it selects nothing: a, b, c");
        assert_eq!(shown(&["a", "b", "c", "d"], 1980), "it selects nothing: a, b, c, 1,981 more");
        assert_eq!(shown(&["a", "b", "c"], 5), "it selects nothing: a, b, c, 5 more");
        assert_eq!(shown(&[], 7), "it selects nothing");
    }
}

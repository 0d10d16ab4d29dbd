//! The Services that lose their Pods.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value};

use super::compared::{Compared, Kind};
use crate::compare::{Action, Effect, EffectKind, MOST_NAMED};
use crate::text::grouped;

/// A label of a Pod template: its namespace, its name and its value.
type Label<'a> = (&'a str, &'a str, &'a str);
/// The positions of Pod templates, by label.
type Templates<'a> = BTreeMap<Label<'a>, Vec<usize>>;

/// Services with equal selectors: their namespace, and the selectors before and after the apply.
struct Selection<'a> {
    namespace: &'a str,
    former: &'a Map<String, Value>,
    wanted: &'a Map<String, Value>,
    /// The positions of the Services.
    services: Vec<usize>,
}

/// The Services that no longer select the Pods of a workload.
#[derive(Default)]
struct Stranded {
    /// The positions of the first ones.
    first: Vec<usize>,
    count: usize,
}

impl Stranded {
    fn add(&mut self, services: &[usize]) {
        self.count = self.count.saturating_add(services.len());
        self.first.extend(services.iter().take(MOST_NAMED));
        self.first.sort_unstable();
        self.first.truncate(MOST_NAMED);
    }

    /// The effects on the Services: one for each of the first, and one for all others.
    fn effects(&self, objects: &[Compared<'_>]) -> Vec<Effect> {
        let of_one = |service: &Compared<'_>| {
            let message = format!("{} no longer selects its Pods, nor any others of the manifests", service.key);
            Effect::new(EffectKind::Unselected, None, message).by([service.key.to_string()])
        };
        let services = self.first.iter().filter_map(|at| objects.get(*at));
        let mut effects: Vec<Effect> = services.map(of_one).collect();
        let more = self.count.saturating_sub(self.first.len());
        let beginning = match more {
            0 => return effects,
            1 => "1 more Service no longer selects".to_owned(),
            _ => format!("{} more Services no longer select", grouped(more)),
        };
        let message = format!("{beginning} its Pods, nor any others of the manifests");
        effects.push(Effect { more, ..Effect::new(EffectKind::Unselected, None, message) });
        effects
    }
}

/// The effects on the selection of Services, each with the position of the object that causes it.
pub(super) fn stranded_services(objects: &[Compared<'_>]) -> Vec<(usize, Effect)> {
    if !objects.iter().any(may_strand) {
        return Vec::new();
    }
    let before = templates(objects, Compared::template_before);
    let after = templates(objects, Compared::template_after);
    let mut found = Vec::new();
    let mut stranded: BTreeMap<usize, Stranded> = BTreeMap::new();
    for Selection { namespace, former, wanted, services } in selections(objects) {
        let matched = matching(&before, objects, (namespace, former), Compared::template_before);
        let selects_job = |at: &usize| objects.get(*at).is_some_and(|object| selects_pods_of_job(wanted, object));
        if matched.is_empty()
            || matched.iter().any(selects_job)
            || !matching(&after, objects, (namespace, wanted), Compared::template_after).is_empty()
        {
            continue;
        }
        if former != wanted {
            let selected = matched.iter().filter_map(|at| Some(objects.get(*at)?.key));
            let message = "its selector matches no Pod template of the manifests any more";
            let effect = Effect::new(EffectKind::Unselected, None, message).by_first(selected);
            found.extend(services.iter().map(|at| (*at, effect.clone())));
            continue;
        }
        for at in matched {
            stranded.entry(at).or_default().add(&services);
        }
    }
    let of_workload = |(at, services): (usize, Stranded)| {
        services.effects(objects).into_iter().map(move |effect| (at, effect)).collect::<Vec<_>>()
    };
    found.extend(stranded.into_iter().flat_map(of_workload));
    found
}

/// The Services that select by labels before and after the apply. Those with equal selectors are looked at once.
fn selections<'a>(objects: &[Compared<'a>]) -> Vec<Selection<'a>> {
    let mut selections: Vec<Selection<'a>> = Vec::new();
    let mut known: HashMap<(&str, String, String), usize> = HashMap::new();
    for (at, service) in objects.iter().enumerate().filter(|(_, object)| object.kind() == Kind::Service) {
        let namespace = service.namespace();
        let Some(former) = service.before.and_then(selector) else { continue };
        let Some(wanted) = selector(service.after) else { continue };
        let text = |selector: &Map<String, Value>| serde_json::to_string(selector).unwrap_or_default();
        let index = *known.entry((namespace, text(former), text(wanted))).or_insert(selections.len());
        match selections.get_mut(index) {
            Some(selection) => selection.services.push(at),
            None => selections.push(Selection { namespace, former, wanted, services: vec![at] }),
        }
    }
    selections
}

/// The labels with its name that the server sets in the Pod template of a Job (`pkg/registry/batch/job/strategy.go`), which no manifest has.
const JOB_NAMES: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];

/// Returns true if a selector matches the Pods that a Job gets with the apply.
fn selects_pods_of_job(selector: &Map<String, Value>, object: &Compared<'_>) -> bool {
    let is_own = |name: &str, value: &Value| JOB_NAMES.contains(&name) && value.as_str() == Some(&object.key.name);
    object.kind() == Kind::Job
        && object.template_after().is_some_and(|template| {
            let is_label = |name: &str, value: &Value| labels(template).is_some_and(|all| all.get(name) == Some(value));
            selector.iter().all(|(name, value)| is_own(name, value) || is_label(name, value))
        })
}

/// Returns true if the apply changes a selector of a Service or the labels of a Pod template.
fn may_strand(object: &Compared<'_>) -> bool {
    if !matches!(object.action, Action::Update | Action::Replace) {
        return false;
    }
    match object.kind() {
        Kind::Service => object.before.and_then(selector) != selector(object.after),
        _ => object.template_before().and_then(labels) != object.template_after().and_then(labels),
    }
}

/// The selector of a Service; `None` if it has none, or selects nothing because it is a name.
fn selector(service: &Value) -> Option<&Map<String, Value>> {
    let spec = service.get("spec")?;
    let is_name = spec.get("type").and_then(Value::as_str) == Some("ExternalName");
    spec.get("selector")?.as_object().filter(|selector| !selector.is_empty() && !is_name)
}

fn labels(template: &Value) -> Option<&Map<String, Value>> {
    template.pointer("/metadata/labels")?.as_object()
}

fn templates<'a>(objects: &[Compared<'a>], template: fn(&Compared<'a>) -> Option<&'a Value>) -> Templates<'a> {
    let mut templates = Templates::new();
    for (at, object) in objects.iter().enumerate() {
        for (name, value) in template(object).and_then(labels).into_iter().flatten() {
            if let Some(value) = value.as_str() {
                templates.entry((object.namespace(), name, value)).or_default().push(at);
            }
        }
    }
    templates
}

/// The positions of the templates of a namespace that a selector matches.
fn matching<'a>(
    templates: &Templates<'a>,
    objects: &[Compared<'a>],
    (namespace, selector): (&str, &Map<String, Value>),
    template: fn(&Compared<'a>) -> Option<&'a Value>,
) -> BTreeSet<usize> {
    // The rarest label has the fewest candidates.
    let candidates = selector.iter().map(|(name, value)| {
        let found = templates.get(&(namespace, name.as_str(), value.as_str().unwrap_or_default()));
        found.map(Vec::as_slice).unwrap_or_default()
    });
    let fewest = candidates.min_by_key(|positions| positions.len()).unwrap_or_default();
    let is_matched = |at: &&usize| {
        let labels = objects.get(**at).and_then(|object| labels(template(object)?));
        labels.is_some_and(|labels| selector.iter().all(|(name, value)| labels.get(name) == Some(value)))
    };
    fewest.iter().filter(is_matched).copied().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::{GroupVersionKind, ObjectKey};

    use super::*;

    fn key(api_version: &str, kind: &str, name: String) -> ObjectKey {
        ObjectKey { gvk: GroupVersionKind::new(api_version, kind), namespace: Some("shop".to_owned()), name }
    }

    /// An object that an apply updates.
    fn updated<'v>(key: &'v ObjectKey, before: &'v Value, after: &'v Value) -> Compared<'v> {
        Compared { key, before: Some(before), after, changes: &[], action: Action::Update }
    }

    /// The effects on Services that select by one label, and on workloads whose Pods have it.
    fn stranded(
        services: usize,
        workloads: usize,
        service: [&Value; 2],
        workload: [&Value; 2],
    ) -> Vec<(usize, Effect)> {
        let services = (0..services).map(|at| (key("v1", "Service", format!("s{at:04}")), service));
        let workloads = (0..workloads).map(|at| (key("apps/v1", "Deployment", format!("d{at:04}")), workload));
        let keys: Vec<(ObjectKey, [&Value; 2])> = services.chain(workloads).collect();
        let objects: Vec<Compared<'_>> =
            keys.iter().map(|(key, [before, after])| updated(key, before, after)).collect();
        stranded_services(&objects)
    }

    fn service(label: &str) -> Value {
        json!({"spec": {"selector": {"a": label}}})
    }

    fn workload(label: &str) -> Value {
        json!({"spec": {"template": {"metadata": {"labels": {"a": label}}}}})
    }

    #[test]
    fn of_many_workloads_that_a_service_selected_some_are_named() {
        let [former, wanted, still] = [service("x"), service("y"), workload("x")];
        let found = stranded(2000, 2000, [&former, &wanted], [&still, &still]);
        assert_eq!(found.len(), 2000);
        assert!(found.iter().enumerate().all(|(index, (at, _))| index == *at));
        let (_, first) = &found[0];
        assert_eq!((first.by.len(), first.more), (20, 1980));
        assert_eq!((first.by[0].as_str(), first.by[19].as_str()), ("Deployment shop/d0000", "Deployment shop/d0019"));
        let found = stranded(1, 20, [&former, &wanted], [&still, &still]);
        assert_eq!((found[0].1.by.len(), found[0].1.more), (20, 0));
    }

    #[test]
    fn of_many_services_that_lose_the_pods_of_a_workload_some_are_named() {
        let [still, former, wanted] = [service("x"), workload("x"), workload("y")];
        let found = stranded(2000, 2000, [&still, &still], [&former, &wanted]);
        assert_eq!(found.len(), 2000 * 21);
        let of_first: Vec<&Effect> = found.iter().filter(|(at, _)| *at == 2000).map(|(_, effect)| effect).collect();
        assert_eq!(of_first[0].by, ["Service shop/s0000"]);
        assert_eq!(of_first[19].by, ["Service shop/s0019"]);
        assert_eq!(
            of_first[20].message,
            "1,980 more Services no longer select its Pods, nor any others of the manifests"
        );
        assert_eq!((of_first[20].by.len(), of_first[20].more), (0, 1980));
        assert_eq!(stranded(20, 1, [&still, &still], [&former, &wanted]).len(), 20);
        let of_one = stranded(21, 1, [&still, &still], [&former, &wanted]);
        assert_eq!(of_one[20].1.message, "1 more Service no longer selects its Pods, nor any others of the manifests");
    }
}

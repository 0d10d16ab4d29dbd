//! Services that selected Pods of the input, and no longer do.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::compared::{Compared, Kind, Step};
use crate::compare::{Effect, EffectKind};

/// A label of a Pod template: its namespace, its name and its value.
type Label<'a> = (&'a str, &'a str, &'a str);

/// The positions of Pod templates, by label.
type Templates<'a> = BTreeMap<Label<'a>, Vec<usize>>;

/// The effects on the selection of Services, each with the position of the object that causes it.
pub(super) fn effects(objects: &[Compared<'_>]) -> Vec<(usize, Effect)> {
    if !objects.iter().any(may_strand) {
        return Vec::new();
    }
    let before = templates(objects, Compared::template_before);
    let after = templates(objects, Compared::template_after);
    let mut found = Vec::new();
    for (at, service) in objects.iter().enumerate().filter(|(_, object)| object.kind() == Kind::Service) {
        let Some(former) = service.before.and_then(selector) else { continue };
        let Some(wanted) = selector(service.after) else { continue };
        let matched = matching(&before, objects, (service.namespace(), former), Compared::template_before);
        if matched.is_empty()
            || !matching(&after, objects, (service.namespace(), wanted), Compared::template_after).is_empty()
        {
            continue;
        }
        let names = || matched.iter().filter_map(|at| Some(objects.get(*at)?.key.to_string()));
        if former != wanted {
            let message = "its selector matches no Pod template of the manifests any more";
            found.push((at, Effect::new(EffectKind::Unselected, None, message).by(names())));
            continue;
        }
        let message = format!("{} no longer selects its Pods, nor any others of the manifests", service.key);
        let effect = Effect::new(EffectKind::Unselected, None, message).by([service.key.to_string()]);
        found.extend(matched.iter().map(|at| (*at, effect.clone())));
    }
    found
}

/// Returns true if the apply changes a selector of a Service or the labels of a Pod template.
fn may_strand(object: &Compared<'_>) -> bool {
    if !matches!(object.step, Step::Update | Step::Replace) {
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

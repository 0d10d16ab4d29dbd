//! The fields of a manifest and its live object that a pattern covers.

use std::collections::BTreeMap;

use serde_json::Value;
use structured_merge::{FieldPath, ListKind, PathElement, Scalar, TypeRef, item_element};

use super::pattern::{FieldPattern, Step, ValuePattern, is_split};

/// The values of a manifest and its live object at one path, if they have one there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides<'v> {
    pub manifest: Option<&'v Value>,
    pub live: Option<&'v Value>,
    /// Number of steps to the outermost atomic list in which the pattern selects items at different positions on the two sides.
    pub moved_in: Option<usize>,
}

impl<'v> Sides<'v> {
    /// The values at one path.
    pub fn of(manifest: Option<&'v Value>, live: Option<&'v Value>) -> Self {
        Self { manifest, live, moved_in: None }
    }

    fn map(self, step: impl Fn(&'v Value) -> Option<&'v Value>) -> Self {
        Self { manifest: self.manifest.and_then(&step), live: self.live.and_then(&step), ..self }
    }

    /// The sides on which an item of a list at this depth is selected.
    fn selected(self, depth: usize, keep: impl Fn(&'v Value) -> bool) -> Self {
        let [manifest, live] = [self.manifest, self.live].map(|side| side.filter(|value| keep(value)));
        let changed_during_run = manifest.is_none() && self.manifest.is_some() || live.is_none() && self.live.is_some();
        Self { manifest, live, moved_in: self.moved_in.or(changed_during_run.then_some(depth)) }
    }

    fn is_nothing(self) -> bool {
        self.manifest.is_none() && self.live.is_none()
    }
}

impl FieldPattern {
    /// Returns true if an object has a field at which the pattern ends.
    pub fn is_in(&self, object: &Value, schema: TypeRef<'_>) -> bool {
        let mut is_found = false;
        walk(self, Sides::of(Some(object), None), schema, &mut |_, _| is_found = true);
        is_found
    }
}

/// Calls `found` with every path at which the pattern ends and either side has a value. Each path is visited at most once.
pub(super) fn walk(
    pattern: &FieldPattern,
    sides: Sides<'_>,
    schema: TypeRef<'_>,
    found: &mut impl FnMut(FieldPath, Sides<'_>),
) {
    descend(&pattern.steps, sides, schema, &FieldPath::root(), found);
}

fn descend(
    steps: &[Step],
    at: Sides<'_>,
    schema: TypeRef<'_>,
    path: &FieldPath,
    found: &mut impl FnMut(FieldPath, Sides<'_>),
) {
    if at.is_nothing() {
        return;
    }
    let Some((step, rest)) = steps.split_first() else {
        if is_split(path) {
            return fields(&Step::Any, &[], at, schema, path, found);
        }
        return found(path.clone(), at);
    };
    if [at.manifest, at.live].into_iter().flatten().any(Value::is_object) {
        fields(step, rest, at, schema, path, found);
    }
    if [at.manifest, at.live].into_iter().flatten().any(Value::is_array) {
        items(step, rest, at, schema, path, found);
    }
}

fn fields(
    step: &Step,
    rest: &[Step],
    at: Sides<'_>,
    schema: TypeRef<'_>,
    path: &FieldPath,
    found: &mut impl FnMut(FieldPath, Sides<'_>),
) {
    let mut enter = |name: &str| {
        descend(rest, at.map(|value| value.as_object()?.get(name)), schema.field(name), &path.field(name), found);
    };
    match step {
        Step::Token(name) => enter(name),
        Step::Any | Step::Field(_) => {
            let matches = |name: &str| if let Step::Field(glob) = step { glob.matches(name) } else { true };
            let [manifest, live] = [at.manifest, at.live].map(|value| value.and_then(Value::as_object));
            let is_new = |name: &&String| manifest.is_none_or(|manifest| !manifest.contains_key(*name));
            let names = manifest.into_iter().flat_map(|map| map.keys());
            let names = names.chain(live.into_iter().flat_map(|map| map.keys()).filter(is_new));
            names.filter(|name| matches(name)).for_each(|name| enter(name));
        }
        Step::Item(_) | Step::Member(_) | Step::Index(_) => {}
    }
}

/// Walks the items of a list. Items with a key or a value of their own are matched by it; items of atomic lists by position.
fn items(
    step: &Step,
    rest: &[Step],
    at: Sides<'_>,
    schema: TypeRef<'_>,
    path: &FieldPath,
    found: &mut impl FnMut(FieldPath, Sides<'_>),
) {
    let [manifest, live] =
        [at.manifest, at.live].map(|value| value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice));
    if *schema.list_kind() == ListKind::Atomic {
        for index in 0..manifest.len().max(live.len()) {
            let item = Sides { manifest: manifest.get(index), live: live.get(index), ..at };
            let item = item.selected(path.elements().len(), |item| selects(step, None, item, index));
            descend(rest, item, schema.item(), &path.child(PathElement::index(index)), found);
        }
        return;
    }
    let wanted = by_element(manifest, schema);
    let there = by_element(live, schema);
    let enter = |element: &PathElement| {
        let in_manifest = wanted.get(element).copied();
        let in_live = there.get(element).copied();
        let item = Sides {
            manifest: in_manifest.and_then(|index| manifest.get(index)),
            live: in_live.and_then(|index| live.get(index)),
            ..at
        };
        let is_it = match step {
            // A position is one of the manifest's list, which its author sees.
            Step::Index(_) | Step::Token(_) if !manifest.is_empty() => {
                item.manifest.zip(in_manifest).is_some_and(|(item, index)| selects(step, Some(element), item, index))
            }
            _ => [item.manifest.zip(in_manifest), item.live.zip(in_live)]
                .into_iter()
                .flatten()
                .any(|(item, index)| selects(step, Some(element), item, index)),
        };
        if is_it {
            descend(rest, item, schema.item(), &path.child(element.clone()), found);
        }
    };
    wanted.keys().chain(there.keys().filter(|element| !wanted.contains_key(element))).for_each(enter);
}

/// The positions of the items of a list, in the order of their keys or values. If several items have one, the first counts.
fn by_element(items: &[Value], schema: TypeRef<'_>) -> BTreeMap<PathElement, usize> {
    let mut elements = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        if let Some(element) = item_element(item, schema) {
            elements.entry(element).or_insert(index);
        }
    }
    elements
}

/// Returns true if a step leads to an item of a list.
fn selects(step: &Step, element: Option<&PathElement>, item: &Value, index: usize) -> bool {
    match step {
        Step::Any => true,
        Step::Field(_) => false,
        Step::Index(wanted) => *wanted == index,
        Step::Token(token) => token.parse() == Ok(index),
        Step::Member(value) => value.matches(&Scalar::from_json(item)),
        Step::Item(pairs) => pairs.iter().all(|(name, value)| has(element, item, name, value)),
    }
}

/// Returns true if an item has this value in a field. Keys that it leaves out have their defaults.
fn has(element: Option<&PathElement>, item: &Value, name: &str, value: &ValuePattern) -> bool {
    if let Some(PathElement::Key(keys)) = element
        && let Some((_, key)) = keys.iter().find(|(key, _)| key == name)
    {
        return value.matches(key);
    }
    item.get(name).is_some_and(|found| value.matches(&Scalar::from_json(found)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::{GroupVersionKind, builtin};

    use super::*;
    use crate::rules::json_pointer;

    fn covered(pattern: &FieldPattern, manifest: &Value, live: &Value) -> Vec<String> {
        let deployment = builtin().object(&GroupVersionKind::new("apps/v1", "Deployment")).unwrap();
        let mut found = Vec::new();
        let sides = Sides::of(Some(manifest), Some(live));
        walk(pattern, sides, deployment, &mut |path, at| {
            let sides = match (at.manifest, at.live) {
                (Some(_), Some(_)) => "both",
                (Some(_), None) => "manifest",
                _ => "live",
            };
            found.push(format!("{path} {sides}"));
        });
        found
    }

    fn deployment(pod: &Value) -> Value {
        json!({"metadata": {"annotations": {"a": "1", "example.com/x": "2"}, "labels": {"app": "web"}},
               "spec": {"replicas": 3, "template": {"spec": pod}}})
    }

    #[test]
    fn items_are_the_same_wherever_they_are_and_names_are_globs() {
        let manifest = deployment(&json!({"containers": [
            {"name": "app", "image": "a:1", "ports": [{"containerPort": 80, "name": "http"}]}, {"name": "log", "image": "l:1"}]}));
        let mut live = deployment(&json!({"containers": [
            {"name": "istio-proxy", "image": "p:1"}, {"name": "log", "image": "l:2"},
            {"name": "app", "image": "a:2", "ports": [{"containerPort": 80, "protocol": "TCP", "name": "http"}]}]}));
        live["metadata"]["annotations"]["b"] = json!("3");
        let paths = |text: &str| covered(&FieldPattern::parse(text).unwrap(), &manifest, &live);
        assert_eq!(paths("spec.replicas"), ["spec.replicas both"]);
        assert_eq!(paths("spec.paused"), [""; 0]);
        let containers = "spec.template.spec.containers";
        assert_eq!(paths(&format!("{containers}[name=app].image")), [format!("{containers}[name=app].image both")]);
        assert_eq!(paths(&format!("{containers}[name=istio-*]")), [format!("{containers}[name=istio-proxy] live")]);
        assert_eq!(
            paths(&format!("{containers}[*].image")),
            [
                format!("{containers}[name=app].image both"),
                format!("{containers}[name=log].image both"),
                format!("{containers}[name=istio-proxy].image live")
            ]
        );
        let port = format!("{containers}[name=app].ports[containerPort=80,protocol=TCP] both");
        for keys in ["containerPort=80", "protocol=TCP,containerPort=80", "name=http", "containerPort=8*"] {
            assert_eq!(paths(&format!("{containers}[*].ports[{keys}]")), std::slice::from_ref(&port), "{keys}");
        }
        assert_eq!(paths(&format!("{containers}[*].ports[containerPort=\"80\"]")), [""; 0], "a string is no number");
        assert_eq!(
            paths("metadata.annotations[*]"),
            [
                "metadata.annotations.a both",
                "metadata.annotations[\"example.com/x\"] both",
                "metadata.annotations.b live"
            ]
        );
        assert_eq!(paths("metadata.annotations[\"example.com/*\"]"), ["metadata.annotations[\"example.com/x\"] both"]);
        assert_eq!(paths("metadata.labels"), ["metadata.labels.app both"], "entry by entry");
        assert_eq!(paths("spec.template.spec.containers.name"), [""; 0]);
    }

    #[test]
    fn positions_are_those_of_the_manifest() {
        let manifest = deployment(&json!({"containers": [{"name": "app", "args": ["-v"]}, {"name": "log"}]}));
        let live = deployment(
            &json!({"containers": [{"name": "proxy"}, {"name": "log"}, {"name": "app", "args": ["-v", "-x"]}]}),
        );
        let paths = |text: &str| covered(&json_pointer(text).unwrap(), &manifest, &live);
        assert_eq!(paths("/spec/template/spec/containers/0"), ["spec.template.spec.containers[name=app] both"]);
        assert_eq!(
            paths("/spec/template/spec/containers/0/args/1"),
            ["spec.template.spec.containers[name=app].args[1] live"]
        );
        assert_eq!(paths("/metadata/annotations/example.com~1x"), ["metadata.annotations[\"example.com/x\"] both"]);
        let bare = json!({"spec": {}});
        let paths = |text: &str| covered(&json_pointer(text).unwrap(), &bare, &live);
        assert_eq!(paths("/spec/template/spec/containers/0"), ["spec.template.spec.containers[name=proxy] live"]);
    }

    #[test]
    fn items_of_atomic_lists_are_found_by_their_fields_on_each_side() {
        let manifest = deployment(&json!({"tolerations": [{"key": "a"}, {"key": "b"}]}));
        let live = deployment(&json!({"tolerations": [{"key": "b"}, {"key": "a"}]}));
        let pattern = FieldPattern::parse("spec.template.spec.tolerations[key=a]").unwrap();
        assert_eq!(
            covered(&pattern, &manifest, &live),
            ["spec.template.spec.tolerations[0] manifest", "spec.template.spec.tolerations[1] live"]
        );
    }
}

//! The dependencies between objects, and the order that follows from them.
//! An author declares others in an annotation (`sigs.k8s.io/cli-utils`, `pkg/object/dependson`).

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use structured_merge::{ObjectKey, ObjectMeta as _, builtin_kind, defined_kind};

use super::dependency::{Dependency, DependencyKind, PlannedObject, Wave};
use super::references::{Reference, at, references, subjects};
use crate::diagnostic::Diagnostic;
use crate::manifest::Origin;
use crate::manifest::yaml::Step;
use crate::text::one_line;

/// Longest text of an annotation in a message, in characters.
const QUOTED: usize = 253;

/// Warnings for authors, by index of the node.
type Warnings = Vec<(usize, String)>;

/// One object in the order.
pub(super) struct OrderedNode {
    /// Its index in the nodes.
    pub index: usize,
    pub wave: Wave,
    /// Its dependencies, by index in the order: always an earlier one.
    pub needs: Vec<Dependency>,
}

/// Nodes in the order of the pass: wave by wave, dependencies first, and then by kind, namespace and name.
pub(super) struct Order {
    pub steps: Vec<OrderedNode>,
    pub warnings: Warnings,
}

impl Order {
    /// Orders the objects. Errors are annotations that name no object, and cycles.
    pub fn of(nodes: &[PlannedObject<'_>]) -> Result<Self, Vec<Unplannable>> {
        let (mut needs, warnings) = needs(nodes)?;
        let cycles = cycles(nodes, &needs);
        if !cycles.is_empty() {
            return Err(cycles);
        }
        let open = without_cycles(&mut needs);
        let mut waves: Vec<Wave> = nodes.iter().map(|node| Wave::of(&node.key.gvk)).collect();
        for index in open {
            let of_needs = needs[index].iter().map(|need| waves[need.on]).max();
            waves[index] = of_needs.map_or(waves[index], |wave| wave.max(waves[index]));
        }
        let order = sorted(&needs, |_| true, |index| (waves[index], sort_key(nodes[index].key), index));
        let mut positions = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, index)| positions[*index] = at);
        let placed = |need: &Dependency| Dependency { on: positions[need.on], strength: need.strength };
        let steps = order.iter().map(|&index| {
            let needs = needs[index].iter().map(placed).collect();
            OrderedNode { index, wave: waves[index], needs }
        });
        Ok(Self { steps: steps.collect(), warnings })
    }
}

/// The key by which objects without dependencies are ordered: kind, namespace and name, then group and version.
fn sort_key(key: &ObjectKey) -> (&str, Option<&str>, &str, &str, &str) {
    (&key.gvk.kind, key.namespace.as_deref(), &key.name, &key.gvk.group, &key.gvk.version)
}

/// Dependencies first, else by rank. Nodes in a cycle, and nodes that depend on one, are left out.
fn sorted<R: Ord>(needs: &[Vec<Dependency>], counts: fn(&Dependency) -> bool, rank: impl Fn(usize) -> R) -> Vec<usize> {
    let mut open: Vec<usize> = needs.iter().map(|needs| needs.iter().filter(|need| counts(need)).count()).collect();
    let dependents = dependents(needs, counts);
    let mut ready: BTreeMap<R, usize> = BTreeMap::new();
    ready.extend((0..needs.len()).filter(|index| open[*index] == 0).map(|index| (rank(index), index)));
    let mut order = Vec::with_capacity(needs.len());
    while let Some((_, index)) = ready.pop_first() {
        order.push(index);
        for dependent in &dependents[index] {
            let left = &mut open[*dependent];
            *left -= 1;
            if *left == 0 {
                ready.insert(rank(*dependent), *dependent);
            }
        }
    }
    order
}

fn dependents(needs: &[Vec<Dependency>], counts: fn(&Dependency) -> bool) -> Vec<Vec<usize>> {
    let mut dependents = vec![Vec::new(); needs.len()];
    for (index, needs) in needs.iter().enumerate() {
        needs.iter().filter(|need| counts(need)).for_each(|need| dependents[need.on].push(index));
    }
    dependents
}

/// The dependencies of each node, with the strongest kind for each other node, and the warnings for authors.
fn needs(nodes: &[PlannedObject<'_>]) -> Result<(Vec<Vec<Dependency>>, Warnings), Vec<Unplannable>> {
    let mut unplannable = Vec::new();
    let mut needs: Vec<BTreeMap<usize, DependencyKind>> = vec![BTreeMap::new(); nodes.len()];
    let index = ObjectIndex::of(nodes);
    let mut warnings = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let mut add = |on: usize, strength: DependencyKind| {
            let known = needs[at].entry(on).or_insert(strength);
            *known = strength.max(*known);
        };
        index.definitions(node).iter().for_each(|on| add(*on, DependencyKind::Inside));
        node.object.with(|object| {
            for reference in references(node.key, object) {
                if let Some(on) = index.find(&reference).filter(|on| *on != at) {
                    add(on, reference.strength);
                }
                index.behind(nodes, &reference, node.key).for_each(|on| add(on, DependencyKind::Success));
            }
            match depends_on(object) {
                _ if !node.is_bound => {}
                Ok(references) => {
                    for reference in references {
                        match index.find(&reference) {
                            Some(on) => add(on, DependencyKind::Explicit),
                            None => warnings.push((at, outside(&reference, node.object.is_encrypted()))),
                        }
                    }
                }
                Err(reference) => unplannable.push(malformed(at, reference)),
            }
        });
    }
    if !unplannable.is_empty() {
        return Err(unplannable);
    }
    let listed =
        |needs: BTreeMap<usize, DependencyKind>| needs.into_iter().map(|(on, strength)| Dependency { on, strength });
    Ok((needs.into_iter().map(|needs| listed(needs).collect()).collect(), warnings))
}

fn outside(reference: &Reference<'_>, is_encrypted: bool) -> String {
    if is_encrypted {
        return format!("`{DEPENDS_ON}` names an object that is not in the input: nothing waits for it");
    }
    let namespace = reference.namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default();
    let Reference { kind, name, .. } = reference;
    let object = one_line(&format!("{kind} {namespace}{name}"), QUOTED);
    format!("`{DEPENDS_ON}` names {object}, which is not in the input: nothing waits for it")
}

/// Returns true for a dependency that no plan may ignore.
fn is_binding(need: &Dependency) -> bool {
    need.strength >= DependencyKind::Inside
}

/// The cycles that no plan can resolve: those of explicit dependencies, Namespaces and CustomResourceDefinitions.
fn cycles(nodes: &[PlannedObject<'_>], needs: &[Vec<Dependency>]) -> Vec<Unplannable> {
    let mut is_left = vec![true; needs.len()];
    for index in sorted(needs, is_binding, |index| index) {
        is_left[index] = false;
    }
    // The remaining nodes are in a cycle or depend on one: following their dependencies leads into it.
    let mut seen = BTreeSet::new();
    let mut unplannable = Vec::new();
    for start in (0..needs.len()).filter(|index| is_left[*index]) {
        let mut walk = Vec::new();
        let mut at = start;
        while seen.insert(at) {
            walk.push(at);
            let next = needs[at].iter().find(|need| is_binding(need) && is_left[need.on]);
            at = next.map_or(at, |need| need.on);
        }
        if let Some(from) = walk.iter().position(|member| *member == at) {
            unplannable.push(cycle(nodes, &walk[from..]));
        }
    }
    unplannable
}

fn cycle(nodes: &[PlannedObject<'_>], members: &[usize]) -> Unplannable {
    let names = members.iter().chain(&members[..1]).map(|member| nodes[*member].key.to_string());
    let message = format!("a cycle of dependencies: {}", names.collect::<Vec<_>>().join(" → "));
    let hint = format!("remove one of these dependencies from its `{DEPENDS_ON}`");
    let explicit = members.iter().find(|member| nodes[**member].object.with(is_annotated));
    Unplannable { at: *explicit.unwrap_or(&members[0]), message, hint }
}

/// Drops derived dependencies that would close a cycle. Returns an order that satisfies the remaining ones.
fn without_cycles(needs: &mut [Vec<Dependency>]) -> Vec<usize> {
    let dependents = dependents(needs, |_| true);
    let mut open: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut ready: Vec<usize> = (0..needs.len()).rev().filter(|index| open[*index] == 0).collect();
    let mut done = vec![false; needs.len()];
    let mut order = Vec::with_capacity(needs.len());
    while order.len() < needs.len() {
        while let Some(index) = ready.pop() {
            done[index] = true;
            order.push(index);
            for dependent in &dependents[index] {
                let is_met = !done[*dependent] && open[*dependent] == 1;
                // The dependencies of an object whose derived ones were dropped are no longer counted.
                open[*dependent] = open[*dependent].saturating_sub(1);
                if is_met {
                    ready.push(*dependent);
                }
            }
        }
        let waits_for_derived =
            |index: &usize| !done[*index] && needs[*index].iter().all(|need| done[need.on] || !is_binding(need));
        let Some(stuck) = (0..needs.len()).find(waits_for_derived) else { break };
        needs[stuck].retain(|need| done[need.on]);
        open[stuck] = 0;
        ready.push(stuck);
    }
    order
}

/// The annotation.
pub const DEPENDS_ON: &str = "config.kubernetes.io/depends-on";

/// The reason why some objects have no order.
#[derive(Debug)]
pub struct Unplannable {
    /// The index of the object with the annotation.
    pub at: usize,
    /// One sentence.
    pub message: String,
    /// Advice on what to do.
    pub hint: String,
}

/// The objects that the annotation names: `GROUP/namespaces/NAMESPACE/KIND/NAME` or `GROUP/KIND/NAME`, separated by
/// commas; the core group is empty. The error is the first entry that names no object.
pub fn depends_on(object: &Value) -> Result<Vec<Reference<'_>>, &str> {
    let Some(list) = annotation(object) else { return Ok(Vec::new()) };
    list.split(',').map(str::trim).map(|reference| parse(reference).ok_or(reference)).collect()
}

/// The reason why the annotation of an object would make a plan of it alone impossible.
pub fn wrong_dependency(key: &ObjectKey, object: &Value) -> Option<String> {
    match depends_on(object) {
        Err(reference) => Some(malformed(0, reference).message),
        Ok(references) => {
            references.iter().any(|reference| reference.is(key)).then(|| format!("it names itself in `{DEPENDS_ON}`"))
        }
    }
}

/// Returns true if an object has the annotation.
pub fn is_annotated(object: &Value) -> bool {
    annotation(object).is_some()
}

fn annotation(object: &Value) -> Option<&str> {
    object.annotation(DEPENDS_ON)
}

/// The diagnostic at an annotation that makes a plan impossible. An encrypted one is not repeated.
pub fn diagnostic(origin: &Origin, Unplannable { message, hint, .. }: Unplannable) -> Diagnostic {
    let message = if origin.is_encrypted { format!("`{DEPENDS_ON}` cannot be followed") } else { message };
    let steps = [Step::Key("metadata"), Step::Key("annotations"), Step::Key(DEPENDS_ON)];
    origin.diagnostic_at_value(&steps, message).with_hint(hint)
}

fn parse(reference: &str) -> Option<Reference<'_>> {
    let parts: Vec<&str> = reference.split('/').collect();
    let (group, namespace, kind, name) = match parts.as_slice() {
        [group, "namespaces", namespace, kind, name] => (*group, Some(*namespace), *kind, *name),
        [group, kind, name] => (*group, None, *kind, *name),
        _ => return None,
    };
    if kind.is_empty() || name.is_empty() || namespace.is_some_and(str::is_empty) {
        return None;
    }
    Some(Reference { group, kind, namespace, name, strength: DependencyKind::Explicit })
}

/// The reason for an annotation that cannot be read, of the object at this index.
pub fn malformed(at: usize, reference: &str) -> Unplannable {
    let message = format!("`{DEPENDS_ON}` cannot be read: `{}` names no object", one_line(reference, QUOTED));
    let hint = "write `GROUP/namespaces/NAMESPACE/KIND/NAME` or `GROUP/KIND/NAME`, as in `apps/namespaces/shop/Deployment/db`; \
                the core group is empty, as in `/namespaces/shop/ConfigMap/settings`";
    Unplannable { at, message, hint: hint.to_owned() }
}

/// An index that finds the nodes of references.
#[derive(Default)]
struct ObjectIndex<'t> {
    /// By group, kind, namespace and name.
    by_name: HashMap<(&'t str, &'t str, Option<&'t str>, &'t str), usize>,
    /// CustomResourceDefinitions, by the group and kind that they define.
    definitions: HashMap<(&'t str, &'t str), Vec<usize>>,
    /// Bindings, by namespace and name of the service accounts that they give rights to.
    bindings: HashMap<(Option<&'t str>, &'t str), Vec<usize>>,
    /// Workloads with the labels of their pods, by namespace; empty without an object of the wave [`Wave::Admission`].
    workloads: HashMap<Option<&'t str>, Vec<usize>>,
}

impl<'t> ObjectIndex<'t> {
    fn of(nodes: &[PlannedObject<'t>]) -> Self {
        let mut index = Self::default();
        let has_admission = nodes.iter().any(|node| Wave::of(&node.key.gvk) == Wave::Admission);
        for (at, node) in nodes.iter().enumerate() {
            let gvk = &node.key.gvk;
            let namespace = node.key.namespace.as_deref();
            index.by_name.insert(node.key.without_version(), at);
            if gvk.is_crd()
                && let Some(kind) = defined_kind(node.object.get())
            {
                index.definitions.entry(kind).or_default().push(at);
            }
            if gvk.group == "rbac.authorization.k8s.io" && gvk.kind.ends_with("Binding") {
                for (account_namespace, name) in subjects(node.object.get()) {
                    index.bindings.entry((account_namespace.or(namespace), name)).or_default().push(at);
                }
            }
            if has_admission && node.object.with(|object| pod_labels(object).is_some()) {
                index.workloads.entry(namespace).or_default().push(at);
            }
        }
        index
    }

    fn find(&self, reference: &Reference<'_>) -> Option<usize> {
        let Reference { group, kind, namespace, name, .. } = *reference;
        self.by_name.get(&(group, kind, namespace, name)).copied()
    }

    /// The CustomResourceDefinition of a node's kind; several if the input has several of that kind.
    fn definitions(&self, PlannedObject { key, .. }: &PlannedObject<'t>) -> &[usize] {
        let found = self.definitions.get(&(&key.gvk.group, &key.gvk.kind));
        found.filter(|_| builtin_kind(&key.gvk).is_none()).map_or(&[], Vec::as_slice)
    }

    /// The nodes behind a referenced object: the bindings of a service account, and the workloads of a service that gets the
    /// API server's own requests.
    fn behind(
        &self,
        nodes: &[PlannedObject<'_>],
        reference: &Reference<'_>,
        by: &ObjectKey,
    ) -> impl Iterator<Item = usize> {
        let mut behind = Vec::new();
        if Wave::of(&by.gvk) == Wave::Admission && reference.kind == "Service" {
            let service = self.find(reference).map(|at| nodes[at].object.get());
            let selector = service.and_then(|service| service.pointer("/spec/selector")).and_then(Value::as_object);
            let workloads = self.workloads.get(&reference.namespace).into_iter().flatten();
            if let Some(selector) = selector.filter(|selector| !selector.is_empty()) {
                let is_selected = |at: &&usize| {
                    let labels = pod_labels(nodes[**at].object.get());
                    labels.is_some_and(|labels| selector.iter().all(|(key, value)| labels.get(key) == Some(value)))
                };
                behind.extend(workloads.filter(is_selected).copied());
            }
        } else if reference.kind == "ServiceAccount" && reference.strength == DependencyKind::Success {
            let account = (reference.namespace, reference.name);
            behind.extend(self.bindings.get(&account).into_iter().flatten().copied());
        }
        behind.into_iter()
    }
}

fn pod_labels(manifest: &Value) -> Option<&Value> {
    at(manifest, "/spec/template/metadata/labels")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_cli_utils_writes_them() {
        for (text, group, namespace, kind, name) in [
            ("apps/namespaces/shop/Deployment/db", "apps", Some("shop"), "Deployment", "db"),
            ("/namespaces/shop/Pod/db", "", Some("shop"), "Pod", "db"),
            ("/Namespace/shop", "", None, "Namespace", "shop"),
            ("rbac.authorization.k8s.io/ClusterRole/r", "rbac.authorization.k8s.io", None, "ClusterRole", "r"),
        ] {
            let strength = DependencyKind::Explicit;
            assert_eq!(parse(text), Some(Reference { group, kind, namespace, name, strength }), "{text}");
        }
        for malformed in
            ["", "db", "Deployment/db", "apps/namespaces//Deployment/db", "apps/namespaces/shop/Deployment/", "a/b/c/d"]
        {
            assert_eq!(parse(malformed), None, "{malformed}");
        }
    }
}

//! Autoscalers, and the fields of a workload that they own.

use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{ManagedFieldsEntry, ManagedObject, ObjectKey, Operation, Ownership};

use super::glob::Glob;
use super::pattern::FieldPattern;
use crate::object::Projection;

/// Kinds of autoscalers, by group and kind.
pub const AUTOSCALERS: [(&str, &str); 3] = [
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("keda.sh", "ScaledObject"),
    ("autoscaling.k8s.io", "VerticalPodAutoscaler"),
];

/// The fields of an autoscaler that [`Autoscaler::read`] reads, and those that identify it.
pub const AUTOSCALER_FIELDS: Projection = {
    use Projection::{Fields, Whole};
    const REFERENCE: Projection = Fields(&[("apiVersion", Whole), ("kind", Whole), ("name", Whole)]);
    Fields(&[
        ("apiVersion", Whole),
        ("kind", Whole),
        ("metadata", Fields(&[("name", Whole), ("namespace", Whole), ("deletionTimestamp", Whole)])),
        (
            "spec",
            Fields(&[
                ("scaleTargetRef", REFERENCE),
                ("targetRef", REFERENCE),
                ("minReplicas", Whole),
                ("minReplicaCount", Whole),
                ("idleReplicaCount", Whole),
                ("updatePolicy", Fields(&[("updateMode", Whole)])),
            ]),
        ),
    ])
};

/// An object that autoscalers may change: its namespace, group, kind and name.
pub type Workload<'k> = (&'k str, &'k str, &'k str, &'k str);

/// The object with this key, as autoscalers refer to it. `None` if it is cluster-scoped.
pub fn workload(key: &ObjectKey) -> Option<Workload<'_>> {
    Some((key.namespace.as_deref()?, &key.gvk.group, &key.gvk.kind, &key.name))
}

/// An autoscaler and the workload that it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Autoscaler {
    /// `HorizontalPodAutoscaler shop/web`.
    pub name: String,
    namespace: String,
    workload: (String, String, String),
    scales: Scales,
}

/// The fields that an autoscaler changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scales {
    /// The number of replicas; zero only if it may scale a workload to zero.
    Replicas { to_zero: bool },
    /// The resources of containers.
    Resources,
}

impl Autoscaler {
    /// Reads an autoscaler. `None` for other objects, and for autoscalers that change nothing: they are being deleted, switched off,
    /// or without a workload.
    pub fn read(group: &str, kind: &str, namespace: &str, object: &Value) -> Option<Self> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str);
        let number = |path: &str| object.pointer(path).and_then(Value::as_i64);
        let (reference, scales) = match (group, kind) {
            ("autoscaling", "HorizontalPodAutoscaler") => {
                let to_zero = number("/spec/minReplicas") == Some(0);
                ("/spec/scaleTargetRef", Scales::Replicas { to_zero })
            }
            // The operator itself scales a workload to zero and back, which its HorizontalPodAutoscaler cannot do.
            ("keda.sh", "ScaledObject") => {
                let least = number("/spec/idleReplicaCount").or(number("/spec/minReplicaCount"));
                ("/spec/scaleTargetRef", Scales::Replicas { to_zero: least.unwrap_or(0) == 0 })
            }
            ("autoscaling.k8s.io", "VerticalPodAutoscaler") if text("/spec/updatePolicy/updateMode") != Some("Off") => {
                ("/spec/targetRef", Scales::Resources)
            }
            _ => return None,
        };
        if object.pointer("/metadata/deletionTimestamp").is_some() {
            return None;
        }
        let reference = object.pointer(reference)?;
        let referred = |field: &str| reference.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        let is_keda = group == "keda.sh";
        let api_version = referred("apiVersion").or(is_keda.then_some("apps/v1")).unwrap_or_default();
        let group_of_workload = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let kind_of_workload = referred("kind").or(is_keda.then_some("Deployment"))?;
        Some(Self {
            name: format!("{kind} {namespace}/{}", text("/metadata/name")?),
            namespace: namespace.to_owned(),
            workload: (group_of_workload.to_owned(), kind_of_workload.to_owned(), referred("name")?.to_owned()),
            scales,
        })
    }

    /// The object that it changes.
    pub fn workload(&self) -> Workload<'_> {
        let (group, kind, name) = &self.workload;
        (&self.namespace, group, kind, name)
    }

    /// The fields of its workload that it owns, given the live object, and the managers that must own them, if that matters.
    fn fields(&self, live: &ManagedObject, people: &BTreeSet<String>) -> Option<(Vec<FieldPattern>, Vec<Glob>)> {
        match self.scales {
            // A HorizontalPodAutoscaler leaves a workload alone that was scaled to zero (kube-controller-manager, `ScalingDisabled`).
            Scales::Replicas { to_zero: false }
                if live.object.pointer("/spec/replicas").and_then(Value::as_i64) == Some(0) =>
            {
                None
            }
            Scales::Replicas { .. } => Some((patterns(&["spec.replicas"]), Vec::new())),
            Scales::Resources => {
                let managers = controllers(&live.owners, people);
                let fields =
                    ["containers", "initContainers"].map(|list| format!("spec.template.spec.{list}[*].resources"));
                (!managers.is_empty()).then(|| (patterns(&fields.each_ref().map(String::as_str)), managers))
            }
        }
    }
}

/// Managers that are controllers, and not a person with kubectl or another tool.
fn controllers(owners: &Ownership, people: &BTreeSet<String>) -> Vec<Glob> {
    let is_person = |manager: &str| manager.starts_with("kubectl") || people.contains(manager);
    let is_controller = |entry: &ManagedFieldsEntry| entry.operation == Operation::Update && !is_person(&entry.manager);
    let entries = owners.entries().filter(|entry| is_controller(entry));
    entries.map(|entry| Glob::of_pieces(vec![entry.manager.clone()])).collect()
}

pub(super) fn patterns(fields: &[&str]) -> Vec<FieldPattern> {
    fields.iter().filter_map(|field| FieldPattern::parse(field).ok()).collect()
}

/// The autoscalers that are known in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Autoscalers {
    /// The autoscalers; the numbers of [`super::RuleRef::Autoscaler`] are their positions.
    pub all: Vec<Autoscaler>,
    people: BTreeSet<String>,
}

impl Autoscalers {
    /// Starts without autoscalers. The given field managers are tools of people, as kubectl is.
    pub fn with_people(people: &BTreeSet<String>) -> Self {
        Self { all: Vec::new(), people: people.clone() }
    }

    /// Adds one, unless it is known.
    pub fn add(&mut self, autoscaler: Autoscaler) {
        if !self.all.contains(&autoscaler) {
            self.all.push(autoscaler);
        }
    }

    /// The fields that autoscalers of an object own, with the position of each autoscaler.
    pub(super) fn fields_of(
        &self,
        key: &ObjectKey,
        live: &ManagedObject,
    ) -> impl Iterator<Item = (usize, (Vec<FieldPattern>, Vec<Glob>))> {
        let all = self.all.iter().enumerate().filter(|(_, autoscaler)| workload(key) == Some(autoscaler.workload()));
        all.filter_map(|(index, autoscaler)| Some((index, autoscaler.fields(live, &self.people)?)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::GroupVersionKind;

    use super::*;

    fn deployment() -> ObjectKey {
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        ObjectKey { gvk, namespace: Some("shop".into()), name: "web".into() }
    }

    fn of_replicas(group: &str, kind: &str, spec: &Value, replicas: i64) -> bool {
        let object = json!({"metadata": {"name": "a", "namespace": "shop"}, "spec": spec});
        let mut all = Autoscalers::default();
        let Some(read) = Autoscaler::read(group, kind, "shop", &object) else { return false };
        all.add(read);
        let live = ManagedObject::new(json!({"spec": {"replicas": replicas}}), "us");
        all.fields_of(&deployment(), &live).count() == 1
    }

    #[test]
    fn replicas_are_the_autoscalers_unless_it_is_switched_off() {
        let hpa = |target: Value, least: i64, replicas| {
            let spec = json!({"scaleTargetRef": target, "minReplicas": least});
            of_replicas("autoscaling", "HorizontalPodAutoscaler", &spec, replicas)
        };
        let web = || json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
        assert!(hpa(web(), 2, 7));
        assert!(!hpa(web(), 2, 0), "somebody scaled it to zero, and the autoscaler leaves it alone");
        assert!(hpa(web(), 0, 0));
        assert!(!hpa(json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"}), 2, 7));
        assert!(!hpa(json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web"}), 2, 7));
        assert!(!hpa(json!({"apiVersion": "example.com/v1", "kind": "Deployment", "name": "web"}), 2, 7));

        let keda = |spec: Value, replicas| of_replicas("keda.sh", "ScaledObject", &spec, replicas);
        assert!(keda(json!({"scaleTargetRef": {"name": "web"}}), 0));
        assert!(!keda(json!({"scaleTargetRef": {"name": "web"}, "minReplicaCount": 1}), 0));
        assert!(keda(json!({"scaleTargetRef": {"name": "web"}, "minReplicaCount": 1, "idleReplicaCount": 0}), 0));
        assert!(!of_replicas("example.com", "ScaledObject", &json!({"scaleTargetRef": {"name": "web"}}), 7));
    }

    /// An autoscaler is the same whether all of its fields are read or those that are kept.
    #[test]
    fn the_kept_fields_are_enough() {
        let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "fieldPath": "x"});
        let metadata = json!({"name": "a", "namespace": "shop", "annotations": {"a": "b"}});
        let specs = [
            json!({"scaleTargetRef": web, "minReplicas": 0, "metrics": []}),
            json!({"scaleTargetRef": web, "minReplicaCount": 1, "idleReplicaCount": 0, "triggers": []}),
            json!({"scaleTargetRef": web, "minReplicaCount": 1}),
            json!({"targetRef": web, "updatePolicy": {"updateMode": "Off", "minReplicas": 1}}),
            json!({"targetRef": web, "updatePolicy": {"updateMode": "Auto"}}),
        ];
        let deleted = json!({"name": "a", "namespace": "shop", "deletionTimestamp": "2026-11-20T10:00:00Z"});
        for ((group, kind), spec) in AUTOSCALERS.iter().flat_map(|kind| specs.iter().map(move |spec| (kind, spec))) {
            for metadata in [&metadata, &deleted] {
                let object =
                    json!({"apiVersion": "x/v1", "kind": kind, "metadata": metadata, "spec": spec, "status": {"a": 1}});
                let kept = AUTOSCALER_FIELDS.read(object.to_string().as_bytes()).unwrap();
                assert!(kept.get("status").is_none() && kept.pointer("/metadata/annotations").is_none());
                assert_eq!(
                    Autoscaler::read(group, kind, "shop", &kept),
                    Autoscaler::read(group, kind, "shop", &object)
                );
            }
        }
    }

    #[test]
    fn resources_are_those_of_controllers_not_of_people() {
        let reference = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
        let object = json!({"metadata": {"name": "a"}, "spec": {"targetRef": reference}});
        let read = Autoscaler::read("autoscaling.k8s.io", "VerticalPodAutoscaler", "shop", &object).unwrap();
        let managers = |people: &[&str], manager: &str| {
            let entry = json!({"manager": manager, "operation": "Update", "apiVersion": "apps/v1",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}});
            let live = ManagedObject::new(json!({"metadata": {"managedFields": [entry]}}), "us");
            let people = people.iter().map(|name| (*name).to_owned()).collect();
            read.fields(&live, &people).map_or(0, |(_, managers)| managers.len())
        };
        assert_eq!(managers(&[], "vpa-updater"), 1);
        assert_eq!(managers(&[], "kubectl-edit"), 0);
        assert_eq!(managers(&["k9s"], "k9s"), 0);
        let off = json!({"metadata": {"name": "a"}, "spec": {"targetRef": {"kind": "Deployment", "name": "web"}, "updatePolicy": {"updateMode": "Off"}}});
        assert_eq!(Autoscaler::read("autoscaling.k8s.io", "VerticalPodAutoscaler", "shop", &off), None);
    }
}

//! Those who write the objects of the histories.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Value, json};

use super::kinds::{CPU, IMAGE, LABEL, LOG, NOTE, REPLICAS};
use super::{Batch, History};
use crate::control_plane::Rng;

/// Client that applies the manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    Ours,
    Create,
    ClientSide,
    /// `kubectl apply --server-side`, which is another applier to us.
    ServerSide,
    /// Helm 3, which creates and updates.
    Helm,
}

impl Tool {
    pub const ALL: [Self; 7] =
        [Self::Ours, Self::Ours, Self::Create, Self::ClientSide, Self::ClientSide, Self::ServerSide, Self::Helm];

    /// The tool of the next apply: the same again, client-side apply after `kubectl create`, or we who take over.
    pub(super) fn next(self, rng: &mut Rng) -> Self {
        match self {
            _ if rng.chance(20) => Self::Ours,
            Self::Create => Self::ClientSide,
            tool => tool,
        }
    }

    /// Returns true if the tool is another applier for us, whose fields are its own whatever moved them.
    pub fn is_other(self) -> bool {
        matches!(self, Self::ServerSide | Self::Helm)
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Ours => &["apply", "--force-conflicts", "-f", "-"],
            Self::Create => &["create", "-f", "-"],
            Self::ClientSide => &["apply", "-f", "-"],
            Self::ServerSide => &["apply", "--server-side", "--force-conflicts", "-f", "-"],
            Self::Helm => &["create", "--field-manager", "helm", "-f", "-"],
        }
    }
}

/// A call of `kubectl` for many objects: the words before and behind their names.
type Call = (Vec<String>, Vec<String>);

impl Batch {
    /// Applies the manifests of some objects, each with its tool.
    pub(super) fn apply_manifests(&mut self, which: impl Fn(&History) -> bool) {
        let mut of_tools: BTreeMap<Tool, Vec<String>> = BTreeMap::new();
        for history in self.histories.iter().filter(|history| which(history)) {
            let manifest = history.manifest(&self.ws, &history.base);
            if history.tool == Tool::Helm && !history.story.is_empty() {
                self.upgrade(history, &manifest);
            } else {
                of_tools.entry(history.tool).or_default().push(manifest.to_string());
            }
        }
        for (tool, manifests) in of_tools {
            let caller = self.ws.stdin(&manifests.join("\n---\n"));
            let run =
                if tool == Tool::Ours { caller.reconcile(tool.arguments()) } else { caller.kubectl(tool.arguments()) };
            run.exits_with(0);
        }
        self.look_at(true, &which);
        for history in self.histories.iter_mut().filter(|history| which(history)) {
            if history.story.is_empty() {
                history.story.push(format!("{:?}", history.tool));
            }
            if history.tool.is_other() {
                history.is_moved.fill(true);
            }
        }
    }

    fn path(&self, history: &History) -> String {
        format!("{}/{}", self.ws.fill_in(history.kind.collection), history.name)
    }

    /// An upgrade of Helm 3: the fields of the manifest, written as an update.
    fn upgrade(&self, history: &History, manifest: &Value) {
        let fields = history.kind.fields;
        self.update(history, "helm", |object| {
            for field in fields {
                field.set(object, field.of(manifest).as_ref());
            }
        });
    }

    /// Reads an object, changes it and writes it, as a controller does.
    fn update(&self, history: &History, manager: &str, change: impl FnOnce(&mut Value)) {
        let path = self.path(history);
        let api = self.ws.plane().api();
        let mut object = api.find(&path).unwrap();
        change(&mut object);
        let query = format!("{path}?fieldManager={manager}");
        api.write(Method::PUT, &query, "application/json", &object)
            .unwrap_or_else(|error| panic!("{path}: {error}\n{object:#}"));
    }

    /// Somebody else changes some of the objects.
    pub(super) fn change(&mut self) {
        let mut calls: BTreeMap<Call, Vec<String>> = BTreeMap::new();
        for number in 0..self.histories.len() {
            if self.histories[number].rng.chance(45) {
                continue;
            }
            let history = &mut self.histories[number];
            let by_kubectl = history.rng.chance(55).then(|| call(history)).flatten();
            if let Some(call) = by_kubectl {
                history.story.push(call.0.iter().chain(&call.1).map(String::as_str).collect::<Vec<_>>().join(" "));
                let name = format!("{}/{}", history.kind.resource, history.name);
                calls.entry(call).or_default().push(name);
            } else {
                let mut rng = Rng::new(history.rng.below(1 << 30) as u64);
                let (told, respelled) = self.write_once(&self.histories[number], &mut rng);
                let history = &mut self.histories[number];
                history.story.push(told);
                if let Some(field) = respelled {
                    history.is_moved[field] = true;
                }
            }
        }
        for ((before, behind), names) in calls {
            self.ws.kubectl(before.iter().chain(&names).chain(&behind)).exits_with(0);
        }
    }

    /// One write by another client than `kubectl`, or by a command of it that takes one object. It is told, with the field to which the
    /// client gave another spelling of its value, as which the server stores it: that client owns it since then.
    fn write_once(&self, history: &History, rng: &mut Rng) -> (String, Option<usize>) {
        let api = self.ws.plane().api();
        let path = self.path(history);
        let fields = history.kind.fields;
        let field = rng.pick(fields);
        let value = field.value(rng.below(60));
        let manager = *rng.pick(&["some-controller", "kubectl-edit", "kubectl-patch", "other-tool"]);
        let told = |manager: &str| format!("{manager} {}={value:?}", field.path);
        let mut respelled = None;
        let story = match rng.below(12) {
            0..5 => {
                self.update(history, manager, |object| field.set(object, value.as_ref()));
                told(manager)
            }
            // What it had before is given up, and goes if nobody else has it. The server refuses that of what is required.
            5..9 => {
                let mut part = identity(history, &self.ws.fill_in(history.kind.template));
                if value.is_some() && rng.chance(75) {
                    field.set(&mut part, value.as_ref());
                }
                let query = format!("{path}?fieldManager=other-applier&force=true");
                let applied = api.write(Method::PATCH, &query, "application/apply-patch+yaml", &part);
                let is_given = field.of(&part).is_some() && applied.is_ok();
                respelled = fields.iter().position(|one| is_given && one.path == field.path && one.path == CPU);
                format!("{} {part}", if applied.is_ok() { "other-applier" } else { "refused" })
            }
            9 | 10 if history.kind.status.is_some() => {
                let status: Value = serde_json::from_str(history.kind.status.unwrap()).unwrap();
                let query = format!("{path}/status?fieldManager=some-controller");
                api.write(Method::PATCH, &query, "application/merge-patch+json", &json!({"status": status})).unwrap();
                "status".to_owned()
            }
            9 if history.kind.name == "Deployment" => {
                let query = format!("{path}/scale?fieldManager=some-controller");
                let replicas = json!({"spec": {"replicas": 1 + rng.below(3)}});
                api.write(Method::PATCH, &query, "application/merge-patch+json", &replicas).unwrap();
                format!("scale {replicas}")
            }
            11 if rng.chance(30) => {
                api.json_patch(&path, &json!([{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]))
                    .unwrap();
                "no owners".to_owned()
            }
            _ => {
                // A hand edits several fields at once.
                self.update(history, "kubectl-edit", |object| {
                    for field in fields {
                        if rng.chance(60) {
                            continue;
                        }
                        let value = field.value(rng.below(60));
                        field.set(object, value.as_ref());
                    }
                });
                "edit".to_owned()
            }
        };
        (story, respelled)
    }
}

/// An object with nothing but its name.
fn identity(history: &History, template: &str) -> Value {
    let object: Value = serde_json::from_str(template).unwrap();
    let namespace = &object["metadata"]["namespace"];
    json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": {"name": history.name, "namespace": namespace}})
}

/// A call of `kubectl` that changes a field which the kind has.
fn call(history: &mut History) -> Option<Call> {
    let rng = &mut history.rng;
    let text = format!("v{}", 1 + rng.below(3));
    let (path, before, behind): (_, &[&str], String) = match rng.below(8) {
        0 => (IMAGE, &["set", "image"], format!("web={text}")),
        1 => (REPLICAS, &["scale"], format!("--replicas={}", 1 + rng.below(3))),
        2 => (LABEL, &["label", "--overwrite"], format!("tier={text}")),
        3 => (LABEL, &["label"], "tier-".to_owned()),
        4 => (NOTE, &["annotate", "--overwrite"], format!("note={text}")),
        5 => (LOG, &["set", "env"], format!("LOG={text}")),
        6 => (LOG, &["set", "env"], "EXTRA-".to_owned()),
        _ => (CPU, &["set", "resources", "-c=web"], format!("--requests=cpu={},memory=64Mi", 1 + rng.below(2))),
    };
    let has = history.kind.fields.iter().any(|field| field.path == path);
    has.then(|| (before.iter().map(|word| (*word).to_owned()).collect(), vec![behind]))
}

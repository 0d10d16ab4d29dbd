//! What the soak works on: a cluster with controllers, and manifests that change from cycle to cycle.

use std::fs;
use std::path::PathBuf;

use apply_set::{ApplySet, PART_OF};
use futures::StreamExt as _;
use reconcile_core::live::Target;
use serde_json::{Value, json};
use structured_merge::{GroupVersionKind, ObjectKey, builtin_kind, take_out_refused_nulls};

use super::OURS;
use crate::control_plane::{ControlPlane, Rng, Workspace};
use crate::generated::{AT_ONCE, Ground, path_of, wait_for};
use crate::soundness::manifest;

/// The folder whose objects are applied alone, and the one whose objects are an apply set.
pub const FOLDERS: [&str; 2] = ["plain", "set"];

/// Who writes beside us and the controllers.
pub const PEOPLE: [&str; 3] = ["ann", "ben", "eve"];

/// Kinds that concern the whole control plane, that controllers remove by themselves, or that go with the time.
const LEFT_OUT: [&str; 19] = [
    "APIService",
    "CSINode",
    "CertificateSigningRequest",
    "CustomResourceDefinition",
    "Event",
    "FlowSchema",
    "IPAddress",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "Node",
    "PriorityLevelConfiguration",
    // It would adopt the Pod of the manifests and delete it.
    "ReplicaSet",
    "ResourceSlice",
    "ServiceCIDR",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
];

/// One object and its manifest.
pub struct Item {
    /// As the manifest has it now.
    pub target: Target,
    /// As it was generated.
    original: Value,
    pub in_set: bool,
    /// Whether there is a manifest of it.
    pub present: bool,
}

impl Item {
    pub fn folder(&self) -> &'static str {
        FOLDERS[usize::from(self.in_set)]
    }

    pub fn path(&self) -> String {
        path_of(&self.target)
    }

    pub fn is_in(&self, folder: &str) -> bool {
        self.present && self.folder() == folder
    }

    /// Whether this is what an object of a report is about: what is pruned is reported in the version that the server prefers.
    pub fn is_called(&self, object: &Value) -> bool {
        let ObjectKey { gvk, namespace, name } = &self.target.key;
        object["kind"] == gvk.kind.as_str()
            && object["apiVersion"]
                .as_str()
                .is_some_and(|version| GroupVersionKind::new(version, "").group == gvk.group)
            && object["name"] == name.as_str()
            && object["namespace"].as_str() == namespace.as_deref()
    }

    /// The name of its file, without the folder.
    pub fn file_name(&self) -> String {
        let ObjectKey { gvk, name, .. } = &self.target.key;
        format!("{}.{}-{name}.yaml", gvk.kind, gvk.version)
    }

    fn file(&self) -> String {
        format!("{}/{}", self.folder(), self.file_name())
    }
}

/// The cluster, the folders of manifests, and what is in them.
pub struct World {
    pub ws: Workspace,
    pub ground: Ground,
    /// The same server for each of [`PEOPLE`].
    pub people: Vec<Ground>,
    pub items: Vec<Item>,
    /// Of who runs our program.
    pub kubeconfig: PathBuf,
    set: ApplySet,
}

impl World {
    /// A control plane with `variants` of each kind, half of them in the set.
    pub fn new(seed: u64, variants: usize) -> World {
        let plane = ControlPlane::private_full();
        let ws = Workspace::on(&plane);
        let ground = Ground::on(plane);
        let targets = wait_for(ground.generate(seed, 20, variants));
        let targets = targets.into_iter().filter(|target| !LEFT_OUT.contains(&target.key.gvk.kind.as_str()));
        let mut items: Vec<Item> = targets
            .filter_map(|target| {
                let manifest = complete(&target, target.desired.object().clone());
                let target = ground.read_manifests(&manifest.to_string())?.pop()?;
                Some(Item { target, original: manifest, in_set: false, present: true })
            })
            .collect();
        items.sort_by_cached_key(Item::path);
        for (number, item) in items.iter_mut().enumerate() {
            item.in_set = number % 2 == 1;
        }
        let parent = ObjectKey {
            gvk: GroupVersionKind::new("v1", "Secret"),
            namespace: Some(ws.namespace().to_owned()),
            name: "set".to_owned(),
        };
        let kubeconfig = ws.as_user("admin").kubeconfig();
        let people = PEOPLE.iter().map(|name| wait_for(ground.as_user(name))).collect();
        let world = World { ws, ground, people, items, kubeconfig, set: ApplySet::of(parent) };
        world.items.iter().for_each(|item| world.write(item));
        world
    }

    /// The path of the set's parent.
    pub fn parent(&self) -> String {
        format!("/api/v1/namespaces/{}/secrets/set", self.ws.namespace())
    }

    /// What is sent for an object: those of the set have its label, and a custom resource does not have the nulls that a creation
    /// leaves out.
    pub fn wanted(&self, item: &Item) -> Value {
        let mut manifest = item.target.desired.object().clone();
        if builtin_kind(&item.target.key.gvk).is_none() {
            take_out_refused_nulls(&mut manifest, self.ground.of(&item.target));
        }
        if item.in_set {
            let labels = &mut manifest["metadata"]["labels"];
            if !labels.is_object() {
                *labels = json!({});
            }
            labels[PART_OF] = json!(self.set.id);
        }
        manifest
    }

    pub fn is_member(&self, live: &Value) -> bool {
        apply_set::part_of(live) == Some(self.set.id.as_str())
    }

    /// The live objects, in the order of the items.
    pub fn live(&self) -> Vec<Option<Value>> {
        let all = futures::stream::iter(&self.items).map(|item| self.ground.find(&item.target)).buffered(AT_ONCE);
        wait_for(all.collect())
    }

    /// Changes some of the manifests, takes some away and brings some back, so that the server would take each of them.
    pub fn advance(&mut self, rng: &mut Rng) {
        for _ in 0..=self.items.len() / 8 {
            let at = rng.below(self.items.len());
            let item = &self.items[at];
            if rng.chance(25) {
                self.items[at].present = !item.present;
            } else if let Some(target) = self.changed(item, rng) {
                self.items[at].target = target;
            }
            self.write(&self.items[at]);
        }
    }

    /// Copies the manifests of a folder to another one, which has nothing else then. Returns its path.
    pub fn copy(&self, folder: &str, to: &str) -> PathBuf {
        let from = self.ws.folder().join(folder);
        let to = self.ws.folder().join(to);
        let _ = fs::remove_dir_all(&to);
        fs::create_dir_all(&to).expect("a folder of the soak");
        for entry in fs::read_dir(from).into_iter().flatten().flatten() {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy of a manifest");
        }
        to
    }

    fn changed(&self, item: &Item, rng: &mut Rng) -> Option<Target> {
        let from = if rng.chance(60) { &item.original } else { item.target.desired.object() };
        let mut changed = from.clone();
        for _ in 0..=rng.below(2) {
            manifest::change(&self.ground, &item.target, &mut changed, rng);
        }
        // The program leaves it out, with a warning.
        if changed["status"].is_null() {
            changed.as_object_mut()?.remove("status");
        }
        // The garbage collector deletes what is owned by nothing.
        changed["metadata"].as_object_mut()?.remove("ownerReferences");
        let target = self.ground.read_manifests(&complete(&item.target, changed).to_string())?.pop()?;
        let body = target.desired.object();
        let answer = wait_for(self.ground.apply(&target, body, OURS, "&dryRun=All&force=true"));
        (answer.is_ok() && target.key == item.target.key).then_some(target)
    }

    fn write(&self, item: &Item) {
        let file = self.ws.folder().join(item.file());
        if item.present {
            self.ws.write(item.file(), &item.target.desired.object().to_string());
        } else if file.exists() {
            fs::remove_file(file).expect("a file of the soak");
        }
    }
}

/// Whether an object is on its way out.
pub fn is_terminating(live: &Value) -> bool {
    live.pointer("/metadata/deletionTimestamp").is_some()
}

/// The manifest with the namespace that its object is in.
fn complete(target: &Target, mut manifest: Value) -> Value {
    if let Some(namespace) = &target.key.namespace {
        manifest["metadata"]["namespace"] = json!(namespace);
    }
    manifest
}

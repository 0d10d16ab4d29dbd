//! From a document to a [`Manifest`]: checks the fields that every object needs, and leaves out those that do not belong there.

use std::path::MAIN_SEPARATOR;

use kube_yaml::{Positions, Step};
use serde_json::{Map, Value};
use structured_merge::{GroupVersionKind, LAST_APPLIED, ObjectMeta as _, SERVER_METADATA};

use super::built::Written;
use super::manifest::{Manifest, Remarks};
use super::mismatch::{Expected, advice, mismatch};
use super::source::{CHART, Source, rendered_by_helm};
use crate::diagnostic::{Diagnostic, is_kustomization};
use crate::object::names::{
    MAX_ANNOTATIONS, annotation_key_refused, label_key_refused, label_value_refused, name_refused, namespace_refused,
    path_segment_refused,
};
use crate::object::{indefinite, refused_names};
use crate::rules::{FieldPattern, IGNORE_ANNOTATION, annotated};
use crate::text::one_line;

/// The largest number of mistakes that are reported of one object, as of one document: each is looked for among all its fields.
const MAX_MISTAKES: usize = 100;
/// The API group of kustomizations, which no server has.
pub const KUSTOMIZE: &str = "kustomize.config.k8s.io";
/// Longest text of the input in a message, in characters.
const QUOTED: usize = 253;
/// The most names in one CustomResourceDefinition that are reported.
const MOST_NAMES: usize = 10;
/// Annotations in which a component of Kubernetes keeps its books on objects of a kind, by group, kind and key. In a manifest they are
/// a copy of what the component once wrote. Annotations that people set as well, such as `pv.kubernetes.io/provisioned-by` of a volume
/// that was made by hand, are not among them.
const OF_CONTROLLERS: [(&str, &str, &str); 27] = [
    // `pkg/controller/deployment/util/deployment_util.go`
    ("apps", "Deployment", "deployment.kubernetes.io/revision"),
    ("apps", "ReplicaSet", "deployment.kubernetes.io/revision"),
    ("apps", "ReplicaSet", "deployment.kubernetes.io/revision-history"),
    ("apps", "ReplicaSet", "deployment.kubernetes.io/desired-replicas"),
    ("apps", "ReplicaSet", "deployment.kubernetes.io/max-replicas"),
    // `k8s.io/api/apps/v1/types.go`, `DeprecatedTemplateGeneration`
    ("apps", "DaemonSet", "deprecated.daemonset.template.generation"),
    ("apps", "ControllerRevision", "deprecated.daemonset.template.generation"),
    // `k8s.io/component-helpers/storage/volume/pv_helpers.go`, `pkg/volume/util/util.go`
    ("", "PersistentVolumeClaim", "pv.kubernetes.io/bind-completed"),
    ("", "PersistentVolumeClaim", "pv.kubernetes.io/bound-by-controller"),
    ("", "PersistentVolumeClaim", "pv.kubernetes.io/migrated-to"),
    ("", "PersistentVolumeClaim", "volume.kubernetes.io/selected-node"),
    ("", "PersistentVolumeClaim", "volume.kubernetes.io/storage-provisioner"),
    ("", "PersistentVolumeClaim", "volume.beta.kubernetes.io/storage-provisioner"),
    ("", "PersistentVolumeClaim", "volume.kubernetes.io/storage-resizer"),
    ("", "PersistentVolume", "pv.kubernetes.io/bound-by-controller"),
    ("", "PersistentVolume", "pv.kubernetes.io/migrated-to"),
    // `k8s.io/api/core/v1/annotation_key_constants.go`
    ("", "Endpoints", "endpoints.kubernetes.io/last-change-trigger-time"),
    ("", "Endpoints", "endpoints.kubernetes.io/over-capacity"),
    ("discovery.k8s.io", "EndpointSlice", "endpoints.kubernetes.io/last-change-trigger-time"),
    ("", "Node", "node.alpha.kubernetes.io/ttl"),
    ("storage.k8s.io", "CSINode", "storage.alpha.kubernetes.io/migrated-plugins"),
    // client-go `tools/leaderelection/resourcelock`, before leases
    ("", "Endpoints", "control-plane.alpha.kubernetes.io/leader"),
    ("", "ConfigMap", "control-plane.alpha.kubernetes.io/leader"),
    // `k8s.io/api/batch/v1/types.go`
    ("batch", "Job", "batch.kubernetes.io/job-tracking"),
    ("batch", "Job", "batch.kubernetes.io/cronjob-scheduled-timestamp"),
    // `pkg/apis/autoscaling/annotations.go`
    ("autoscaling", "HorizontalPodAutoscaler", "autoscaling.alpha.kubernetes.io/conditions"),
    ("autoscaling", "HorizontalPodAutoscaler", "autoscaling.alpha.kubernetes.io/current-metrics"),
];

/// Makes a manifest, or returns all errors that make the object unreadable. Errors that the API would find in a readable object
/// stay with the manifest.
pub(super) fn manifest(
    value: Value,
    positions: Positions,
    source: Source,
    text: Written,
) -> Result<Manifest, Vec<Diagnostic>> {
    let mut manifest = Manifest::read(value, positions, source, text);
    let check = Check { manifest: &manifest, diagnostics: Vec::new(), refused: Vec::new(), ignored: Vec::new() };
    let Check { diagnostics, refused, ignored, .. } = check.run();
    if !diagnostics.is_empty() {
        let mut all = [diagnostics, refused].concat();
        all.sort_by(|a, b| a.location.cmp(&b.location));
        return Err(all);
    }
    let left_out = leave_out_bookkeeping(manifest.object.get_mut(), &manifest.gvk);
    manifest.remarks = Remarks { left_out, refused, ignored, ..Remarks::default() }.into();
    manifest.is_plain = is_plain(manifest.object());
    manifest.object.pack();
    Ok(manifest)
}

/// Returns true if a [`DesiredObject`](super::DesiredObject) has nothing to leave out of this object or to fill in.
fn is_plain(object: &Value) -> bool {
    fn holds_nothing(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.iter().any(holds_nothing),
            Value::Object(map) => map.values().any(holds_nothing),
            Value::Bool(_) | Value::Number(_) => false,
        }
    }
    let is_text = object.metadata("namespace").is_none_or(Value::is_string);
    let is_cut = ["status", "aggregationRule"].iter().any(|field| object.get(field).is_some());
    is_text && !is_cut && !holds_nothing(object)
}

struct Check<'m> {
    manifest: &'m Manifest,
    /// Errors that make the object unreadable.
    diagnostics: Vec<Diagnostic>,
    /// Errors for which the API refuses the object.
    refused: Vec<Diagnostic>,
    /// The fields to ignore.
    ignored: Vec<FieldPattern>,
}

impl Check<'_> {
    fn run(mut self) -> Self {
        if let Some((message, hint)) = self.source_of_others() {
            let diagnostic = self.manifest.origin.diagnostic_at_key(&[Step::Key("apiVersion")], message);
            self.diagnostics.push(diagnostic.with_hint(hint));
            return self;
        }
        if let Value::Object(fields) = self.manifest.object()
            && !["apiVersion", "kind", "metadata"].iter().any(|name| fields.contains_key(*name))
        {
            // Such as the values of a chart.
            let hint = "every object needs `apiVersion`, `kind` and `metadata.name`";
            let at = [Step::Key("apiVersion")];
            let diagnostic = self.manifest.origin.diagnostic_at_key(&at, "this is not a Kubernetes object");
            self.diagnostics.push(diagnostic.with_hint(hint));
            return self;
        }
        self.required(&["apiVersion"]);
        self.required(&["kind"]);
        match self.manifest.object().get("metadata") {
            Some(Value::Object(metadata)) => self.metadata(metadata),
            Some(Value::Null) | None => self.required(&["metadata", "name"]),
            Some(other) => {
                let steps = [Step::Key("metadata")];
                self.of_value(&steps, Expected::Mapping, other, "metadata");
            }
        }
        if self.manifest.gvk.is_crd() {
            self.definition();
        }
        for diagnostics in [&mut self.diagnostics, &mut self.refused] {
            diagnostics.sort_by(|a, b| a.location.cmp(&b.location));
        }
        self
    }

    /// Checks the names in a CustomResourceDefinition. The first mistakes are enough.
    fn definition(&mut self) {
        for refused in refused_names(self.manifest.object()).take(MOST_NAMES) {
            let diagnostic = self.manifest.origin.diagnostic_at_value(&refused.path, refused.message);
            self.refused.push(diagnostic.with_hint(refused.rule));
        }
    }

    /// The message and the hint for a file from which another program makes manifests: a kustomization, and the description of a chart.
    fn source_of_others(&self) -> Option<(&'static str, String)> {
        let Manifest { origin, gvk, .. } = self.manifest;
        let object = self.manifest.object();
        // What was built from a kustomization has its name, and was read from no file.
        origin.text.file()?;
        let (above, name) = origin.source.file.rsplit_once(['/', MAIN_SEPARATOR]).unwrap_or((".", &origin.source.file));
        let directory = if above.is_empty() { "/" } else { above };
        let has = |key: &str| object.get(key).is_some();
        let is_object = object.pointer("/metadata/name").is_some();
        let is_of_kustomize = gvk.group == KUSTOMIZE || !has("apiVersion");
        match name {
            _ if is_kustomization(name) && is_of_kustomize && !is_object => {
                let message = "this is a kustomization, not a Kubernetes object";
                Some((message, format!("pass `-k {directory}`, or what `kubectl kustomize {directory}` prints")))
            }
            CHART if has("name") && has("version") && !has("kind") => {
                Some(("this describes a Helm chart and is not a Kubernetes object", rendered_by_helm(directory)))
            }
            _ => None,
        }
    }

    /// Checks a string that every object has.
    fn required(&mut self, path: &[&str]) {
        let found = path.iter().try_fold(self.manifest.object(), |value, key| value.get(key));
        if matches!(found, Some(Value::String(text)) if !text.is_empty()) {
            return;
        }
        let steps: Vec<Step<'_>> = path.iter().map(|key| Step::Key(key)).collect();
        let name = path.join(".");
        match found {
            None | Some(Value::Null | Value::String(_)) => {
                let diagnostic = self.manifest.origin.diagnostic_at_key(&steps, format!("`{name}` is missing"));
                let has_metadata = self.manifest.object().get("metadata").is_some();
                let hint = match path {
                    ["metadata", key] if has_metadata && self.manifest.object().get(key).is_some() => {
                        format!("`{key}` is next to `metadata`: indent it to move it inside")
                    }
                    _ => format!("every object needs `{name}`"),
                };
                self.diagnostics.push(diagnostic.with_hint(hint));
            }
            Some(other) => self.of_value(&steps, Expected::Text, other, &name),
        }
    }

    fn of_value(&mut self, steps: &[Step<'_>], expected: Expected, found: &Value, name: &str) {
        let message = format!("`{name}`: {}", mismatch(expected, found));
        let mut diagnostic = self.manifest.origin.diagnostic_at_value(steps, message);
        diagnostic.hint = advice(expected, found, diagnostic.written().as_deref());
        self.diagnostics.push(diagnostic);
    }

    fn metadata(&mut self, metadata: &Map<String, Value>) {
        if metadata.get("name").is_none_or(Value::is_null) && metadata.contains_key("generateName") {
            let message =
                "`metadata.generateName` cannot be compared or applied, because every run would create another object";
            let at = [Step::Key("metadata"), Step::Key("generateName")];
            let diagnostic = self.manifest.origin.diagnostic_at_key(&at, message);
            self.diagnostics.push(diagnostic.with_hint("give the object a `metadata.name`"));
        } else {
            self.required(&["metadata", "name"]);
            let Manifest { gvk, name, .. } = self.manifest;
            if !name.is_empty() {
                let message = || format!("`{}` cannot be the name of {}", quoted(name), quoted(&indefinite(&gvk.kind)));
                if let Some(rule) = path_segment_refused(name) {
                    self.diagnostics.push(self.bad_name("name", message()).with_hint(rule));
                } else if let Some(rule) = name_refused(gvk, name) {
                    self.refused.push(self.bad_name("name", message()).with_hint(rule));
                }
            }
        }
        match metadata.get("namespace") {
            None | Some(Value::Null) => {}
            Some(Value::String(namespace)) if namespace.is_empty() => {}
            Some(Value::String(namespace)) => {
                let message = || format!("`{}` cannot be a namespace", quoted(namespace));
                let rule = namespace_refused(namespace);
                self.diagnostics.extend(rule.map(|rule| self.bad_name("namespace", message()).with_hint(rule)));
            }
            Some(other) => {
                let at = [Step::Key("metadata"), Step::Key("namespace")];
                self.of_value(&at, Expected::Text, other, "metadata.namespace");
            }
        }
        for part in ["labels", "annotations"] {
            match metadata.get(part) {
                None | Some(Value::Null) => {}
                Some(Value::Object(entries)) => self.entries(part, entries),
                Some(other) => {
                    let at = [Step::Key("metadata"), Step::Key(part)];
                    self.of_value(&at, Expected::Mapping, other, &format!("metadata.{part}"));
                }
            }
        }
    }

    /// Returns true if enough mistakes of the object were found.
    fn is_full(&self) -> bool {
        self.diagnostics.len().saturating_add(self.refused.len()) >= MAX_MISTAKES
    }

    /// Reads the annotation that names fields to ignore.
    fn ignored_fields(&mut self, value: &str) {
        match annotated(value) {
            Ok(fields) => self.ignored = fields,
            Err(error) => {
                let at = [Step::Key("metadata"), Step::Key("annotations"), Step::Key(IGNORE_ANNOTATION)];
                let diagnostic = self.manifest.origin.diagnostic_at_value(&at, error.message);
                self.diagnostics.push(diagnostic.with_hint(error.hint));
            }
        }
    }

    fn bad_name(&self, key: &str, message: String) -> Diagnostic {
        self.manifest.origin.diagnostic_at_value(&[Step::Key("metadata"), Step::Key(key)], message)
    }

    /// Checks labels or annotations: strings by keys. A null is no entry.
    fn entries(&mut self, part: &str, entries: &Map<String, Value>) {
        let sent = entries.iter().filter(|(key, _)| *key != LAST_APPLIED);
        let size = || sent.flat_map(|(key, value)| [key.len(), value.as_str().map_or(0, str::len)]).sum::<usize>();
        if part == "annotations" && size() > MAX_ANNOTATIONS {
            let at = [Step::Key("metadata"), Step::Key(part)];
            let diagnostic = self.manifest.origin.diagnostic_at_key(&at, "the annotations are too long");
            self.refused.push(diagnostic.with_hint("256 KiB are allowed for all of them together"));
        }
        for (key, value) in entries {
            if self.is_full() {
                return;
            }
            let at = [Step::Key("metadata"), Step::Key(part), Step::Key(key)];
            let what = if part == "labels" { "label" } else { "annotation" };
            let key_refused = if part == "labels" { label_key_refused } else { annotation_key_refused };
            if let Some(rule) = key_refused(key) {
                let message = format!("`{}` cannot be the key of {}", quoted(key), indefinite(what));
                self.refused.push(self.manifest.origin.diagnostic_at_key(&at, message).with_hint(rule));
            }
            match value {
                Value::Null => {}
                Value::String(text) => {
                    if part == "annotations" && key == IGNORE_ANNOTATION {
                        self.ignored_fields(text);
                    }
                    if part == "labels"
                        && let Some(rule) = label_value_refused(text)
                    {
                        let message = format!("the label `{}` cannot have this value", quoted(key));
                        self.refused.push(self.manifest.origin.diagnostic_at_value(&at, message).with_hint(rule));
                    }
                }
                other => self.of_value(&at, Expected::Text, other, &format!("metadata.{part}[\"{}\"]", quoted(key))),
            }
        }
    }
}

/// A text of the input in a message: on one line, whatever it is.
fn quoted(text: &str) -> String {
    one_line(text, QUOTED)
}

/// Removes the fields and annotations that a server, a controller or kubectl writes, so that the output of `kubectl get -o yaml` works
/// as input. Returns the names of those that had a value.
fn leave_out_bookkeeping(object: &mut Value, gvk: &GroupVersionKind) -> Vec<String> {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return Vec::new() };
    let mut left_out = Vec::new();
    for name in SERVER_METADATA {
        if metadata.remove(name).is_some_and(|value| !value.is_null()) {
            left_out.push(format!("`metadata.{name}`"));
        }
    }
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        let before = annotations.len();
        let is_for = |(group, kind, _): &&(&str, &str, &str)| gvk.group == *group && gvk.kind == *kind;
        let of_controllers = OF_CONTROLLERS.iter().filter(is_for).map(|(_, _, key)| *key);
        for key in std::iter::once(LAST_APPLIED).chain(of_controllers) {
            if annotations.remove(key).is_some() {
                left_out.push(format!("the annotation `{key}`"));
            }
        }
        if annotations.is_empty() && before > 0 {
            metadata.remove("annotations");
        }
    }
    left_out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::read_alone;

    #[test]
    fn names_with_line_breaks_stay_on_one_line() {
        let forged = "x\n3 in sync\r\n\u{2028}error: y";
        for metadata in [
            json!({"name": forged}),
            json!({"name": "a", "namespace": forged}),
            json!({"name": "a", "labels": {forged: "a"}}),
            json!({"name": "a", "labels": {forged: 5}}),
            json!({"name": "a", "labels": {"a": forged}}),
            json!({"name": "a", "annotations": {forged: "a"}}),
            json!({"name": "a", "annotations": {"kubectl-reconcile/ignore": format!("[{forged}")}}),
        ] {
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
            let message = read_alone(object.to_string().into_bytes()).unwrap_err().message;
            assert!(!message.contains(['\n', '\r', '\u{2028}']), "{message:?}");
        }
    }

    #[test]
    fn what_controllers_write_is_left_out_of_their_kinds_alone() {
        let annotations = json!({"deployment.kubernetes.io/revision": "3", "team": "shop", LAST_APPLIED: "{}"});
        let left = |api_version: &str, kind: &str| {
            let mut object = json!({"metadata": {"uid": "1", "annotations": annotations}});
            let names = leave_out_bookkeeping(&mut object, &GroupVersionKind::new(api_version, kind));
            (names.len(), object["metadata"]["annotations"].clone())
        };
        assert_eq!(left("apps/v1", "Deployment"), (3, json!({"team": "shop"})));
        let kept = json!({"deployment.kubernetes.io/revision": "3", "team": "shop"});
        assert_eq!(left("example.com/v1", "Deployment"), (2, kept));
        let mut only = json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "3"}}});
        leave_out_bookkeeping(&mut only, &GroupVersionKind::new("apps/v1", "Deployment"));
        assert_eq!(only, json!({"metadata": {}}));
    }
}

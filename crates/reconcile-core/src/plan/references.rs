//! The objects that a manifest refers to, and how strongly it depends on them.

use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey};

use super::dependency::DependencyKind::{self, Existence, Inside, Order, Success};

/// An object that a manifest refers to. The version does not matter: it is the same object in every version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference<'m> {
    /// API group; empty for the core group.
    pub group: &'m str,
    /// Kind.
    pub kind: &'m str,
    /// The namespace; `None` for a cluster-scoped object.
    pub namespace: Option<&'m str>,
    /// Name.
    pub name: &'m str,
    /// The strength of the dependency.
    pub strength: DependencyKind,
}

impl Reference<'_> {
    /// Returns true if it refers to this object.
    pub fn is(&self, key: &ObjectKey) -> bool {
        (self.group, self.kind, self.namespace, self.name) == key.without_version()
    }
}

/// The paths of the pod spec in workloads, also in custom ones.
const POD_SPECS: [&str; 4] = ["/spec/template/spec", "/spec/jobTemplate/spec/template/spec", "/template/spec", "/spec"];

/// The pod spec of a Pod, a workload or a template, also of a custom one.
pub fn pod_spec(manifest: &Value) -> Option<&Value> {
    let mut specs = POD_SPECS.iter().filter_map(|pointer| manifest.pointer(pointer));
    specs.find(|spec| spec.get("containers").is_some_and(Value::is_array))
}

/// The objects that a manifest refers to. The fields of the built-in types are read; pod specs are found in custom workloads
/// as well.
pub fn references<'m>(key: &'m ObjectKey, manifest: &'m Value) -> Vec<Reference<'m>> {
    let mut finder = ReferenceFinder { namespace: key.namespace.as_deref(), references: Vec::new() };
    if let Some(namespace) = &key.namespace {
        finder.add("", "Namespace", None, Some(namespace), Inside);
    }
    if let Some(spec) = pod_spec(manifest) {
        finder.pod(spec);
    }
    finder.of_kind(&key.gvk, manifest);
    finder.references
}

struct ReferenceFinder<'a> {
    namespace: Option<&'a str>,
    references: Vec<Reference<'a>>,
}

impl<'a> ReferenceFinder<'a> {
    fn add(
        &mut self,
        group: &'a str,
        kind: &'a str,
        namespace: Option<&'a str>,
        name: Option<&'a str>,
        strength: DependencyKind,
    ) {
        let name = name.filter(|name| !name.is_empty());
        self.references.extend(name.map(|name| Reference { group, kind, namespace, name, strength }));
    }

    /// Adds an object in the namespace of the manifest.
    fn in_same_namespace(&mut self, group: &'a str, kind: &'a str, name: Option<&'a str>, strength: DependencyKind) {
        self.add(group, kind, self.namespace, name, strength);
    }

    /// Adds a class, a volume or another cluster-scoped object.
    fn cluster_scoped(&mut self, group: &'a str, kind: &'a str, name: Option<&'a str>, strength: DependencyKind) {
        self.add(group, kind, None, name, strength);
    }

    /// `core/v1` `PodSpec`: a pod does not start without what it names, unless that is `optional`.
    fn pod(&mut self, spec: &'a Value) {
        let account = text(spec, "/serviceAccountName").or_else(|| text(spec, "/serviceAccount"));
        self.in_same_namespace("", "ServiceAccount", account, Success);
        self.cluster_scoped("scheduling.k8s.io", "PriorityClass", text(spec, "/priorityClassName"), Success);
        self.cluster_scoped("node.k8s.io", "RuntimeClass", text(spec, "/runtimeClassName"), Success);
        for secret in items(spec, "/imagePullSecrets") {
            self.in_same_namespace("", "Secret", text(secret, "/name"), Order);
        }
        for claim in items(spec, "/resourceClaims") {
            let template = text(claim, "/resourceClaimTemplateName");
            self.in_same_namespace("resource.k8s.io", "ResourceClaim", text(claim, "/resourceClaimName"), Success);
            self.in_same_namespace("resource.k8s.io", "ResourceClaimTemplate", template, Success);
        }
        for volume in items(spec, "/volumes") {
            self.volume(volume);
        }
        for list in ["/initContainers", "/containers", "/ephemeralContainers"] {
            for container in items(spec, list) {
                self.container(container);
            }
        }
    }

    fn volume(&mut self, volume: &'a Value) {
        let claim = text(volume, "/persistentVolumeClaim/claimName");
        self.in_same_namespace("", "PersistentVolumeClaim", claim, Success);
        self.configuration("Secret", volume.get("secret"), "/secretName");
        self.configuration("ConfigMap", volume.get("configMap"), "/name");
        for source in items(volume, "/projected/sources") {
            self.configuration("Secret", source.get("secret"), "/name");
            self.configuration("ConfigMap", source.get("configMap"), "/name");
        }
        // The in-tree drivers name their credentials alike (`secretRef`, CSI `nodePublishSecretRef`).
        let drivers = volume.as_object().into_iter().flatten().filter_map(|(_, driver)| driver.as_object());
        for driver in drivers {
            let secrets = ["secretRef", "nodePublishSecretRef"].iter().filter_map(|name| driver.get(*name));
            for secret in secrets {
                self.in_same_namespace("", "Secret", text(secret, "/name"), Success);
            }
        }
    }

    fn container(&mut self, container: &'a Value) {
        for source in items(container, "/envFrom") {
            self.configuration("Secret", source.get("secretRef"), "/name");
            self.configuration("ConfigMap", source.get("configMapRef"), "/name");
        }
        for source in items(container, "/env").filter_map(|variable| variable.get("valueFrom")) {
            self.configuration("Secret", source.get("secretKeyRef"), "/name");
            self.configuration("ConfigMap", source.get("configMapKeyRef"), "/name");
        }
    }

    fn configuration(&mut self, kind: &'a str, source: Option<&'a Value>, name: &str) {
        let Some(source) = source else { return };
        let optional = source.get("optional").and_then(Value::as_bool).unwrap_or(false);
        self.in_same_namespace("", kind, text(source, name), if optional { Order } else { Success });
    }

    /// Adds the references of the built-in kinds outside of pod specs.
    fn of_kind(&mut self, gvk: &'a GroupVersionKind, manifest: &'a Value) {
        match (gvk.group.as_str(), gvk.kind.as_str()) {
            // Not `secrets`: the account may list its own tokens, and those come after it.
            ("", "ServiceAccount") => {
                for secret in items(manifest, "/imagePullSecrets") {
                    self.in_same_namespace("", "Secret", text(secret, "/name"), Order);
                }
            }
            // The token controller deletes a token of an account that does not exist.
            ("", "Secret") if text(manifest, "/type") == Some("kubernetes.io/service-account-token") => {
                let annotations = at(manifest, "/metadata/annotations");
                let account = annotations.and_then(|annotations| annotations.get("kubernetes.io/service-account.name"));
                self.in_same_namespace("", "ServiceAccount", account.and_then(Value::as_str), Existence);
            }
            ("", "PersistentVolumeClaim") => self.claim(manifest.get("spec")),
            ("", "PersistentVolume") => self.storage_class(manifest.get("spec")),
            ("apps", "StatefulSet") => {
                self.in_same_namespace("", "Service", text(manifest, "/spec/serviceName"), Order);
                for claim in items(manifest, "/spec/volumeClaimTemplates") {
                    self.claim(claim.get("spec"));
                }
            }
            ("autoscaling", "HorizontalPodAutoscaler") => {
                let target = |field| at(manifest, "/spec/scaleTargetRef").and_then(|target| text(target, field));
                let version = target("/apiVersion").and_then(|version| version.split_once('/'));
                let group = version.map_or("", |(group, _)| group);
                let kind = target("/kind").unwrap_or_default();
                self.in_same_namespace(group, kind, target("/name"), Existence);
            }
            ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => self.binding(gvk, manifest),
            ("networking.k8s.io", "Ingress") => self.ingress(manifest),
            ("admissionregistration.k8s.io", kind) => self.admission(kind, manifest),
            ("apiregistration.k8s.io", "APIService") => self.service(manifest.pointer("/spec/service")),
            _ => {}
        }
    }

    fn claim(&mut self, spec: Option<&'a Value>) {
        self.storage_class(spec);
        let volume = spec.and_then(|spec| text(spec, "/volumeName"));
        self.cluster_scoped("", "PersistentVolume", volume, Existence);
    }

    fn storage_class(&mut self, spec: Option<&'a Value>) {
        let class = spec.and_then(|spec| text(spec, "/storageClassName"));
        self.cluster_scoped("storage.k8s.io", "StorageClass", class, Existence);
    }

    fn binding(&mut self, gvk: &'a GroupVersionKind, manifest: &'a Value) {
        let role = text(manifest, "/roleRef/name");
        match text(manifest, "/roleRef/kind") {
            Some("Role") => self.in_same_namespace(&gvk.group, "Role", role, Existence),
            Some("ClusterRole") => self.cluster_scoped(&gvk.group, "ClusterRole", role, Existence),
            _ => {}
        }
        for (namespace, name) in subjects(manifest) {
            self.add("", "ServiceAccount", namespace.or(self.namespace), Some(name), Order);
        }
    }

    fn ingress(&mut self, manifest: &'a Value) {
        let class = text(manifest, "/spec/ingressClassName");
        self.cluster_scoped("networking.k8s.io", "IngressClass", class, Existence);
        let paths = items(manifest, "/spec/rules").flat_map(|rule| items(rule, "/http/paths"));
        let backends = paths.map(|path| text(path, "/backend/service/name"));
        for name in backends.chain([text(manifest, "/spec/defaultBackend/service/name")]) {
            self.in_same_namespace("", "Service", name, Order);
        }
        for tls in items(manifest, "/spec/tls") {
            self.in_same_namespace("", "Secret", text(tls, "/secretName"), Order);
        }
    }

    fn admission(&mut self, kind: &str, manifest: &'a Value) {
        let policy = match kind {
            "ValidatingAdmissionPolicyBinding" => "ValidatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding" => "MutatingAdmissionPolicy",
            _ => {
                items(manifest, "/webhooks").for_each(|webhook| self.service(webhook.pointer("/clientConfig/service")));
                return;
            }
        };
        let name = text(manifest, "/spec/policyName");
        self.cluster_scoped("admissionregistration.k8s.io", policy, name, Existence);
    }

    /// Adds a service that receives requests of all users: the object that sends them there must not exist before it.
    fn service(&mut self, service: Option<&'a Value>) {
        let Some(service) = service else { return };
        self.add("", "Service", text(service, "/namespace"), text(service, "/name"), Success);
    }
}

/// The service accounts that a binding gives rights to: namespace and name.
pub fn subjects(binding: &Value) -> impl Iterator<Item = (Option<&str>, &str)> {
    items(binding, "/subjects")
        .filter(|subject| text(subject, "/kind") == Some("ServiceAccount"))
        .filter_map(|subject| text(subject, "/name").map(|name| (text(subject, "/namespace"), name)))
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    at(value, pointer).and_then(Value::as_str)
}

fn items<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    at(value, pointer).and_then(Value::as_array).into_iter().flatten()
}

/// A value by a pointer that needs no unescaping, which takes most of the time of [`Value::pointer`].
pub(super) fn at<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    pointer.split('/').skip(1).try_fold(value, |value, name| value.get(name))
}

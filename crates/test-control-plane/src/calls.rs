//! Calls of our program and of `kubectl` in a workspace.

use serde_json::{Value, json};

use super::caller::Caller;
use super::credentials::ADMIN;
use super::definition::definition;
use super::run::Run;
use super::running::Running;
use super::wait::wait_until;
use super::workspace::Workspace;

impl Workspace {
    /// Calls as another user.
    pub fn as_user(&self, user: &str) -> Caller<'_> {
        Caller::new(self, user)
    }

    /// Calls with this text on standard input.
    pub fn stdin(&self, text: &str) -> Caller<'_> {
        self.as_user(ADMIN).stdin(text)
    }

    /// Calls with this environment variable.
    pub fn env(&self, name: &str, value: &str) -> Caller<'_> {
        self.as_user(ADMIN).env(name, value)
    }

    /// Calls with another URL of the API server: that of a `Relay` or `Proxy` in front of it.
    pub fn through(&self, url: &str) -> Caller<'_> {
        self.as_user(ADMIN).through(url)
    }

    /// Runs our program as the administrator.
    #[track_caller]
    pub fn reconcile<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        self.as_user(ADMIN).reconcile(arguments)
    }

    /// Starts our program as the administrator, without waiting for its end.
    pub fn start_reconcile<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Running {
        self.as_user(ADMIN).start_reconcile(arguments)
    }

    /// Runs `kubectl` as the administrator.
    pub fn kubectl<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        self.as_user(ADMIN).kubectl(arguments)
    }

    /// Allows a user `verbs` on `resources` in the namespace. Both are comma-separated lists, as in
    /// `configmaps,deployments.apps`. Returns when the server knows it, a moment after it has stored the role.
    #[track_caller]
    pub fn allow(&self, user: &str, verbs: &str, resources: &str) {
        let name = format!("{user}-{verbs}-{resources}").replace(['.', ',', '/', '*'], "-");
        let role = ["create", "role", &name, "--verb", verbs, "--resource", resources, "-o", "json"];
        let role = self.kubectl(role).exits_with(0);
        self.kubectl(["create", "rolebinding", &name, "--role", &name, "--user", user]).exits_with(0);
        for rule in role.report()["rules"].as_array().into_iter().flatten() {
            let last =
                |field: &str| rule[field].as_array().and_then(|values| values.last()?.as_str()).unwrap_or_default();
            for resource in rule["resources"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                wait_until(&format!("{user} may {verbs} {resources}"), || {
                    self.may(user, last("verbs"), last("apiGroups"), resource)
                });
            }
        }
    }

    /// Returns true if the server lets a user do this in the namespace.
    fn may(&self, user: &str, verb: &str, group: &str, resource: &str) -> bool {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let review = self.plane().api().create(
            "/apis/authorization.k8s.io/v1/subjectaccessreviews",
            &json!({"spec": {"user": user, "resourceAttributes": {
                "namespace": self.namespace(), "verb": verb, "group": group, "resource": resource, "subresource": subresource,
            }}}),
        );
        review["status"]["allowed"] == true
    }

    /// Server-side apply of a manifest by another manager, with force.
    #[track_caller]
    pub fn apply_as(&self, manager: &str, manifest: &str) {
        let flags = ["apply", "--server-side", "--force-conflicts", "--field-manager", manager, "-f", "-"];
        self.stdin(manifest).kubectl(flags).exits_with(0);
    }

    /// A merge patch (an update, not an apply) by another manager, of `object` as in `deployment/web`.
    #[track_caller]
    pub fn patch_as(&self, manager: &str, object: &str, patch: &Value) {
        let patch = patch.to_string();
        self.kubectl(["patch", object, "--type=merge", "--field-manager", manager, "-p", &patch]).exits_with(0);
    }

    /// Creates the [`definition`] of a kind, and waits until the server has published its types.
    #[track_caller]
    pub fn define(&self, kind: &str, spec: &str) {
        self.stdin(&definition(kind, spec)).kubectl(["create", "-f", "-"]).exits_with(0);
        self.wait_for_types();
    }

    /// `kubectl scale`
    #[track_caller]
    pub fn scale(&self, object: &str, replicas: u32) {
        self.kubectl(["scale", object, "--replicas", &replicas.to_string()]).exits_with(0);
    }

    /// `kubectl delete`
    #[track_caller]
    pub fn delete(&self, object: &str) {
        self.kubectl(["delete", object, "--wait=false"]).exits_with(0);
    }
}

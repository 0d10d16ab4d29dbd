//! Calls of our program and of `kubectl` in a workspace.

use serde_json::Value;

use super::caller::Caller;
use super::credentials::ADMIN;
use super::definition::definition;
use super::run::Run;
use super::running::Running;
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
    /// `configmaps,deployments.apps`.
    #[track_caller]
    pub fn allow(&self, user: &str, verbs: &str, resources: &str) {
        let role = format!("{user}-{verbs}-{resources}").replace(['.', ',', '/', '*'], "-");
        self.kubectl(["create", "role", &role, "--verb", verbs, "--resource", resources]).exits_with(0);
        self.kubectl(["create", "rolebinding", &role, "--role", &role, "--user", user]).exits_with(0);
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

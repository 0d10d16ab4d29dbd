//! Blocking requests to the API server as the administrator, with which tests prepare and read objects.

use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use http::{Method, Request, Response};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;
use tokio::runtime::Runtime;

pub(super) static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new().expect("a runtime for the requests of the tests"));

/// Media type of aggregated discovery; see KEP-3352.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// A connection to an API server.
pub struct Api {
    client: Client,
}

/// A resource that the server serves, in the version that it prefers.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    pub namespaced: bool,
    pub listable: bool,
}

impl Api {
    pub fn new(kubeconfig: &str) -> Result<Api, String> {
        let failed = |error: &dyn std::fmt::Display| format!("failed to connect to the API server: {error}");
        let kubeconfig = Kubeconfig::from_yaml(kubeconfig).map_err(|error| failed(&error))?;
        RUNTIME.block_on(async {
            let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
            let mut config = config.map_err(|error| failed(&error))?;
            // A test has to see the server's answers at once and unchanged.
            config.default_retry = false;
            config.disable_compression = true;
            let client = Client::try_from(config);
            Ok(Api { client: client.map_err(|error| failed(&error))? })
        })
    }

    /// Sends a request.
    pub(super) async fn send(&self, request: Request<Body>) -> kube::Result<Response<Body>> {
        self.client.send(request).await
    }

    /// Returns true if `/readyz` reports within a second that the server is ready.
    pub fn is_ready(&self) -> bool {
        let request = Request::get("/readyz").body(Vec::new()).expect("a request");
        let answer = self.client.request_text(request);
        RUNTIME.block_on(async { matches!(tokio::time::timeout(Duration::from_secs(1), answer).await, Ok(Ok(_))) })
    }

    /// The object or list at `path`; `None` if it does not exist.
    pub fn find(&self, path: &str) -> Option<Value> {
        let request = || Request::get(path).body(Vec::new()).expect("a request");
        let mut answer = RUNTIME.block_on(self.client.request(request()));
        // Retry while the storage of a kind that another test has just changed is restarted.
        while matches!(&answer, Err(kube::Error::Api(status)) if status.code == 429) {
            thread::sleep(Duration::from_millis(200));
            answer = RUNTIME.block_on(self.client.request(request()));
        }
        match answer {
            Ok(value) => Some(value),
            Err(kube::Error::Api(status)) if status.code == 404 => None,
            Err(error) => panic!("GET {path}: {error}"),
        }
    }

    /// Creates an object in the collection at `path`.
    pub fn create(&self, path: &str, object: &Value) -> Value {
        let request = Request::post(path).header("Content-Type", "application/json").body(object.to_string().into());
        let answer = RUNTIME.block_on(self.client.request(request.expect("a request")));
        answer.unwrap_or_else(|error| panic!("POST {path}: {error}"))
    }

    /// The object at `path` after a JSON patch (RFC 6902), or the server's refusal.
    pub fn json_patch(&self, path: &str, operations: &Value) -> Result<Value, String> {
        self.write(Method::PATCH, path, "application/json-patch+json", operations)
    }

    /// The object after a write with this media type, or the server's refusal.
    pub fn write(&self, method: Method, path: &str, media: &str, body: &Value) -> Result<Value, String> {
        let request = Request::builder().method(method).uri(path).header("Content-Type", media);
        let request = request.body(body.to_string().into()).expect("a request");
        RUNTIME.block_on(self.client.request(request)).map_err(|error| error.to_string())
    }

    /// All resources that the server serves now, CRDs included; the core group first.
    pub fn resources(&self) -> Vec<Resource> {
        ["/api", "/apis"].into_iter().flat_map(|path| self.resources_at(path)).collect()
    }

    fn resources_at(&self, path: &str) -> Vec<Resource> {
        let request = Request::get(path).header("Accept", AGGREGATED).body(Vec::new()).expect("a request");
        let answer: Value =
            RUNTIME.block_on(self.client.request(request)).unwrap_or_else(|e| panic!("GET {path}: {e}"));
        let mut found: Vec<Resource> = Vec::new();
        for group in items(&answer, "items") {
            for version in items(group, "versions") {
                for resource in items(version, "resources") {
                    let known = |other: &Resource| {
                        other.group == text(group, "/metadata/name") && other.plural == text(resource, "/resource")
                    };
                    if !found.iter().any(known) {
                        found.push(Resource::read(group, version, resource));
                    }
                }
            }
        }
        found
    }
}

impl Resource {
    fn read(group: &Value, version: &Value, resource: &Value) -> Resource {
        Resource {
            group: text(group, "/metadata/name"),
            version: text(version, "/version"),
            kind: text(resource, "/responseKind/kind"),
            plural: text(resource, "/resource"),
            namespaced: text(resource, "/scope") == "Namespaced",
            listable: items(resource, "verbs").iter().any(|verb| verb == "list"),
        }
    }

    /// The path of the collection, in `namespace` if the resource is namespaced.
    pub fn path(&self, namespace: &str) -> String {
        let Resource { group, version, plural, .. } = self;
        let root = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        if self.namespaced { format!("{root}/namespaces/{namespace}/{plural}") } else { format!("{root}/{plural}") }
    }

    /// Returns true for the names `Deployment`, `deployments` or, if that is ambiguous, `Deployment.apps`.
    pub fn is_called(&self, name: &str) -> bool {
        let (kind, group) = name.split_once('.').map_or((name, None), |(kind, group)| (kind, Some(group)));
        (self.kind.eq_ignore_ascii_case(kind) || self.plural == kind) && group.is_none_or(|group| group == self.group)
    }
}

fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

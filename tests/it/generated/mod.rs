//! Manifests of all kinds, made at random from valid ones and the server's own schemas, and a server that accepts them.

mod schemas;

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt as _;
use http::Method;
use kubectl_reconcile::client::{
    Address, Cluster, ConnectOptions, Environment, Request, Retry, StatusError, Warnings, WriteRequest, connect,
};
use kubectl_reconcile::engine::write::{DEFAULT_DELETE_TIMEOUT, Replacements, Writes};
use kubectl_reconcile::live::discover;
use kubectl_reconcile::live::types::Types;
use reconcile_core::compare::{Policy, Redactor};
use reconcile_core::live::resolve::{Namespaces, Target, resolve};
use reconcile_core::live::{Discovery, Resource};
use reconcile_core::manifest::Input;
use reconcile_core::manifest::yaml::Validation;
use reconcile_core::manifest::{DesiredObject, Hooks, Manifest, ReadOptions, read};
use reconcile_core::object::Selector;
use serde_json::{Value, json};
use structured_merge::TypeRef;
use tokio::runtime::Runtime;

pub use crate::control_plane::Rng;
use crate::control_plane::{ControlPlane, is_before};
pub use schemas::{Place, Schemas};

/// The minor version of Kubernetes that serves all kinds.
const NEWEST: u32 = 37;
/// How many objects are dealt with at once.
pub const AT_ONCE: usize = 8;

/// An API server of its own, as the manifests come in kinds that concern everybody, with all that is known of it.
pub struct Ground {
    pub cluster: Cluster,
    pub catalog: Arc<Discovery>,
    pub types: Arc<Types>,
    pub schemas: Arc<Schemas>,
    /// A certificate signing request, in base64.
    request: String,
    plane: Arc<ControlPlane>,
}

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));

/// Runs something on the ground that all tests of generated manifests share.
pub fn on_the_ground<T>(test: impl AsyncFnOnce(&Ground) -> T) -> T {
    static GROUND: LazyLock<Ground> = LazyLock::new(|| Ground::on(ControlPlane::private()));
    let ground = LazyLock::force(&GROUND);
    wait_for(test(ground))
}

/// The value of a future, for what runs apart from the tests' own runtime.
pub fn wait_for<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.block_on(future)
}

/// A connection of the administrator, or of a user whom the administrator impersonates.
async fn connection(plane: &ControlPlane, user: Option<&str>) -> Cluster {
    let folder = tempfile::tempdir().expect("a folder");
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::write(&kubeconfig, plane.kubeconfig("admin", plane.url(), "generated")).expect("a kubeconfig");
    let as_group = user.iter().map(|_| "system:masters".to_owned()).collect();
    let as_user = user.map(ToOwned::to_owned);
    let options = ConnectOptions { kubeconfig: Some(kubeconfig), as_user, as_group, ..ConnectOptions::default() };
    connect(&options, &Environment::default()).await.expect("a connection")
}

impl Ground {
    /// How a write is done in tests: nobody is asked, and nothing interrupts it.
    pub fn writes<'a>(
        &'a self,
        policy: &'a Policy,
        redactor: &'a Redactor,
        replacements: &'a Replacements,
    ) -> Writes<'a> {
        let deletion = DEFAULT_DELETE_TIMEOUT;
        Writes { cluster: &self.cluster, policy, redactor, deletion, agreed: false, replacements }
    }

    /// Makes a control plane the ground: the namespaces of the manifests, and their custom kinds.
    pub fn on(plane: Arc<ControlPlane>) -> Ground {
        RUNTIME.block_on(Ground::prepare(plane))
    }

    async fn prepare(plane: Arc<ControlPlane>) -> Ground {
        let mut ground = Ground {
            cluster: connection(&plane, None).await,
            catalog: Arc::default(),
            types: Arc::default(),
            schemas: Arc::default(),
            request: signing_request(),
            plane,
        };
        for namespace in ["generated", "limited"] {
            let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
            ground.call(Method::POST, "/api/v1/namespaces", "application/json", &body).await.expect("a namespace");
        }
        for crd in values(&file("definitions.yaml")) {
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            ground.call(Method::POST, path, "application/json", &crd).await.expect("a definition");
        }
        ground.learn().await;
        ground
    }

    /// The same server, as it answers a user whom the administrator impersonates.
    pub async fn as_user(&self, name: &str) -> Ground {
        Ground {
            cluster: connection(&self.plane, Some(name)).await,
            catalog: Arc::clone(&self.catalog),
            types: Arc::clone(&self.types),
            schemas: Arc::clone(&self.schemas),
            request: self.request.clone(),
            plane: Arc::clone(&self.plane),
        }
    }

    /// Waits until the custom kinds are served, and reads what the server knows of all kinds.
    async fn learn(&mut self) {
        let groups = ["shapes.example.com/v1", "plain.example.com/v1", "loose.example.com/v1"];
        let deadline = Instant::now() + Duration::from_mins(1);
        let index = loop {
            let index = self.read("/openapi/v3").await;
            if groups.iter().all(|group| index["paths"].get(format!("apis/{group}")).is_some()) {
                break index;
            }
            assert!(Instant::now() < deadline, "the custom kinds are published");
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let mut schemas = Schemas::default();
        for (path, entry) in index["paths"].as_object().expect("an index") {
            let api_version = path.strip_prefix("apis/").or_else(|| path.strip_prefix("api/")).unwrap_or_default();
            if api_version.contains('/') || api_version == "v1" {
                let document = self.read(entry["serverRelativeURL"].as_str().expect("a URL")).await;
                schemas.0.insert(api_version.to_owned(), document);
            }
        }
        self.schemas = Arc::new(schemas);
        self.catalog = Arc::new(discover(&self.cluster).await.expect("a catalog"));
        let targets = self.targets(1, |_| true);
        let mut types = Types::default();
        types.load(&self.cluster, targets.iter().filter_map(|target| target.resource.as_deref().ok())).await;
        self.types = Arc::new(types);
    }

    async fn read(&self, path: &str) -> Value {
        let reply = self.cluster.send(Request::read(address(path).0)).await.expect("an answer");
        serde_json::from_slice(reply.body()).expect("JSON")
    }

    /// One request; a refusal is an answer, too.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        content: &'static str,
        body: &Value,
    ) -> Result<Value, StatusError> {
        let (address, is_dry_run) = address(path);
        let change = WriteRequest::new(method.clone(), address.clone(), content, body.to_string());
        let warnings = Warnings::default();
        let reply = match is_dry_run {
            _ if method == Method::GET => self.cluster.send(Request::read(address)).await,
            true => self.cluster.change(change.dry_run(), &warnings).await,
            false => self.cluster.change(change.write(Retry::Never), &warnings).await,
        };
        match reply {
            Ok(reply) => Ok(serde_json::from_slice(reply.body()).expect("JSON")),
            Err(error) => Err(error.status().cloned().unwrap_or_else(|| panic!("{method} {path}: {error}"))),
        }
    }

    /// A server-side apply; `query` may ask for a dry-run or for force.
    pub async fn apply(&self, target: &Target, body: &Value, manager: &str, query: &str) -> Result<Value, StatusError> {
        let path = format!("{}?fieldManager={manager}&fieldValidation=Ignore{query}", path_of(target));
        self.call(Method::PATCH, &path, "application/apply-patch+yaml", body).await
    }

    pub async fn get(&self, target: &Target) -> Value {
        self.find(target).await.expect("the live object")
    }

    /// The live object, or nothing.
    pub async fn find(&self, target: &Target) -> Option<Value> {
        match self.call(Method::GET, &path_of(target), "", &Value::Null).await {
            Ok(live) => Some(live),
            Err(status) if status.code == 404 => None,
            Err(status) => panic!("{}: {}", target.key, status.message),
        }
    }

    pub fn of(&self, target: &Target) -> TypeRef<'_> {
        self.types.of(&target.key.gvk)
    }

    pub fn schema(&self, target: &Target) -> Option<Place<'_>> {
        self.schemas.kind(&target.key.gvk.api_version(), &target.key.gvk.kind)
    }

    /// The valid manifests, one of each kind at least, with `number` in their names.
    pub fn targets(&self, number: usize, wanted: impl Fn(&str) -> bool) -> Vec<Target> {
        let files = ["core.yaml", "apps.yaml", "cluster.yaml", "custom.yaml"].into_iter().filter(|name| wanted(name));
        let text = files
            .map(file)
            .collect::<Vec<_>>()
            .join("---\n")
            .replace("$I", &number.to_string())
            .replace("$CSR", &self.request);
        self.read_manifests(&text).expect("valid manifests")
    }

    /// What the program would read from a file, if it takes it.
    pub fn read_manifests(&self, text: &str) -> Option<Vec<Target>> {
        let namespaces = Namespaces { required: None, default: "generated".to_owned() };
        let mut targets = resolve(manifests(text)?, &self.catalog, &namespaces).ok()?;
        if is_before(NEWEST, "kinds that came later") {
            targets.retain(|target| target.resource.is_ok());
        }
        Some(targets)
    }

    /// Manifests that the server accepts: `variants` of each valid one, with fields added at random.
    pub async fn generate(&self, seed: u64, first: usize, variants: usize) -> Vec<Target> {
        let all = (0..variants).flat_map(|variant| {
            let targets = self.targets(first + variant, |_| true).into_iter().enumerate();
            targets
                .map(move |(at, target)| (target, Rng::new(seed + (at * 1000 + first + variant) as u64), variant > 0))
        });
        let grown = futures::stream::iter(all).map(
            async |(target, mut rng, grows)| {
                if grows { self.grown(target, &mut rng).await } else { target }
            },
        );
        grown.buffer_unordered(AT_ONCE).collect().await
    }

    /// Adds fields as long as the server agrees.
    async fn grown(&self, mut target: Target, rng: &mut Rng) -> Target {
        let (Some(schema), false) = (self.schema(&target), target.key.gvk.is_crd()) else { return target };
        for additions in [6, 4, 3, 2, 2, 1, 1] {
            let mut candidate = target.desired.object().clone();
            let grown = (0..additions * 3).filter(|_| schema.grow(&mut candidate, rng)).take(additions).count();
            if grown > 0 && self.apply(&target, &candidate, "generator", "&dryRun=All").await.is_ok() {
                target.desired = DesiredObject::exactly(candidate, target.desired.origin.clone());
            }
        }
        // What templates leave without a value.
        for _ in 0..2 {
            let mut candidate = target.desired.object().clone();
            let grown = rng.chance(50) && (0..8).any(|_| schema.grow_null(&mut candidate, rng));
            if grown && self.apply(&target, &candidate, "generator", "&dryRun=All").await.is_ok() {
                target.desired = DesiredObject::exactly(candidate, target.desired.origin.clone());
            }
        }
        target
    }
}

pub fn resource_of(target: &Target) -> &Resource {
    target.resource.as_deref().expect("a served kind")
}

pub fn path_of(target: &Target) -> String {
    let Resource { gvk, plural, namespaced, .. } = resource_of(target);
    let root = if gvk.group.is_empty() { "/api" } else { "/apis" };
    let namespace = target.key.namespace.as_deref().filter(|_| *namespaced);
    let namespace = namespace.map(|name| format!("/namespaces/{name}")).unwrap_or_default();
    format!("{root}/{}{namespace}/{plural}/{}", gvk.api_version(), target.key.name)
}

/// The address that a path with a query means, and whether it asks for a dry run.
fn address(path: &str) -> (Address, bool) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let address = Address::new(path.trim_start_matches('/').split('/').map(ToOwned::to_owned));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (dry_run, pairs): (Vec<_>, Vec<_>) = pairs.partition(|(name, _)| *name == "dryRun");
    let address = pairs.into_iter().fold(address, |address, (name, value)| address.with(name.to_owned(), value));
    (address, !dry_run.is_empty())
}

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/kinds").join(name);
    std::fs::read_to_string(&path).expect("a file of valid manifests")
}

fn values(text: &str) -> Vec<Value> {
    let manifests = manifests(text).expect("valid manifests");
    manifests.into_iter().map(|manifest| manifest.object().clone()).collect()
}

fn manifests(text: &str) -> Option<Vec<Manifest>> {
    let input = Input::new("generated", text.as_bytes().to_vec());
    let options = ReadOptions {
        validation: Validation::Strict,
        selector: Selector::default(),
        hooks: Hooks::Include,
        allow_empty: false,
    };
    read(&[input], &options).ok().map(|read| read.manifests)
}

fn signing_request() -> String {
    let key = rcgen::KeyPair::generate().expect("a key");
    let request = rcgen::CertificateParams::default().serialize_request(&key).expect("a request");
    STANDARD.encode(request.pem().expect("a request as text"))
}

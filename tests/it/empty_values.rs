//! Empty values in manifests: what the server stores for them is known without asking it.

use futures::StreamExt as _;
use reconcile_core::compare::Policy;
use reconcile_core::live::Target;
use reconcile_core::manifest::DesiredObject;
use serde_json::{Value, json};
use structured_merge::{ScalarKind, Shape, TypeRef, changes, fill_in_empty_keys, leave_out_bookkeeping};

use crate::control_plane::{Replaced as _, Workspace, is_before};
use crate::generated::{AT_ONCE, Ground, on_the_ground, resource_of};
use crate::soundness::engine::compared_here;

const OURS: &str = "kubectl-reconcile";

/// Fields of which the server decides by more than the object, so that a difference is shown without it: generated selectors, what
/// admission plugins add, the families of headless Services, pairs of fields for one and several values, and a set that loses its members.
const UNCERTAIN: [&str; 6] =
    ["/selector", "/tolerations", "/ipFamilies", "/podCIDR", "/podCIDRs", "/volumeLifecycleModes"];

/// Sets each field of each kind to its empty value, and holds the comparison without the server against the server's own answer.
#[test]
fn no_empty_value_is_false_drift_or_hides_a_difference() {
    if is_before(37, "fields that came later are differences") {
        return;
    }
    let wrong = on_the_ground(async |ground| {
        let mut targets = ground.targets(7, |name| name != "custom.yaml");
        let more = include_str!("../../testdata/kinds/defaulted.yaml");
        targets.extend(ground.read_manifests(more).expect("valid manifests"));
        let tried = targets.iter().map(|target| try_all(ground, target));
        futures::stream::iter(tried).buffer_unordered(AT_ONCE).concat().await
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn try_all(ground: &Ground, target: &Target) -> Vec<String> {
    let base = target.desired.object();
    // Older servers do not have all kinds and fields.
    let Ok(live) = apply(ground, target).await else { return Vec::new() };
    let mut places = Vec::new();
    collect("", &live, ground.of(target), &mut places);
    // One kind stands for all that have a Pod template.
    let is_repeated = |place: &str| place.contains("/template/spec/") && target.key.gvk.kind != "Deployment";
    places.retain(|(place, _)| !is_repeated(place));
    let mut wrong = Vec::new();
    for (number, (place, empty)) in places.into_iter().enumerate() {
        let about = format!("{} {place} {empty}", target.key);
        let mut object = base.clone();
        let names: Vec<&str> = place.split('/').skip(1).collect();
        if !set(&mut object, &names, empty) {
            continue;
        }
        fill_in_empty_keys(&mut object, ground.of(target));
        let changed = with(target, object);
        // Over the value that the field had before.
        if let Ok(live) = apply(ground, target).await {
            wrong.extend(difference(ground, &changed, live, &place).await.map(|what| format!("{what}: {about}")));
        }
        // Once it is applied, or created where it cannot be changed.
        let renamed = || renamed(&changed, number);
        let (applied, live) = match apply(ground, &changed).await {
            Ok(live) => (changed.clone(), Ok(live)),
            Err(()) => (renamed(), apply(ground, &renamed()).await),
        };
        if let Ok(live) = live {
            wrong.extend(difference(ground, &applied, live, &place).await.map(|what| format!("{what}: {about}")));
        }
    }
    wrong
}

/// The difference between the answer of the server and that of the comparison without it, if there is one.
async fn difference(ground: &Ground, target: &Target, live: Value, place: &str) -> Option<String> {
    let schema = ground.of(target);
    let manifest = target.desired.object();
    let answer = ground.apply(target, manifest, OURS, "&force=true&dryRun=All").await.ok()?;
    let mut there = changes(&live, &answer, schema, resource_of(target).status);
    leave_out_bookkeeping(&mut there, &target.key.gvk, manifest, schema);
    // What the server leaves out, as a feature is off, is a difference without it.
    let is_left_out = live.pointer(place).is_none();
    let decision = compared_here(target, &Policy::of(OURS), schema, live);
    let here: Vec<String> = decision.diff.drift().map(|change| change.path.to_string()).collect();
    let is_uncertain = UNCERTAIN.iter().any(|name| place.ends_with(name));
    match (there.is_empty(), here.is_empty()) {
        (true, false) if !is_left_out && !is_uncertain => Some(format!("false drift in {here:?}")),
        (false, true) => Some(format!("the server changes {there:?}, and nothing is said")),
        _ => None,
    }
}

async fn apply(ground: &Ground, target: &Target) -> Result<Value, ()> {
    ground.apply(target, target.desired.object(), OURS, "&force=true").await.map_err(|_| ())
}

fn with(target: &Target, object: Value) -> Target {
    let desired = DesiredObject::exactly(object, target.desired.origin.clone());
    Target { desired, ..target.clone() }
}

fn renamed(target: &Target, number: usize) -> Target {
    let mut object = target.desired.object().clone();
    let name = format!("{}-{number}", target.key.name);
    object["metadata"]["name"] = json!(name);
    let mut renamed = with(target, object);
    renamed.key.name = name;
    renamed
}

/// The places of all fields that a live object has or could have, as JSON pointers, with their empty values.
fn collect(at: &str, value: &Value, schema: TypeRef<'_>, into: &mut Vec<(String, Value)>) {
    const LEFT_ALONE: [&str; 4] = ["/apiVersion", "/kind", "/status", "/metadata"];
    match value {
        Value::Object(map) => {
            for name in schema.field_names() {
                let place = format!("{at}/{name}");
                if LEFT_ALONE.contains(&place.as_str()) {
                    continue;
                }
                let field = schema.field(name);
                into.extend(empty_values(field).into_iter().map(|empty| (place.clone(), empty)));
                if let Some(child) = map.get(name) {
                    collect(&place, child, field, into);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(&format!("{at}/{index}"), item, schema.item(), into);
            }
        }
        _ => {}
    }
}

fn empty_values(schema: TypeRef<'_>) -> Vec<Value> {
    match (schema.shape(), schema.scalar()) {
        (Shape::List(..), _) => vec![json!([])],
        (Shape::Scalar(_), ScalarKind::Number) => vec![json!(0)],
        (Shape::Scalar(_), ScalarKind::Quantity) => vec![json!(0), json!("0")],
        (Shape::Scalar(_), ScalarKind::Boolean) => vec![json!(false)],
        (Shape::Scalar(_), ScalarKind::IntOrString) => vec![json!(0), json!("")],
        (Shape::Scalar(_), ScalarKind::Text | ScalarKind::Bytes | ScalarKind::Any) => vec![json!("")],
        _ => Vec::new(),
    }
}

/// Puts a value into an object, with the maps around it. False for an item that the object does not have.
fn set(value: &mut Value, names: &[&str], to: Value) -> bool {
    let [name, rest @ ..] = names else {
        *value = to;
        return true;
    };
    if let Ok(index) = name.parse::<usize>() {
        return value.get_mut(index).is_some_and(|item| set(item, rest, to));
    }
    if value.is_null() {
        *value = json!({});
    }
    value.as_object_mut().is_some_and(|map| set(map.entry(*name).or_insert(Value::Null), rest, to))
}

const SHOP: &str = "
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: '', clusterIP: '', clusterIPs: [], sessionAffinity: '', selector: {app: web}, ports: [{name: '', port: 80, targetPort: 0, nodePort: 0}]}
---
apiVersion: v1
kind: Service
metadata: {name: nodes}
spec: {type: NodePort, externalTrafficPolicy: '', ports: [{name: a, port: 80, nodePort: 0}]}
---
apiVersion: v1
kind: Secret
metadata: {name: web}
type: ''
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec: {podSelector: {}, policyTypes: [], egress: [{}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web}
roleRef: {apiGroup: '', kind: Role, name: web}
subjects: [{apiGroup: '', kind: User, name: ann}, {apiGroup: '', kind: ServiceAccount, name: web, namespace: $NS}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  strategy: {type: ''}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      restartPolicy: ''
      dnsPolicy: ''
      containers:
      - {name: web, image: 'shop/web:1', imagePullPolicy: '', terminationMessagePath: '', livenessProbe: {httpGet: {port: 80, path: '', scheme: ''}, periodSeconds: 0}}
";

#[test]
fn an_empty_value_in_a_manifest_is_its_default_without_the_server_as_well() {
    let ws = Workspace::new();
    ws.write("it/shop.yaml", SHOP);
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    ws.reconcile(["snapshot", "-f", "it", "--file", "state.yaml"]).exits_with(0);
    for flags in [&["--evidence=server"][..], &["--evidence=read-only"], &["--live=state.yaml"]] {
        ws.reconcile([&["diff", "-f", "it"], flags].concat()).exits_with(0);
    }
    // What somebody changes is a difference from the default.
    ws.kubectl([
        "patch",
        "service/web",
        "-p",
        r#"{"spec": {"sessionAffinity": "ClientIP", "ports": [{"port": 80, "targetPort": 8080}]}}"#,
    ])
    .exits_with(0);
    ws.kubectl(["patch", "networkpolicy/web", "-p", r#"{"spec": {"policyTypes": ["Egress"]}}"#]).exits_with(0);
    let pull = r#"{"spec": {"template": {"spec": {"containers": [{"name": "web", "imagePullPolicy": "Always"}]}}}}"#;
    ws.kubectl(["patch", "deployment/web", "-p", pull]).exits_with(0);
    let told = ["server", "read-only"].map(|evidence| {
        let diff = ws.reconcile(["diff", "-f", "it", "--evidence", evidence]).exits_with(1);
        let container = "spec.template.spec.containers[name=web].imagePullPolicy";
        [
            ("Service", "web", "spec.sessionAffinity"),
            ("Service", "web", "spec.ports[port=80,protocol=TCP].targetPort"),
            ("NetworkPolicy", "web", "spec.policyTypes"),
            ("Deployment", "web", container),
        ]
        .map(|(kind, name, path)| {
            let change = diff.change(kind, name, path);
            (change["live"].clone(), change["desired"].clone())
        })
    });
    assert_eq!(told[0], told[1]);
    assert_eq!(told[1][2], (json!(["Egress"]), json!(["Ingress", "Egress"])));
    // Another image has another default, and a new type needs no address.
    let changed = SHOP
        .replaced("shop/web:1", "shop/web")
        .replaced("type: '', clusterIP: ''", "type: ExternalName, externalName: a.example.com, clusterIP: ''");
    ws.write("it/shop.yaml", &changed);
    let diff = ws.reconcile(["diff", "-f", "it", "--evidence=read-only"]).exits_with(1);
    assert!(diff.changes("Service", "web").iter().any(|change| change.contains("spec.clusterIP")), "{diff}");
}

/// Some names are a pointer in one type alone, whose empty value is another one than none.
#[test]
fn an_empty_value_that_somebody_removed_is_drift_without_the_server_as_well() {
    let ws = Workspace::new();
    ws.write(
        "it.yaml",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: it}, spec: {selector: {matchLabels: {app: it}},
           template: {metadata: {labels: {app: it}}, spec: {dnsConfig: {options: [{name: debug, value: ''}]},
            containers: [{name: web, image: shop/web, env: [{name: EMPTY, value: ''}]}],
            volumes: [{name: data, csi: {driver: csi.example.com, readOnly: false, fsType: ''}}]}}}}",
    );
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    let fields = ["dnsConfig/options/0/value", "volumes/0/csi/readOnly", "volumes/0/csi/fsType"];
    let removals: Vec<Value> =
        fields.iter().map(|field| json!({"op": "remove", "path": format!("/spec/template/spec/{field}")})).collect();
    let modes = ["server", "auto", "read-only"];
    for evidence in modes {
        ws.reconcile(["diff", "-f", "it.yaml", "--evidence", evidence]).exits_with(0);
    }
    ws.kubectl(["patch", "deployment/it", "--type=json", "-p", &json!(removals).to_string()]).exits_with(0);
    for evidence in modes {
        let diff = ws.reconcile(["diff", "-f", "it.yaml", "--evidence", evidence]).exits_with(1);
        assert_eq!(diff.changes("Deployment", "it").len(), 3, "{evidence}: {diff}");
    }
}

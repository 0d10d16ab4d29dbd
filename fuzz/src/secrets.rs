//! A Secret inside of any object, at any place: none of its values is in any output.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube_yaml::Validation;
use kubectl_reconcile::live::types::Types;
use reconcile_core::compare::{CompareContext, Patterns, Policy, Redactor, Secrecy, offline, withheld};
use reconcile_core::live::Discovery;
use reconcile_core::live::LiveState;
use reconcile_core::live::resolve::{Namespaces, resolve};
use reconcile_core::live::snapshot::written;
use reconcile_core::manifest::{Hooks, ReadOptions, read};
use reconcile_core::object::Selector;
use reconcile_report::formats::{FORMATS, Render};
use reconcile_report::{Command, FailOn, ObjectReport, Report, View, plain};
use serde_json::{Value, json};

use super::of_bytes;

/// The values of the Secrets in the manifest and in the live object.
const VALUES: [&str; 2] = ["correct-horse-battery-staple", "the-value-of-the-live-object"];

/// Kinds of the object around the Secret: built-in ones, and custom ones without a known type.
const AROUND: [(&str, &str); 6] = [
    ("v1", "ConfigMap"),
    ("apps/v1", "Deployment"),
    ("work.open-cluster-management.io/v1", "ManifestWork"),
    ("template.openshift.io/v1", "Template"),
    ("kubernetes.crossplane.io/v1alpha2", "Object"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
];

const NAMES: [&str; 8] = ["spec", "data", "manifests", "items", "workload", "forProvider", "object", "a.b/c"];

/// Each byte of the input wraps the Secret once more: in a field, in a list, or as JSON or YAML in a string. The last byte chooses the
/// object around it, and the one before the Secret that the live object has.
pub fn secrets(input: &[u8]) {
    let Some(([first, others @ ..], last)) = input.split_last().map(|(last, rest)| (rest, last)) else { return };
    let (api_version, kind) = AROUND[usize::from(*last) % AROUND.len()];
    let object = |value: &str, number: u8, path: &[u8]| {
        let inner = path.iter().take(10).fold(secret(value, number), |inner, byte| wrapped(&inner, *byte));
        let mut object =
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "it", "namespace": "shop"}});
        match last % 5 {
            0 => object["data"] = json!({"it": inner}),
            1 => object["metadata"]["annotations"] = json!({"example.com/copy": text_of(&inner)}),
            2 => object["spec"] = json!([{"name": "other"}, inner]),
            _ => object["spec"] = json!({"it": inner}),
        }
        object
    };
    let manifest = object(VALUES[0], *first, others);
    // The same place, another value; or another place.
    let live =
        if last % 2 == 0 { object(VALUES[1], *first, others) } else { object(VALUES[1], first / 2, &input[1..]) };
    check(&manifest, &live);
}

/// A Secret in one of its forms.
fn secret(value: &str, number: u8) -> Value {
    let (encoded, metadata) = (STANDARD.encode(value), json!({"name": "inner", "annotations": {"note": value}}));
    let whole = json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"key": encoded}});
    match number % 6 {
        0 => whole,
        1 => {
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"key": value}, "dta": [value]})
        }
        2 => json!({"kind": "Secret", "data": {"key": encoded}, "stringData": {"other": value}}),
        3 => json!({"apiVersion": "v1", "kind": "List", "items": [whole]}),
        4 => json!({"apiVersion": "v1", "kind": "SecretList", "items": [{"data": {"key": encoded}}]}),
        _ => json!([1, {"name": "x", "kind": "Secret", "data": {"key": encoded}}]),
    }
}

fn wrapped(inner: &Value, byte: u8) -> Value {
    let name = NAMES[usize::from(byte / 8) % NAMES.len()];
    match byte % 8 {
        0 | 1 => json!({name: inner}),
        2 => json!({name: inner, "name": "web", "kind": "ConfigMap"}),
        3 => json!([inner]),
        4 => json!([{"name": "first"}, inner, null]),
        // Each copy of escapes doubles the text.
        _ if inner.to_string().len() > 100_000 => inner.clone(),
        5 => json!({name: inner.to_string()}),
        6 => json!({name: written(&[json!({"before": 1}), inner.clone()])}),
        _ => json!({name: format!("{{{{ .Values }}}}\n{}", written(std::slice::from_ref(inner)))}),
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

fn check(manifest: &Value, live: &Value) {
    let options = ReadOptions {
        validation: Validation::Ignore,
        selector: Selector::default(),
        hooks: Hooks::Include,
        allow_empty: true,
    };
    let Ok(desired) = read(&[of_bytes("it.yaml", manifest.to_string().as_bytes())], &options) else { return };
    let mut catalog = Discovery::builtin();
    catalog.learn(live);
    let namespaces = Namespaces { required: None, default: "shop".to_owned() };
    let Ok(targets) = resolve(desired.manifests, &catalog, &namespaces) else { return };
    let policy = Policy { show_unmanaged: true, keeps_versions: true, ..Policy::of("kubectl-reconcile") };
    let redactor = Redactor::default();
    let types = Types::defined(targets.iter().map(|target| &target.key.gvk), std::iter::empty());
    let states = [LiveState::Present(live.clone()), LiveState::Present(manifest.clone()), LiveState::Absent];
    for state in states {
        let objects = targets.iter().map(|target| {
            let context = CompareContext::new(target, types.of(&target.key.gvk), &policy);
            ObjectReport::new(target, &offline(context, state.clone(), None, &Patterns::default(), &redactor))
        });
        let report = Report::compared(Command::Diff, objects.collect(), &FailOn::default()).into();
        for format in FORMATS {
            let view = View { full: true, verbosity: 9, ..View::default() };
            let text = match &format.render {
                Render::Text(render) => plain(&render(&report, &view)),
                Render::Data(render) | Render::Patch(render) | Render::Lines(render) => render(&report, &view),
            };
            has_no_value(&text, format.name, manifest, live);
        }
    }
    for target in &targets {
        let secrecy = Secrecy::of(&target.key.gvk, Some(manifest), Some(live));
        let shown = withheld(&secrecy, live, &redactor);
        has_no_value(&written(&[shown]), "snapshot", manifest, live);
    }
}

fn has_no_value(text: &str, output: &str, manifest: &Value, live: &Value) {
    for value in VALUES {
        let encoded = STANDARD.encode(value);
        // The last group of base64 depends on what follows.
        let found = [value, &encoded[..encoded.len() - 4]].into_iter().find(|spelling| text.contains(*spelling));
        assert_eq!(found, None, "{output} of {manifest} over {live}: {text}");
    }
}

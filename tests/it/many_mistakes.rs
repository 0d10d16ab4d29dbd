//! The time that mistakes in manifests take: it grows with the input, however many there are and however long the line is.

use reconcile_core::live::Discovery;
use reconcile_core::live::resolve::{Namespaces, resolve};
use reconcile_core::manifest::yaml::Validation;
use reconcile_core::manifest::{Hooks, Input, ReadOptions, read};
use reconcile_core::object::Selector;
use reconcile_core::plan::Plan;

use crate::scale::grows_evenly_in;

/// Reads, resolves and plans an input, and returns the number of its mistakes.
fn mistakes(text: &str) -> usize {
    let input = Input::new("it.yaml", text.as_bytes().to_vec());
    let options = ReadOptions {
        validation: Validation::Strict,
        selector: Selector::default(),
        hooks: Hooks::Include,
        allow_empty: false,
    };
    let manifests = match read(&[input], &options) {
        Ok(desired) => desired.manifests,
        Err(diagnostics) => return diagnostics.len(),
    };
    let refused: usize = manifests.iter().map(|manifest| manifest.refused().len()).sum();
    let namespaces = Namespaces { required: Some("shop".to_owned()), default: "shop".to_owned() };
    let planned = resolve(manifests, &Discovery::builtin(), &namespaces).and_then(Plan::of);
    refused + planned.map_or_else(|diagnostics| diagnostics.len(), |_| 0)
}

/// A list of as many items, all on one line.
#[track_caller]
fn grows_evenly(what: &str, item: impl Fn(usize) -> String) {
    let text = |count: usize| {
        let items: Vec<String> = (0..count).map(&item).collect();
        format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{}]}}"#, items.join(", "))
    };
    grows_evenly_in(what, text, |text| assert!(mistakes(text) >= 1_999, "{what}: {}", mistakes(text)));
}

#[test]
fn objects_without_a_name() {
    grows_evenly("JSON", |_| r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}"#.to_owned());
    grows_evenly("flow style", |_| "{apiVersion: v1, kind: ConfigMap, metadata: {}}".to_owned());
}

#[test]
fn labels_that_are_refused() {
    grows_evenly("values", |number| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a{number}, labels: {{a: 'b c'}}}}}}")
    });
    grows_evenly("numbers", |number| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a{number}, labels: {{a: 1}}}}}}")
    });
}

#[test]
fn objects_that_are_defined_twice() {
    grows_evenly("different objects", |number| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, data: {{a: '{number}'}}}}")
    });
}

#[test]
fn keys_that_are_set_twice() {
    let documents = |count| "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, name: b}}\n---\n".repeat(count);
    grows_evenly_in("documents", documents, |text| assert!(mistakes(text) >= 2_000));
}

#[test]
fn namespaces_that_are_wrong() {
    let with = |number: usize, namespace: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a{number}, namespace: {namespace}}}}}")
    };
    grows_evenly("names", |number| with(number, "'a b'"));
    grows_evenly("contradictions", |number| with(number, "other"));
}

#[test]
fn dependencies_that_cannot_be_read() {
    grows_evenly("annotations", |number| {
        let annotation = "config.kubernetes.io/depends-on: nothing";
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a{number}, annotations: {{{annotation}}}}}}}")
    });
}

/// Mistakes in one object are reported up to a bound.
#[test]
fn labels_of_one_object() {
    for (what, label) in [("values", "'b c'"), ("numbers", "1")] {
        let object = |count| {
            let labels: Vec<String> = (0..count).map(|number| format!("a{number}: {label}")).collect();
            let labels = labels.join(", ");
            format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, labels: {{{labels}}}}}}}")
        };
        grows_evenly_in(what, object, |text| assert_eq!(mistakes(text), 100, "{what}"));
    }
}

//! The kinds of the random histories, and the fields of each that move.

use serde_json::{Value, json};
use structured_merge::{FieldPath, PathElement, Quantity};

/// A kind of objects. `$NAME` in the template is the name, `$NS` the namespace.
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// The resource as `kubectl` takes it.
    pub resource: &'static str,
    /// The path of the collection.
    pub collection: &'static str,
    pub template: &'static str,
    pub fields: &'static [Field],
    /// What a controller writes into the subresource `status`.
    pub status: Option<&'static str>,
}

/// A field that moves: its path as reports name it, and its values as JSON; `null` if it is not set.
pub struct Field {
    pub path: &'static str,
    pub values: &'static [&'static str],
    /// The value that the server sets if there is none.
    pub default: &'static str,
}

const fn field(path: &'static str, values: &'static [&'static str]) -> Field {
    Field { path, values, default: "null" }
}

const fn defaulted(path: &'static str, values: &'static [&'static str], default: &'static str) -> Field {
    Field { path, values, default }
}

pub const LABEL: &str = "metadata.labels.tier";
pub const NOTE: &str = "metadata.annotations.note";
pub const REPLICAS: &str = "spec.replicas";
pub const IMAGE: &str = "spec.template.spec.containers[name=web].image";
pub const LOG: &str = "spec.template.spec.containers[name=web].env[name=LOG].value";
pub const CPU: &str = "spec.template.spec.containers[name=web].resources.requests.cpu";

const WORDS: &[&str] = &["null", "\"v1\"", "\"v2\"", "\"v3\""];
const TEXTS: &[&str] = &["\"v1\"", "\"v2\"", "\"v3\""];

pub const KINDS: [Kind; 5] = [
    Kind {
        name: "Deployment",
        resource: "deployments.apps",
        collection: "/apis/apps/v1/namespaces/$NS/deployments",
        template: r#"{"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "$NAME", "namespace": "$NS", "labels": {"app": "web"}, "annotations": {"fixed": "yes"}},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
                "nodeSelector": {"fixed": "yes"}, "tolerations": [{"key": "a", "operator": "Exists"}],
                "containers": [{"name": "web", "env": [{"name": "FIXED", "value": "yes"}], "resources": {"requests": {"memory": "64Mi"}}}]}}}}"#,
        fields: &[
            field(IMAGE, TEXTS),
            defaulted(REPLICAS, &["null", "1", "2", "3"], "1"),
            field(LABEL, WORDS),
            field(NOTE, WORDS),
            field(LOG, TEXTS),
            field(CPU, &["\"100m\"", "\"0.1\"", "\"1\"", "\"1000m\"", "\"2\""]),
            field("spec.template.spec.containers[name=web].args", &["[\"a\"]", "[\"a\", \"b\"]", "[\"b\", \"a\"]"]),
            field("spec.template.spec.nodeSelector.disk", WORDS),
            field(
                "spec.template.spec.containers[name=web].env[name=EXTRA]",
                &["null", r#"{"name": "EXTRA", "value": "1"}"#, r#"{"name": "EXTRA", "value": "2"}"#],
            ),
            defaulted("spec.progressDeadlineSeconds", &["null", "600", "300"], "600"),
        ],
        status: Some(r#"{"observedGeneration": 1}"#),
    },
    Kind {
        name: "ConfigMap",
        resource: "configmaps",
        collection: "/api/v1/namespaces/$NS/configmaps",
        template: r#"{"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "$NAME", "namespace": "$NS", "labels": {"app": "web"}, "annotations": {"fixed": "yes"}}, "data": {"fixed": "yes"}}"#,
        fields: &[
            field(LABEL, WORDS),
            field(NOTE, WORDS),
            field("data.a", WORDS),
            field("data.text", &["\"one\\ntwo\\n\"", "\"one\\nthree\\n\"", "\"\""]),
            field(r#"data["a.conf"]"#, WORDS),
        ],
        status: None,
    },
    Kind {
        name: "Service",
        resource: "services",
        collection: "/api/v1/namespaces/$NS/services",
        template: r#"{"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "$NAME", "namespace": "$NS", "labels": {"app": "web"}, "annotations": {"fixed": "yes"}},
            "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "protocol": "TCP"}, {"name": "metrics", "port": 9090, "protocol": "TCP"}]}}"#,
        fields: &[
            field(LABEL, WORDS),
            field(NOTE, WORDS),
            field("spec.selector.track", WORDS),
            defaulted("spec.ports[port=80,protocol=TCP].targetPort", &["80", "8080", "\"http\""], "80"),
            defaulted("spec.sessionAffinity", &["null", "\"None\"", "\"ClientIP\""], "\"None\""),
        ],
        status: None,
    },
    Kind {
        name: "CronJob",
        resource: "cronjobs.batch",
        collection: "/apis/batch/v1/namespaces/$NS/cronjobs",
        template: r#"{"apiVersion": "batch/v1", "kind": "CronJob",
            "metadata": {"name": "$NAME", "namespace": "$NS", "labels": {"app": "web"}, "annotations": {"fixed": "yes"}},
            "spec": {"schedule": "0 1 * * *", "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never",
                "containers": [{"name": "web", "image": "web:1", "command": ["run"]}]}}}}}}"#,
        fields: &[
            field(LABEL, WORDS),
            field("spec.schedule", &["\"0 1 * * *\"", "\"0 2 * * *\"", "\"0 3 * * *\""]),
            defaulted("spec.suspend", &["null", "false", "true"], "false"),
            defaulted("spec.successfulJobsHistoryLimit", &["null", "3", "5", "7"], "3"),
            field(
                "spec.jobTemplate.spec.template.spec.containers[name=web].command",
                &["[\"run\"]", "[\"run\", \"fast\"]"],
            ),
        ],
        status: Some(r#"{"lastScheduleTime": "2026-01-01T00:00:00Z"}"#),
    },
    Kind {
        name: "Widget",
        resource: "widgets.$NS.example.com",
        collection: "/apis/$NS.example.com/v1/namespaces/$NS/widgets",
        template: r#"{"apiVersion": "$NS.example.com/v1", "kind": "Widget",
            "metadata": {"name": "$NAME", "namespace": "$NS", "labels": {"app": "web"}, "annotations": {"fixed": "yes"}},
            "spec": {"tags": ["fixed"], "rules": [{"name": "fixed", "value": 1}, {"name": "r", "value": 0}], "options": {"fixed": "yes"}}}"#,
        fields: &[
            field(LABEL, WORDS),
            field(NOTE, WORDS),
            field(r#"spec.tags[="a"]"#, &["null", "\"a\""]),
            field(r#"spec.tags[="b"]"#, &["null", "\"b\""]),
            field("spec.rules[name=r].value", &["1", "2", "3"]),
            field(
                "spec.rules[name=extra]",
                &["null", r#"{"name": "extra", "value": 1}"#, r#"{"name": "extra", "value": 2}"#],
            ),
            field("spec.steps", &["[1]", "[1, 2]", "[2, 1]"]),
            field("spec.options.x", WORDS),
            field("spec.size", &["null", "1", "2"]),
            defaulted("spec.mode", &["null", "\"auto\"", "\"manual\""], "\"auto\""),
        ],
        status: Some(r#"{"phase": "Ready"}"#),
    },
];

/// The schema of `spec` of a Widget.
pub const WIDGET: &str = "
properties:
  size: {type: integer}
  mode: {type: string, default: auto}
  tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  steps: {type: array, x-kubernetes-list-type: atomic, items: {type: integer}}
  options: {type: object, additionalProperties: {type: string}}
  rules:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
    items: {type: object, required: [name], properties: {name: {type: string}, value: {type: integer}}}
";

impl Field {
    pub fn path(&self) -> FieldPath {
        self.path.parse().unwrap()
    }

    pub fn value(&self, number: usize) -> Option<Value> {
        let value: Value = serde_json::from_str(self.values[number % self.values.len()]).unwrap();
        (!value.is_null()).then_some(value)
    }

    /// The value in an object.
    pub fn of(&self, object: &Value) -> Option<Value> {
        self.path().value_in(object).cloned()
    }

    /// The selector that the field is in, which is written as a whole: who writes one of its entries has written all of them.
    pub fn whole(&self, object: &Value) -> Option<Value> {
        let path = self.path();
        let (_, above) = path.elements().split_last()?;
        let is_selector = |name: &str| name == "selector" || name == "nodeSelector";
        let is_whole = matches!(above.last(), Some(PathElement::Field(name)) if is_selector(name));
        is_whole.then(|| FieldPath::from(above.to_vec()).value_in(object).cloned()).flatten()
    }

    /// A text that is equal for values that mean the same.
    pub fn meaning(&self, value: Option<&Value>) -> String {
        match value {
            None => self.default.to_owned(),
            Some(Value::String(text)) if self.path == CPU => format!("{:?}", Quantity::parse(text)),
            Some(value) => value.to_string(),
        }
    }

    /// Sets the value in an object, with everything above it, or takes it out.
    pub fn set(&self, object: &mut Value, value: Option<&Value>) {
        let path = self.path();
        let (last, above) = path.elements().split_last().unwrap();
        let Some(value) = value else {
            match (FieldPath::from(above.to_vec()).value_in_mut(object), last) {
                (Some(Value::Object(map)), PathElement::Field(name)) => drop(map.remove(name)),
                (Some(Value::Array(items)), _) => items.retain(|item| !is_item(item, last)),
                _ => {}
            }
            return;
        };
        *path.elements().iter().fold(object, enter) = value.clone();
    }
}

fn is_item(item: &Value, element: &PathElement) -> bool {
    FieldPath::from(vec![element.clone()]).value_in(&json!([item])).is_some()
}

/// The value of an element, which is made if it is not there.
fn enter<'v>(place: &'v mut Value, element: &PathElement) -> &'v mut Value {
    if let PathElement::Field(name) = element {
        if place.is_null() {
            *place = json!({});
        }
        return place.as_object_mut().unwrap().entry(name).or_insert(Value::Null);
    }
    if place.is_null() {
        *place = json!([]);
    }
    let items = place.as_array_mut().unwrap();
    let found = items.iter().position(|item| is_item(item, element));
    let position = found.unwrap_or_else(|| {
        items.push(match element {
            PathElement::Key(keys) => keys.iter().map(|(name, key)| (name.clone(), key.to_json())).collect(),
            _ => Value::Null,
        });
        items.len() - 1
    });
    &mut items[position]
}

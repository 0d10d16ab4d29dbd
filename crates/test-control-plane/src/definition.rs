//! Definitions of custom kinds.

use super::replaced::Replaced as _;

/// A schema of `spec` that takes any fields.
pub const ANY_FIELDS: &str = "x-kubernetes-preserve-unknown-fields: true";

/// The definition of a namespaced kind in the group `$NS.example.com`, whose plural is its name and an `s`. `spec` is the schema
/// of the field `spec`: an object with these properties and rules, in lines of YAML.
pub fn definition(kind: &str, spec: &str) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    let spec = spec.trim().replace('\n', "\n            ");
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.$NS.example.com}}
spec:
  group: $NS.example.com
  scope: Namespaced
  names: {{kind: {kind}, plural: {plural}}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            {spec}
"
    )
}

/// An object of a kind that [`definition`] defines. `spec` has the fields of its `spec`, without braces around them.
pub fn resource(kind: &str, name: &str, spec: &str) -> String {
    format!("{{apiVersion: $NS.example.com/v1, kind: {kind}, metadata: {{name: {name}}}, spec: {{{spec}}}}}")
}

/// The definition of a kind whose objects have the subresource `status` with any fields.
pub fn definition_with_status(kind: &str, spec: &str) -> String {
    let mut definition =
        definition(kind, spec).replaced("    schema:\n", "    subresources: {status: {}}\n    schema:\n");
    definition.push_str("          status: {type: object, x-kubernetes-preserve-unknown-fields: true}\n");
    definition
}

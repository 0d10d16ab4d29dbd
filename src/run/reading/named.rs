//! Objects that the command line names, as manifests with nothing but their names.

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::Resource;
use reconcile_core::live::named::named_objects;
use reconcile_core::manifest::yaml::Validation;
use reconcile_core::manifest::{COMMAND_LINE, DesiredSet, Hooks, Input, ReadOptions, read};
use reconcile_core::object::Selector;
use reconcile_report::Failure;
use serde_json::{Value, json};

/// The objects that words of the command line name, `TYPE/NAME…` or `TYPE NAME…`. `resource_of` looks a type up.
pub(crate) fn of_words<'d>(
    words: &[String],
    resource_of: impl Fn(&str) -> Result<&'d Resource, Diagnostic>,
) -> Result<DesiredSet, Failure> {
    let named = named_objects(words).map_err(Failure::invalid)?;
    let mut manifests = Vec::new();
    let mut unknown = Vec::new();
    for object in &named {
        match resource_of(&object.resource) {
            Ok(resource) => manifests.push(json!({
                "apiVersion": resource.gvk.api_version(), "kind": resource.gvk.kind, "metadata": {"name": object.name},
            })),
            Err(diagnostic) => unknown.push(diagnostic),
        }
    }
    if unknown.is_empty() { of_names(&manifests) } else { Err(unknown.into()) }
}

/// The objects with these names.
pub(crate) fn of_names(manifests: &[Value]) -> Result<DesiredSet, Failure> {
    let input = |manifest: &Value| Input::new(COMMAND_LINE, manifest.to_string().into_bytes());
    let options = ReadOptions {
        validation: Validation::Strict,
        selector: Selector::default(),
        allow_empty: true,
        hooks: Hooks::Include,
    };
    Ok(read(&manifests.iter().map(input).collect::<Vec<_>>(), &options)?)
}

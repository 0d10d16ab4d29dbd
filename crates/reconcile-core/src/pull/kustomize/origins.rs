//! The files and lines that the objects of a build come from.
//!
//! kustomize tells the file of each resource with `buildMetadata: [originAnnotations]`, without its line and in a build of its own. The
//! names of resources, with what the kustomizations put around them, tell both.

use std::sync::Arc;

use serde_json::Value;

use super::candidate::items;
use super::names::{Documents, GENERATORS, Resource, name_in};
use super::tree::{Level, Tree};
use crate::manifest::{BuiltDocument, BuiltFrom, BuiltPlace, SourceText, template_of};

/// The places of all resources and generators of a tree. `name` names files.
pub fn built_from(tree: &Tree, name: impl Fn(&str) -> String) -> BuiltFrom {
    let mut from = BuiltFrom::of_files(tree.files.clone());
    let documents = Documents::of(tree);
    for level in &tree.levels {
        let mut last: Option<(&str, Arc<str>, SourceText)> = None;
        for resource in documents.resources(level) {
            if last.as_ref().is_none_or(|(known, ..)| *known != resource.file) {
                let bytes = tree.files.get(resource.file).map(|bytes| bytes.to_vec()).unwrap_or_default();
                last = Some((resource.file, name(resource.file).into(), bytes.into()));
            }
            let Some((_, file, text)) = &last else { continue };
            add(&mut from, level, &resource, file, text);
        }
        let file: Arc<str> = name(&level.file).into();
        for (field, kind) in GENERATORS {
            for generator in items(&level.value, field) {
                let text = |field: &str| generator.get(field).and_then(Value::as_str);
                let Some(own) = text("name") else { continue };
                let namespace = text("namespace").map(ToOwned::to_owned);
                for affix in &level.affixes {
                    let place = BuiltPlace { file: Arc::clone(&file), namespace: namespace.clone(), document: None };
                    from.add("v1", kind, affix.around(own), place);
                }
            }
        }
    }
    from
}

fn add(from: &mut BuiltFrom, level: &Level, resource: &Resource<'_>, file: &Arc<str>, text: &SourceText) {
    let Resource { document, above, value, positions, .. } = resource;
    let field = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
    let (Some(api_version), Some(kind), Some(own)) = (field("/apiVersion"), field("/kind"), name_in(value)) else {
        return;
    };
    let line = if above.is_empty() { document.start.line } else { positions.nearest(&[]).line };
    let object = Arc::new((*value).clone());
    for affix in &level.affixes {
        let built = BuiltDocument {
            line,
            object: Arc::clone(&object),
            positions: positions.clone(),
            template: document.comment.as_deref().and_then(template_of),
            text: text.clone(),
        };
        let namespace = field("/metadata/namespace").map(ToOwned::to_owned);
        let place = BuiltPlace { file: Arc::clone(file), namespace, document: Some(built) };
        from.add(api_version, kind, affix.around(own), place);
    }
}

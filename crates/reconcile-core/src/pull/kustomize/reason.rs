//! The reasons why a change has no place that can be written, with the source that sets the value.

use serde_json::Value;
use structured_merge::PathElement;

use super::candidate::{Allowed, items};
use super::candidates::Rendered;
use super::tree::{Level, Tree};
use super::tried::Tried;

/// The fields of a kustomization that set values and that nobody edits but by hand.
const OTHERS: [&str; 6] =
    ["replacements", "transformers", "generators", "helmCharts", "helmChartInflationGenerator", "vars"];

/// The tree and the flags that reasons depend on.
pub(super) struct Reasons<'r> {
    pub tree: &'r Tree,
    pub allowed: Allowed,
    pub name: &'r dyn Fn(&str) -> String,
}

impl Reasons<'_> {
    /// The reason for a change all of whose candidates were wrong.
    pub fn of(&self, tried: &Tried<'_>) -> String {
        let overlay = self.tree.levels.first().map_or("", |level| level.file.as_str());
        let overlay = (self.name)(overlay);
        if let Some(also) = &tried.also {
            return format!("the place in {overlay} that sets it also sets {also}, whose live value is another");
        }
        if let Some(Rendered { file, template }) = &tried.places.rendered {
            let file = (self.name)(file);
            return format!(
                "{file} was rendered from {template}: change the template or its values{}",
                self.remedy(false)
            );
        }
        if let Some((level, field)) = self.tree.levels.iter().find_map(|level| Some((level, self.other(level, tried)?)))
        {
            let file = (self.name)(&level.file);
            return format!("it may be set by `{field}` of {file}, which is not edited");
        }
        if let Some(source) = &tried.places.outside {
            let source = (self.name)(source);
            let remedy = self.remedy(true);
            return format!("it is set in {source}, which is outside of the overlay and may be shared{remedy}");
        }
        let remedy = self.remedy(false);
        format!("no place that {overlay} or its files have sets it as the live object has it{remedy}")
    }

    fn remedy(&self, has_base: bool) -> &'static str {
        match (self.allowed.new_patches, self.allowed.bases || !has_base) {
            (false, false) => ": pass `--add-patches` to patch it in the overlay, or `--edit-bases` to change it there",
            (false, true) => ": pass `--add-patches` to patch it in the overlay",
            (true, false) => ": pass `--edit-bases` to change it there",
            (true, true) => "",
        }
    }

    /// A field of a kustomization that may set the value: one that names the value, or the object.
    fn other(&self, level: &Level, tried: &Tried<'_>) -> Option<&'static str> {
        let last = match tried.wanted.change.path.elements().last() {
            Some(PathElement::Field(name)) => name.as_str(),
            _ => "",
        };
        let desired = match &tried.wanted.change.desired {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => return None,
        };
        OTHERS.into_iter().find(|field| {
            let Some(value) = level.value.get(field) else { return false };
            if *field == "helmCharts" || *field == "helmChartInflationGenerator" {
                return !tried.places.is_known;
            }
            let files =
                items(&level.value, field).filter_map(|item| item.as_str().or_else(|| item.get("path")?.as_str()));
            let files = files.filter_map(|name| self.tree.files.get(&self.tree.path(&level.folder, name)?));
            let mut texts = files.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).chain([value.to_string()]);
            let mentions = |text: String| text.contains(&desired) || (!last.is_empty() && text.contains(last));
            texts.any(mentions)
        })
    }
}

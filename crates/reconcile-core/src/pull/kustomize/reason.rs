//! The reasons why a change has no place that can be written, with the source that sets the value.

use kube_yaml::Document;
use serde_json::Value;
use structured_merge::PathElement;

use super::candidate::{Allowed, Candidate, How, items};
use super::proof::{Difference, identity_of, name_of, readable};
use super::tree::{Level, Tree};
use super::tried::Tried;

/// The fields of a kustomization that set values and that nobody edits but by hand.
const OTHERS: [&str; 6] =
    ["replacements", "transformers", "generators", "helmCharts", "helmChartInflationGenerator", "vars"];

/// Those that set their values over what the patches of the same kustomization set.
const AFTER_PATCHES: [&str; 3] = ["replacements", "transformers", "vars"];

/// The tree and the flags that reasons depend on.
pub(super) struct Reasons<'r> {
    pub tree: &'r Tree,
    pub allowed: Allowed,
    /// The objects of the former build.
    pub former: &'r [Document],
    pub name: &'r dyn Fn(&str) -> String,
}

impl Reasons<'_> {
    /// The reason for a change all of whose candidates were wrong.
    pub fn of(&self, tried: &Tried<'_>) -> String {
        let overlay = self.tree.levels.first().map_or("", |level| level.file.as_str());
        let overlay = (self.name)(overlay);
        let places = &tried.places;
        let (kind, name) = (&tried.wanted.key.gvk.kind, &tried.wanted.key.name);
        if tried.is_open {
            return format!(
                "too many builds were needed to find out which of several changes is in the way of the others: pull fewer at once, as with \
                 `--object {kind}/{name}`"
            );
        }
        if let Some((candidate, elsewhere)) = &tried.also {
            let file = (self.name)(&candidate.file);
            let also = self.named(elsewhere, tried);
            let new = match candidate.how {
                How::NewEntry => Some("entry"),
                How::NewPatch => Some("patch"),
                _ => None,
            };
            if let Some(new) = new {
                let remedy = self.remedy(places.outside.is_some());
                return format!(
                    "a new {new} in {file} would also set {also}, whose live value is another or was not accepted{remedy}"
                );
            }
            let remedy = self.remedy_beside(candidate);
            return format!(
                "the place in {file} that sets it also sets {also}, whose live value is another or was not accepted{remedy}"
            );
        }
        if let Some((candidate, refusal)) = &tried.refused {
            let file = (self.name)(&candidate.file);
            return format!("it is set in {file}, and {refusal}{}", self.remedy_beside(candidate));
        }
        if let Some((file, template)) = &places.rendered {
            let file = (self.name)(file);
            let remedy = self.remedy(false).replacen(": ", ", or ", 1);
            return format!("{file} was rendered from {template}: change the template or its values{remedy}");
        }
        if let Some(own) = &places.own {
            let file = (self.name)(&own.file);
            let remedy = self.remedy_beside(own);
            return format!("the place in {file} that may set it does not set it as the live object has it{remedy}");
        }
        if let Some(source) = &places.outside {
            let source = (self.name)(source);
            let remedy = self.remedy(true);
            return if self.allowed.bases {
                format!("the place in {source} that may set it does not set it as the live object has it{remedy}")
            } else if self.allowed.new_patches {
                format!("it is set in {source}, and no patch of the overlay sets it as the live object has it{remedy}")
            } else {
                format!("it is set in {source}, which is outside of the overlay and may be shared{remedy}")
            };
        }
        if let Some((level, field)) = self.tree.levels.iter().find_map(|level| Some((level, self.other(level, tried)?)))
        {
            let is_overlay = self.tree.levels.first().is_some_and(|overlay| overlay.file == level.file);
            let remedy = if is_overlay && AFTER_PATCHES.contains(&field) { "" } else { self.remedy(false) };
            let file = (self.name)(&level.file);
            return format!("it may be set by `{field}` of {file}, which is not edited{remedy}");
        }
        if let Some(source) = &places.without {
            let source = (self.name)(source);
            let remedy = self.remedy(true);
            return if self.allowed.bases {
                format!(
                    "no file has it, and what is added to {kind} {name} in {source} does not set it as the live object has it{remedy}"
                )
            } else if self.allowed.new_patches {
                format!(
                    "no file has it, and no patch of {kind} {name}, which is in {source}, sets it as the live object has it{remedy}"
                )
            } else {
                format!(
                    "no file has it: {kind} {name} is in {source}, which is outside of the overlay and may be shared{remedy}"
                )
            };
        }
        let remedy = self.remedy(false);
        format!("no place that {overlay} or its files have sets it as the live object has it{remedy}")
    }

    /// A place that another change needs: with its object, if that is another one.
    fn named(&self, elsewhere: &Difference, tried: &Tried<'_>) -> String {
        let object = self.former.iter().map(|document| &document.value);
        let object = object.filter(|object| !object.is_null()).find(|object| identity_of(object) == elsewhere.object);
        let path = readable(&elsewhere.path, object);
        let name = name_of(&elsewhere.object);
        match (tried.object.as_ref() == Some(&elsewhere.object), path.is_empty()) {
            (true, false) => path,
            (_, true) => name,
            (false, false) => format!("{name} {path}"),
        }
    }

    /// The flag that helps beside a place that cannot be edited.
    fn remedy_beside(&self, candidate: &Candidate) -> &'static str {
        if self.tree.is_last(candidate) { "" } else { self.remedy(false) }
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
        let desired = match tried.wanted.change.desired.as_deref() {
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

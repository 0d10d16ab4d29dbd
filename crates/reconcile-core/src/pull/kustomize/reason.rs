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
        let reason = Self::if_open(tried).or_else(|| self.if_it_sets_others(tried)).or_else(|| self.if_refused(tried));
        let reason = reason.or_else(|| self.if_rendered(tried)).or_else(|| self.if_set_in_overlay(tried));
        let reason = reason.or_else(|| self.if_set_outside(tried)).or_else(|| self.if_others_set_it(tried));
        reason.or_else(|| self.if_nowhere(tried)).unwrap_or_else(|| self.otherwise())
    }

    fn if_open(tried: &Tried<'_>) -> Option<String> {
        tried.is_open.then(|| {
            format!(
                "too many builds were needed to find out which of several changes is in the way of the others: pull fewer at once, as with \
                 `--object {}/{}`",
                tried.wanted.key.gvk.kind, tried.wanted.key.name
            )
        })
    }

    fn if_it_sets_others(&self, tried: &Tried<'_>) -> Option<String> {
        let (candidate, elsewhere) = tried.also.as_ref()?;
        let file = (self.name)(&candidate.file);
        let also = self.named(elsewhere, tried);
        let new = match candidate.how {
            How::NewEntry => Some("entry"),
            How::NewPatch => Some("patch"),
            _ => None,
        };
        let place = new.map_or_else(
            || format!("the place in {file} that sets it also sets"),
            |new| format!("a new {new} in {file} would also set"),
        );
        let remedy = match new {
            Some(_) => self.remedy(tried.places.outside.is_some()),
            None => self.remedy_beside(candidate),
        };
        Some(format!("{place} {also}, whose live value is another or was not accepted{remedy}"))
    }

    fn if_refused(&self, tried: &Tried<'_>) -> Option<String> {
        let (candidate, refusal) = tried.refused.as_ref()?;
        let file = (self.name)(&candidate.file);
        Some(format!("it is set in {file}, and {refusal}{}", self.remedy_beside(candidate)))
    }

    fn if_rendered(&self, tried: &Tried<'_>) -> Option<String> {
        let (file, template) = tried.places.rendered.as_ref()?;
        let file = (self.name)(file);
        let remedy = self.remedy(false).replacen(": ", ", or ", 1);
        Some(format!("{file} was rendered from {template}: change the template or its values{remedy}"))
    }

    fn if_set_in_overlay(&self, tried: &Tried<'_>) -> Option<String> {
        let own = tried.places.own.as_ref()?;
        let file = (self.name)(&own.file);
        let remedy = self.remedy_beside(own);
        Some(format!("the place in {file} that may set it does not set it as the live object has it{remedy}"))
    }

    fn if_set_outside(&self, tried: &Tried<'_>) -> Option<String> {
        let source = (self.name)(tried.places.outside.as_ref()?);
        let remedy = self.remedy(true);
        Some(if self.allowed.bases {
            format!("the place in {source} that may set it does not set it as the live object has it{remedy}")
        } else if self.allowed.new_patches {
            format!("it is set in {source}, and no patch of the overlay sets it as the live object has it{remedy}")
        } else {
            format!("it is set in {source}, which is outside of the overlay and may be shared{remedy}")
        })
    }

    fn if_others_set_it(&self, tried: &Tried<'_>) -> Option<String> {
        let may_pass = |level: &&Level| !tried.places.is_known || level.may_have(&tried.wanted.key);
        let mut levels = self.tree.levels.iter().filter(may_pass);
        let (level, field) = levels.find_map(|level| Some((level, self.other(level, tried)?)))?;
        let is_overlay = self.tree.levels.first().is_some_and(|overlay| overlay.file == level.file);
        let remedy = if is_overlay && AFTER_PATCHES.contains(&field) { "" } else { self.remedy(false) };
        let file = (self.name)(&level.file);
        Some(format!("it may be set by `{field}` of {file}, which is not edited{remedy}"))
    }

    fn if_nowhere(&self, tried: &Tried<'_>) -> Option<String> {
        let source = (self.name)(tried.places.without.as_ref()?);
        let remedy = self.remedy(true);
        let object = object(tried);
        let why = if self.allowed.bases {
            format!("what is added to {object} in {source} does not set it as the live object has it")
        } else if self.allowed.new_patches {
            format!("no patch of {object}, which is in {source}, sets it as the live object has it")
        } else {
            return Some(format!(
                "no file has it: {object} is in {source}, which is outside of the overlay and may be shared{remedy}"
            ));
        };
        Some(format!("no file has it, and {why}{remedy}"))
    }

    fn otherwise(&self) -> String {
        let overlay = self.tree.levels.first().map_or("", |level| level.file.as_str());
        let overlay = (self.name)(overlay);
        format!("no place that {overlay} or its files have sets it as the live object has it{}", self.remedy(false))
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

/// The kind and the name of the object that a change is of.
fn object(tried: &Tried<'_>) -> String {
    let key = &tried.wanted.key;
    format!("{} {}", key.gvk.kind, key.name)
}

//! New patches in an overlay: in a patch of the same object, in a file with patches of the same kind, or in a new file that looks like its
//! neighbours.

use kube_yaml::{Document, Validation, read};
use manifest_edit::{Step, applied};
use serde_json::{Map, Value, json};
use structured_merge::{FieldPath, PathElement, Scalar, builtin};

use super::candidate::{Candidate, How, PatchDocument, PatchHead, PatchPart, Write, items};
use super::names::path_of_patch;
use super::subject::{PATCHES, Subject, inline};
use super::tree::{Level, joined};
use crate::object::generated::stem;
use crate::pull::place::{steps, value_at};

/// The value that is removed from a list by a strategic patch.
const DELETE: &str = "$patch";
/// The most names that are tried for a new file.
const MOST_NAMES: usize = 100;

/// The patches that could be made for a change, the best one first.
pub(super) fn new_patches(subject: &Subject<'_>) -> Vec<Candidate> {
    let Some(overlay) = subject.tree.levels.first() else { return Vec::new() };
    let mut found = Vec::new();
    for Patched { before, path, value } in values(subject) {
        let part = |document| PatchPart { document, before: before.clone(), path: path.clone(), value: value.clone() };
        found.extend(existing(subject, overlay, &part));
        for head in heads(subject, overlay) {
            let new = || part(PatchDocument::New(head.clone()));
            if let Some(file) = file_of_kind(subject, overlay) {
                found.push(Candidate::new(How::NewPatch, file, Write::Patch(new())));
            }
            // Before 5.2, kustomize takes a single patch from a file (its pull request 5194).
            let Some((name, file)) = new_file(subject, overlay) else { continue };
            let entry = if is_strategic(overlay) {
                Write::Entry("patchesStrategicMerge", json!(name))
            } else {
                Write::Entry("patches", json!({"path": name}))
            };
            found.push(Candidate::new(How::NewPatch, &file, Write::Patch(new())).with(&overlay.file, entry));
        }
    }
    found
}

/// A value that a patch may set, at its place.
#[derive(PartialEq)]
struct Patched {
    before: Vec<Vec<PathElement>>,
    path: Vec<PathElement>,
    value: Option<Value>,
}

/// The place and the value of a patch: those of the change, among all that was accepted, which may add items before it, and alone; and if it
/// is in a list that is perhaps not merged by keys, the whole list, with all that was accepted below it, which other changes set as well, and
/// alone. kustomize replaces the lists of custom resources, unless the kustomization has types for them.
fn values(subject: &Subject<'_>) -> Vec<Patched> {
    let elements = subject.wanted.change.path.elements();
    let is_field = |element: &PathElement| matches!(element, PathElement::Field(_));
    let is_named = |element: &PathElement| is_field(element) || matches!(element, PathElement::Key(_));
    let named = elements.iter().take_while(|element| is_named(element)).count();
    let fields = elements.iter().take_while(|element| is_field(element)).count();
    let own = applied(subject.built, &[&subject.wanted.edit]).ok();
    let all = applied(subject.built, &subject.accepted).ok();
    let mut found = Vec::new();
    let (own, all) = (own.as_ref(), all.as_ref());
    let mut tried = [(named, all), (named, own), (fields, all), (fields, own)];
    if builtin().object(&subject.wanted.key.gvk).is_none() {
        tried.rotate_left(2);
    }
    for (length, expected) in tried {
        let (Some(path), Some(expected)) = (elements.get(..length).filter(|path| !path.is_empty()), expected) else {
            continue;
        };
        let at = |object: &Value| value_at(object, &steps(&FieldPath::from(path.to_vec()), object)?).cloned();
        let value = at(expected);
        if value.is_none() && length < elements.len() {
            continue;
        }
        // Where an item goes, its place does not matter.
        let above = path.len().saturating_sub(usize::from(value.is_none()));
        let before = path.get(..above).and_then(|path| preceding(path, expected)).unwrap_or_default();
        let path = path.iter().enumerate().map(|(index, element)| match element {
            PathElement::Key(keys) => {
                let above = FieldPath::from(path.get(..=index).unwrap_or_default().to_vec());
                let item =
                    [expected, subject.built].into_iter().find_map(|object| value_at(object, &steps(&above, object)?));
                item.and_then(|item| written(keys, item)).unwrap_or_else(|| element.clone())
            }
            element => element.clone(),
        });
        let one = Patched { before, path: path.collect(), value };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// The keys of an item that are written: the others have defaults.
fn written(keys: &[(String, Scalar)], item: &Value) -> Option<PathElement> {
    let written = keys.iter().filter_map(|(name, _)| Some((name.clone(), Scalar::from_json(item.get(name)?))));
    let written: Vec<(String, Scalar)> = written.collect();
    (!written.is_empty()).then(|| PathElement::key(written))
}

/// The items before those of a path, in the lists on the way. `None` if one of them has no key.
fn preceding(path: &[PathElement], object: &Value) -> Option<Vec<Vec<PathElement>>> {
    let mut found = Vec::new();
    let mut above: Vec<PathElement> = Vec::new();
    for (index, element) in path.iter().enumerate() {
        let PathElement::Key(keys) = element else {
            above.push(element.clone());
            continue;
        };
        let steps = steps(&FieldPath::from(path.get(..=index)?.to_vec()), object);
        let Some((Step::Index(position), list)) = steps.as_ref().and_then(|steps| steps.split_last()) else { break };
        let items = value_at(object, list).and_then(Value::as_array)?;
        for item in items.iter().take(*position) {
            found.push([above.clone(), vec![written(keys, item)?]].concat());
        }
        above.push(items.get(*position).and_then(|item| written(keys, item)).unwrap_or_else(|| element.clone()));
    }
    Some(found)
}

/// Places in patches of the overlay for the same object.
fn existing(subject: &Subject<'_>, overlay: &Level, part: &impl Fn(PatchDocument) -> PatchPart) -> Vec<Candidate> {
    let mut found = Vec::new();
    for field in PATCHES {
        for (index, patch) in items(&overlay.value, field).enumerate() {
            if !subject.is_target(overlay, patch) {
                continue;
            }
            let has_target = patch.get("target").and_then(|target| target.get("name")).is_some();
            let is_same = |document: &&Document| {
                document.value.is_object()
                    && (has_target || subject.names.is_patch(overlay, &document.value))
                    && !subject.is_of_twin(&document.value)
            };
            let part = |document: &Document| part(PatchDocument::Existing(document.number));
            if let Some((text, at)) = inline(field, index, patch) {
                let documents = read(text.as_bytes(), Validation::Warn).documents;
                let write = |document| Write::PatchWithin(at.clone(), part(document));
                found.extend(
                    documents.iter().find(is_same).map(|one| Candidate::new(How::Patch, &overlay.file, write(one))),
                );
            } else if let Some((file, documents)) =
                path_of_patch(patch).and_then(|name| subject.documents.named(overlay, name))
                && subject.tree.is_own(file)
            {
                let write = |document| Write::Patch(part(document));
                found.extend(documents.iter().find(is_same).map(|one| Candidate::new(How::Patch, file, write(one))));
            }
        }
    }
    found
}

/// The names of the files with patches that an overlay has, without those of one target.
fn neighbours(overlay: &Level) -> impl Iterator<Item = (&Value, &str)> {
    let patches = PATCHES.into_iter().flat_map(|field| items(&overlay.value, field));
    patches.filter_map(|patch| Some((patch, path_of_patch(patch)?)))
}

/// A file of the overlay that has patches of objects of the same kind and nothing else.
fn file_of_kind<'s>(subject: &'s Subject<'_>, overlay: &Level) -> Option<&'s str> {
    let kind = &subject.wanted.key.gvk.kind;
    let is_of_kind = |document: &Document| document.value.get("kind").and_then(Value::as_str) == Some(kind);
    let mut files = neighbours(overlay)
        .filter(|(patch, _)| patch.get("target").is_none())
        .filter_map(|(_, name)| subject.documents.named(overlay, name));
    let found = files.find(|(_, documents)| !documents.is_empty() && documents.iter().all(is_of_kind));
    found.map(|(file, _)| file).filter(|file| subject.tree.is_own(file))
}

/// Returns true if the patches of an overlay are in the former field for strategic patches.
fn is_strategic(overlay: &Level) -> bool {
    let has = |field: &str| items(&overlay.value, field).next().is_some();
    has("patchesStrategicMerge") && !has("patches")
}

/// The type and the name of the object among those that patches of the overlay see, the best one first. Only objects with the same name
/// in another namespace need their own where the source has none: a namespace that the overlay sets comes after its patches.
fn heads(subject: &Subject<'_>, overlay: &Level) -> Vec<PatchHead> {
    let key = &subject.wanted.key;
    let tree = subject.tree;
    let mut sources = tree.levels.iter().flat_map(|level| {
        let resources = subject.documents.resources(level).map(|resource| resource.value);
        resources.filter(|resource| subject.names.is_source(level, resource))
    });
    let namespace = |document: &Value| document.pointer("/metadata/namespace")?.as_str().map(ToOwned::to_owned);
    let source = sources.next();
    let text = |field: &str| subject.built.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    // The hash is added at the end of a build.
    let generated =
        stem(&key.name).filter(|_| source.is_none() && ["ConfigMap", "Secret"].contains(&key.gvk.kind.as_str()));
    let head = PatchHead {
        api_version: text("apiVersion"),
        kind: text("kind"),
        namespace: source.and_then(namespace),
        name: overlay.inner_name(generated.unwrap_or(&key.name)).to_owned(),
    };
    match namespace(subject.built) {
        Some(own) if subject.has_twins && head.namespace.as_ref() != Some(&own) => {
            vec![PatchHead { namespace: Some(own), ..head.clone() }, head]
        }
        _ => vec![head],
    }
}

/// The name and the path of a new file, in the folder and in the style of the others.
fn new_file(subject: &Subject<'_>, overlay: &Level) -> Option<(String, String)> {
    let kind = subject.wanted.key.gvk.kind.to_lowercase();
    let own: Vec<&str> = neighbours(overlay)
        .map(|(_, name)| name)
        .filter(|name| joined(&overlay.folder, name).is_some_and(|path| subject.tree.is_own(&path)))
        .collect();
    let style = Style::of(&own, subject, overlay);
    for number in 1..=MOST_NAMES {
        let name = style.name(&kind, number);
        let path = joined(&overlay.folder, &name)?;
        if !subject.tree.files.contains_key(&path) && !subject.tree.taken.contains(&path) {
            return Some((name, path));
        }
    }
    None
}

/// The style of the names of patches.
struct Style<'n> {
    /// The folder with a slash at its end, or nothing.
    folder: &'n str,
    /// The text around the kind.
    before: String,
    after: String,
    ending: &'n str,
}

impl<'n> Style<'n> {
    fn of(own: &[&'n str], subject: &Subject<'_>, overlay: &Level) -> Self {
        // The last ones are nearest to the new one.
        let last = own.last().copied().unwrap_or_default();
        let (folder, stem, ending) = parts(last);
        let ending = if ending.is_empty() { ".yaml" } else { ending };
        let style =
            |before: &str, after: &str| Self { folder, before: before.to_owned(), after: after.to_owned(), ending };
        for name in own.iter().rev().filter(|name| parts(name).0 == folder) {
            let (_, stem, _) = parts(name);
            let documents = subject.documents.named(overlay, name).map(|(_, documents)| documents).unwrap_or_default();
            let kinds = documents.iter().filter_map(|document| document.value.get("kind")?.as_str());
            for kind in kinds {
                if let Some((before, after)) = stem.to_lowercase().split_once(&kind.to_lowercase()) {
                    return style(before, after);
                }
            }
        }
        let word = stem.to_lowercase();
        for mark in ['-', '_', '.'] {
            if word.starts_with(&format!("patch{mark}")) {
                return style(&format!("patch{mark}"), "");
            }
            if word.ends_with(&format!("{mark}patch")) {
                return style("", &format!("{mark}patch"));
            }
        }
        // In a folder for patches, the name needs no word for them.
        if folder.is_empty() { style("", "-patch") } else { style("", "") }
    }

    fn name(&self, kind: &str, number: usize) -> String {
        let Self { folder, before, after, ending } = self;
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        format!("{folder}{before}{kind}{after}{number}{ending}")
    }
}

/// The folder of a file, its name without the ending, and the ending if it is one of YAML.
fn parts(name: &str) -> (&str, &str, &str) {
    let (folder, file) = name.split_at(name.rfind('/').map_or(0, |at| at.saturating_add(1)));
    let (stem, ending) = file.split_at(file.rfind('.').unwrap_or(file.len()));
    (folder, stem, if [".yaml", ".yml"].contains(&ending) { ending } else { "" })
}

impl PatchHead {
    /// The document without any value.
    pub fn document(&self) -> Value {
        let mut metadata = Map::from_iter([("name".to_owned(), json!(self.name))]);
        metadata.extend(self.namespace.as_ref().map(|namespace| ("namespace".to_owned(), json!(namespace))));
        json!({"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata})
    }
}

/// Sets a value in a strategic patch. The items on the way come after those that are before them.
pub(super) fn set(target: &mut Value, part: &PatchPart) {
    for depth in 1..=part.path.len() {
        let Some((item @ PathElement::Key(_), list)) = part.path.get(..depth).and_then(<[_]>::split_last) else {
            continue;
        };
        let before = part.before.iter().filter(|one| one.len() == depth).filter_map(|one| one.last());
        let items: Vec<&PathElement> = before.chain([item]).collect();
        let goes = depth == part.path.len() && part.value.is_none();
        add_items(target, list, &items, goes);
    }
    let Some(place) = made(target, &part.path) else { return };
    match (part.path.last(), &part.value, &mut *place) {
        (Some(PathElement::Key(_)), None, Value::Object(item)) => drop(item.insert(DELETE.to_owned(), json!("delete"))),
        _ => *place = part.value.clone().unwrap_or(Value::Null),
    }
}

/// Makes the items of a list that it does not have, each after the one before it, or at its end.
fn add_items(target: &mut Value, list: &[PathElement], items: &[&PathElement], at_end: bool) {
    let Some(list) = made(target, list) else { return };
    if !list.is_array() {
        *list = Value::Array(Vec::new());
    }
    let Some(list) = list.as_array_mut() else { return };
    let mut next = if at_end { list.len() } else { 0 };
    for item in items {
        let PathElement::Key(keys) = item else { continue };
        let place = position(list, keys).unwrap_or_else(|| {
            list.insert(
                next,
                keys.iter().map(|(name, key)| (name.clone(), key.to_json())).collect::<Map<_, _>>().into(),
            );
            next
        });
        next = place.saturating_add(1);
    }
}

/// The position of the item with these keys.
fn position(items: &[Value], keys: &[(String, Scalar)]) -> Option<usize> {
    items.iter().position(|item| keys.iter().all(|(name, key)| item.get(name) == Some(&key.to_json())))
}

/// A place in a strategic patch. Mappings on the way that do not exist are made.
fn made<'t>(target: &'t mut Value, path: &[PathElement]) -> Option<&'t mut Value> {
    let Some((first, rest)) = path.split_first() else { return Some(target) };
    match first {
        PathElement::Field(name) => {
            if !target.is_object() {
                *target = Value::Object(Map::new());
            }
            made(target.as_object_mut()?.entry(name.as_str()).or_insert(Value::Null), rest)
        }
        PathElement::Key(keys) => {
            let items = target.as_array_mut()?;
            let place = position(items, keys)?;
            made(items.get_mut(place)?, rest)
        }
        PathElement::Member(_) | PathElement::Index(_) => None,
    }
}

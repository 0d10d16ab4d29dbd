//! The fields of a kustomization that set values by themselves: images, replicas, labels, annotations and generators.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use manifest_edit::{Change, Edit, Step};
use serde_json::{Map, Value, json};

use super::candidate::{AcceptedChange, Candidate, How, Placed, Write, items};
use super::names::Names;
use super::tree::{Level, Tree};

/// The places of one kustomization that may set the value.
pub(super) fn of(tree: &Tree, level: &Level, wanted: &AcceptedChange, names: &Names<'_>) -> Vec<Candidate> {
    let mut found = images(level, wanted);
    found.extend(replicas(level, wanted, names));
    found.extend(labels(level, wanted));
    found.extend(generators(tree, level, wanted, names));
    found
}

/// A new entry of `images` or `replicas`. The names of replicas are those before the prefix and the suffix of the overlay.
pub(super) fn new(overlay: &Level, wanted: &AcceptedChange) -> Option<Candidate> {
    let Change::Set(new) = &wanted.edit.change else { return None };
    let entry = |list, entry| Some(Candidate::new(How::NewEntry, &overlay.file, Write::Entry(list, entry)));
    if is_replicas(wanted) && new.is_u64() {
        let name = overlay.inner_name(&wanted.key.name);
        let is_there = items(&overlay.value, "replicas").any(|entry| entry.get("name") == Some(&json!(name)));
        return if is_there { None } else { entry("replicas", json!({"name": name, "count": new})) };
    }
    let old = Image::of(wanted.change.desired.as_ref()?.as_str()?);
    let new = Image::of(new.as_str()?);
    let is_there = || items(&overlay.value, "images").any(|entry| entry.get("name") == Some(&json!(old.name)));
    if !is_image(wanted) || is_there() {
        return None;
    }
    let mut value = Map::from_iter([("name".to_owned(), json!(old.name))]);
    if new.name != old.name {
        value.insert("newName".to_owned(), json!(new.name));
    }
    value.extend(new.tag.map(|tag| ("newTag".to_owned(), json!(tag))));
    value.extend(new.digest.map(|digest| ("digest".to_owned(), json!(digest))));
    entry("images", Value::Object(value))
}

/// The parts of the name of an image.
struct Image<'t> {
    name: &'t str,
    tag: Option<&'t str>,
    digest: Option<&'t str>,
}

impl<'t> Image<'t> {
    fn of(text: &'t str) -> Self {
        let (rest, digest) = text.split_once('@').map_or((text, None), |(rest, digest)| (rest, Some(digest)));
        let tag = rest.rsplit_once(':').filter(|(_, tag)| !tag.contains('/'));
        let (name, tag) = tag.map_or((rest, None), |(name, tag)| (name, Some(tag)));
        Self { name, tag, digest }
    }
}

fn last_key(wanted: &AcceptedChange) -> Option<&str> {
    match wanted.edit.path.last() {
        Some(Step::Key(key)) => Some(key),
        _ => None,
    }
}

fn is_image(wanted: &AcceptedChange) -> bool {
    last_key(wanted) == Some("image")
}

fn is_replicas(wanted: &AcceptedChange) -> bool {
    wanted.edit.path == [Step::Key("spec".to_owned()), Step::Key("replicas".to_owned())]
}

fn at(field: &str, index: usize, below: &[&str]) -> Vec<Step> {
    let above = [Step::Key(field.to_owned()), Step::Index(index)].into_iter();
    above.chain(below.iter().map(|key| Step::Key((*key).to_owned()))).collect()
}

fn edit(path: Vec<Step>, change: Change) -> Write {
    Write::At(Placed { edit: Edit { document: 1, path, change }, around: 0 })
}

fn images(level: &Level, wanted: &AcceptedChange) -> Vec<Candidate> {
    let (Change::Set(Value::String(new)), Some(old)) =
        (&wanted.edit.change, wanted.change.desired.as_deref().and_then(Value::as_str))
    else {
        return Vec::new();
    };
    if !is_image(wanted) {
        return Vec::new();
    }
    let old = Image::of(old);
    let new = Image::of(new);
    let mut found = Vec::new();
    for (index, entry) in items(&level.value, "images").enumerate() {
        let text = |field: &str| entry.get(field).and_then(Value::as_str);
        let written = text("newName").or_else(|| text("name"));
        if written != Some(old.name) && text("name") != Some(old.name) {
            continue;
        }
        let mut writes = Vec::new();
        let fields = [
            ("newName", (written != Some(new.name)).then_some(new.name), false),
            ("newTag", new.tag, new.tag.is_none()),
            ("digest", new.digest, new.digest.is_none()),
        ];
        for (field, value, is_gone) in fields {
            let former = entry.get(field);
            match value {
                Some(value) if former.and_then(Value::as_str) != Some(value) => {
                    writes.push(edit(at("images", index, &[field]), Change::Set(json!(value))));
                }
                None if is_gone && former.is_some() => {
                    writes.push(edit(at("images", index, &[field]), Change::Remove));
                }
                _ => {}
            }
        }
        if !writes.is_empty() {
            found.push(Candidate::of_writes(How::Images, &level.file, writes));
        }
    }
    found
}

fn replicas(level: &Level, wanted: &AcceptedChange, names: &Names<'_>) -> Vec<Candidate> {
    let Change::Set(new) = &wanted.edit.change else { return Vec::new() };
    let is_named = |entry: &Value| {
        let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
        names.has(level, name)
    };
    let entries =
        items(&level.value, "replicas").enumerate().filter(|(_, entry)| is_replicas(wanted) && is_named(entry));
    let write = |index| edit(at("replicas", index, &["count"]), Change::Set(new.clone()));
    entries.map(|(index, _)| Candidate::new(How::Replicas, &level.file, write(index))).collect()
}

/// The common labels and annotations. Their edit changes all objects that have them.
fn labels(level: &Level, wanted: &AcceptedChange) -> Vec<Candidate> {
    let Some(key) = last_key(wanted) else { return Vec::new() };
    let old = wanted.change.desired.as_deref();
    let mut found = Vec::new();
    let mut add = |how, path: Vec<Step>, map: Option<&Value>| {
        if map.and_then(|map| map.get(key)).is_some_and(|value| Some(value) == old) {
            let path = [path, vec![Step::Key(key.to_owned())]].concat();
            found.push(Candidate::new(how, &level.file, edit(path, wanted.edit.change.clone())));
        }
    };
    for (index, entry) in items(&level.value, "labels").enumerate() {
        add(How::Labels, at("labels", index, &["pairs"]), entry.get("pairs"));
    }
    for (field, how) in [("commonLabels", How::Labels), ("commonAnnotations", How::Annotations)] {
        add(how, vec![Step::Key(field.to_owned())], level.value.get(field));
    }
    found
}

/// The literals, files and envs of the generators of ConfigMaps.
fn generators(tree: &Tree, level: &Level, wanted: &AcceptedChange, names: &Names<'_>) -> Vec<Candidate> {
    let (Some(key), "ConfigMap") = (last_key(wanted), wanted.key.gvk.kind.as_str()) else { return Vec::new() };
    let new = match &wanted.edit.change {
        Change::Set(Value::String(new)) => Some(new),
        Change::Remove => None,
        _ => return Vec::new(),
    };
    let is_binary = wanted.edit.path.first() == Some(&Step::Key("binaryData".to_owned()));
    let content = new.map(|new| if is_binary { STANDARD.decode(new).ok() } else { Some(new.clone().into_bytes()) });
    let mut found = Vec::new();
    for (index, generator) in items(&level.value, "configMapGenerator").enumerate() {
        let name = generator.get("name").and_then(Value::as_str).unwrap_or_default();
        if !names.has(level, name) {
            continue;
        }
        let path = |field: &str, item| [at("configMapGenerator", index, &[field]), vec![Step::Index(item)]].concat();
        let texts = |field: &str| items(generator, field).filter_map(Value::as_str).enumerate().collect::<Vec<_>>();
        for (item, text) in texts("literals") {
            if text.split_once('=').is_some_and(|(own, _)| own == key) {
                let change = new.map_or(Change::Remove, |new| Change::Set(json!(format!("{key}={new}"))));
                found.push(Candidate::new(How::Literal, &level.file, edit(path("literals", item), change)));
            }
        }
        for (item, text) in texts("files") {
            let entry = text.split_once('=').unwrap_or_else(|| (text.rsplit('/').next().unwrap_or(text), text));
            let file = tree.path(&level.folder, entry.1).filter(|file| entry.0 == key && tree.files.contains_key(file));
            found.extend(file.and_then(|file| match &content {
                Some(content) => Some(Candidate::new(How::File, &file, Write::Whole(content.clone()?))),
                None => Some(Candidate::new(How::File, &level.file, edit(path("files", item), Change::Remove))),
            }));
        }
        let env = generator.get("env").and_then(Value::as_str);
        for name in texts("envs").into_iter().map(|(_, text)| text).chain(env) {
            let Some(file) = tree.path(&level.folder, name) else { continue };
            let text = tree.files.get(&file).map(|bytes| String::from_utf8_lossy(bytes));
            let line = |line: &&str| line.trim_start().split_once('=').is_some_and(|(own, _)| own == key);
            let line = text.as_ref().and_then(|text| text.lines().find(line));
            if let Some(line) = line.filter(|_| new.is_none_or(|new| !new.contains(['\n', '\r']))) {
                let write = Write::Line(line.to_owned(), new.map(|new| format!("{key}={new}")));
                found.push(Candidate::new(How::File, &file, write));
            }
        }
    }
    found
}

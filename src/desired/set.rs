use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::files::Input;
use super::manifest::{Manifest, Source};
use super::selector::Selector;
use super::yaml::{self, Mark, Positions, Problem, Severity, Step, Validation};
use crate::object::GroupVersionKind;

/// All objects that the user wants, in the order in which they were read.
#[derive(Debug, Default)]
pub struct DesiredSet {
    /// The objects.
    pub manifests: Vec<Manifest>,
    /// Problems of the input that don't stop the run.
    pub warnings: Vec<InputProblem>,
}

/// How manifests are read.
#[derive(Debug)]
pub struct ReadOptions {
    /// What the reader refuses.
    pub validation: Validation,
    /// Which objects are wanted, by their labels.
    pub selector: Selector,
    /// Whether no object at all is fine.
    pub allow_empty: bool,
}

/// A problem of the input as a whole, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputProblem {
    /// The file, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Arc<str>>,
    /// Line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl InputProblem {
    /// A problem without a place.
    #[must_use]
    pub fn general(message: impl Into<String>) -> Self {
        Self { file: None, line: None, column: None, message: message.into(), hint: None }
    }

    /// A problem of a whole file.
    #[must_use]
    pub fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: Some(file.into()), ..Self::general(message) }
    }

    /// A problem of an object.
    #[must_use]
    pub fn of_source(source: &Source, message: impl Into<String>) -> Self {
        Self { file: Some(source.file.clone()), line: Some(source.line), ..Self::general(message) }
    }

    /// The same problem, with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn at(file: &Arc<str>, mark: Mark, message: impl Into<String>) -> Self {
        Self { file: Some(file.clone()), line: Some(mark.line), column: Some(mark.column), ..Self::general(message) }
    }
}

/// `web.yaml:12:5: message`
impl std::fmt::Display for InputProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}")?;
            for number in [self.line, self.column].into_iter().flatten() {
                write!(f, ":{number}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

/// Reads all inputs. Either every object is there, or all problems of all inputs are.
pub fn read(inputs: &[Input], options: &ReadOptions) -> Result<DesiredSet, Vec<InputProblem>> {
    let mut reader = Reader { options, manifests: Vec::new(), problems: Vec::new(), warnings: Vec::new() };
    for input in inputs {
        reader.input(input);
    }
    reader.duplicates();
    if reader.problems.is_empty() && !options.allow_empty {
        reader.emptiness();
    }
    if !reader.problems.is_empty() {
        return Err(reader.problems);
    }
    let mut manifests = reader.manifests;
    manifests.retain(|manifest| options.selector.matches(&manifest.value));
    Ok(DesiredSet { manifests, warnings: reader.warnings })
}

struct Reader<'a> {
    options: &'a ReadOptions,
    manifests: Vec<Manifest>,
    problems: Vec<InputProblem>,
    warnings: Vec<InputProblem>,
}

impl Reader<'_> {
    fn input(&mut self, input: &Input) {
        let stream = yaml::read(&input.bytes, self.options.validation);
        for problem in &stream.problems {
            self.syntax(&input.name, problem);
        }
        for document in stream.documents {
            let source = Source { file: input.name.clone(), line: document.start.line, document: document.number };
            self.object(document.value, document.positions, source);
        }
    }

    fn syntax(&mut self, file: &Arc<str>, problem: &Problem) {
        let also = problem.also.map(|also| format!(" (the other place is {}:{})", also.line, also.column));
        let message = format!("{}{}", problem.message, also.unwrap_or_default());
        let mut found = InputProblem::at(file, problem.mark, message);
        found.hint.clone_from(&problem.hint);
        let lossy = matches!(problem.severity, Severity::Lossy);
        match self.options.validation {
            Validation::Warn if lossy => self.warnings.push(found),
            Validation::Ignore if lossy => {}
            _ => self.problems.push(found),
        }
    }

    /// An object, or a list whose items are objects; lists nest.
    fn object(&mut self, value: Value, positions: Positions, source: Source) {
        let mark = positions.nearest(&[]);
        let Value::Object(mut object) = value else {
            let what = "an object with apiVersion, kind and metadata was expected here";
            self.problems.push(InputProblem::at(&source.file, mark, what));
            return;
        };
        let is_list = object.get("kind").is_some_and(|kind| kind == "List");
        if is_list || object.get("items").is_some_and(Value::is_array) {
            let items = match object.remove("items") {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            };
            let item_kind = kind_of_items(&object);
            for (index, mut item) in items.into_iter().enumerate() {
                let at = [Step::Key("items"), Step::Index(index)];
                let positions = positions.descend(&at).unwrap_or_else(|| positions.clone());
                let line = positions.nearest(&[]).line;
                inherit_type(&mut item, item_kind.as_ref());
                self.object(item, positions, Source { line, ..source.clone() });
            }
            return;
        }
        match manifest(Value::Object(object), positions, source) {
            Ok(manifest) => self.manifests.push(manifest),
            Err(problems) => self.problems.extend(problems),
        }
    }

    fn duplicates(&mut self) {
        let mut seen: BTreeMap<_, Source> = BTreeMap::new();
        for manifest in &self.manifests {
            let key = (&manifest.gvk.group, &manifest.gvk.kind, &manifest.namespace, &manifest.name);
            match seen.get(&key) {
                Some(first) => self.problems.push(twice(manifest, first)),
                None => drop(seen.insert(key, manifest.source.clone())),
            }
        }
    }

    fn emptiness(&mut self) {
        let hint = "pass `--allow-empty` if that is intended";
        let message = if self.manifests.is_empty() {
            "no objects found in the input"
        } else if self.manifests.iter().any(|manifest| self.options.selector.matches(&manifest.value)) {
            return;
        } else {
            "no object matches the selector"
        };
        self.problems.push(InputProblem::general(message).with_hint(hint));
    }
}

/// The problem that one object stands in the input twice.
#[must_use]
pub(crate) fn twice(manifest: &Manifest, first: &Source) -> InputProblem {
    InputProblem::of_source(&manifest.source, format!("{manifest} is defined twice, first at {first}"))
        .with_hint("remove one of the two")
}

/// The type that a typed list (`ConfigMapList`) gives to items that don't name theirs.
fn kind_of_items(list: &serde_json::Map<String, Value>) -> Option<(Value, Value)> {
    let kind = list.get("kind")?.as_str()?.strip_suffix("List").filter(|kind| !kind.is_empty())?;
    Some((list.get("apiVersion")?.clone(), Value::from(kind)))
}

fn inherit_type(item: &mut Value, from: Option<&(Value, Value)>) {
    if let (Value::Object(item), Some((api_version, kind))) = (item, from)
        && !item.contains_key("kind")
        && !item.contains_key("apiVersion")
    {
        item.insert("apiVersion".into(), api_version.clone());
        item.insert("kind".into(), kind.clone());
    }
}

fn manifest(mut value: Value, positions: Positions, source: Source) -> Result<Manifest, Vec<InputProblem>> {
    let mut problems = Vec::new();
    let problem =
        |steps: &[Step<'_>], message: String| InputProblem::at(&source.file, positions.nearest(steps), message);
    let text = |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(ToOwned::to_owned);
    let mut required = |pointer: &str, steps: &[Step<'_>], name: &str| {
        let found = text(&value, pointer).filter(|text| !text.is_empty());
        if found.is_none() {
            let hint = format!("every object needs `{name}`, as a string");
            problems.push(problem(steps, format!("`{name}` is missing or not a string")).with_hint(hint));
        }
        found.unwrap_or_default()
    };
    let api_version = required("/apiVersion", &[Step::Key("apiVersion")], "apiVersion");
    let kind = required("/kind", &[Step::Key("kind")], "kind");
    let at_name = [Step::Key("metadata"), Step::Key("name")];
    let generated = value.pointer("/metadata/name").is_none() && value.pointer("/metadata/generateName").is_some();
    let name = if generated {
        let message = "`metadata.generateName` can't be compared or applied, as every run would make another object";
        let at = [Step::Key("metadata"), Step::Key("generateName")];
        problems.push(problem(&at, message.to_owned()).with_hint("give the object a `metadata.name`"));
        String::new()
    } else {
        required("/metadata/name", &at_name, "metadata.name")
    };
    let namespace = text(&value, "/metadata/namespace").filter(|namespace| !namespace.is_empty());
    if !problems.is_empty() {
        return Err(problems);
    }
    let warnings = strip_server_metadata(&mut value);
    let gvk = GroupVersionKind::new(&api_version, &kind);
    Ok(Manifest { gvk, namespace, name, value, source, positions, warnings })
}

/// Takes out what only a server writes, so that the output of `kubectl get -o yaml` works as input.
fn strip_server_metadata(object: &mut Value) -> Vec<String> {
    const SERVER_OWNED: [&str; 8] = [
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    ];
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return Vec::new() };
    let mut left_out = Vec::new();
    for name in SERVER_OWNED {
        if metadata.remove(name).is_some_and(|value| !value.is_null()) {
            left_out.push(format!("`{name}`"));
        }
    }
    if left_out.is_empty() {
        return Vec::new();
    }
    vec![format!("left out of `metadata`, as only the server writes it: {}", left_out.join(", "))]
}

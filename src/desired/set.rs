use std::collections::BTreeMap;

use serde_json::Value;

use super::files::Input;
use super::manifest::Manifest;
use super::mismatch::kind_of;
use super::problem::InputProblem;
use super::selector::Selector;
use super::source::Source;
use super::structure::manifest;
use super::yaml::{self, Mark, Positions, Problem, Severity, Step, Validation};

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
        let stream = yaml::read(input.text.bytes(), self.options.validation);
        for problem in &stream.problems {
            self.syntax(input, problem);
        }
        for document in stream.documents {
            let source = Source { file: input.name.clone(), line: document.start.line, document: document.number };
            self.object(document.value, document.positions, source, input);
        }
    }

    fn syntax(&mut self, input: &Input, problem: &Problem) {
        let also = problem.also.map(|also| format!(" (the other place is {}:{})", also.line, also.column));
        let message = format!("{}{}", problem.message, also.unwrap_or_default());
        let mut found = InputProblem::at(&input.name, problem.mark, message).shown_in(&input.text, problem.also);
        found.hint.clone_from(&problem.hint);
        let lossy = matches!(problem.severity, Severity::Lossy);
        match self.options.validation {
            Validation::Warn if lossy => self.warnings.push(found),
            Validation::Ignore if lossy => {}
            _ => self.problems.push(found),
        }
    }

    /// An object, or a list whose items are objects; lists nest.
    fn object(&mut self, value: Value, positions: Positions, source: Source, input: &Input) {
        let mark = positions.nearest(&[]);
        let Value::Object(mut object) = value else {
            let message = format!("expected an object, found {}", kind_of(&value));
            let problem = InputProblem::at(&source.file, mark, message).shown_in(&input.text, None);
            self.problems.push(problem.with_hint("every object has `apiVersion`, `kind` and `metadata`"));
            return;
        };
        let is_list = object.get("kind").is_some_and(|kind| kind == "List");
        if is_list || object.get("items").is_some_and(Value::is_array) {
            let items = match object.remove("items") {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            };
            let item_kind = kind_of_items(&object);
            let places = positions.items(&[Step::Key("items")]);
            for (index, mut item) in items.into_iter().enumerate() {
                let positions = places.get(index).unwrap_or(&positions).clone();
                let line = positions.nearest(&[]).line;
                inherit_type(&mut item, item_kind.as_ref());
                self.object(item, positions, Source { line, ..source.clone() }, input);
            }
            return;
        }
        match manifest(Value::Object(object), positions, source, input.text.clone()) {
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
    let mark = manifest.positions.nearest(&[]);
    let also = (first.file == manifest.source.file).then_some(Mark { line: first.line, column: mark.column });
    manifest
        .problem_at(mark, also, format!("{manifest} is defined twice, first at {first}"))
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

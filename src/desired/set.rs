use std::collections::HashMap;

use super::chunk::{Chunk, ReadChunk};
use super::files::Input;
use super::manifest::Manifest;
use super::problem::InputProblem;
use super::selector::Selector;
use super::source::Source;
use super::yaml::{Mark, Validation};

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
    gather(Chunk::read_in_order(inputs, options), options)
}

/// Puts together what was read from the chunks of all inputs, in their order; the result is that of [`read`].
pub fn gather(
    chunks: impl IntoIterator<Item = ReadChunk>,
    options: &ReadOptions,
) -> Result<DesiredSet, Vec<InputProblem>> {
    let mut gathering = Gathering { options, manifests: Vec::new(), problems: Vec::new(), warnings: Vec::new() };
    // What is wrong with the objects of an input is told behind what is wrong with its text.
    let (mut of_objects, mut count) = (Vec::new(), 0);
    for mut chunk in chunks {
        if chunk.is_first {
            gathering.problems.append(&mut of_objects);
            count = 0;
        }
        for manifest in &mut chunk.manifests {
            manifest.source.document += count;
        }
        count += chunk.count;
        gathering.manifests.append(&mut chunk.manifests);
        gathering.problems.append(&mut chunk.syntax);
        gathering.warnings.append(&mut chunk.warnings);
        of_objects.append(&mut chunk.problems);
    }
    gathering.problems.append(&mut of_objects);
    gathering.finish()
}

struct Gathering<'a> {
    options: &'a ReadOptions,
    manifests: Vec<Manifest>,
    problems: Vec<InputProblem>,
    warnings: Vec<InputProblem>,
}

impl Gathering<'_> {
    fn finish(mut self) -> Result<DesiredSet, Vec<InputProblem>> {
        self.duplicates();
        if self.problems.is_empty() && !self.options.allow_empty {
            self.emptiness();
        }
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        self.manifests.retain(|manifest| self.options.selector.matches(&manifest.value));
        Ok(DesiredSet { manifests: self.manifests, warnings: self.warnings })
    }

    fn duplicates(&mut self) {
        let mut seen: HashMap<_, &Source> = HashMap::with_capacity(self.manifests.len());
        for manifest in &self.manifests {
            let key = (&manifest.gvk.group, &manifest.gvk.kind, &manifest.namespace, &manifest.name);
            match seen.get(&key) {
                Some(first) => self.problems.push(twice(manifest, first)),
                None => drop(seen.insert(key, &manifest.source)),
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

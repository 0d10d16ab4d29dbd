//! An input of a run, and its independent chunks, which are read in parallel.

use std::sync::Arc;

use kube_yaml::{AliasBudget, Positions, Severity, Step, SyntaxDiagnostic, Validation};
use serde_json::Value;
use structured_merge::{ObjectMeta as _, SharedTypes};

use super::built::{Built, BuiltFrom, BuiltPlace, Elsewhere, Written};
use super::encrypted::{Decrypted, Place, Seal, identity, is_encrypted, is_identified, is_list, mistake};
use super::manifest::Manifest;
use super::mismatch::kind_of;
use super::source::{Source, SourceText, explained, template};
use super::validate::manifest;
use crate::diagnostic::Diagnostic;

/// Size of a chunk, in bytes.
const SIZE: usize = 64 << 10;

/// The content of one file, URL or stream.
#[derive(Debug)]
pub struct Input {
    /// Its name as the user would write it.
    pub name: Arc<str>,
    /// Its text.
    pub text: SourceText,
    /// Its decrypted documents; `None` if they are left encrypted.
    pub decrypted: Option<Decrypted>,
    /// The files that its objects come from, if it was built from a kustomization.
    pub built_from: Option<BuiltFrom>,
}

impl Input {
    /// A text with this name. Documents in it that are encrypted stay so.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<SourceText>) -> Self {
        Self { name: name.into(), text: text.into(), decrypted: None, built_from: None }
    }
}

/// Some documents of one input.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    input: &'a Input,
    text: kube_yaml::Chunk<'a>,
    /// True if these are the first documents of their input.
    is_first: bool,
}

/// The result of reading a chunk.
#[derive(Debug, Default)]
pub struct ReadChunk {
    pub(super) is_first: bool,
    pub(super) manifests: Vec<Manifest>,
    /// Errors in the text, apart from those in its objects, which are reported after them.
    pub(super) syntax: Vec<Diagnostic>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The errors of each hook that is no readable object, such as one without a name.
    pub(super) unreadable_hooks: Vec<Vec<Diagnostic>>,
    pub(super) warnings: Vec<Diagnostic>,
    /// Number of documents that are not empty.
    pub(super) count: usize,
}

impl<'a> Chunk<'a> {
    /// The chunks of all inputs, in their order.
    pub fn of(inputs: &'a [Input]) -> Vec<Self> {
        let chunks = inputs.iter().flat_map(|input| {
            let chunks = kube_yaml::Chunk::of(input.text.bytes(), SIZE).into_iter().enumerate();
            chunks.map(move |(number, text)| Self { input, text, is_first: number == 0 })
        });
        chunks.collect()
    }

    /// Reads all inputs, one chunk after the other.
    pub fn read_in_order(inputs: &'a [Input], validation: Validation) -> Vec<ReadChunk> {
        let budget = alias_budget(inputs);
        Self::of(inputs).iter().map(|chunk| chunk.read(validation, &budget)).collect()
    }

    /// Reads the documents with the budget of the run, and makes manifests of them.
    pub fn read(&self, validation: Validation, budget: &AliasBudget) -> ReadChunk {
        let stream = self.text.read(validation, budget);
        let mut read = ReadChunk { is_first: self.is_first, count: stream.count, ..ReadChunk::default() };
        for diagnostic in stream.diagnostics.iter().chain(&stream.changed_keys) {
            self.syntax(diagnostic, validation, &mut read);
        }
        for document in stream.documents {
            let mut source = Source {
                file: self.input.name.clone(),
                line: document.start.line,
                template: document.comment.as_deref().and_then(template),
                document: document.number,
                items: Vec::new(),
            };
            let seal = Seal::Open;
            let line = source.line;
            let value = document.value;
            let place = self.input.built_from.as_ref().and_then(|from| from.of(&value));
            let mut positions = document.positions;
            let mut text = None;
            if let Some(BuiltPlace { file, document, .. }) = place {
                source.file = file.clone();
                if let Some(document) = document {
                    source.line = document.line;
                    source.template.clone_from(&document.template);
                    positions = document.positions.clone();
                    let elsewhere = Elsewhere::of(&value, &document.object, &self.input.name);
                    text = Some(Written { text: document.text.clone(), elsewhere });
                }
            }
            self.object(value, positions, At { line, source, seal, text }, &mut read);
        }
        let mut types = SharedTypes::default();
        read.manifests.iter_mut().for_each(|manifest| types.share(&mut manifest.gvk));
        read
    }

    fn syntax(&self, diagnostic: &SyntaxDiagnostic, validation: Validation, read: &mut ReadChunk) {
        let also = diagnostic.also.map(|also| format!(" (first at {}:{})", also.line, also.column));
        let template = self.input.text.template_at(diagnostic.mark.line);
        let message = explained(format!("{}{}", diagnostic.message, also.unwrap_or_default()), template.as_deref());
        let found = Diagnostic { message, ..Diagnostic::of_syntax(&self.input.name, diagnostic) };
        let found = found.shown_in(&self.input.text, diagnostic.also);
        let lossy = matches!(diagnostic.severity, Severity::Lossy);
        match validation {
            Validation::Warn if lossy => read.warnings.push(found.as_warning()),
            Validation::Ignore if lossy => {}
            _ => read.syntax.push(found),
        }
    }

    /// An object, or a list whose items are objects; lists nest.
    fn object(&self, value: Value, positions: Positions, at: At, read: &mut ReadChunk) {
        let mark = positions.nearest(&[]);
        let At { line, source, seal, text } = at;
        let encrypted = matches!(seal, Seal::Open) && is_encrypted(&value);
        let (mut value, seal) = if encrypted { self.opened(value, line, &source) } else { (value, seal) };
        if !value.is_object() {
            let message = source.explained(format!("expected an object, found {}", kind_of(&value)));
            let shown = text.as_ref().map_or(&self.input.text, |written| &written.text);
            let diagnostic = Diagnostic::at(&source.file, mark, message).shown_in(shown, None);
            read.diagnostics.push(diagnostic.with_hint("every object has `apiVersion`, `kind` and `metadata`"));
            return;
        }
        if is_list(&value) {
            if let Some(kind) = named_object(&value) {
                let message = source
                    .explained(format!("`items` makes kubectl take this {kind} for a list and lose the rest of it"));
                let mark = positions.nearest(&[Step::Key("items")]);
                let shown = text.as_ref().map_or(&self.input.text, |written| &written.text);
                let diagnostic = Diagnostic::at(&source.file, mark, message).shown_in(shown, None);
                read.diagnostics.push(diagnostic.with_hint("leave `items` out, or write the objects into a `List`"));
                return;
            }
            let item_kind = kind_of_items(&value);
            let items = value.get_mut("items").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
            let places = positions.items(&[Step::Key("items")]);
            for (index, mut item) in items.into_iter().enumerate() {
                let positions = places.get(index).unwrap_or(&positions).clone();
                inherit_type(&mut item, item_kind.as_ref());
                let items = source.items.iter().copied().chain([index]).collect();
                let source = Source { line: positions.nearest(&[]).line, items, ..source.clone() };
                let at = At { line, source, seal: seal.clone(), text: text.clone() };
                self.object(item, positions, at, read);
            }
            return;
        }
        if !matches!(seal, Seal::Open) {
            return self.sealed(value, &positions, At { line, source, seal, text }, read);
        }
        let is_hook = is_hook(&value);
        let built = |from: &BuiltFrom| Built { text: self.input.text.clone(), files: Arc::clone(&from.files) };
        let built = self.input.built_from.as_ref().map(built);
        match checked(value, positions, source, text.unwrap_or_else(|| self.input.text.clone().into())) {
            Ok(mut manifest) => {
                Arc::make_mut(&mut manifest.origin).built = built;
                read.manifests.push(manifest);
            }
            Err(diagnostics) if is_hook => read.unreadable_hooks.push(diagnostics),
            Err(diagnostics) => read.diagnostics.extend(diagnostics),
        }
    }

    /// A document that is encrypted, as far as it is known. What is left of it if it is not decrypted to an object is its identity.
    fn opened(&self, value: Value, line: u32, source: &Source) -> (Value, Seal) {
        let place = Place { line, items: source.items.clone() };
        Seal::of(value, &place, self.input.decrypted.as_ref(), self.input.built_from.is_some())
    }

    /// An object that is encrypted in the text. No message about it repeats what it says.
    fn sealed(&self, object: Value, positions: &Positions, at: At, read: &mut ReadChunk) {
        let At { line, source, seal, text } = at;
        let text = || text.clone().unwrap_or_else(|| self.input.text.clone().into());
        let name = || Place { line, items: source.items.clone() }.name();
        let (known, is_identified, reason) = match seal {
            Seal::Closed(reason) => (identity(&object, &name()), is_identified(&object), reason),
            Seal::Open => return,
            Seal::Decrypted { known, is_identified } => {
                let wrong = mistake(&object).diagnostic(self.input.built_from.is_some());
                match checked(object, positions.clone(), source.clone(), text()) {
                    Ok(mut manifest) if manifest.refused().is_empty() => {
                        manifest.encrypted();
                        return read.manifests.push(manifest);
                    }
                    _ => (known, is_identified, wrong),
                }
            }
        };
        match checked(known, positions.clone(), source, text()) {
            Ok(mut manifest) => {
                manifest.close(reason);
                manifest.is_anonymous = !is_identified;
                read.manifests.push(manifest);
            }
            Err(diagnostics) => read.diagnostics.extend(diagnostics),
        }
    }
}

/// The place of an object.
struct At {
    /// The line of its document.
    line: u32,
    source: Source,
    /// True if it is a part of something encrypted.
    seal: Seal,
    /// The text that its positions are in, if it is not that of the input.
    text: Option<Written>,
}

/// The budget for the aliases of all inputs together.
pub fn alias_budget(inputs: &[Input]) -> AliasBudget {
    AliasBudget::for_input(inputs.iter().map(|input| input.text.bytes().len()).sum())
}

/// The kind of an object that has a name, and only looks like a list. The kinds of lists end with `List`.
fn named_object(list: &Value) -> Option<&str> {
    let kind = list.get("kind")?.as_str().filter(|kind| !kind.ends_with("List"))?;
    list.pointer("/metadata/name")?.as_str().filter(|name| !name.is_empty())?;
    Some(kind)
}

/// The type that a typed list (`ConfigMapList`) gives to items that do not name theirs.
fn kind_of_items(list: &Value) -> Option<(Value, Value)> {
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

/// The annotation of Helm, with a list of events (Helm `pkg/release`, `HookAnnotation`), and that of Argo CD.
const ANNOTATIONS: [&str; 2] = [HELM, "argocd.argoproj.io/hook"];
const HELM: &str = "helm.sh/hook";
/// The event of Helm 2 whose objects stay as long as the release.
const CRD_INSTALL: &str = "crd-install";

/// Treatment of hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hooks {
    /// They are left out.
    #[default]
    Skip,
    /// They are objects like all others.
    Include,
}

/// Checks an object, and makes its manifest.
fn checked(object: Value, positions: Positions, source: Source, text: Written) -> Result<Manifest, Vec<Diagnostic>> {
    let is_hook = is_hook(&object);
    Ok(Manifest { is_hook, ..manifest(object, positions, source, text)? })
}

/// Returns true if an object is a hook. Helm takes an object with an event that it does not know for no part of the release either.
fn is_hook(object: &Value) -> bool {
    let is_definition =
        || object.annotation(HELM).is_some_and(|events| events.split(',').any(|event| event.trim() == CRD_INSTALL));
    ANNOTATIONS.iter().any(|name| object.annotation(name).is_some()) && !is_definition()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mistakes_of_the_text_name_the_template_of_their_document() {
        let text = "---\n# Source: shop/templates/a.yaml\nkind: A\n---\n# Source: shop/templates/b.yaml\nkind: B\nkind: C\n\
                    ---\nkind: D\nkind: E\n---\n# Source: shop/templates/c.yaml\n- 1\n---\n# Source: shop/templates/d.yaml\na: [\n";
        let input = Input::new("stdin", text.as_bytes().to_vec());
        let read = Chunk::read_in_order(std::slice::from_ref(&input), Validation::Strict);
        let said = read.iter().flat_map(|chunk| chunk.syntax.iter().chain(&chunk.diagnostics));
        let said: Vec<String> = said.map(ToString::to_string).collect();
        let at = |line: &str| said.iter().find(|said| said.starts_with(&format!("stdin:{line}:"))).unwrap();
        assert!(at("7").ends_with("(first at 6:1) (from `shop/templates/b.yaml`)"), "{said:?}");
        assert!(at("10").ends_with("(first at 9:1)"), "{said:?}");
        assert!(at("13").ends_with("(from `shop/templates/c.yaml`)"), "{said:?}");
        assert!(said.last().unwrap().contains("d.yaml") || said.iter().any(|one| one.contains("d.yaml")), "{said:?}");
    }

    #[test]
    fn an_annotation_makes_a_hook_unless_it_installs_definitions() {
        let is = |annotations: Value| is_hook(&json!({"metadata": {"annotations": annotations}}));
        for hook in [
            json!({"helm.sh/hook": "pre-install,post-upgrade"}),
            json!({"helm.sh/hook": "test"}),
            json!({"helm.sh/hook": "unknown"}),
            json!({"helm.sh/hook": ""}),
            json!({"argocd.argoproj.io/hook": "PreSync"}),
        ] {
            assert!(is(hook.clone()), "{hook}");
        }
        for object in [
            json!({}),
            json!(null),
            json!("helm.sh/hook"),
            json!({"helm.sh/hook": null}),
            json!({"helm.sh/hook": 1}),
            json!({"helm.sh/hook": "pre-install, crd-install"}),
            json!({"helm.sh/hook-weight": "1"}),
        ] {
            assert!(!is(object.clone()), "{object}");
        }
        assert!(!is_hook(&json!(null)) && !is_hook(&json!({"metadata": []})));
    }
}

//! The types that custom resources get with the definitions of the same input. The server does not know them yet.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use structured_merge::{
    FieldSet, GroupVersionKind, ListKind, TypeRef, TypeTable, builtin_kind, compile_definition, defined_kind,
    written_schema,
};

use super::diff::Action;
use super::object_diff::ObjectDiff;
use super::rejection::refusal::{Refusal, refused_by_changed_definition, refused_by_definition};
use super::rejection::{Patterns, RejectedObject, are_curable};
use crate::diagnostic::{Code, Diagnostic};
use crate::live::Target;
use crate::object::Definition;

/// Kinds whose CustomResourceDefinitions in this input are not applied yet.
#[derive(Default)]
pub struct ChangingKinds<'a> {
    kinds: HashMap<(&'a str, &'a str), ChangingKind<'a>>,
    patterns: Arc<Patterns>,
}

/// A CustomResourceDefinition, with the types of its versions that were asked for.
struct ChangingKind<'a> {
    object: &'a Value,
    types: TypesByVersion<'a>,
    patterns: Arc<Patterns>,
    /// The definition that is in force, if it is known, with the types of the same versions.
    former: Option<(Value, TypesByVersion<'a>)>,
    /// The versions that it serves once it is applied; `None` if it is not to be, or if nobody has compared it.
    served: Option<Vec<String>>,
}

/// The types of the versions of a definition, each compiled once.
type TypesByVersion<'a> = BTreeMap<&'a str, OnceLock<Option<TypeTable>>>;

impl<'a> ChangingKinds<'a> {
    /// No kinds yet. The patterns of their definitions are matched within the limits of these.
    pub fn matching(patterns: &Arc<Patterns>) -> Self {
        Self { kinds: HashMap::new(), patterns: Arc::clone(patterns) }
    }

    /// Adds the kind that an object defines, if it is a CustomResourceDefinition. The first definition of a kind counts.
    pub fn add(&mut self, target: &'a Target) {
        self.insert(target, None, None);
    }

    /// Adds the kind that a compared object defines, if it is a CustomResourceDefinition that changes. `live` is the definition that is in
    /// force, and `after` what an apply leaves, as far as they are known.
    pub fn add_compared(&mut self, target: &'a Target, diff: &ObjectDiff, live: Option<&Value>, after: Option<&Value>) {
        if target.key.gvk.is_crd() && diff.action != Action::None {
            let served = diff.is_to_write().then(|| {
                let definition = Definition::read(after.unwrap_or_else(|| target.desired.object()))?;
                Some(definition.served.iter().map(|version| version.name.to_owned()).collect())
            });
            self.insert(target, live, served.flatten());
        }
    }

    fn insert(&mut self, target: &'a Target, live: Option<&Value>, served: Option<Vec<String>>) {
        if target.key.gvk.is_crd()
            && let Some(kind) = defined_kind(target.desired.object())
        {
            let object = target.desired.object();
            let versions = object.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
            let names = versions.filter_map(|version| version.get("name")?.as_str());
            let types: TypesByVersion<'_> = names.map(|name| (name, OnceLock::new())).collect();
            self.kinds.entry(kind).or_insert_with(|| {
                let former = live.map(|live| (live.clone(), types.clone()));
                ChangingKind { object, types, patterns: Arc::clone(&self.patterns), former, served }
            });
        }
    }

    /// The type that the kind is about to get; `None` if its definition does not change. The definition of a built-in kind never does.
    pub fn coming_type<'s>(&'s self, gvk: &'s GroupVersionKind) -> Option<ComingType<'s>> {
        let definition = self.kinds.get(&(gvk.group.as_str(), gvk.kind.as_str()))?;
        builtin_kind(gvk).is_none().then_some(ComingType(Some(definition)))
    }
}

/// A type that the server does not know yet, with the definition that brings it.
#[derive(Clone, Copy)]
pub struct ComingType<'a>(Option<&'a ChangingKind<'a>>);

impl<'a> ComingType<'a> {
    /// A type that allows everything.
    pub(super) fn anything() -> Self {
        Self(None)
    }

    /// Returns true if an apply writes its definition.
    pub(super) fn is_to_write(self) -> bool {
        self.0.is_some_and(|definition| definition.served.is_some())
    }

    /// The mistakes for which the server will refuse a new object of this type.
    pub fn refusal(self, target: &Target) -> Option<Diagnostic> {
        let subject = self.subject(target, None)?;
        let definition = self.0?;
        refused_by_definition(subject, Some(definition.object), &definition.patterns)
    }

    /// The mistakes for which the server will refuse an object that exists. Values that an apply does not change may stay as they are, whatever
    /// a definition says of them, but their types may not. `live` is the object, unless an apply changes nothing in it, and `after` what the
    /// apply leaves.
    pub(super) fn refusal_of_change(
        self,
        target: &Target,
        live: Option<&Value>,
        after: &Value,
        ignored: &FieldSet,
    ) -> Option<Diagnostic> {
        let definition = self.0?;
        let subject = self.subject(target, live)?;
        refused_by_changed_definition(subject, after, ignored, definition.object, &definition.patterns)
    }

    /// Returns true if the definition may change that for which the server refuses an object: types that do not fit, or a demand on values
    /// that another one takes the place of. A quota, a policy, a missing permission and a demand that stays are no matter of it.
    pub(super) fn may_cure(self, gvk: &GroupVersionKind, refusal: &Refusal) -> bool {
        let Some(definition) = self.0 else { return true };
        match refusal {
            Refusal::Typed(_) | Refusal::Early(_) => true,
            Refusal::Invalid(_, causes) => {
                let live = definition.former.as_ref().map(|(former, _)| written_schema(former, &gvk.version));
                match (live, written_schema(definition.object, &gvk.version)) {
                    (Some(Some(live)), Some(coming)) => are_curable(causes, live, coming),
                    _ => true,
                }
            }
            Refusal::NoNamespace(_) | Refusal::Immutable(_) | Refusal::NotTried(_) | Refusal::Other(_) => false,
        }
    }

    /// The error of an object in a version that the definition no longer serves once it is applied.
    pub(super) fn no_longer_served(self, gvk: &GroupVersionKind) -> Option<Diagnostic> {
        let served = self.0?.served.as_ref()?;
        if served.iter().any(|version| *version == gvk.version) {
            return None;
        }
        let api_version = gvk.api_version();
        let message = format!("its CustomResourceDefinition in the input no longer serves `{api_version}`");
        let hint = match served.first() {
            Some(version) => {
                format!("write it in `{}/{version}`, or let the definition serve `{}`", gvk.group, gvk.version)
            }
            None => format!("let the definition serve `{}`, or remove the object from the manifests", gvk.version),
        };
        Some(Diagnostic::new(Code::UnknownKind, message).with_hint(hint))
    }

    /// The fields of a kind; `None` if nothing is known of them.
    pub fn fields(self, gvk: &GroupVersionKind) -> Option<TypeRef<'a>> {
        let definition = self.0?;
        fields_of(definition.object, &definition.types, gvk)
    }

    /// The fields of a kind, if a value of it merges by them in another way than by those that are in force.
    pub(super) fn merging_fields(self, gvk: &GroupVersionKind, value: &Value) -> Option<TypeRef<'a>> {
        let (former, types) = self.0?.former.as_ref()?;
        let fields = self.fields(gvk)?;
        (!merge_alike(value, fields_of(former, types, gvk)?, fields)).then_some(fields)
    }

    /// The object with the type; `None` if nothing is known of that.
    fn subject<'s>(self, target: &'s Target, live: Option<&'s Value>) -> Option<RejectedObject<'s>>
    where
        'a: 's,
    {
        Some(RejectedObject::of_manifest(target, live, self.fields(&target.key.gvk)?).coming())
    }
}

/// The fields of a kind by one of its definitions.
fn fields_of<'d>(definition: &Value, types: &'d TypesByVersion<'_>, gvk: &GroupVersionKind) -> Option<TypeRef<'d>> {
    let table = types.get(gvk.version.as_str())?;
    table.get_or_init(|| compile_definition(definition, gvk)).as_ref()?.object(gvk)
}

/// Returns true if the maps and lists in a value merge by the same rules in both types.
fn merge_alike(value: &Value, one: TypeRef<'_>, other: TypeRef<'_>) -> bool {
    match value {
        Value::Object(map) => {
            let is_atomic = one.is_atomic(value);
            is_atomic == other.is_atomic(value)
                && (is_atomic || map.iter().all(|(name, value)| merge_alike(value, one.field(name), other.field(name))))
        }
        Value::Array(items) => {
            one.list_kind() == other.list_kind()
                && (*one.list_kind() == ListKind::Atomic
                    || items.iter().all(|item| merge_alike(item, one.item(), other.item())))
        }
        _ => true,
    }
}

//! The filters of the page: each object carries the numbers of its values, and the controls offer them.

use std::collections::BTreeMap;

use reconcile_core::compare::Class;

use super::markup::{Markup, tone};
use crate::model::{ClassInfo, ObjectReport};
use crate::words::label::summary_label;
use crate::words::styled::Role;
use crate::words::value::number::grouped;

/// Distinct values in order, and the number of objects with each.
#[derive(Debug)]
struct Facet<K> {
    counts: BTreeMap<K, usize>,
}

impl<K: Ord> Facet<K> {
    fn new() -> Self {
        Self { counts: BTreeMap::new() }
    }

    fn count(&mut self, values: impl IntoIterator<Item = K>) {
        for value in values {
            let count = self.counts.entry(value).or_default();
            *count += 1;
        }
    }

    fn numbers(&self) -> BTreeMap<K, usize>
    where
        K: Copy,
    {
        self.counts.keys().enumerate().map(|(number, value)| (*value, number)).collect()
    }
}

/// All facets of a page.
#[derive(Debug)]
pub(super) struct Facets<'r> {
    states: Facet<(u8, &'static str, &'static str)>,
    kinds: Facet<&'r str>,
    namespaces: Facet<Option<&'r str>>,
    classes: Facet<Class>,
    managers: Facet<&'r str>,
}

/// The numbers of the values of all facets.
pub(super) struct Numbers<'f> {
    states: BTreeMap<(u8, &'static str, &'static str), usize>,
    kinds: BTreeMap<&'f str, usize>,
    namespaces: BTreeMap<Option<&'f str>, usize>,
    classes: BTreeMap<Class, usize>,
    managers: BTreeMap<&'f str, usize>,
}

impl<'r> Facets<'r> {
    /// The values of these objects.
    pub fn of(objects: impl Iterator<Item = &'r ObjectReport>) -> Self {
        let mut facets = Self {
            states: Facet::new(),
            kinds: Facet::new(),
            namespaces: Facet::new(),
            classes: Facet::new(),
            managers: Facet::new(),
        };
        for object in objects {
            facets.states.count([state_of(object)]);
            facets.kinds.count([object.key.gvk.kind.as_str()]);
            facets.namespaces.count([object.key.namespace.as_deref()]);
            facets.classes.count(classes(object));
            facets.managers.count(managers(object));
        }
        facets
    }

    /// The numbers that objects carry.
    pub fn numbers(&'r self) -> Numbers<'r> {
        Numbers {
            states: self.states.numbers(),
            kinds: self.kinds.numbers(),
            namespaces: self.namespaces.numbers(),
            classes: self.classes.numbers(),
            managers: self.managers.numbers(),
        }
    }

    /// The buttons that choose states, with the number of objects in each.
    pub fn buttons(&self, page: &mut Markup) {
        for (number, ((_, word, tone), count)) in self.states.counts.iter().enumerate() {
            page.raw("<button type=\"button\" aria-pressed=\"false\" data-state=\"").number(number);
            page.raw("\" class=\"state ").text(tone).raw("\"><b>").text(&grouped(*count)).raw("</b> ");
            page.text(word).raw("</button>");
        }
    }

    /// The lists that choose one value of each of the other facets.
    pub fn lists(&self, page: &mut Markup) {
        fn rows<K: Copy>(facet: &Facet<K>, name: impl Fn(K) -> String) -> Vec<(String, usize)> {
            facet.counts.iter().map(|(value, count)| (name(*value), *count)).collect()
        }
        list(page, ("Kind", "kind"), "All kinds", &rows(&self.kinds, str::to_owned));
        let namespace = |name: Option<&str>| name.unwrap_or("(cluster-scoped)").to_owned();
        list(page, ("Namespace", "namespace"), "All namespaces", &rows(&self.namespaces, namespace));
        list(
            page,
            ("Class", "class"),
            "All classes",
            &rows(&self.classes, |class| ClassInfo::of(class).fields.to_owned()),
        );
        list(page, ("Manager", "manager"), "All managers", &rows(&self.managers, str::to_owned));
    }
}

impl Numbers<'_> {
    /// The attributes of an object.
    pub fn attributes(&self, page: &mut Markup, object: &ObjectReport) {
        let some = |number: Option<&usize>| number.copied().into_iter().collect::<Vec<_>>();
        let state = some(self.states.get(&state_of(object)));
        let kind = object.key.gvk.kind.as_str();
        let namespace = object.key.namespace.as_deref();
        page.raw(" data-state=\"").numbers(&state);
        page.raw("\" data-kind=\"").numbers(&some(self.kinds.get(kind)));
        page.raw("\" data-namespace=\"").numbers(&some(self.namespaces.get(&namespace)));
        let classes: Vec<usize> = classes(object).filter_map(|class| self.classes.get(&class).copied()).collect();
        let managers: Vec<usize> = managers(object).filter_map(|name| self.managers.get(name).copied()).collect();
        if !classes.is_empty() {
            page.raw("\" data-class=\"").numbers(&classes);
        }
        if !managers.is_empty() {
            page.raw("\" data-manager=\"").numbers(&managers);
        }
        page.raw("\"");
    }
}

/// The order of the states: pending actions first, then errors, and objects in sync last.
fn state_of(object: &ObjectReport) -> (u8, &'static str, &'static str) {
    let label = summary_label(object);
    let rank = match label.role {
        Role::Add => 0,
        Role::Change => 1,
        Role::Remove => 2,
        Role::Error => 3,
        _ => 4,
    };
    (rank, label.word, tone(label.role))
}

fn classes(object: &ObjectReport) -> impl Iterator<Item = Class> {
    object.diff.changes.iter().map(|change| change.class).collect::<std::collections::BTreeSet<_>>().into_iter()
}

fn managers(object: &ObjectReport) -> impl Iterator<Item = &str> {
    let owners = object.diff.changes.iter().flat_map(|change| &change.managers);
    let owners = owners.chain(object.diff.conflicts.iter().map(|conflict| &conflict.owner));
    owners.map(|owner| owner.manager.as_str()).collect::<std::collections::BTreeSet<_>>().into_iter()
}

fn list(page: &mut Markup, (label, name): (&'static str, &'static str), all: &'static str, rows: &[(String, usize)]) {
    if rows.len() < 2 && name != "class" || rows.is_empty() {
        return;
    }
    page.raw("<select aria-label=\"").raw(label).raw("\" data-filter=\"").raw(name).raw("\">");
    page.raw("<option value=\"\">").raw(all).raw("</option>");
    for (number, (value, count)) in rows.iter().enumerate() {
        page.raw("<option value=\"").number(number).raw("\">").text(value);
        page.raw(" (").text(&grouped(*count)).raw(")</option>");
    }
    page.raw("</select>");
}

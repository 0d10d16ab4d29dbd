//! The filters of the page: each object carries the numbers of its values, and the controls offer them.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::compare::Class;

use super::markup::{Markup, tone};
use crate::model::summary::tally;
use crate::model::{ClassInfo, ObjectReport};
use crate::words::label::summary_label;
use crate::words::styled::Role;
use crate::words::value::number::grouped;

/// Distinct values in order, each with its number and the number of objects that have it.
type Facet<K> = BTreeMap<K, (usize, usize)>;

fn facet<K: Ord>(values: impl Iterator<Item = K>) -> Facet<K> {
    tally(values).into_iter().enumerate().map(|(number, (value, count))| (value, (number, count))).collect()
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

impl<'r> Facets<'r> {
    /// The values of these objects.
    pub fn of(objects: impl Iterator<Item = &'r ObjectReport> + Clone) -> Self {
        Self {
            states: facet(objects.clone().map(state_of)),
            kinds: facet(objects.clone().map(|object| object.key.gvk.kind.as_str())),
            namespaces: facet(objects.clone().map(|object| object.key.namespace.as_deref())),
            classes: facet(objects.clone().flat_map(classes)),
            managers: facet(objects.flat_map(managers)),
        }
    }

    /// The buttons that choose states, with the number of objects in each.
    pub fn buttons(&self, page: &mut Markup) {
        for ((_, word, tone), (number, count)) in &self.states {
            page.raw("<button type=\"button\" aria-pressed=\"false\" data-state=\"").number(*number);
            page.raw("\" class=\"state ").text(tone).raw("\"><b>").text(&grouped(*count)).raw("</b> ");
            page.text(word).raw("</button>");
        }
    }

    /// The lists that choose one value of each of the other facets.
    pub fn lists(&self, page: &mut Markup) {
        fn rows<K: Copy>(facet: &Facet<K>, name: impl Fn(K) -> String) -> Vec<(String, usize)> {
            facet.iter().map(|(value, (_, count))| (name(*value), *count)).collect()
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

    /// The attributes of an object.
    pub fn attributes(&self, page: &mut Markup, object: &ObjectReport) {
        let kind = object.key.gvk.kind.as_str();
        let namespace = object.key.namespace.as_deref();
        page.raw(" data-state=\"").numbers(&numbers(&self.states, [state_of(object)]));
        page.raw("\" data-kind=\"").numbers(&numbers(&self.kinds, [kind]));
        page.raw("\" data-namespace=\"").numbers(&numbers(&self.namespaces, [namespace]));
        let classes = numbers(&self.classes, classes(object));
        let managers = numbers(&self.managers, managers(object));
        if !classes.is_empty() {
            page.raw("\" data-class=\"").numbers(&classes);
        }
        if !managers.is_empty() {
            page.raw("\" data-manager=\"").numbers(&managers);
        }
        page.raw("\"");
    }
}

/// The numbers of values.
fn numbers<K: Ord>(facet: &Facet<K>, values: impl IntoIterator<Item = K>) -> Vec<usize> {
    values.into_iter().filter_map(|value| facet.get(&value)).map(|(number, _)| *number).collect()
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
    object.diff.changes.iter().map(|change| change.class).collect::<BTreeSet<_>>().into_iter()
}

fn managers(object: &ObjectReport) -> impl Iterator<Item = &str> {
    let owners = object.diff.changes.iter().flat_map(|change| &change.managers);
    let owners = owners.chain(object.diff.conflicts.iter().map(|conflict| &conflict.owner));
    owners.map(|owner| owner.manager.as_str()).collect::<BTreeSet<_>>().into_iter()
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

//! Changes the text of one document so that it has another value.

use std::collections::{BTreeMap, HashMap, HashSet};

use kube_yaml::{Document, Key, Kind, Layout, Node, Style, Syntax, outline};
use serde_json::Value;

use super::block::{Block, indent_first, indented, is_collection, is_filled};
use super::change::{Change, Edit, Refusal, Step};
use super::flow::Brackets;
use super::habits::{Habits, Spaces};
use super::key_order::SORTED;
use super::lines::{Lines, Splices};
use super::scalar::{Around, Former, scalar};

/// Changes the text of one document.
pub(crate) struct Rewriter<'t> {
    pub lines: Lines<'t>,
    pub splices: Splices,
    pub is_json: bool,
    /// True if every text is written in double quotes, which have no special cases, instead of the style of the place.
    pub is_quoted: bool,
    pub habits: Habits,
    pub spaces: Spaces,
    /// True for KYAML: a document in braces, with a comma behind the last entry (KEP-5295).
    is_kyaml: bool,
    /// The anchors that aliases refer to.
    aliased: HashSet<usize>,
    /// The indentation of the first entry of a JSON object that has a line of its own.
    json_unit: Option<&'t str>,
}

/// The place of a value in the text.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'n> {
    pub node: &'n Node,
    pub lead: Lead,
    /// The column of the collection around it.
    pub column: usize,
    pub in_flow: bool,
}

/// The text in front of a value.
#[derive(Clone, Copy)]
pub(crate) enum Lead {
    /// A key, with the offset behind its `:`.
    Key(Option<usize>),
    /// The `-` of an item, with the offset behind it, or a bracket or a comma.
    Item(usize),
    Root,
}

impl<'t> Rewriter<'t> {
    /// The text of a document that has another value than the old one.
    pub fn rewrite(
        text: &'t str,
        syntax: Syntax,
        (old, new): (&Value, &Value),
        is_quoted: bool,
    ) -> Result<String, Refusal> {
        let root = outline(text, syntax).ok_or(Refusal::Unreadable)?;
        let lines = Lines::of(text);
        let is_json = syntax == Syntax::Json;
        let mut rewriter = Self {
            lines,
            splices: Splices::default(),
            is_json,
            is_quoted,
            habits: Habits::of(&root, &lines),
            spaces: if is_json { Spaces::of_json(&root, &lines) } else { Spaces::USUAL },
            is_kyaml: !is_json && is_kyaml(&root, &lines),
            aliased: aliased(&root),
            json_unit: json_unit(&root, &lines),
        };
        let slot = Slot { node: &root, lead: Lead::Root, column: 0, in_flow: false };
        rewriter.change(slot, old, new)?;
        rewriter.splices.apply(text)
    }

    /// Changes one value into another.
    pub fn change(&mut self, slot: Slot<'_>, old: &Value, new: &Value) -> Result<(), Refusal> {
        let node = slot.node;
        if old == new {
            return Ok(());
        }
        self.check(node)?;
        match (&node.kind, old, new) {
            (Kind::Mapping(layout, entries), Value::Object(old), Value::Object(new))
                if old.keys().any(|key| new.contains_key(key)) =>
            {
                self.mapping(node, *layout, entries, (old, new))
            }
            (Kind::Sequence(layout, items), Value::Array(old), Value::Array(new))
                if !new.is_empty() && !old.is_empty() && items.len() == old.len() =>
            {
                self.sequence(node, *layout, items, (old, new))
            }
            _ => self.replace(slot, new),
        }
    }

    /// Refuses to change a node that is used elsewhere, or whose tag decides what it means.
    pub fn check(&self, node: &Node) -> Result<(), Refusal> {
        refusal(node, &self.aliased).map_or(Ok(()), Err)
    }

    /// Refuses to remove a node with an anchor in it that is used elsewhere.
    pub fn check_all(&self, node: &Node) -> Result<(), Refusal> {
        if self.aliased.is_empty() {
            return Ok(());
        }
        if self.aliased.contains(&node.anchor) {
            return Err(Refusal::Anchor);
        }
        node.children().try_for_each(|child| self.check_all(child))
    }

    /// Writes a new value in the place of the old one.
    fn replace(&mut self, slot: Slot<'_>, new: &Value) -> Result<(), Refusal> {
        let node = slot.node;
        self.check_all(node)?;
        if let Kind::Mapping(_, entries) = &node.kind
            && entries.iter().any(|entry| entry.name == Key::Merge)
        {
            return Err(Refusal::Merge);
        }
        let former = self.former(node);
        let keeps_brackets = is_in_brackets(node) && is_filled(node);
        if self.is_json || slot.in_flow || keeps_brackets && is_collection(new) {
            let text = if is_collection(new) {
                self.brackets(node.at, None).value(new)
            } else {
                scalar(new, former, self.in_brackets(), self.is_quoted)
            };
            return self.put(slot, &text);
        }
        let block = self.block(None);
        if is_collection(new) {
            return self.put_collection(slot, new, &block);
        }
        let is_block_scalar = matches!(node.kind, Kind::Scalar(Style::Literal | Style::Folded));
        let literal = match new.as_str() {
            Some(text) if is_block_scalar && !self.is_quoted => super::scalar::literal(text),
            _ if matches!(former, Some(Former { style: Style::SingleQuoted | Style::DoubleQuoted, .. })) => None,
            _ => block.literal(new),
        };
        if let Some((header, lines)) = literal {
            return self.put_literal(slot, header, &lines);
        }
        let text = scalar(new, former, Around::Block, self.is_quoted);
        let comment = if is_block_scalar { self.header_comment(node).trim_end() } else { "" };
        self.put(slot, &format!("{text}{comment}"))
    }

    /// The comment behind the `|` or `>` of a value, with the blanks in front of it; empty if there is none.
    fn header_comment(&self, node: &Node) -> &'t str {
        let header = self.lines.slice(node.at..self.lines.end(node.at));
        let behind = header.trim_start_matches(['|', '>', '+', '-', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
        if behind.contains('#') { behind } else { "" }
    }

    /// Puts a text in the place of a value.
    fn put(&mut self, slot: Slot<'_>, text: &str) -> Result<(), Refusal> {
        let node = slot.node;
        let is_block = matches!(node.kind, Kind::Mapping(Layout::Block, _) | Kind::Sequence(Layout::Block, _));
        let is_empty = node.at == node.end;
        match slot.lead {
            Lead::Root => return Err(Refusal::NoPlace),
            _ if node.begin < node.at && (is_block || is_empty) => {
                let properties = self.lines.slice(node.begin..node.at).trim_end().len();
                let from = node.begin.saturating_add(properties);
                self.splices.put(from..node.end.max(from), format!(" {text}"));
            }
            Lead::Key(None) if is_empty => return Err(Refusal::Layout),
            Lead::Key(Some(colon)) if is_empty => self.splices.insert(colon, format!(" {text}")),
            Lead::Key(Some(colon)) if is_block => self.splices.put(colon..node.end, format!(" {text}")),
            Lead::Item(dash) if is_empty => self.splices.insert(dash, format!(" {text}")),
            Lead::Key(_) | Lead::Item(_) => self.splices.put(node.at..node.end, text),
        }
        Ok(())
    }

    /// Puts a collection on lines of its own in the place of a value.
    fn put_collection(&mut self, slot: Slot<'_>, new: &Value, block: &Block<'_>) -> Result<(), Refusal> {
        let node = slot.node;
        match slot.lead {
            Lead::Root => Err(Refusal::NoPlace),
            Lead::Key(None) => Err(Refusal::Layout),
            Lead::Key(Some(colon)) => {
                let indentation = if new.is_array() { self.habits.dash } else { self.habits.unit };
                let column = slot.column.saturating_add(indentation);
                let mut lines = block.lines(new, column);
                indent_first(&mut lines, column);
                if node.at < node.end {
                    let properties = self.lines.slice(node.begin..node.at).trim_end().len();
                    let from = if properties > 0 { node.begin.saturating_add(properties) } else { colon };
                    self.splices.put(from..node.end, "");
                }
                self.below(node.end.max(colon), &lines);
                Ok(())
            }
            Lead::Item(dash) => {
                let is_beside = node.at > dash && !self.lines.slice(dash..node.at).contains('\n');
                let column = if is_beside { self.lines.column(node.at) } else { slot.column.saturating_add(2) };
                self.put(slot, &block.lines(new, column).join(self.lines.newline))
            }
        }
    }

    /// Puts a text behind `|` in the place of a value.
    fn put_literal(&mut self, slot: Slot<'_>, header: &str, text: &[&str]) -> Result<(), Refusal> {
        let node = slot.node;
        let indent = |column: usize| text.iter().map(|line| indented(line, column)).collect::<Vec<_>>();
        if matches!(node.kind, Kind::Scalar(Style::Literal | Style::Folded)) {
            let header_end = self.lines.end(node.at);
            let comment = self.header_comment(node);
            let body = self.lines.slice(header_end..node.end.max(header_end));
            let first = body.lines().find(|line| !line.trim().is_empty());
            let column = first.map(|line| line.len().saturating_sub(line.trim_start_matches(' ').len()));
            let lines = indent(column.unwrap_or_else(|| slot.column.saturating_add(self.habits.unit)));
            let newline = self.lines.newline;
            let text = format!("{header}{comment}{newline}{}", lines.join(newline));
            self.splices.put(node.at..node.end.max(header_end), text);
            return Ok(());
        }
        self.put(slot, header)?;
        let end = if let Lead::Key(Some(colon)) = slot.lead { node.end.max(colon) } else { node.end };
        self.below(end, &indent(slot.column.saturating_add(self.habits.unit)));
        Ok(())
    }

    /// Inserts lines below that of an offset.
    pub fn below(&mut self, at: usize, lines: &[String]) {
        let newline = self.lines.newline;
        let text: Vec<&str> = lines.iter().flat_map(|line| [newline, line]).collect();
        self.splices.insert(self.lines.end(at), text.concat());
    }

    pub fn block(&self, style: Option<Style>) -> Block<'static> {
        Block { habits: self.habits, order: &SORTED, style, is_quoted: self.is_quoted }
    }

    /// The layout of a value in brackets that begins in the line of an offset.
    pub fn brackets(&self, at: usize, style: Option<Style>) -> Brackets<'t> {
        let lines = self.json_unit.map(|unit| (self.lines.newline, self.lines.indentation(at), unit));
        Brackets {
            around: self.in_brackets(),
            style,
            is_quoted: self.is_quoted,
            is_kyaml: self.is_kyaml,
            order: &SORTED,
            spaces: self.spaces,
            lines,
        }
    }

    fn in_brackets(&self) -> Around {
        if self.is_json { Around::Json } else { Around::Flow }
    }

    /// The style and the text of a scalar.
    fn former(&self, node: &Node) -> Option<Former<'t>> {
        match node.kind {
            Kind::Scalar(style) if node.at < node.end => {
                Some(Former { style, text: self.lines.slice(node.at..node.end) })
            }
            _ => None,
        }
    }
}

pub(crate) fn is_in_brackets(node: &Node) -> bool {
    matches!(node.kind, Kind::Mapping(Layout::Flow, _) | Kind::Sequence(Layout::Flow, _))
}

/// The anchors that aliases refer to.
fn aliased(root: &Node) -> HashSet<usize> {
    fn find(node: &Node, aliased: &mut HashSet<usize>) {
        if let Kind::Alias(anchor) = node.kind {
            aliased.extend(anchor);
        }
        node.children().for_each(|child| find(child, aliased));
    }
    let mut aliased = HashSet::new();
    find(root, &mut aliased);
    aliased
}

fn is_kyaml(root: &Node, lines: &Lines<'_>) -> bool {
    match &root.kind {
        Kind::Mapping(Layout::Flow, entries) => {
            let rest = entries.last().map(|entry| lines.slice(entry.value.end..root.end));
            rest.is_some_and(|rest| rest.trim_start().starts_with(','))
        }
        _ => false,
    }
}

/// The indentation of the entries of a root in brackets, if its first one has a line of its own.
fn json_unit<'t>(root: &Node, lines: &Lines<'t>) -> Option<&'t str> {
    let Kind::Mapping(Layout::Flow, entries) = &root.kind else { return None };
    let first = entries.first()?.key.begin;
    let is_below = lines.slice(root.at..first).contains('\n');
    is_below.then(|| lines.indentation(first).strip_prefix(lines.indentation(root.at)).unwrap_or_default())
}

/// The reason why a node is not changed: it is used elsewhere, or its tag decides what it means.
fn refusal(node: &Node, aliased: &HashSet<usize>) -> Option<Refusal> {
    match node.kind {
        Kind::Alias(_) => Some(Refusal::Alias),
        _ if aliased.contains(&node.anchor) => Some(Refusal::Anchor),
        _ if node.is_tagged => Some(Refusal::Tag),
        _ => None,
    }
}

/// The edits of a document, by their indices, that a node refuses which is changed or is around it. They are found in one walk, however
/// many they are.
pub(crate) fn refused_by_nodes(text: &str, document: &Document, edits: &[(usize, &Edit)]) -> BTreeMap<usize, Refusal> {
    let Some(root) = outline(text, document.syntax) else { return BTreeMap::new() };
    let mut walk = Walk { aliased: aliased(&root), refused: BTreeMap::new() };
    walk.node(&root, Some(&document.value), edits.to_vec(), 0);
    walk.refused
}

struct Walk {
    aliased: HashSet<usize>,
    refused: BTreeMap<usize, Refusal>,
}

impl Walk {
    /// Visits a node to which the first steps of these edits lead.
    fn node(&mut self, node: &Node, value: Option<&Value>, edits: Vec<(usize, &Edit)>, depth: usize) {
        if let Some(refusal) = refusal(node, &self.aliased) {
            // Nothing is changed by the value that is there, and what is removed as a whole may be an alias, or have a tag.
            let is_harmless = |edit: &Edit| match &edit.change {
                Change::Set(new) => {
                    let now = value.and_then(|value| {
                        edit.path.iter().skip(depth).try_fold(value, |value, step| match step {
                            Step::Key(key) => value.get(key),
                            Step::Index(index) => value.get(index),
                        })
                    });
                    now == Some(new)
                }
                Change::Remove => edit.path.len() == depth && refusal != Refusal::Anchor,
                Change::Insert { .. } | Change::Reorder(_) => false,
            };
            let changed = edits.into_iter().filter(|(_, edit)| !is_harmless(edit));
            self.refused.extend(changed.map(|(index, _)| (index, refusal)));
            return;
        }
        let mut below: BTreeMap<&Step, Vec<(usize, &Edit)>> = BTreeMap::new();
        for (index, edit) in edits {
            if let Some(step) = edit.path.get(depth) {
                below.entry(step).or_default().push((index, edit));
            }
        }
        let deeper = depth.saturating_add(1);
        match &node.kind {
            Kind::Mapping(_, entries) if !below.is_empty() => {
                let named = entries.iter().filter_map(|entry| match &entry.name {
                    Key::Text(name) => Some((name.as_str(), &entry.value)),
                    Key::Merge | Key::Unusual => None,
                });
                let named: HashMap<&str, &Node> = named.collect();
                for (step, edits) in below {
                    if let Step::Key(key) = step
                        && let Some(node) = named.get(key.as_str())
                    {
                        self.node(node, value.and_then(|value| value.get(key)), edits, deeper);
                    }
                }
            }
            Kind::Sequence(_, items) => {
                for (step, mut edits) in below {
                    // A new item does not change the one that is at its place.
                    edits.retain(|(_, edit)| edit.path.len() > deeper || !matches!(edit.change, Change::Insert { .. }));
                    if let Step::Index(index) = step
                        && let Some(item) = items.get(*index)
                    {
                        self.node(&item.node, value.and_then(|value| value.get(index)), edits, deeper);
                    }
                }
            }
            Kind::Mapping(..) | Kind::Scalar(_) | Kind::Alias(_) => {}
        }
    }
}

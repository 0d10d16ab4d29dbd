//! Changes in mappings and lists: entries that change, go and come.
//! Items of a list may also change their places, each with its comments.

use std::collections::HashMap;
use std::ops::Range;

use kube_yaml::{Entry, Item, Key, Kind, Layout, Node, Style};
use serde_json::{Map, Value};

use super::alignment::{Pairing, align, reordered};
use super::block::{Block, indent_first, is_collection, is_filled};
use super::change::Refusal;
use super::flow::Brackets;
use super::habits::gap;
use super::key_order::{KeyOrder, SORTED};
use super::rewrite::{Lead, Rewriter, Slot, is_in_brackets};

/// An entry or an item in the text.
pub(crate) struct Part {
    pub begin: usize,
    pub end: usize,
    is_removed: bool,
}

/// The list that a new item joins.
#[derive(Clone, Copy)]
struct Beside<'n> {
    column: usize,
    style: Option<Style>,
    /// The item beside the new one.
    item: Option<&'n Item>,
    order: &'n KeyOrder,
}

impl Rewriter<'_> {
    /// Changes a mapping that keeps at least one key.
    pub fn mapping(
        &mut self,
        node: &Node,
        layout: Layout,
        entries: &[Entry],
        (old, new): (&Map<String, Value>, &Map<String, Value>),
    ) -> Result<(), Refusal> {
        let column = self.lines.column(entries.first().map_or(node.at, |entry| entry.key.begin));
        let in_flow = layout != Layout::Block;
        let parts = self.changed_entries(entries, column, in_flow, (old, new))?;
        self.remove(node, &parts, layout)?;
        let style = entries.iter().rev().find_map(|entry| quotes(&entry.value));
        let added: Vec<_> = new.iter().filter(|(key, _)| !old.contains_key(*key)).collect();
        let Some(last) = parts.iter().rev().find(|part| !part.is_removed).filter(|_| !added.is_empty()) else {
            return Ok(());
        };
        if in_flow {
            let key_style = entries.iter().rev().find_map(|entry| quotes(&entry.key));
            for (key, value) in added {
                let text =
                    self.brackets(last.begin, key_style).key(key) + &self.brackets(last.begin, style).value(value);
                self.insert_in_brackets(node, layout, last, &text)?;
            }
            return Ok(());
        }
        let block = self.block(style);
        let filled: Vec<&Node> = entries.iter().map(|entry| &entry.value).filter(|node| is_filled(node)).collect();
        let beside = filled.last().copied().filter(|_| filled.iter().all(|node| self.is_one_line(node)));
        for (key, value) in added {
            let mut lines = match beside.filter(|_| is_flat(value)) {
                Some(beside) => vec![format!("{}: {}", block.key(key), self.like(beside, value, &SORTED))],
                None => block.entry(key, value, column),
            };
            indent_first(&mut lines, column);
            self.below(last.end, &lines);
        }
        Ok(())
    }

    /// Changes the values of keys that stay, and marks the entries of those that go.
    fn changed_entries(
        &mut self,
        entries: &[Entry],
        column: usize,
        in_flow: bool,
        (old, new): (&Map<String, Value>, &Map<String, Value>),
    ) -> Result<Vec<Part>, Refusal> {
        let has_merge = entries.iter().any(|entry| entry.name == Key::Merge);
        let mut parts: Vec<Part> = entries.iter().map(part_of_entry).collect();
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, entry) in entries.iter().enumerate() {
            if let Key::Text(name) = &entry.name {
                places.entry(name).or_default().push(place);
            }
        }
        for (key, value) in old {
            let own = places.get(key.as_str()).map(Vec::as_slice).unwrap_or_default();
            match (new.get(key), own.last().and_then(|last| entries.get(*last))) {
                (Some(new), _) if new == value => {}
                (_, None) => return Err(if has_merge { Refusal::Merge } else { Refusal::Layout }),
                (Some(new), Some(entry)) => {
                    let slot = Slot { node: &entry.value, lead: Lead::Key(entry.colon), column, in_flow };
                    self.change(slot, value, new)?;
                }
                // Without its own entry, the mapping would have the merged one.
                (None, _) if has_merge => return Err(Refusal::Merge),
                (None, _) => {
                    for place in own {
                        let (Some(entry), Some(part)) = (entries.get(*place), parts.get_mut(*place)) else { continue };
                        self.check_all(&entry.key)?;
                        self.check_all(&entry.value)?;
                        part.is_removed = true;
                    }
                }
            }
        }
        Ok(parts)
    }

    /// Changes a list that is not empty into another one.
    pub fn sequence(
        &mut self,
        node: &Node,
        layout: Layout,
        items: &[Item],
        (old, new): (&[Value], &[Value]),
    ) -> Result<(), Refusal> {
        let column = self.lines.column(items.first().map_or(node.at, |item| item.begin));
        let in_flow = layout != Layout::Block;
        let mut parts: Vec<Part> = items.iter().map(part_of_item).collect();
        if let Some(order) = reordered(old, new) {
            return self.reorder(node, layout, &parts, &order);
        }
        let steps = align(old, new);
        for step in &steps {
            match *step {
                Pairing::Insert(_) => {}
                Pairing::Keep(from, to) => {
                    let (Some(item), Some(old), Some(new)) = (items.get(from), old.get(from), new.get(to)) else {
                        return Err(Refusal::Layout);
                    };
                    let lead = Lead::Item(item.begin.saturating_add(1));
                    self.change(Slot { node: &item.node, lead, column, in_flow }, old, new)?;
                }
                Pairing::Remove(from) => {
                    if let (Some(item), Some(part)) = (items.get(from), parts.get_mut(from)) {
                        self.check_all(&item.node)?;
                        part.is_removed = true;
                    }
                }
            }
        }
        self.remove(node, &parts, layout)?;
        let style = items.iter().rev().find_map(|item| quotes(&item.node));
        let has_new = steps.iter().any(|step| matches!(step, Pairing::Insert(_)));
        let order = KeyOrder::of(items.iter().filter(|_| has_new).map(|item| &item.node));
        let mut kept = None;
        for step in &steps {
            match *step {
                Pairing::Keep(from, _) => kept = parts.get(from),
                Pairing::Remove(_) => {}
                Pairing::Insert(to) => {
                    let (Some(value), Some(first)) = (new.get(to), parts.iter().find(|part| !part.is_removed)) else {
                        return Err(Refusal::Layout);
                    };
                    let place = kept.ok_or(first);
                    let beside =
                        items.iter().find(|item| matches!(place, Ok(part) | Err(part) if part.begin == item.begin));
                    let beside = Beside { column, style, item: beside, order: &order };
                    self.insert_item(node, layout, place, value, beside)?;
                }
            }
        }
        Ok(())
    }

    /// Inserts an item behind another one, or before the first (`Err`).
    fn insert_item(
        &mut self,
        node: &Node,
        layout: Layout,
        place: Result<&Part, &Part>,
        value: &Value,
        Beside { column, style, item: beside, order }: Beside<'_>,
    ) -> Result<(), Refusal> {
        if layout != Layout::Block {
            let (Ok(part) | Err(part)) = place;
            let text = Brackets { order, ..self.brackets(part.begin, style) }.value(value);
            return match place {
                Ok(last) => self.insert_in_brackets(node, layout, last, &text),
                Err(first) => {
                    let separator = self.separator(node, first);
                    self.splices.insert(first.begin, format!("{text}{separator}"));
                    Ok(())
                }
            };
        }
        let mut block = Block { order, ..self.block(style) };
        block.habits.gap = beside.and_then(|item| gap(item, &self.lines)).unwrap_or(block.habits.gap);
        let in_brackets = beside.map(|item| &item.node).filter(|node| is_filled(node) && self.is_one_line(node));
        let mut lines = match in_brackets.filter(|_| is_flat(value)) {
            Some(beside) => block.item_of_text(&self.like(beside, value, order)),
            None => block.item(value, column),
        };
        match place {
            Ok(last) => {
                indent_first(&mut lines, column);
                self.below(last.end, &lines);
            }
            Err(first) if self.lines.is_first(first.begin) => {
                indent_first(&mut lines, column);
                lines.push(String::new());
                // The comments above the first item are about that item.
                self.splices.insert(self.lines.start_with_comments(first.begin), lines.join(self.lines.newline));
            }
            Err(first) => {
                lines.push(" ".repeat(column));
                self.splices.insert(first.begin, lines.join(self.lines.newline));
            }
        }
        Ok(())
    }

    /// Returns true for a value in brackets on one line.
    fn is_one_line(&self, node: &Node) -> bool {
        is_in_brackets(node) && !self.lines.slice(node.at..node.end).contains('\n')
    }

    /// A value in brackets, on one line and in the quotes of another one.
    fn like(&self, beside: &Node, value: &Value, order: &KeyOrder) -> String {
        let style = match &beside.kind {
            Kind::Mapping(_, entries) => entries.iter().rev().find_map(|entry| quotes(&entry.key)),
            Kind::Sequence(_, items) => items.iter().rev().find_map(|item| quotes(&item.node)),
            _ => None,
        };
        Brackets { order, ..self.brackets(beside.at, style) }.value(value)
    }

    /// Takes the removed parts out of the text. At least one part is kept.
    fn remove(&mut self, node: &Node, parts: &[Part], layout: Layout) -> Result<(), Refusal> {
        let mut from = 0_usize;
        for run in parts.chunk_by(|a, b| a.is_removed == b.is_removed) {
            let to = from.saturating_add(run.len());
            if let ([first, ..], [.., last]) = (run, run)
                && first.is_removed
            {
                let previous = from.checked_sub(1).and_then(|at| parts.get(at));
                let next = parts.get(to);
                match layout {
                    Layout::Block => self.remove_lines(first.begin, last.end, next),
                    Layout::Flow => self.remove_in_brackets(node, run, previous, next)?,
                    Layout::Pair => return Err(Refusal::Layout),
                }
            }
            from = to;
        }
        Ok(())
    }

    /// Takes entries out with the lines that they begin and end on.
    pub fn remove_lines(&mut self, begin: usize, end: usize, next: Option<&Part>) {
        let line_end = self.lines.end(end);
        match (self.lines.is_first(begin), self.lines.end_of_previous(begin), next) {
            (true, Some(previous), _) => self.splices.put(previous..line_end, ""),
            (true, None, _) => {
                let rest = self.lines.slice(line_end..self.lines.text.len());
                let newline = if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
                self.splices.put(self.lines.start(begin)..line_end.saturating_add(newline), "");
            }
            // Behind a `-`: the next entry takes its place, unless a comment is between them.
            (false, _, Some(next)) if !self.lines.slice(line_end..next.begin).contains('#') => {
                self.splices.put(begin..next.begin, "");
            }
            (false, ..) => self.splices.put(begin..line_end, ""),
        }
    }
}

fn part_of_entry(entry: &Entry) -> Part {
    let end = entry.value.end.max(entry.colon.unwrap_or(entry.key.end));
    Part { begin: entry.key.begin, end, is_removed: false }
}

fn part_of_item(item: &Item) -> Part {
    let end = item.node.end.max(item.begin.saturating_add(1));
    Part { begin: item.begin, end, is_removed: false }
}

/// Returns true for a collection of values that fit on one line.
fn is_flat(value: &Value) -> bool {
    let has_lines = |value: &Value| is_collection(value) || value.as_str().is_some_and(|text| text.contains('\n'));
    match value {
        Value::Object(map) => !map.is_empty() && !map.values().any(has_lines),
        Value::Array(items) => !items.is_empty() && !items.iter().any(has_lines),
        _ => false,
    }
}

/// The quotes of a text, which its new neighbours have as well.
fn quotes(node: &Node) -> Option<Style> {
    match node.kind {
        Kind::Scalar(style @ (Style::SingleQuoted | Style::DoubleQuoted)) => Some(style),
        _ => None,
    }
}

impl Rewriter<'_> {
    /// Puts the items of a list in another order: `order` has the former index of each.
    fn reorder(&mut self, node: &Node, layout: Layout, parts: &[Part], order: &[usize]) -> Result<(), Refusal> {
        let begin = parts.first().map_or(node.end, |first| first.begin);
        let spans: Vec<Range<usize>> = match layout {
            Layout::Block => (0..parts.len()).map(|index| self.span(parts, index)).collect(),
            Layout::Flow if self.lines.slice(begin..node.end).contains('#') => return Err(Refusal::Layout),
            Layout::Flow => parts.iter().map(|part| part.begin..part.end).collect(),
            Layout::Pair => return Err(Refusal::Layout),
        };
        for (to, from) in spans.iter().zip(order) {
            let from = spans.get(*from).ok_or(Refusal::Layout)?;
            if from != to {
                self.splices.put(to.clone(), self.lines.slice(from.clone()));
            }
        }
        Ok(())
    }

    /// An item with the comments right above it and the one behind it.
    fn span(&self, parts: &[Part], index: usize) -> Range<usize> {
        let Some(part) = parts.get(index) else { return 0..0 };
        let end = self.lines.end(part.end);
        if !self.lines.is_first(part.begin) {
            return part.begin..end;
        }
        let previous = index.checked_sub(1).and_then(|previous| parts.get(previous));
        let floor = previous.map_or(0, |previous| self.lines.end(previous.end));
        let mut start = self.lines.start_with_comments(part.begin);
        while start < floor {
            // Lines of a text that look like comments belong to the item above.
            start = self.lines.start_of_next(start);
        }
        let line = self.lines.slice(start..part.begin);
        start.saturating_add(line.len().saturating_sub(line.trim_start_matches(' ').len()))..end
    }
}

//! Builds the value of one YAML document from its events, as `decode.go` of go-yaml v2 does.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use serde_json::Value;

use super::anchors::{AliasBudget, Anchored, Cost};
use super::collector::Collector;
use super::events::{self, Event, EventKind, Parser};
use super::mapping::{Kinds, Open, Pending};
use super::positions::{Edge, Keys, Nodes};
use super::scalar::{self, KeyKind, Scalar};
use super::scan::{Failure, Spot, Style, Tag};
use super::{MAX_DEPTH, Mark, SyntaxDiagnostic, diagnostics, text};
use crate::text::Advance as _;

/// Returns true if a key is the merge key: `<<` without quotes, or with its tag.
pub(super) fn is_merge(text: &str, style: Style, tag: Option<&Tag>) -> bool {
    text == "<<"
        && match tag {
            None => style == Style::Plain,
            Some(Tag::NonSpecific) => true,
            Some(Tag::Core(name)) => name == "merge",
            Some(Tag::Undeclared | Tag::Other) => false,
        }
}

/// A collection that is still open.
enum Frame {
    Sequence {
        node: u32,
        anchor: usize,
        items: Vec<Value>,
        begun: Begun,
        merge: Option<Kinds>,
    },
    Mapping {
        open: Box<Open>,
        begun: Begun,
    },
    /// A collection that is a key, or is inside of one; it is not read. The outermost one has a diagnostic, which is
    /// reported at its end.
    Skipped(Option<SyntaxDiagnostic>),
}

/// Counters at the beginning of a node, and the height of its deepest child.
#[derive(Clone, Copy, Default)]
struct Begun {
    steps: usize,
    size: usize,
    height: usize,
}

/// A complete node.
struct Done {
    value: Value,
    kinds: Kinds,
    height: usize,
    /// True if it is a copy of an anchored node.
    alias: bool,
}

/// Builds a value from the events of one document.
pub(super) struct Composer<'t, 'k> {
    text: &'t str,
    start: Mark,
    keys: &'k mut Keys,
    diagnostics: &'k mut Collector,
    pub nodes: Nodes,
    frames: Vec<Frame>,
    /// The anchors that aliases refer to. The values of others are not kept.
    aliased: HashSet<usize>,
    /// The nodes of anchors that are complete. While a node is still open, an alias in it would contain itself.
    anchored: HashMap<usize, Anchored>,
    cost: Cost<'k>,
    pub root: Option<Value>,
    pub root_mark: Mark,
}

impl<'t, 'k> Composer<'t, 'k> {
    pub(super) fn new(
        text: &'t str,
        start: Mark,
        budget: &'k AliasBudget,
        keys: &'k mut Keys,
        diagnostics: &'k mut Collector,
    ) -> Self {
        Self {
            text,
            start,
            nodes: Nodes::new(keys),
            keys,
            diagnostics,
            frames: Vec::with_capacity(16),
            aliased: events::aliased(text),
            anchored: HashMap::new(),
            cost: Cost::new(budget),
            root: None,
            root_mark: start,
        }
    }

    /// Reads the events up to the end of the document, and returns the offset of its end.
    pub(super) fn run(&mut self, parser: &mut Parser) -> Result<Option<usize>, Failure> {
        while let Some(event) = parser.next_event()? {
            if matches!(event.kind, EventKind::DocumentEnd) {
                return Ok(Some(event.spot.at));
            }
            if self.event(event).is_break() {
                break;
            }
        }
        Ok(None)
    }

    fn event(&mut self, event: Event) -> ControlFlow<()> {
        let Event { spot, anchor, tag, kind, .. } = event;
        let mark = self.mark(spot);
        match kind {
            EventKind::Scalar(text, style) => self.scalar(text, style, tag.as_ref(), anchor, mark),
            EventKind::Alias(Some(anchor)) => self.alias(anchor, mark),
            EventKind::Alias(None) => self.unusable(mark, diagnostics::unknown_anchor(mark)),
            EventKind::SequenceStart(_) => return self.open(anchor, spot, true),
            EventKind::MappingStart(_) => return self.open(anchor, spot, false),
            EventKind::End => self.close(),
            EventKind::DocumentEnd => {}
        }
        if let Some(excess) = self.cost.excess() {
            self.report(diagnostics::too_many_aliases(mark, excess));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn scalar(&mut self, text: Cow<str>, style: Style, tag: Option<&Tag>, anchor: usize, mark: Mark) {
        if let Some(pending) = self.expects_key()
            && is_merge(&text, style, tag)
        {
            *pending = Pending::Merge { mark };
            return;
        }
        let length = text.len();
        let begun = self.begin();
        self.cost.node(length);
        let is_key = self.expects_key().is_some();
        let plain_key = (is_key && style == Style::Plain && tag.is_none()).then(|| text.clone());
        let scalar = self.resolve(text, style, tag, mark);
        let node = if is_key { 0 } else { self.add_node(mark) };
        self.define(anchor, begun, || Anchored::scalar(&scalar, node));
        if is_key {
            let key = scalar.into_key();
            if let (Some(written), Some((text, kind))) = (plain_key, &key)
                && written != *text
            {
                self.diagnostics.add_changed_key(|| diagnostics::changed_key(mark, &written, text, *kind));
            }
            return self.key(key, mark);
        }
        let value = scalar.into_value().unwrap_or_else(|| {
            self.report(diagnostics::not_a_number(mark));
            Value::Null
        });
        self.attach(Done { value, kinds: Kinds::new(), height: 0, alias: false });
    }

    fn resolve(&mut self, text: Cow<str>, style: Style, tag: Option<&Tag>, mark: Mark) -> Scalar {
        let name = match tag {
            None if style == Style::Plain => return scalar::plain(text),
            Some(Tag::Core(name)) => name.as_str(),
            None | Some(Tag::NonSpecific | Tag::Undeclared | Tag::Other) => return Scalar::text(text),
        };
        if name == "binary" {
            return self.binary(&text, mark);
        }
        scalar::tagged(name, text).unwrap_or_else(|| {
            self.report(diagnostics::tag_mismatch(mark, name));
            Scalar::Null
        })
    }

    fn binary(&mut self, text: &str, mark: Mark) -> Scalar {
        let Some(bytes) = scalar::binary(text) else {
            self.report(diagnostics::not_base64(mark));
            return Scalar::Null;
        };
        let replaced = text::replace_invalid(&bytes);
        if matches!(replaced, Cow::Owned(_)) {
            self.report(diagnostics::binary_loss(mark));
        }
        Scalar::Text(replaced.into_owned())
    }

    /// The state of the innermost mapping if its next node is a key.
    fn expects_key(&mut self) -> Option<&mut Pending> {
        match self.frames.last_mut() {
            Some(Frame::Mapping { open, .. }) if matches!(open.pending, Pending::Key) => Some(&mut open.pending),
            _ => None,
        }
    }

    fn key(&mut self, key: Option<(String, KeyKind)>, mark: Mark) {
        let Some(Frame::Mapping { open, .. }) = self.frames.last_mut() else { return };
        let Some((text, kind)) = key else {
            open.pending = Pending::Dropped;
            return self.report(diagnostics::unsupported_key(mark));
        };
        open.check(&text, kind, mark, (&self.nodes, self.keys), self.diagnostics);
        open.pending = Pending::Value { text, kind, mark };
    }

    fn alias(&mut self, anchor: usize, mark: Mark) {
        let Some(target) = self.anchored.get(&anchor) else {
            return self.unusable(mark, diagnostics::alias_in_itself(mark));
        };
        let Anchored { height, node, steps, size, .. } = *target;
        self.cost.steps.advance(1);
        if !self.cost.copy(steps, size) {
            // The document ends here.
            return;
        }
        if self.frames.len().saturating_add(height) > MAX_DEPTH {
            return self.unusable(mark, diagnostics::too_deep(mark));
        }
        if self.expects_key().is_some() {
            let key = self.anchored.get(&anchor).and_then(|target| target.key.clone());
            return self.key(key, mark);
        }
        let alias = self.add_node(mark);
        if height > 0 {
            self.nodes.link(alias, node);
        }
        let Some(Anchored { value, kinds, .. }) = self.anchored.get(&anchor).cloned() else { return };
        self.attach(Done { value, kinds, height, alias: true });
    }

    fn open(&mut self, anchor: usize, spot: Spot, sequence: bool) -> ControlFlow<()> {
        let mark = self.mark(spot);
        if self.frames.len() == MAX_DEPTH {
            self.report(diagnostics::too_deep(mark));
            return ControlFlow::Break(());
        }
        if matches!(self.frames.last(), Some(Frame::Skipped(_))) {
            self.frames.push(Frame::Skipped(None));
            return ControlFlow::Continue(());
        }
        if let Some(pending) = self.expects_key() {
            *pending = Pending::Dropped;
            let (before, rest) = self.text.split_at_checked(spot.at).unwrap_or_default();
            let template = before.ends_with('{') && rest.starts_with('{');
            let mark = if template { Mark { column: mark.column.saturating_sub(1), ..mark } } else { mark };
            self.frames.push(Frame::Skipped(Some(diagnostics::collection_as_key(mark, template))));
            return ControlFlow::Continue(());
        }
        let begun = self.begin();
        let merging = matches!(self.frames.last(),
            Some(Frame::Mapping { open, .. }) if matches!(open.pending, Pending::Merge { .. }));
        if !(sequence && merging) {
            self.cost.node(0);
        }
        let node = self.add_node(mark);
        self.frames.push(if sequence {
            Frame::Sequence { node, anchor, items: Vec::new(), begun, merge: merging.then(Kinds::new) }
        } else {
            Frame::Mapping { open: Box::new(Open::new(node, anchor)), begun }
        });
        ControlFlow::Continue(())
    }

    fn close(&mut self) {
        let (node, anchor, begun, value, kinds) = match self.frames.pop() {
            Some(Frame::Sequence { node, anchor, mut items, begun, merge }) => {
                // Most sequences have one or two items, but growing reserves four.
                items.shrink_to_fit();
                (node, anchor, begun, Value::Array(items), merge.unwrap_or_default())
            }
            Some(Frame::Mapping { open, begun }) => {
                let Open { node, anchor, entries, kinds, .. } = *open;
                (node, anchor, begun, Value::Object(entries), kinds)
            }
            Some(Frame::Skipped(diagnostic)) => {
                return diagnostic.into_iter().for_each(|diagnostic| self.report(diagnostic));
            }
            None => return,
        };
        self.nodes.close(node);
        let height = begun.height.saturating_add(1);
        self.define(anchor, begun, || Anchored::collection(value.clone(), kinds.clone(), node, height));
        self.attach(Done { value, kinds, height, alias: false });
    }

    /// Keeps the value of an anchor if an alias refers to it and the budget allows it.
    fn define(&mut self, anchor: usize, begun: Begun, anchored: impl FnOnce() -> Anchored) {
        let steps = self.cost.steps.saturating_sub(begun.steps);
        let size = self.cost.size.saturating_sub(begun.size);
        if anchor != 0 && self.aliased.contains(&anchor) && self.cost.copy(0, size) {
            self.anchored.insert(anchor, Anchored { steps, size, ..anchored() });
        }
    }

    /// Adds a complete node to its collection.
    fn attach(&mut self, done: Done) {
        match self.frames.last_mut() {
            None => self.root = Some(done.value),
            Some(Frame::Skipped(_)) => {}
            Some(Frame::Sequence { items, begun, merge, .. }) => {
                begun.height = begun.height.max(done.height);
                if let Some(kinds) = merge {
                    kinds.extend(done.kinds);
                }
                items.push(done.value);
            }
            Some(Frame::Mapping { open, begun }) => {
                begun.height = begun.height.max(done.height);
                match std::mem::replace(&mut open.pending, Pending::Key) {
                    Pending::Value { text, kind, .. } => open.insert(text, kind, done.value),
                    Pending::Merge { mark } => {
                        // Only aliases of mappings can be merged.
                        let value = if done.alias && done.value.is_array() { Value::Null } else { done.value };
                        open.merge(value, &done.kinds, mark, (&self.nodes, self.keys), self.diagnostics);
                    }
                    Pending::Dropped => {}
                    // A key that is not a scalar.
                    Pending::Key => open.pending = Pending::Dropped,
                }
            }
        }
    }

    /// Adds null for an alias that cannot be used.
    fn unusable(&mut self, mark: Mark, diagnostic: SyntaxDiagnostic) {
        self.report(diagnostic);
        self.add_node(mark);
        self.attach(Done { value: Value::Null, kinds: Kinds::new(), height: 0, alias: false });
    }

    /// Adds the position of the next value.
    fn add_node(&mut self, mark: Mark) -> u32 {
        let edge = match self.frames.last() {
            None => {
                self.root_mark = mark;
                Edge::Item
            }
            Some(Frame::Mapping { open, .. }) => match &open.pending {
                Pending::Value { text, mark, .. } => Edge::Entry(text, *mark),
                Pending::Merge { .. } => Edge::Merge,
                Pending::Key | Pending::Dropped => Edge::Item,
            },
            Some(_) => Edge::Item,
        };
        self.nodes.open(self.keys, edge, mark)
    }

    fn begin(&self) -> Begun {
        Begun { steps: self.cost.steps, size: self.cost.size, height: 0 }
    }

    fn report(&mut self, diagnostic: SyntaxDiagnostic) {
        self.diagnostics.add(diagnostic);
    }

    /// Converts a position in the document to a position in the input.
    fn mark(&self, spot: Spot) -> Mark {
        let lines = spot.line.saturating_sub(1);
        let before = if lines == 0 { self.start.column } else { 1 };
        Mark { line: self.start.line.saturating_add(lines), column: before.saturating_add(spot.column) }
    }
}

//! Builds the value of one YAML document from parser events, as `decode.go` of go-yaml v2 does.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;

use granit_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};
use serde_json::Value;

use super::anchors::{Anchored, Anchors, Cost};
use super::found::Found;
use super::mapping::{Kinds, Open, Pending, Places};
use super::positions::{Hold, Keys, Nodes};
use super::scalar::{self, KeyKind, Scalar};
use super::text::Cursor;
use super::token::Tokens;
use super::{MAX_DEPTH, Mark, Problem, mistakes, syntax, text};

const YAML_TAGS: &str = "tag:yaml.org,2002:";

fn parser(text: &str) -> Parser<'_, StrInput<'_>> {
    let mut options = granit_parser::options! {
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        // The composer's own bound comes first.
        flow_nesting_limit: MAX_DEPTH + 1,
        block_nesting_limit: MAX_DEPTH + 1,
    };
    options.set_emit_comments(false);
    Parser::new_from_str_with_options(text, options)
}

/// The anchors that aliases refer to. Only their values are worth a copy: keeping those of all anchors would be quadratic
/// for anchors inside each other.
fn used_anchors(text: &str) -> HashSet<usize> {
    if !text.contains('*') || !text.contains('&') {
        return HashSet::new();
    }
    parser(text).map_while(Result::ok).filter_map(|(event, _)| event.alias_id()).collect()
}

/// Whether a key is the merge key: `<<` without quotes, or with a tag that says so.
fn is_merge(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> bool {
    text == "<<"
        && match tag {
            None => style == ScalarStyle::Plain,
            Some(tag) if tag.handle().is_empty() => tag.suffix() == "!",
            Some(tag) => tag.suffix_in_namespace(YAML_TAGS).as_deref() == Some("merge"),
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
    /// A collection inside a key, which is not read.
    Skipped,
}

/// What was counted when a node began, and how deep its deepest child is.
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
    /// It is a copy of an anchored node.
    alias: bool,
}

/// Follows the events of one document.
pub(super) struct Composer<'t, 'k> {
    text: &'t str,
    start: Mark,
    keys: &'k mut Keys,
    problems: &'k mut Found,
    pub nodes: Nodes,
    frames: Vec<Frame>,
    anchors: Anchors,
    cost: Cost,
    pub root: Option<Value>,
    pub root_mark: Mark,
}

impl<'t, 'k> Composer<'t, 'k> {
    pub(super) fn new(text: &'t str, start: Mark, keys: &'k mut Keys, problems: &'k mut Found) -> Self {
        Self {
            text,
            start,
            keys,
            problems,
            nodes: Nodes::default(),
            frames: Vec::new(),
            anchors: Anchors::new(used_anchors(text)),
            cost: Cost::new(),
            root: None,
            root_mark: start,
        }
    }

    /// Reads the events up to the end of the document.
    pub(super) fn run(&mut self, tokens: &mut Tokens) -> Result<(), ScanError> {
        for event in parser(self.text) {
            let (event, span) = event?;
            let problem = tokens.pass(&event, &span).filter(|(_, problem)| self.problems.has_room(problem.severity));
            if let Some((at, problem)) = problem {
                let mark = Cursor::new(self.text.as_bytes(), self.start).mark(at);
                self.report(Problem { mark, ..problem });
            }
            if matches!(event, Event::DocumentEnd) {
                self.check_rest(span);
                return Ok(());
            }
            if self.event(event, span).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// kubectl reads one document only: what follows it without a separator is lost.
    fn check_rest(&mut self, span: Span) {
        let Some(end) = span.start.byte_offset() else { return };
        let rest = &self.text[end..];
        if let Some(dropped) = syntax::first_content(rest).filter(|_| !rest.starts_with("...")) {
            let mark = Cursor::new(self.text.as_bytes(), self.start).mark(end + dropped);
            self.report(mistakes::dropped(mark, self.root_mark));
        }
    }

    fn event(&mut self, event: Event, span: Span) -> ControlFlow<()> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(text, style, tag.as_deref(), anchor, self.mark(span.start));
            }
            Event::Alias(anchor) => self.alias(anchor, self.mark(span.start)),
            Event::UnresolvedAlias(_) => {
                self.report(mistakes::unknown_anchor(self.mark(span.start)));
                self.place_value(self.mark(span.start));
                self.attach_unusable();
            }
            Event::SequenceStart(_, anchor, _) => return self.open(anchor, span, true),
            Event::MappingStart(_, anchor, _) => return self.open(anchor, span, false),
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::DocumentStart(_, Some(version)) if (version.major, version.minor) != (1, 1) => {
                self.report(Problem::refused(self.mark(span.start), "only YAML 1.1 is supported"));
            }
            _ => {}
        }
        if self.cost.is_excessive() {
            self.report(mistakes::too_many_aliases(self.mark(span.start)));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn scalar(&mut self, text: Cow<str>, style: ScalarStyle, tag: Option<&Tag>, anchor: usize, mark: Mark) {
        if let Some(pending) = self.expects_key()
            && is_merge(&text, style, tag)
        {
            *pending = Pending::Merge { mark };
            return;
        }
        let length = text.len();
        let begun = self.begin();
        self.cost.node(length);
        let scalar = self.resolve(text, style, tag, mark);
        let is_key = self.expects_key().is_some();
        let node = if is_key { 0 } else { self.place_value(mark) };
        self.define(anchor, begun, || Anchored::scalar(&scalar, node));
        if is_key {
            return self.key(scalar.into_key(), mark);
        }
        let value = scalar.into_value().unwrap_or_else(|| {
            self.report(mistakes::not_a_number(mark));
            Value::Null
        });
        self.attach(Done { value, kinds: Kinds::new(), height: 0, alias: false });
    }

    fn resolve(&mut self, text: Cow<str>, style: ScalarStyle, tag: Option<&Tag>, mark: Mark) -> Scalar {
        let Some(tag) = tag else {
            return if style == ScalarStyle::Plain { scalar::plain(text) } else { Scalar::text(text) };
        };
        let name = tag.suffix_in_namespace(YAML_TAGS);
        if name.as_deref() == Some("binary") {
            return self.binary(&text, mark);
        }
        scalar::tagged(name.as_deref(), text).unwrap_or_else(|| {
            self.report(mistakes::tag_mismatch(mark, name.as_deref().unwrap_or_default()));
            Scalar::Null
        })
    }

    fn binary(&mut self, text: &str, mark: Mark) -> Scalar {
        let Some(bytes) = scalar::binary(text) else {
            self.report(mistakes::not_base64(mark));
            return Scalar::Null;
        };
        let replaced = text::replace_invalid(&bytes);
        if matches!(replaced, Cow::Owned(_)) {
            self.report(mistakes::binary_loss(mark));
        }
        Scalar::Text(replaced.into_owned())
    }

    /// The innermost mapping's state if its next node is a key.
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
            return self.report(mistakes::unsupported_key(mark));
        };
        let places = Places { nodes: &self.nodes, keys: self.keys };
        open.check(&text, kind, mark, &places, self.problems);
        open.pending = Pending::Value { text, kind, mark };
    }

    fn alias(&mut self, anchor: usize, mark: Mark) {
        let Some(target) = self.anchors.get(anchor) else {
            self.report(mistakes::alias_in_itself(mark));
            self.place_value(mark);
            return self.attach_unusable();
        };
        let (height, node, target_steps, target_size) = (target.height, target.node, target.steps, target.size);
        self.cost.steps += 1;
        if !self.cost.copy(target_steps, target_size) {
            // The document ends here.
            return;
        }
        if self.frames.len() + height > MAX_DEPTH {
            self.report(mistakes::too_deep(mark));
            self.place_value(mark);
            return self.attach_unusable();
        }
        if self.expects_key().is_some() {
            let key = self.anchors.get(anchor).and_then(|target| target.key.clone());
            return self.key(key, mark);
        }
        let place = self.place_value(mark);
        if height > 0 {
            self.nodes.link(place, node);
        }
        let Some(Anchored { value, kinds, .. }) = self.anchors.get(anchor).cloned() else { return };
        self.attach(Done { value, kinds, height, alias: true });
    }

    fn open(&mut self, anchor: usize, span: Span, sequence: bool) -> ControlFlow<()> {
        let mark = self.mark(span.start);
        if self.frames.len() == MAX_DEPTH {
            self.report(mistakes::too_deep(mark));
            return ControlFlow::Break(());
        }
        if matches!(self.frames.last(), Some(Frame::Skipped)) {
            self.frames.push(Frame::Skipped);
            return ControlFlow::Continue(());
        }
        if let Some(pending) = self.expects_key() {
            *pending = Pending::Dropped;
            self.frames.push(Frame::Skipped);
            let at = span.start.byte_offset().unwrap_or(0);
            let template = self.text[..at].ends_with('{') && self.text[at..].starts_with('{');
            let mark = if template { Mark { column: mark.column - 1, ..mark } } else { mark };
            self.report(mistakes::collection_as_key(mark, template));
            return ControlFlow::Continue(());
        }
        let begun = self.begin();
        let merging = matches!(self.frames.last(),
            Some(Frame::Mapping { open, .. }) if matches!(open.pending, Pending::Merge { .. }));
        if !(sequence && merging) {
            self.cost.node(0);
        }
        let node = self.place_value(mark);
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
                // Most sequences have one item or two, and growing made room for four.
                items.shrink_to_fit();
                (node, anchor, begun, Value::Array(items), merge.unwrap_or_default())
            }
            Some(Frame::Mapping { open, begun }) => {
                let (node, anchor) = (open.node, open.anchor);
                let (value, kinds) = open.finish();
                (node, anchor, begun, value, kinds)
            }
            Some(Frame::Skipped) | None => return,
        };
        self.nodes.close(node);
        let height = begun.height + 1;
        self.define(anchor, begun, || Anchored::collection(value.clone(), kinds.clone(), node, height));
        self.attach(Done { value, kinds, height, alias: false });
    }

    /// Keeps the value of an anchor, if an alias refers to it and there is room.
    fn define(&mut self, anchor: usize, begun: Begun, anchored: impl FnOnce() -> Anchored) {
        let (steps, size) = (self.cost.steps - begun.steps, self.cost.size - begun.size);
        if self.anchors.is_used(anchor) && self.cost.copy(0, size) {
            self.anchors.define(anchor, Anchored { steps, size, ..anchored() });
        }
    }

    /// Puts a complete node where it belongs.
    fn attach(&mut self, done: Done) {
        match self.frames.last_mut() {
            None => self.root = Some(done.value),
            Some(Frame::Skipped) => {}
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
                        let places = Places { nodes: &self.nodes, keys: self.keys };
                        // Of aliases, only those of mappings can be merged.
                        let value = if done.alias && done.value.is_array() { Value::Null } else { done.value };
                        open.merge(value, &done.kinds, mark, &places, self.problems);
                    }
                    Pending::Dropped => {}
                    // A key that is no scalar.
                    Pending::Key => open.pending = Pending::Dropped,
                }
            }
        }
    }

    /// Stands in for a node that has no value.
    fn attach_unusable(&mut self) {
        self.attach(Done { value: Value::Null, kinds: Kinds::new(), height: 0, alias: false });
    }

    /// Notes where the next value stands.
    fn place_value(&mut self, mark: Mark) -> u32 {
        let hold = match self.frames.last() {
            None => {
                self.root_mark = mark;
                Hold::Item
            }
            Some(Frame::Mapping { open, .. }) => match &open.pending {
                Pending::Value { text, mark, .. } => Hold::Entry(text, *mark),
                Pending::Merge { .. } => Hold::Merge,
                Pending::Key | Pending::Dropped => Hold::Item,
            },
            Some(_) => Hold::Item,
        };
        self.nodes.open(self.keys, hold, mark)
    }

    fn begin(&self) -> Begun {
        Begun { steps: self.cost.steps, size: self.cost.size, height: 0 }
    }

    fn report(&mut self, problem: Problem) {
        self.problems.add(problem);
    }

    fn mark(&self, marker: Marker) -> Mark {
        syntax::place(marker, self.start)
    }
}

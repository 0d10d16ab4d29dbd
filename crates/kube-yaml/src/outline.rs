//! The layout of a document: its nodes with their extents in the text, for programs that edit it.
//!
//! The ordinary reader keeps lines and columns only. An outline is made on request, of a document that was read.

use super::compose::is_merge;
use super::document::terminated;
use super::events::{Event, EventKind, Extent, Layout, Parser};
use super::scalar::{self, Scalar};
use super::scan::{Style, Tag};
use super::{MAX_DEPTH, Syntax};
use crate::text::Advance as _;

/// The nodes of a document with their extents, as offsets in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The root.
    pub root: Node,
}

impl Outline {
    /// The outline of the text of a document that was read. `None` if it cannot be made: then the text is not one that
    /// was read, or not valid UTF-8.
    pub fn of(text: &str, syntax: Syntax) -> Option<Self> {
        let root = match syntax {
            Syntax::Json => Scanner { text, at: 0 }.value(0)?,
            Syntax::Yaml => {
                let content = text.strip_prefix('\u{FEFF}').unwrap_or(text);
                let mut root = Builder::default().root(&terminated(content), content.len())?;
                root.shift(text.len().saturating_sub(content.len()));
                root
            }
        };
        Some(Self { root })
    }
}

/// A collection that is still open.
struct Open {
    node: Node,
    /// The key whose value comes next, with its name.
    key: Option<(Key, Node)>,
    /// The offset of its `-`, as an item of another collection.
    item: usize,
    colon: Option<usize>,
}

/// The nesting exceeds [`MAX_DEPTH`].
struct TooDeep;

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
}

impl Builder {
    /// The root of a text that ends with a line break, which may be one that it did not have: no node ends behind `length`.
    fn root(mut self, text: &str, length: usize) -> Option<Node> {
        let mut parser = Parser::new(text);
        while let Some(event) = parser.next_event().ok()? {
            let item = parser.dash().saturating_sub(1);
            let colon = parser.take_colon();
            if let Some(root) = self.event(event, item, colon, length).ok()? {
                return Some(root);
            }
        }
        None
    }

    /// Takes an event. Returns the root when it is complete.
    fn event(
        &mut self,
        event: Event<'_>,
        item: usize,
        colon: Option<usize>,
        length: usize,
    ) -> Result<Option<Node>, TooDeep> {
        let Event { spot, extent, anchor, tag, kind } = event;
        let is_tagged = tag.is_some();
        let node = |kind| Node { anchor, is_tagged, ..Node::new(extent, kind) };
        Ok(match kind {
            EventKind::Scalar(text, style) => {
                let name = name_of(&text, style, tag.as_ref());
                let mut node = node(Kind::Scalar(style));
                node.end = node.end.min(length);
                self.complete(node, name, item, colon)
            }
            EventKind::Alias(number) => self.complete(node(Kind::Alias(number)), Key::Unusual, item, colon),
            EventKind::SequenceStart(layout) => {
                self.begin(node(Kind::Sequence(layout, Vec::new())), item, colon)?;
                None
            }
            EventKind::MappingStart(layout) => {
                self.begin(node(Kind::Mapping(layout, Vec::new())), item, colon)?;
                None
            }
            EventKind::End => {
                let Some(Open { mut node, item, colon, .. }) = self.open.pop() else { return Ok(None) };
                node.end = end_of(&node, spot.at);
                self.complete(node, Key::Unusual, item, colon)
            }
            EventKind::DocumentEnd => None,
        })
    }

    fn begin(&mut self, node: Node, item: usize, colon: Option<usize>) -> Result<(), TooDeep> {
        self.open.push(Open { node, key: None, item, colon });
        if self.open.len() <= MAX_DEPTH { Ok(()) } else { Err(TooDeep) }
    }

    /// Adds a complete node to its collection; returns it if it is the root.
    fn complete(&mut self, node: Node, name: Key, item: usize, colon: Option<usize>) -> Option<Node> {
        let Some(open) = self.open.last_mut() else { return Some(node) };
        match &mut open.node.kind {
            Kind::Sequence(layout, items) => {
                let begin = if *layout == Layout::Block { item } else { node.begin };
                items.push(Item { begin, node });
            }
            Kind::Mapping(_, entries) => match open.key.take() {
                None => open.key = Some((name, node)),
                Some((name, key)) => entries.push(Entry { name, key, colon, value: node }),
            },
            Kind::Scalar(_) | Kind::Alias(_) => {}
        }
        None
    }
}

/// The end of a collection whose last event is at an offset.
fn end_of(node: &Node, last: usize) -> usize {
    let entries_end = match &node.kind {
        Kind::Sequence(Layout::Flow, _) | Kind::Mapping(Layout::Flow, _) => return last.saturating_add(1),
        Kind::Sequence(_, items) => items.last().map(|item| item.node.end.max(item.begin.saturating_add(1))),
        Kind::Mapping(_, entries) => entries.last().map(|entry| match entry.colon {
            Some(colon) => entry.value.end.max(colon),
            None => entry.key.end,
        }),
        Kind::Scalar(_) | Kind::Alias(_) => None,
    };
    entries_end.unwrap_or(node.end)
}

/// The key that a scalar is.
fn name_of(text: &str, style: Style, tag: Option<&Tag>) -> Key {
    if is_merge(text, style, tag) {
        return Key::Merge;
    }
    let scalar = match (tag, style) {
        (Some(_), _) => return Key::Unusual,
        (None, Style::Plain) => scalar::plain(text.into()),
        (None, _) => Scalar::text(text.into()),
    };
    scalar.into_key().map_or(Key::Unusual, |(text, _)| Key::Text(text))
}

/// Reads the nodes of a JSON text.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl Scanner<'_> {
    fn value(&mut self, depth: usize) -> Option<Node> {
        if depth > MAX_DEPTH {
            return None;
        }
        let below = depth.saturating_add(1);
        match self.peek()? {
            b'{' => self.collection(b'}', |scanner, kind| {
                let Kind::Mapping(_, entries) = kind else { return None };
                let key = scanner.string()?;
                let name = serde_json::from_str::<String>(scanner.text.get(key.at..key.end)?).ok()?;
                let colon = scanner.sign(b':').then_some(scanner.at)?;
                let value = scanner.value(below)?;
                entries.push(Entry { name: Key::Text(name), key, colon: Some(colon), value });
                Some(())
            }),
            b'[' => self.collection(b']', |scanner, kind| {
                let Kind::Sequence(_, items) = kind else { return None };
                let node = scanner.value(below)?;
                items.push(Item { begin: node.begin, node });
                Some(())
            }),
            b'"' => self.string(),
            _ => {
                let begin = self.at;
                let rest = self.text.get(begin..)?;
                let end = |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b']' | b'}');
                self.at.advance(rest.bytes().position(end).unwrap_or(rest.len()));
                Some(self.node(begin, Kind::Scalar(Style::Plain)))
            }
        }
    }

    fn collection(&mut self, close: u8, mut entry: impl FnMut(&mut Self, &mut Kind) -> Option<()>) -> Option<Node> {
        let begin = self.at;
        self.at.advance(1);
        let mut kind = match close {
            b'}' => Kind::Mapping(Layout::Flow, Vec::new()),
            _ => Kind::Sequence(Layout::Flow, Vec::new()),
        };
        if !self.sign(close) {
            loop {
                entry(self, &mut kind)?;
                if !self.sign(b',') {
                    break;
                }
            }
            self.sign(close).then_some(())?;
        }
        Some(self.node(begin, kind))
    }

    fn string(&mut self) -> Option<Node> {
        self.peek().filter(|byte| *byte == b'"')?;
        let begin = self.at;
        let mut is_escaped = false;
        let inside = self.text.get(begin..)?.bytes().skip(1);
        let length = inside.into_iter().position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        })?;
        self.at.advance(length.saturating_add(2));
        Some(self.node(begin, Kind::Scalar(Style::DoubleQuoted)))
    }

    fn node(&self, begin: usize, kind: Kind) -> Node {
        Node::new(Extent { begin, at: begin, end: self.at }, kind)
    }

    /// Skips blanks and returns the next byte.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.get(self.at..)?;
        let blanks = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.at.advance(blanks);
        rest.as_bytes().get(blanks).copied()
    }

    /// Consumes a sign if it is next.
    fn sign(&mut self, sign: u8) -> bool {
        let is_next = self.peek() == Some(sign);
        if is_next {
            self.at.advance(1);
        }
        is_next
    }
}

/// A node: a scalar, an alias or a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its first byte, with its anchor and tag.
    pub begin: usize,
    /// Its first byte behind its anchor and tag. An empty node is at its end.
    pub at: usize,
    /// Its end. A block collection ends with its last entry, a text with `|` or `>` at the end of its last line.
    pub end: usize,
    /// The number of its anchor, 0 if it has none.
    pub anchor: usize,
    /// True if it has a tag.
    pub is_tagged: bool,
    /// Kind of the node.
    pub kind: Kind,
}

/// Kind of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A scalar.
    Scalar(Style),
    /// An alias, with the number of its anchor.
    Alias(Option<usize>),
    /// A sequence.
    Sequence(Layout, Vec<Item>),
    /// A mapping.
    Mapping(Layout, Vec<Entry>),
}

/// An item of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its first byte: the `-` in a block sequence.
    pub begin: usize,
    /// Its node.
    pub node: Node,
}

/// An entry of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key as JSON has it.
    pub name: Key,
    /// The node of the key.
    pub key: Node,
    /// The offset behind the `:`, if there is one.
    pub colon: Option<usize>,
    /// The node of the value.
    pub value: Node,
}

/// Key of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A text, or a scalar that becomes this text in JSON.
    Text(String),
    /// The merge key `<<`.
    Merge,
    /// An alias, a collection, or a scalar with a tag.
    Unusual,
}

impl Node {
    pub(super) fn new(extent: Extent, kind: Kind) -> Self {
        let Extent { begin, at, end } = extent;
        Self { begin, at, end, anchor: 0, is_tagged: false, kind }
    }

    /// Moves the node by the length of a byte order mark.
    pub(super) fn shift(&mut self, by: usize) {
        if by == 0 {
            return;
        }
        for offset in [&mut self.begin, &mut self.at, &mut self.end] {
            *offset = offset.saturating_add(by);
        }
        match &mut self.kind {
            Kind::Scalar(_) | Kind::Alias(_) => {}
            Kind::Sequence(_, items) => {
                for item in items {
                    item.begin = item.begin.saturating_add(by);
                    item.node.shift(by);
                }
            }
            Kind::Mapping(_, entries) => {
                for entry in entries {
                    entry.colon = entry.colon.map(|colon| colon.saturating_add(by));
                    entry.key.shift(by);
                    entry.value.shift(by);
                }
            }
        }
    }
}

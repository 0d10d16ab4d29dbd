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

/// The root of the text of a document that was read, with all nodes below it. `None` if the text is not one that was read,
/// or not valid UTF-8.
pub fn outline(text: &str, syntax: Syntax) -> Option<Node> {
    match syntax {
        Syntax::Json => Scanner { text, at: 0 }.value(0),
        Syntax::Yaml => yaml(text),
    }
}

fn yaml(text: &str) -> Option<Node> {
    let content = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    // The parser does not see the byte order mark.
    let mark = text.len().saturating_sub(content.len());
    let content = terminated(content);
    let mut parser = Parser::new(&content);
    let mut open = Vec::new();
    while let Some(mut event) = parser.next_event().ok()? {
        let Extent { begin, at, end } = &mut event.extent;
        for offset in [&mut event.spot.at, begin, at, end] {
            offset.advance(mark);
        }
        let item = parser.dash.saturating_sub(1).saturating_add(mark);
        let colon = parser.colon.take().map(|colon| colon.saturating_add(mark));
        // The last line break may be one that the text did not have.
        if let Some(root) = take(&mut open, event, item, colon, text.len()) {
            return Some(root);
        }
        if open.len() > MAX_DEPTH {
            return None;
        }
    }
    None
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

/// Takes an event; no node ends behind `length`. Returns the root when it is complete.
fn take(open: &mut Vec<Open>, event: Event, item: usize, colon: Option<usize>, length: usize) -> Option<Node> {
    let Event { spot, extent, anchor, tag, kind } = event;
    let is_tagged = tag.is_some();
    let node = |kind| Node { anchor, is_tagged, ..Node::new(extent, kind) };
    let begun = |kind| Open { node: node(kind), key: None, item, colon };
    match kind {
        EventKind::Scalar(text, style) => {
            let name = name_of(&text, style, tag.as_ref());
            let mut node = node(Kind::Scalar(style));
            node.end = node.end.min(length);
            return complete(open, node, name, item, colon);
        }
        EventKind::Alias(number) => return complete(open, node(Kind::Alias(number)), Key::Unusual, item, colon),
        EventKind::SequenceStart(layout) => open.push(begun(Kind::Sequence(layout, Vec::new()))),
        EventKind::MappingStart(layout) => open.push(begun(Kind::Mapping(layout, Vec::new()))),
        EventKind::End => {
            let Open { mut node, item, colon, .. } = open.pop()?;
            node.end = end_of(&node, spot.at);
            return complete(open, node, Key::Unusual, item, colon);
        }
        EventKind::DocumentEnd => {}
    }
    None
}

/// Adds a complete node to its collection; returns it if it is the root.
fn complete(open: &mut [Open], node: Node, name: Key, item: usize, colon: Option<usize>) -> Option<Node> {
    let Some(open) = open.last_mut() else { return Some(node) };
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
            b'{' => {
                let begin = self.at;
                let mut entries = Vec::new();
                self.entries(b'}', |scanner| {
                    let key = scanner.string()?;
                    let name = serde_json::from_str::<String>(scanner.text.get(key.at..key.end)?).ok()?;
                    let colon = scanner.sign(b':').then_some(scanner.at)?;
                    let value = scanner.value(below)?;
                    entries.push(Entry { name: Key::Text(name), key, colon: Some(colon), value });
                    Some(())
                })?;
                Some(self.node(begin, Kind::Mapping(Layout::Flow, entries)))
            }
            b'[' => {
                let begin = self.at;
                let mut items = Vec::new();
                self.entries(b']', |scanner| {
                    let node = scanner.value(below)?;
                    items.push(Item { begin: node.begin, node });
                    Some(())
                })?;
                Some(self.node(begin, Kind::Sequence(Layout::Flow, items)))
            }
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

    /// Reads the entries between brackets.
    fn entries(&mut self, close: u8, mut entry: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.at.advance(1);
        if self.sign(close) {
            return Some(());
        }
        loop {
            entry(self)?;
            if !self.sign(b',') {
                return self.sign(close).then_some(());
            }
        }
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

    /// The nodes right below it: those of its items, or the keys and the values of its entries.
    pub fn children(&self) -> impl Iterator<Item = &Self> {
        let (items, entries): (&[Item], &[Entry]) = match &self.kind {
            Kind::Sequence(_, items) => (items, &[]),
            Kind::Mapping(_, entries) => (&[], entries),
            Kind::Scalar(_) | Kind::Alias(_) => (&[], &[]),
        };
        items.iter().map(|item| &item.node).chain(entries.iter().flat_map(|entry| [&entry.key, &entry.value]))
    }
}

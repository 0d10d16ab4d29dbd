//! Positions of the keys and values of a document.
//!
//! The nodes of a document are in one array in the order of the text, each with the index behind its subtree, so that
//! the next sibling is one step away and only the array is allocated. Keys are indices into a table that all documents
//! of an input share, since manifests repeat the same few keys. Nearly all documents are so small that 16 bits hold
//! each number.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::Mark;

/// One step of a path into a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The value of a key.
    Key(&'a str),
    /// An item of a sequence, from 0.
    Index(usize),
}

/// Index of a key in the table, or one of the two values below.
type Symbol = u32;
/// The node is an item of a sequence, or the document itself.
const NO_KEY: Symbol = u32::MAX;
/// The node is the value of a merge key: its entries belong to the mapping around it.
const MERGE: Symbol = u32::MAX - 1;

#[derive(Debug, Clone, Copy)]
struct Node {
    value: Mark,
    key_mark: Mark,
    key: Symbol,
    /// The index behind the last node below this one.
    end: u32,
}

/// A node in half the memory; its lines count from the first line of the document.
#[derive(Clone, Copy)]
struct SmallNode {
    value: (u16, u16),
    key_mark: (u16, u16),
    key: u16,
    end: u16,
}

impl SmallNode {
    /// Difference between the two special symbols in 32 bits and in 16 bits.
    const SPECIAL: u32 = Symbol::MAX - u16::MAX as u32;

    fn new(node: &Node, line: u32) -> Option<Self> {
        let mark =
            |mark: Mark| Some((u16::try_from(mark.line.checked_sub(line)?).ok()?, u16::try_from(mark.column).ok()?));
        let key = if node.key >= MERGE {
            u16::try_from(node.key.checked_sub(Self::SPECIAL)?).ok()?
        } else {
            u16::try_from(node.key).ok().filter(|key| *key < u16::MAX - 1)?
        };
        Some(Self { value: mark(node.value)?, key_mark: mark(node.key_mark)?, key, end: u16::try_from(node.end).ok()? })
    }

    fn widen(self, line: u32) -> Node {
        let mark =
            |(lines, column): (u16, u16)| Mark { line: line.saturating_add(lines.into()), column: column.into() };
        let key = u32::from(self.key);
        Node {
            value: mark(self.value),
            key_mark: mark(self.key_mark),
            key: if self.key >= u16::MAX - 1 { key.saturating_add(Self::SPECIAL) } else { key },
            end: u32::from(self.end),
        }
    }
}

/// The nodes of a document.
#[derive(Clone)]
enum Table {
    /// Small nodes, with the first line of the document.
    Small(Arc<[SmallNode]>, u32),
    Large(Arc<[Node]>),
}

impl Table {
    fn new(nodes: &[Node]) -> Self {
        let line = nodes.first().map_or(1, |node| node.value.line);
        let mut small = Vec::with_capacity(nodes.len());
        small.extend(nodes.iter().map_while(|node| SmallNode::new(node, line)));
        if small.len() == nodes.len() { Self::Small(small.into(), line) } else { Self::Large(nodes.into()) }
    }
}

/// Positions of the keys and values of a document, or of a part of it.
#[derive(Clone)]
pub struct Positions {
    nodes: Table,
    /// Aliases: the index of the alias and that of the node it refers to, ordered by the former.
    links: Arc<[(u32, u32)]>,
    pub(super) keys: Arc<[Arc<str>]>,
    root: u32,
}

impl fmt::Debug for Positions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Positions({} nodes)", self.node(self.root).end.saturating_sub(self.root))
    }
}

/// Positions of an object that is in no file: all of it is at the start.
impl Default for Positions {
    fn default() -> Self {
        let root = Node { value: Mark::START, key_mark: Mark::START, key: NO_KEY, end: 1 };
        Self { nodes: Table::Large([root].into()), links: [].into(), keys: [].into(), root: 0 }
    }
}

impl Positions {
    /// The position of the value at a path. Values inside an anchored node are at the anchor's text; the alias itself
    /// is at its `*`.
    pub fn value_at(&self, path: &[Step]) -> Option<Mark> {
        self.find(path).map(|node| self.node(node).value)
    }

    /// The position of the key of the value at a path; `None` for items of a sequence.
    pub fn key_at(&self, path: &[Step]) -> Option<Mark> {
        let node = self.node(self.find(path)?);
        (!path.is_empty() && node.key < MERGE).then_some(node.key_mark)
    }

    /// The position of the deepest part of the path that exists: of its key if it has one, else its value.
    pub fn nearest(&self, path: &[Step]) -> Mark {
        (0..=path.len())
            .rev()
            .find_map(|length| self.key_at(&path[..length]).or_else(|| self.value_at(&path[..length])))
            .unwrap_or(Mark::START)
    }

    /// The positions below a path, as those of a separate document; nothing is copied.
    pub fn descend(&self, path: &[Step]) -> Option<Self> {
        Some(Self { root: self.find(path)?, ..self.clone() })
    }

    /// The positions of each item of the sequence at a path, such as the objects of a `List`.
    pub fn items(&self, path: &[Step]) -> Vec<Self> {
        let Some(node) = self.find(path) else { return Vec::new() };
        self.children(self.target(node)).map(|root| Self { root, ..self.clone() }).collect()
    }

    fn node(&self, index: u32) -> Node {
        match &self.nodes {
            Table::Small(nodes, line) => nodes[index as usize].widen(*line),
            Table::Large(nodes) => nodes[index as usize],
        }
    }

    fn find(&self, path: &[Step]) -> Option<u32> {
        path.iter().try_fold(self.root, |node, step| {
            let node = self.target(node);
            match *step {
                Step::Key(key) => self.entry(node, key),
                Step::Index(index) => self.children(node).filter(|child| self.node(*child).key == NO_KEY).nth(index),
            }
        })
    }

    /// The node that an alias refers to, or the node itself.
    fn target(&self, node: u32) -> u32 {
        match self.links.binary_search_by_key(&node, |link| link.0) {
            Ok(found) => self.links[found].1,
            Err(_) => node,
        }
    }

    fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.node(node).end;
        let mut next = behind(node);
        std::iter::from_fn(move || {
            let child = next;
            next = (child < end).then(|| self.node(child).end)?;
            Some(child)
        })
    }

    /// The entry that takes precedence: the last one written, including merged entries; if several merged mappings have
    /// the key, that of the first.
    fn entry(&self, mapping: u32, key: &str) -> Option<u32> {
        let mut found = None;
        for child in self.children(mapping) {
            match self.node(child).key {
                NO_KEY => return None,
                MERGE => found = self.merged_entry(child, key).or(found),
                symbol if *self.keys[symbol as usize] == *key => found = Some(child),
                _ => {}
            }
        }
        found
    }

    fn merged_entry(&self, merge: u32, key: &str) -> Option<u32> {
        let merged = self.target(merge);
        self.entry(merged, key).or_else(|| {
            self.children(merged)
                .filter(|item| self.node(*item).key == NO_KEY)
                .find_map(|item| self.entry(self.target(item), key))
        })
    }
}

/// The table of the keys of one input.
pub(super) struct Keys {
    symbols: HashMap<Arc<str>, Symbol>,
    texts: Vec<Arc<str>>,
    /// Cache of symbols by the hash of the key, since the same few keys repeat.
    recent: [Symbol; Self::RECENT],
    /// The buffer of the last document's nodes, for reuse.
    room: Vec<Node>,
}

impl Default for Keys {
    fn default() -> Self {
        Self { symbols: HashMap::new(), texts: Vec::new(), recent: [NO_KEY; Self::RECENT], room: Vec::new() }
    }
}

impl Keys {
    const RECENT: usize = 256;

    fn symbol(&mut self, key: &str) -> Symbol {
        let bytes = key.as_bytes();
        let first = bytes.first().copied().unwrap_or(0);
        let last = bytes.last().copied().unwrap_or(0);
        let ends = usize::from(first).wrapping_mul(31).wrapping_add(usize::from(last).wrapping_mul(7));
        let slot = ends.wrapping_add(bytes.len()) % Self::RECENT;
        let recent = self.recent[slot];
        if self.texts.get(recent as usize).is_some_and(|text| **text == *key) {
            return recent;
        }
        let symbol = match self.symbols.get(key) {
            Some(symbol) => *symbol,
            None => self.add(key),
        };
        self.recent[slot] = symbol;
        symbol
    }

    fn add(&mut self, key: &str) -> Symbol {
        let text = Arc::<str>::from(key);
        let symbol = index(self.texts.len());
        self.texts.push(Arc::clone(&text));
        self.symbols.insert(text, symbol);
        symbol
    }

    /// The finished table, for the positions of all documents.
    pub(super) fn finish(self) -> Arc<[Arc<str>]> {
        self.texts.into()
    }
}

/// Relation of a node to its parent.
#[derive(Clone, Copy)]
pub(super) enum Edge<'a> {
    /// An item of a sequence, or the document.
    Item,
    /// The value of a key, and the position of the key.
    Entry(&'a str, Mark),
    /// The value of a merge key.
    Merge,
}

/// The positions of one document while it is read.
#[derive(Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    links: Vec<(u32, u32)>,
}

impl Nodes {
    pub(super) fn new(keys: &mut Keys) -> Self {
        Self { nodes: std::mem::take(&mut keys.room), links: Vec::new() }
    }

    /// Adds a node and returns its index.
    pub(super) fn open(&mut self, keys: &mut Keys, edge: Edge, value: Mark) -> u32 {
        let (key, key_mark) = match edge {
            Edge::Item => (NO_KEY, value),
            Edge::Entry(key, mark) => (keys.symbol(key), mark),
            Edge::Merge => (MERGE, value),
        };
        let node = index(self.nodes.len());
        self.nodes.push(Node { value, key_mark, key, end: behind(node) });
        node
    }

    /// Ends a collection: the nodes added since are below it.
    pub(super) fn close(&mut self, node: u32) {
        let end = index(self.nodes.len());
        self.nodes[node as usize].end = end;
    }

    /// Links an alias to an earlier node.
    pub(super) fn link(&mut self, alias: u32, target: u32) {
        self.links.push((alias, target));
    }

    /// The position of the last entry with this key in a mapping that is still open.
    pub(super) fn key_in(&self, keys: &Keys, mapping: u32, key: &str) -> Option<Mark> {
        let symbol = *keys.symbols.get(key)?;
        let mut child = behind(mapping) as usize;
        let mut found = None;
        while let Some(node) = self.nodes.get(child) {
            if node.key == symbol {
                found = Some(node.key_mark);
            }
            child = node.end as usize;
        }
        found
    }

    /// The nodes in as little memory as they need; their buffer is reused for the next document. They get the table of keys when it is
    /// complete.
    pub(super) fn seal(mut self, keys: &mut Keys) -> Positions {
        let nodes = Table::new(&self.nodes);
        self.nodes.clear();
        keys.room = self.nodes;
        Positions { nodes, links: self.links.into(), keys: Arc::default(), root: 0 }
    }
}

/// The index after a node: that of its first child, if it has one.
fn behind(node: u32) -> u32 {
    node.saturating_add(1)
}

/// Converts a length to 32 bits; the bound of documents is far below.
fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(MERGE - 1)
}

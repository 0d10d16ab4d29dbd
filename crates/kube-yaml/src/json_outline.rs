//! The outline of a JSON value that was read.

use super::MAX_DEPTH;
use super::advance::Advance as _;
use super::events::{Extent, Layout};
use super::node::{Entry, Item, Key, Kind, Node};
use super::scan::Style;

/// The root of a JSON text.
pub(super) fn root(text: &str) -> Option<Node> {
    Scanner { text, at: 0 }.value(0)
}

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
                let name = serde_json::from_str(scanner.text.get(key.at..key.end)?).ok()?;
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

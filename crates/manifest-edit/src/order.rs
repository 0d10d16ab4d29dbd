//! Items of a list that change their places, each with its comments.

use std::ops::Range;

use kube_yaml::{Layout, Node};

use super::collections::Part;
use super::refusal::Refusal;
use super::rewrite::Rewriter;

impl Rewriter<'_> {
    /// Puts the items of a list in another order: `order` has the former index of each.
    pub fn reorder(&mut self, node: &Node, layout: Layout, parts: &[Part], order: &[usize]) -> Result<(), Refusal> {
        let spans: Vec<Range<usize>> = match layout {
            Layout::Block => (0..parts.len()).map(|index| self.span(parts, index)).collect(),
            Layout::Flow if self.lines.slice(between(node, parts)).contains('#') => return Err(Refusal::Layout),
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

/// The text of a list from its first item to its end.
fn between(node: &Node, parts: &[Part]) -> Range<usize> {
    parts.first().map_or(node.end, |first| first.begin)..node.end
}

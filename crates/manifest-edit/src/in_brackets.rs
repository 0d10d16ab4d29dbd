//! Entries that come into brackets, and go out of them.

use kube_yaml::{Layout, Node};

use super::change::Refusal;
use super::collections::Part;
use super::rewrite::Rewriter;

impl Rewriter<'_> {
    /// Inserts an entry behind another one. A comment behind that one stays with it.
    pub fn insert_in_brackets(&mut self, node: &Node, layout: Layout, last: &Part, text: &str) -> Result<(), Refusal> {
        if layout == Layout::Pair {
            return Err(Refusal::Layout);
        }
        let behind = self.lines.slice(last.end..next_begin(node, last.end));
        let comma = behind.find(',').filter(|comma| behind.find('#').is_none_or(|comment| *comma < comment));
        let rest = behind.get(comma.map_or(0, |comma| comma.saturating_add(1))..).unwrap_or_default();
        let has_comment = rest.split('\n').next().is_some_and(|line| line.contains('#'));
        if !has_comment {
            let separator = self.separator(node, last);
            self.splices.insert(last.end, format!("{separator}{text}"));
            return Ok(());
        }
        let newline = self.lines.newline;
        let indentation = self.lines.indentation(last.begin);
        let line_end = self.lines.end(last.end);
        match comma {
            Some(_) => self.splices.insert(line_end, format!("{newline}{indentation}{text},")),
            None if self.splices.has_insertion(last.end) => {
                self.splices.insert(line_end, format!(",{newline}{indentation}{text}"));
            }
            None => {
                self.splices.insert(last.end, ",");
                self.splices.insert(line_end, format!("{newline}{indentation}{text}"));
            }
        }
        Ok(())
    }

    /// The text between two entries in brackets: a comma, with a line break if the entry beside has a line of its own.
    pub fn separator(&self, node: &Node, beside: &Part) -> String {
        let before = self.lines.before(beside.begin);
        if beside.begin > node.at && !before.is_empty() && before.trim().is_empty() {
            format!(",{}{before}", self.lines.newline)
        } else {
            format!(",{}", self.spaces.comma)
        }
    }

    /// Takes a run of entries out of brackets.
    pub fn remove_in_brackets(
        &mut self,
        run: &[Part],
        previous: Option<&Part>,
        next: Option<&Part>,
    ) -> Result<(), Refusal> {
        let around: Vec<&Part> = previous.into_iter().chain(run).chain(next).collect();
        let has_comment = |pair: &[&Part]| match pair {
            [a, b] => self.lines.slice(a.end..b.begin).contains('#'),
            _ => false,
        };
        if around.windows(2).any(has_comment) {
            return Err(Refusal::Layout);
        }
        match (previous, run, next) {
            (Some(previous), [.., last], _) => self.splices.put(previous.end..last.end, ""),
            (None, [first, ..], Some(next)) => self.splices.put(first.begin..next.begin, ""),
            _ => return Err(Refusal::Layout),
        }
        Ok(())
    }
}

/// The offset of the first entry behind an offset, or of the closing bracket.
fn next_begin(node: &Node, at: usize) -> usize {
    let next = node.children().map(|child| child.begin).find(|begin| *begin > at);
    next.unwrap_or(node.end.saturating_sub(1))
}

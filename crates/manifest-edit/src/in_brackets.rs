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

    /// Takes a run of entries out of brackets. Where there are comments, entries with lines of their own go with those lines, as in a
    /// block; the comma before them may stay.
    pub fn remove_in_brackets(
        &mut self,
        node: &Node,
        run: &[Part],
        previous: Option<&Part>,
        next: Option<&Part>,
    ) -> Result<(), Refusal> {
        let ([first, ..], [.., last]) = (run, run) else { return Ok(()) };
        let has_comment = |begin: usize, end: usize| self.lines.slice(begin..end).contains('#');
        let is_commented_before = previous.is_some_and(|previous| has_comment(previous.end, first.begin));
        let is_commented = run.windows(2).any(|pair| matches!(pair, [a, b] if has_comment(a.end, b.begin)))
            || has_comment(last.end, next_begin(node, last.end));
        let cut = match (previous, next) {
            (None, None) => return Err(Refusal::Layout),
            (Some(previous), _) if !is_commented_before && !is_commented => previous.end..last.end,
            _ if (is_commented_before || is_commented) && self.has_own_lines(first, last) => {
                self.remove_lines(first.begin, last.end, next);
                return Ok(());
            }
            _ if is_commented => return Err(Refusal::Layout),
            (_, Some(next)) => first.begin..next.begin,
            (_, None) => first.begin..last.end,
        };
        self.splices.put(cut, "");
        Ok(())
    }

    /// Returns true if nothing else is on the lines of these entries, apart from a comma and a comment behind them.
    fn has_own_lines(&self, first: &Part, last: &Part) -> bool {
        let behind = self.lines.slice(last.end..self.lines.end(last.end)).trim_start();
        let behind = behind.strip_prefix(',').unwrap_or(behind).trim_start();
        self.lines.is_first(first.begin) && (behind.is_empty() || behind.starts_with('#'))
    }
}

/// The offset of the first entry behind an offset, or of the closing bracket.
fn next_begin(node: &Node, at: usize) -> usize {
    let next = node.children().map(|child| child.begin).find(|begin| *begin > at);
    next.unwrap_or(node.end.saturating_sub(1))
}

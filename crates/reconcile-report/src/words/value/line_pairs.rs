//! Removed lines and the lines in their place, as they are shown: cut where they are long, with the words that differ emphasised.

use std::collections::HashMap;

use reconcile_core::text::{common_ends, escaped, look, middle_cut, outline, reads_alike};
use similar::ChangeTag;

use super::line_diff::Line;
use super::word_diff::{Contrast, DiffedText};

/// Most bytes that are compared to find the lines that belong together. Beyond it, lines are paired by their positions.
const COMPARED: usize = 1 << 22;

/// Returns removed lines and the added lines in their place, the removed ones first, each cut to this many columns if there is a limit.
/// A line with a counterpart is cut around what differs. A removed line never reads as an added one, unless they are equal: rather is
/// a line longer than the limit.
pub(crate) fn shown(lines: &[Line<'_>], columns: Option<usize>) -> Vec<(ChangeTag, DiffedText)> {
    let tagged = |wanted: ChangeTag| lines.iter().filter(move |(tag, _)| *tag == wanted).map(|(_, line)| line.as_ref());
    let mut hunk = Hunk::of(tagged(ChangeTag::Delete).collect(), tagged(ChangeTag::Insert).collect(), columns);
    let contrast = |old: &str, new: &str| contrast(old, new, columns);
    hunk.show(&pairs(&hunk.removed, &hunk.added), contrast);
    hunk.show(&hunk.alike(), contrast);
    hunk.show(&hunk.alike(), |old, new| (DiffedText::equal(old), DiffedText::equal(new)));
    hunk.show(&hunk.alike(), |old, new| (DiffedText::equal(escaped(old)), DiffedText::equal(escaped(new))));
    let removed = hunk.shown_removed.into_iter().map(|line| (ChangeTag::Delete, line));
    removed.chain(hunk.shown_added.into_iter().map(|line| (ChangeTag::Insert, line))).collect()
}

/// Returns a line without a counterpart, cut to this many columns if there is a limit.
pub(crate) fn alone(line: &str, columns: Option<usize>) -> DiffedText {
    DiffedText::equal(columns.map_or_else(|| line.to_owned(), |columns| middle_cut(line, columns)))
}

/// Both lines, cut around what differs. If they have nothing in common, nothing is emphasised: their signs say it.
fn contrast(old: &str, new: &str, columns: Option<usize>) -> (DiffedText, DiffedText) {
    let contrast = Contrast::of(old, new);
    let (old, new) = columns.map_or_else(|| contrast.whole(), |columns| contrast.within(columns));
    if contrast.is_whole() { (DiffedText::equal(old.text()), DiffedText::equal(new.text())) } else { (old, new) }
}

/// Removed lines and the added lines in their place, and how they are shown.
struct Hunk<'t> {
    removed: Vec<&'t str>,
    added: Vec<&'t str>,
    shown_removed: Vec<DiffedText>,
    shown_added: Vec<DiffedText>,
}

impl<'t> Hunk<'t> {
    fn of(removed: Vec<&'t str>, added: Vec<&'t str>, columns: Option<usize>) -> Self {
        let all = |lines: &[&str]| lines.iter().map(|line| alone(line, columns)).collect();
        Self { shown_removed: all(&removed), shown_added: all(&added), removed, added }
    }

    /// Shows pairs of lines in another way.
    fn show(&mut self, pairs: &[(usize, usize)], as_pair: impl Fn(&str, &str) -> (DiffedText, DiffedText)) {
        for &(old, new) in pairs {
            (self.shown_removed[old], self.shown_added[new]) = as_pair(self.removed[old], self.added[new]);
        }
    }

    /// The positions of removed lines that read as an added one although they differ from it, each with that of the added one.
    fn alike(&self) -> Vec<(usize, usize)> {
        let texts = |shown: &[DiffedText]| shown.iter().map(DiffedText::text).collect::<Vec<_>>();
        let removed = texts(&self.shown_removed);
        let added = texts(&self.shown_added);
        let is_plain = removed.iter().chain(&added).all(|line| line.chars().all(|c| c.is_ascii() || c == '…'));
        let looks = |line: &str| if is_plain { look(line).into_owned() } else { outline(line) };
        let mut by_look: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, line) in added.iter().enumerate() {
            by_look.entry(looks(line)).or_default().push(at);
        }
        let other = |(old, line): (usize, &String)| {
            let is_other = |new: &&usize| {
                self.removed.get(old) != self.added.get(**new)
                    && added.get(**new).is_some_and(|other| reads_alike(line, other))
            };
            Some((old, *by_look.get(&looks(line))?.iter().find(is_other)?))
        };
        removed.iter().enumerate().filter_map(other).collect()
    }
}

/// The positions of the lines that belong together: in order, and those with the longest common starts and ends.
fn pairs(removed: &[&str], added: &[&str]) -> Vec<(usize, usize)> {
    let bytes = added.iter().fold(0_usize, |sum, line| sum.saturating_add(line.len()).saturating_add(1));
    if bytes.saturating_mul(removed.len()) > COMPARED {
        return (0..removed.len().min(added.len())).map(|at| (at, at)).collect();
    }
    let likeness = |old: &str, new: &str| {
        let (start, end) = common_ends(old, new);
        start + end + 1
    };
    // The likeness of the best pairs among the lines from a removed and an added one on.
    let mut best = vec![vec![0_usize; added.len() + 1]; removed.len() + 1];
    for (old, removed) in removed.iter().enumerate().rev() {
        for (new, added) in added.iter().enumerate().rev() {
            let paired = best[old + 1][new + 1] + likeness(removed, added);
            best[old][new] = paired.max(best[old + 1][new]).max(best[old][new + 1]);
        }
    }
    let mut old = 0;
    let mut new = 0;
    let mut pairs = Vec::new();
    while old < removed.len() && new < added.len() {
        if best[old][new] == best[old + 1][new] {
            old += 1;
        } else if best[old][new] == best[old][new + 1] {
            new += 1;
        } else {
            pairs.push((old, new));
            (old, new) = (old + 1, new + 1);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn all(lines: &[String]) -> Vec<&str> {
        lines.iter().map(String::as_str).collect()
    }

    #[track_caller]
    fn lines(removed: &[&str], added: &[&str], columns: Option<usize>) -> Vec<String> {
        let tagged = |tag: ChangeTag, lines: &[&str]| -> Vec<Line<'static>> {
            lines.iter().map(|line| (tag, Cow::Owned((*line).to_owned()))).collect()
        };
        let all = [tagged(ChangeTag::Delete, removed), tagged(ChangeTag::Insert, added)].concat();
        let part = |(text, differs): (&str, bool)| if differs { format!("[{text}]") } else { text.to_owned() };
        shown(&all, columns)
            .iter()
            .map(|(tag, line)| format!("{tag}{}", line.parts().map(part).collect::<String>()))
            .collect()
    }

    #[test]
    fn lines_that_are_alike_are_paired() {
        assert_eq!(lines(&["a: 1", "b: 2"], &["a: 3", "b: 4"], None), ["-a: [1]", "-b: [2]", "+a: [3]", "+b: [4]"]);
        assert_eq!(
            lines(&["one: 1", "two: 2", "three"], &["two: 3", "three: 4"], None).join(" "),
            "-one: 1 -two: [2] -three +two: [3] +three[: 4]"
        );
        assert_eq!(lines(&["x"], &["y", "z"], None), ["-x", "+y", "+z"]);
        assert_eq!(lines(&["x"], &[], None), ["-x"]);
    }

    #[test]
    fn many_lines_are_paired_by_their_positions() {
        let old: Vec<String> = (0..3_000).map(|at| format!("line {at} of the old text")).collect();
        let new: Vec<String> = (0..2_900).map(|at| format!("line {at} of the new text")).collect();
        let pairs = pairs(&all(&old), &all(&new));
        assert_eq!((pairs.len(), pairs[2_000]), (2_900, (2_000, 2_000)));
    }

    #[test]
    fn a_removed_line_does_not_read_as_the_counterpart_of_another_one() {
        let same = "x".repeat(90);
        let line = |a: u8, b: u8| format!("{same}{a}{same}{b}{same}");
        // Each pair differs in one digit: 1 becomes 2, and 2 becomes 1.
        let shown = lines(&all(&[line(1, 1), line(3, 2)]), &all(&[line(2, 1), line(3, 1)]), Some(40));
        let (removed, added) = shown.split_at(2);
        for line in removed {
            assert!(!added.iter().any(|other| other[1..] == line[1..]), "{shown:#?}");
        }
    }
}

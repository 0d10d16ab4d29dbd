//! Two texts, line by line.

use std::borrow::Cow;
use std::collections::HashMap;

use reconcile_core::text::{distinct, look, outline};
use similar::algorithms::{Capture, Compact, IdentifyDistinct, Replace, myers};
use similar::{ChangeTag, DiffOp, group_diff_ops};

/// Lines of context around a change.
const CONTEXT: usize = 2;

/// From this many lines on, counted on both sides without the common start and end, texts are not matched: the cost grows faster
/// than the texts. The bound is a size, not a time, as the same texts have to give the same lines on every machine.
pub(crate) const MATCHED: usize = 30_000;

/// One line, and whether it is removed, added or kept. A removed line never reads as the added one in its place.
pub(crate) type Line<'t> = (ChangeTag, Cow<'t, str>);

/// The changed lines of two texts in groups, each with the lines around it.
pub(crate) fn groups<'t>(old: &'t str, new: &'t str) -> Vec<Vec<Line<'t>>> {
    groups_within(MATCHED, old, new)
}

fn groups_within<'t>(bound: usize, old: &'t str, new: &'t str) -> Vec<Vec<Line<'t>>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let lines = |op: &DiffOp| match *op {
        DiffOp::Replace { .. } => {
            replaced(old.get(op.old_range()).unwrap_or_default(), new.get(op.new_range()).unwrap_or_default())
        }
        _ => op.iter_changes(&old, &new).map(|change| (change.tag(), without_end(change.value()).into())).collect(),
    };
    let groups = grouped((bound, CONTEXT), &old, &new);
    groups.iter().map(|group| group.iter().flat_map(lines).collect()).collect()
}

/// The number of lines that differ: a removed line and the one in its place are one.
pub(crate) fn differing(groups: &[Vec<Line<'_>>]) -> usize {
    let count = |tag: ChangeTag| groups.iter().flatten().filter(|(other, _)| *other == tag).count();
    count(ChangeTag::Delete).max(count(ChangeTag::Insert))
}

/// Removed lines, and the lines in their place.
fn replaced<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let is_plain = old.iter().chain(new).all(|line| line.is_ascii());
    let look = |line: &'t str| if is_plain { look(line) } else { Cow::Owned(outline(line)) };
    let by_look: HashMap<Cow<'_, str>, &str> = new.iter().map(|line| (look(line), *line)).collect();
    let mut shown: HashMap<&str, Cow<'t, str>> = HashMap::new();
    let mut lines: Vec<Line<'t>> = Vec::with_capacity(old.len().saturating_add(new.len()));
    for line in old {
        let Some(alike) = by_look.get(&look(line)).filter(|alike| *alike != line) else {
            lines.push((ChangeTag::Delete, without_end(line).into()));
            continue;
        };
        let (removed, added) = match (line.strip_suffix('\n'), alike.strip_suffix('\n')) {
            (Some(line), Some(alike)) => distinct(line, alike),
            _ => distinct(line, alike),
        };
        lines.push((ChangeTag::Delete, removed.into_owned().into()));
        shown.insert(alike, added.into_owned().into());
    }
    let added = new.iter().map(|line| shown.get(line).cloned().unwrap_or_else(|| without_end(line).into()));
    lines.extend(added.map(|line| (ChangeTag::Insert, line)));
    lines
}

fn without_end(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

/// The differences as groups of operations on lines, with a bound for matching and the number of lines around a change.
pub(crate) fn grouped((bound, context): (usize, usize), old: &[&str], new: &[&str]) -> Vec<Vec<DiffOp>> {
    group_diff_ops(matched(bound, old, new), context)
}

/// The operations that turn one sequence of texts into the other. Without what is alike at both ends, more than `bound` texts on
/// both sides together are not matched: all of them are replaced.
pub(crate) fn matched(bound: usize, old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let old_rest = old.get(start..).unwrap_or_default();
    let new_rest = new.get(start..).unwrap_or_default();
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_len = old_rest.len().saturating_sub(end);
    let new_len = new_rest.len().saturating_sub(end);
    let old_end = start + old_len;
    let new_end = start + new_len;
    let mut ops = if old_len + new_len > bound {
        vec![
            DiffOp::Equal { old_index: 0, new_index: 0, len: start },
            DiffOp::Replace { old_index: start, old_len, new_index: start, new_len },
            DiffOp::Equal { old_index: old_end, new_index: new_end, len: end },
        ]
    } else {
        myers(old, new)
    };
    ops.retain(|op| !op.old_range().is_empty() || !op.new_range().is_empty());
    ops
}

/// Of the library's six algorithms only this one is compiled, and on numbers instead of texts.
fn myers(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let ids = IdentifyDistinct::<u32>::new(old, 0..old.len(), new, 0..new.len());
    let old = ids.old_lookup();
    let new = ids.new_lookup();
    let mut hook = Compact::new(Replace::new(Capture::new()), old, new);
    match myers::diff(&mut hook, old, ids.old_range(), new, ids.new_range()) {
        Ok(()) => hook.into_inner().into_inner().into_ops(),
        Err(impossible) => match impossible {},
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[track_caller]
    fn shown(bound: usize, old: &str, new: &str) -> String {
        let line = |(tag, text): &Line<'_>| format!("{tag}{text}\n");
        let groups = groups_within(bound, old, new);
        groups.iter().map(|group| group.iter().map(line).collect::<String>()).collect::<Vec<_>>().join("…\n")
    }

    #[test]
    fn changed_lines_stand_between_two_lines_of_context() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
        let new = "a\nb\nc\nx\ne\nf\ng\nh\ni\ny\n";
        assert_eq!(shown(100, old, new), " b\n c\n-d\n+x\n e\n f\n…\n h\n i\n-j\n+y\n");
        assert_eq!(shown(100, "a", "a\n"), "-a\n+a\\u{a}\n");
        assert_eq!(shown(100, "", "a\n"), "+a\n");
        assert_eq!(shown(100, "a\n", "a\n"), "");
    }

    #[test]
    fn lines_that_look_alike_are_distinguished() {
        let old = "proxy_read_timeout 90s;\nname gr\u{fc}n\nsame\nx\n";
        let new = "proxy_read_timeout 90s; \nname gru\u{308}n\nsame\n\u{a0}x\n";
        let shown = shown(100, old, new);
        for line in [
            "-proxy_read_timeout 90s;\n",
            "+proxy_read_timeout 90s;\\u{20}\n",
            "-name gr\\u{fc}n\n",
            "+name gru\\u{308}n\n",
            "+\u{a0}x\n",
        ] {
            assert!(shown.contains(line), "{line} in {shown}");
        }
        // A Cyrillic letter in one of two lines, next to a line that differs as well.
        assert_eq!(
            super::tests::shown(100, "host: sh\u{43e}p\nx\n", "host: shop\n"),
            "-host: sh\\u{43e}p\n-x\n+host: shop\n"
        );
    }

    #[test]
    fn what_differs_in_texts_beyond_the_bound_is_not_matched() {
        let old = "a\nb\nc\nd\ne\nf\n";
        let new = "a\nb\nc\nx\ne\ny\n";
        assert_eq!(shown(5, old, new), " b\n c\n-d\n-e\n-f\n+x\n+e\n+y\n");
        assert_eq!(shown(6, old, new), " b\n c\n-d\n+x\n e\n-f\n+y\n");
    }

    /// Without a bound such texts take minutes.
    #[test]
    fn very_long_texts_end() {
        let line = |at: usize, salt: usize| format!("{}\n", at * at % 1009 * salt % 97);
        let text = |salt: usize| (0..200_000).map(|at| line(at, salt)).collect::<Vec<_>>().concat();
        let old = text(3);
        let new = text(5);
        let start = Instant::now();
        assert_eq!(groups(&old, &new).len(), 1);
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}

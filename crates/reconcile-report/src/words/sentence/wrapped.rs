//! Text in as many lines as it needs, broken where a reader may pause: at blanks, but never inside of a command.

use reconcile_core::text::{middle_cut, width};

/// The word before a hint.
const HINT: &str = "hint: ";

/// A text in as many lines as it needs, broken at blanks, but not next to a warning sign and not inside of backquotes: what is in them is
/// a command, which somebody may copy. A word is never cut, so that a line with one word may be longer.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut quoted = quoted(text).into_iter().peekable();
    let is_at_sign = |end: usize| {
        let (before, after) = text.split_at_checked(end).unwrap_or_default();
        before.ends_with("⚠ ") || after.starts_with('⚠')
    };
    // The ends come in order, as the quoted parts do.
    let mut is_quoted = |end: usize| {
        while quoted.next_if(|(_, to)| *to < end).is_some() {}
        quoted.peek().is_some_and(|(from, _)| *from < end)
    };
    let ends = text.match_indices(' ').map(|(at, _)| at.saturating_add(1));
    let ends = ends.filter(|end| !is_at_sign(*end) && !is_quoted(*end));
    let words = ends.chain([text.len()]).scan(0, |start, end| {
        let word = text.get(*start..end);
        *start = end;
        word
    });
    broken(words, columns)
}

/// The positions of the first and the last backquote of each part in backquotes. A text of others may have one without the other: then
/// nothing is known.
fn quoted(text: &str) -> Vec<(usize, usize)> {
    let marks: Vec<usize> = text.match_indices('`').map(|(at, _)| at).collect();
    match marks.as_chunks::<2>() {
        (pairs, []) => pairs.iter().map(|[from, to]| (*from, *to)).collect(),
        _ => Vec::new(),
    }
}

/// A list in as many lines as it needs, broken after commas.
pub(crate) fn wrapped_list(text: &str, columns: usize) -> Vec<String> {
    broken(text.split_inclusive(", "), columns)
}

/// A hint in as many lines as it needs, each with its indentation; in one line without a width.
pub(crate) fn hint_lines(hint: &str, indent: usize, columns: Option<usize>) -> Vec<String> {
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(indent).saturating_sub(HINT.len()));
    let line = |(at, line): (usize, &String)| {
        let start = if at == 0 { HINT.to_owned() } else { " ".repeat(HINT.len()) };
        format!("{}{start}{line}", " ".repeat(indent))
    };
    wrapped(hint, room).iter().enumerate().map(line).collect()
}

/// A note below its line: wrapped, and each word that is too long without its middle, so that its start is always there.
pub(crate) fn note_lines(note: &str, columns: usize) -> Vec<String> {
    let mut lines = wrapped(note, columns);
    // A name that is cut in any case stays behind the word before it.
    if lines.get(1).is_some_and(|name| width(name) > columns) {
        let name = lines.remove(1);
        if let Some(first) = lines.first_mut() {
            *first = format!("{first} {name}");
        }
    }
    lines.iter().map(|line| middle_cut(line, columns)).collect()
}

/// The location of an object that is too long, without the folders at its start. The name of the file and the line stay as long as there
/// is room for them.
pub(crate) fn place_within(place: &str, columns: usize) -> String {
    if width(place) <= columns {
        return place.to_owned();
    }
    let mut rest = place;
    while let Some((_, below)) = rest.split_once('/') {
        rest = below;
        if width(rest).saturating_add(2) <= columns {
            return format!("…/{rest}");
        }
    }
    middle_cut(rest, columns)
}

fn broken<'t>(parts: impl Iterator<Item = &'t str>, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // The columns of the last line.
    let mut filled = 0_usize;
    for part in parts {
        let has_room = filled.saturating_add(width(part.trim_end())) <= columns;
        if let Some(line) = lines.last_mut().filter(|_| has_room) {
            line.push_str(part);
            filled = filled.saturating_add(width(part));
        } else {
            lines.push(part.to_owned());
            filled = width(part);
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_never_broken() {
        let hint = "run `kubectl reconcile access -f deploy/ --for blame` and `a b`, or ask somebody";
        for columns in [10, 20, 30, 40, 60] {
            let lines = wrapped(hint, columns);
            assert_eq!(lines.join(" "), hint);
            assert!(lines.iter().all(|line| line.matches('`').count() % 2 == 0), "{lines:?}");
        }
        assert_eq!(wrapped("one ` of many words", 8), ["one ` of", "many", "words"], "nobody knows what it opens");
        assert_eq!(hint_lines(hint, 2, None), [format!("  hint: {hint}")]);
        assert_eq!(hint_lines("a b c", 1, Some(8)), [" hint: a", "       b", "       c"]);
    }

    #[test]
    fn many_words_take_a_moment() {
        let words: Vec<String> = (0..20_000).map(|at| format!("`v{at} {at}`,")).collect();
        let text = words.join(" ");
        for columns in [80, usize::MAX] {
            for lines in [wrapped(&text, columns), wrapped_list(&text, columns)] {
                assert!(lines.join(" ") == text && lines.iter().all(|line| width(line) <= columns), "{}", lines.len());
            }
        }
    }

    #[test]
    fn locations_keep_the_name_of_the_file() {
        let place = "a/very/long/way/to/the/manifests/of/the/shop/web.yaml:12";
        assert_eq!(place_within(place, 80), place);
        assert_eq!(place_within(place, 30), "…/manifests/of/the/shop/web.yaml:12".replace("manifests/of/", "of/"));
        assert_eq!(place_within(place, 16), "…/web.yaml:12");
        assert_eq!(place_within("a/web.yaml:12 … 32 more", 23), "a/web.yaml:12 … 32 more");
        assert_eq!(place_within("b/a/web.yaml:12 … 32 more", 24), "…/web.yaml:12 … 32 more");
        let cut = place_within(&format!("a/{}.yaml:7", "x".repeat(90)), 20);
        assert!(width(&cut) <= 20 && cut.starts_with("xx") && cut.ends_with(":7"), "{cut}");
    }

    #[test]
    fn notes_begin_with_their_start() {
        let note = "by kubectl-edit 2026-11-20T10:00:00Z, anna@example.com or ben@example.com";
        assert_eq!(
            note_lines(note, 40),
            ["by kubectl-edit 2026-11-20T10:00:00Z,", "anna@example.com or ben@example.com"]
        );
        let long = note_lines(&format!("by {}", "x".repeat(128)), 40);
        assert!(matches!(&long[..], [line] if width(line) == 40 && line.starts_with("by xxx")), "{long:?}");
    }
}

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::command::{start_of_line, without_commands};
use super::hidden::is_hidden;

/// The spelling of `#` where a runner would take it for the beginning of a command.
const HASH: &str = "\\u{23}";

/// Makes untrusted text visible: control characters and escapes, which a terminal would act on, characters that set the direction
/// of writing, characters that fonts do not draw, and the commands that the runner of a pipeline reads anywhere in a line.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return without_commands(text, HASH);
    }
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|c| show(c, &mut shown));
    Cow::Owned(without_commands(&shown, HASH).into_owned())
}

/// Makes the characters of a whole line visible as it is printed. The line is no command of a pipeline either.
pub fn visible_line(line: &str) -> Cow<'_, str> {
    let shown = visible(line);
    let Some((start, rest)) = start_of_line(&shown).and_then(|at| shown.split_at_checked(at)) else {
        return shown;
    };
    Cow::Owned(format!("{start}\\u{{3a}}{}", rest.strip_prefix(':').unwrap_or(rest)))
}

/// Appends a character in its visible form.
pub(super) fn show(c: char, shown: &mut String) {
    match c {
        '\t' => shown.push_str("\\t"),
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        c if is_hidden(c) => shown.extend(c.escape_unicode()),
        c => shown.push(c),
    }
}

/// Number of columns of a text on a terminal, with its hidden characters made visible.
pub fn width(text: &str) -> usize {
    visible(text).width()
}

/// The start of a text that fits in this many columns.
pub fn start_within(text: &str, columns: usize) -> &str {
    let end = text.char_indices().find(beyond(columns));
    end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// The end of a text that fits in this many columns.
pub fn end_within(text: &str, columns: usize) -> &str {
    let before = text.char_indices().rev().find(beyond(columns));
    let Some((at, first)) = before else { return text };
    let end = text.get(at..).and_then(|end| end.strip_prefix(first)).unwrap_or_default();
    // A combining character does not begin a text.
    end.trim_start_matches(|c| columns_of(c) == 0)
}

/// Returns true from the first character on that does not fit in these columns.
fn beyond(columns: usize) -> impl FnMut(&(usize, char)) -> bool {
    let mut taken = 0_usize;
    move |(_, c)| {
        taken = taken.saturating_add(columns_of(*c));
        taken > columns
    }
}

/// Cuts the middle out of a text that does not fit in this many columns.
pub fn middle_cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let start = start_within(text, room.saturating_sub(room / 3));
    format!("{start}…{}", end_within(text, room.saturating_sub(width(start))))
}

fn columns_of(c: char) -> usize {
    if is_hidden(c) { width(c.encode_utf8(&mut [0; 4])) } else { c.width().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_reordering_characters_become_visible() {
        assert_eq!(visible("a\u{1b}[31mred"), "a\\u{1b}[31mred");
        assert_eq!(visible("user\u{202e}nimda"), "user\\u{202e}nimda");
        assert_eq!(visible("tab\there"), "tab\\there");
        assert_eq!(visible("plain → text"), "plain → text");
    }

    #[test]
    fn characters_that_are_ignored_by_default_become_visible() {
        for (hidden, name) in [
            ('\u{ad}', "soft hyphen"),
            ('\u{34f}', "combining grapheme joiner"),
            ('\u{115f}', "Hangul choseong filler"),
            ('\u{1160}', "Hangul jungseong filler"),
            ('\u{17b4}', "Khmer inherent vowel"),
            ('\u{180e}', "Mongolian vowel separator"),
            ('\u{200d}', "zero width joiner"),
            ('\u{2065}', "unassigned"),
            ('\u{3164}', "Hangul filler"),
            ('\u{fe0f}', "variation selector 16"),
            ('\u{ffa0}', "halfwidth Hangul filler"),
            ('\u{1bca0}', "shorthand format letter overlap"),
            ('\u{1d173}', "musical symbol begin beam"),
            ('\u{e0041}', "tag latin capital letter a"),
            ('\u{e01ef}', "variation selector 256"),
            ('\u{2028}', "line separator"),
            ('\u{85}', "next line"),
            ('\u{9b}', "control sequence introducer"),
        ] {
            let text = format!("ad{hidden}min");
            assert_eq!(visible(&text), format!("ad{}min", hidden.escape_unicode()), "{name}");
        }
    }

    #[test]
    fn commands_of_pipelines_are_only_text() {
        assert_eq!(visible("a ##vso[b.c]\u{ad}##\u{ad}[d]"), "a \\u{23}#vso[b.c]\\u{ad}##\\u{ad}[d]");
        assert_eq!(visible("::error::a"), "::error::a", "it may be in the middle of a line");
        assert_eq!(visible_line(" ::error::a ##[b]"), " \\u{3a}:error::a \\u{23}#[b]");
        assert_eq!(visible_line(&visible_line("::error::a\n")), visible_line("::error::a\n"));
    }

    #[test]
    fn what_is_drawn_stays() {
        for text in ["Grüße", "日本語", "שלום", "한글", "a\u{a0}b", "→ ± §", "👍", "e\u{301}"] {
            assert!(matches!(visible(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn wide_and_combining_characters_are_counted_as_they_are_shown() {
        for (text, columns) in [("abc", 3), ("日本", 4), ("e\u{301}", 1), ("a\u{1b}b", 8), ("\t", 2), ("→", 1)] {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }

    #[test]
    fn texts_are_cut_between_what_is_shown_as_one() {
        assert_eq!((start_within("日本語", 5), end_within("日本語", 5)), ("日本", "本語"));
        assert_eq!((start_within("ae\u{301}b", 2), end_within("ae\u{301}b", 1)), ("ae\u{301}", "b"));
        assert_eq!(end_within("xe\u{301}b", 1), "b");
        assert_eq!(middle_cut("registry.example.com/shop/web:1.3.0", 20), "registry.exam…:1.3.0");
        assert_eq!(middle_cut("short", 5), "short");
        for columns in 0..12 {
            assert!(width(&middle_cut("日本語日本語", columns)) <= columns.max(1));
        }
    }
}

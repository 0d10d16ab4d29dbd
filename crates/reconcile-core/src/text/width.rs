use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::visible::{is_hidden, visible};

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

//! Lines of a comparison, in which the words that differ are emphasised.

use similar::ChangeTag;

use super::markup::Markup;
use crate::words::line_diff::Line;
use crate::words::line_pairs;
use crate::words::word_diff::{Contrast, DiffedText};

/// Longest line that is shown in full: in columns, or in characters where nothing is compared to it.
const LINE: usize = 2_000;

/// Both texts, with the words that differ emphasised.
pub(super) fn emphasised(old: &str, new: &str) -> (Markup, Markup) {
    let contrast = Contrast::of(old, new);
    // Two texts with nothing in common differ as a whole, which the colour says already.
    let is_emphasised = !contrast.is_whole();
    let (live, desired) = contrast.within(LINE);
    (line(&live, is_emphasised), line(&desired, is_emphasised))
}

/// A line, with the words that differ emphasised.
fn line(text: &DiffedText, is_emphasised: bool) -> Markup {
    let mut markup = Markup::default();
    for (text, differs) in text.parts() {
        if differs && is_emphasised {
            markup.raw("<b>").text(text).raw("</b>");
        } else {
            markup.text(text);
        }
    }
    markup
}

/// Removed lines and the lines in their place, with the words that differ emphasised.
pub(super) fn replaced(lines: &[Line<'_>]) -> Vec<(ChangeTag, Markup)> {
    line_pairs::shown(lines, Some(LINE)).iter().map(|(tag, text)| (*tag, line(text, true))).collect()
}

/// The text, cut where it is very long.
pub(super) fn cut(text: &str) -> Markup {
    let mut markup = Markup::default();
    match text.char_indices().nth(LINE) {
        None => markup.text(text),
        Some((at, _)) => markup.text(text.get(..at).unwrap_or_default()).raw(" …"),
    };
    markup
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shown(old: &str, new: &str) -> [String; 2] {
        let (old, new) = emphasised(old, new);
        [old.finish(), new.finish()]
    }

    #[test]
    fn words_that_differ_are_emphasised() {
        assert_eq!(shown("shop/web:1.3.0", "shop/web:1.2.9"), ["shop/web:1.<b>3.0</b>", "shop/web:1.<b>2.9</b>"]);
        assert_eq!(
            shown("ttl = \"5m\"", "ttl = \"15m\""),
            ["ttl = &quot;<b>5m</b>&quot;", "ttl = &quot;<b>15m</b>&quot;"]
        );
        assert_eq!(shown("a b", "a b c"), ["a b", "a b<b> c</b>"]);
        assert_eq!(shown("debug", "info"), ["debug", "info"]);
        assert_eq!(shown("größe eins", "größe zwei"), ["größe <b>eins</b>", "größe <b>zwei</b>"]);
        assert_eq!(shown("aa", "aaa"), ["aa", "aaa"]);
    }

    #[test]
    fn the_difference_of_long_lines_is_in_sight() {
        let text = |tail: &str| format!("{} {tail}", "x".repeat(100_000));
        let [old, new] = shown(&text("<1>"), &text("<2>"));
        assert!(old.len() < 200 && old.ends_with("&lt;<b>1</b>&gt;"), "{old}");
        assert!(new.len() < 200 && new.ends_with("&lt;<b>2</b>&gt;"), "{new}");
        assert!(cut(&"y".repeat(100_000)).finish().len() < 2_100);
    }
}

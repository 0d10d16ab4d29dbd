//! Compares two lines word by word: the words between their common start and their common end differ.

use super::markup::Markup;

/// Longest line that is shown in full, in characters.
const LINE: usize = 2_000;
/// Length of the common start that is shown of a longer line, in characters.
const AROUND: usize = 80;

/// Both lines, with the words that differ emphasised.
pub(super) fn emphasised(old: &str, new: &str) -> (Markup, Markup) {
    let start = common_start(old, new);
    let (old_rest, new_rest) = (old.get(start..).unwrap_or_default(), new.get(start..).unwrap_or_default());
    let end = common_end(old_rest, new_rest);
    let common = old.get(..start).unwrap_or_default();
    let one = |rest: &str| {
        let (middle, tail) = rest.split_at_checked(rest.len().saturating_sub(end)).unwrap_or((rest, ""));
        let mut markup = Markup::default();
        markup.append(&head(common));
        // Two lines without a common word differ as a whole, which the colour says already.
        if common.trim().is_empty() && tail.trim().is_empty() || middle.is_empty() {
            markup.append(&cut(middle));
        } else {
            markup.raw("<b>").append(&cut(middle)).raw("</b>");
        }
        markup.append(&cut(tail));
        markup
    };
    (one(old_rest), one(new_rest))
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

/// Writes the common start, or only its end if it is long.
fn head(text: &str) -> Markup {
    let mut markup = Markup::default();
    let length = text.chars().count();
    if length <= LINE / 10 {
        markup.text(text);
        return markup;
    }
    let from = text.char_indices().nth(length.saturating_sub(AROUND)).map_or(0, |(at, _)| at);
    markup.raw("… ").text(text.get(from..).unwrap_or_default());
    markup
}

/// Length of the common start in bytes, up to the end of a word.
fn common_start(old: &str, new: &str) -> usize {
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a);
    let length: usize = same.map(char::len_utf8).sum();
    let in_word = |text: &str| text.get(length..).and_then(|rest| rest.chars().next()).is_some_and(is_word);
    if !in_word(old) && !in_word(new) {
        return length;
    }
    let common = old.get(..length).unwrap_or_default();
    common.trim_end_matches(is_word).len()
}

/// Length of the common end in bytes, from the start of a word.
fn common_end(old: &str, new: &str) -> usize {
    let same = old.chars().rev().zip(new.chars().rev()).take_while(|(a, b)| a == b).map(|(a, _)| a);
    let length: usize = same.map(char::len_utf8).sum();
    let before = |text: &str| text.len().checked_sub(length).and_then(|at| text.get(..at)).map(str::to_owned);
    let in_word = |text: &str| before(text).is_some_and(|text| text.ends_with(is_word));
    if !in_word(old) && !in_word(new) {
        return length;
    }
    let common = old.len().checked_sub(length).and_then(|at| old.get(at..)).unwrap_or_default();
    common.trim_start_matches(is_word).len()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
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

use std::borrow::Cow;
use std::fmt::Write as _;

use strsim::osa_distance;
use unicode_normalization::{UnicodeNormalization as _, is_nfkc_quick};
use unicode_security::skeleton;

use super::visible::visible;

/// Two different texts with everything visible that distinguishes them. Characters that look alike (composed and decomposed letters,
/// letters of several scripts, kinds of blanks, blanks at the end) become escapes where the texts differ and would read the same.
pub fn distinct<'t>(a: &'t str, b: &'t str) -> (Cow<'t, str>, Cow<'t, str>) {
    if a != b && reads_alike(a, b) {
        let (a, b) = escaped_where_different(a, b);
        return (Cow::Owned(a), Cow::Owned(b));
    }
    (visible(a), visible(b))
}

/// Returns true if nobody could distinguish the texts as they are shown.
pub fn reads_alike(a: &str, b: &str) -> bool {
    look(a) == look(b) || is_confusable(a, b)
}

/// Returns true if two different texts read the same as letters of one script look like those of another, such as the Latin and the
/// Cyrillic `a` (Unicode Technical Standard 39). Letters and digits of ASCII are distinct from each other, and so is an ellipsis.
fn is_confusable(a: &str, b: &str) -> bool {
    let (start, end) = common_ends(a, b);
    let (Some(a), Some(b)) = (a.get(start..a.len().saturating_sub(end)), b.get(start..b.len().saturating_sub(end)))
    else {
        return false;
    };
    let a = visible(a);
    let b = visible(b);
    let is_foreign = |text: &str| text.chars().any(|c| !c.is_ascii() && c != '…');
    a != b && (is_foreign(&a) || is_foreign(&b)) && skeleton(&a).eq(skeleton(&b))
}

/// The appearance of a text: equal for texts that look alike.
pub fn look(text: &str) -> Cow<'_, str> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() && !matches!(c, '\t' | '\r'));
    let shown = visible(text);
    if shown.is_ascii() || is_nfkc_quick(shown.chars()) == unicode_normalization::IsNormalized::Yes {
        return shown;
    }
    Cow::Owned(shown.nfkc().collect())
}

/// The appearance of a text in which letters of several scripts look alike. Equal for texts that [`reads_alike`] is true for, and for some
/// others.
pub fn outline(text: &str) -> String {
    skeleton(&look(text)).collect()
}

/// The texts with an escape for each character that is not plain ASCII, between their common start and end.
fn escaped_where_different(a: &str, b: &str) -> (String, String) {
    let (start, end) = common_ends(a, b);
    let escape = |text: &str| {
        let (head, rest) = text.split_at_checked(start).unwrap_or((text, ""));
        let (middle, tail) = rest.split_at_checked(rest.len().saturating_sub(end)).unwrap_or((rest, ""));
        format!("{}{}{}", visible(head), escaped(middle), visible(tail))
    };
    (escape(a), escape(b))
}

/// The lengths of the common start and the common end of two texts, in bytes; they do not overlap.
pub fn common_ends(a: &str, b: &str) -> (usize, usize) {
    let same = |(a, b): &(char, char)| a == b;
    let start: usize = a.chars().zip(b.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let a = a.get(start..).unwrap_or_default();
    let b = b.get(start..).unwrap_or_default();
    let end = a.chars().rev().zip(b.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    (start, end)
}

/// A text in ASCII with a spelling of its own for each text: every other character, blanks, backslashes and quotes are escapes.
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_graphic() && !matches!(c, '\\' | '"') {
            shown.push(c);
        } else {
            let _ = write!(shown, "{}", c.escape_unicode());
        }
    }
    shown
}

/// Maximum length of a name that is compared with others, in characters: each comparison takes its square.
const LONGEST_NAME: usize = 256;

/// The most similar name, if one is similar enough.
pub fn similar<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let bound = (name.chars().count() / 3).clamp(1, 3);
    let lower = name.to_lowercase();
    let length = lower.chars().count();
    let is_near = |known: &str| length <= LONGEST_NAME && known.chars().count().abs_diff(length) <= bound;
    names
        .map(|known| (known.to_lowercase(), known))
        .filter(|(known_lower, _)| is_near(known_lower))
        .map(|(known_lower, known)| (osa_distance(&lower, &known_lower), known))
        .filter(|(distance, _)| *distance <= bound)
        .min()
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_looks_alike_is_shown_as_escapes() {
        for (a, b, shown) in [
            ("gr\u{fc}n", "gru\u{308}n", ("gr\\u{fc}n", "gru\\u{308}n")),
            ("a b", "a\u{a0}b", ("a\\u{20}b", "a\\u{a0}b")),
            ("timeout 90s ", "timeout 90s", ("timeout 90s\\u{20}", "timeout 90s")),
            ("a\u{200b}", "a\\u{200b}", ("a\\u{200b}", "a\\u{5c}u{200b}")),
            ("line\n", "line", ("line\\u{a}", "line")),
            ("\u{fb01}ne", "fine", ("\\u{fb01}ne", "fine")),
            ("a\u{200b}", "a", ("a\\u{200b}", "a")),
            ("\ta", "  a", ("\\ta", "  a")),
            ("größe", "grosse", ("größe", "grosse")),
            // Cyrillic and Greek letters, a dash and a slash that look like those of ASCII.
            ("shop/w\u{435}b", "shop/web", ("shop/w\\u{435}b", "shop/web")),
            ("\u{406}", "I", ("\\u{406}", "I")),
            ("p\u{3bf}rt", "p\u{43e}rt", ("p\\u{3bf}rt", "p\\u{43e}rt")),
            ("\u{2013}v", "-v", ("\\u{2013}v", "-v")),
            ("a\u{2215}b", "a/b", ("a\\u{2215}b", "a/b")),
            // In a script of its own, a word has no letters of another one to be taken for.
            ("привет", "пока", ("привет", "пока")),
            ("O", "0", ("O", "0")),
            ("a…I", "a…l", ("a…I", "a…l")),
        ] {
            let (shown_a, shown_b) = distinct(a, b);
            assert_eq!((shown_a.as_ref(), shown_b.as_ref()), shown, "{a:?} {b:?}");
        }
    }

    proptest! {
        #[test]
        fn different_texts_never_look_alike(a in "\\PC{0,6}|[aeIlаеіο–… \u{301}\u{e9}\u{a0}\\\\u{}0-9\u{200b}\t\n]{0,12}", b in "\\PC{0,6}|[aeIlаеіο–… \u{301}\u{e9}\u{a0}\\\\u{}0-9\u{200b}\t\n]{0,12}") {
            let (shown_a, shown_b) = distinct(&a, &b);
            prop_assert_eq!(a == b, shown_a == shown_b);
            prop_assert!(a == b || !reads_alike(&shown_a, &shown_b), "{:?} {:?}", shown_a, shown_b);
        }
    }
}

//! Two values side by side: their differences are emphasised, and their common parts are shortened so that the differences stay
//! visible.

use std::ops::Range;

use reconcile_core::text::{distinct, end_within, escaped, reads_alike, start_within, width};
use serde_json::Value;
use similar::DiffOp;

use super::cut::{Kind, LEAST, around_difference, around_escapes, omission};
use super::inline;
use super::line_diff::matched;
use crate::words::styled::{Role, Styled};

/// Most words of both sides together, without their common start and end, that are matched with each other. Of longer texts, only
/// the common start and end count as equal.
const MATCHED: usize = 1_000;
/// Largest width of an equal part that is never shortened, in columns.
const ALIKE: usize = 10;
/// Width of an equal part that stays next to a difference, in columns.
const BESIDE: usize = 8;
/// Most characters in a column: any number of combining characters fits in one.
const IN_COLUMN: usize = 4;

/// The equal and the different parts of two texts, with everything visible that distinguishes them.
pub(crate) struct Contrast {
    pub live: DiffedText,
    pub desired: DiffedText,
    kind: Kind,
}

/// One of the two texts, in parts. Both sides have the same number of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiffedText(Vec<Segment>);

/// A part of a text that is equal on both sides, or differs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    text: String,
    differs: bool,
}

impl Contrast {
    /// Compares two lines.
    pub fn of(live: &str, desired: &str) -> Self {
        Self::compared(live, desired, Kind::Line)
    }

    /// Compares two values, each on one line.
    pub fn of_values(live: &Value, desired: &Value) -> Self {
        Self::compared(&inline(live), &inline(desired), Kind::Value)
    }

    fn compared(live: &str, desired: &str, kind: Kind) -> Self {
        let (live, desired) = distinct(live, desired);
        let live = live.as_ref();
        let desired = desired.as_ref();
        let old = words(live);
        let new = words(desired);
        let mut sides = (Vec::new(), Vec::new());
        for op in matched(MATCHED, &old, &new) {
            let differs = !matches!(op, DiffOp::Equal { .. });
            let text = |words: &[&str], range: Range<usize>| words.get(range).unwrap_or_default().concat();
            let live = text(&old, op.old_range());
            let desired = text(&new, op.new_range());
            let (live, desired) = distinct(&live, &desired);
            sides.0.push(Segment { text: live.into_owned(), differs });
            sides.1.push(Segment { text: desired.into_owned(), differs });
        }
        join_short(&mut sides.0, &mut sides.1);
        let alike: usize = sides.0.iter().filter(|part| !part.differs).map(|part| part.text.len()).sum();
        let is_other = alike.saturating_mul(3) < live.len().min(desired.len());
        let [live, desired] =
            [sides.0, sides.1].map(|side| if is_other { DiffedText::whole(&side) } else { DiffedText::of(side) });
        Self { live, desired, kind }
    }

    /// Returns true if the texts have no equal part, so that nothing needs to be emphasised.
    pub fn is_whole(&self) -> bool {
        self.live.0.iter().chain(&self.desired.0).all(|part| part.differs)
    }

    /// Both sides in full.
    pub fn whole(&self) -> (DiffedText, DiffedText) {
        (self.live.clone(), self.desired.clone())
    }

    /// Both sides, with their equal parts shortened to the words next to a difference.
    pub fn shortened(&self) -> (DiffedText, DiffedText) {
        (self.live.shortened(self.kind), self.desired.shortened(self.kind))
    }

    /// Fits both sides into this many columns each, but at least 20. Different texts never read the same: equal parts are shortened first,
    /// then the text is cut around the first and the last difference.
    pub fn within(&self, columns: usize) -> (DiffedText, DiffedText) {
        let columns = columns.max(LEAST);
        let live = self.live.text();
        let desired = self.desired.text();
        let fits = |pair: &(DiffedText, DiffedText)| {
            pair.0.fits(columns) && pair.1.fits(columns) && are_distinct(&pair.0, &pair.1)
        };
        let whole = self.whole();
        if fits(&whole) || live == desired && whole.0.fits(columns) {
            return whole;
        }
        let cut = |live: &str, desired: &str| {
            around_difference(live, desired, columns, self.kind).map(DiffedText::around_difference).into()
        };
        [self.shortened(), cut(&live, &desired)]
            .into_iter()
            .find(fits)
            .unwrap_or_else(|| cut(&escaped(&live), &escaped(&desired)))
    }
}

/// Returns true if two sides do not read the same.
pub(crate) fn are_distinct(live: &DiffedText, desired: &DiffedText) -> bool {
    !reads_alike(&live.text(), &desired.text())
}

/// Runs of letters and digits, and every other character by itself.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut in_word = false;
    for (at, c) in text.char_indices() {
        let is_letter = c.is_alphanumeric() || c == '_';
        if at > start && !(in_word && is_letter) {
            words.extend(text.get(start..at));
            start = at;
        }
        in_word = is_letter;
    }
    words.extend(text.get(start..).filter(|last| !last.is_empty()));
    words
}

/// Joins equal parts of one or two characters with the differences around them, such as the dot in a version. Both sides have the
/// same parts.
fn join_short(live: &mut [Segment], desired: &mut [Segment]) {
    let mut is_after_difference = false;
    let differs: Vec<bool> = live.iter().map(|part| part.differs).collect();
    let before = differs.into_iter().skip(1).chain([false]);
    for ((live, desired), is_before_difference) in live.iter_mut().zip(desired).zip(before) {
        if is_after_difference && is_before_difference && live.text.chars().count() <= 2 {
            (live.differs, desired.differs) = (true, true);
        }
        is_after_difference = live.differs;
    }
}

impl DiffedText {
    fn of(parts: Vec<Segment>) -> Self {
        let mut joined: Vec<Segment> = Vec::new();
        for part in parts {
            match joined.last_mut() {
                Some(last) if last.differs == part.differs => last.text.push_str(&part.text),
                _ => joined.push(part),
            }
        }
        Self(joined)
    }

    /// A text in which nothing differs.
    pub fn equal(text: impl Into<String>) -> Self {
        Self(vec![Segment { text: text.into(), differs: false }])
    }

    /// A text with one difference, from the texts before it, of it and after it.
    fn around_difference([before, differing, after]: [String; 3]) -> Self {
        let part = |text: String, differs: bool| Segment { text, differs };
        Self(vec![part(before, false), part(differing, true), part(after, false)])
    }

    /// All parts as one difference.
    fn whole(parts: &[Segment]) -> Self {
        Self(vec![Segment { text: parts.iter().map(|part| part.text.as_str()).collect(), differs: true }])
    }

    pub fn width(&self) -> usize {
        self.0.iter().map(|part| width(&part.text)).sum()
    }

    /// The text without emphasis.
    pub fn text(&self) -> String {
        self.0.iter().map(|part| part.text.as_str()).collect()
    }

    fn fits(&self, columns: usize) -> bool {
        let characters: usize = self.0.iter().map(|part| part.text.chars().count()).sum();
        self.width() <= columns && characters <= columns.saturating_mul(IN_COLUMN)
    }

    /// Shortens the equal parts to the words next to a difference.
    fn shortened(&self, kind: Kind) -> Self {
        let text = self.text();
        let last = self.0.len().saturating_sub(1);
        let mut start = 0_usize;
        let mut parts = Vec::with_capacity(self.0.len());
        for (at, part) in self.0.iter().enumerate() {
            let end = start.saturating_add(part.text.len());
            let mut shown = part.clone();
            if !part.differs && width(&part.text) > ALIKE {
                let head = if at == 0 { "" } else { head(&part.text) };
                let tail = if at == last { "" } else { tail(&part.text) };
                let omitted = (start.saturating_add(head.len()), end.saturating_sub(tail.len()));
                let omitted = around_escapes(&text, omitted);
                let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
                let gap = omission(&text, omitted, kind);
                shown.text = format!("{}{gap}{}", part(start, omitted.0), part(omitted.1, end));
            }
            parts.push(shown);
            start = end;
        }
        Self(parts)
    }

    /// Its parts in order, and whether they differ from the other side.
    pub fn parts(&self) -> impl Iterator<Item = (&str, bool)> {
        self.0.iter().filter(|part| !part.text.is_empty()).map(|part| (part.text.as_str(), part.differs))
    }

    /// Appends the text, with the differences emphasised.
    pub fn show(&self, text: &mut Styled, role: Role, emphasis: Role) {
        for (part, differs) in self.parts() {
            text.push(if differs { emphasis } else { role }, part);
        }
    }
}

/// The start of an equal part that stays after a difference: up to a separator, if one is near.
fn head(text: &str) -> &str {
    let head = start_within(text, BESIDE);
    head.rfind(is_separator).filter(|at| *at > 0).and_then(|at| head.get(..=at)).unwrap_or(head)
}

/// The end of an equal part that stays before a difference: from a separator on, if one is near.
fn tail(text: &str) -> &str {
    let tail = end_within(text, BESIDE);
    let end = tail.find(is_separator).and_then(|at| tail.get(at..));
    end.filter(|end| end.len() > 1).unwrap_or(tail)
}

fn is_separator(c: char) -> bool {
    matches!(c, '/' | ' ' | ',' | ';' | ':' | '=' | '&' | '?')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reconcile_core::text::visible;
    use serde_json::json;

    use super::*;

    fn shown(side: &DiffedText) -> String {
        side.parts().map(|(text, differs)| if differs { format!("[{text}]") } else { text.to_owned() }).collect()
    }

    #[track_caller]
    fn contrast(live: &str, desired: &str) -> (String, String) {
        let contrast = Contrast::of(live, desired);
        (shown(&contrast.live), shown(&contrast.desired))
    }

    #[test]
    fn what_differs_is_found_word_by_word() {
        let (live, desired) = contrast("registry.example.com/shop/web:1.3.0", "registry.example.com/shop/web:1.2.9");
        assert_eq!(live, "registry.example.com/shop/web:1.[3.0]");
        assert_eq!(desired, "registry.example.com/shop/web:1.[2.9]");
        assert_eq!(contrast("a b c", "a c"), ("a [b ]c".to_owned(), "a c".to_owned()));
        assert_eq!(contrast("debug", "info"), ("[debug]".to_owned(), "[info]".to_owned()));
        assert_eq!(contrast("", "info"), (String::new(), "[info]".to_owned()));
    }

    #[test]
    fn what_is_alike_is_left_out_and_what_differs_stays() {
        let contrast = Contrast::of("registry.example.com/shop/web:1.3.0", "registry.example.com/shop/web:1.2.9");
        assert_eq!(shown(&contrast.shortened().1), "…/web:1.[2.9]");
        let contrast = Contrast::of(
            &format!("--flag={} --level=debug --x={}", "a".repeat(50), "b".repeat(50)),
            &format!("--flag={} --level=info --x={}", "a".repeat(50), "b".repeat(50)),
        );
        assert_eq!(shown(&contrast.shortened().0), "…--level=[debug] --x=…");
        for columns in LEAST..60 {
            let (live, desired) = contrast.within(columns);
            assert!(live.width() <= columns && desired.width() <= columns, "{columns}");
        }
        let long = Contrast::of(&"x".repeat(500), &"y".repeat(500));
        assert!(long.is_whole() && long.within(40).0.width() <= 40);
    }

    #[track_caller]
    fn cut(live: &str, desired: &str, columns: usize) -> (String, String) {
        let (live, desired) = Contrast::of_values(&live.into(), &desired.into()).within(columns);
        (live.text(), desired.text())
    }

    #[test]
    fn long_values_are_cut_around_their_differences() {
        let same = "x".repeat(300);
        let text = |a: &str, b: &str| format!("{same}{a}{same}{b}{same}");
        let both = |live: &str, desired: &str| (live.to_owned(), desired.to_owned());
        assert_eq!(cut(&text("1", ""), &text("2", ""), 20), both("…xxx1xxx…", "…xxx2xxx…"));
        assert_eq!(cut(&text("1", "3"), &text("2", "4"), 20), both("…xxx1xxxxxx…xx3xxx…", "…xxx2xxxxxx…xx4xxx…"));
        let flags = |heap: &str| format!("-Xmx{heap} -Xms256m, -XX:+UseG1GC -XX:MaxGCPauseMillis=200");
        assert_eq!(cut(&flags("1g"), &flags("512m"), 24), both("\"-Xmx1g -Xms256…\"", "\"-Xmx512m -Xms256…\""));
        let quoted = ("#1 and a long comment, after which it ends", "#2 and a long comment, after which it ends");
        assert_eq!(cut(quoted.0, quoted.1, 24), both("\"#1 and a …\"", "\"#2 and a …\""));
        let names = ("pay.example.com, api.pay.example.com", "pay.example.com");
        assert_eq!(cut(names.0, names.1, 34), both("…mple.com, api.pay.example.com", "…mple.com"));
        let marks = format!("e{}", "\u{301}".repeat(5_000));
        let (live, desired) = cut(&marks, "e", 40);
        assert!(live.len() < 100 && live != desired, "{live} {desired}");
    }

    fn any_text() -> impl Strategy<Value = String> {
        let words = "(a|b|\u{430}|I|l|\u{406}|\u{2013}|-| |\"|'|, |\\\\|\\{x: |\\}|\u{301}|\u{e9}|e|\u{a0}|\u{200b}|…|日本|👍🏽|→|\\n|\t|#){0,60}";
        prop_oneof![words, "\\PC{0,40}", any::<String>(), "a{0,400}", "[ab]{0,90}"]
    }

    /// Unescaped quotes; odd if a string does not end.
    fn quotes(text: &str) -> usize {
        let plain = text.replace("\\\\", "").replace("\\\"", "");
        plain.matches('"').count()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn what_is_shown_of_two_values_is_never_the_same(
            start in any_text(), a in any_text(), b in any_text(), end in any_text(), columns in 20..300_usize,
        ) {
            let live = format!("{start}{a}{end}");
            let desired = format!("{start}{b}{end}");
            for kind in [Kind::Line, Kind::Value] {
                let contrast = match kind {
                    Kind::Line => Contrast::of(&live, &desired),
                    Kind::Value => Contrast::of_values(&json!([live]), &json!([desired])),
                };
                let (old, new) = contrast.within(columns);
                prop_assert!(old.width() <= columns && new.width() <= columns, "{:?} {:?}", old, new);
                let old = old.text();
                let new = new.text();
                let shown = (visible(&old).into_owned(), visible(&new).into_owned());
                prop_assert_eq!((&shown.0, &shown.1), (&old, &new), "nothing is hidden");
                prop_assert_eq!(live == desired, reads_alike(&old, &new), "{} | {}", old, new);
                if kind == Kind::Value {
                    prop_assert!(quotes(&old).is_multiple_of(2) && quotes(&new).is_multiple_of(2), "{} | {}", old, new);
                }
            }
        }
    }

    #[test]
    fn very_long_texts_are_compared_at_their_ends() {
        let text = |word: &str| format!("{} {word} {}", "a ".repeat(100_000), "b ".repeat(100_000));
        let contrast = Contrast::of(&text("one"), &text("two"));
        assert!(shown(&contrast.live).contains("[one]") && shown(&contrast.desired).contains("[two]"));
        let text = |word: &str, times: usize| "same ".repeat(5_000) + &format!("{word} and ").repeat(times);
        for (times, parts) in [(100, 100), (600, 1)] {
            let contrast = Contrast::of(&text("one", times), &text("two", times));
            assert_eq!(contrast.live.parts().filter(|(_, differs)| *differs).count(), parts);
        }
    }
}

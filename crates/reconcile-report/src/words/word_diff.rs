//! Two values side by side: their differences are emphasised, and their common parts are shortened so that the differences stay
//! visible.

use reconcile_core::text::{end_within, middle_cut, start_within, width};
use similar::DiffOp;

use super::line_diff::matched;
use super::styled::{Role, Styled};

/// Most words of both sides together, without their common start and end, that are matched with each other. Of longer texts, only
/// the common start and end count as equal.
const MATCHED: usize = 1_000;
/// Largest width of an equal part that is never shortened, in columns.
const ALIKE: usize = 10;
/// Width of an equal part that stays next to a difference, in columns.
const BESIDE: usize = 8;

/// The equal and the different parts of two texts.
pub(crate) struct Contrast {
    pub live: Side,
    pub desired: Side,
}

/// One of the two texts, in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Side(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    text: String,
    differs: bool,
}

impl Contrast {
    pub fn of(live: &str, desired: &str) -> Self {
        let (old, new) = (words(live), words(desired));
        let mut sides = (Vec::new(), Vec::new());
        for op in matched(MATCHED, &old, &new) {
            let differs = !matches!(op, DiffOp::Equal { .. });
            for (side, words) in [(&mut sides.0, old.get(op.old_range())), (&mut sides.1, new.get(op.new_range()))] {
                side.push(Part { text: words.unwrap_or_default().concat(), differs });
            }
        }
        join_short(&mut sides.0, &mut sides.1);
        let alike: usize = sides.0.iter().filter(|part| !part.differs).map(|part| part.text.len()).sum();
        if alike.saturating_mul(3) < live.len().min(desired.len()) {
            let whole = |text: &str| Side(vec![Part { text: text.to_owned(), differs: true }]);
            return Self { live: whole(live), desired: whole(desired) };
        }
        Self { live: Side::of(sides.0), desired: Side::of(sides.1) }
    }

    /// Returns true if the texts have no equal part, so that nothing needs to be emphasised.
    pub fn is_whole(&self) -> bool {
        self.live.0.iter().chain(&self.desired.0).all(|part| part.differs)
    }
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
fn join_short(live: &mut [Part], desired: &mut [Part]) {
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

impl Side {
    fn of(parts: Vec<Part>) -> Self {
        let mut joined: Vec<Part> = Vec::new();
        for part in parts.into_iter().filter(|part| !part.text.is_empty()) {
            match joined.last_mut() {
                Some(last) if last.differs == part.differs => last.text.push_str(&part.text),
                _ => joined.push(part),
            }
        }
        Self(joined)
    }

    pub fn width(&self) -> usize {
        self.0.iter().map(|part| width(&part.text)).sum()
    }

    /// Shortens the equal parts to the words next to a difference.
    pub fn shortened(&self) -> Self {
        let last = self.0.len().saturating_sub(1);
        let part = |(at, part): (usize, &Part)| {
            if part.differs || width(&part.text) <= ALIKE {
                return part.clone();
            }
            let head = if at == 0 { "" } else { head(&part.text) };
            let tail = if at == last { "" } else { tail(&part.text) };
            Part { text: format!("{head}…{tail}"), differs: false }
        };
        Self(self.0.iter().enumerate().map(part).collect())
    }

    /// Fits the text into this many columns: the equal parts are shortened first, then the middle of the differences.
    pub fn within(&self, columns: usize) -> Self {
        if self.width() <= columns {
            return self.clone();
        }
        let short = self.shortened();
        if short.width() <= columns {
            return short;
        }
        let differing = short.0.iter().filter(|part| part.differs).count().max(1);
        let alike: usize = short.0.iter().filter(|part| !part.differs).map(|part| width(&part.text)).sum();
        let each = columns.saturating_sub(alike).checked_div(differing).unwrap_or_default();
        if each < BESIDE {
            let whole: String = short.0.iter().map(|part| part.text.as_str()).collect();
            return Self(vec![Part { text: middle_cut(&whole, columns), differs: true }]);
        }
        let cut = |part: &Part| Part {
            text: if part.differs { middle_cut(&part.text, each) } else { part.text.clone() },
            ..*part
        };
        Self(short.0.iter().map(cut).collect())
    }

    /// Its parts in order, and whether they differ from the other side.
    pub fn parts(&self) -> impl Iterator<Item = (&str, bool)> {
        self.0.iter().map(|part| (part.text.as_str(), part.differs))
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
    use super::*;

    fn shown(side: &Side) -> String {
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
        assert_eq!(shown(&contrast.desired.shortened()), "…/web:1.[2.9]");
        let contrast = Contrast::of(
            &format!("--flag={} --level=debug --x={}", "a".repeat(50), "b".repeat(50)),
            &format!("--flag={} --level=info --x={}", "a".repeat(50), "b".repeat(50)),
        );
        assert_eq!(shown(&contrast.live.shortened()), "…--level=[debug] --x=…");
        for columns in 1..60 {
            assert!(contrast.live.within(columns).width() <= columns, "{columns}");
        }
        let long = Contrast::of(&"x".repeat(500), &"y".repeat(500));
        assert!(long.is_whole() && long.live.within(40).width() <= 40);
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

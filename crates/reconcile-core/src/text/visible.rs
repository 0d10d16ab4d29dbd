use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The spelling of `#` where a runner would take it for the beginning of a command.
const HASH: &str = "\\u{23}";
/// Characters with the property `Default_Ignorable_Code_Point` (Unicode 16, `DerivedCoreProperties.txt`), in order.
const IGNORABLE: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

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

/// A text, and spaces up to this many columns.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
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

/// Finds where a CI runner would start parsing a workflow command in a line: positions in bytes, in order.
///
/// | runner | command | its source |
/// | --- | --- | --- |
/// | GitHub Actions | `::name::` at the start of a line, `##[name]` anywhere | actions/runner, `src/Runner.Common/ActionCommand.cs` |
/// | Azure Pipelines | `##vso[area.event]` anywhere, `##[name]` at the start | azure-pipelines-agent, `Command.cs` |
/// | `TeamCity` | `##teamcity[name]` anywhere | documentation of service messages |
///
/// Blanks before the start do not count, and .NET also skips characters in a comparison that have no weight in the order of the
/// alphabet. The markers of GitLab need control characters, which are never printed.
pub fn command_starts(line: &str) -> Vec<usize> {
    start_of_line(line).into_iter().chain(hashes(line)).collect()
}

/// Escapes the first character of each command that a runner would find anywhere in a line. `escape` is the spelling of `#`.
pub(super) fn without_commands<'t>(text: &'t str, escape: &str) -> Cow<'t, str> {
    let starts: Vec<usize> = hashes(text).collect();
    if starts.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len().saturating_add(starts.len().saturating_mul(escape.len())));
    for (at, c) in text.char_indices() {
        if starts.binary_search(&at).is_ok() {
            safe.push_str(escape);
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// Returns true if a line of a text has a command of a runner.
pub(super) fn has_command(text: &str) -> bool {
    text.split('\n').any(|line| start_of_line(line).is_some() || hashes(line).next().is_some())
}

/// `::` at the start of a line.
fn start_of_line(line: &str) -> Option<usize> {
    let start = line.trim_start_matches(|c: char| c.is_whitespace() || may_be_weightless(c));
    let second = start.strip_prefix(':')?.trim_start_matches(may_be_weightless);
    second.starts_with(':').then(|| line.len().saturating_sub(start.len()))
}

/// `##[` and `##word[` anywhere.
fn hashes(line: &str) -> impl Iterator<Item = usize> {
    let opens = |at: &usize| {
        let rest = line.get(*at..).and_then(|rest| rest.strip_prefix('#')).unwrap_or_default();
        let second = rest.trim_start_matches(may_be_weightless).strip_prefix('#').unwrap_or_default();
        second
            .trim_start_matches(|c: char| c.is_alphanumeric() || "_-.".contains(c) || may_be_weightless(c))
            .starts_with('[')
    };
    line.match_indices('#').map(|(at, _)| at).filter(opens)
}

/// Returns true for every character that may have no weight, and for some that have one.
fn may_be_weightless(c: char) -> bool {
    !c.is_ascii() && !c.is_alphanumeric()
}

/// Returns the same JSON with an escape for what a terminal would hide or act on, and for what a pipeline would take for a command.
/// These characters are in strings only, where an escape means the same.
pub fn harmless_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_hidden(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    without_commands(&shown, "\\u0023").into_owned()
}

/// Returns true for a character that a terminal acts on or does not draw: a control character, a line or paragraph separator,
/// an interlinear annotation, a blank Braille pattern, or one that is ignored by default.
pub fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{2800}' | '\u{fff9}'..='\u{fffb}')
        || IGNORABLE.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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

    #[test]
    fn commands_of_runners_are_found() {
        for (line, starts) in [
            ("::add-mask::x", &[0][..]),
            ("\u{a0} \u{3000}::add-mask::x", &[6]),
            ("\u{600}:\u{600}:error::x", &[2]),
            ("##[error]x", &[0]),
            ("a ##[stop-commands]t", &[2]),
            ("a ##vso[task.complete result=Succeeded;]done", &[2]),
            ("##teamcity[buildStatus] ###[x]", &[0, 25]),
            ("#\u{600}#\u{600}vso\u{600}[a.b]", &[0]),
            ("a ::b::", &[]),
            ("日本::b::", &[]),
            ("#ä#[b]", &[]),
            ("a: b", &[]),
            (": a", &[]),
            ("## [1.2.0]", &[]),
            ("# a #b #[c]", &[]),
            ("##", &[]),
        ] {
            assert_eq!(command_starts(line), starts, "{line}");
            assert_eq!(has_command(&format!("x\n{line}\ny")), !starts.is_empty(), "{line}");
        }
    }

    #[test]
    fn what_is_escaped_is_no_command() {
        for text in ["##[error]x", "###[x]", "####vso[a.b]##[c]", "#\u{600}#[x]"] {
            let safe = without_commands(text, "\\u{23}");
            assert_eq!(command_starts(&safe), [0; 0], "{safe}");
            assert_eq!(safe.replace("\\u{23}", "#"), text);
        }
        assert!(matches!(without_commands("## a [b]", "\\u{23}"), Cow::Borrowed(_)));
    }

    #[test]
    fn the_search_is_linear() {
        for part in ["#", "##a", "#\u{600}", "##\u{600}a", ":", "\u{600}"] {
            assert!(command_starts(&part.repeat(1 << 20)).len() < 2, "{part}");
        }
    }

    #[test]
    fn what_is_escaped_means_the_same() {
        let value = json!({"ad\u{ad}min": "a\u{202e}b\u{e0041}\u{7f}\u{9b}\n\"", "plain": "Grüße → 👍", "##[a]": ["##vso[b.c]"]});
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let shown = harmless_json(&text);
            assert!(!shown.chars().any(|c| c != '\n' && is_hidden(c)), "{shown:?}");
            assert!(
                shown.contains("Grüße → 👍") && shown.lines().all(|line| command_starts(line).is_empty()),
                "{shown}"
            );
            assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
        }
    }
}

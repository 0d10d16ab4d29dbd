use std::borrow::Cow;
use std::fmt::Write as _;

use super::hidden::is_hidden;

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
pub(super) fn start_of_line(line: &str) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

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

//! Text as it is written: with everything visible, and in the colours of a theme.

use std::borrow::Cow;

use reconcile_core::text::visible;

use crate::{Role, Styled, Theme};

/// Returns text without colours, for files.
#[must_use]
pub fn plain(text: &Styled) -> String {
    paint(text, None)
}

/// Returns text in the colours of a theme, if there is one.
#[must_use]
pub fn paint(text: &Styled, theme: Option<&Theme>) -> String {
    let mut is_start = true;
    let span = |(role, text): &(Role, String)| {
        if text == "\n" {
            is_start = true;
            return text.clone();
        }
        let text = if is_start { unlike_a_command(visible(text)) } else { visible(text) };
        is_start &= text.trim_start().is_empty();
        let Some(style) = theme.map(|theme| theme.style(*role)) else { return text.into_owned() };
        format!("{style}{text}{style:#}")
    };
    text.spans().iter().map(span).collect()
}

/// The beginning of a line, with its first character escaped where a pipeline would take the line for a command: GitHub Actions
/// (`::name::`), Azure Pipelines and `TeamCity` (`##name[`) read them from what a job prints, also behind blanks.
fn unlike_a_command(text: Cow<'_, str>) -> Cow<'_, str> {
    let start = text.trim_start();
    if !start.starts_with(':') && !start.starts_with("##") {
        return text;
    }
    let blanks = text.strip_suffix(start).unwrap_or_default();
    let mut chars = start.chars();
    let first: String = chars.next().into_iter().flat_map(char::escape_unicode).collect();
    Cow::Owned(format!("{blanks}{first}{}", chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_a_command_of_a_pipeline() {
        for (spans, shown) in [
            (&["::add-mask::x"][..], "\\u{3a}:add-mask::x"),
            (&["      ::stop-commands::x"], "      \\u{3a}:stop-commands::x"),
            (&["    ", ":", ":error::x"], "    \\u{3a}:error::x"),
            (&["  ##[error]x"], "  \\u{23}#[error]x"),
            (&["- ", "::error::x"], "- ::error::x"),
            (&["# a comment"], "# a comment"),
            (&["a", "::b"], "a::b"),
        ] {
            let mut text = Styled::new();
            for span in spans {
                text.push(Role::Plain, *span);
            }
            text.line_end();
            assert_eq!(plain(&text), format!("{shown}\n"), "{spans:?}");
        }
    }
}

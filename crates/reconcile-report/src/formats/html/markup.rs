//! Writes HTML: values from outside can enter it only as text, also those with roles as on a terminal.

use reconcile_core::text::visible;

use crate::formats::text::MARGIN;
use crate::words::styled::{Role, Styled};

/// Markup. Literals of the program are written as they are; every other text is escaped, so that it cannot become markup, and
/// characters that a browser would hide or reorder are made visible.
#[derive(Clone, Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Writes markup of the program itself.
    pub fn raw(&mut self, literal: &'static str) -> &mut Self {
        self.0.push_str(literal);
        self
    }

    /// Writes text, or the value of an attribute between double quotes.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for c in visible(text).chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // It ends a JavaScript template and is no part of HTML, and yet old parsers took it for a quotation mark.
                '`' => self.0.push_str("&#96;"),
                c => self.0.push(c),
            }
        }
        self
    }

    /// Writes a number.
    pub fn number(&mut self, number: usize) -> &mut Self {
        self.0.push_str(&number.to_string());
        self
    }

    /// Writes numbers, with a blank between two.
    pub fn numbers(&mut self, numbers: &[usize]) -> &mut Self {
        self.0.push_str(&numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
        self
    }

    /// Writes an element that holds only text: `<span class="by">…</span>` is opened by `<span class="by"`.
    pub fn element(&mut self, open: &'static str, text: &str, close: &'static str) -> &mut Self {
        self.raw(open).raw(">").text(text).raw(close)
    }

    /// Writes other markup.
    pub fn append(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The markup as text.
    pub fn finish(self) -> String {
        self.0
    }
}

/// The class of the style sheet for a role.
pub(super) fn tone(role: Role) -> &'static str {
    match role {
        Role::Add | Role::AddWord => "add",
        Role::Change => "change",
        Role::Remove | Role::RemoveWord => "remove",
        Role::Error => "diagnostic",
        Role::Hint => "hint",
        Role::Name => "name",
        Role::Note => "note",
        Role::Plain => "plain",
    }
}

/// Writes text as the text output has it, line by line, without its margin.
pub(super) fn styled(page: &mut Markup, text: &Styled) {
    if text.is_empty() {
        return;
    }
    page.raw("<pre class=\"text\">");
    let mut is_start = true;
    for (role, span) in text.spans() {
        if span == "\n" {
            page.raw("\n");
        } else {
            let span = if is_start { span.strip_prefix(MARGIN).unwrap_or(span) } else { span.as_str() };
            page.raw("<span class=\"").raw(tone(*role)).raw("\">").text(span).raw("</span>");
        }
        is_start = span == "\n";
    }
    page.raw("</pre>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup_or_hide() {
        let hostile = [
            ("</script><script>alert(1)</script>", "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("\" onload='x' `y`", "&quot; onload=&#39;x&#39; &#96;y&#96;"),
            ("]]><!-- & &lt;", "]]&gt;&lt;!-- &amp; &amp;lt;"),
            ("user\u{202e}nimda\u{1b}[2J\nnext\u{2028}", "user\\u{202e}nimda\\u{1b}[2J\\nnext\\u{2028}"),
            ("Grüße → 日本 | ok", "Grüße → 日本 | ok"),
        ];
        for (text, expected) in hostile {
            let mut markup = Markup::default();
            markup.text(text);
            assert_eq!(markup.finish(), expected);
        }
    }
}

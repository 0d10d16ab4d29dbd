use super::markup::Markup;
use super::tone::tone;
use crate::Styled;

/// The indentation of each line below the name of an object on a terminal.
const MARGIN: &str = "    ";

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

/// Text without roles, on one line.
pub(super) fn sentence(text: &Styled) -> String {
    text.spans().iter().map(|(_, span)| span.as_str()).filter(|span| *span != "\n").collect()
}

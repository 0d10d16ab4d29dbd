use super::markup::Markup;
use super::state::tone;
use crate::report::styled::Styled;

/// Writes text as the text output has it, line by line.
pub(super) fn styled(page: &mut Markup, text: &Styled) {
    if text.is_empty() {
        return;
    }
    page.raw("<pre class=\"text\">");
    for (role, span) in text.spans() {
        if span == "\n" {
            page.raw("\n");
        } else {
            page.raw("<span class=\"").raw(tone(*role)).raw("\">").text(span).raw("</span>");
        }
    }
    page.raw("</pre>");
}

/// Text without roles, on one line.
pub(super) fn sentence(text: &Styled) -> String {
    text.spans().iter().map(|(_, span)| span.as_str()).filter(|span| *span != "\n").collect()
}

//! Text from outside, in which nothing is Markdown or HTML.

use reconcile_core::text::visible;

/// A sentence of the program, which may contain names from outside: nothing in it is Markdown.
pub(super) fn sentence(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in visible(text).chars() {
        if c.is_ascii_punctuation() && !",;.()-:/".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A code span: nothing in it is Markdown, HTML, a mention or a link.
pub(super) fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(std::slice::from_ref(&text)).saturating_add(1));
    let edge = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) || text.is_empty() { " " } else { "" };
    format!("{fence}{edge}{text}{edge}{fence}")
}

/// A code span in a table, where a bar would begin the next cell even in code.
pub(super) fn in_cell(text: &str) -> String {
    code(&visible(text).replace('|', "\\u{7c}"))
}

/// The longest run of backticks.
pub(super) fn longest_run<S: AsRef<str>>(texts: &[S]) -> usize {
    let runs = |text: &S| text.as_ref().split(|c| c != '`').map(str::len).max().unwrap_or_default();
    texts.iter().map(runs).max().unwrap_or_default()
}

/// Text between tags.
pub(super) fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('@', "&#64;")
}

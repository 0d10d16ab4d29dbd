//! One document of a stream: from the bytes between two separators to its value.

use std::borrow::Cow;

use serde_json::Value;

use super::anchors::AliasBudget;
use super::collector::Collector;
use super::compose::Composer;
use super::events::Parser;
use super::positions::{Keys, Nodes};
use super::text::Cursor;
use super::{Mark, diagnostics, syntax, text};

/// Reads the text between two separators.
pub(super) fn read(
    bytes: &[u8],
    start: Mark,
    budget: &AliasBudget,
    keys: &mut Keys,
    diagnostics: &mut Collector,
) -> Content {
    let Some(text) = text::decode(bytes, start, diagnostics) else {
        return Content { value: None, start, nodes: Nodes::default() };
    };
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    let text = terminated(text);
    let mut parser = Parser::new(&text);
    let mut composer = Composer::new(&text, start, budget, keys, diagnostics);
    let end = composer.run(&mut parser);
    let Composer { root, root_mark, nodes, .. } = composer;
    match end {
        Ok(Some(end)) => check_rest(&text, end, start, root_mark, diagnostics),
        Ok(None) => {}
        Err(failure) => diagnostics.add(syntax::explain(failure, &text, &parser, start)),
    }
    Content { value: root.filter(|value| !value.is_null() && end.is_ok()), start: root_mark, nodes }
}

/// The text as kubectl reads it: every line is terminated, including the last one.
pub(super) fn terminated(text: &str) -> Cow<'_, str> {
    if text.ends_with('\n') { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}\n")) }
}

/// Reports text that kubectl drops: it reads one document only, and ignores text that follows without a separator or
/// behind the end marker `...`.
fn check_rest(text: &str, end: usize, start: Mark, root: Mark, diagnostics: &mut Collector) {
    let Some(rest) = text.get(end..) else { return };
    let content = rest.strip_prefix("...").unwrap_or(rest);
    let Some(dropped) = syntax::first_content(content) else { return };
    let mut cursor = Cursor::new(text.as_bytes(), start);
    let marker = (content.len() < rest.len()).then(|| cursor.mark(end));
    let dropped = cursor.mark(text.len().saturating_sub(dropped.len()));
    diagnostics.add(diagnostics::dropped(dropped, marker.unwrap_or(root)));
}

/// Result of reading one document.
pub(super) struct Content {
    /// The value; `None` if the document is empty or cannot be read.
    pub value: Option<Value>,
    pub start: Mark,
    pub nodes: Nodes,
}

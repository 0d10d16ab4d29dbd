//! One document of a stream: from the bytes between two separators to its value.

use std::borrow::Cow;

use super::compose::Composer;
use super::found::Found;
use super::positions::{Keys, Nodes};
use super::repair::Repairs;
use super::stream::Content;
use super::text::Cursor;
use super::token::Tokens;
use super::{Mark, mistakes, syntax, text};

/// Reads the text between two separators.
pub(super) fn read(bytes: &[u8], start: Mark, keys: &mut Keys, problems: &mut Found) -> Content {
    let Some(text) = text::decode(bytes, start, problems) else {
        return Content { value: None, start, nodes: Nodes::default() };
    };
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    let end = syntax::end_marker(text);
    let (text, rest) = text.split_at(end.unwrap_or(text.len()));
    // kubectl ends every line, the last one too.
    let mut text = if text.ends_with('\n') { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}\n")) };
    let mut repairs = Repairs::default();
    loop {
        let (known, mut tokens) = (problems.len(), Tokens::new(&text, start));
        let mut composer = Composer::new(&text, start, keys, problems);
        let error = composer.run(&mut tokens).err();
        let Composer { root, root_mark, nodes, .. } = composer;
        if let Some(error) = &error {
            if let Some(repaired) = repairs.repair(error, &text, &tokens) {
                problems.truncate(known);
                text = Cow::Owned(repaired);
                continue;
            }
            problems.add(syntax::explain(error, &text, &tokens, start));
        } else if end.is_some() {
            check_end(&text, rest, start, problems);
        }
        let content =
            Content { value: root.filter(|value| !value.is_null() && error.is_none()), start: root_mark, nodes };
        return repairs.undo(content, start, problems, known);
    }
}

/// Looks at the end marker `...`, which the text ends with, and at what follows it.
fn check_end(text: &str, rest: &str, start: Mark, problems: &mut Found) {
    let before = text.trim_end().len() - 3;
    let mark = Cursor::new(text.as_bytes(), start).mark(before);
    if syntax::first_content(&text[..before]).is_none() {
        problems.add(mistakes::only_end_marker(mark));
    } else if let Some(dropped) = syntax::first_content(rest) {
        let behind = Mark { column: mark.column + 3, ..mark };
        problems.add(mistakes::dropped(Cursor::new(rest.as_bytes(), behind).mark(dropped), mark));
    }
}

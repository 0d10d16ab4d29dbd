//! A change as lines with the signs of a patch, for formats that show diffs and have only the changes.

use reconcile_core::compare::{masked, secret_number};
use reconcile_core::text::{one_line, visible, yaml};
use serde_json::Value;
use similar::ChangeTag;

use crate::model::ChangeReport;
use crate::words::describe;
use crate::words::users;
use crate::words::value::certificate::summarised;
use crate::words::value::line_diff::{Line, groups};
use crate::words::value::meaning::{self, Meaning};
use crate::words::value::{inline, stays};

/// Longest value that is one line, in characters.
const SHORT: usize = 200;

/// The lines of a change, each with everything visible: removed lines, added lines, and lines around them.
pub(crate) fn lines(change: &ChangeReport, is_full: bool) -> Vec<String> {
    let live = change.live.as_deref();
    let desired = change.desired.as_deref();
    if change.path.elements().is_empty() {
        let signed = |sign: char, value: &Value| signed_lines(sign, &yaml(&masked(&summarised(value))));
        return match (live, desired) {
            (None, Some(desired)) => {
                let removed = users::removed(change, ToOwned::to_owned);
                let removed = removed.map(|removed| format!("# {}", one_line(&removed, SHORT)));
                removed.into_iter().chain(signed('+', desired)).collect()
            }
            (Some(live), None) => signed('-', live),
            _ => vec![format!("# {}", describe::change(change))],
        };
    }
    let why = describe::why_on_line(change);
    let mut lines = vec![format!("@@ {} @@ {why}", one_line(&change.path.to_string(), SHORT)).trim_end().to_owned()];
    if change.is_following() {
        return lines;
    }
    if stays(change) {
        lines.extend(live.map(|live| alone(' ', live)).into_iter().flatten());
        return lines;
    }
    let meaning = Meaning::of_change(change);
    if let Some((what, inner)) = meaning.and_then(|(meaning, ..)| meaning::lines(&meaning, is_full)) {
        if !what.is_empty() {
            lines.push(format!("# {what}"));
        }
        lines.extend(inner.iter().map(signed));
        return lines;
    }
    match (live, desired) {
        (Some(live), None) => lines.extend(alone('-', live)),
        (None, Some(desired)) => lines.extend(alone('+', desired)),
        _ => {
            // Both in one notation: a short list is compared with the lines of a long one.
            let is_long = [live, desired].into_iter().flatten().any(is_long);
            let text = |value: &Value| if is_long { in_lines(value) } else { text(value) };
            let live = live.map(text).unwrap_or_default();
            let desired = desired.map(text).unwrap_or_default();
            for (at, group) in groups(&live, &desired).iter().enumerate() {
                if at > 0 {
                    lines.push("@@ … @@".to_owned());
                }
                lines.extend(group.iter().map(signed));
            }
        }
    }
    lines
}

/// The lines of a value without another one next to it, in which certificates are summarised.
fn alone(sign: char, value: &Value) -> Vec<String> {
    let sentences = meaning::certificates(value);
    signed_lines(sign, &sentences.map_or_else(|| text(&summarised(value)), |sentences| sentences.join("\n")))
}

fn signed((tag, content): &Line<'_>) -> String {
    let sign = match tag {
        ChangeTag::Delete => '-',
        ChangeTag::Insert => '+',
        ChangeTag::Equal => ' ',
    };
    format!("{sign}{}", visible(content))
}

fn signed_lines(sign: char, text: &str) -> Vec<String> {
    text.lines().map(|line| format!("{sign}{}", visible(line))).collect()
}

/// A value as lines: a string as it is, a long collection as YAML, everything else on one line.
fn text(value: &Value) -> String {
    if is_long(value) { in_lines(value) } else { inline(value) }
}

/// Returns true if a value has lines of its own.
fn is_long(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\n'),
        Value::Object(_) | Value::Array(_) => inline(value).chars().count() > SHORT,
        _ => false,
    }
}

fn in_lines(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) | Value::Array(_) if secret_number(value).is_none() => yaml(&masked(value)),
        other => inline(other),
    }
}

//! Fingerprints that identify a finding in every run, so that code-review tools recognise it although lines and values changed.

use std::collections::HashMap;
use std::fmt::Write as _;

use reconcile_core::text::visible;
use ring::digest::{SHA256, digest};

use super::describe;
use super::findings::{Finding, IGNORED};
use crate::ObjectReport;

/// Number of bytes of the digest that are kept.
const LENGTH: usize = 16;

/// A number for a finding that is the same in every run: derived from the context, the object, the rule and the field, and from
/// nothing that was read from the cluster. Findings that agree in all of these have different numbers.
pub(crate) fn unique(found: &Finding<'_>, seen: &mut HashMap<String, usize>) -> String {
    let group = found.object.map_or("", |object| &object.key.gvk.group);
    let name = found.object.map(|object| object.key.to_string()).unwrap_or_default();
    // A finding of the run has nothing but its message, in which that about ignored differences counts live ones. The message about a
    // missing object may name users.
    let has_only_message = found.object.is_none() || found.path.is_empty() && !found.is_change;
    let is_known_by_message = has_only_message && found.rule != IGNORED;
    let message = if is_known_by_message { found.message.as_str() } else { "" };
    let parts = [found.context.unwrap_or_default(), group, &name, found.rule.id, &found.path, message];
    let base = parts.join("\0");
    let count = seen.entry(base.clone()).or_default();
    *count += 1;
    let text = if *count == 1 { base } else { format!("{base}\0{count}") };
    digest(&SHA256, text.as_bytes()).as_ref().iter().take(LENGTH).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The subject of a finding: `Deployment shop/web`, `Deployment shop/web in prod`; `None` for a run in one context.
pub(crate) fn subject(found: &Finding<'_>) -> Option<String> {
    match (found.object, found.context) {
        (Some(object), context) => Some(name(object, context)),
        (None, context) => context.map(|context| visible(context).into_owned()),
    }
}

/// `Deployment shop/web`, or `Deployment shop/web in prod` where there are several contexts.
pub(crate) fn name(object: &ObjectReport, context: Option<&str>) -> String {
    let name = describe::name(object);
    context.map_or_else(|| name.clone(), |context| format!("{name} in {}", visible(context)))
}

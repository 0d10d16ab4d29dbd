use super::event::{AuditEvent, Identity, Text};
use crate::owners::User;
use crate::text::one_line;

/// Longest text about a user, in characters.
const TEXT: usize = 256;

/// The user of an event, as reports show it.
pub(super) fn shown_user(event: &AuditEvent<'_>, verb: Option<&str>) -> User {
    let own = |identity: &Identity<'_>| bounded(identity.username());
    let meant = event.impersonated_user.as_ref();
    let subject = meant.unwrap_or(&event.user);
    User {
        name: own(subject),
        groups: all(&subject.groups),
        source_ips: all(&event.source_ips),
        user_agent: event.user_agent.as_deref().map(bounded).unwrap_or_default(),
        audit_id: bounded(&event.audit_id),
        time: event.received.to_string(),
        impersonated_by: meant.map(|_| own(&event.user)),
        verb: verb.map(ToOwned::to_owned),
    }
}

fn all(texts: &[Text<'_>]) -> Vec<String> {
    texts.iter().map(|text| bounded(text)).collect()
}

/// A text of the log: on one line, visible, and not too long.
fn bounded(text: &str) -> String {
    let shown = one_line(text, TEXT.saturating_sub(1));
    // Characters that are made visible are longer than they were.
    match shown.char_indices().nth(TEXT) {
        None => shown,
        Some(_) => shown.chars().take(TEXT.saturating_sub(1)).chain(['…']).collect(),
    }
}

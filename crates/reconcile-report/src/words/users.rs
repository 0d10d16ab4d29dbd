//! The users whom an audit log names.

use std::borrow::Cow;

use jiff::Timestamp;
use reconcile_core::compare::{Class, FieldChange};
use reconcile_core::owners::{AuditAnswer, MOST_USERS, Owner, User};

use super::value::number::first_of;

/// Most users that a text names.
const NAMED: usize = 3;

/// The users behind a manager: `ops@example.com`, or `perhaps ops@example.com or dev@example.com`. `None` if no log names one.
pub(crate) fn of_owner(owner: &Owner) -> Option<String> {
    let perhaps = if owner.users.user.is_some() { "" } else { "perhaps " };
    either(owner.users.all().map(name)).map(|users| format!("{perhaps}{users}"))
}

/// The users who removed an object or a field: `deleted by ops@example.com at 2026-11-20T10:00:00Z`, or `perhaps removed by …`. `None` if
/// no log names one.
pub(crate) fn removed(change: &FieldChange, time: impl Fn(&str) -> String) -> Option<String> {
    let answer = change.removed_by.as_deref()?;
    let verb = if change.class == Class::Missing { "deleted" } else { "removed" };
    let perhaps = if answer.user.is_some() { "" } else { "perhaps " };
    by(answer, time).map(|by| format!("{perhaps}{verb} {by}"))
}

/// `by ops@example.com at 2026-11-20T10:00:00Z`
pub(crate) fn by(answer: &AuditAnswer, time: impl Fn(&str) -> String) -> Option<String> {
    let named = |user: &User| match second(&user.time) {
        at if at.is_empty() => name(user),
        at => format!("{} at {}", name(user), time(&at)),
    };
    either(answer.all().map(named)).map(|users| format!("by {users}"))
}

fn name(user: &User) -> String {
    let name = quoted(&user.name);
    match &user.impersonated_by {
        Some(by) => format!("{name} (impersonated by {})", quoted(by)),
        None => name.into_owned(),
    }
}

/// A name that others chose: of a user of the log, of a manager, of a subresource. One that could be read as several words is quoted, so that
/// it cannot pass for words of this program.
pub(crate) fn quoted(name: &str) -> Cow<'_, str> {
    let is_special = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';' | '"');
    if !name.is_empty() && !name.contains(is_special) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// Names managers without anything else about them.
pub(crate) fn listed_managers(managers: &[String]) -> String {
    managers.iter().map(|manager| quoted(manager)).collect::<Vec<_>>().join(", ")
}

fn either(names: impl Iterator<Item = String>) -> Option<String> {
    let names: Vec<String> = names.collect();
    let may_be_more = names.len() >= MOST_USERS;
    let mut shown = first_of(names, NAMED);
    if let Some(rest) = shown.last_mut().filter(|_| may_be_more) {
        *rest = format!("at least {rest}");
    }
    (!shown.is_empty()).then(|| shown.join(" or "))
}

/// A time without the parts of its second. Another text stays as it is.
fn second(time: &str) -> String {
    let second = |time: Timestamp| Timestamp::from_second(time.as_second()).ok();
    time.parse().ok().and_then(second).map_or_else(|| time.to_owned(), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::Operation;

    use super::*;
    use crate::view::View;
    use crate::words::why::{note, owner_in_sentence, owners, why_in_full};

    fn user(name: &str) -> User {
        let time = "2026-11-20T10:00:00.123456Z".to_owned();
        User { name: name.to_owned(), time, ..User::default() }
    }

    fn owner(answer: AuditAnswer) -> Owner {
        Owner {
            manager: "kubectl".to_owned(),
            operation: Operation::Update,
            subresource: "scale".to_owned(),
            time: Some("2026-11-20T10:00:00Z".to_owned()),
            manual: true,
            users: answer,
        }
    }

    fn one(name: &str) -> AuditAnswer {
        AuditAnswer { user: Some(Box::new(user(name))), users: Vec::new() }
    }

    fn several(names: &[&str]) -> AuditAnswer {
        AuditAnswer { user: None, users: names.iter().map(|name| user(name)).collect() }
    }

    #[test]
    fn users_follow_the_manager() {
        let view = View::default();
        let shown = |answer| owners(&[owner(answer)], &view);
        assert_eq!(shown(AuditAnswer::default()), "kubectl (scale) 2026-11-20T10:00:00Z");
        assert_eq!(shown(one("ops@example.com")), "kubectl (scale) 2026-11-20T10:00:00Z, ops@example.com");
        assert_eq!(shown(several(&["a", "b"])), "kubectl (scale) 2026-11-20T10:00:00Z, perhaps a or b");
        assert_eq!(
            shown(several(&["a", "b", "c", "d", "e"])),
            "kubectl (scale) 2026-11-20T10:00:00Z, perhaps a or b or c or 2 more"
        );
        // A log may have more than the users that are kept.
        let names: Vec<String> = (0..MOST_USERS).map(|at| format!("u{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(
            shown(several(&names)),
            "kubectl (scale) 2026-11-20T10:00:00Z, perhaps u0 or u1 or u2 or at least 7 more"
        );
        assert_eq!(
            shown(several(names.split_last().unwrap().1)),
            "kubectl (scale) 2026-11-20T10:00:00Z, perhaps u0 or u1 or u2 or 6 more"
        );
        // One user alone may have done it, too, if a part of the log was not read.
        assert_eq!(shown(several(&["a"])), "kubectl (scale) 2026-11-20T10:00:00Z, perhaps a");
        let jane = User { impersonated_by: Some("ops".to_owned()), ..user("jane") };
        let jane = owner(AuditAnswer { user: Some(Box::new(jane)), users: Vec::new() });
        assert_eq!(owner_in_sentence(&jane), "kubectl, scale, 2026-11-20T10:00:00Z, jane (impersonated by ops)");
        let both = [owner(one("a")), owner(AuditAnswer::default())];
        assert_eq!(
            owners(&both, &view),
            format!("kubectl (scale) {0}, a; kubectl (scale) {0}", "2026-11-20T10:00:00Z")
        );
    }

    #[test]
    fn managers_that_could_be_words_of_ours_are_quoted() {
        let view = View::default();
        let forged = Owner {
            manager: "kubectl-edit, alice@example.com".to_owned(),
            subresource: "scale), alice (x".to_owned(),
            ..owner(AuditAnswer::default())
        };
        let quoted = "\"kubectl-edit, alice@example.com\" (\"scale), alice (x\") 2026-11-20T10:00:00Z";
        assert_eq!(owners(std::slice::from_ref(&forged), &view), quoted);
        let sentence = "\"kubectl-edit, alice@example.com\", \"scale), alice (x\", 2026-11-20T10:00:00Z";
        assert_eq!(owner_in_sentence(&forged), sentence);
        assert_eq!(listed_managers(&["a, b".to_owned(), "c".to_owned()]), "\"a, b\", c");
        for name in ["Go-http-client", "kubectl-client-side-apply", "k3s@node-1", "open-api:x/y"] {
            let plain = Owner { manager: name.to_owned(), ..owner(AuditAnswer::default()) };
            assert!(owners(&[plain], &view).starts_with(&format!("{name} (scale)")), "{name}");
        }
    }

    #[test]
    fn names_that_could_be_words_of_ours_are_quoted() {
        let shown = |answer| of_owner(&owner(answer)).unwrap();
        for (name, expected) in [
            ("system:serviceaccount:shop:ci", "system:serviceaccount:shop:ci"),
            ("arn:aws:iam::1:user/jane+x@example.com", "arn:aws:iam::1:user/jane+x@example.com"),
            ("x (impersonated by admin)", "\"x (impersonated by admin)\""),
            ("a or b", "\"a or b\""),
            ("CN=Jane,OU=it", "\"CN=Jane,OU=it\""),
            ("a\";b", "\"a\\\";b\""),
            ("", "\"\""),
        ] {
            assert_eq!(shown(one(name)), expected);
        }
        let by = User { impersonated_by: Some("the admin".to_owned()), ..user("jane") };
        let by = AuditAnswer { user: Some(Box::new(by)), users: Vec::new() };
        assert_eq!(shown(by), "jane (impersonated by \"the admin\")");
    }

    #[test]
    fn who_removed_something_is_certain_or_possible() {
        let view = View::default();
        let change = |class, answer| FieldChange {
            class,
            path: structured_merge::FieldPath::of(&["spec"]),
            removed_by: Some(Box::new(answer)),
            ..FieldChange::missing(json!(1))
        };
        let deleted = change(Class::Missing, one("ops"));
        assert_eq!(note(&deleted, &view), "deleted by ops at 2026-11-20T10:00:00Z");
        let deleted = change(Class::Missing, several(&["ops"]));
        assert_eq!(note(&deleted, &view), "perhaps deleted by ops at 2026-11-20T10:00:00Z");
        let absent = change(Class::Absent, several(&["a", "b"]));
        let by = "by a at 2026-11-20T10:00:00Z or b at 2026-11-20T10:00:00Z";
        assert_eq!(note(&absent, &view), format!("perhaps removed {by}"));
        let why = why_in_full(&absent, &view);
        assert_eq!(why, format!("not in the cluster: new in the manifest or removed there, perhaps {by}"));
        let named = FieldChange { removed_by: Some(Box::new(one("ops").named())), ..absent };
        assert_eq!(note(&named, &view), "removed by ops");
    }
}

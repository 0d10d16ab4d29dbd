//! The author of a refusal: a webhook, a policy, a quota or the authorizer.

use crate::object::Permission;
use crate::request::StatusError;

/// The author of a refusal, read from the beginning of the message, which the API server itself writes.
pub(super) enum Author {
    Webhook(String, &'static str),
    Policy(String),
    Quota(String),
    Rights(String, Option<Permission>),
}

impl Author {
    pub(super) fn of(status: &StatusError) -> Option<Self> {
        let message = status.message.strip_prefix("Internal error occurred: ").unwrap_or(&status.message);
        if let Some(author) = webhook(message) {
            return Some(author);
        }
        // `secrets "it" is forbidden: …`
        let forbidden = message.split_once(" is forbidden: ").filter(|(what, _)| {
            what.strip_prefix("secrets \"").is_some_and(|rest| rest.strip_suffix('"').is_some_and(is_dns_name))
                || *what == "secrets"
        });
        let message = forbidden.map_or(message, |(_, rest)| rest);
        if let Some((policy, rest)) = policy(message)
            && rest.starts_with(" denied request")
        {
            return Some(Self::Policy(policy));
        }
        if let Some(rest) = message.strip_prefix("exceeded quota: ") {
            let name = rest.split(',').next().unwrap_or_default();
            return is_dns_name(name).then(|| Self::Quota(name.to_owned()));
        }
        rights(message).map(|verb| Self::Rights(verb, status.missing.as_deref().cloned()))
    }

    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Webhook(name, deed) => format!("admission webhook `{name}` {deed}"),
            Self::Policy(policy) => format!("{policy} denied the request"),
            Self::Quota(name) => format!("the quota `{name}` is exceeded"),
            Self::Rights(verb, None) => format!("the user cannot {verb} resource \"secrets\""),
            // The namespace is that of the request (`StatusError::answering`).
            Self::Rights(verb, Some(Permission { namespace: Some(namespace), .. })) => {
                format!("the user cannot {verb} resource \"secrets\" in the namespace \"{namespace}\"")
            }
            Self::Rights(verb, Some(_)) => format!("the user cannot {verb} resource \"secrets\" in the cluster"),
        }
    }
}

/// The actions of a webhook, by the words that follow its name (apiserver `pkg/admission/plugin/webhook`).
const DEEDS: [(&str, &str); 4] = [
    (" denied the request", "denied the request"),
    (" does not support dry run", "does not support dry run"),
    (" attempted to modify the object", "attempted to modify the object, which is not supported for this operation"),
    (": ", "could not be called"),
];

fn webhook(message: &str) -> Option<Author> {
    let (text, deeds) = match message.strip_prefix("admission webhook \"") {
        Some(text) => (text, &DEEDS[..3]),
        None => (message.strip_prefix("failed calling webhook \"")?, &DEEDS[3..]),
    };
    let (name, rest) = text.split_once('"')?;
    let (_, deed) = deeds.iter().find(|(words, _)| rest.starts_with(words))?;
    is_dns_name(name).then(|| Author::Webhook(name.to_owned(), deed))
}

/// `ValidatingAdmissionPolicy 'NAME' with binding 'NAME'`, in our words, and what follows it.
pub(super) fn policy(message: &str) -> Option<(String, &str)> {
    let kinds = ["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"];
    let (kind, rest) = kinds.iter().find_map(|kind| Some((kind, message.strip_prefix(kind)?.strip_prefix(" '")?)))?;
    let (name, rest) = rest.split_once("' with binding '")?;
    let (binding, rest) = rest.split_once('\'')?;
    (is_dns_name(name) && is_dns_name(binding)).then(|| (format!("{kind} `{name}` (binding `{binding}`)"), rest))
}

/// `User "jane" cannot patch resource "secrets" in API group ""…`: the verb.
fn rights(message: &str) -> Option<String> {
    const VERBS: [&str; 9] =
        ["create", "delete", "deletecollection", "get", "impersonate", "list", "patch", "update", "watch"];
    let (_, rest) = message.strip_prefix("User \"")?.split_once("\" cannot ")?;
    let (verb, rest) = rest.split_once(' ')?;
    (VERBS.contains(&verb) && rest.starts_with("resource \"secrets\"")).then(|| verb.to_owned())
}

/// Returns true for a DNS subdomain, as the API server demands of the names of webhooks and policies.
fn is_dns_name(name: &str) -> bool {
    let is_label = |label: &str| {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        label.starts_with(is_plain) && label.ends_with(is_plain) && label.chars().all(|c| is_plain(c) || c == '-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use crate::live::discreet::Discreet;
    use crate::request::StatusError;

    #[test]
    fn who_refused_is_named_and_nothing_else() {
        for (code, reason, message, shown) in [
            (
                400,
                "",
                r#"admission webhook "a.example.com" denied the request: hunter2"#,
                "admission webhook `a.example.com` denied the request (400 BadRequest)",
            ),
            (
                403,
                "hunter2",
                r#"admission webhook "a.example.com" denied the request without explanation"#,
                "admission webhook `a.example.com` denied the request (403 Forbidden)",
            ),
            (
                400,
                "BadRequest",
                r#"admission webhook "a.example.com" does not support dry run"#,
                "admission webhook `a.example.com` does not support dry run (400 BadRequest)",
            ),
            (
                500,
                "InternalError",
                r#"Internal error occurred: failed calling webhook "a.example.com": failed to call webhook: hunter2"#,
                "admission webhook `a.example.com` could not be called (500 InternalError)",
            ),
            (
                422,
                "Invalid",
                r#"secrets "it" is forbidden: ValidatingAdmissionPolicy 'p.x' with binding 'b' denied request: hunter2"#,
                "ValidatingAdmissionPolicy `p.x` (binding `b`) denied the request (422 Invalid)",
            ),
            (
                403,
                "Forbidden",
                r#"secrets "it" is forbidden: exceeded quota: q, requested: hunter2=1"#,
                "the quota `q` is exceeded (403 Forbidden)",
            ),
            (
                403,
                "Forbidden",
                r#"secrets "it" is forbidden: User "hunter2" cannot patch resource "secrets" in API group "" in the namespace "shop""#,
                r#"the user cannot patch resource "secrets" (403 Forbidden)"#,
            ),
            (
                403,
                "Forbidden",
                r#"secrets is forbidden: User "jane" cannot list resource "secrets" in API group """#,
                r#"the user cannot list resource "secrets" (403 Forbidden)"#,
            ),
            (
                403,
                "Forbidden",
                r#"User "jane" cannot hunter2 resource "secrets""#,
                "the server refused the request (403 Forbidden)",
            ),
            (
                400,
                "",
                r#"admission webhook "hunter2 is it" denied the request: x"#,
                "the server refused the request (400 BadRequest)",
            ),
            (
                400,
                "",
                r#"admission webhook "Hunter2" denied the request: x"#,
                "the server refused the request (400 BadRequest)",
            ),
            (
                400,
                "",
                "hunter2: admission webhook \"a.example.com\" denied the request",
                "the server refused the request (400 BadRequest)",
            ),
            (
                422,
                "",
                "ValidatingAdmissionPolicy 'hunter2!' with binding 'b' denied request: x",
                "the server refused the request (422 Invalid)",
            ),
            (
                422,
                "",
                "ValidatingAdmissionPolicy 'p' with binding 'b\nhunter2' denied request: x",
                "the server refused the request (422 Invalid)",
            ),
            (599, "hunter2", "hunter2", "the server refused the request (599 Unknown)"),
        ] {
            let diagnostic = Discreet::of(&[]).diagnostic(&StatusError::refusal(code, reason, message));
            assert_eq!(diagnostic.message, shown, "{message}");
            assert!(!format!("{diagnostic:?}").to_lowercase().contains("hunter2"), "{diagnostic:?}");
        }
    }
}

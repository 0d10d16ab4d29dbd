use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

use crate::exact;
use crate::owners::MAX_MANAGER;
use crate::text::is_hidden;

/// The verbs of requests that only read, as they begin a value in JSON.
const READS: [&str; 3] = ["\"get\"", "\"list\"", "\"watch\""];
const VERB: &str = "\"verb\"";
/// Most texts of a list that are kept.
const FIRST: usize = 10;

/// A line of an audit log.
#[derive(Debug)]
pub struct AuditLine<'l> {
    /// The time at which the server received the request, if the line was parsed and is an event.
    pub received: Option<Timestamp>,
    /// The kind of line.
    pub read: AuditRead<'l>,
}

/// A line of an audit log, by what it has for a search.
#[derive(Debug)]
pub enum AuditRead<'l> {
    /// A write that was done.
    Write(Box<AuditEvent<'l>>),
    /// An event that changed nothing, or a blank line.
    Other,
    /// It is no event of `audit.k8s.io/v1`.
    Broken,
}

/// A write that the server did.
#[derive(Debug)]
pub struct AuditEvent<'l> {
    pub(super) audit_id: Text<'l>,
    pub(super) verb: Text<'l>,
    pub(super) user: Identity<'l>,
    pub(super) impersonated_user: Option<Identity<'l>>,
    pub(super) source_ips: Vec<Text<'l>>,
    pub(super) user_agent: Text<'l>,
    pub(super) object: ObjectReference<'l>,
    pub(super) code: u16,
    pub(super) received: Timestamp,
    pub(super) done: Timestamp,
    /// False if it may have changed nothing.
    pub(super) is_certain: bool,
    /// True if the log has the bodies of requests.
    has_bodies: bool,
    uri: Text<'l>,
}

/// A text that is borrowed from its line unless it has escapes.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Reads a text, which is empty if it is missing or `null`.
fn or_empty<'de: 'l, 'l, D: Deserializer<'de>>(deserializer: D) -> Result<Text<'l>, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads the first texts of a list; none for `null`. The others are skipped while the line is parsed: a line may hold millions of them.
fn first_texts<'de: 'l, 'l, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Text<'l>>, D::Error> {
    deserializer.deserialize_any(ListOfTexts)
}

struct ListOfTexts;

impl<'de> Visitor<'de> for ListOfTexts {
    type Value = Vec<Text<'de>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of strings")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut texts = Vec::new();
        while texts.len() < FIRST {
            match list.next_element()? {
                Some(text) => texts.push(text),
                None => return Ok(texts),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(texts)
    }
}

/// A user of the log (`authentication/v1`, `UserInfo`).
#[derive(Debug, Deserialize)]
pub(super) struct Identity<'l> {
    /// The name of the user; requests without credentials have one as well.
    #[serde(default, borrow, deserialize_with = "or_empty")]
    pub(super) username: Text<'l>,
    #[serde(default, borrow, deserialize_with = "first_texts")]
    pub(super) groups: Vec<Text<'l>>,
}

/// The object of a request (`audit/v1`, `ObjectReference`).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectReference<'l> {
    #[serde(default, borrow, deserialize_with = "or_empty")]
    pub(super) resource: Text<'l>,
    #[serde(default, borrow, deserialize_with = "or_empty")]
    pub(super) namespace: Text<'l>,
    #[serde(default, borrow, deserialize_with = "or_empty")]
    pub(super) name: Text<'l>,
    #[serde(default, borrow, deserialize_with = "or_empty")]
    pub(super) api_group: Text<'l>,
    #[serde(default, borrow, deserialize_with = "or_empty")]
    pub(super) subresource: Text<'l>,
}

/// The fields of a line that are read; bodies are skipped while it is parsed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written<'l> {
    #[serde(borrow)]
    kind: Text<'l>,
    #[serde(borrow)]
    api_version: Text<'l>,
    #[serde(default, borrow, deserialize_with = "or_empty")]
    level: Text<'l>,
    #[serde(borrow, rename = "auditID")]
    audit_id: Text<'l>,
    #[serde(borrow)]
    stage: Text<'l>,
    #[serde(borrow, rename = "requestURI")]
    request_uri: Text<'l>,
    #[serde(borrow)]
    verb: Text<'l>,
    #[serde(borrow)]
    user: Identity<'l>,
    #[serde(borrow)]
    impersonated_user: Option<Identity<'l>>,
    #[serde(default, borrow, rename = "sourceIPs", deserialize_with = "first_texts")]
    source_ips: Vec<Text<'l>>,
    #[serde(default, borrow, deserialize_with = "or_empty")]
    user_agent: Text<'l>,
    #[serde(borrow)]
    object_ref: Option<ObjectReference<'l>>,
    response_status: Option<ResponseStatus>,
    #[serde(borrow)]
    request_received_timestamp: Text<'l>,
    #[serde(borrow)]
    stage_timestamp: Text<'l>,
}

#[derive(Deserialize)]
struct ResponseStatus {
    code: Option<u16>,
}

/// The body of a deletion, which is its options, or of an eviction, which has them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Deletion<'l> {
    #[serde(borrow)]
    request_object: Option<DeletionBody<'l>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeletionBody<'l> {
    #[serde(default, borrow, deserialize_with = "first_texts")]
    dry_run: Vec<Text<'l>>,
    #[serde(borrow)]
    delete_options: Option<DeleteOptions<'l>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeleteOptions<'l> {
    #[serde(default, borrow, deserialize_with = "first_texts")]
    dry_run: Vec<Text<'l>>,
}

impl DeletionBody<'_> {
    fn is_dry_run(&self) -> bool {
        let options = self.delete_options.as_ref();
        !self.dry_run.is_empty() || options.is_some_and(|options| !options.dry_run.is_empty())
    }
}

impl<'l> AuditLine<'l> {
    /// Reads a line. Those that can only be reads are not parsed, unless the line may be the first event, whose time is asked for.
    pub fn read(line: &'l [u8], may_be_first: bool) -> Self {
        let without = |read| Self { received: None, read };
        let Ok(text) = std::str::from_utf8(line) else { return without(AuditRead::Broken) };
        if text.trim_ascii().is_empty() || (!may_be_first && only_reads(text)) {
            return without(AuditRead::Other);
        }
        let Ok(written) = exact::from_str::<Written<'l>>(text) else {
            return without(AuditRead::Broken);
        };
        if (&*written.kind, &*written.api_version) != ("Event", "audit.k8s.io/v1") {
            return without(AuditRead::Broken);
        }
        let times = (written.request_received_timestamp.parse(), written.stage_timestamp.parse());
        let (Ok(received), Ok(done)) = times else { return without(AuditRead::Broken) };
        let read = match written.done(received, done) {
            Some(mut event) => match event.stored(text) {
                Stored::No => AuditRead::Other,
                stored => {
                    event.is_certain &= stored == Stored::Yes;
                    AuditRead::Write(Box::new(event))
                }
            },
            None => AuditRead::Other,
        };
        Self { received: Some(received), read }
    }
}

/// Returns true if no verb in the line is that of a write. Bodies may have fields of this name as well, so that all of them count.
fn only_reads(text: &str) -> bool {
    let mut verbs = text.match_indices(VERB).map(|(at, _)| {
        let rest = text.get(at.saturating_add(VERB.len())..).unwrap_or_default().trim_ascii_start();
        rest.strip_prefix(':').map(str::trim_ascii_start).unwrap_or_default()
    });
    let mut found = false;
    verbs.all(|value| {
        found = true;
        READS.iter().any(|read| value.starts_with(read))
    }) && found
}

impl<'l> Written<'l> {
    /// The event, if the server did what was asked for, or may have: what it answers with 5xx or not at all may be stored all the same, as
    /// after a timeout that the client chooses.
    fn done(self, received: Timestamp, done: Timestamp) -> Option<AuditEvent<'l>> {
        let code = self.response_status.and_then(|status| status.code).unwrap_or_default();
        let is_write = ["create", "update", "patch", "delete", "deletecollection"].contains(&&*self.verb);
        let is_over = matches!(&*self.stage, "ResponseComplete" | "Panic");
        if !is_over || (300..500).contains(&code) || !is_write {
            return None;
        }
        Some(AuditEvent {
            audit_id: self.audit_id,
            verb: self.verb,
            user: self.user,
            impersonated_user: self.impersonated_user,
            source_ips: self.source_ips,
            user_agent: self.user_agent,
            object: self.object_ref?,
            code,
            received,
            done,
            is_certain: &*self.stage == "ResponseComplete" && (200..300).contains(&code),
            has_bodies: matches!(&*self.level, "Request" | "RequestResponse"),
            uri: self.request_uri,
        })
    }
}

/// The effect of a request on what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    Yes,
    No,
    /// The log does not say whether it was a dry run.
    Perhaps,
}

impl AuditEvent<'_> {
    /// The name of the field manager, as the server takes it.
    pub(super) fn manager(&self) -> Cow<'_, str> {
        manager(&self.uri, &self.user_agent)
    }

    /// Returns true if the request evicts a Pod, which deletes it.
    pub(super) fn is_eviction(&self) -> bool {
        let object = &self.object;
        let place = (&*object.api_group, &*object.resource, &*object.subresource);
        &*self.verb == "create" && place == ("", "pods", "eviction")
    }

    /// Returns the effect of the request. The options of a deletion are in its body, or in its URI if it has no body (apiserver
    /// `pkg/endpoints/handlers/delete.go`, `DeleteResource`).
    fn stored(&self, text: &str) -> Stored {
        let is_dry_run = parameters(&self.uri, "dryRun").any(|value| !value.is_empty());
        let is_deletion = self.verb.starts_with("delete");
        if !is_deletion && !self.is_eviction() {
            return if is_dry_run { Stored::No } else { Stored::Yes };
        }
        let body = exact::from_str::<Deletion<'_>>(text).ok().and_then(|deletion| deletion.request_object);
        match body {
            Some(body) if body.is_dry_run() => Stored::No,
            Some(_) if is_deletion => Stored::Yes,
            _ if !is_dry_run => Stored::Yes,
            _ if is_deletion && !self.has_bodies => Stored::Perhaps,
            _ => Stored::No,
        }
    }
}

/// The values of a parameter in the query of a URI, decoded as the server does (Go `net/url`, `ParseQuery`): a pair with a `;` or with a
/// broken escape, in its key or its value, is left out.
pub(super) fn parameters<'u>(uri: &'u str, name: &'u str) -> impl Iterator<Item = Cow<'u, str>> {
    let query = uri.split_once('?').map_or("", |(_, query)| query);
    let pairs = query.split('&').filter(|pair| !pair.contains(';'));
    pairs.filter_map(move |pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        decoded(key).filter(|key| key == name)?;
        decoded(value)
    })
}

/// A part of a query without its escapes (Go `net/url`, `QueryUnescape`); `None` if one of them is broken.
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_hexdigit);
    let is_whole = |(at, _): (usize, &str)| is_digit(at.saturating_add(1)) && is_digit(at.saturating_add(2));
    if !text.match_indices('%').all(is_whole) {
        return None;
    }
    if text.contains('+') {
        let text = text.replace('+', " ");
        return Some(Cow::Owned(percent_decode_str(&text).decode_utf8_lossy().into_owned()));
    }
    Some(percent_decode_str(text).decode_utf8_lossy())
}

/// The name of the field manager of a request: the parameter `fieldManager`, or else the start of the user agent (apiserver
/// `pkg/endpoints/handlers`, `managerOrUserAgent`).
pub(super) fn manager<'e>(uri: &'e str, user_agent: &'e str) -> Cow<'e, str> {
    match parameters(uri, "fieldManager").next().filter(|name| !name.is_empty()) {
        Some(name) => name,
        None => program(user_agent),
    }
}

/// The printable characters of a user agent up to its first slash, as many as a name may have.
fn program(user_agent: &str) -> Cow<'_, str> {
    let name = user_agent.split('/').next().unwrap_or_default();
    if name.len() <= MAX_MANAGER && name.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(name);
    }
    let mut kept = String::new();
    let is_printable = |c: &char| !is_hidden(*c) && (*c == ' ' || !c.is_whitespace());
    for c in name.chars().filter(is_printable) {
        if kept.len().saturating_add(c.len_utf8()) > MAX_MANAGER {
            break;
        }
        kept.push(c);
    }
    Cow::Owned(kept)
}

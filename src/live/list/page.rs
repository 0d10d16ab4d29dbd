//! Parses one page of a list. An item that cannot be read, or that does not belong there, does not affect the other items.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::sieve::{self, Kept, List};
use crate::live::answer::misfit_of_item;
use crate::live::parallel;
use reconcile_core::exact;
use reconcile_core::live::{PartOfList, Resource};
use reconcile_core::object::Projection;

/// The size of a page whose items are parsed on several processors, in bytes.
const LONG: usize = 64 << 10;

/// A page of a list.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// The wanted objects, each with its type.
    pub objects: Vec<Value>,
    /// Number of unwanted objects.
    pub unwanted: usize,
    /// Number of unwanted objects in each namespace, in a list of all namespaces.
    pub unwanted_in: HashMap<String, usize>,
    /// The items that are not objects of the list.
    pub spoilt: Vec<Spoilt>,
    /// Number of objects on later pages, if the server says it.
    pub left: Option<u64>,
    /// The version of the list.
    pub version: Option<String>,
    /// True if the list begins again with this page, so that the pages before do not count.
    pub starts_over: bool,
    /// Its size, in bytes.
    pub bytes: usize,
    /// The continue token of the next page; `None` on the last one.
    pub(super) token: Option<String>,
}

impl Page {
    /// Number of objects on later pages, if it is known.
    pub fn left(&self) -> Option<usize> {
        let said = self.left.map(|left| usize::try_from(left).unwrap_or(usize::MAX));
        if self.token.is_none() { Some(0) } else { said }
    }

    /// Adds the page to what was read of its list.
    pub fn after(&self, list: PartOfList) -> PartOfList {
        PartOfList {
            seen: list.seen.saturating_add(self.len()),
            bytes: list.bytes.saturating_add(self.bytes),
            left: self.left(),
        }
    }

    /// Counts an unwanted object of a list of a namespace, or of all.
    fn leave(&mut self, object: &Value, namespace: Option<&str>) {
        self.unwanted = self.unwanted.saturating_add(1);
        let its_namespace = object.pointer("/metadata/namespace").and_then(Value::as_str);
        if let (None, Some(its_namespace)) = (namespace, its_namespace) {
            count(&mut self.unwanted_in, its_namespace);
        }
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.objects.len().saturating_add(self.unwanted).saturating_add(self.spoilt.len())
    }
}

/// An item that is not an object of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spoilt {
    /// Its name, as far as it can be read.
    pub name: Option<String>,
    /// Its namespace, as far as it can be read.
    pub namespace: Option<String>,
    /// The cause.
    pub cause: String,
}

impl Spoilt {
    fn of(item: &Value, cause: &str) -> Self {
        let text = |pointer: &str| item.pointer(pointer).and_then(Value::as_str).map(ToOwned::to_owned);
        Self { name: text("/metadata/name"), namespace: text("/metadata/namespace"), cause: cause.to_owned() }
    }
}

/// Parses a page. The error is the reason why it is none.
pub(super) fn read(
    body: &[u8],
    resource: &Resource,
    namespace: Option<&str>,
    metadata_only: bool,
    kept: Kept<'_>,
) -> Result<Page, String> {
    let (envelope, items, spoilt) = match in_parallel(body, kept) {
        Some((envelope, items)) => (envelope, items, Vec::new()),
        None => in_order(body, kept)?,
    };
    let text = |pointer: &str| envelope.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    let kind = text("/kind").unwrap_or_default();
    let api_version = text("/apiVersion").unwrap_or_default();
    let is_metadata = metadata_only && kind == "PartialObjectMetadataList" && api_version.starts_with("meta.k8s.io/");
    let is_of_version =
        is_metadata || api_version == resource.gvk.api_version() || (kind == "List" && api_version == "v1");
    if !kind.ends_with("List") || !is_of_version {
        return Err(format!("it is not a list of `{}`", resource.gvk.kind));
    }
    let mut page = Page {
        spoilt,
        left: envelope.pointer("/metadata/remainingItemCount").and_then(Value::as_u64),
        version: text("/metadata/resourceVersion").map(ToOwned::to_owned),
        token: text("/metadata/continue").map(ToOwned::to_owned),
        ..Page::default()
    };
    for mut item in items {
        if is_metadata {
            leave_type_out(&mut item);
        }
        name_type(&mut item, resource);
        match misfit_of_item(&item, resource, namespace) {
            Some(cause) => page.spoilt.push(Spoilt::of(&item, cause)),
            None if kept.wants(&item) => page.objects.push(item),
            None => page.leave(&item, namespace),
        }
    }
    Ok(page)
}

/// Returns the list without its items, the readable items, and the unreadable ones.
fn in_order(body: &[u8], kept: Kept<'_>) -> Result<(Value, Vec<Value>, Vec<Spoilt>), String> {
    match sieve::list(body, kept) {
        Ok(List { envelope, items }) => {
            Ok((Value::Object(envelope), items.ok_or_else(|| "it has no `items`".to_owned())?, Vec::new()))
        }
        // One item may be nested too deeply, or have a number or a text that cannot be read. The items are then read one by one.
        Err(_) => one_by_one(body, kept),
    }
}

/// Returns the list of a long page without its items, and these, which are parsed on several processors; `None` if that is not worth it, or if anything in it cannot
/// be read.
fn in_parallel(body: &[u8], kept: Kept<'_>) -> Option<(Value, Vec<Value>)> {
    if body.len() < LONG {
        return None;
    }
    let (envelope, texts) = split(body).ok()?;
    let read = parallel::map(texts, |text| sieve::item(text, kept));
    Some((envelope, read.into_iter().collect::<serde_json::Result<_>>().ok()?))
}

fn count(counts: &mut HashMap<String, usize>, namespace: &str) {
    match counts.get_mut(namespace) {
        Some(count) => *count = count.saturating_add(1),
        None => drop(counts.insert(namespace.to_owned(), 1)),
    }
}

/// Removes the type of an item of a metadata list, which is `PartialObjectMetadata`.
fn leave_type_out(item: &mut Value) {
    if let Value::Object(item) = item
        && item.get("kind").is_some_and(|kind| kind == "PartialObjectMetadata")
    {
        item.remove("apiVersion");
        item.remove("kind");
    }
}

/// Adds the type to an item, which built-in lists leave out.
fn name_type(item: &mut Value, resource: &Resource) {
    if let Value::Object(item) = item {
        item.entry("apiVersion").or_insert_with(|| resource.gvk.api_version().into());
        item.entry("kind").or_insert_with(|| resource.gvk.kind.as_str().into());
    }
}

/// A list without its items, which are only counted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    metadata: Value,
    items: Vec<IgnoredAny>,
}

/// The readable fields of an item that cannot be read as a whole.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Head {
    metadata: HeadMetadata,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct HeadMetadata {
    name: Option<String>,
    namespace: Option<String>,
}

/// Reads every item by itself. Returns the list without its items, the readable items, and the unreadable ones.
fn one_by_one(body: &[u8], kept: Kept<'_>) -> Result<(Value, Vec<Value>, Vec<Spoilt>), String> {
    let (envelope, texts) = split(body)?;
    let fields = if let Kept::Fields(fields) = kept { fields } else { Projection::Whole };
    let mut read = Vec::with_capacity(texts.len());
    let mut spoilt = Vec::new();
    for text in texts {
        if let Ok(item) = fields.read(text) {
            read.push(item);
        } else {
            let Head { metadata: HeadMetadata { name, namespace } } = exact::from_slice(text).unwrap_or_default();
            spoilt.push(Spoilt { name, namespace, cause: "it is nested too deeply, or not JSON".to_owned() });
        }
    }
    Ok((envelope, read, spoilt))
}

/// The list without its items, and the texts of these.
fn split(body: &[u8]) -> Result<(Value, Vec<&[u8]>), String> {
    let unreadable = || "it is not JSON".to_owned();
    let envelope: Envelope = exact::from_slice(body).map_err(|_| unreadable())?;
    let texts = items(body);
    if texts.len() != envelope.items.len() {
        return Err(unreadable());
    }
    let Envelope { api_version, kind, metadata, .. } = envelope;
    Ok((serde_json::json!({"apiVersion": api_version, "kind": kind, "metadata": metadata}), texts))
}

/// The texts of the elements of the top-level `items` in valid JSON.
fn items(body: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut in_text = false;
    let mut is_escaped = false;
    let mut in_items = false;
    // The last string at the top level: the key, once its value begins.
    let mut text_start = 0;
    let mut key = None;
    let mut start = None;
    for (at, byte) in body.iter().enumerate() {
        if in_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => {
                    in_text = false;
                    key = if depth == 1 { body.get(text_start..at) } else { key };
                }
                _ => {}
            }
            continue;
        }
        let ends_item = in_items && (depth == 2 && matches!(byte, b',' | b']'));
        if ends_item {
            found.extend(start.take().and_then(|start| body.get(start..at)));
        } else if in_items && depth == 2 && !byte.is_ascii_whitespace() {
            start.get_or_insert(at);
        }
        match byte {
            b'"' => (in_text, text_start) = (true, at.saturating_add(1)),
            b'[' if depth == 1 && key == Some(b"items".as_slice()) => (in_items, depth) = (true, 2),
            b'[' | b'{' => depth = depth.saturating_add(1),
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                in_items &= depth >= 2;
            }
            b',' if depth == 1 => key = None,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::sieve::Sieve;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use structured_merge::GroupVersionKind;

    fn widgets() -> Resource {
        Resource {
            gvk: GroupVersionKind::new("example.com/v1", "Widget"),
            plural: "widgets".to_owned(),
            namespaced: true,
            verbs: ["get", "list"].map(ToOwned::to_owned).into(),
            status: false,
            pending: false,
        }
    }

    fn list(items: &str) -> String {
        format!(
            r#"{{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{{"resourceVersion":"7","continue":"x","remainingItemCount":3}},"items":{items}}}"#
        )
    }

    fn item(name: &str, more: &str) -> String {
        format!(r#"{{"metadata":{{"name":"{name}","namespace":"shop"}}{more}}}"#)
    }

    fn names(page: &Page) -> Vec<&str> {
        page.objects.iter().map(|object| object["metadata"]["name"].as_str().unwrap()).collect()
    }

    #[test]
    fn what_is_no_list_of_the_kind_is_refused() {
        for body in [
            "[]",
            "null",
            "3",
            "{}",
            "",
            r#"{"items":[]}"#,
            r#"{"kind":"Widget","apiVersion":"example.com/v1","items":[]}"#,
            r#"{"kind":"Status","apiVersion":"v1","items":[]}"#,
            r#"{"kind":"WidgetList","apiVersion":"example.com/v2","items":[]}"#,
            r#"{"kind":"WidgetList","apiVersion":"example.com/v1"}"#,
            r#"{"kind":"WidgetList","apiVersion":"example.com/v1","items":{}}"#,
            r#"{"kind":"WidgetList","apiVersion":"example.com/v1","items":[{}"#,
        ] {
            assert!(read(body.as_bytes(), &widgets(), Some("shop"), false, Kept::ALL).is_err(), "{body}");
        }
        assert!(read(list("null").as_bytes(), &widgets(), Some("shop"), false, Kept::ALL).unwrap().objects.is_empty());
    }

    #[test]
    fn a_spoilt_item_spoils_itself_only() {
        let deep = format!(r#","spec":{}1{}"#, "[".repeat(200), "]".repeat(200));
        for (bad, name) in [
            (item("bad", &deep), Some("bad")),
            (item("bad", r#","spec":1e999"#), Some("bad")),
            (item("bad", r#","spec":"\ud800""#), Some("bad")),
            ("null".to_owned(), None),
            ("{}".to_owned(), None),
            ("[1, 2]".to_owned(), None),
            (r#""],{""#.to_owned(), None),
            (r#"{"metadata":{"name":"bad","namespace":"bank"}}"#.to_owned(), Some("bad")),
            (r#"{"kind":"Gadget","metadata":{"name":"bad","namespace":"shop"}}"#.to_owned(), Some("bad")),
        ] {
            let body = list(&format!("[{} , {bad},{}]", item("a", ""), item("b", r#","x":"]\"}""#)));
            let page = read(body.as_bytes(), &widgets(), Some("shop"), false, Kept::ALL).unwrap();
            assert_eq!(names(&page), ["a", "b"], "{bad}");
            assert_eq!(page.spoilt.iter().map(|spoilt| spoilt.name.as_deref()).collect::<Vec<_>>(), [name], "{bad}");
            assert_eq!((page.left, page.version.as_deref(), page.token.as_deref()), (Some(3), Some("7"), Some("x")));
        }
    }

    /// Also if another item makes that each is read by itself.
    #[test]
    fn what_nobody_wants_is_counted_where_it_is() {
        let good = [item("a", ""), item("b", ""), item("c", "").replace("shop", "bank")].join(",");
        let sieve = Sieve { wants: &|_, name| name == "a", by_name: true };
        for (items, spoilt) in [(good.clone(), 0), (format!("{good},null"), 1)] {
            let body = list(&format!("[{items}]"));
            let page = read(body.as_bytes(), &widgets(), None, false, Kept::Wanted(sieve)).unwrap();
            assert_eq!((names(&page), page.spoilt.len(), page.unwanted), (vec!["a"], spoilt, 2), "{items}");
            assert_eq!(page.unwanted_in, [("shop".to_owned(), 1), ("bank".to_owned(), 1)].into(), "{items}");
        }
    }

    #[test]
    fn a_list_of_all_namespaces_may_hold_any() {
        let body = list(&format!("[{}]", item("a", "")));
        assert_eq!(read(body.as_bytes(), &widgets(), None, false, Kept::ALL).unwrap().objects.len(), 1);
        let cluster_scoped = Resource { namespaced: false, ..widgets() };
        assert_eq!(read(body.as_bytes(), &cluster_scoped, None, false, Kept::ALL).unwrap().spoilt.len(), 1);
    }

    proptest! {
        #[test]
        fn items_are_found_in_any_spelling(texts in prop::collection::vec(r#"[a-z"\\\[\]{},: ]{0,6}"#, 0..5), pretty: bool) {
            let values: Vec<Value> = texts.iter().map(|text| json!({text: [text, {"items": [text]}]})).collect();
            let list = json!({"a": {"items": [1]}, "items": values, "kind": "items", "z": ["items", [2]]});
            let body = if pretty { serde_json::to_vec_pretty(&list) } else { serde_json::to_vec(&list) }.unwrap();
            let found: Vec<Value> = items(&body).into_iter().map(|text| serde_json::from_slice(text).unwrap()).collect();
            prop_assert_eq!(found, values);
        }
    }
}

//! Reads the server's OpenAPI documents while they arrive: anybody who may define kinds decides how large they are.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read};

use reconcile_core::exact;
use reconcile_core::object::{InParts, Parts, Projection};
use serde::de::{DeserializeSeed as _, IgnoredAny, MapAccess};
use serde_json::Value;
use structured_merge::{OpenApiDocument, Origin, TypeTable};

use super::cache::Hashed;
use crate::client::{Cluster, Request, RequestError};

/// The largest index, in bytes. It has a line for each group-version.
const LARGEST_INDEX: usize = 256 << 20;
/// The largest document, in bytes. The types of a larger one are taken from CustomResourceDefinitions.
const LARGEST_DOCUMENT: usize = 32 << 20;

/// Requests the index of all documents.
pub(super) fn index() -> Request {
    Request::read("/openapi/v3")
}

/// Reads the URLs of some documents from the index of all, by path, such as `apis/apps/v1`.
pub(super) async fn urls(
    cluster: &Cluster,
    wanted: BTreeSet<String>,
) -> Result<BTreeMap<String, String>, RequestError> {
    cluster.read(index(), LARGEST_INDEX, move |body| read_urls(body, &wanted)).await
}

fn read_urls(body: impl Read, wanted: &BTreeSet<String>) -> serde_json::Result<BTreeMap<String, String>> {
    let mut index = DocumentIndex { wanted, urls: BTreeMap::new() };
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(body));
    InParts(&mut index).deserialize(&mut json)?;
    json.end()?;
    Ok(index.urls)
}

/// Reads and compiles a document; `None` if it has no schemas. Also returns true if it has the server's hash.
pub(super) async fn table(
    cluster: &Cluster,
    request: Request,
    hash: Option<String>,
) -> Result<(Option<TypeTable>, bool), RequestError> {
    let read = move |body| {
        let mut body = BufReader::new(Hashed::new(body));
        let OpenApiDocument(document) = exact::from_reader(&mut body)?;
        let is_right = hash.as_ref().is_some_and(|hash| body.into_inner().has(hash));
        Ok((structured_merge::compile([&document], Origin::Custom).ok(), is_right))
    };
    cluster.read(request, LARGEST_DOCUMENT, read).await
}

/// The index of all documents.
struct DocumentIndex<'w> {
    wanted: &'w BTreeSet<String>,
    urls: BTreeMap<String, String>,
}

impl Parts for DocumentIndex<'_> {
    fn entry<'de, A: MapAccess<'de>>(&mut self, key: &str, entries: &mut A) -> Result<(), A::Error> {
        if key == "paths" {
            return entries.next_value_seed(InParts(&mut Paths(self)));
        }
        entries.next_value::<IgnoredAny>().map(drop)
    }
}

/// The documents of the index.
struct Paths<'i, 'w>(&'i mut DocumentIndex<'w>);

impl Parts for Paths<'_, '_> {
    fn entry<'de, A: MapAccess<'de>>(&mut self, key: &str, entries: &mut A) -> Result<(), A::Error> {
        if !self.0.wanted.contains(key) {
            return entries.next_value::<IgnoredAny>().map(drop);
        }
        let entry = entries.next_value_seed(Projection::Fields(&[("serverRelativeURL", Projection::Whole)]))?;
        if let Some(url) = entry.get("serverRelativeURL").and_then(Value::as_str) {
            self.0.urls.insert(key.to_owned(), url.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_wanted_urls_are_read() {
        let entry = |url: &str| json!({"serverRelativeURL": url, "other": [1]});
        let index = json!({"paths": {"apis/a/v1": entry("/a"), "apis/b/v1": entry("/b"), "apis/c/v1": 7, "apis/d/v1": {}}, "x": {}});
        let wanted = ["apis/a/v1", "apis/c/v1", "apis/d/v1", "apis/e/v1"].map(ToOwned::to_owned).into();
        let urls = |index: &Value| read_urls(index.to_string().as_bytes(), &wanted).unwrap();
        assert_eq!(urls(&index), BTreeMap::from([("apis/a/v1".to_owned(), "/a".to_owned())]));
        for nothing in [json!({}), json!([]), json!(null), json!({"paths": [entry("/a")]})] {
            assert_eq!(urls(&nothing), BTreeMap::new());
        }
    }
}

//! The types of the kinds of a run: built-in kinds from the table in the program, all others from the server's OpenAPI
//! documents, or else from their CustomResourceDefinitions. Compiled documents are cached on disk with their hash.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use futures::StreamExt as _;
use serde_json::Value;
use structured_merge::{GroupVersionKind, TypeRef, TypeTable, compile_definition};
use tokio::task::JoinSet;

use super::cache::{Cache, CachedDocument};
use super::definitions::{Definitions, live_definitions};
use super::openapi;
use crate::client::{Address, Cluster, IN_FLIGHT, Request};
use reconcile_core::live::Resource;

/// Digits of a SHA-512.
const HASH: usize = 128;

/// Types of all kinds of a run.
#[derive(Debug, Default)]
pub struct Types {
    custom: BTreeMap<GroupVersion, TypeTable>,
    /// Types from CustomResourceDefinitions, of kinds that no document of the server is known to have.
    defined: BTreeMap<GroupVersionKind, TypeTable>,
    /// Types from CustomResourceDefinitions that this run has applied: the documents of the server may be older.
    applied: BTreeMap<GroupVersionKind, TypeTable>,
    /// The documents that are being loaded.
    coming: JoinSet<Documents>,
    cache: Option<Cache>,
}

type GroupVersion = (String, String);

/// The documents of some groups and versions, as far as the server has them.
type Documents = BTreeMap<GroupVersion, Option<TypeTable>>;

impl Types {
    /// Starts with the built-in types. Tables are cached below `cache`, if it is given.
    pub fn new(cache: Option<&Path>) -> Self {
        Self { cache: cache.map(Cache::below), ..Self::default() }
    }

    /// No types yet, with the same cache.
    pub fn emptied(&self) -> Self {
        Self { cache: self.cache.clone(), ..Self::default() }
    }

    /// The types of custom resources from their CustomResourceDefinitions, for comparisons without a server. If a kind has several
    /// definitions, the first one counts.
    pub fn defined<'a>(
        kinds: impl IntoIterator<Item = &'a GroupVersionKind>,
        definitions: impl IntoIterator<Item = &'a Value>,
    ) -> Self {
        Self { defined: compiled(kinds, &Definitions::of(definitions)), ..Self::default() }
    }

    /// Returns true if only the metadata of a kind's objects has a type.
    pub fn is_untyped(&self, gvk: &GroupVersionKind) -> bool {
        structured_merge::builtin_kind(gvk).is_none() && self.custom(gvk).is_none()
    }

    /// The type of a kind's objects. Objects of an unknown kind are untyped.
    pub fn of(&self, gvk: &GroupVersionKind) -> TypeRef<'_> {
        if let Some(builtin) = structured_merge::builtin().object(gvk) {
            return builtin;
        }
        match self.custom(gvk) {
            Some(custom) => custom,
            None => structured_merge::untyped_object(),
        }
    }

    fn custom(&self, gvk: &GroupVersionKind) -> Option<TypeRef<'_>> {
        if let Some(applied) = self.applied.get(gvk) {
            return applied.object(gvk);
        }
        let served = self.custom.get(&(gvk.group.clone(), gvk.version.clone()));
        served.and_then(|table| table.object(gvk)).or_else(|| self.defined.get(gvk)?.object(gvk))
    }

    /// Begins to load the documents of custom kinds, which [`load`](Self::load) awaits.
    pub fn begin<'k>(&mut self, cluster: &Cluster, kinds: impl IntoIterator<Item = &'k GroupVersionKind>) {
        let wanted = self.missing(kinds);
        if !wanted.is_empty() {
            let cluster = cluster.clone();
            let cache = self.cache.clone();
            self.coming.spawn(async move { documents(&cluster, cache.as_ref(), wanted).await });
        }
    }

    /// Loads the missing types of custom kinds from the server's documents. A kind that the documents do not have, as right after its
    /// definition, gets the type of its CustomResourceDefinition. If that fails, the kind stays untyped: nothing about its objects
    /// is proven, and dry runs decide.
    pub async fn load(&mut self, cluster: &Cluster, resources: impl IntoIterator<Item = &Resource>) {
        let mut asked = BTreeSet::new();
        while let Some(documents) = self.coming.join_next().await {
            asked.extend(self.take(documents.unwrap_or_default()));
        }
        let mut rest: BTreeMap<_, _> = resources.into_iter().map(|resource| (&resource.gvk, resource)).collect();
        rest.retain(|gvk, _| !gvk.group.is_empty() && self.is_untyped(gvk));
        let mut wanted = self.missing(rest.keys().copied());
        wanted.retain(|group_version| !asked.contains(group_version));
        self.take(documents(cluster, self.cache.as_ref(), wanted).await);
        rest.retain(|gvk, _| self.is_untyped(gvk));
        if !rest.is_empty() {
            let definitions = live_definitions(cluster, rest.values().copied()).await;
            self.defined.extend(compiled(rest.into_keys(), &Definitions::of(&definitions)));
        }
    }

    /// The groups and versions whose documents have not been loaded, of kinds without a type.
    fn missing<'k>(&self, kinds: impl IntoIterator<Item = &'k GroupVersionKind>) -> BTreeSet<GroupVersion> {
        let untyped = kinds.into_iter().filter(|gvk| !gvk.group.is_empty() && self.is_untyped(gvk));
        let missing = untyped.map(|gvk| (gvk.group.clone(), gvk.version.clone()));
        missing.filter(|group_version| !self.custom.contains_key(group_version)).collect()
    }

    /// Adds documents. Returns the groups and versions that the server was asked for.
    fn take(&mut self, documents: Documents) -> Vec<GroupVersion> {
        let asked = documents.keys().cloned().collect();
        let found = documents.into_iter().filter_map(|(group_version, table)| Some((group_version, table?)));
        self.custom.extend(found);
        asked
    }

    /// Forgets the types of the server, after these CustomResourceDefinitions have been applied, and takes those of the kinds from them.
    pub fn forget<'a>(
        &mut self,
        kinds: impl IntoIterator<Item = &'a GroupVersionKind>,
        applied: impl IntoIterator<Item = &'a Value>,
    ) {
        self.custom.clear();
        self.defined.clear();
        self.applied.extend(compiled(kinds, &Definitions::of(applied)));
        self.coming = JoinSet::new();
    }
}

/// The types of kinds by their definitions.
fn compiled<'a>(
    kinds: impl IntoIterator<Item = &'a GroupVersionKind>,
    definitions: &Definitions<'_>,
) -> BTreeMap<GroupVersionKind, TypeTable> {
    let table = |gvk: &'a GroupVersionKind| Some((gvk.clone(), compile_definition(definitions.get(gvk)?, gvk)?));
    kinds.into_iter().filter_map(table).collect()
}

/// Loads the server's documents. Their index names the hash of each (KEP-2896), and only documents with an unknown hash are fetched.
async fn documents(cluster: &Cluster, cache: Option<&Cache>, wanted: BTreeSet<GroupVersion>) -> Documents {
    if wanted.is_empty() {
        return Documents::new();
    }
    let path = |(group, version): &GroupVersion| format!("apis/{group}/{version}");
    let urls = openapi::urls(cluster, wanted.iter().map(path).collect()).await.unwrap_or_default();
    let tables = wanted.into_iter().map(|group_version| {
        let source = urls.get(&path(&group_version));
        let source = source.and_then(|url| source_of(url, &group_version.0, &group_version.1));
        async move {
            let table = match source {
                Some(source) => table(cluster, cache, &group_version, source).await,
                None => None,
            };
            (group_version, table)
        }
    });
    futures::stream::iter(tables).buffer_unordered(IN_FLIGHT).collect().await
}

/// Reads the types of one group and version. A document that does not have the server's hash is used in this run, but not cached.
async fn table(
    cluster: &Cluster,
    cache: Option<&Cache>,
    (group, version): &GroupVersion,
    source: DocumentSource,
) -> Option<TypeTable> {
    let document = CachedDocument { server: cluster.server(), group, version };
    let kept = cache.zip(source.hash.as_deref());
    if let Some(table) = kept.and_then(|(cache, hash)| cache.read(&document, hash)) {
        return Some(table);
    }
    let (table, is_right) = openapi::table(cluster, Request::read(source.address), source.hash.clone()).await.ok()?;
    let table = table?.only(group, version);
    if let Some((cache, hash)) = kept.filter(|_| is_right) {
        // If the cache cannot be written, the next run sends one more request.
        let _ = cache.write(&document, hash, &table);
    }
    Some(table)
}

/// The address of a document, and the server's hash of it, if there is one.
#[derive(Debug, PartialEq)]
struct DocumentSource {
    address: Address,
    hash: Option<String>,
}

/// Reads the entry of the index for a group and version. An aggregated API may have written it, so it may only lead to the document
/// of that group and version.
fn source_of(url: &str, group: &str, version: &str) -> Option<DocumentSource> {
    let (path, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    if path != format!("/openapi/v3/apis/{group}/{version}") {
        return None;
    }
    let address = Address::from("/openapi/v3/apis").join(group.to_owned()).join(version.to_owned());
    let Some(query) = query else { return Some(DocumentSource { address, hash: None }) };
    let hash = query.strip_prefix("hash=")?;
    let is_hash = hash.len() == HASH && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| DocumentSource { address: address.with("hash", hash), hash: Some(hash.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_group_versions_own_document_is_read() {
        let hash = "0123456789ABCDEF".repeat(8);
        let address = || Address::from("/openapi/v3/apis/example.com/v1");
        let source_of = |url: &str| source_of(url, "example.com", "v1");
        let hashed = DocumentSource { address: address().with("hash", hash.as_str()), hash: Some(hash.clone()) };
        assert_eq!(source_of(&format!("/openapi/v3/apis/example.com/v1?hash={hash}")), Some(hashed));
        assert_eq!(
            source_of("/openapi/v3/apis/example.com/v1"),
            Some(DocumentSource { address: address(), hash: None })
        );
        for url in [
            format!("https://elsewhere.example/openapi/v3/apis/example.com/v1?hash={hash}"),
            format!("//elsewhere.example/openapi/v3/apis/example.com/v1?hash={hash}"),
            format!("/openapi/v3/apis/other.com/v1?hash={hash}"),
            format!("/openapi/v3/apis/example.com/v1/../v2?hash={hash}"),
            "/api/v1/namespaces/kube-system/secrets".to_owned(),
            "/openapi/v3/apis/example.com/v1?hash=../../x".to_owned(),
            format!("/openapi/v3/apis/example.com/v1?hash={hash}&watch=true"),
            "/openapi/v3/apis/example.com/v1?timeout=1".to_owned(),
        ] {
            assert_eq!(source_of(&url), None, "{url}");
        }
    }
}

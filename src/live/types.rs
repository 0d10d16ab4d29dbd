//! The types of the kinds at hand: built-in kinds from the table in the program, all others from the server, kept on disk
//! as compiled tables under the hash of their document.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::json;
use crate::cluster::{Cluster, Request};
use crate::object::GroupVersionKind;
use crate::schema::{self, Origin, TypeRef, TypeTable};

/// Changes with the form of compiled tables, so that older ones aren't read.
const FORM: &str = "v2";

/// Types of all kinds that a run deals with.
#[derive(Debug, Default)]
pub struct Types {
    custom: BTreeMap<GroupVersion, TypeTable>,
    cache: Option<PathBuf>,
}

type GroupVersion = (String, String);

impl Types {
    /// No types but the built-in ones; tables are kept below `cache`, where there is one.
    #[must_use]
    pub fn new(cache: Option<&Path>) -> Self {
        let cache = cache.map(|folder| folder.join("kubectl-reconcile").join("types").join(FORM));
        Self { custom: BTreeMap::new(), cache }
    }

    /// The type of a kind's objects. A kind of which nothing is known is compared as an untyped object.
    #[must_use]
    pub fn of(&self, gvk: &GroupVersionKind) -> TypeRef<'_> {
        if let Some(builtin) = schema::builtin().object(gvk) {
            return builtin;
        }
        let table = self.custom.get(&(gvk.group.clone(), gvk.version.clone()));
        match table.and_then(|table| table.object(gvk)) {
            Some(custom) => custom,
            None => schema::untyped_object(),
        }
    }

    /// Loads the types of the group-versions that aren't built in and aren't there yet: the server's index names the
    /// hash of each document (KEP-2896), and only documents that aren't known by their hash are fetched. What can't be
    /// had leaves its kinds untyped: nothing of them is proven then, and the server is asked.
    pub async fn load(&mut self, cluster: &Cluster, kinds: impl IntoIterator<Item = &GroupVersionKind>) {
        let mut wanted: Vec<GroupVersion> = kinds
            .into_iter()
            .filter(|gvk| !gvk.group.is_empty() && schema::builtin_kind(gvk).is_none())
            .map(|gvk| (gvk.group.clone(), gvk.version.clone()))
            .filter(|group_version| !self.custom.contains_key(group_version))
            .collect();
        wanted.sort();
        wanted.dedup();
        if wanted.is_empty() {
            return;
        }
        let index = json(cluster, Request::read("/openapi/v3")).await.unwrap_or_default();
        let cache = self.cache.as_deref();
        let tables = wanted.into_iter().map(|group_version| {
            let (group, version) = &group_version;
            let entry = index.get("paths").and_then(|paths| paths.get(format!("apis/{group}/{version}")));
            let url = entry.and_then(|entry| entry.get("serverRelativeURL")).and_then(Value::as_str);
            let url = url.map(ToOwned::to_owned);
            async move { Some((group_version, table(cluster, cache, url?.as_str()).await?)) }
        });
        let tables: Vec<Option<(GroupVersion, TypeTable)>> = futures::future::join_all(tables).await;
        self.custom.extend(tables.into_iter().flatten());
    }

    /// Forgets what came from the server, for when its CustomResourceDefinitions have changed.
    pub fn forget(&mut self) {
        self.custom.clear();
    }
}

async fn table(cluster: &Cluster, cache: Option<&Path>, url: &str) -> Option<TypeTable> {
    let kept = cache.and_then(|folder| Some(folder.join(hash(url)?)));
    if let Some(table) = kept.as_deref().and_then(read) {
        return Some(table);
    }
    let document: Value = json(cluster, Request::read(url)).await.ok()?;
    let table = schema::compile([&document], Origin::Custom).ok()?;
    if let Some(path) = kept {
        // A cache that can't be written costs the next run a request.
        let _ = write(&path, &table);
    }
    Some(table)
}

/// The hash in a document's URL, as a file name: hexadecimal digits, so that it can't lead elsewhere.
fn hash(url: &str) -> Option<String> {
    let (_, hash) = url.split_once("hash=")?;
    let hash = hash.split('&').next().unwrap_or_default();
    let is_plain = hash.len() >= 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_plain.then(|| format!("{hash}.json"))
}

fn read(path: &Path) -> Option<TypeTable> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Whole or not at all: other runs may be reading and writing the same file.
fn write(path: &Path, table: &TypeTable) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let draft = path.with_extension(std::process::id().to_string());
    std::fs::write(&draft, serde_json::to_vec(table)?)?;
    std::fs::rename(&draft, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hash_becomes_a_file_name() {
        let sixty_four = "0123456789ABCDEF".repeat(4);
        let url = format!("/openapi/v3/apis/example.com/v1?hash={sixty_four}");
        assert_eq!(hash(&url), Some(format!("{sixty_four}.json")));
        assert_eq!(hash("/openapi/v3/apis/example.com/v1"), None);
        assert_eq!(hash(&format!("/openapi?hash=../../{sixty_four}")), None);
    }

    #[test]
    fn a_table_is_read_as_it_was_written_and_a_broken_one_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("table.json");
        write(&path, schema::builtin()).unwrap();
        assert_eq!(read(&path).unwrap().to_text(), schema::builtin().to_text());
        std::fs::write(&path, b"{\"types\":[").unwrap();
        assert!(read(&path).is_none());
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}

//! Compiled types on disk: one file for each server, group and version, in a folder that only the user can write.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::{Duration, SystemTime};

use ring::digest;
use serde::{Deserialize, Serialize};
use structured_merge::TypeTable;
use tempfile::{Builder, NamedTempFile};

use crate::bounded::read_at_most;
use crate::private_folder::make_folders;
use reconcile_core::exact;
use reconcile_core::text::hex;

/// The version of the file format, so that older files are not read.
const FORM: &str = "v4";

/// The largest file that is read, in bytes. Tables are smaller than the documents that they are compiled from, and those
/// are read up to this size.
const MAX_FILE: u64 = 16 << 20;

/// The random characters in the name of a draft.
const RANDOM: usize = 16;

/// A folder of compiled types.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    /// The cache folder that the user sets, or `~/.kube/cache`.
    root: PathBuf,
    /// Ensures that surplus files are removed once in a run.
    tidied: Arc<Once>,
}

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct CacheEntry<T> {
    /// The server's hash of the document.
    hash: String,
    table: T,
}

impl Cache {
    pub fn below(root: &Path) -> Self {
        Self { root: root.to_owned(), tidied: Arc::new(Once::new()) }
    }

    /// The cached types of this document; `None` if its hash has changed.
    pub fn read(&self, document: &CachedDocument<'_>, hash: &str) -> Option<TypeTable> {
        let folder = self.folder(false).ok()?;
        let path = folder.join(document.file_name());
        if !fs::symlink_metadata(&path).ok()?.is_file() {
            return None;
        }
        let text = read_at_most(fs::File::open(path).ok()?, MAX_FILE).ok()??;
        let entry: CacheEntry<TypeTable> = exact::from_slice(&text).ok()?;
        (entry.hash == hash && document.is_all_of(&entry.table)).then_some(entry.table)
    }

    /// Writes types atomically: other runs may read and write the same file.
    pub fn write(&self, document: &CachedDocument<'_>, hash: &str, table: &TypeTable) -> io::Result<()> {
        let folder = self.folder(true)?;
        let text = serde_json::to_vec(&CacheEntry { hash: hash.to_owned(), table })?;
        self.tidied.call_once(|| tidy(&folder));
        let mut draft = draft(&folder)?;
        draft.write_all(&text)?;
        draft.persist(folder.join(document.file_name())).map_err(io::Error::from).map(drop)
    }

    /// The folder with the files, if it is the user's own. With `make`, it is created if it is missing.
    fn folder(&self, make: bool) -> io::Result<PathBuf> {
        let mut folder = self.root.clone();
        if make && !folder.exists() {
            make_folders(&folder)?;
        }
        check(&folder, &fs::metadata(&folder)?)?;
        for name in ["kubectl-reconcile", "types", FORM] {
            folder.push(name);
            if make && fs::symlink_metadata(&folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                make_folders(&folder)?;
            }
            // Links are not followed.
            check(&folder, &fs::symlink_metadata(&folder)?)?;
        }
        Ok(folder)
    }
}

/// One document of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachedDocument<'d> {
    /// The server's URL.
    pub server: &'d str,
    /// The API group that the document describes.
    pub group: &'d str,
    /// The version of the group.
    pub version: &'d str,
}

impl CachedDocument<'_> {
    /// A hash of all three, as their texts may have characters that file names cannot have.
    fn file_name(&self) -> String {
        let Self { server, group, version } = self;
        let key = format!("{server}\n{group}\n{version}");
        format!("{}.json", hex(digest::digest(&digest::SHA256, key.as_bytes()).as_ref()))
    }

    /// Returns true if all kinds of a table are of this group and version.
    fn is_all_of(&self, table: &TypeTable) -> bool {
        table.kinds().iter().all(|kind| kind.gvk.group == self.group && kind.gvk.version == self.version)
    }
}

/// A document that is hashed while it is read.
pub(super) struct Hashed<R> {
    document: R,
    hash: digest::Context,
}

impl<R> Hashed<R> {
    pub fn new(document: R) -> Self {
        Self { document, hash: digest::Context::new(&digest::SHA512) }
    }

    /// Returns true if what was read has the server's hash: the SHA-512 of the JSON in uppercase hexadecimal digits (kube-openapi,
    /// `handler3/handler.go`).
    pub fn has(self, hash: &str) -> bool {
        hex(self.hash.finish().as_ref()).eq_ignore_ascii_case(hash)
    }
}

impl<R: io::Read> io::Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.document.read(buffer)?;
        self.hash.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// A new file that only the user can read, and that is removed unless it gets another name.
fn draft(folder: &Path) -> io::Result<NamedTempFile> {
    // Files are private unless something else is asked for.
    Builder::new().prefix("").suffix(".draft").rand_bytes(RANDOM).tempfile_in(folder)
}

/// Refuses a folder that another user can write: that user would decide the content of its files.
#[cfg(unix)]
fn check(folder: &Path, metadata: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    if !metadata.is_dir() || metadata.mode() & WRITABLE_BY_OTHERS != 0 || metadata.uid() != own_id(folder)? {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}

#[cfg(not(unix))]
fn check(_: &Path, metadata: &fs::Metadata) -> io::Result<()> {
    if metadata.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// The user's id: that of the process, or of a file made in the folder where there is no `/proc`.
#[cfg(unix)]
fn own_id(folder: &Path) -> io::Result<u32> {
    use std::os::unix::fs::MetadataExt as _;
    if let Ok(process) = fs::metadata("/proc/self") {
        return Ok(process.uid());
    }
    Ok(draft(folder)?.as_file().metadata()?.uid())
}

/// The most files that are kept.
const MOST_FILES: usize = 1_000;
/// The most bytes that all files may have together.
const MOST_BYTES: u64 = 256 << 20;
/// Age from which a draft is one of a run that was killed.
const OLDEST_DRAFT: Duration = Duration::from_hours(1);

/// Limits the folder: removes abandoned drafts, and the oldest files above the limits. A file that cannot be removed stays.
fn tidy(folder: &Path) {
    tidy_at(folder, SystemTime::now(), (MOST_FILES, MOST_BYTES));
}

fn tidy_at(folder: &Path, now: SystemTime, (most_files, most_bytes): (usize, u64)) {
    let drafts = files(folder, "draft")
        .into_iter()
        .filter(|(time, _, _)| now.duration_since(*time).is_ok_and(|age| age > OLDEST_DRAFT));
    let mut kept = files(folder, "json");
    kept.sort_by(|(a, ..), (b, ..)| b.cmp(a));
    let mut bytes = 0_u64;
    let too_many = kept.into_iter().enumerate().filter(|(at, (_, size, _))| {
        bytes = bytes.saturating_add(*size);
        *at >= most_files || bytes > most_bytes
    });
    for (_, _, path) in drafts.chain(too_many.map(|(_, file)| file)) {
        let _ = fs::remove_file(path);
    }
}

/// The files with this extension: time of the last write, size in bytes, and path.
fn files(folder: &Path, extension: &str) -> Vec<(SystemTime, u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| path.extension() == Some(OsStr::new(extension)));
    let file = |path: PathBuf| {
        let metadata = fs::symlink_metadata(&path).ok().filter(Metadata::is_file)?;
        Some((metadata.modified().ok()?, metadata.len(), path))
    };
    paths.filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use structured_merge::GroupVersionKind;
    use structured_merge::{Origin, compile};

    const WIDGETS: CachedDocument<'_> = CachedDocument { server: "https://a", group: "example.com", version: "v1" };

    fn table(group: &str) -> TypeTable {
        let gvk = json!({"group": group, "version": "v1", "kind": "Widget"});
        let item = json!({"type": "object", "properties": {"name": {"type": "string"}, "port": {"type": "integer", "default": 80}}});
        let ports = json!({"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]});
        let tags = json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"});
        let limits = json!({"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": true}});
        let colour = json!({"type": "object", "default": {"name": "green", "depth": 1.5}, "x-kubernetes-preserve-unknown-fields": true});
        let spec =
            json!({"type": "object", "properties": {"ports": ports, "tags": tags, "limits": limits, "colour": colour}});
        let properties = json!({"apiVersion": {"type": "string"}, "metadata": {"type": "object"}, "spec": spec});
        let schema = json!({"type": "object", "properties": properties, "x-kubernetes-group-version-kind": [&gvk]});
        let document: Value = json!({
            "paths": {"/widgets/{name}": {"patch": {"x-kubernetes-group-version-kind": gvk}}},
            "components": {"schemas": {"Widget": schema}},
        });
        compile([&document], Origin::Custom).unwrap()
    }

    #[test]
    fn types_are_read_back_as_they_were_written() {
        let table = table("example.com");
        let text = serde_json::to_vec(&table).unwrap();
        let read: TypeTable = exact::from_slice(&text).unwrap();
        assert_eq!(serde_json::to_vec(&read).unwrap(), text);
    }

    fn kinds(table: Option<TypeTable>) -> Option<Vec<GroupVersionKind>> {
        Some(table?.kinds().iter().map(|kind| kind.gvk.clone()).collect())
    }

    #[test]
    fn types_are_kept_for_one_server_group_version_and_hash() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::below(&home.path().join("deep/cache"));
        assert!(cache.read(&WIDGETS, "AB").is_none());
        cache.write(&WIDGETS, "AB", &table("example.com")).unwrap();
        let widget = GroupVersionKind::new("example.com/v1", "Widget");
        assert_eq!(kinds(cache.read(&WIDGETS, "AB")), Some(vec![widget]));
        assert!(cache.read(&WIDGETS, "CD").is_none(), "another document");
        for other in [
            CachedDocument { server: "https://b", ..WIDGETS },
            CachedDocument { group: "other.com", ..WIDGETS },
            CachedDocument { version: "v2", ..WIDGETS },
        ] {
            assert!(cache.read(&other, "AB").is_none(), "{other:?}");
        }
        cache.write(&WIDGETS, "AB", &table("other.com")).unwrap();
        assert!(cache.read(&WIDGETS, "AB").is_none(), "kinds of another group");
        let folder = cache.folder(false).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
        fs::write(folder.join(WIDGETS.file_name()), b"{\"hash\":\"AB\",\"table\":").unwrap();
        assert!(cache.read(&WIDGETS, "AB").is_none(), "a broken file");
        let huge = fs::File::create(folder.join(WIDGETS.file_name())).unwrap();
        huge.set_len(MAX_FILE + 1).unwrap();
        assert!(cache.read(&WIDGETS, "AB").is_none(), "a file without end");
    }

    #[test]
    fn a_hash_is_that_of_kube_openapi() {
        let hash = "DDAF35A193617ABACC417349AE20413112E6FA4E89A97EA20A9EEEE64B55D39A\
                    2192992A274FC1A836BA3C23A3FEEBBD454D4423643CE80E2A9AC94FA54CA49F";
        let has = |text: &str, hash: &str| {
            let mut hashed = Hashed::new(text.as_bytes());
            io::copy(&mut hashed, &mut io::sink()).unwrap();
            hashed.has(hash)
        };
        assert!(has("abc", hash) && !has("abd", hash) && !has("abc", &hash[..64]));
    }

    #[cfg(unix)]
    #[test]
    fn what_others_can_write_to_is_not_used() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::below(&home.path().join("cache"));
        cache.write(&WIDGETS, "AB", &table("example.com")).unwrap();
        let folder = cache.folder(false).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        let file = folder.join(WIDGETS.file_name());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

        for open in [home.path().join("cache"), home.path().join("cache/kubectl-reconcile"), folder.clone()] {
            fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
            assert!(cache.read(&WIDGETS, "AB").is_none(), "{}", open.display());
            assert!(cache.write(&WIDGETS, "AB", &table("example.com")).is_err(), "{}", open.display());
            fs::set_permissions(&open, fs::Permissions::from_mode(0o700)).unwrap();
        }
        assert!(cache.read(&WIDGETS, "AB").is_some());

        // A link in the place of the file is replaced, not followed; one in the place of a folder is not used.
        let victim = home.path().join("victim.txt");
        fs::write(&victim, "mine").unwrap();
        fs::remove_file(&file).unwrap();
        symlink(&victim, &file).unwrap();
        assert!(cache.read(&WIDGETS, "AB").is_none());
        cache.write(&WIDGETS, "AB", &table("example.com")).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert!(cache.read(&WIDGETS, "AB").is_some());
        let moved = home.path().join("moved");
        fs::rename(&folder, &moved).unwrap();
        symlink(&moved, &folder).unwrap();
        assert!(cache.read(&WIDGETS, "AB").is_none());
        assert!(cache.write(&WIDGETS, "AB", &table("example.com")).is_err());
    }

    const HOUR: Duration = Duration::from_hours(1);

    fn file(folder: &Path, name: &str, age: Duration, bytes: usize) {
        let path = folder.join(name);
        fs::write(&path, vec![b'x'; bytes]).unwrap();
        fs::File::open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn drafts_of_killed_runs_go_and_those_under_way_stay() {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), "old.draft", HOUR * 2, 1);
        file(folder.path(), "new.draft", HOUR / 2, 1);
        file(folder.path(), "old.json", HOUR * 9_000, 1);
        file(folder.path(), "note.txt", HOUR * 9_000, 1);
        tidy(folder.path());
        assert_eq!(names(folder.path()), ["new.draft", "note.txt", "old.json"]);
    }

    #[test]
    fn what_was_written_longest_ago_goes_where_there_is_too_much() {
        let folder = tempfile::tempdir().unwrap();
        for (name, age) in [("a", 4), ("b", 1), ("c", 3), ("d", 2)] {
            file(folder.path(), &format!("{name}.json"), HOUR * age, 100);
        }
        tidy_at(folder.path(), SystemTime::now(), (3, 1_000));
        assert_eq!(names(folder.path()), ["b.json", "c.json", "d.json"]);
        tidy_at(folder.path(), SystemTime::now(), (3, 250));
        assert_eq!(names(folder.path()), ["b.json", "d.json"]);
    }
}

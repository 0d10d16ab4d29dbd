//! A set of manifests, as a project publishes it: a folder below `testdata/installs`.
//!
//! The YAML files of the folder are the first release; those in its subfolder `v2`, where there is one, replace files of the same
//! name in the second. Files whose name begins with `crds` define the set's kinds. A file that begins with `# for NAME in a b c`
//! is written once for each word, with `$NAME` (`$LOWER` in lower case) and its number `$I` filled in; `$DASHBOARD` is a large
//! document in JSON.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::control_plane::Workspace;

/// A file that only our program can apply to an object that exists: to kubectl, the server rejects it.
const REFUSED_TO_KUBECTL: &str = "empty-fields.yaml";

/// A set of manifests.
#[derive(Debug, Clone)]
pub struct Set {
    pub name: String,
    folder: PathBuf,
}

impl Set {
    /// All sets, in the order of their names.
    pub fn all() -> Vec<Set> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/installs");
        let mut sets: Vec<Set> = entries(&folder)
            .into_iter()
            .map(|folder| Set { name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(), folder })
            .collect();
        sets.sort_by(|a, b| a.name.cmp(&b.name));
        assert!(!sets.is_empty(), "no sets in {}", folder.display());
        sets
    }

    pub fn has_second_release(&self) -> bool {
        self.folder.join("v2").exists()
    }

    /// Writes the first release to the workspace's folder; the names of its files.
    pub fn write(&self, ws: &Workspace) -> Vec<String> {
        write_folder(&self.folder, ws)
    }

    /// Writes the second release over the first.
    pub fn upgrade(&self, ws: &Workspace) {
        write_folder(&self.folder.join("v2"), ws);
    }
}

/// The files that kubectl, too, can apply to objects that exist.
pub fn for_kubectl(files: &[String]) -> Vec<String> {
    files.iter().filter(|file| *file != REFUSED_TO_KUBECTL).cloned().collect()
}

/// The files that define kinds.
pub fn definitions(files: &[String]) -> Vec<String> {
    files.iter().filter(|file| file.starts_with("crds")).cloned().collect()
}

/// `-f` before each file.
pub fn flags(files: &[String]) -> Vec<&str> {
    files.iter().flat_map(|file| ["-f", file]).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("an entry of a folder").path()).collect()
}

fn write_folder(folder: &Path, ws: &Workspace) -> Vec<String> {
    let mut files = Vec::new();
    for path in entries(folder).into_iter().filter(|path| path.is_file()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        ws.write(&name, &expand(&text));
        files.push(name);
    }
    files.sort();
    files
}

/// The text for each word of its first line, if that asks for it.
fn expand(text: &str) -> String {
    let words = text.lines().next().and_then(|line| line.strip_prefix("# for NAME in "));
    let Some(words) = words else { return fill_in(text, "", 0) };
    words
        .split_whitespace()
        .enumerate()
        .map(|(at, word)| fill_in(text, word, at + 1))
        .collect::<Vec<_>>()
        .join("\n---\n")
}

fn fill_in(text: &str, name: &str, number: usize) -> String {
    let mut text =
        text.replace("$NAME", name).replace("$LOWER", &name.to_lowercase()).replace("$I", &number.to_string());
    if text.contains("$DASHBOARD") {
        text = text.replace("$DASHBOARD", &Value::String(dashboard(name, number)).to_string());
    }
    text
}

/// A dashboard as dashboard tools export it: some forty kilobytes of indented JSON.
fn dashboard(name: &str, number: usize) -> String {
    let panel = |id: usize| {
        json!({
            "id": id, "title": format!("{name} {id}"), "type": "timeseries", "datasource": {"uid": "$datasource"},
            "gridPos": {"h": 7, "w": 12, "x": id % 2 * 12, "y": id / 2 * 7},
            "fieldConfig": {"defaults": {"unit": "percentunit", "custom": {"fillOpacity": 10 * number, "spanNulls": true}}, "overrides": []},
            "targets": [
                {"expr": format!("sum(rate({name}_seconds_bucket{{le=\"{id}\", cluster=\"$cluster\"}}[5m])) by (le)"), "refId": "A"},
                {"expr": format!("histogram_quantile(0.99, sum({name}_total{{code=~\"5..\"}}) by (le)) \\ 1"), "refId": "B"},
            ],
        })
    };
    let panels: Vec<Value> = (1..=40).map(panel).collect();
    let dashboard = json!({"title": name, "uid": format!("{name}-{number}"), "version": number, "refresh": "10s", "panels": panels});
    serde_json::to_string_pretty(&dashboard).expect("JSON")
}

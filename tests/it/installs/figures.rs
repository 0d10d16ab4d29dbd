//! What is counted, and what failed.

use std::fmt;
use std::io::{Write as _, stdout};

use serde_json::Value;

use crate::control_plane::{Resource, Run};

/// Which object is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Id {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
}

impl Id {
    /// That of an object of a report.
    pub fn of(object: &Value) -> Id {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let api_version = text("apiVersion");
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        Id {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: text("kind"),
            namespace: text("namespace"),
            name: text("name"),
        }
    }

    /// Where the API server has it, among the resources that it serves.
    pub fn path(&self, resources: &[Resource]) -> String {
        let resource = resources.iter().find(|resource| resource.kind == self.kind && resource.group == self.group);
        let resource = resource.unwrap_or_else(|| panic!("the server does not serve {self}"));
        let resource = Resource { version: self.version.clone(), ..resource.clone() };
        format!("{}/{}", resource.path(&self.namespace), self.name)
    }

    /// The name of its file in what `kubectl diff` compares.
    pub fn kubectl_file(&self) -> String {
        let group = if self.group.is_empty() { String::new() } else { format!("{}.", self.group) };
        format!("{group}{}.{}.{}.{}", self.version, self.kind, self.namespace, self.name)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// The figures of one set.
#[derive(Default)]
pub struct Figures {
    pub set: String,
    pub objects: usize,
    /// In sync right after the install, without a question to the server, and with one.
    pub proven: usize,
    pub asked: usize,
    /// Objects of which a leaf was changed; of these: reported at its exact path, at the item or list around it, and healed.
    pub drifted: usize,
    pub exact: usize,
    pub around: usize,
    pub healed: usize,
    /// Drifts that ended in the manifest, and in the cluster.
    pub pulled: usize,
    pub applied: usize,
    /// Objects that `kubectl diff --server-side` finds changes of as well, where it was asked.
    pub shown_to_kubectl: usize,
    /// Objects that the upgrade updates.
    pub upgraded: usize,
    /// Objects that kubectl had applied, and that are ours without a change.
    pub adopted: usize,
    pub notes: Vec<String>,
    pub failures: Vec<String>,
}

impl Figures {
    pub fn new(set: &str) -> Figures {
        Figures { set: set.to_owned(), ..Figures::default() }
    }

    pub fn check(&mut self, holds: bool, failure: impl FnOnce() -> String) {
        if !holds {
            let failure = format!("{}: {}", self.set, failure());
            self.failures.push(failure);
        }
    }

    /// Lines that are shown below the figures.
    pub fn note_all<'a>(&mut self, lines: impl Iterator<Item = &'a str>) {
        let set = &self.set;
        self.notes.extend(lines.map(|line| format!("{set}: {line}")));
    }

    /// Notes a run that ended otherwise than expected.
    pub fn check_exit(&mut self, run: &Run, code: i32) {
        self.check(run.code == code, || {
            let trouble =
                objects(run).iter().filter(|object| !object["error"].is_null() || !object["reason"].is_null());
            let trouble: Vec<String> =
                trouble.map(|o| format!("{}: {} {}", Id::of(o), o["error"], o["reason"])).take(5).collect();
            let trouble =
                if trouble.is_empty() { run.to_string().chars().take(3000).collect() } else { trouble.join("\n  ") };
            format!("exit code {} instead of {code} of `{}`\n  {trouble}", run.code, run.command)
        });
    }
}

/// The objects of a report.
pub fn objects(run: &Run) -> &[Value] {
    run.report.as_ref().and_then(|report| report["objects"].as_array()).map_or(&[], Vec::as_slice)
}

type Count = fn(&Figures) -> usize;

/// The columns of the table of figures.
const COLUMNS: [(&str, Count); 12] = [
    ("objects", |f| f.objects),
    ("proven", |f| f.proven),
    ("asked", |f| f.asked),
    ("drifted", |f| f.drifted),
    ("exact", |f| f.exact),
    ("around", |f| f.around),
    ("kubectl", |f| f.shown_to_kubectl),
    ("healed", |f| f.healed),
    ("pulled", |f| f.pulled),
    ("applied", |f| f.applied),
    ("upgraded", |f| f.upgraded),
    ("adopted", |f| f.adopted),
];

/// Shows the figures; fails with all failures.
pub fn report(title: &str, all: &[Figures]) {
    let row = |first: &str, cells: [String; COLUMNS.len()]| {
        format!("{first:12}{}", cells.map(|cell| format!("{cell:>9}")).concat())
    };
    let mut lines = vec![String::new(), title.to_owned(), row("set", COLUMNS.map(|(name, _)| name.to_owned()))];
    lines.extend(all.iter().map(|figures| row(&figures.set, COLUMNS.map(|(_, of)| of(figures).to_string()))));
    lines.push(row("all", COLUMNS.map(|(_, of)| all.iter().map(of).sum::<usize>().to_string())));
    lines.extend(all.iter().flat_map(|figures| figures.notes.iter().cloned()));
    writeln!(stdout(), "{}\n", lines.join("\n")).expect("standard output");
    let failures: Vec<&str> = all.iter().flat_map(|figures| &figures.failures).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} failures:\n{}\n", failures.len(), failures.join("\n"));
}

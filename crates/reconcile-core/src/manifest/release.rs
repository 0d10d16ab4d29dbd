use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;

/// The identity of a release of Helm.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseName {
    /// Its name.
    pub name: String,
    /// The namespace of its records.
    pub namespace: String,
}

/// A label or an annotation by which Helm knows the objects of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseMark {
    /// `labels` or `annotations`.
    pub map: &'static str,
    /// Its key.
    pub key: &'static str,
    /// Its value.
    pub value: String,
}

impl ReleaseName {
    /// The label and the annotations that Helm gives to the objects of the release.
    pub fn marks(&self) -> [ReleaseMark; 3] {
        let mark = |map, key, value: &str| ReleaseMark { map, key, value: value.to_owned() };
        [
            mark("labels", "app.kubernetes.io/managed-by", "Helm"),
            mark("annotations", "meta.helm.sh/release-name", &self.name),
            mark("annotations", "meta.helm.sh/release-namespace", &self.namespace),
        ]
    }
}

/// `shop/pay`
impl fmt::Display for ReleaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A revision of a release of Helm, as Helm recorded it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReleaseInfo {
    /// The name of the release.
    pub name: String,
    /// The namespace of its records.
    pub namespace: String,
    /// The number of the revision.
    pub revision: u32,
    /// The name of its chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chart: Option<String>,
    /// The version of its chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its status, such as `deployed`.
    pub status: String,
    /// The time at which Helm deployed it, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The newest revision, if that is another one, as after an upgrade that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer: Option<NewerRevision>,
}

/// A revision of a release that is newer than the one that is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewerRevision {
    /// Its number.
    pub revision: u32,
    /// Its status, such as `failed`.
    pub status: String,
}

impl ReleaseInfo {
    /// `revision 1 (podinfo-6.9.3); revision 2 failed`
    pub fn described(&self) -> String {
        let chart = match (&self.chart, &self.version) {
            (Some(chart), Some(version)) => format!(" ({chart}-{version})"),
            (Some(chart), None) => format!(" ({chart})"),
            (None, _) => String::new(),
        };
        let status = if self.status == "deployed" { String::new() } else { format!(" {}", self.status) };
        let newer = match &self.newer {
            Some(NewerRevision { revision, status }) if status == "failed" => format!("; revision {revision} failed"),
            Some(NewerRevision { revision, status }) => format!("; revision {revision} is {status}"),
            None => String::new(),
        };
        format!("revision {}{status}{chart}{newer}", self.revision)
    }

    /// The argument of `--from` by which `apply` restores this revision, which has to be named after one that failed; `None` if it does not
    /// restore it.
    pub fn restored_from(&self) -> Option<String> {
        let Self { name, revision, newer, .. } = self;
        match newer {
            _ if self.status != "deployed" => None,
            None => Some(format!("helm/{name}")),
            Some(newer) => (newer.status == "failed").then(|| format!("helm/{name}@{revision}")),
        }
    }

    /// Its name and namespace.
    pub fn named(&self) -> ReleaseName {
        ReleaseName { name: self.name.clone(), namespace: self.namespace.clone() }
    }
}

/// The method by which Helm wrote the objects of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyMethod {
    /// Server-side apply, as Helm 4 does by default.
    ServerSide,
    /// Patches, as Helm 3 does.
    ClientSide,
}

/// The releases of Helm that manifests come from.
#[derive(Clone, Debug, Default)]
pub struct Releases {
    /// Those that were read.
    pub found: Vec<ReleaseInfo>,
    /// The methods by which Helm wrote their objects, of those whose records say so.
    pub methods: BTreeMap<ReleaseName, ApplyMethod>,
    /// True if all releases were read, and not a single one.
    pub is_all: bool,
    /// Number of releases that have no deployed revision.
    pub not_deployed: usize,
    /// The reasons why others could not be read.
    pub unreadable: Vec<Diagnostic>,
}

/// Longest list of releases that is printed with all of them.
const ALL: usize = 20;

impl Releases {
    /// Those whose objects Helm writes by server-side apply.
    pub fn server_side(&self) -> impl Iterator<Item = &ReleaseInfo> {
        self.found.iter().filter(|one| self.methods.get(&one.named()) == Some(&ApplyMethod::ServerSide))
    }

    /// The lines that name them: `release podinfo revision 1 (podinfo-6.9.3); revision 2 failed`. Of many, those with a newer revision.
    pub fn lines(&self) -> Vec<String> {
        if !self.is_all {
            return self.found.iter().map(|one| format!("release {} {}", one.name, one.described())).collect();
        }
        let is_shown = |one: &&ReleaseInfo| self.found.len() <= ALL || one.newer.is_some();
        let shown = self.found.iter().filter(is_shown).take(ALL);
        let mut lines: Vec<String> = shown.map(|one| format!("release {} {}", one.named(), one.described())).collect();
        if self.found.len() > ALL {
            lines.insert(0, format!("{} releases", self.found.len()));
        }
        match self.not_deployed {
            0 => {}
            1 => lines.push("1 release is not deployed".to_owned()),
            more => lines.push(format!("{more} releases are not deployed")),
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(revision: u32, newer: Option<(u32, &str)>) -> ReleaseInfo {
        let newer = newer.map(|(revision, status)| NewerRevision { revision, status: status.to_owned() });
        ReleaseInfo {
            name: "podinfo".to_owned(),
            namespace: "apps".to_owned(),
            revision,
            chart: Some("podinfo".to_owned()),
            version: Some("6.9.3".to_owned()),
            status: "deployed".to_owned(),
            time: None,
            newer,
        }
    }

    #[test]
    fn a_release_is_named_with_its_chart_and_a_newer_revision() {
        let one = |release| Releases { found: vec![release], ..Releases::default() };
        assert_eq!(one(release(1, None)).lines(), ["release podinfo revision 1 (podinfo-6.9.3)"]);
        let failed = one(release(1, Some((2, "failed"))));
        assert_eq!(failed.lines(), ["release podinfo revision 1 (podinfo-6.9.3); revision 2 failed"]);
        let pending = one(release(1, Some((2, "pending-upgrade"))));
        assert_eq!(pending.lines(), ["release podinfo revision 1 (podinfo-6.9.3); revision 2 is pending-upgrade"]);
        let old = ReleaseInfo { status: "superseded".to_owned(), chart: None, ..release(3, None) };
        assert_eq!(one(old).lines(), ["release podinfo revision 3 superseded"]);
    }

    #[test]
    fn of_many_releases_those_are_named_that_have_a_newer_revision() {
        let mut found = vec![release(1, None); 30];
        found.push(release(1, Some((2, "failed"))));
        let all = Releases { found, is_all: true, not_deployed: 2, ..Releases::default() };
        let failed = "release apps/podinfo revision 1 (podinfo-6.9.3); revision 2 failed";
        assert_eq!(all.lines(), ["31 releases", failed, "2 releases are not deployed"]);
    }
}

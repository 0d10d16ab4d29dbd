use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use structured_merge::{LAST_APPLIED, ObjectKey, ObjectMeta as _};

use crate::diagnostic::{Code, Diagnostic};
use crate::text::{coded, is_word};

/// The annotations that name the release of an object.
const RELEASE: [&str; 2] = ["meta.helm.sh/release-namespace", "meta.helm.sh/release-name"];

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

    /// Returns true if Helm has uninstalled the release, and upgrades it no more.
    fn is_uninstalled(&self) -> bool {
        let newest = self.newer.as_ref().map_or(&self.status, |newer| &newer.status);
        matches!(newest.as_str(), "uninstalled" | "uninstalling")
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
}

/// Longest list of releases that is printed with all of them.
const ALL: usize = 20;

impl Releases {
    /// Those whose objects Helm will write by server-side apply.
    pub fn server_side(&self) -> impl Iterator<Item = &ReleaseInfo> {
        let is_server_side = move |one: &&ReleaseInfo| self.methods.get(&one.named()) == Some(&ApplyMethod::ServerSide);
        self.found.iter().filter(move |one| is_server_side(one) && !one.is_uninstalled())
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

/// A record of the cluster that a manifest was taken from. Anybody may have written it who may write where it is kept, so that it speaks
/// only for what it is attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The annotation of client-side `kubectl apply`, of the object that has it.
    LastApplied,
    /// The record of a revision of a release of Helm.
    Release {
        /// The namespace of the release.
        namespace: String,
        /// Its name.
        name: String,
        /// True if it is one of several releases whose objects are read together.
        is_among_others: bool,
    },
}

impl Record {
    /// The reason why a live object is not one that the record speaks for. An object outside of the namespace of a release has to name the
    /// release itself, without which Helm does not touch it either (Helm `pkg/action/validate.go`, `checkOwnership`).
    pub fn refusal(&self, key: &ObjectKey, live: &Value) -> Option<Diagnostic> {
        let Self::Release { namespace, name, .. } = self else { return None };
        let named = RELEASE.map(|annotation| live.annotation(annotation));
        if !self.is_outside(key) || named == [Some(namespace.as_str()), Some(name.as_str())] {
            return None;
        }
        let [of_namespace, of_name] = RELEASE;
        let message =
            format!("it does not belong to {self}: its annotations `{of_name}` and `{of_namespace}` do not name that");
        let command = format!("helm get manifest {name} -n {namespace}");
        let command = if is_word(name) && is_word(namespace) { command } else { "helm get manifest".to_owned() };
        let hint = format!("`{command}` shows what the release says of it");
        Some(Diagnostic::new(Code::Invalid, message).with_hint(hint))
    }

    /// The namespace that the record is about, if it is about one: that of a release. It may name objects elsewhere.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::LastApplied => None,
            Self::Release { namespace, .. } => Some(namespace),
        }
    }

    /// Returns true if the record names an object that is elsewhere than itself. Nobody gets rights to that because of the record.
    pub fn is_outside(&self, key: &ObjectKey) -> bool {
        self.namespace().is_some_and(|namespace| key.namespace.as_deref() != Some(namespace))
    }

    /// Returns true if the record of one object may not change the place of others in the order. The order of what is only read is of no
    /// importance, and an annotation must not make a cycle with those of others.
    pub fn orders_nothing(&self) -> bool {
        matches!(self, Self::LastApplied | Self::Release { is_among_others: true, .. })
    }

    /// The release that the record is of, if it is one.
    pub fn release(&self) -> Option<ReleaseName> {
        match self {
            Self::Release { namespace, name, .. } => {
                Some(ReleaseName { name: name.clone(), namespace: namespace.clone() })
            }
            Self::LastApplied => None,
        }
    }

    /// The release that an object is reported with: one of several that are read together.
    pub fn named_release(&self) -> Option<ReleaseName> {
        match self {
            Self::Release { is_among_others: true, .. } => self.release(),
            Self::LastApplied | Self::Release { .. } => None,
        }
    }
}

/// `release app of namespace tenant`
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LastApplied => write!(f, "the annotation `{LAST_APPLIED}`"),
            Self::Release { namespace, name, .. } => {
                write!(f, "release {} of namespace {}", coded(name), coded(namespace))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::GroupVersionKind;

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

    #[test]
    fn a_release_speaks_for_its_namespace_and_for_objects_that_name_it() {
        let record = Record::Release { namespace: "tenant".to_owned(), name: "app".to_owned(), is_among_others: false };
        let refused = |namespace: Option<&str>, annotations: Value| {
            let gvk = GroupVersionKind::new("v1", "ConfigMap");
            let key = ObjectKey { gvk, namespace: namespace.map(ToOwned::to_owned), name: "settings".to_owned() };
            record.refusal(&key, &json!({"metadata": {"annotations": annotations}})).is_some()
        };
        let names = |namespace: &str, name: &str| json!({RELEASE[0]: namespace, RELEASE[1]: name});
        for (namespace, annotations, expected) in [
            (Some("tenant"), json!({}), false),
            (Some("pay"), names("tenant", "app"), false),
            (None, names("tenant", "app"), false),
            (Some("pay"), json!({}), true),
            (None, json!(null), true),
            (Some("pay"), names("pay", "app"), true),
            (Some("pay"), names("tenant", "other"), true),
            (Some("pay"), json!({RELEASE[1]: "app"}), true),
            (Some("pay"), json!({RELEASE[0]: ["tenant"], RELEASE[1]: "app"}), true),
        ] {
            assert_eq!(refused(namespace, annotations.clone()), expected, "{namespace:?} {annotations}");
        }
        let key = ObjectKey { gvk: GroupVersionKind::new("v1", "ConfigMap"), namespace: None, name: "a".to_owned() };
        assert_eq!(Record::LastApplied.refusal(&key, &json!({})), None);
        assert!(!Record::LastApplied.is_outside(&key) && record.is_outside(&key));
    }
}

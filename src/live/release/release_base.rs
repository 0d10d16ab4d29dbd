//! `--base helm`: what Helm keeps of the releases that the live objects name.

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt as _;
use reconcile_core::live::resolve::Namespaces;
use reconcile_core::live::{BaseObjects, Discovery, Target};
use reconcile_core::manifest::yaml::Validation;
use reconcile_core::manifest::{BaseObject, Hooks, Input, ReadOptions, ReleaseName, read, stored_name};
use reconcile_core::object::{Selector, is_dns_label};
use serde_json::Value;
use structured_merge::ObjectMeta as _;

use super::{Records, ReleaseError, Wanted, is_release_name};
use crate::client::{Cluster, IN_FLIGHT};

/// Most releases that are read. The annotations that name them are those of live objects, which anybody may write.
const RELEASES: usize = 1_000;

/// The release that an object names in its annotations, if it names one.
fn release_of(live: &Value) -> Option<ReleaseName> {
    let name = live.annotation("meta.helm.sh/release-name").filter(|name| is_release_name(name))?;
    let namespace = live.annotation("meta.helm.sh/release-namespace").filter(|name| is_dns_label(name))?;
    Some(ReleaseName { name: name.to_owned(), namespace: namespace.to_owned() })
}

/// A target that was compared.
pub(crate) struct ComparedTarget<'a> {
    /// The target.
    pub target: &'a Target,
    /// Its live object, as far as it was kept.
    pub live: Option<&'a Value>,
    /// True if it does not exist.
    pub is_missing: bool,
}

/// Gives each target its object in the deployed revision of its release. Returns the objects that only the releases have, and a warning about
/// releases that cannot be read.
pub(crate) async fn give_bases(
    cluster: &Cluster,
    discovery: &Discovery,
    compared: &[ComparedTarget<'_>],
) -> (Vec<Target>, Option<String>) {
    let live = compared.iter().filter_map(|one| one.live);
    let named: BTreeSet<ReleaseName> = live.filter_map(release_of).collect();
    let releases: Vec<&ReleaseName> = named.iter().take(RELEASES).collect();
    let reads = releases.iter().map(async |name| (*name, manifests(cluster, discovery, name).await));
    let read: BTreeMap<&ReleaseName, _> = futures::stream::iter(reads).buffered(IN_FLIGHT).collect().await;
    let mut failed = Vec::new();
    let mut rest = Vec::new();
    for (name, found) in read {
        match found {
            Ok(mut base) => {
                // An object that names a release which does not have it says nothing about the others of that release.
                let given = compared.iter().filter(|one| base.give_known_to(one.target)).count();
                if given > 0 {
                    rest.extend(base.into_rest());
                }
            }
            Err(why) => failed.push((name, why)),
        }
    }
    for target in &rest {
        let _ = target.base.set(BaseObject::Same);
    }
    if failed.is_empty() && !releases.is_empty() {
        // What exists nowhere and is in no release is new.
        let missing = compared.iter().filter(|one| one.is_missing);
        missing.for_each(|one| drop(one.target.base.set(BaseObject::Absent)));
    }
    (rest, unread(&failed))
}

/// The warning about the releases that cannot be read, each with the reason; `None` if there are none.
fn unread(failed: &[(&ReleaseName, String)]) -> Option<String> {
    let ((first, why), more) = failed.split_first()?;
    let others = match more.len() {
        0 => String::new(),
        1 => ", and neither can 1 other".to_owned(),
        more => format!(", and neither can {more} others"),
    };
    Some(format!(
        "the release {first} cannot be read as a base{others}, so its objects are compared without one: {why}"
    ))
}

/// The objects of the deployed revision. The error is a fragment.
async fn manifests(cluster: &Cluster, discovery: &Discovery, name: &ReleaseName) -> Result<BaseObjects, String> {
    let ReleaseName { namespace, name: release } = name;
    let records = Records { cluster, namespace, release };
    let found = records.read(Wanted::Deployed).await.map_err(|error| match error {
        ReleaseError::Request(diagnostic, _) | ReleaseError::Record(diagnostic) => diagnostic.message,
    })?;
    let input = Input::new(stored_name(release, found.info.revision), found.manifest.into_bytes());
    let validation = Validation::Ignore;
    let hooks = Hooks::Skip;
    let options = ReadOptions { validation, selector: Selector::default(), hooks, allow_empty: true };
    // A message about the text could quote it.
    let broken = |_| "its manifest is not valid".to_owned();
    let set = read(&[input], &options).map_err(broken)?;
    let namespaces = Namespaces { required: None, default: namespace.clone() };
    BaseObjects::of(set.manifests, discovery, &namespaces).map_err(broken)
}

//! `--base helm`: what Helm keeps of the releases that the live objects name.

use std::collections::{BTreeMap, HashSet};

use futures::StreamExt as _;
use reconcile_core::live::resolve::Namespaces;
use reconcile_core::live::{BaseObjects, Discovery, Target};
use reconcile_core::manifest::yaml::Validation;
use reconcile_core::manifest::{BaseObject, Hooks, Input, ReadOptions, Record, ReleaseName, read, stored_name};
use reconcile_core::object::{Selector, is_dns_label};
use serde_json::Value;
use structured_merge::{ObjectKey, ObjectMeta as _};

use super::all_releases::TEXT;
use super::{Records, Release, ReleaseError, Wanted, is_release_name};
use crate::client::{Cluster, IN_FLIGHT};

/// Most releases that are read. The annotations that name them are those of live objects, which anybody may write.
const RELEASES: usize = 1_000;
/// The reason why the others are not read.
const TOO_MANY: &str = "the live objects name more than 1,000 releases";
/// Most objects of all releases together.
const OBJECTS: usize = 100_000;
/// The reason why a release is not read after [`TEXT`] or [`OBJECTS`].
const TOO_LARGE: &str = "all releases together have more than 100,000 objects, or 256 MiB of manifests";

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

/// The objects that name a release in their annotations, which anybody may write who may write the object.
#[derive(Default)]
struct Named {
    objects: HashSet<ObjectKey>,
    /// Their namespaces; `None` is that of cluster-scoped objects.
    namespaces: HashSet<Option<String>>,
}

impl Named {
    /// Returns true if the release may speak for a target. A record may name any object: it speaks for those that name it, and for what is
    /// missing where such an object is, or where the release itself is.
    fn has(&self, release: &ReleaseName, one: &ComparedTarget<'_>) -> bool {
        let key = &one.target.key;
        let is_near =
            || key.namespace.as_deref() == Some(&release.namespace) || self.namespaces.contains(&key.namespace);
        if one.is_missing { is_near() } else { self.objects.contains(key) }
    }
}

/// Gives each target its object in the deployed revision of its release. Returns the objects that only the releases have, and warnings about
/// releases that cannot be read, or do not have an object that names them.
pub(crate) async fn give_bases(
    cluster: &Cluster,
    discovery: &Discovery,
    compared: &[ComparedTarget<'_>],
) -> (Vec<Target>, Vec<String>) {
    let all = named_releases(compared);
    let mut bases = Bases::of(compared);
    let mut size = Size::default();
    let mut releases = all.iter();
    let reads =
        releases.by_ref().take(RELEASES).map(async |(name, named)| (name, named, deployed(cluster, name).await));
    let mut reads = futures::stream::iter(reads).buffered(IN_FLIGHT);
    // One after the other: a record of a few kilobytes may have objects that need a gigabyte of memory.
    while let Some((name, named, read)) = reads.next().await {
        match read.and_then(|release| size.bounded(release, discovery, name)) {
            Ok(base) => bases.give(base, name, named),
            Err(why) => bases.failed.push((name, named, why)),
        }
    }
    drop(reads);
    bases.failed.extend(releases.map(|(name, named)| (name, named, TOO_MANY.to_owned())));
    if !all.is_empty() {
        bases.mark_new();
    }
    let warnings = bases.warnings();
    (bases.rest, warnings)
}

/// The releases that live objects name, each with these objects.
fn named_releases(compared: &[ComparedTarget<'_>]) -> BTreeMap<ReleaseName, Named> {
    let mut all: BTreeMap<ReleaseName, Named> = BTreeMap::new();
    for ComparedTarget { target, live, .. } in compared {
        if let Some(release) = live.and_then(release_of) {
            let named = all.entry(release).or_default();
            named.objects.insert(target.key.clone());
            named.namespaces.insert(target.key.namespace.clone());
        }
    }
    all
}

/// The size of all releases together that were read.
#[derive(Default)]
struct Size {
    /// Bytes of manifests.
    text: usize,
    objects: usize,
}

impl Size {
    /// The objects of one more release. The error is a fragment.
    fn bounded(&mut self, release: Release, discovery: &Discovery, name: &ReleaseName) -> Result<BaseObjects, String> {
        self.text = self.text.saturating_add(release.manifest.len());
        if self.text > TEXT || self.objects > OBJECTS {
            return Err(TOO_LARGE.to_owned());
        }
        let base = manifests(release, discovery, name)?;
        self.objects = self.objects.saturating_add(base.count());
        if self.objects > OBJECTS { Err(TOO_LARGE.to_owned()) } else { Ok(base) }
    }
}

/// The targets, and what the releases say of them.
struct Bases<'a> {
    compared: &'a [ComparedTarget<'a>],
    /// The identities of the targets.
    identities: HashSet<(&'a str, &'a str, Option<&'a str>, &'a str)>,
    /// The objects that only the releases have.
    rest: Vec<Target>,
    /// Missing objects of a release that may have been deleted, or may be of others.
    unsure: HashSet<&'a ObjectKey>,
    /// Objects that name a release which does not have them.
    strangers: Vec<(&'a ObjectKey, &'a ReleaseName)>,
    /// The releases that cannot be read, each with the reason.
    failed: Vec<(&'a ReleaseName, &'a Named, String)>,
}

impl<'a> Bases<'a> {
    fn of(compared: &'a [ComparedTarget<'a>]) -> Self {
        Self {
            compared,
            identities: compared.iter().map(|one| one.target.key.without_version()).collect(),
            rest: Vec::new(),
            unsure: HashSet::new(),
            strangers: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Gives the targets for which a release may speak their objects in it.
    fn give(&mut self, mut base: BaseObjects, name: &'a ReleaseName, named: &'a Named) {
        // One in no namespace may have been deleted, or may be of others.
        let is_unsure = |one: &&ComparedTarget<'_>| {
            one.is_missing && one.target.key.namespace.is_none() && !named.has(name, one) && base.has(one.target)
        };
        self.unsure.extend(self.compared.iter().filter(is_unsure).map(|one| &one.target.key));
        let own = self.compared.iter().filter(|one| named.has(name, one));
        // An object that names a release which does not have it says nothing about the others of that release.
        let (given, without): (Vec<_>, Vec<_>) = own.partition(|one| base.give_known_to(one.target));
        self.strangers.extend(without.iter().filter(|one| !one.is_missing).map(|one| (&one.target.key, name)));
        if given.is_empty() {
            return;
        }
        let others = base.into_rest().into_iter();
        for other in others.filter(|other| !self.identities.contains(&other.key.without_version())) {
            let _ = other.base.set(BaseObject::Same);
            self.rest.push(other);
        }
    }

    /// Marks what exists nowhere and is in no release: it is new.
    fn mark_new(&self) {
        let is_unknown = |one: &ComparedTarget<'_>| {
            let namespace = &one.target.key.namespace;
            let is_of = |(_, named, _): &(_, &Named, _)| named.namespaces.contains(namespace);
            self.unsure.contains(&one.target.key) || self.failed.iter().any(is_of)
        };
        for one in self.compared.iter().filter(|one| one.is_missing && !is_unknown(one)) {
            let _ = one.target.base.set(BaseObject::Absent);
        }
    }

    fn warnings(&self) -> Vec<String> {
        let failed: Vec<(&ReleaseName, &str)> =
            self.failed.iter().map(|(name, _, why)| (*name, why.as_str())).collect();
        unread(&failed).into_iter().chain(not_in_release(&self.strangers)).collect()
    }
}

/// The warning about objects that name a release which does not have them; `None` if there are none.
fn not_in_release(objects: &[(&ObjectKey, &ReleaseName)]) -> Option<String> {
    let ((first, release), more) = objects.split_first()?;
    let others = match more.len() {
        0 => "it is".to_owned(),
        1 => "it and 1 other such object are".to_owned(),
        more => format!("it and {more} other such objects are"),
    };
    Some(format!(
        "{first} names the release {release} in its annotations, whose deployed revision does not have it: {others} compared without a base"
    ))
}

/// The warning about the releases that cannot be read, each with the reason; `None` if there are none.
fn unread(failed: &[(&ReleaseName, &str)]) -> Option<String> {
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

/// The deployed revision. The error is a fragment.
async fn deployed(cluster: &Cluster, name: &ReleaseName) -> Result<Release, String> {
    let records = Records { cluster, namespace: &name.namespace, release: &name.name };
    records.read(Wanted::Deployed).await.map_err(|error| match error {
        ReleaseError::Request(diagnostic, _) | ReleaseError::Record(diagnostic) => diagnostic.message,
    })
}

/// The objects of a revision. The error is a fragment.
fn manifests(found: Release, discovery: &Discovery, name: &ReleaseName) -> Result<BaseObjects, String> {
    let ReleaseName { namespace, name: release } = name;
    let input = Input::new(stored_name(release, found.info.revision), found.manifest.into_bytes());
    let validation = Validation::Ignore;
    let hooks = Hooks::Skip;
    let options = ReadOptions { validation, selector: Selector::default(), hooks, allow_empty: true };
    // A message about the text could quote it.
    let broken = |_| "its manifest is not valid".to_owned();
    let set = read(&[input], &options).map_err(broken)?;
    let record = Record::Release { namespace: namespace.clone(), name: release.clone(), is_among_others: true };
    let set = set.of_record(record, &BTreeMap::new());
    let namespaces = Namespaces { required: None, default: namespace.clone() };
    BaseObjects::of(set.manifests, discovery, &namespaces).map_err(broken)
}

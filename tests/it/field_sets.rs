//! The fields that a manifest claims, as worked out here, are those that the API server records: for every kind, and for
//! manifests made at random.

use std::collections::BTreeSet;

use futures::StreamExt as _;
use structured_merge::{FieldPath, Lookup, Operation, managed_fields};

use crate::control_plane::is_before;
use crate::generated::{AT_ONCE, on_the_ground};

const MANAGER: &str = "field-sets";

#[test]
fn a_manifest_claims_what_the_server_records() {
    on_the_ground(async |ground| {
        let targets = ground.generate(1, 1, 6).await;
        let kinds: BTreeSet<_> = targets.iter().map(|target| &target.key.gvk).collect();
        assert!(targets.len() >= 300, "{}", targets.len());
        let is_older = is_before(37, "kinds that came later, and fields of features that are off");
        let least = if is_older { 45 } else { 60 };
        assert!(kinds.len() >= least, "{}", kinds.len());
        let compared = futures::stream::iter(&targets).map(async |target| {
            let manifest = target.desired.object();
            let applied = match ground.apply(target, manifest, MANAGER, "&force=true").await {
                Ok(applied) => applied,
                Err(status) => return Some(format!("{}: {} {}\n{manifest}", target.key, status.code, status.message)),
            };
            let entries = managed_fields(&applied);
            let ours = entries.iter().find(|entry| entry.manager == MANAGER && entry.operation == Operation::Apply);
            let recorded = ours.map(|entry| entry.fields.clone()).unwrap_or_default();
            let claimed = structured_merge::field_set(manifest, ground.of(target), target.kind().as_ref());
            // A field that the server knows and drops, as its feature is off, is nobody's.
            let mut left = Lookup::of(&applied);
            let mut is_dropped = |path: &FieldPath| is_older && left.value(path).is_none();
            let extra = texts(claimed.difference(&recorded).paths().into_iter().filter(|path| !is_dropped(path)));
            let missing = texts(recorded.difference(&claimed).paths());
            let is_wrong = !extra.is_empty() || !missing.is_empty();
            is_wrong.then(|| format!("{}: only here {extra:?}, only there {missing:?}", target.key))
        });
        let wrong: Vec<Option<String>> = compared.buffer_unordered(AT_ONCE).collect().await;
        let wrong: Vec<String> = wrong.into_iter().flatten().collect();
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), targets.len(), wrong.join("\n"));
    });
}

fn texts(paths: impl IntoIterator<Item = FieldPath>) -> Vec<String> {
    paths.into_iter().map(|path| path.to_string()).collect()
}
